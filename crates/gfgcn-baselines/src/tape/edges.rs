//! The entries of Ã, one after the other: what attention has a number for.

use gfgcn::graph::Graph;
use gfgcn::{Error, Result};
use std::ops::Range;

/// The entries of Ã, row by row: a node's own first, then its neighbours.
#[derive(Debug)]
pub(crate) struct Edges {
    offsets: Vec<usize>,
    pub(super) columns: Vec<u32>,
    /// Where the entry (j, i) of an entry (i, j) stands.
    pub(super) reverse: Vec<u32>,
}

impl Edges {
    /// Refuses a graph with more entries than 32 bits can number.
    pub(crate) fn check(graph: &Graph) -> Result<()> {
        let entries = graph.nonzeros() as u64;
        if entries <= u64::from(u32::MAX) {
            return Ok(());
        }
        Err(Error::Data(format!(
            "{entries} neighbours are more than 32 bits can number; such a graph is too large to be \
             trained on"
        )))
    }

    pub(crate) fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes();
        let offsets: Vec<usize> =
            (0..=nodes).map(|node| graph.offsets()[node] as usize + node).collect();
        let mut columns = Vec::with_capacity(offsets[nodes]);
        let mut reverse = Vec::with_capacity(offsets[nodes]);
        // Going through the nodes in order, the entries of a column come in order too.
        let mut next: Vec<u32> = offsets[..nodes].iter().map(|&start| start as u32 + 1).collect();
        for (node, &own) in offsets[..nodes].iter().enumerate() {
            columns.push(node as u32);
            reverse.push(own as u32);
            for &neighbour in graph.neighbours(node) {
                columns.push(neighbour);
                let place = &mut next[neighbour as usize];
                reverse.push(*place);
                *place += 1;
            }
        }
        Edges { offsets, columns, reverse }
    }

    /// The number of entries of the first rows: where those of the next one begin.
    pub(super) fn entries_of(&self, rows: usize) -> usize {
        self.offsets[rows]
    }

    /// Where the entries of a row stand.
    #[inline(always)]
    pub(super) fn of_row(&self, node: usize) -> Range<usize> {
        self.offsets[node]..self.offsets[node + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_knows_its_reverse() {
        let (graph, _) =
            Graph::from_edges(5, &[(0, 1), (0, 2), (1, 2), (3, 0), (4, 3), (1, 4)], None).unwrap();
        let edges = Edges::new(&graph);
        assert_eq!(edges.entries_of(5), 17);
        for node in 0..5 {
            assert_eq!(edges.columns[edges.offsets[node]] as usize, node);
            for entry in edges.of_row(node) {
                let neighbour = edges.columns[entry] as usize;
                let reverse = edges.reverse[entry] as usize;
                let row = edges.offsets[neighbour]..edges.offsets[neighbour + 1];
                assert!(row.contains(&reverse));
                assert_eq!(edges.columns[reverse] as usize, node);
            }
        }
    }
}
