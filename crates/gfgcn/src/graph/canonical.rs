//! Recognising rows that need no repair.
//!
//! Most files hold a graph exactly as it is held here. Checking that takes one pass on all threads; sorting
//! every edge again to find that nothing changes would take many times as long and three times the memory.

use super::divide::balanced;
use super::rows::Rows;
use rayon::prelude::*;
use std::ops::Range;

/// Neighbours and nodes that are checked in one go, about.
const PART: usize = 1 << 15;

/// Whether rows with valid offsets are those of a [`Graph`](super::Graph): neighbours in increasing order, none
/// twice, no self-loops, every edge in both directions with the same finite and positive weight.
pub(super) fn is_canonical(rows: Rows<'_>) -> bool {
    let entries = rows.neighbours.len();
    let parts = balanced(rows.offsets, (entries + rows.nodes()).div_ceil(PART));
    let above = parts
        .into_par_iter()
        .map(|part| mirrored(rows, part))
        .try_reduce(|| 0, |some, others| Some(some + others));
    // No row names a neighbour twice, so each entry above the diagonal has a mirror image of its own.
    // With half of the entries above, no entry below is left without one.
    above.is_some_and(|above| 2 * above == entries)
}

/// The number of entries above the diagonal in some rows; `None` if the rows are not canonical or an entry
/// above the diagonal has no equal below.
fn mirrored(rows: Rows<'_>, part: Range<usize>) -> Option<usize> {
    let mut above = 0;
    for node in part {
        let row = rows.neighbours_of(node);
        let inside = row.last().is_none_or(|&last| (last as usize) < rows.nodes());
        if !inside || !row.windows(2).all(|pair| pair[0] < pair[1]) {
            return None;
        }
        let weights = rows.weights_of(node);
        if !weights.is_none_or(|w| w.iter().all(|&w| w.is_finite() && w > 0.0)) {
            return None;
        }
        let below = row.partition_point(|&neighbour| (neighbour as usize) < node);
        for (k, &neighbour) in row.iter().enumerate().skip(below) {
            if neighbour as usize == node {
                return None;
            }
            let mirror =
                rows.neighbours_of(neighbour as usize).binary_search(&(node as u32)).ok()?;
            let back = rows.weights_of(neighbour as usize).map(|w| w[mirror]);
            if weights.map(|w| w[k]) != back {
                return None;
            }
        }
        above += row.len() - below;
    }
    Some(above)
}
