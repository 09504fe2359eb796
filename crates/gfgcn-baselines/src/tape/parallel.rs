//! Rows handed out to threads, where there are enough of them.
//!
//! Every row is computed by itself, so no way of dividing them changes a result. What adds up over
//! rows goes through [`sum_over_rows`], whose parts depend on the number of rows only.

use gfgcn::simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Below this many operations nothing is handed out.
const PARALLEL_FROM: usize = 1 << 17;
const TASKS_PER_THREAD: usize = 4;
/// Parts of a sum, at most.
const PARTS: usize = 16;

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
    total: &mut [f32],
    rows: usize,
    work: usize,
    f: impl Fn(Range<usize>, &mut [f32]) + Sync,
) {
    let simd = Simd::detect();
    let run = |rows: Range<usize>, sum: &mut [f32]| {
        simd.run(
            #[inline(always)]
            || f(rows, sum),
        );
    };
    total.fill(0.0);
    let parts = (work / PARALLEL_FROM).clamp(1, PARTS);
    let step = rows.div_ceil(parts).max(1);
    if step >= rows {
        return run(0..rows, total);
    }
    let sums: Vec<Vec<f32>> = (0..rows.div_ceil(step))
        .into_par_iter()
        .map(|k| {
            let mut sum = vec![0.0; total.len()];
            run(k * step..rows.min((k + 1) * step), &mut sum);
            sum
        })
        .collect();
    for sum in sums {
        total.iter_mut().zip(sum).for_each(|(t, s)| *t += s);
    }
}
