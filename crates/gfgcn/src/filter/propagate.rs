//! The hot path: a block of columns, every polynomial, one pass.
//!
//! Columns are taken in blocks narrow enough to stay in the cache. For each block the Chebyshev
//! vectors T_k(W) B follow from T_{k+1} = 2 W T_k − T_{k−1}; each series adds its multiple of the
//! vector to its own sum while it is at hand. Blocks are independent, so they run in parallel; when
//! there are fewer blocks than threads, the rows of each product run in parallel instead. Either
//! way every number is computed by the same operations in the same order.

use super::ChebyshevSeries;
use crate::features::Features;
use crate::graph::Propagator;
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use rayon::prelude::*;
use std::ops::Range;

/// Columns in a block.
pub(crate) const BLOCK: usize = 64;

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
    blocks: Vec<Matrix<T>>,
}

impl<T: Scalar> Propagated<T> {
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
            for (out, block) in out.chunks_mut(BLOCK).zip(&self.blocks) {
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

/// p(Â)·B for every series p, on every column of the signal.
///
/// Keeps the rows named by `rows`, or all of them. Takes max degree products with Â; the result of
/// one series does not depend on which others are asked for.
///
/// # Panics
/// If the signal does not have one row per node.
pub fn propagate<T: Scalar>(
    propagator: &Propagator<'_>,
    series: &[ChebyshevSeries],
    signal: &dyn Signal<T>,
    rows: Option<&[usize]>,
) -> Vec<Propagated<T>> {
    assert_eq!(signal.rows(), propagator.nodes(), "the signal needs one row per node");
    let cols = signal.cols();
    let starts: Vec<usize> = (0..cols).step_by(BLOCK).collect();
    let parallel_rows = starts.len() < rayon::current_num_threads();
    let run = |&start: &usize| {
        let columns = start..cols.min(start + BLOCK);
        propagate_block(propagator, series, signal, columns, rows, parallel_rows)
    };
    // blocks[block][series]
    let blocks: Vec<Vec<Matrix<T>>> = if parallel_rows {
        starts.iter().map(run).collect()
    } else {
        starts.par_iter().map(run).collect()
    };
    let kept = rows.map_or(propagator.nodes(), <[usize]>::len);
    let mut out: Vec<Propagated<T>> =
        series.iter().map(|_| Propagated { rows: kept, cols, blocks: Vec::new() }).collect();
    for of_block in blocks {
        for (out, block) in out.iter_mut().zip(of_block) {
            out.blocks.push(block);
        }
    }
    out
}

fn propagate_block<T: Scalar>(
    propagator: &Propagator<'_>,
    series: &[ChebyshevSeries],
    signal: &dyn Signal<T>,
    columns: Range<usize>,
    rows: Option<&[usize]>,
    parallel: bool,
) -> Vec<Matrix<T>> {
    let (nodes, width) = (propagator.nodes(), columns.len());
    let degree = series.iter().map(ChebyshevSeries::degree).max().unwrap_or(0);
    // Made by the first term rather than from zeros: memory that is read before it is written
    // costs a page fault more.
    let mut sums: Vec<Vec<T>> = vec![Vec::new(); series.len()];
    let mut add = |k: usize, vector: &[T]| {
        for (sum, series) in sums.iter_mut().zip(series) {
            let Some(&c) = series.coefficients().get(k) else { continue };
            let c = T::from_f64(c);
            if sum.is_empty() {
                sum.extend(vector.iter().map(|&v| c * v));
            } else {
                add_multiple(c, vector, sum, parallel);
            }
        }
    };

    let mut current = vec![T::default(); nodes * width];
    for (node, row) in current.chunks_exact_mut(width).enumerate() {
        signal.fill(node, columns.clone(), propagator.scale_before(node), row);
    }
    add(0, &current);
    if degree > 0 {
        let mut previous = current;
        current = vec![T::default(); nodes * width];
        let (zero, one, two) = (T::default(), T::from_f64(1.0), T::from_f64(2.0));
        propagator.step(width, &previous, one, zero, &mut current, parallel);
        add(1, &current);
        for k in 2..=degree {
            propagator.step(width, &current, two, zero - one, &mut previous, parallel);
            std::mem::swap(&mut current, &mut previous);
            add(k, &current);
        }
    }

    sums.into_iter().map(|sum| finish(propagator, width, sum, rows)).collect()
}

fn add_multiple<T: Scalar>(c: T, vector: &[T], sum: &mut [T], parallel: bool) {
    const CHUNK: usize = 1 << 14;
    let add = |sum: &mut [T], vector: &[T]| {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for (s, &v) in sum.iter_mut().zip(vector) {
                    *s = *s + c * v;
                }
            },
        );
    };
    if parallel {
        sum.par_chunks_mut(CHUNK).zip(vector.par_chunks(CHUNK)).for_each(|(s, v)| add(s, v));
    } else {
        add(sum, vector);
    }
}

/// Scales the rows back and keeps those that were asked for.
fn finish<T: Scalar>(
    propagator: &Propagator<'_>,
    width: usize,
    mut sum: Vec<T>,
    rows: Option<&[usize]>,
) -> Matrix<T> {
    let scale = |node: usize, row: &mut [T]| {
        let factor = T::from_f64(propagator.scale_after(node));
        row.iter_mut().for_each(|value| *value = factor * *value);
    };
    match rows {
        None => {
            sum.chunks_exact_mut(width).enumerate().for_each(|(node, row)| scale(node, row));
            Matrix::from_rows(propagator.nodes(), width, sum).expect("one row per node")
        }
        Some(rows) => {
            let mut kept = Matrix::zeros(rows.len(), width);
            for (k, &node) in rows.iter().enumerate() {
                let row = kept.row_mut(k);
                row.copy_from_slice(&sum[node * width..(node + 1) * width]);
                scale(node, row);
            }
            kept
        }
    }
}
