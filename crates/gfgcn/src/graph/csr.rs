//! Compressed rows with their arrays, whoever owns these.

use super::order::{NodeOrder, Within, renumber};
use super::rows::Rows;
use crate::buffer::Buffer;

/// The neighbours of every node: sorted, each once, with their weights.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Csr {
    pub(super) offsets: Buffer<u64>,
    pub(super) neighbours: Buffer<u32>,
    /// One per neighbour; absent when every weight is 1.
    pub(super) weights: Option<Buffer<f32>>,
}

impl Csr {
    /// The arrays as slices.
    pub(super) fn rows(&self) -> Rows<'_> {
        let (offsets, neighbours) = (&*self.offsets, &*self.neighbours);
        Rows { offsets, neighbours, weights: self.weights.as_deref() }
    }

    /// Bytes of the arrays.
    pub(super) fn memory(&self) -> u64 {
        let weights = self.weights.as_ref().map_or(0, |weights| weights.len());
        (8 * self.offsets.len() + 4 * (self.neighbours.len() + weights)) as u64
    }

    /// Bytes of the arrays that are not someone else's.
    pub(super) fn held_memory(&self) -> u64 {
        let weights = self.weights.as_ref().map_or(0, Buffer::held_memory);
        self.offsets.held_memory() + self.neighbours.held_memory() + weights
    }

    /// The rows of some nodes and what they have among themselves: node `k` of the result is `nodes[k]` here.
    ///
    /// # Panics
    /// If a node is out of range or named twice.
    pub(super) fn select(&self, nodes: &[usize]) -> Csr {
        const OUTSIDE: u32 = u32::MAX;
        let rows = self.rows();
        let mut position = vec![OUTSIDE; rows.nodes()];
        for (k, &node) in nodes.iter().enumerate() {
            assert_eq!(position[node], OUTSIDE, "node {node} is named twice");
            position[node] = k as u32;
        }
        let (mut offsets, mut neighbours) = (vec![0], Vec::new());
        let mut weights = rows.weights.map(|_| Vec::new());
        let mut row = Vec::new();
        for &node in nodes {
            let own = rows.weights_of(node);
            row.clear();
            row.extend(
                rows.neighbours_of(node)
                    .iter()
                    .enumerate()
                    .map(|(k, &j)| (position[j as usize], own.map_or(1.0, |w| w[k])))
                    .filter(|&(j, _)| j != OUTSIDE),
            );
            row.sort_unstable_by_key(|&(j, _)| j);
            neighbours.extend(row.iter().map(|&(j, _)| j));
            if let Some(weights) = &mut weights {
                weights.extend(row.iter().map(|&(_, w)| w));
            }
            offsets.push(neighbours.len() as u64);
        }
        Csr {
            offsets: offsets.into(),
            neighbours: neighbours.into(),
            weights: weights.map(Into::into),
        }
    }

    /// With the nodes in another order.
    pub(super) fn reordered(&self, order: &NodeOrder) -> Csr {
        let (offsets, neighbours, weights) = renumber(self.rows(), order, Within::Places);
        Csr {
            offsets: offsets.into(),
            neighbours: neighbours.into(),
            weights: weights.map(Into::into),
        }
    }
}
