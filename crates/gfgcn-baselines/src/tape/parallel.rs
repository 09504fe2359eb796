//! Rows handed out to threads, where there are enough of them.
//!
//! Every row is computed by itself, so no way of dividing them changes a result. What adds up over
//! rows goes through [`sum_over_rows`], whose parts depend on the number of rows only.

use super::buffers::Buffers;
use gfgcn::matrix::Matrix;
use gfgcn::simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Below this many operations nothing is handed out.
const PARALLEL_FROM: usize = 1 << 19;
const TASKS_PER_THREAD: usize = 4;
/// Parts of a sum, at most, and the operations that make one worth its zeros.
const PARTS: usize = 16;
const WORK_OF_A_PART: usize = 1 << 21;

/// Calls `f(rows, part)` on parts that cover a row-major block of `width` columns. `work` is the
/// number of operations altogether. `f` is compiled for the best vector instructions: mark it
/// `#[inline(always)]`.
pub(crate) fn over_rows(
    block: &mut [f32],
    width: usize,
    work: usize,
    f: impl Fn(Range<usize>, &mut [f32]) + Sync,
) {
    if width == 0 {
        return;
    }
    let simd = Simd::detect();
    let rows = block.len() / width;
    let run = |rows: Range<usize>, part: &mut [f32]| {
        simd.run(
            #[inline(always)]
            || f(rows, part),
        );
    };
    let threads = rayon::current_num_threads();
    if work < PARALLEL_FROM || threads == 1 {
        return run(0..rows, block);
    }
    let step = rows.div_ceil(TASKS_PER_THREAD * threads).max(1);
    block.par_chunks_mut(step * width).enumerate().for_each(|(k, part)| {
        let start = k * step;
        run(start..start + part.len() / width, part);
    });
}

/// Some nodes, and what two blocks hold of them.
pub(crate) struct Part<'b> {
    pub(crate) nodes: Range<usize>,
    pub(crate) first: &'b mut [f32],
    pub(crate) second: &'b mut [f32],
}

/// Calls `f` on parts that cover the first nodes. Each block is given with the place where what it holds of
/// a node begins. `work` and `f` are as for [`over_rows`].
pub(crate) fn over_nodes<'b>(
    nodes: usize,
    work: usize,
    (first, of_first): (&'b mut [f32], impl Fn(usize) -> usize),
    (second, of_second): (&'b mut [f32], impl Fn(usize) -> usize),
    f: impl Fn(Part<'_>) + Sync,
) {
    let simd = Simd::detect();
    let run = |part: Part<'_>| {
        simd.run(
            #[inline(always)]
            || f(part),
        );
    };
    let threads = rayon::current_num_threads();
    if work < PARALLEL_FROM || threads == 1 {
        return run(Part { nodes: 0..nodes, first, second });
    }
    let step = nodes.div_ceil(TASKS_PER_THREAD * threads).max(1);
    let (mut first, mut second, mut parts) = (first, second, Vec::new());
    for start in (0..nodes).step_by(step) {
        let end = nodes.min(start + step);
        let (own_first, rest_of_first) = first.split_at_mut(of_first(end) - of_first(start));
        let (own_second, rest_of_second) = second.split_at_mut(of_second(end) - of_second(start));
        parts.push(Part { nodes: start..end, first: own_first, second: own_second });
        (first, second) = (rest_of_first, rest_of_second);
    }
    parts.into_par_iter().for_each(run);
}

/// Adds what `f(rows, sum)` adds to zeros up over all rows, into `total`, which is overwritten.
/// `work` is the number of operations altogether.
pub(crate) fn sum_over_rows(
    total: &mut Matrix<f32>,
    rows: usize,
    work: usize,
    buffers: &mut Buffers,
    f: impl Fn(Range<usize>, &mut [f32]) + Sync,
) {
    let simd = Simd::detect();
    let run = |rows: Range<usize>, sum: &mut Matrix<f32>| {
        let sum = sum.as_mut_slice();
        sum.fill(0.0);
        simd.run(
            #[inline(always)]
            || f(rows, sum),
        );
    };
    let parts = (work / WORK_OF_A_PART).clamp(1, PARTS);
    let step = rows.div_ceil(parts).max(1);
    let mut sums: Vec<Matrix<f32>> =
        (1..rows.div_ceil(step)).map(|_| buffers.take(total.rows(), total.cols())).collect();
    std::iter::once(&mut *total)
        .chain(&mut sums)
        .collect::<Vec<_>>()
        .into_par_iter()
        .enumerate()
        .for_each(|(k, sum)| run(k * step..rows.min((k + 1) * step), sum));
    for sum in sums {
        let entries = total.as_mut_slice().iter_mut().zip(sum.as_slice());
        entries.for_each(|(total, part)| *total += part);
        buffers.give(sum);
    }
}
