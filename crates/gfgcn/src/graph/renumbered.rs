//! The renumbered copy of a graph inside a propagator.

use super::order::{Within, renumber};
use super::rows::Rows;
use super::{Graph, NodeOrder};

/// The rows of a graph in another order of its nodes.
///
/// Not a [`Graph`]: within a row the neighbours are not sorted by their places but stand as in the original
/// graph, by node number. So every sum over neighbours is added up in the same order as without renumbering,
/// and renumbering changes no bit of a result.
#[derive(Clone, Debug)]
pub(super) struct Renumbered {
    order: NodeOrder,
    offsets: Vec<u64>,
    neighbours: Vec<u32>,
    weights: Option<Vec<f32>>,
}

impl Renumbered {
    pub(super) fn new(graph: &Graph, order: NodeOrder) -> Self {
        let (offsets, neighbours, weights) = renumber(graph.rows(), &order, Within::Nodes);
        Renumbered { order, offsets, neighbours, weights }
    }

    pub(super) fn order(&self) -> &NodeOrder {
        &self.order
    }

    /// Bytes that it takes, of a graph.
    pub(super) fn memory(graph: &Graph) -> u64 {
        let Rows { offsets, neighbours, weights } = graph.rows();
        let weights = weights.map_or(0, <[f32]>::len);
        let order = 2 * graph.nodes();
        (8 * offsets.len() + 4 * (neighbours.len() + weights + order)) as u64
    }

    /// The row at each place, its neighbours as places.
    pub(super) fn rows(&self) -> Rows<'_> {
        let (offsets, neighbours) = (&*self.offsets, &*self.neighbours);
        Rows { offsets, neighbours, weights: self.weights.as_deref() }
    }
}
