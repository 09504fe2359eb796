//! X·W and Xᵀ·G for the node features X, with dropout on the entries of X.
//!
//! Sparse features stay sparse: bags of words have a few dozen entries per node, and a dense product
//! would multiply a hundred times as many zeros.

use super::buffers::Buffers;
use super::dense;
use super::parallel::{over_rows, sum_over_rows};
use crate::random::Dropout;
use gfgcn::features::Features;
use gfgcn::matrix::{Matrix, SparseMatrix};

/// What a [`Reach`](crate::reach::Reach) sees to.
const GATHERED: &str = "networks read features as one array";

/// The stored entries of the first rows of X after dropout: one row of them for sparse features.
pub(crate) fn drop_entries(
    features: &Features,
    rows: usize,
    dropout: Dropout,
    buffers: &mut Buffers,
) -> Matrix<f32> {
    let (mut out, entries) = match features {
        Features::Dense(x) => (buffers.take(rows, x.cols()), x.as_slice()),
        Features::Sparse(x) => (buffers.take(1, x.offsets()[rows]), x.values()),
        Features::Blocks(_) => unreachable!("{GATHERED}"),
    };
    let entries = &entries[..out.as_slice().len()];
    over_rows(
        out.as_mut_slice(),
        1,
        4 * entries.len(),
        #[inline(always)]
        |range, out| {
            for ((out, x), place) in out.iter_mut().zip(&entries[range.clone()]).zip(range) {
                *out = x * dropout.factor(place);
            }
        },
    );
    out
}

/// `out ← X·W`, as many rows as `out` has, with the entries of X replaced where `dropped` is given.
pub(crate) fn multiply(
    features: &Features,
    dropped: Option<&Matrix<f32>>,
    w: &Matrix<f32>,
    out: &mut Matrix<f32>,
) {
    match features {
        Features::Dense(x) => dense::multiply(dropped.unwrap_or(x), w, out),
        Features::Sparse(x) => {
            let values = dropped.map_or(x.values(), Matrix::as_slice);
            multiply_sparse(x, values, w, out);
        }
        Features::Blocks(_) => unreachable!("{GATHERED}"),
    }
}

/// `out ← Xᵀ·G` for as many rows of X as G has, with the entries of X replaced where `dropped` is given.
pub(crate) fn multiply_transposed(
    features: &Features,
    dropped: Option<&Matrix<f32>>,
    g: &Matrix<f32>,
    out: &mut Matrix<f32>,
    buffers: &mut Buffers,
) {
    match features {
        Features::Dense(x) => dense::multiply_transposed(dropped.unwrap_or(x), g, out, buffers),
        Features::Sparse(x) => {
            let values = dropped.map_or(x.values(), Matrix::as_slice);
            multiply_sparse_transposed(x, values, g, out, buffers);
        }
        Features::Blocks(_) => unreachable!("{GATHERED}"),
    }
}

/// Calls `f::<LANES>(column)` on blocks that cover all columns: sums of so many columns stay in the
/// registers.
macro_rules! in_lanes {
    ($width:expr, |$column:ident, $lanes:ident| $body:expr) => {{
        let mut $column = 0;
        in_lanes!(@step $width, $column, $lanes, 64, $body);
        in_lanes!(@step $width, $column, $lanes, 32, $body);
        in_lanes!(@step $width, $column, $lanes, 16, $body);
        in_lanes!(@step $width, $column, $lanes, 8, $body);
        in_lanes!(@step $width, $column, $lanes, 4, $body);
        in_lanes!(@step $width, $column, $lanes, 1, $body);
    }};
    (@step $width:expr, $column:ident, $lanes:ident, $n:literal, $body:expr) => {
        while $width - $column >= $n {
            const $lanes: usize = $n;
            $body;
            $column += $n;
        }
    };
}

fn multiply_sparse(x: &SparseMatrix, values: &[f32], w: &Matrix<f32>, out: &mut Matrix<f32>) {
    let (width, w) = (w.cols(), w.as_slice());
    let work = x.offsets()[out.rows()] * width;
    over_rows(
        out.as_mut_slice(),
        width,
        work,
        #[inline(always)]
        |rows, out| {
            for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
                let entries = x.offsets()[row]..x.offsets()[row + 1];
                let (columns, values) = (&x.indices()[entries.clone()], &values[entries]);
                in_lanes!(width, |at, LANES| {
                    let mut sum = [0.0; LANES];
                    for (&column, &value) in columns.iter().zip(values) {
                        let start = column as usize * width + at;
                        let w: &[f32; LANES] = w[start..start + LANES].try_into().expect("as many");
                        for l in 0..LANES {
                            sum[l] += value * w[l];
                        }
                    }
                    out[at..at + LANES].copy_from_slice(&sum);
                });
            }
        },
    );
}

fn multiply_sparse_transposed(
    x: &SparseMatrix,
    values: &[f32],
    g: &Matrix<f32>,
    out: &mut Matrix<f32>,
    buffers: &mut Buffers,
) {
    let width = g.cols();
    // Scattering reads G in order and stays within the result, which is small.
    sum_over_rows(
        out,
        g.rows(),
        x.offsets()[g.rows()] * width,
        buffers,
        #[inline(always)]
        |rows, sum| {
            for row in rows {
                let entries = x.offsets()[row]..x.offsets()[row + 1];
                let (columns, values) = (&x.indices()[entries.clone()], &values[entries]);
                let g = g.row(row);
                in_lanes!(width, |at, LANES| {
                    let g: [f32; LANES] = g[at..at + LANES].try_into().expect("as many");
                    for (&column, &value) in columns.iter().zip(values) {
                        let start = column as usize * width + at;
                        let sum: &mut [f32; LANES] =
                            (&mut sum[start..start + LANES]).try_into().expect("as many");
                        for l in 0..LANES {
                            sum[l] += value * g[l];
                        }
                    }
                });
            }
        },
    );
}
