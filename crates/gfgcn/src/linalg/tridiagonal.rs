//! Reduction to tridiagonal form, and what the form makes cheap.

use super::reduction::{self, Direction, Reduced, Reflections};
use super::rotation::{self, Columns};
use super::shifted::ShiftedFactors;
use super::{view, view_mut};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use faer::MatMut;

/// A symmetric matrix S = Q T Qᵀ with T tridiagonal and Q orthogonal.
///
/// A third of the work of an eigendecomposition, and enough for a whole path of ridge problems:
/// (S + ξI)⁻¹ = Q (T + ξI)⁻¹ Qᵀ costs O(n) per right-hand side and ξ.
#[derive(Clone, Debug)]
pub struct Tridiagonal {
    form: Reduced,
    /// Q, the first ones first.
    reflections: Vec<Reflections>,
}

impl Tridiagonal {
    /// Reduces a symmetric matrix; O(n³).
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn reduce(symmetric: Matrix<f64>, context: &Context) -> Result<Self> {
        assert_eq!(symmetric.rows(), symmetric.cols(), "a symmetric matrix is square");
        let mut reflections = vec![];
        let form =
            reduction::reduce(symmetric, &mut |some| reflections.push(some), &|| context.check())?;
        Ok(Tridiagonal { form, reflections })
    }

    /// [Reduces](Tridiagonal::reduce) a symmetric matrix, [rotates](Tridiagonal::rotate_rows) rows, R to R Q, and multiplies them
    /// by B, which has a row for each: (R Q)ᵀ B. Threads that have nothing to do while the matrix is reduced rotate by the
    /// reflections that are known.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled); the rows are in between then.
    ///
    /// # Panics
    /// If the matrix is not square, the rows are not as long as it is, or B has not as many.
    pub fn reduce_and_rotate(
        symmetric: Matrix<f64>,
        rows: &mut Matrix<f64>,
        b: &Matrix<f64>,
        context: &Context,
    ) -> Result<(Self, Matrix<f64>)> {
        assert_eq!(symmetric.rows(), symmetric.cols(), "a symmetric matrix is square");
        assert_eq!(symmetric.rows(), rows.cols(), "the rows to rotate have the size of the matrix");
        assert_eq!(rows.rows(), b.rows(), "a row to multiply by for each row to rotate");
        let columns = view_mut(rows).transpose_mut();
        let (form, reflections, product) =
            rotation::while_reduced(symmetric, columns, view(b), context)?;
        let product = Matrix::from_fn(product.nrows(), product.ncols(), |i, j| product[(i, j)]);
        Ok((Tridiagonal { form, reflections }, product))
    }

    /// Numbers that are held for a matrix of so many rows: what comes of it, and what a reduction takes beside the matrix.
    pub(crate) fn memory(n: u64) -> (u64, u64) {
        let (reduced, reducing) = reduction::memory(n as usize);
        (reduced as u64, reducing as u64)
    }

    /// Numbers that are held while so many rows are [rotated](Tridiagonal::rotate_rows) on so many threads.
    pub(crate) fn rotation_memory(n: u64, rows: u64, threads: u64) -> u64 {
        rotation::memory(n as usize, rows as usize, threads as usize) as u64
    }

    /// n.
    pub fn size(&self) -> usize {
        self.form.diagonal.len()
    }

    /// Replaces each row r by Qᵀ r, so that R becomes R Q.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    ///
    /// # Panics
    /// If the rows are not as long as the matrix.
    pub fn rotate_rows(&self, rows: &mut Matrix<f64>, context: &Context) -> Result<()> {
        assert_eq!(self.size(), rows.cols(), "the rows to rotate have the size of the matrix");
        self.rotate(view_mut(rows).transpose_mut(), Direction::Forward, Columns::Any, context)
    }

    /// Replaces each column c by Qᵀ c, so that B becomes Qᵀ B.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    ///
    /// # Panics
    /// If the columns are not as long as the matrix.
    pub fn rotate_columns(&self, b: &mut Matrix<f64>, context: &Context) -> Result<()> {
        assert_eq!(self.size(), b.rows(), "the columns to rotate have the size of the matrix");
        self.rotate(view_mut(b), Direction::Forward, Columns::Any, context)
    }

    /// Q, in two thirds of the work of rotating the rows of the identity.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn basis(&self, context: &Context) -> Result<Matrix<f64>> {
        let n = self.size();
        let mut basis = Matrix::zeros(n, n);
        (0..n).for_each(|i| basis[(i, i)] = 1.0);
        // No reflection touches the first row or the first column.
        let rest = view_mut(&mut basis).subcols_mut(n.min(1), n.saturating_sub(1));
        self.rotate(rest, Direction::Back, Columns::OfIdentity, context)?;
        Ok(basis)
    }

    /// Q · B.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    ///
    /// # Panics
    /// If the columns are not as long as the matrix.
    pub fn rotate_back(&self, b: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        assert_eq!(self.size(), b.rows(), "the columns to rotate have the size of the matrix");
        let mut out = b.clone();
        self.rotate(view_mut(&mut out), Direction::Back, Columns::Any, context)?;
        Ok(out)
    }

    fn rotate(
        &self,
        columns: MatMut<'_, f64>,
        direction: Direction,
        known: Columns,
        context: &Context,
    ) -> Result<()> {
        rotation::rotate(&self.reflections, columns, direction, known, context)
    }

    /// T + ξI = L D Lᵀ for several ξ.
    pub fn shift(&self, shifts: &[f64]) -> ShiftedFactors {
        ShiftedFactors::new(&self.form.diagonal, &self.form.off_diagonal, shifts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::FORMS_AT_ONCE as LANES;
    use crate::linalg::{gram_of_rows, multiply};
    use std::array;

    fn symmetric(n: usize) -> Matrix<f64> {
        let a = Matrix::from_fn(n, n + 2, |i, j| ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4);
        gram_of_rows(&a, &Context::default()).unwrap()
    }

    #[test]
    fn tridiagonal_solves_agree_with_the_matrix_they_came_from() {
        let context = Context::default();
        for n in [1, 2, 3, 17, 70, 130, 610] {
            let s = symmetric(n);
            let b = Matrix::from_fn(n, 2, |i, j| (i as f64 * 0.3 + j as f64).sin());
            let t = Tridiagonal::reduce(s.clone(), &context).unwrap();
            let mut rows = Matrix::from_fn(2, n, |i, j| b[(j, i)]);
            t.rotate_rows(&mut rows, &context).unwrap();
            let rhs = Matrix::from_fn(n, 2, |i, j| rows[(j, i)]);
            let mut columns = b.clone();
            t.rotate_columns(&mut columns, &context).unwrap();
            let pairs = columns.as_slice().iter().zip(rhs.as_slice());
            assert!(pairs.into_iter().all(|(found, wanted)| (found - wanted).abs() < 1e-12));
            let mut identity = Matrix::from_fn(n, n, |i, j| f64::from(i == j));
            t.rotate_rows(&mut identity, &context).unwrap();
            let basis = t.basis(&context).unwrap();
            for (found, wanted) in basis.as_slice().iter().zip(identity.as_slice()) {
                assert!((found - wanted).abs() < 1e-12, "n = {n}: {found} {wanted}");
            }
            let factor = t.shift(&[0.5]);
            assert_eq!(factor.failed(), [None]);
            let x = t.rotate_back(&factor.solve(&rhs), &context).unwrap();
            let sx = multiply(&s, &x, &context).unwrap();
            for i in 0..n {
                for j in 0..2 {
                    let residual = sx[(i, j)] + 0.5 * x[(i, j)] - b[(i, j)];
                    assert!(residual.abs() < 1e-10, "n = {n}: {residual:e}");
                }
            }
            let vectors: Vec<[f64; LANES]> =
                (0..n).map(|k| array::from_fn(|l| rhs[(k, l % 2)])).collect();
            let mut forms = [[0.0; LANES]];
            factor.quadratic_forms(&vectors, &mut forms);
            for (j, form) in forms[0][..2].iter().enumerate() {
                let direct: f64 = (0..n).map(|i| b[(i, j)] * x[(i, j)]).sum();
                assert!((form - direct).abs() < 1e-10 * direct.abs().max(1.0));
            }
        }
    }
}
