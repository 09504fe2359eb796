//! Compressed rows as slices: what loops over a graph go through.

use std::ops::Range;

/// The arrays of a graph. Taken once before a loop, which then need not ask whose they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    /// Where each row begins, and where the last one ends.
    pub(super) offsets: &'a [u64],
    /// The neighbours of all nodes, one after the other.
    pub(super) neighbours: &'a [u32],
    /// One per neighbour; absent when every weight is 1.
    pub(super) weights: Option<&'a [f32]>,
}

impl<'a> Rows<'a> {
    pub(super) fn nodes(self) -> usize {
        self.offsets.len() - 1
    }

    /// The positions of a node's neighbours.
    #[inline(always)]
    pub(super) fn range(self, node: usize) -> Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }

    pub(super) fn degree(self, node: usize) -> usize {
        self.range(node).len()
    }

    pub(super) fn neighbours_of(self, node: usize) -> &'a [u32] {
        &self.neighbours[self.range(node)]
    }

    pub(super) fn weights_of(self, node: usize) -> Option<&'a [f32]> {
        self.weights.map(|weights| &weights[self.range(node)])
    }
}
