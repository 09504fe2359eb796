//! The graph: a simple graph in validated compressed rows, with directions and relations where they are known.
//!
//! A [`Graph`] can only be had through [`Graph::from_edges`], [`Graph::from_csr`], [`Graph::from_buffers`],
//! [`Graph::from_arcs`] or [`Graph::from_directed_csr`], which repair what can be repaired (and count it in [`Repairs`]) and refuse
//! the rest. Everything downstream relies on the invariants: symmetric, sorted and unique neighbours,
//! no self-loops, weights finite and positive. The self-loops of Ã = A + s·I are added by the
//! product kernel, once.

mod adjacency;
mod build;
mod canonical;
mod components;
mod csr;
mod degrees;
mod directed;
mod divide;
mod growth;
mod operator;
mod order;
mod product;
mod propagator;
mod removal;
mod renumbered;
mod rows;
mod spread;
mod stored;
mod surroundings;
#[cfg(test)]
mod tests;

pub use adjacency::Adjacency;
pub use build::{Repairs, build_memory};
pub use directed::Relation;
pub(crate) use divide::split_rows;
pub use growth::NewEdge;
pub use operator::{Direction, Normalization, Operator};
pub use order::NodeOrder;
pub(crate) use product::Step;
pub(crate) use propagator::Propagator;
pub use removal::EdgeSet;
pub(crate) use spread::{NearOperator, Reached};
pub use stored::{RowArrays, StoredRows};

use crate::error::{Error, Result};
use csr::Csr;
use directed::Arcs;
use rows::Rows;

/// The largest number of nodes: node ids are stored in 32 bits.
pub const MAX_NODES: usize = u32::MAX as usize;

/// A graph without self-loops: undirected, with its [arcs](Graph::from_arcs) beside it where directions are known, and with
/// its [relations](Graph::with_relations) where there are several kinds of edges.
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
    /// Every edge in both directions.
    both: Csr,
    /// Where directions say something.
    arcs: Option<Box<Arcs>>,
    /// Where there are several kinds of edges.
    relations: Vec<Relation>,
}

impl From<Csr> for Graph {
    fn from(both: Csr) -> Self {
        Graph { both, arcs: None, relations: Vec::new() }
    }
}

impl Graph {
    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.both.offsets.len() - 1
    }

    /// The number of undirected edges.
    pub fn edges(&self) -> usize {
        self.both.neighbours.len() / 2
    }

    /// Entries of Ã = A + I: every edge in both directions, and a self-loop for every node.
    pub fn nonzeros(&self) -> usize {
        self.both.neighbours.len() + self.nodes()
    }

    /// The neighbours of a node, in increasing order.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.both.neighbours[self.range(node)]
    }

    /// The weights of a node's edges, in the order of its neighbours; `None` when all are 1.
    pub fn weights(&self, node: usize) -> Option<&[f32]> {
        self.both.weights.as_ref().map(|w| &w[self.range(node)])
    }

    /// Whether any edge has a weight other than 1.
    pub fn is_weighted(&self) -> bool {
        self.both.weights.is_some()
    }

    /// The number of neighbours of a node.
    pub fn degree(&self, node: usize) -> usize {
        self.range(node).len()
    }

    /// Row offsets, `nodes + 1` of them; every edge is stored in both directions.
    pub fn offsets(&self) -> &[u64] {
        &self.both.offsets
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

    /// Bytes of the arrays, those of directions and relations among them.
    pub fn memory(&self) -> u64 {
        let arcs = self.arcs.as_ref().map_or(0, |arcs| arcs.out.memory() + arcs.into.memory());
        let relations = self.relations.iter().map(|relation| relation.graph.memory());
        self.both.memory() + arcs + relations.sum::<u64>()
    }

    /// Bytes of the arrays that are held in memory, and not mapped from files or lent.
    pub fn held_memory(&self) -> u64 {
        let arcs =
            self.arcs.as_ref().map_or(0, |arcs| arcs.out.held_memory() + arcs.into.held_memory());
        let relations = self.relations.iter().map(|relation| relation.graph.held_memory());
        self.both.held_memory() + arcs + relations.sum::<u64>()
    }

    /// The arrays as slices.
    fn rows(&self) -> Rows<'_> {
        self.both.rows()
    }

    fn range(&self, node: usize) -> std::ops::Range<usize> {
        self.both.offsets[node] as usize..self.both.offsets[node + 1] as usize
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
