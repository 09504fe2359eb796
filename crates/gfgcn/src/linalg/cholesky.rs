//! The factorisation for a single right-hand side.

use super::{parts_of_products, view_mut};
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
    pub fn new(mut symmetric: Matrix<f64>) -> Result<Self, usize> {
        let n = symmetric.rows();
        assert_eq!(n, symmetric.cols(), "a symmetric matrix is square");
        let par = parts_of_products(n * n * n);
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, par, Default::default());
        llt::factor::cholesky_in_place(
            // Symmetric: its rows are its columns, and the factorisation likes those contiguous.
            MatMut::from_column_major_slice_mut(symmetric.as_mut_slice(), n, n),
            Default::default(),
            par,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        )
        .map_err(|LltError::NonPositivePivot { index }| index)?;
        Ok(Cholesky { factor: symmetric })
    }

    /// S⁻¹ B.
    pub fn solve(&self, mut b: Matrix<f64>) -> Matrix<f64> {
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
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{gram_of_rows, multiply};

    #[test]
    fn solutions_solve_the_system() {
        for n in [1, 2, 5, 130] {
            let a = Matrix::from_fn(n, n + 3, |i, j| ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4);
            let mut s = gram_of_rows(&a);
            (0..n).for_each(|i| s[(i, i)] += 1.0);
            let b = Matrix::from_fn(n, 3, |i, j| (i as f64 * 0.3 + j as f64).sin());
            let x = Cholesky::new(s.clone()).unwrap().solve(b.clone());
            let back = multiply(&s, &x);
            for (found, wanted) in back.as_slice().iter().zip(b.as_slice()) {
                assert!((found - wanted).abs() < 1e-10, "n = {n}");
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_names_its_pivot() {
        let diagonal = [1.0, -2.0, 3.0];
        let m = Matrix::from_fn(3, 3, |i, j| if i == j { diagonal[i] } else { 0.0 });
        assert_eq!(Cholesky::new(m).unwrap_err(), 1);
    }
}
