//! What goes into a propagation and what comes out of it, a slab of columns at a time.
//!
//! A [`Source`] has one row of numbers per node and hands out ranges of its columns: features, selectors, scores,
//! whether in memory or mapped from a file. A [`Sink`] takes the filtered slabs: it keeps rows ([`Slabs`]) or makes
//! something smaller of them. Nothing in between ever holds all columns.

use super::layout::Layout;
use crate::error::Result;
use crate::features::Features;
use crate::graph::Propagator;
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Something with one row of numbers per node that can be propagated.
pub(crate) trait Source<T>: Sync {
    /// The number of nodes.
    fn rows(&self) -> usize;
    /// The number of columns.
    fn cols(&self) -> usize;
    /// Called before some columns are first asked for.
    ///
    /// # Errors
    /// If they cannot be had.
    fn ready(&self, _columns: Range<usize>) -> Result<()> {
        Ok(())
    }
    /// Writes `scale` times a range of columns of a row over the zeros in `out`.
    fn fill(&self, row: usize, columns: Range<usize>, scale: f64, out: &mut [T]);
}

impl<T: Scalar> Source<T> for Features {
    fn rows(&self) -> usize {
        self.rows()
    }
    fn cols(&self) -> usize {
        self.cols()
    }
    fn ready(&self, columns: Range<usize>) -> Result<()> {
        self.ready(columns)
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
            Features::Blocks(m) => {
                for (out, value) in out.iter_mut().zip(m.values(row, columns)) {
                    *out = T::from_f64(scale * f64::from(value));
                }
            }
        }
    }
}

impl<T: Scalar> Source<T> for Matrix<f64> {
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

/// Something that takes filtered slabs, in any order and from any thread.
pub(crate) trait Sink<T>: Sync {
    /// Takes a slab: the given columns of every filter.
    fn slab(&self, columns: Range<usize>, sums: &Sums<'_, T>);
}

/// The rows that are kept, and how all rows are divided among threads.
pub(super) struct Kept {
    /// Places in increasing order, each with its position in the result.
    pub(super) rows: Vec<(usize, usize)>,
    /// Each part's places and its share of `rows`.
    pub(super) parts: Vec<(Range<usize>, Range<usize>)>,
}

impl Kept {
    pub(super) fn new(
        propagator: &Propagator<'_>,
        nodes: &[usize],
        parts: &[Range<usize>],
    ) -> Self {
        let places = nodes.iter().map(|&node| propagator.place(node));
        let mut rows: Vec<(usize, usize)> = places.zip(0..).collect();
        rows.sort_unstable();
        let before = |place: usize| rows.partition_point(|&(kept, _)| kept < place);
        let parts = parts.iter().map(|part| (part.clone(), before(part.start)..before(part.end)));
        Kept { parts: parts.collect(), rows }
    }
}

/// Each filter's sum on the kept rows of one slab.
pub(crate) struct Sums<'a, T> {
    kept: &'a Kept,
    filters: usize,
    width: usize,
    stride: usize,
    /// For each kept row, for each filter, `stride` columns.
    values: Vec<T>,
    /// What the row at each place is multiplied by in the end.
    scale: &'a dyn Fn(usize) -> f64,
}

impl<'a, T: Scalar> Sums<'a, T> {
    pub(super) fn new(
        kept: &'a Kept,
        filters: usize,
        width: usize,
        stride: usize,
        values: Vec<T>,
        scale: &'a dyn Fn(usize) -> f64,
    ) -> Self {
        Sums { kept, filters, width, stride, values, scale }
    }

    /// The number of filters.
    pub(super) fn filters(&self) -> usize {
        self.filters
    }

    /// What a filter made of the slab, rows in the order in which they were asked for.
    pub(super) fn of(&self, filter: usize) -> Matrix<T> {
        let mut out = Matrix::zeros(self.kept.rows.len(), self.width);
        for (k, &(place, position)) in self.kept.rows.iter().enumerate() {
            let factor = T::from_f64((self.scale)(place));
            let start = (k * self.filters + filter) * self.stride;
            let sums = &self.values[start..start + self.width];
            for (out, &sum) in out.row_mut(position).iter_mut().zip(sums) {
                *out = factor * sum;
            }
        }
        out
    }
}

/// A sink that puts what it makes of each slab into the order of the columns.
pub(crate) struct InOrder<V>(Mutex<Vec<(usize, V)>>);

impl<V> InOrder<V> {
    pub(super) fn new() -> Self {
        InOrder(Mutex::new(Vec::new()))
    }

    pub(super) fn put(&self, columns: &Range<usize>, value: V) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((columns.start, value));
    }

    pub(super) fn finish(self) -> impl Iterator<Item = V> {
        let mut all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_by_key(|&(start, _)| start);
        all.into_iter().map(|(_, value)| value)
    }
}

/// Keeps the rows that were asked for, of every filter.
pub(crate) struct Slabs<T> {
    rows: usize,
    cols: usize,
    width: usize,
    slabs: InOrder<Vec<Matrix<T>>>,
}

impl<T: Scalar> Slabs<T> {
    /// For so many rows of a source of so many columns, on a graph of so many nodes.
    pub(crate) fn new(nodes: usize, rows: usize, cols: usize) -> Self {
        Slabs { rows, cols, width: Layout::new::<T>(nodes, cols).width, slabs: InOrder::new() }
    }

    /// The kept rows of each filter.
    pub(crate) fn finish(self, filters: usize) -> Vec<Propagated<T>> {
        let Slabs { rows, cols, width, slabs } = self;
        let mut out: Vec<Propagated<T>> =
            (0..filters).map(|_| Propagated { rows, cols, width, slabs: Vec::new() }).collect();
        for of_slab in slabs.finish() {
            out.iter_mut().zip(of_slab).for_each(|(out, slab)| out.slabs.push(slab));
        }
        out
    }
}

impl<T: Scalar> Sink<T> for Slabs<T> {
    fn slab(&self, columns: Range<usize>, sums: &Sums<'_, T>) {
        self.slabs.put(&columns, (0..sums.filters()).map(|filter| sums.of(filter)).collect());
    }
}

/// Filtered columns, held in the slabs they were computed in.
#[derive(Clone, Debug)]
pub(crate) struct Propagated<T> {
    rows: usize,
    cols: usize,
    /// Columns in every slab but the last.
    width: usize,
    slabs: Vec<Matrix<T>>,
}

impl<T: Scalar> Propagated<T> {
    /// A matrix as a single slab.
    pub(crate) fn whole(matrix: Matrix<T>) -> Self {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        Propagated { rows, cols, width: cols, slabs: vec![matrix] }
    }

    /// The number of rows that were kept.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// The values of a row, slab by slab.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = &[T]> {
        self.slabs.iter().map(move |slab| slab.row(row))
    }

    /// All kept rows, in the precision they were computed in.
    pub(crate) fn to_native(&self) -> Matrix<T> {
        let mut out = Matrix::zeros(self.rows, self.cols);
        out.as_mut_slice().par_chunks_mut(self.cols.max(1)).enumerate().for_each(|(row, out)| {
            for (out, slab) in out.chunks_mut(self.width).zip(&self.slabs) {
                out.copy_from_slice(slab.row(row));
            }
        });
        out
    }
}
