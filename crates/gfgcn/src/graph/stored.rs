//! The arrays of a graph as they are stored, and a graph of such arrays.

use super::csr::Csr;
use super::directed::Arcs;
use super::divide::balanced;
use super::rows::Rows;
use super::{Graph, check_node_count};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::matrix::check_offsets;
use rayon::prelude::*;
use std::ops::Range;

/// Compressed rows as they are held by a [`Graph`].
#[derive(Clone, Copy, Debug)]
pub struct RowArrays<'a> {
    /// Where each node's neighbours begin, and where the last one's end.
    pub offsets: &'a [u64],
    /// The neighbours of all nodes, one after the other, those of a node in increasing order.
    pub neighbours: &'a [u32],
    /// One per neighbour; absent when every weight is 1.
    pub weights: Option<&'a [f32]>,
}

/// Compressed rows that were those of a [`Graph`] when they were stored.
#[derive(Clone, Debug)]
pub struct StoredRows {
    /// As in [`RowArrays`].
    pub offsets: Buffer<u64>,
    /// As in [`RowArrays`].
    pub neighbours: Buffer<u32>,
    /// As in [`RowArrays`].
    pub weights: Option<Buffer<f32>>,
}

impl Graph {
    /// Every edge in both directions.
    pub fn arrays(&self) -> RowArrays<'_> {
        self.both.rows().into()
    }

    /// The arcs by where they start and by where they end, where directions say something.
    pub fn arc_arrays(&self) -> Option<[RowArrays<'_>; 2]> {
        let arcs = self.arcs.as_ref()?;
        Some([arcs.out.rows().into(), arcs.into.rows().into()])
    }

    /// A graph of arrays that were stored as those of one: every edge in both directions, and arcs by where they start and by
    /// where they end, where directions say something.
    ///
    /// What could lead outside of an array is checked, in one pass from beginning to end: offsets, node numbers, their order,
    /// weights. That every edge is there in both directions is taken on trust, so whoever calls this knows that the arrays are
    /// those that were stored.
    ///
    /// # Errors
    /// Offsets that do not start at 0, decrease or do not end at the number of neighbours; neighbours out of order or out of
    /// range; a self-loop; a weight that is not finite and positive.
    pub fn from_stored(both: StoredRows, arcs: Option<[StoredRows; 2]>) -> Result<Graph> {
        let nodes = both.offsets.len().saturating_sub(1);
        let both = both.checked(nodes)?;
        let arcs = match arcs {
            Some([out, into]) => {
                let arcs = Arcs { out: out.checked(nodes)?, into: into.checked(nodes)? };
                let (out, into) = (arcs.out.neighbours.len(), arcs.into.neighbours.len());
                Error::check_size("arcs by where they end", out, into)?;
                Some(Box::new(arcs))
            }
            None => None,
        };
        Ok(Graph { both, arcs, relations: Vec::new() })
    }
}

impl<'a> From<Rows<'a>> for RowArrays<'a> {
    fn from(Rows { offsets, neighbours, weights }: Rows<'a>) -> Self {
        RowArrays { offsets, neighbours, weights }
    }
}

impl StoredRows {
    fn checked(self, nodes: usize) -> Result<Csr> {
        /// Neighbours and nodes that are checked in one go, about.
        const PART: usize = 1 << 15;
        check_node_count(nodes)?;
        check_offsets(&self.offsets, self.neighbours.len())?;
        Error::check_size("rows (one per node)", nodes, self.offsets.len() - 1)?;
        if let Some(weights) = &self.weights {
            Error::check_size("edge weights", self.neighbours.len(), weights.len())?;
        }
        let StoredRows { offsets, neighbours, weights } = self;
        let rows = Csr { offsets, neighbours, weights };
        let parts = (rows.neighbours.len() + nodes).div_ceil(PART);
        let parts = balanced(&rows.offsets, parts).into_par_iter();
        parts.try_for_each(|part| check_part(rows.rows(), part))?;
        Ok(rows)
    }
}

fn check_part(rows: Rows<'_>, part: Range<usize>) -> Result<()> {
    for node in part {
        let row = rows.neighbours_of(node);
        let wrong = |what: &str| Err(Error::Data(format!("the neighbours of node {node} {what}")));
        if !row.windows(2).all(|pair| pair[0] < pair[1]) {
            return wrong("are out of order, or one is there twice");
        }
        if let Some(&last) = row.last().filter(|&&last| last as usize >= rows.nodes()) {
            return wrong(&format!("include {last}, but there are {} nodes", rows.nodes()));
        }
        if row.binary_search(&(node as u32)).is_ok() {
            return wrong("include itself");
        }
        let sound = |&w: &f32| w.is_finite() && w > 0.0;
        if let Some(weight) = rows.weights_of(node).and_then(|w| w.iter().find(|w| !sound(w))) {
            return wrong(&format!("have the weight {weight}, which is not finite and positive"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(rows: RowArrays<'_>) -> StoredRows {
        StoredRows {
            offsets: rows.offsets.to_vec().into(),
            neighbours: rows.neighbours.to_vec().into(),
            weights: rows.weights.map(|weights| weights.to_vec().into()),
        }
    }

    #[test]
    fn what_was_stored_comes_back() {
        let arcs = [(2, 0), (0, 1), (1, 0), (2, 3), (4, 2)];
        for weights in [None, Some(&[1.0, 2.0, 3.0, 4.0, 0.5][..])] {
            let (graph, _) = Graph::from_arcs(6, &arcs, weights).unwrap();
            let back = Graph::from_stored(
                stored(graph.arrays()),
                graph.arc_arrays().map(|arcs| arcs.map(stored)),
            );
            assert_eq!(back.unwrap(), graph);
        }
    }

    #[test]
    fn what_leads_outside_is_refused() {
        let of = |offsets: &[u64], neighbours: &[u32], weights: Option<&[f32]>| {
            let rows = stored(RowArrays { offsets, neighbours, weights });
            Graph::from_stored(rows, None).map(drop).unwrap_err().to_string()
        };
        for (offsets, neighbours, weights, message) in [
            (&[0, 1, 2][..], &[1, 2][..], None, "include 2, but there are 2 nodes"),
            (&[0, 1, 2], &[1, 1], None, "include itself"),
            (&[0, 2, 2], &[1, 1], None, "node 0 are out of order"),
            (&[0, 3, 2], &[1, 0], None, "offset"),
            (&[0, 1, 3], &[1, 0], None, "offset"),
            (&[0, 1, 2], &[1, 0], Some(&[1.0, f32::NAN][..]), "the weight NaN"),
            (&[0, 1, 2], &[1, 0], Some(&[1.0][..]), "edge weights"),
            (&[0], &[], None, "no nodes"),
            (&[], &[], None, "no nodes"),
        ] {
            let error = of(offsets, neighbours, weights);
            assert!(error.contains(message), "{offsets:?} {neighbours:?}: {error}");
        }
    }
}
