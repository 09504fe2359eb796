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

    /// Bytes that it takes.
    pub(super) fn memory(&self) -> u64 {
        let weights = self.weights.as_ref().map_or(0, Vec::len);
        let order = self.order.nodes().len() + self.order.places().len();
        (8 * self.offsets.len() + 4 * (self.neighbours.len() + weights + order)) as u64
    }

    /// The row at each place, its neighbours as places.
    pub(super) fn rows(&self) -> Rows<'_> {
        let (offsets, neighbours) = (&*self.offsets, &*self.neighbours);
        Rows { offsets, neighbours, weights: self.weights.as_deref() }
    }
}
