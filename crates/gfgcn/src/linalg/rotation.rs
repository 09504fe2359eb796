//! Columns rotated by the reflections of a reduction, after it or while it goes on.
//!
//! Parallel over columns: a chunk of them goes from reflections to reflections without waiting for the others, and stays with
//! one thread as far as possible, in its caches.

use super::cached::{self, Part};
use super::pieces::Pieces;
use super::reduction::{self, Direction, Reduced, Reflections};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

/// What is known of the columns that are rotated.
#[derive(Clone, Copy)]
pub(super) enum Columns {
    Any,
    /// They are those of the identity, without its first one. With the last reflections first, reflections find zeros in
    /// their rows of all columns before them, which stay zeros.
    OfIdentity,
}

/// Columns that are rotated at a time: enough for fast products, few enough to stay in a core's cache.
const AT_A_TIME: RangeInclusive<usize> = 64..=256;

/// Numbers that are held while so many columns of so many rows are rotated on so many threads.
pub(super) fn memory(n: usize, columns: usize, threads: usize) -> usize {
    let at_once = match Pieces::is_small(n * n * columns) {
        true => columns,
        false => columns.min(threads * AT_A_TIME.end()),
    };
    reduction::block_width(n) * at_once
}

/// Rotates columns, all reflections in one direction or the other.
pub(super) fn rotate(
    reflections: &[Reflections],
    columns: MatMut<'_, f64>,
    direction: Direction,
    known: Columns,
    context: &Context,
) -> Result<()> {
    context.check()?;
    let size = columns_at_a_time(&columns, context);
    let rotate = |(k, mut chunk): (usize, MatMut<'_, f64>)| {
        let step = |some: &Reflections| {
            let first = match known {
                Columns::Any => 0,
                // The column whose 1 is in their first row.
                Columns::OfIdentity => (some.first - 1).saturating_sub(k * size),
            };
            let count = chunk.ncols();
            some.apply(direction, chunk.as_mut().get_mut(.., first.min(count)..), context)
        };
        match direction {
            Direction::Forward => reflections.iter().try_for_each(step),
            Direction::Back => reflections.iter().rev().try_for_each(step),
        }
    };
    match size < columns.ncols() {
        true => columns.par_col_chunks_mut(size).enumerate().try_for_each(rotate),
        false => rotate((0, columns)),
    }
}

/// Reduces a symmetric matrix, rotates columns, C to Qᵀ C, and multiplies them by B, which has a row for each: Qᵀ C B.
/// Threads that have nothing to do while the matrix is reduced rotate by the reflections that are known; the reduction waits for
/// none of them.
pub(super) fn while_reduced(
    symmetric: Matrix<f64>,
    columns: MatMut<'_, f64>,
    b: MatRef<'_, f64>,
    context: &Context,
) -> Result<(Reduced, Vec<Reflections>, Mat<f64>)> {
    let n = symmetric.rows();
    let blocks = n.div_ceil(reduction::block_width(n));
    let known: Vec<OnceLock<Reflections>> = (0..blocks).map(|_| OnceLock::new()).collect();
    let size = columns_at_a_time(&columns, context).max(1);
    let chunks = columns.par_col_chunks_mut(size).enumerate().map(|(k, columns)| {
        let b = b.subrows(k * size, columns.ncols());
        Mutex::new(Chunk { columns, b, done: 0 })
    });
    let mut chunks: Vec<_> = chunks.collect();
    let is_reduced = AtomicBool::new(false);
    // The last ones first: what is left of them stays with the same threads afterwards.
    let meanwhile = || {
        let step = |chunk: &Mutex<Chunk<'_>>| {
            let Ok(mut chunk) = chunk.try_lock() else { return false };
            // What is cancelled ends with the reduction.
            matches!(chunk.step(&known, context), Ok(true))
        };
        while !is_reduced.load(Ordering::Relaxed) {
            if !chunks.iter().rev().any(step) {
                break;
            }
        }
    };
    let form = rayon::scope(|scope| {
        let mut slots = known.iter();
        let mut found = |some| {
            let slot = slots.next().expect("a slot for all reflections");
            slot.get_or_init(|| some);
            if chunks.len() > 1 {
                scope.spawn(|_| meanwhile());
            }
        };
        let form = reduction::reduce(symmetric, &mut found, &|| context.check());
        is_reduced.store(true, Ordering::Relaxed);
        form
    })?;
    let product = match chunks.as_mut_slice() {
        [] => Mat::zeros(n, b.ncols()),
        chunks => finish(chunks, &known, context)?,
    };
    Ok((form, known.into_iter().filter_map(OnceLock::into_inner).collect(), product))
}

/// Rotates chunks to the end and multiplies them by B. The sums are added up pair by pair, whichever thread computes them.
fn finish(
    chunks: &mut [Mutex<Chunk<'_>>],
    known: &[OnceLock<Reflections>],
    context: &Context,
) -> Result<Mat<f64>> {
    if let [chunk] = chunks {
        return chunk.get_mut().expect("no rotation has panicked").finish(known, context);
    }
    let (some, others) = chunks.split_at_mut(chunks.len() / 2);
    let (sum, other) =
        rayon::join(|| finish(some, known, context), || finish(others, known, context));
    let mut sum = sum?;
    sum += other?;
    Ok(sum)
}

/// Columns on their way through the reflections of a matrix.
struct Chunk<'a> {
    columns: MatMut<'a, f64>,
    /// What they are multiplied by in the end, a row for each.
    b: MatRef<'a, f64>,
    /// How many of the blocks of reflections are behind them.
    done: usize,
}

impl Chunk<'_> {
    /// Rotates by the next reflections, if they are known.
    fn step(&mut self, known: &[OnceLock<Reflections>], context: &Context) -> Result<bool> {
        let Some(some) = known.get(self.done).and_then(OnceLock::get) else { return Ok(false) };
        some.apply(Direction::Forward, self.columns.as_mut(), context)?;
        self.done += 1;
        Ok(true)
    }

    /// The product, while the columns are in the caches.
    fn finish(&mut self, known: &[OnceLock<Reflections>], context: &Context) -> Result<Mat<f64>> {
        while self.step(known, context)? {}
        let mut product = Mat::zeros(self.columns.nrows(), self.b.ncols());
        let (columns, all) = (self.columns.as_ref(), product.as_mut());
        cached::multiply(Part::Whole, Accum::Replace, all, columns, self.b, 1.0, context)?;
        Ok(product)
    }
}

/// How many columns are rotated at a time.
fn columns_at_a_time(columns: &MatMut<'_, f64>, context: &Context) -> usize {
    /// Chunks that are wanted, as far as there are columns for them.
    const CHUNKS: usize = 16;
    let (n, count) = (columns.nrows(), columns.ncols());
    let pieces = Pieces::of(n * n * count, context);
    // Reflections are applied in two products.
    let most = pieces.limit / (2 * n * reduction::block_width(n)).max(1);
    let wanted = match pieces.par {
        Par::Seq => count,
        _ => {
            let [least, most] = [*AT_A_TIME.start(), *AT_A_TIME.end()];
            count.div_ceil(CHUNKS).next_multiple_of(16).clamp(least, most)
        }
    };
    wanted.min(most.max(1))
}

#[cfg(test)]
mod tests {
    use crate::context::Context;
    use crate::linalg::Tridiagonal;
    use crate::matrix::Matrix;
    use rayon::ThreadPoolBuilder;

    /// Of one chunk and of several, with whole blocks of reflections and others, with parts of a reduction and without.
    #[test]
    fn rows_that_are_rotated_meanwhile_are_those_that_are_rotated_afterwards() {
        let context = Context::default();
        for (n, count) in [(0, 3), (1, 3), (2, 3), (33, 5), (64, 0), (300, 1600), (610, 400)] {
            let symmetric = Matrix::from_fn(n, n, |i, j| {
                ((i + j) as f64 * 0.7).sin() + 2.0 * f64::from(i == j)
            });
            let value = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 - 11.0;
            let (rows, b) = (Matrix::from_fn(count, n, value), Matrix::from_fn(count, 2, value));
            let reduced = Tridiagonal::reduce(symmetric.clone(), &context).unwrap();
            let mut afterwards = rows.clone();
            reduced.rotate_rows(&mut afterwards, &context).unwrap();
            let sum = |k, j| (0..count).map(|i| afterwards[(i, k)] * b[(i, j)]).sum::<f64>();
            let wanted = Matrix::from_fn(n, 2, sum);
            let mut products = vec![];
            for threads in [1, 2, 4] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut meanwhile = rows.clone();
                let together = pool.install(|| {
                    let symmetric = symmetric.clone();
                    Tridiagonal::reduce_and_rotate(symmetric, &mut meanwhile, &b, &context)
                });
                assert!(meanwhile == afterwards, "{n} columns, {threads} threads");
                let (together, product) = together.unwrap();
                let mut again = rows.clone();
                together.rotate_rows(&mut again, &context).unwrap();
                assert!(again == afterwards, "{n} columns, {threads} threads: kept");
                let pairs = product.as_slice().iter().zip(wanted.as_slice());
                assert!(pairs.into_iter().all(|(found, wanted)| (found - wanted).abs() < 1e-8));
                products.push(product);
            }
            assert!(products.iter().all(|product| *product == products[0]), "{n} columns");
        }
    }
}
