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
