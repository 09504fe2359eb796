//! What goes into a propagation and what comes out of it, a slab of columns at a time.
//!
//! A [`Source`] has one row of numbers per node and hands out ranges of its columns: features, selectors, scores,
//! whether in memory or mapped from a file. A [`Sink`] takes the filtered slabs: it keeps rows ([`Slabs`]) or makes
//! something smaller of them. Nothing in between ever holds all columns.

use super::layout::Layout;
use crate::buffer::Plain;
use crate::context::{BUFFER, Scratch};
use crate::error::Result;
use crate::features::Features;
use crate::graph::Propagator;
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use rayon::prelude::*;
use std::io;
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

/// X · W, computed when it is asked for: of a few columns at a time no more than these are ever held.
pub(crate) struct Weighted<'a> {
    pub(crate) features: &'a Features,
    pub(crate) weights: &'a Matrix<f64>,
}

impl Source<f64> for Weighted<'_> {
    fn rows(&self) -> usize {
        self.features.rows()
    }
    fn cols(&self) -> usize {
        self.weights.cols()
    }
    fn ready(&self, _columns: Range<usize>) -> Result<()> {
        self.features.ready(0..self.features.cols())
    }
    fn fill(&self, row: usize, columns: Range<usize>, scale: f64, out: &mut [f64]) {
        out.fill(0.0);
        // In the order of `Features::times`, whose bits these are.
        self.features.for_each_in_row(row, |j, value| {
            for (sum, w) in out.iter_mut().zip(&self.weights.row(j)[columns.clone()]) {
                *sum += f64::from(value) * w;
            }
        });
        out.iter_mut().for_each(|value| *value *= scale);
    }
}

/// Something that takes filtered slabs, in any order and from any thread.
pub(crate) trait Sink<T>: Sync {
    /// Takes a slab: the given columns of every filter.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn slab(&self, columns: Range<usize>, sums: &Sums<'_, T>) -> Result<()>;

    /// Whether a slab need not be computed, because it was kept before.
    ///
    /// # Errors
    /// If what was kept cannot be read.
    fn recall(&self, _columns: &Range<usize>) -> Result<bool> {
        Ok(false)
    }
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

impl<T: Scalar + Plain> Sums<'_, T> {
    /// As [`Sums::of`], some rows at a time.
    fn write(&self, filter: usize, put: &mut dyn FnMut(&[T]) -> io::Result<()>) -> io::Result<()> {
        let rows = &self.kept.rows;
        let in_order = rows.is_sorted_by_key(|&(_, position)| position);
        // Where the nodes are renumbered inside, the rows by their positions.
        let mut by_position: Vec<u32> = vec![0; if in_order { 0 } else { rows.len() }];
        if !in_order {
            rows.iter().zip(0..).for_each(|(&(_, position), k)| by_position[position] = k);
        }
        let at_once = (BUFFER / (self.width * size_of::<T>()).max(1)).clamp(1, rows.len().max(1));
        let mut part = Vec::with_capacity(at_once * self.width);
        for first in (0..rows.len()).step_by(at_once) {
            part.clear();
            let positions = first..rows.len().min(first + at_once);
            part.extend(positions.flat_map(|position| {
                let k = by_position.get(position).map_or(position, |&k| k as usize);
                let factor = T::from_f64((self.scale)(rows[k].0));
                let start = (k * self.filters + filter) * self.stride;
                self.values[start..start + self.width].iter().map(move |&sum| factor * sum)
            }));
            put(&part)?;
        }
        Ok(())
    }
}

/// Bytes that writing a slab of so many rows takes: what is handed over and gathered, and the rows by their positions.
pub(crate) fn writing_memory(rows: usize) -> u64 {
    (2 * BUFFER + 4 * rows) as u64
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

/// Where finished slabs are kept, and what they depend on beside their filter and their columns.
#[derive(Clone)]
pub(crate) struct Shelf {
    pub(crate) scratch: Scratch,
    pub(crate) key: String,
    /// How many filters there are.
    pub(crate) filters: usize,
}

impl Shelf {
    /// The file of a slab under a key.
    pub(crate) fn name(key: &str, filter: usize, columns: &Range<usize>) -> String {
        format!("{key}-{filter}-{:06}-{:06}", columns.start, columns.end)
    }

    /// Keeps what a filter made of a slab.
    pub(super) fn keep<T: Plain + Default>(
        &self,
        (filter, columns): (usize, &Range<usize>),
        (rows, cols): (usize, usize),
        fill: impl FnOnce(&mut dyn FnMut(&[T]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<Matrix<T>> {
        self.scratch.keep(&Self::name(&self.key, filter, columns), rows, cols, fill)
    }

    /// What all filters made of a slab, if it is there.
    pub(super) fn recall<T: Plain + Default>(
        &self,
        columns: &Range<usize>,
        (rows, cols): (usize, usize),
    ) -> Result<Option<Vec<Matrix<T>>>> {
        let name = |filter: usize| Self::name(&self.key, filter, columns);
        let found = |filter: usize| self.scratch.recall(&name(filter), rows, cols);
        (0..self.filters).map(found).collect()
    }

    /// The width of slabs that are all there, so that none is left to compute: other machines and earlier runs may have had
    /// more memory, or less.
    pub(crate) fn finished_width(&self, columns: usize) -> Option<usize> {
        let first = format!("{}-0-{:06}-", self.key, 0);
        let names = self.scratch.names(&first);
        let widths = names.iter().filter_map(|name| name[first.len()..].parse().ok());
        let is_complete = |&width: &usize| {
            let slab = |start: usize| start..columns.min(start + width);
            let has = |(start, filter): (usize, usize)| {
                self.scratch.has(&Self::name(&self.key, filter, &slab(start)))
            };
            let starts = (0..columns).step_by(width.max(1));
            starts.flat_map(|start| (0..self.filters).map(move |filter| (start, filter))).all(has)
        };
        widths.filter(is_complete).max()
    }
}

/// Keeps the rows that were asked for, of every filter.
pub(crate) struct Slabs<T> {
    rows: usize,
    cols: usize,
    width: usize,
    slabs: InOrder<Vec<Matrix<T>>>,
    shelf: Option<Shelf>,
}

impl<T: Scalar> Slabs<T> {
    /// For so many rows of a source of so many columns, on a graph of so many nodes.
    pub(crate) fn new(nodes: usize, rows: usize, cols: usize) -> Self {
        Slabs::of_width(Layout::new::<T>(nodes, cols).width, rows, cols, None)
    }

    /// For slabs of so many columns, which go to a shelf if there is one.
    pub(crate) fn of_width(width: usize, rows: usize, cols: usize, shelf: Option<Shelf>) -> Self {
        Slabs { rows, cols, width, slabs: InOrder::new(), shelf }
    }

    /// The kept rows of each filter.
    pub(crate) fn finish(self, filters: usize) -> Vec<Propagated<T>> {
        let Slabs { rows, cols, width, slabs, .. } = self;
        let mut out: Vec<Propagated<T>> =
            (0..filters).map(|_| Propagated { rows, cols, width, slabs: Vec::new() }).collect();
        for of_slab in slabs.finish() {
            out.iter_mut().zip(of_slab).for_each(|(out, slab)| out.slabs.push(slab));
        }
        out
    }
}

impl<T: Scalar + Plain> Sink<T> for Slabs<T> {
    fn slab(&self, columns: Range<usize>, sums: &Sums<'_, T>) -> Result<()> {
        let keep = |filter: usize| match &self.shelf {
            None => Ok(sums.of(filter)),
            Some(shelf) => {
                let shape = (sums.kept.rows.len(), columns.len());
                shelf.keep((filter, &columns), shape, |put| sums.write(filter, put))
            }
        };
        self.slabs.put(&columns, (0..sums.filters()).map(keep).collect::<Result<_>>()?);
        Ok(())
    }

    fn recall(&self, columns: &Range<usize>) -> Result<bool> {
        let Some(shelf) = &self.shelf else { return Ok(false) };
        let all = shelf.recall(columns, (self.rows, columns.len()))?;
        Ok(all.map(|all| self.slabs.put(columns, all)).is_some())
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

    /// The slabs, from left to right.
    pub(crate) fn slabs(&self) -> &[Matrix<T>] {
        &self.slabs
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
