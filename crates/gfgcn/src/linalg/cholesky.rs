//! The factorisation for a single right-hand side.

use super::{parts_of_products, view_mut};
use crate::context::Context;
use crate::error::Result as Outcome;
use crate::matrix::Matrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::cholesky::llt::factor::LltError;
use faer::{Conj, MatMut, MatRef};

/// S = L Lᵀ for a symmetric positive definite S.
#[derive(Clone, Debug)]
pub struct Cholesky {
    /// Lᵀ in its upper triangle.
    factor: Matrix<f64>,
}

impl Cholesky {
    /// Factorises a matrix, or names the first pivot that is
    /// not positive; O(n³).
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(mut symmetric: Matrix<f64>, context: &Context) -> Outcome<Result<Self, usize>> {
        context.check()?;
        let n = symmetric.rows();
        assert_eq!(n, symmetric.cols(), "a symmetric matrix is square");
        let par = parts_of_products(n * n * n);
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, par, Default::default());
        let factored = llt::factor::cholesky_in_place(
            // Symmetric: its rows are its columns, and the factorisation likes those contiguous.
            MatMut::from_column_major_slice_mut(symmetric.as_mut_slice(), n, n),
            Default::default(),
            par,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        )
        .map_err(|LltError::NonPositivePivot { index }| index);
        Ok(factored.map(|_| Cholesky { factor: symmetric }))
    }

    /// S⁻¹ B.
    pub fn solve(&self, mut b: Matrix<f64>, _: &Context) -> Outcome<Matrix<f64>> {
        let n = self.factor.rows();
        let par = parts_of_products(n * n * b.cols());
        let scratch = llt::solve::solve_in_place_scratch::<f64>(n, b.cols(), par);
        llt::solve::solve_in_place_with_conj(
            MatRef::from_column_major_slice(self.factor.as_slice(), n, n),
            Conj::No,
            view_mut(&mut b),
            par,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        Ok(b)
    }
}

