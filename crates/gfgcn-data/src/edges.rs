//! Edges as files list them, and the graph that is made of them.

use crate::reading::Reading;
use gfgcn::Result;
use gfgcn::graph::{Graph, Repairs, build_memory};

/// Edges in the order of a file.
#[derive(Debug, Default)]
pub(crate) struct EdgeList {
    /// Where each starts and ends.
    pub(crate) ends: Vec<(u32, u32)>,
    /// As many as there are edges, or none where all are 1.
    pub(crate) weights: Option<Vec<f32>>,
    /// Whether these are entries of a matrix, in which an undirected edge stands twice.
    pub(crate) is_matrix: bool,
}

impl EdgeList {
    /// A graph of so many nodes.
    ///
    /// In an undirected one, edges that go one way only are counted in [`Repairs::symmetrized`]. A list that names no edge
    /// in both directions may well be of undirected ones, so there they count only if others go both ways.
    pub(crate) fn build(
        &self,
        nodes: usize,
        directed: bool,
        reading: &Reading,
    ) -> Result<(Graph, Repairs)> {
        let (edges, weights) = (&self.ends, self.weights.as_deref());
        if directed {
            let memory = build_memory(2 * edges.len(), nodes);
            return reading.holding(memory, || Graph::from_arcs(nodes, edges, weights));
        }
        let memory = build_memory(edges.len(), nodes);
        let (graph, mut repairs) =
            reading.holding(memory, || Graph::from_edges(nodes, edges, weights))?;
        let dropped = repairs.self_loops + repairs.duplicates + repairs.zero_weights;
        let both_ways = edges.len() - dropped - graph.edges();
        if both_ways > 0 || self.is_matrix {
            repairs.symmetrized = graph.edges() - both_ways;
        }
        Ok((graph, repairs))
    }
}

/// The graph of an adjacency in compressed rows; of a directed one, row i is for the edges that start at node i.
pub(crate) fn build_rows(
    offsets: &[usize],
    columns: &[u32],
    weights: Option<&[f32]>,
    directed: bool,
    reading: &Reading,
) -> Result<(Graph, Repairs)> {
    let nodes = offsets.len() - 1;
    if directed {
        let memory = build_memory(2 * columns.len(), nodes);
        return reading.holding(memory, || Graph::from_directed_csr(offsets, columns, weights));
    }
    reading.building(columns.len(), nodes, || Graph::from_csr(offsets, columns, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfgcn::context::Context;

    #[test]
    fn one_way_edges_are_counted_where_that_is_not_the_habit() {
        let reading = &Reading::under(&Context::default()).unwrap();
        let one_way = |ends: &[(u32, u32)], is_matrix| {
            let list = EdgeList { ends: ends.to_vec(), weights: None, is_matrix };
            list.build(4, false, reading).unwrap().1.symmetrized
        };
        let once = [(0, 1), (2, 1), (3, 3)];
        let both = [(0, 1), (1, 0), (1, 0), (2, 1), (1, 2)];
        let mixed = [(0, 1), (1, 0), (2, 1), (2, 1), (3, 0), (0, 0)];
        assert_eq!((one_way(&once, false), one_way(&once, true)), (0, 2));
        assert_eq!((one_way(&both, false), one_way(&both, true)), (0, 0));
        assert_eq!((one_way(&mixed, false), one_way(&mixed, true)), (2, 2));
        let list = EdgeList { ends: mixed.to_vec(), weights: None, is_matrix: false };
        let (graph, repairs) = list.build(4, true, reading).unwrap();
        assert_eq!((graph.arc_count(), repairs.symmetrized), (4, 0));
        assert_eq!((repairs.duplicates, repairs.self_loops), (1, 1));
    }
}
