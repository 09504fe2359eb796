//! Recognising rows that need no repair.
//!
//! Most files hold a graph exactly as it is held here. Checking that takes one pass on all threads; sorting
//! every edge again to find that nothing changes would take many times as long and three times the memory.

use super::csr::Csr;
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

/// Whether rows with valid offsets name every edge once, at its smaller end: neighbours larger than the node and in increasing
/// order, with finite and positive weights. Programs that keep half of a symmetric matrix write it so.
pub(super) fn is_upper(rows: Rows<'_>) -> bool {
    let parts = balanced(rows.offsets, (rows.neighbours.len() + rows.nodes()).div_ceil(PART));
    parts.into_par_iter().all(|part| {
        part.into_iter().all(|node| {
            let row = rows.neighbours_of(node);
            row.first().is_none_or(|&first| first as usize > node)
                && row.last().is_none_or(|&last| (last as usize) < rows.nodes())
                && row.windows(2).all(|pair| pair[0] < pair[1])
                && rows.weights_of(node).is_none_or(|w| w.iter().all(|&w| w.is_finite() && w > 0.0))
        })
    })
}

/// The rows of both directions, of rows that [name every edge once](is_upper). Nothing has to be sorted: the smaller neighbours of
/// a node come in the order of the rows that name it, and the larger ones are its own row.
pub(super) fn mirrored_rows(rows: Rows<'_>) -> Csr {
    let nodes = rows.nodes();
    let mut offsets = vec![0u64; nodes + 1];
    rows.neighbours.iter().for_each(|&larger| offsets[larger as usize + 1] += 1);
    let mut total = 0;
    for node in 0..nodes {
        total += offsets[node + 1] + rows.degree(node) as u64;
        offsets[node + 1] = total;
    }
    let entries = 2 * rows.neighbours.len();
    let mut neighbours = vec![0u32; entries];
    let weighted = rows.weights.filter(|weights| weights.par_iter().any(|&weight| weight != 1.0));
    let mut weights = weighted.map(|_| vec![0.0f32; entries]);
    let mut next: Vec<u64> = offsets[..nodes].to_vec();
    for node in 0..nodes {
        for k in rows.range(node) {
            let slot = &mut next[rows.neighbours[k] as usize];
            neighbours[*slot as usize] = node as u32;
            if let (Some(weights), Some(own)) = (&mut weights, weighted) {
                weights[*slot as usize] = own[k];
            }
            *slot += 1;
        }
    }
    for node in 0..nodes {
        let (from, to) = (rows.range(node), offsets[node + 1] as usize);
        let place = to - from.len()..to;
        neighbours[place.clone()].copy_from_slice(&rows.neighbours[from.clone()]);
        if let (Some(weights), Some(own)) = (&mut weights, weighted) {
            weights[place].copy_from_slice(&own[from]);
        }
    }
    Csr { offsets: offsets.into(), neighbours: neighbours.into(), weights: weights.map(Into::into) }
}
