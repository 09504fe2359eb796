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
use crate::memory::zeros;
use crate::scalar::Scalar;
use crate::simd::Simd;
use crate::stop::checkpoint;
use rayon::prelude::*;
use std::ops::Range;

/// Vectors that are held and added to the sums together, at most.
const WINDOW: usize = 4;
/// Rows that are multiplied and then added to the sums while they are at hand.
const TILE: usize = 64;
/// Bytes of the vectors of one block that are to stay in the cache of one core, about.
const CACHED_BYTES: usize = 3 << 20;
/// A line per node takes more than this: rows come from far away whatever is done.
const FAR_BYTES: usize = 32 << 20;
/// Parts that the rows of a block are divided into, so that a thread that is late can be helped.
const PARTS_PER_THREAD: usize = 4;
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
        /// From this many entries on, threads share the work.
        const MANY: usize = 1 << 21;
        let rows: Vec<usize> = rows.collect();
        if rows.len() * self.cols < MANY {
            // Written once, not first filled with zeros: a sweep makes hundreds of these.
            let mut data = Vec::with_capacity(rows.len() * self.cols);
            for &row in &rows {
                for block in &self.blocks {
                    data.extend(block.row(row).iter().map(|value| value.to_f64()));
                }
            }
            return Matrix::from_rows(rows.len(), self.cols, data).expect("whole rows");
        }
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

    /// All kept rows, in the precision they were computed in.
    pub fn to_native(&self) -> Matrix<T> {
        let mut out = Matrix::zeros(self.rows, self.cols);
        out.as_mut_slice().par_chunks_mut(self.cols).enumerate().for_each(|(row, out)| {
            for (out, block) in out.chunks_mut(self.width).zip(&self.blocks) {
                out.copy_from_slice(block.row(row));
            }
        });
        out
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
            .map(|filter| sums.scaled(filter, |place| propagator.scale_after(place)))
            .collect::<Vec<Matrix<T>>>()
    };
    let before = |place: usize| propagator.scale_before(place);
    let (kept, cols) = (rows.len(), signal.cols());
    let layout = Layout::new::<T>(propagator.nodes(), cols);
    let blocks = propagate_blocks(layout, propagator, bank, signal, before, rows, store);
    let width = layout.width;
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

/// How the columns of a signal are divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Columns in every block but the last.
    pub(crate) width: usize,
    /// Blocks that are at work at the same time; 1 where threads share the rows of a block.
    pub(crate) at_once: usize,
    /// Vectors of a block that are held, and added to the sums together.
    pub(crate) window: usize,
}

impl Layout {
    /// Blocks of whole cache lines, so few that a core's vectors stay in its cache if that is
    /// possible with two. On graphs so large that not even one line per node fits, fetching a row
    /// costs more than its length: rows are long, few vectors are held, and all threads work on the
    /// same block.
    pub(crate) fn new<T>(nodes: usize, columns: usize) -> Self {
        let line = 64 / size_of::<T>();
        let threads = rayon::current_num_threads();
        let large = nodes * 64 > FAR_BYTES;
        let lines_at_hand = CACHED_BYTES / (nodes * 64 * WINDOW).max(1);
        let lines = if large { 8 } else { lines_at_hand.clamp(2, 4) };
        let width = (lines * line).min(columns.max(1));
        let blocks = columns.div_ceil(width);
        Layout {
            width,
            at_once: if large || blocks < threads { 1 } else { threads },
            window: if large { 2 } else { WINDOW },
        }
    }
}

/// Filters the columns of a signal, the row at each place scaled by `before`, block by block, and hands
/// the sums of each block over; returns what `finish` made of them, in the order of the blocks.
pub(crate) fn propagate_blocks<T: Scalar, R: Send>(
    Layout { width, at_once, window }: Layout,
    propagator: &Propagator<'_>,
    bank: &FilterBank,
    signal: &dyn Signal<T>,
    before: impl Fn(usize) -> f64 + Sync,
    rows: &[usize],
    finish: impl Fn(Range<usize>, Sums<'_, T>) -> R + Sync,
) -> Vec<R> {
    assert_eq!(signal.rows(), propagator.nodes(), "the signal needs one row per node");
    let cols = signal.cols();
    let starts: Vec<usize> = (0..cols).step_by(width).collect();
    let alone = at_once > 1 || propagator.nonzeros() * width < PARALLEL_FROM;
    let parts = if alone { 1 } else { PARTS_PER_THREAD * rayon::current_num_threads() };
    let kept = Kept::new(propagator, rows, &propagator.balanced_rows(parts));
    let run = |vectors: &mut Vec<Vec<T>>, start: usize| {
        let columns = start..cols.min(start + width);
        // Whole vectors of the narrowest kind: no leftover columns to go through one by one.
        let stride = columns.len().next_multiple_of(if columns.len() > 4 { 8 } else { 4 });
        let block = Block { propagator, bank, kept: &kept, stride, window };
        block.fill(vectors, |place, out| {
            let (node, out) = (propagator.node(place), &mut out[..columns.len()]);
            signal.fill(node, columns.clone(), before(place), out);
        });
        let values = block.run(vectors);
        let width = columns.len();
        finish(columns, Sums { kept: &kept, filters: bank.len(), width, stride, values })
    };
    if at_once > 1 {
        starts.into_par_iter().map_init(Vec::new, run).collect()
    } else {
        let mut vectors = Vec::new();
        starts.into_iter().map(|start| run(&mut vectors, start)).collect()
    }
}

/// The rows that are kept, and how all rows are divided among threads.
struct Kept {
    /// Places in increasing order, each with its position in the result.
    rows: Vec<(usize, usize)>,
    /// Each part's places and its share of `rows`.
    parts: Vec<(Range<usize>, Range<usize>)>,
}

impl Kept {
    fn new(propagator: &Propagator<'_>, nodes: &[usize], parts: &[Range<usize>]) -> Self {
        let places = nodes.iter().map(|&node| propagator.place(node));
        let mut rows: Vec<(usize, usize)> = places.zip(0..).collect();
        rows.sort_unstable();
        let before = |place: usize| rows.partition_point(|&(kept, _)| kept < place);
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
    /// A filter's sums with the row at each place multiplied by a factor, in the order asked for.
    pub(crate) fn scaled(&self, filter: usize, factor: impl Fn(usize) -> f64) -> Matrix<T> {
        let mut out = Matrix::zeros(self.kept.rows.len(), self.width);
        for (k, &(place, position)) in self.kept.rows.iter().enumerate() {
            let factor = T::from_f64(factor(place));
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
    /// Vectors that are held: v_k takes the place of v_{k − window}.
    window: usize,
}

/// Makes a vector longer with zeros.
fn resize<T: Scalar>(vector: &mut Vec<T>, size: usize) {
    if vector.capacity() < size {
        *vector = zeros(size);
    } else {
        vector.resize(size, T::default());
    }
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
        vectors.resize_with(self.window.min(self.bank.products() + 1), Vec::new);
        vectors[0].clear();
        resize(&mut vectors[0], size);
        for (place, out) in vectors[0].chunks_exact_mut(self.stride).enumerate() {
            row(place, out);
        }
        vectors[1..].iter_mut().for_each(|vector| resize(vector, size));
    }

    /// Runs the recurrence from v_0 and returns the sums.
    fn run<T: Scalar>(&self, vectors: &mut [Vec<T>]) -> Vec<T> {
        let per_row = self.bank.len() * self.stride;
        let mut sums = zeros(self.kept.rows.len() * per_row);
        let last = self.bank.products();
        for k in 0..=last {
            let slot = k % self.window;
            let terms =
                if slot == self.window - 1 || k == last { self.terms(k) } else { Vec::new() };
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
                checkpoint();
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
        let start = k - k % self.window;
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
                let x = &vectors[(k - 1) % self.window];
                // With two vectors, v_k is made in the place of v_{k−2}.
                let z = (self.window > 2)
                    .then(|| vectors[k.saturating_sub(2) % self.window].as_slice());
                let step = self.bank.step(k);
                let y = &mut newest[own.clone()];
                self.propagator.step_rows(step, tile.clone(), self.stride, x, z, y);
            }
            if terms.is_empty() {
                continue;
            }
            let newest = &newest[own];
            while kept.start < kept.end && self.kept.rows[kept.start].0 < tile.end {
                let place = self.kept.rows[kept.start].0;
                let mut window: [&[T]; WINDOW] = [&[]; WINDOW];
                for (j, row) in window[..k % self.window].iter_mut().enumerate() {
                    *row = &vectors[j][place * self.stride..][..self.stride];
                }
                window[k % self.window] =
                    &newest[(place - tile.start) * self.stride..][..self.stride];
                let at = (kept.start - first_kept) * per_row;
                let sums = &mut sums[at..at + per_row];
                match k % self.window {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::selectors::propagate_selectors;
    use crate::filter::{Filter, Tolerance};
    use crate::graph::{Graph, Normalization};

    fn graph() -> Graph {
        let edges: Vec<(u32, u32)> = (0..900).map(|k| (k * 7 % 300, k * k % 300)).collect();
        let weights: Vec<f32> = (0..edges.len()).map(|k| 0.5 + (k % 5) as f32).collect();
        Graph::from_edges(300, &edges, Some(&weights)).unwrap().0
    }

    fn bank() -> FilterBank {
        let filters = [Filter::sgc(3), Filter::ssgc(40, 0.1), Filter::dgc(9, 5.0), Filter::sgc(64)];
        FilterBank::new(&filters.map(Result::unwrap), Tolerance::default())
    }

    fn features(columns: usize) -> Features {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f32 / 23.0;
        Features::dense(Matrix::from_fn(300, columns, entry)).unwrap()
    }

    /// Nothing about how the work is laid out changes a bit.
    #[test]
    fn the_layout_changes_no_bit() {
        let graph = graph();
        let propagator = Propagator::new(&graph, Normalization::Symmetric);
        let (bank, features) = (bank(), features(77));
        let rows: Vec<usize> = (0..300).rev().step_by(3).collect();
        let run = |layout: Layout| -> Vec<Vec<Vec<f32>>> {
            let before = |place: usize| propagator.scale_before(place);
            let finish = |_: Range<usize>, sums: Sums<'_, f32>| {
                (0..bank.len()).map(|k| sums.scaled(k, |_| 1.0)).collect::<Vec<_>>()
            };
            let blocks =
                propagate_blocks(layout, &propagator, &bank, &features, before, &rows, finish);
            // filters × rows × columns
            (0..bank.len())
                .map(|k| {
                    let row = |i: usize| blocks.iter().flat_map(move |b| b[k].row(i).to_vec());
                    (0..rows.len()).map(|i| row(i).collect()).collect()
                })
                .collect()
        };
        let one = run(Layout { width: 77, at_once: 1, window: 2 });
        for (width, at_once, window) in [(16, 2, 4), (32, 1, 4), (77, 1, 3), (5, 2, 2), (1, 2, 4)] {
            let layout = Layout { width, at_once, window };
            assert!(run(layout) == one, "{layout:?}");
        }
    }

    /// Renumbered inside and from the side of the nodes: the same up to rounding.
    #[test]
    fn renumbering_and_selecting_change_nothing_but_rounding() {
        let (graph, bank, features) = (graph(), bank(), features(40));
        let rows: Vec<usize> = (0..300).step_by(7).collect();
        for normalization in [Normalization::Symmetric, Normalization::Row] {
            let propagator = Propagator::new(&graph, normalization);
            let plain = propagate::<f32>(&propagator, &bank, &features, Some(&rows));
            let renumbered = propagator.clone().renumbered();
            let others = [
                propagate::<f32>(&renumbered, &bank, &features, Some(&rows)),
                propagate_selectors(&propagator, &bank, &features, &rows),
                propagate_selectors(&renumbered, &bank, &features, &rows),
            ];
            for other in others {
                for (plain, other) in plain.iter().zip(&other) {
                    let (plain, other) = (plain.to_matrix(), other.to_matrix());
                    for (a, b) in plain.as_slice().iter().zip(other.as_slice()) {
                        assert!((a - b).abs() < 1e-5, "{normalization}: {a} {b}");
                    }
                }
            }
        }
    }
}
