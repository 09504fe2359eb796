//! Dense products in single precision: the only file of this crate that touches `faer`.

use super::buffers::Buffers;
use super::parallel::sum_over_rows;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use gfgcn::matrix::Matrix;

fn view(m: &Matrix<f32>) -> MatRef<'_, f32> {
    first_rows(m, m.rows())
}

fn first_rows(m: &Matrix<f32>, rows: usize) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(&m.as_slice()[..rows * m.cols()], rows, m.cols())
}

fn product(out: &mut Matrix<f32>, a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    // By the size of the product, not by the number of threads: the same bits everywhere.
    let multiplications = a.nrows() * a.ncols() * b.ncols();
    let par = if multiplications < 1 << 23 { Par::Seq } else { Par::rayon(8) };
    let (rows, cols) = (out.rows(), out.cols());
    let out = MatMut::from_row_major_slice_mut(out.as_mut_slice(), rows, cols);
    matmul(out, Accum::Replace, a, b, 1.0, par);
}

/// `out ← A·B`, as many rows as `out` has.
pub(crate) fn multiply(a: &Matrix<f32>, b: &Matrix<f32>, out: &mut Matrix<f32>) {
    let a = first_rows(a, out.rows());
    product(out, a, view(b));
}

/// `out ← Aᵀ·B` for as many rows of A as B has. These are many, and the result is small: it is the sum over parts of
/// the rows, each of which has a thread of its own.
pub(crate) fn multiply_transposed(
    a: &Matrix<f32>,
    b: &Matrix<f32>,
    out: &mut Matrix<f32>,
    buffers: &mut Buffers,
) {
    let (rows, from, to) = (b.rows(), a.cols(), b.cols());
    let (a, b) = (first_rows(a, rows), view(b));
    sum_over_rows(out, rows, rows * from * to, buffers, |rows, sum| {
        let sum = MatMut::from_row_major_slice_mut(sum, from, to);
        let (a, b) = (a.subrows(rows.start, rows.len()), b.subrows(rows.start, rows.len()));
        matmul(sum, Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
    });
}

/// `out ← A·Bᵀ`.
pub(crate) fn multiply_by_transposed(a: &Matrix<f32>, b: &Matrix<f32>, out: &mut Matrix<f32>) {
    product(out, view(a), view(b).transpose());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In one part and in several, for as many rows as B has.
    #[test]
    fn a_transposed_product_is_the_sum_it_stands_for() {
        for (rows, from, to) in [(1, 3, 2), (50, 7, 5), (3000, 60, 50), (20_000, 16, 40)] {
            let value = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f32 / 23.0 - 0.4;
            let a = Matrix::from_fn(rows + 5, from, value);
            let b = Matrix::from_fn(rows, to, |i, j| value(j, i + 3));
            let mut out = Matrix::zeros(from, to);
            multiply_transposed(&a, &b, &mut out, &mut Buffers::default());
            for (i, j) in (0..from).flat_map(|i| (0..to).map(move |j| (i, j))) {
                let terms = (0..rows).map(|k| f64::from(a[(k, i)]) * f64::from(b[(k, j)]));
                let (sum, size) = terms.fold((0.0, 0.0), |(s, t), x| (s + x, t + x.abs()));
                let error = (f64::from(out[(i, j)]) - sum).abs();
                assert!(error < 1e-5 * size, "{rows} rows, ({i}, {j}): {error}");
            }
        }
    }
}
