//! Recognising rows that need no repair.
//!
//! Most files hold a graph exactly as it is held here. Checking that takes one pass on all threads; sorting
//! every edge again to find that nothing changes would take many times as long and three times the memory.

use super::csr::Csr;
use super::divide::{balanced, split_rows};
use super::rows::Rows;
use crate::pages;
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
///
/// Each thread makes some consecutive rows of the outcome, and picks the edges that belong there from all rows: these are
/// sorted, so an edge that does not is hardly ever looked at. What a row costs is its smaller neighbours, which come from
/// everywhere; the larger ones are copied.
pub(super) fn mirrored_rows(rows: Rows<'_>) -> Csr {
    let (nodes, parts) = (rows.nodes(), rayon::current_num_threads());
    // How many smaller neighbours the nodes before each have.
    let mut smaller = pages::zeros::<u64>(nodes + 1);
    let ranges = triangular(nodes, parts);
    let counts = split_rows(&mut smaller[1..], 1, &ranges);
    ranges.into_par_iter().zip(counts).for_each(|(nodes, counts)| {
        for_each_named(rows, nodes.clone(), |larger, _, _| counts[larger - nodes.start] += 1);
    });
    let mut total = 0;
    for count in &mut smaller {
        total += *count;
        *count = total;
    }
    let ranges = balanced(&smaller, parts);
    let offsets: Vec<u64> = smaller.iter().zip(rows.offsets).map(|(a, b)| a + b).collect();
    drop(smaller);
    let total = 2 * rows.neighbours.len();
    let weighted = rows.weights.filter(|weights| weights.par_iter().any(|&weight| weight != 1.0));
    let mut neighbours = pages::zeros::<u32>(total);
    let mut weights = weighted.map(|_| pages::zeros::<f32>(total));
    let entries: Vec<Range<usize>> = ranges
        .iter()
        .map(|nodes| offsets[nodes.start] as usize..offsets[nodes.end] as usize)
        .collect();
    let own = split_rows(&mut neighbours, 1, &entries);
    let own_weights: Vec<Option<&mut [f32]>> = match &mut weights {
        Some(weights) => split_rows(weights, 1, &entries).into_iter().map(Some).collect(),
        None => entries.iter().map(|_| None).collect(),
    };
    let parts = ranges.into_par_iter().zip(own).zip(own_weights);
    parts.for_each(|((nodes, neighbours), mut weights)| {
        let place = |node: usize| (offsets[node] - offsets[nodes.start]) as usize;
        let mut next: Vec<usize> = nodes.clone().map(place).collect();
        for_each_named(rows, nodes.clone(), |larger, node, k| {
            let slot = &mut next[larger - nodes.start];
            neighbours[*slot] = node as u32;
            if let (Some(weights), Some(all)) = (&mut weights, weighted) {
                weights[*slot] = all[k];
            }
            *slot += 1;
        });
        for (node, from) in nodes.clone().zip(next) {
            let row = rows.range(node);
            let to = from..from + row.len();
            neighbours[to.clone()].copy_from_slice(&rows.neighbours[row.clone()]);
            if let (Some(weights), Some(all)) = (&mut weights, weighted) {
                weights[to].copy_from_slice(&all[row]);
            }
        }
    });
    Csr { offsets: offsets.into(), neighbours: neighbours.into(), weights: weights.map(Into::into) }
}

/// All nodes in so many ranges, in each of which about as many edges have their larger end if they are spread evenly.
fn triangular(nodes: usize, parts: usize) -> Vec<Range<usize>> {
    let bound = |part: usize| match part == parts {
        true => nodes,
        false => (nodes as f64 * (part as f64 / parts as f64).sqrt()) as usize,
    };
    (0..parts).map(|part| bound(part)..bound(part + 1)).collect()
}

/// Every edge whose larger end is among some nodes, of sorted rows at the smaller ends: both ends, and where it stands.
fn for_each_named(rows: Rows<'_>, nodes: Range<usize>, mut each: impl FnMut(usize, usize, usize)) {
    for node in 0..nodes.end {
        let (row, first) = (rows.neighbours_of(node), rows.range(node).start);
        let skipped = match nodes.start {
            0 => 0,
            start => row.partition_point(|&larger| (larger as usize) < start),
        };
        for (k, &larger) in row.iter().enumerate().skip(skipped) {
            if larger as usize >= nodes.end {
                break;
            }
            each(larger as usize, node, first + k);
        }
    }
}
