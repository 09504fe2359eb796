//! The hot path: a slab of columns, every filter, one pass.
//!
//! Columns are taken in slabs narrow enough to stay in the cache. On each slab the vectors of the Chebyshev
//! recurrence follow from each other by one product each. Every few products, while the vectors are at hand, their
//! multiples are added to the sum of each filter, on the rows that are asked for: the sums are much more memory than
//! the vectors, and would otherwise be walked through for every product.
//!
//! Slabs are independent, so they run in parallel; where there are too few of them, the rows of each slab run in
//! parallel instead. Either way every number is computed by the same operations in the same order.

use super::layout::{Layout, WINDOW};
use super::series::{Basis, Series, recurrence};
use super::slabs::{Kept, Sink, Source, Sums};
use crate::context::Context;
use crate::error::Result;
use crate::graph::{Propagator, split_rows};
use crate::pages::{Lines, zeros};
use crate::scalar::Scalar;
use crate::simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Rows that are multiplied and then added to the sums while they are at hand.
const TILE: usize = 64;
/// Parts that the rows of a slab are divided into, so that a thread that is late can be helped.
const PARTS_PER_THREAD: usize = 4;
/// Below this many additions a product is not worth handing out to other threads.
const PARALLEL_FROM: usize = 1 << 18;

/// Products that serve several filters together.
pub(crate) fn products(filters: &[Series]) -> usize {
    filters.iter().map(Series::products).max().unwrap_or(0)
}

/// p(Â)·B for every filter p on every column of a source, or p(Â)ᵀ·B; the rows of the given nodes go to the sink,
/// slab by slab.
///
/// # Errors
/// If the work is cancelled.
///
/// # Panics
/// If the source does not have one row per node.
pub(crate) fn propagate<T: Scalar>(
    context: &Context,
    propagator: &Propagator<'_>,
    transposed: bool,
    filters: &[Series],
    source: &dyn Source<T>,
    nodes: &[usize],
    sink: &dyn Sink<T>,
) -> Result<()> {
    let layout = Layout::new::<T>(propagator.nodes(), source.cols());
    let columns = 0..source.cols();
    propagate_as(layout, columns, context, propagator, transposed, filters, source, nodes, sink)
}

/// As [`propagate`], of some columns, cut as asked for.
#[allow(clippy::too_many_arguments)] // those of `propagate`, and the columns
pub(crate) fn propagate_as<T: Scalar>(
    Layout { width, at_once, window }: Layout,
    columns: Range<usize>,
    context: &Context,
    propagator: &Propagator<'_>,
    transposed: bool,
    filters: &[Series],
    source: &dyn Source<T>,
    nodes: &[usize],
    sink: &dyn Sink<T>,
) -> Result<()> {
    assert_eq!(source.rows(), propagator.nodes(), "the source needs one row per node");
    let end = columns.end;
    let starts: Vec<usize> = columns.step_by(width).collect();
    let alone = at_once > 1 || propagator.nonzeros() * width < PARALLEL_FROM;
    let parts = if alone { 1 } else { PARTS_PER_THREAD * rayon::current_num_threads() };
    let kept = Kept::new(propagator, nodes, &propagator.balanced_rows(parts));
    let steps = products(filters) as u64 + 1;
    let told = context.scratch().map(|_| context.progress());
    if let Some(progress) = told {
        progress.begin("filtering", steps * starts.len() as u64);
    }
    let run = |vectors: &mut Vec<Lines<T>>, start: usize| -> Result<()> {
        context.check()?;
        let columns = start..end.min(start + width);
        if sink.recall(&columns)? {
            told.iter().for_each(|progress| progress.advance_by(steps));
            return Ok(());
        }
        let stride = Layout::stride(columns.len());
        let slab = Slab { context, propagator, transposed, filters, kept: &kept, stride, window };
        source.ready(columns.clone())?;
        slab.fill(vectors, source, columns.clone());
        let values = slab.run(vectors)?;
        let after = |place: usize| propagator.scale_after(place, transposed);
        let sums = Sums::new(&kept, filters.len(), columns.len(), stride, values, &after);
        sink.slab(columns.clone(), &sums)
    };
    if at_once > 1 {
        starts.into_par_iter().map_init(Vec::new, run).collect()
    } else {
        let mut vectors = Vec::new();
        starts.into_iter().try_for_each(|start| run(&mut vectors, start))
    }
}

/// One slab of columns on its way through the recurrence.
struct Slab<'a> {
    context: &'a Context,
    propagator: &'a Propagator<'a>,
    transposed: bool,
    filters: &'a [Series],
    kept: &'a Kept,
    stride: usize,
    /// Vectors that are held: v_k takes the place of v_{k − window}.
    window: usize,
}

/// What a window adds to one filter's sum.
struct Term<T> {
    filter: usize,
    /// Nothing was added before.
    first: bool,
    coefficients: [T; WINDOW],
}

impl Slab<'_> {
    /// Products that serve all filters together.
    fn products(&self) -> usize {
        products(self.filters)
    }

    /// That of the operator, so that of all filters.
    fn basis(&self) -> Basis {
        self.filters.first().map_or_else(Basis::default, Series::basis)
    }

    /// Makes v_0.
    fn fill<T: Scalar>(
        &self,
        vectors: &mut Vec<Lines<T>>,
        source: &dyn Source<T>,
        columns: Range<usize>,
    ) {
        let size = self.propagator.nodes() * self.stride;
        vectors.resize_with(self.window.min(self.products() + 1), Lines::default);
        vectors[0].reset(size);
        let fill = |(place, out): (usize, &mut [T])| {
            let (node, scale) =
                (self.propagator.node(place), self.propagator.scale_before(place, self.transposed));
            source.fill(node, columns.clone(), scale, &mut out[..columns.len()]);
        };
        if self.kept.parts.len() > 1 {
            let rows = vectors[0].par_chunks_exact_mut(self.stride).with_min_len(1 << 12);
            rows.enumerate().for_each(fill);
        } else {
            vectors[0].chunks_exact_mut(self.stride).enumerate().for_each(fill);
        }
        vectors[1..].iter_mut().for_each(|vector| vector.resize(size));
    }

    /// Runs the recurrence from v_0 and returns the sums.
    fn run<T: Scalar>(&self, vectors: &mut [Lines<T>]) -> Result<Vec<T>> {
        let per_row = self.filters.len() * self.stride;
        let mut sums = zeros(self.kept.rows.len() * per_row);
        let last = self.products();
        let two = self.propagator.is_there_and_back() && last > 0;
        let mut half = two.then(|| Lines::zeros(self.propagator.nodes() * self.stride));
        for k in 0..=last {
            if let Some(half) = half.as_deref_mut().filter(|_| k > 0) {
                self.half_step(&vectors[(k - 1) % self.window], half)?;
            }
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
                self.context.check()?;
                self.sweep(
                    k,
                    vectors,
                    half.as_deref(),
                    &terms,
                    Range::clone(rows),
                    Range::clone(kept),
                    newest,
                    sums,
                );
                Ok(())
            };
            if parts.len() > 1 {
                parts.into_par_iter().try_for_each(sweep)?;
            } else {
                parts.into_iter().try_for_each(sweep)?;
            }
            vectors[slot] = newest;
            if self.context.scratch().is_some() {
                self.context.progress().advance();
            }
        }
        Ok(sums)
    }

    /// The way there of a step that is there and back.
    fn half_step<T: Scalar>(&self, x: &[T], half: &mut [T]) -> Result<()> {
        let rows: Vec<Range<usize>> =
            self.kept.parts.iter().map(|(rows, _)| rows.clone()).collect();
        let parts = split_rows(half, self.stride, &rows);
        parts.into_par_iter().zip(rows).try_for_each(|(y, rows)| {
            self.context.check()?;
            self.propagator.step_there(rows, self.stride, x, y);
            Ok(())
        })
    }

    /// What is added to the sums when the window that ends with v_k is complete.
    fn terms<T: Scalar>(&self, k: usize) -> Vec<Term<T>> {
        let start = k - k % self.window;
        (self.filters.iter().enumerate())
            .filter_map(|(filter, series)| {
                let all = series.coefficients();
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
        vectors: &[Lines<T>],
        half: Option<&[T]>,
        terms: &[Term<T>],
        rows: Range<usize>,
        mut kept: Range<usize>,
        newest: &mut [T],
        sums: &mut [T],
    ) {
        let per_row = self.filters.len() * self.stride;
        let first_kept = kept.start;
        for first in rows.clone().step_by(TILE) {
            let tile = first..rows.end.min(first + TILE);
            let own = (first - rows.start) * self.stride..(tile.end - rows.start) * self.stride;
            if k > 0 {
                let x = half.unwrap_or(&vectors[(k - 1) % self.window]);
                // With two vectors, v_k is made in the place of v_{k−2}.
                let z = (self.window > 2).then(|| &*vectors[k.saturating_sub(2) % self.window]);
                let step = recurrence(self.basis(), k);
                let y = &mut newest[own.clone()];
                let (rows, transposed) = (tile.clone(), self.transposed);
                self.propagator.step_rows(step, transposed, rows, self.stride, x, z, y);
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
                    3 => add::<T, 4>(window, terms, sums, self.stride),
                    4 => add::<T, 5>(window, terms, sums, self.stride),
                    5 => add::<T, 6>(window, terms, sums, self.stride),
                    6 => add::<T, 7>(window, terms, sums, self.stride),
                    _ => add::<T, 8>(window, terms, sums, self.stride),
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
    use crate::features::Features;
    use crate::filter::{Filter, Propagated, Selectors, Slabs, TimesFeatures, Tolerance};
    use crate::graph::{Graph, Operator};
    use crate::matrix::Matrix;

    fn graph() -> Graph {
        let edges: Vec<(u32, u32)> = (0..900).map(|k| (k * 7 % 300, k * k % 300)).collect();
        let weights: Vec<f32> = (0..edges.len()).map(|k| 0.5 + (k % 5) as f32).collect();
        Graph::from_edges(300, &edges, Some(&weights)).unwrap().0
    }

    fn filters() -> Vec<Series> {
        [Filter::sgc(3), Filter::ssgc(40, 0.1), Filter::dgc(9, 5.0), Filter::sgc(64)]
            .map(|filter| Series::new(filter.unwrap(), Basis::Chebyshev, Tolerance::default()))
            .to_vec()
    }

    fn features(columns: usize) -> Features {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f32 / 23.0;
        Features::dense(Matrix::from_fn(300, columns, entry)).unwrap()
    }

    /// A sink that gathers slabs of any width.
    struct Columns(std::sync::Mutex<Vec<(usize, Vec<Matrix<f32>>)>>);

    impl Sink<f32> for Columns {
        fn slab(&self, columns: Range<usize>, sums: &Sums<'_, f32>) -> Result<()> {
            let all = (0..sums.filters()).map(|filter| sums.of(filter)).collect();
            self.0.lock().unwrap().push((columns.start, all));
            Ok(())
        }
    }

    /// Nothing about how the work is laid out changes a bit.
    #[test]
    fn the_layout_changes_no_bit() {
        let (graph, filters, features) = (graph(), filters(), features(77));
        let propagator = Propagator::new(&graph, &Operator::default()).unwrap();
        let rows: Vec<usize> = (0..300).rev().step_by(3).collect();
        let run = |layout: Layout| -> Vec<Matrix<f32>> {
            let (sink, context) = (Columns(Vec::new().into()), Context::default());
            let columns = 0..features.cols();
            propagate_as(
                layout,
                columns,
                &context,
                &propagator,
                false,
                &filters,
                &features,
                &rows,
                &sink,
            )
            .unwrap();
            let mut slabs = sink.0.into_inner().unwrap();
            slabs.sort_by_key(|(start, _)| *start);
            let of_filter = |k: usize| {
                let parts: Vec<&Matrix<f32>> = slabs.iter().map(|(_, slab)| &slab[k]).collect();
                Matrix::side_by_side(&parts)
            };
            (0..filters.len()).map(of_filter).collect()
        };
        let one = run(Layout { width: 77, at_once: 1, window: 2 });
        for (width, at_once, window) in [(16, 2, 4), (32, 1, 4), (77, 1, 3), (5, 2, 2), (1, 2, 4)] {
            let layout = Layout { width, at_once, window };
            assert!(run(layout) == one, "{layout:?}");
        }
    }

    fn by_features(
        propagator: &Propagator<'_>,
        features: &Features,
        rows: &[usize],
    ) -> Vec<Propagated<f32>> {
        let (filters, context) = (filters(), Context::default());
        let sink = Slabs::<f32>::new(propagator.nodes(), rows.len(), features.cols());
        propagate(&context, propagator, false, &filters, features, rows, &sink).unwrap();
        sink.finish(filters.len())
    }

    fn by_selectors(
        propagator: &Propagator<'_>,
        features: &Features,
        rows: &[usize],
    ) -> Vec<Propagated<f32>> {
        let (filters, context) = (filters(), Context::default());
        let all: Vec<usize> = (0..propagator.nodes()).collect();
        let (selectors, sink) =
            (Selectors::new(rows, all.len()), TimesFeatures::new(features, None));
        propagate(&context, propagator, true, &filters, &selectors, &all, &sink).unwrap();
        sink.finish(filters.len())
    }

    /// Renumbered inside: the same bits. From the side of the nodes: the same up to rounding.
    #[test]
    fn renumbering_changes_no_bit_and_selecting_only_rounding() {
        let (graph, features) = (graph(), features(40));
        let rows: Vec<usize> = (0..300).step_by(7).collect();
        for operator in ["sym", "row", "row:loops=0", "sym:loops=2.5"] {
            let operator: Operator = operator.parse().unwrap();
            let propagator = Propagator::new(&graph, &operator).unwrap();
            let renumbered = propagator.clone().renumbered();
            let plain = by_features(&propagator, &features, &rows);
            let same = by_features(&renumbered, &features, &rows);
            let near = [&propagator, &renumbered].map(|p| by_selectors(p, &features, &rows));
            for (k, plain) in plain.iter().enumerate() {
                let plain = plain.to_native();
                assert!(same[k].to_native() == plain, "{operator}: renumbering changed a bit");
                for other in &near {
                    let other = other[k].to_native();
                    for (a, b) in plain.as_slice().iter().zip(other.as_slice()) {
                        assert!((a - b).abs() < 1e-5, "{operator}: {a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_cancelled_propagation_ends_without_a_result() {
        let (graph, features) = (graph(), features(40));
        let propagator = Propagator::new(&graph, &Operator::default()).unwrap();
        let cancel = crate::context::Cancel::default();
        let context = Context::default().with_cancel(cancel.clone());
        cancel.cancel();
        let sink = Slabs::<f32>::new(300, 1, 40);
        let result = propagate(&context, &propagator, false, &filters(), &features, &[0], &sink);
        assert!(matches!(result, Err(crate::Error::Cancelled)));
    }
}
