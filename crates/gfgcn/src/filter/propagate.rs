//! The hot path: a block of columns, every filter, one pass.
//!
//! Columns are taken in blocks narrow enough to stay in the cache. On each block the vectors of the
//! bank's recurrence follow from each other by one product each. Every few products, while the
//! vectors are at hand, their multiples are added to the sum of each filter, on the rows that are
//! asked for: the sums are much more memory than the vectors, and would otherwise be
//! walked through for every product.
//!
//! Blocks are independent, so they run in parallel; where there are too few of them, the rows of each
//! block run in parallel instead. Either way every number is computed by the same operations in the
//! same order.

use super::FilterBank;
use crate::features::Features;
use crate::graph::{Propagator, split_rows};
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use crate::simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Vectors that are held, and added to the sums together.
pub(crate) const WINDOW: usize = 4;
/// Rows that are multiplied and then added to the sums while they are at hand.
const TILE: usize = 64;
/// Bytes of the vectors of one block that are to stay in the cache of one core, about.
const CACHED_BYTES: usize = 3 << 20;
/// Below this many additions a product is not worth handing out to other threads.
const PARALLEL_FROM: usize = 1 << 18;

/// Something with one row of numbers per node that can be propagated.
pub trait Signal<T>: Sync {
    /// The number of nodes.
    fn rows(&self) -> usize;
    /// The number of columns.
    fn cols(&self) -> usize;
    /// Writes `scale` times a range of columns of a row over the zeros in `out`.
    fn fill(&self, row: usize, columns: Range<usize>, scale: f64, out: &mut [T]);
}

impl<T: Scalar> Signal<T> for Features {
    fn rows(&self) -> usize {
        self.rows()
    }
    fn cols(&self) -> usize {
        self.cols()
    }
    fn fill(&self, row: usize, columns: Range<usize>, scale: f64, out: &mut [T]) {
        match self {
            Features::Dense(m) => {
                for (out, &value) in out.iter_mut().zip(&m.row(row)[columns]) {
                    *out = T::from_f64(scale * f64::from(value));
                }
            }
            Features::Sparse(m) => {
                let (indices, values) = m.row(row);
                let start = indices.partition_point(|&j| (j as usize) < columns.start);
                for (&j, &value) in indices[start..].iter().zip(&values[start..]) {
                    if j as usize >= columns.end {
                        break;
                    }
                    out[j as usize - columns.start] = T::from_f64(scale * f64::from(value));
                }
            }
        }
    }
}

impl<T: Scalar> Signal<T> for Matrix<f64> {
    fn rows(&self) -> usize {
        self.rows()
    }
    fn cols(&self) -> usize {
        self.cols()
    }
    fn fill(&self, row: usize, columns: Range<usize>, scale: f64, out: &mut [T]) {
        for (out, &value) in out.iter_mut().zip(&self.row(row)[columns]) {
            *out = T::from_f64(scale * value);
        }
    }
}

/// Filtered columns, held in the blocks they were computed in.
#[derive(Clone, Debug)]
pub struct Propagated<T> {
    rows: usize,
    cols: usize,
    /// Columns in every block but the last.
    width: usize,
    blocks: Vec<Matrix<T>>,
}

impl<T: Scalar> Propagated<T> {
    /// A matrix as a single block.
    pub(crate) fn whole(matrix: Matrix<T>) -> Self {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        Propagated { rows, cols, width: cols, blocks: vec![matrix] }
    }

    /// The number of rows that were kept.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Some of the kept rows, by position, in double precision.
    pub fn select(&self, rows: impl Iterator<Item = usize>) -> Matrix<f64> {
        let rows: Vec<usize> = rows.collect();
        let mut out = Matrix::zeros(rows.len(), self.cols);
        out.as_mut_slice().par_chunks_mut(self.cols).zip(rows).for_each(|(out, row)| {
            for (out, block) in out.chunks_mut(self.width).zip(&self.blocks) {
                for (out, value) in out.iter_mut().zip(block.row(row)) {
                    *out = value.to_f64();
                }
            }
        });
        out
    }

    /// All kept rows, in double precision.
    pub fn to_matrix(&self) -> Matrix<f64> {
        self.select(0..self.rows)
    }
}

/// p(Â)·B for every filter p of a bank, on every column of the signal.
///
/// Keeps the rows named by `rows`, or all of them. Takes [`FilterBank::products`] products with Â.
///
/// # Panics
/// If the signal does not have one row per node.
pub fn propagate<T: Scalar>(
    propagator: &Propagator<'_>,
    bank: &FilterBank,
    signal: &dyn Signal<T>,
    rows: Option<&[usize]>,
) -> Vec<Propagated<T>> {
    let all: Vec<usize>;
    let rows = match rows {
        Some(rows) => rows,
        None => {
            all = (0..propagator.nodes()).collect();
            &all
        }
    };
    let store = |_: Range<usize>, sums: Sums<'_, T>| {
        (0..bank.len())
            .map(|filter| sums.scaled(filter, |node| propagator.scale_after(node)))
            .collect::<Vec<Matrix<T>>>()
    };
    let before = |node: usize| propagator.scale_before(node);
    let blocks = propagate_blocks(propagator, bank, signal, before, rows, store);
    let (kept, cols) = (rows.len(), signal.cols());
    let width = block_width::<T>(propagator.nodes(), cols);
    let mut out: Vec<Propagated<T>> = (0..bank.len())
        .map(|_| Propagated { rows: kept, cols, width, blocks: Vec::new() })
        .collect();
    for of_block in blocks {
        for (out, block) in out.iter_mut().zip(of_block) {
            out.blocks.push(block);
        }
    }
    out
}

/// Columns in a block: a whole number of cache lines, so few that the vectors stay in the cache if
/// that is possible with two.
pub(crate) fn block_width<T>(nodes: usize, columns: usize) -> usize {
    let line = 64 / size_of::<T>();
    let fitting = CACHED_BYTES / (nodes * size_of::<T>() * WINDOW).max(1);
    let width = (fitting / line * line).clamp(2 * line, 4 * line);
    width.min(columns.max(1))
}

/// Filters the columns of a signal, its rows scaled by `before`, block by block, and hands the sums
/// of each block over; returns what `finish` made of them, in the order of the blocks.
pub(crate) fn propagate_blocks<T: Scalar, R: Send>(
    propagator: &Propagator<'_>,
    bank: &FilterBank,
    signal: &dyn Signal<T>,
    before: impl Fn(usize) -> f64 + Sync,
    rows: &[usize],
    finish: impl Fn(Range<usize>, Sums<'_, T>) -> R + Sync,
) -> Vec<R> {
    assert_eq!(signal.rows(), propagator.nodes(), "the signal needs one row per node");
    let (nodes, cols) = (propagator.nodes(), signal.cols());
    let width = block_width::<T>(nodes, cols);
    let starts: Vec<usize> = (0..cols).step_by(width).collect();
    let threads = rayon::current_num_threads();
    let by_blocks = starts.len() >= threads;
    let parts =
        if by_blocks || propagator.nonzeros() * width < PARALLEL_FROM { 1 } else { threads };
    let kept = Kept::new(rows, &propagator.balanced_rows(parts));
    let run = |vectors: &mut Vec<Vec<T>>, start: usize| {
        let columns = start..cols.min(start + width);
        // Whole vectors of the narrowest kind: no leftover columns to go through one by one.
        let stride = columns.len().next_multiple_of(if columns.len() > 4 { 8 } else { 4 });
        let block = Block { propagator, bank, kept: &kept, stride };
        block.fill(vectors, |node, out| {
            signal.fill(node, columns.clone(), before(node), &mut out[..columns.len()]);
        });
        let values = block.run(vectors);
        let width = columns.len();
        finish(columns, Sums { kept: &kept, filters: bank.len(), width, stride, values })
    };
    if by_blocks {
        starts.into_par_iter().map_init(Vec::new, run).collect()
    } else {
        let mut vectors = Vec::new();
        starts.into_iter().map(|start| run(&mut vectors, start)).collect()
    }
}

/// The rows that are kept, and how all rows are divided among threads.
struct Kept {
    /// Nodes in increasing order, each with its position in the result.
    rows: Vec<(usize, usize)>,
    /// Each part's nodes and its share of `rows`.
    parts: Vec<(Range<usize>, Range<usize>)>,
}

impl Kept {
    fn new(rows: &[usize], parts: &[Range<usize>]) -> Self {
        let mut rows: Vec<(usize, usize)> = rows.iter().copied().zip(0..).collect();
        rows.sort_unstable();
        let before = |node: usize| rows.partition_point(|&(kept, _)| kept < node);
        let parts = parts.iter().map(|part| (part.clone(), before(part.start)..before(part.end)));
        Kept { parts: parts.collect(), rows }
    }
}

/// Each filter's sum on the kept rows of one block.
pub(crate) struct Sums<'a, T> {
    kept: &'a Kept,
    filters: usize,
    width: usize,
    stride: usize,
    /// For each kept row, for each filter, `stride` columns.
    values: Vec<T>,
}

impl<T: Scalar> Sums<'_, T> {
    /// A filter's sums with each node's row multiplied by a factor, in the order asked for.
    pub(crate) fn scaled(&self, filter: usize, factor: impl Fn(usize) -> f64) -> Matrix<T> {
        let mut out = Matrix::zeros(self.kept.rows.len(), self.width);
        for (k, &(node, position)) in self.kept.rows.iter().enumerate() {
            let factor = T::from_f64(factor(node));
            let start = (k * self.filters + filter) * self.stride;
            let sums = &self.values[start..start + self.width];
            for (out, &sum) in out.row_mut(position).iter_mut().zip(sums) {
                *out = factor * sum;
            }
        }
        out
    }
}

/// One block of columns on its way through the recurrence.
struct Block<'a> {
    propagator: &'a Propagator<'a>,
    bank: &'a FilterBank,
    kept: &'a Kept,
    stride: usize,
}

/// What a window adds to one filter's sum.
struct Term<T> {
    filter: usize,
    /// Nothing was added before.
    first: bool,
    coefficients: [T; WINDOW],
}

impl Block<'_> {
    /// Makes v_0.
    fn fill<T: Scalar>(&self, vectors: &mut Vec<Vec<T>>, row: impl Fn(usize, &mut [T])) {
        let size = self.propagator.nodes() * self.stride;
        vectors.resize_with(WINDOW.min(self.bank.products() + 1), Vec::new);
        vectors[0].clear();
        vectors[0].resize(size, T::default());
        for (node, out) in vectors[0].chunks_exact_mut(self.stride).enumerate() {
            row(node, out);
        }
        vectors[1..].iter_mut().for_each(|vector| vector.resize(size, T::default()));
    }

    /// Runs the recurrence from v_0 and returns the sums.
    fn run<T: Scalar>(&self, vectors: &mut [Vec<T>]) -> Vec<T> {
        let per_row = self.bank.len() * self.stride;
        let mut sums = vec![T::default(); self.kept.rows.len() * per_row];
        let last = self.bank.products();
        for k in 0..=last {
            let slot = k % WINDOW;
            let terms = if slot == WINDOW - 1 || k == last { self.terms(k) } else { Vec::new() };
            let mut newest = std::mem::take(&mut vectors[slot]);
            let rows: Vec<Range<usize>> =
                self.kept.parts.iter().map(|(rows, _)| rows.clone()).collect();
            let kept: Vec<Range<usize>> =
                self.kept.parts.iter().map(|(_, kept)| kept.clone()).collect();
            let sums_parts = split_rows(&mut sums, per_row, &kept);
            let parts: Vec<_> = split_rows(&mut newest, self.stride, &rows)
                .into_iter()
                .zip(sums_parts)
                .zip(&self.kept.parts)
                .collect();
            let sweep = |((newest, sums), (rows, kept)): ((&mut [T], &mut [T]), &(_, _))| {
                self.sweep(
                    k,
                    vectors,
                    &terms,
                    Range::clone(rows),
                    Range::clone(kept),
                    newest,
                    sums,
                );
            };
            if parts.len() > 1 {
                parts.into_par_iter().for_each(sweep);
            } else {
                parts.into_iter().for_each(sweep);
            }
            vectors[slot] = newest;
        }
        sums
    }

    /// What is added to the sums when the window that ends with v_k is complete.
    fn terms<T: Scalar>(&self, k: usize) -> Vec<Term<T>> {
        let start = k - k % WINDOW;
        (0..self.bank.len())
            .filter_map(|filter| {
                let all = self.bank.coefficients(filter);
                let own = all.get(start..all.len().min(k + 1))?;
                let mut coefficients = [T::default(); WINDOW];
                for (out, &c) in coefficients.iter_mut().zip(own) {
                    *out = T::from_f64(c);
                }
                own.iter().any(|&c| c != 0.0).then(|| Term {
                    filter,
                    first: all[..start].iter().all(|&c| c == 0.0),
                    coefficients,
                })
            })
            .collect()
    }

    /// Computes some rows of v_k and, tile by tile, adds the window to their sums.
    #[allow(clippy::too_many_arguments)] // the parts of one sweep
    fn sweep<T: Scalar>(
        &self,
        k: usize,
        vectors: &[Vec<T>],
        terms: &[Term<T>],
        rows: Range<usize>,
        mut kept: Range<usize>,
        newest: &mut [T],
        sums: &mut [T],
    ) {
        let per_row = self.bank.len() * self.stride;
        let first_kept = kept.start;
        for first in rows.clone().step_by(TILE) {
            let tile = first..rows.end.min(first + TILE);
            let own = (first - rows.start) * self.stride..(tile.end - rows.start) * self.stride;
            if k > 0 {
                let x = &vectors[(k - 1) % WINDOW];
                let z = &vectors[k.saturating_sub(2) % WINDOW];
                let step = self.bank.step(k);
                let y = &mut newest[own.clone()];
                self.propagator.step_rows(step, tile.clone(), self.stride, x, Some(z), y);
            }
            if terms.is_empty() {
                continue;
            }
            let newest = &newest[own];
            while kept.start < kept.end && self.kept.rows[kept.start].0 < tile.end {
                let node = self.kept.rows[kept.start].0;
                let mut window: [&[T]; WINDOW] = [&[]; WINDOW];
                for (j, row) in window[..k % WINDOW].iter_mut().enumerate() {
                    *row = &vectors[j][node * self.stride..][..self.stride];
                }
                window[k % WINDOW] = &newest[(node - tile.start) * self.stride..][..self.stride];
                let at = (kept.start - first_kept) * per_row;
                let sums = &mut sums[at..at + per_row];
                match k % WINDOW {
                    0 => add::<T, 1>(window, terms, sums, self.stride),
                    1 => add::<T, 2>(window, terms, sums, self.stride),
                    2 => add::<T, 3>(window, terms, sums, self.stride),
                    _ => add::<T, 4>(window, terms, sums, self.stride),
                }
                kept.start += 1;
            }
        }
    }
}

/// Adds the first `COUNT` vectors of a window, one after the other, to every filter's sum on one row.
fn add<T: Scalar, const COUNT: usize>(
    window: [&[T]; WINDOW],
    terms: &[Term<T>],
    sums: &mut [T],
    stride: usize,
) {
    Simd::detect().run(
        #[inline(always)]
        || {
            let mut column = 0;
            while column + 16 <= stride {
                add_lanes::<T, COUNT, 16>(window, terms, sums, stride, column);
                column += 16;
            }
            while column < stride {
                add_lanes::<T, COUNT, 4>(window, terms, sums, stride, column);
                column += 4;
            }
        },
    );
}

#[inline(always)]
fn add_lanes<T: Scalar, const COUNT: usize, const LANES: usize>(
    window: [&[T]; WINDOW],
    terms: &[Term<T>],
    sums: &mut [T],
    stride: usize,
    column: usize,
) {
    let mut vectors = [[T::default(); LANES]; COUNT];
    for (lanes, vector) in vectors.iter_mut().zip(window) {
        *lanes = vector[column..column + LANES].try_into().expect("a slice of LANES entries");
    }
    for term in terms {
        let start = term.filter * stride + column;
        let sum: &mut [T; LANES] =
            (&mut sums[start..start + LANES]).try_into().expect("a slice of LANES entries");
        let mut total = if term.first { [T::default(); LANES] } else { *sum };
        for (vector, &c) in vectors.iter().zip(&term.coefficients) {
            for l in 0..LANES {
                total[l] = total[l] + c * vector[l];
            }
        }
        *sum = total;
    }
}
