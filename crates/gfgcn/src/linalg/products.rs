//! Products and Gram matrices.

use super::pieces::Pieces;
use super::{view, view_mut};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use faer::{Accum, MatRef};
use std::ops::Range;

/// A · B.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// If the shapes do not agree, as all products.
pub fn multiply(a: &Matrix<f64>, b: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
    product(view(a), view(b), context)
}

/// Some rows of A · B.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn multiply_some_rows(
    a: &Matrix<f64>,
    rows: Range<usize>,
    b: &Matrix<f64>,
    context: &Context,
) -> Result<Matrix<f64>> {
    product(view(a).get(rows, ..), view(b), context)
}

/// Aᵀ · B.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn multiply_transposed(
    a: &Matrix<f64>,
    b: &Matrix<f64>,
    context: &Context,
) -> Result<Matrix<f64>> {
    product(view(a).transpose(), view(b), context)
}

/// A · Bᵀ.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn multiply_by_transposed(
    a: &Matrix<f64>,
    b: &Matrix<f64>,
    context: &Context,
) -> Result<Matrix<f64>> {
    product(view(a), view(b).transpose(), context)
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>, context: &Context) -> Result<Matrix<f64>> {
    context.check()?;
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    Pieces::of(a.nrows() * a.ncols() * b.ncols(), context).multiply(
        Accum::Replace,
        view_mut(&mut out),
        a,
        b,
        1.0,
    )?;
    Ok(out)
}

/// The symmetric A · Aᵀ (inner products of the rows).
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn gram_of_rows(a: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
    gram(view(a), context)
}

/// The symmetric Aᵀ · A (inner products of the columns).
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn gram_of_columns(a: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
    gram(view(a).transpose(), context)
}

fn gram(a: MatRef<'_, f64>, context: &Context) -> Result<Matrix<f64>> {
    context.check()?;
    let n = a.nrows();
    let mut out = Matrix::zeros(n, n);
    Pieces::of(n * n * a.ncols(), context).multiply_by_itself(
        Accum::Replace,
        view_mut(&mut out),
        a,
        1.0,
    )?;
    mirror(&mut out, context)?;
    Ok(out)
}

/// Copies the lower triangle to the upper one, in tiles that stay in the cache.
fn mirror(m: &mut Matrix<f64>, context: &Context) -> Result<()> {
    const TILE: usize = 32;
    let n = m.rows();
    let entries = m.as_mut_slice();
    for rows in (0..n).step_by(TILE) {
        context.check()?;
        for columns in (rows..n).step_by(TILE) {
            for i in rows..n.min(rows + TILE) {
                for j in columns.max(i + 1)..n.min(columns + TILE) {
                    entries[i * n + j] = entries[j * n + i];
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(i: usize, j: usize) -> f64 {
        ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4
    }

    fn transposed(m: &Matrix<f64>) -> Matrix<f64> {
        Matrix::from_fn(m.cols(), m.rows(), |i, j| m[(j, i)])
    }

    fn assert_product(found: &Matrix<f64>, a: &Matrix<f64>, b: &Matrix<f64>) {
        assert_eq!((found.rows(), found.cols()), (a.rows(), b.cols()));
        for i in 0..found.rows() {
            for j in 0..found.cols() {
                let sum: f64 = (0..a.cols()).map(|k| a[(i, k)] * b[(k, j)]).sum();
                assert!((found[(i, j)] - sum).abs() < 1e-10, "({i}, {j})");
            }
        }
    }

    #[test]
    fn every_product_is_the_sum_it_stands_for() {
        let context = Context::default();
        for (rows, depth, cols) in [(1, 1, 1), (7, 5, 3), (70, 90, 40), (33, 0, 4)] {
            let a = Matrix::from_fn(rows, depth, value);
            let b = Matrix::from_fn(depth, cols, |i, j| value(i + 3, j));
            let (at, bt) = (transposed(&a), transposed(&b));
            assert_product(&multiply(&a, &b, &context).unwrap(), &a, &b);
            let last = rows - 1..rows;
            let product = multiply_some_rows(&a, last.clone(), &b, &context).unwrap();
            assert_product(&product, &a.select_rows(&last.collect::<Vec<_>>()), &b);
            assert_product(&multiply_transposed(&at, &b, &context).unwrap(), &a, &b);
            assert_product(&multiply_by_transposed(&a, &bt, &context).unwrap(), &a, &b);
            assert_product(&gram_of_rows(&a, &context).unwrap(), &a, &at);
            assert_product(&gram_of_columns(&a, &context).unwrap(), &at, &a);
        }
    }
}
