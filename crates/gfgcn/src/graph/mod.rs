//! The graph: an undirected simple graph in validated compressed rows.
//!
//! A [`Graph`] can only be had through [`Graph::from_edges`], [`Graph::from_csr`] or
//! [`Graph::from_buffers`], which repair what can be repaired (and count it in [`Repairs`]) and refuse
//! the rest. Everything downstream relies on the invariants: symmetric, sorted and unique neighbours,
//! no self-loops, weights finite and positive. The self-loops of Ã = A + I are added by the
//! product kernel, once.

mod adjacency;
mod build;
mod canonical;
mod components;
mod divide;
mod operator;
mod order;
mod product;
mod propagator;
mod renumbered;
mod rows;
#[cfg(test)]
mod tests;

pub use adjacency::Adjacency;
pub use build::{Repairs, build_memory};
pub(crate) use divide::split_rows;
pub use operator::Operator;
pub use order::NodeOrder;
pub(crate) use product::Step;
pub use propagator::Normalization;
pub(crate) use propagator::Propagator;

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use rows::Rows;

/// The largest number of nodes: node ids are stored in 32 bits.
pub const MAX_NODES: usize = u32::MAX as usize;

/// An undirected graph without self-loops.
///
/// ```
/// use gfgcn::graph::Graph;
/// let (graph, repairs) = Graph::from_edges(4, &[(0, 1), (1, 2), (1, 0), (3, 3)], None)?;
/// assert_eq!(graph.edges(), 2);
/// assert_eq!(graph.neighbours(1), &[0, 2]);
/// assert_eq!((repairs.duplicates, repairs.self_loops), (0, 1));
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    offsets: Buffer<u64>,
    neighbours: Buffer<u32>,
    /// One per neighbour; absent when every weight is 1.
    weights: Option<Buffer<f32>>,
}

impl Graph {
    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of undirected edges.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Entries of Ã = A + I: every edge in both directions, and a self-loop for every node.
    pub fn nonzeros(&self) -> usize {
        self.neighbours.len() + self.nodes()
    }

    /// The neighbours of a node, in increasing order.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.range(node)]
    }

    /// The weights of a node's edges, in the order of its neighbours; `None` when all are 1.
    pub fn weights(&self, node: usize) -> Option<&[f32]> {
        self.weights.as_ref().map(|w| &w[self.range(node)])
    }

    /// Whether any edge has a weight other than 1.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The number of neighbours of a node.
    pub fn degree(&self, node: usize) -> usize {
        self.range(node).len()
    }

    /// D̃: each node's summed edge weights, plus 1 for its self-loop.
    pub fn degrees(&self) -> Vec<f64> {
        (0..self.nodes())
            .map(|node| match self.weights(node) {
                Some(weights) => 1.0 + weights.iter().map(|&w| f64::from(w)).sum::<f64>(),
                None => 1.0 + self.degree(node) as f64,
            })
            .collect()
    }

    /// Row offsets, `nodes + 1` of them; every edge is stored in both directions.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Each undirected edge once, as `(smaller, larger, weight)`.
    pub fn edge_list(&self) -> impl Iterator<Item = (usize, usize, f32)> + '_ {
        (0..self.nodes()).flat_map(move |i| {
            let weights = self.weights(i);
            self.neighbours(i)
                .iter()
                .enumerate()
                .filter(move |&(_, &j)| (j as usize) > i)
                .map(move |(k, &j)| (i, j as usize, weights.map_or(1.0, |w| w[k])))
        })
    }

    /// The arrays as slices.
    fn rows(&self) -> Rows<'_> {
        let (offsets, neighbours) = (&*self.offsets, &*self.neighbours);
        Rows { offsets, neighbours, weights: self.weights.as_deref() }
    }

    fn range(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }
}

fn check_node_count(nodes: usize) -> Result<()> {
    if nodes == 0 {
        return Err(Error::Data("the graph has no nodes".into()));
    }
    if nodes > MAX_NODES {
        return Err(Error::Data(format!("{nodes} nodes are more than 32 bits can number")));
    }
    Ok(())
}
