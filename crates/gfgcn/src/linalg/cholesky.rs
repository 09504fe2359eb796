//! The factorisation for a single penalty.

use super::pieces::{Pieces, cost, cut};
use super::{Number, view_mut};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::cholesky::llt::factor::LltError;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Conj, MatMut, MatRef, Par};

/// S = L Lᵀ for a symmetric positive definite S.
#[derive(Clone, Debug)]
pub struct Cholesky {
    /// Lᵀ in its upper triangle.
    factor: Matrix<f64>,
}

impl Cholesky {
    /// Factorises a matrix, or names the first pivot that is not positive; O(n³).
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled); the inner error is the pivot.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(
        mut symmetric: Matrix<f64>,
        context: &Context,
    ) -> Result<std::result::Result<Self, usize>> {
        let n = symmetric.rows();
        assert_eq!(n, symmetric.cols(), "a symmetric matrix is square");
        // Symmetric: its rows are its columns, and the factorisation likes those contiguous.
        let matrix = MatMut::from_column_major_slice_mut(symmetric.as_mut_slice(), n, n);
        let factorised = factorise(matrix, &Pieces::of(n * n * n, context))?;
        Ok(factorised.map(|()| Cholesky { factor: symmetric }))
    }

    /// S⁻¹ B.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    ///
    /// # Panics
    /// If B has not as many rows as S.
    pub fn solve(&self, mut b: Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        let n = self.factor.rows();
        let lower = MatRef::from_column_major_slice(self.factor.as_slice(), n, n);
        let pieces = Pieces::of(n * n * b.cols(), context);
        solve(lower, view_mut(&mut b), &pieces)?;
        Ok(b)
    }

    /// Rows r of a matrix, as L⁻¹ r.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    ///
    /// # Panics
    /// If the matrix has not as many columns as S.
    pub(crate) fn solve_rows(
        &self,
        mut rows: Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let n = self.factor.rows();
        assert_eq!(n, rows.cols(), "as many columns as the matrix has rows");
        let lower = MatRef::from_column_major_slice(self.factor.as_slice(), n, n);
        let pieces = Pieces::of(n * n * rows.rows(), context);
        let count = rows.rows();
        // Rows one after the other are the columns of the transposed.
        let mut columns = MatMut::from_column_major_slice_mut(rows.as_mut_slice(), n, count);
        for part in cut(count, (2 * pieces.limit / (n * n).max(1)).max(1)) {
            context.check()?;
            let part = columns.as_mut().get_mut(.., part);
            solve_lower_triangular_in_place(lower, part, pieces.par);
        }
        Ok(rows)
    }

    /// L⁻ᵀ B.
    ///
    /// # Panics
    /// If B has not as many rows as S.
    pub(crate) fn solve_transposed(&self, mut b: Matrix<f64>, context: &Context) -> Matrix<f64> {
        let n = self.factor.rows();
        assert_eq!(n, b.rows(), "as many rows as the matrix has");
        let lower = MatRef::from_column_major_slice(self.factor.as_slice(), n, n);
        let par = Pieces::of(n * n * b.cols(), context).par;
        solve_upper_triangular_in_place(lower.transpose(), view_mut(&mut b), par);
        b
    }
}

/// The columns of a block: a piece is a block column eight times as long as wide.
fn width(pieces: &Pieces<'_>) -> usize {
    (pieces.side() / 2).max(1)
}

/// Replaces the lower triangle of a matrix by L, block column by block column: the square on the diagonal, what is
/// below it, and then what remains of the matrix.
pub(super) fn factorise<T: Number>(
    mut matrix: MatMut<'_, T>,
    pieces: &Pieces<'_>,
) -> Result<std::result::Result<(), usize>> {
    let n = matrix.nrows();
    // L takes a sixth of n³ multiplications.
    let width = if cost(n, n, n) / 6 <= pieces.limit { n.max(1) } else { width(pieces) };
    for first in (0..n).step_by(width) {
        pieces.context.check()?;
        let size = width.min(n - first);
        let trailing = matrix.as_mut().get_mut(first.., first..);
        let (mut corner, _, mut below, rest) = trailing.split_at_mut(size, size);
        if let Err(pivot) = factorise_at_once(corner.as_mut(), pieces.par) {
            return Ok(Err(first + pivot));
        }
        for rows in cut(below.nrows(), (2 * pieces.limit / (size * size)).max(1)) {
            pieces.context.check()?;
            let rows = below.as_mut().get_mut(rows, ..).transpose_mut();
            solve_lower_triangular_in_place(corner.as_ref(), rows, pieces.par);
        }
        if rest.nrows() > 0 {
            pieces.multiply_by_itself(Accum::Add, rest, below.as_ref(), T::from(-1.0))?;
        }
    }
    Ok(Ok(()))
}

fn factorise_at_once<T: Number>(matrix: MatMut<'_, T>, par: Par) -> std::result::Result<(), usize> {
    let scratch =
        llt::factor::cholesky_in_place_scratch::<T>(matrix.nrows(), par, Default::default());
    llt::factor::cholesky_in_place(
        matrix,
        Default::default(),
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map(|_| ())
    .map_err(|LltError::NonPositivePivot { index }| index)
}

/// Replaces B by L⁻ᵀ L⁻¹ B.
pub(super) fn solve<T: Number>(
    lower: MatRef<'_, T>,
    mut b: MatMut<'_, T>,
    pieces: &Pieces<'_>,
) -> Result<()> {
    let (n, par) = (lower.nrows(), pieces.par);
    assert_eq!(n, b.nrows(), "as many right-hand sides as the matrix has rows");
    if cost(n, n, b.ncols()) <= pieces.limit {
        pieces.context.check()?;
        let scratch = llt::solve::solve_in_place_scratch::<T>(n, b.ncols(), par);
        let mut memory = MemBuffer::new(scratch);
        llt::solve::solve_in_place_with_conj(lower, Conj::No, b, par, MemStack::new(&mut memory));
        return Ok(());
    }
    let width = width(pieces);
    let starts: Vec<usize> = (0..n).step_by(width).collect();
    for &first in &starts {
        let (_, rest) = b.as_mut().split_at_row_mut(first);
        let (mut block, below) = rest.split_at_row_mut(width.min(n - first));
        let end = first + block.nrows();
        solve_block(lower.get(first..end, first..end), block.as_mut(), Side::Lower, pieces)?;
        let factor = lower.get(end.., first..end);
        pieces.multiply(Accum::Add, below, factor, block.as_ref(), T::from(-1.0))?;
    }
    for &first in starts.iter().rev() {
        let (above, rest) = b.as_mut().split_at_row_mut(first);
        let mut block = rest.subrows_mut(0, width.min(n - first));
        let end = first + block.nrows();
        solve_block(lower.get(first..end, first..end), block.as_mut(), Side::Upper, pieces)?;
        let factor = lower.get(first..end, ..first).transpose();
        pieces.multiply(Accum::Add, above, factor, block.as_ref(), T::from(-1.0))?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Side {
    Lower,
    /// The transpose of the lower one.
    Upper,
}

/// Solves a triangular system of the size of a block, a few right-hand sides at a time.
fn solve_block<T: Number>(
    corner: MatRef<'_, T>,
    mut block: MatMut<'_, T>,
    side: Side,
    pieces: &Pieces<'_>,
) -> Result<()> {
    let size = corner.nrows();
    for columns in cut(block.ncols(), (2 * pieces.limit / (size * size)).max(1)) {
        pieces.context.check()?;
        let block = block.as_mut().get_mut(.., columns);
        match side {
            Side::Lower => solve_lower_triangular_in_place(corner, block, pieces.par),
            Side::Upper => solve_upper_triangular_in_place(corner.transpose(), block, pieces.par),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{gram_of_rows, multiply};

    fn positive(n: usize) -> Matrix<f64> {
        let a = Matrix::from_fn(n, n + 3, |i, j| ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4);
        let mut s = gram_of_rows(&a, &Context::default()).unwrap();
        (0..n).for_each(|i| s[(i, i)] += 1.0);
        s
    }

    fn assert_solves(s: &Matrix<f64>, x: &Matrix<f64>, b: &Matrix<f64>) {
        let back = multiply(s, x, &Context::default()).unwrap();
        for (found, wanted) in back.as_slice().iter().zip(b.as_slice()) {
            assert!((found - wanted).abs() < 1e-10, "n = {}", s.rows());
        }
    }

    fn right_sides(n: usize, count: usize) -> Matrix<f64> {
        Matrix::from_fn(n, count, |i, j| (i as f64 * 0.3 + j as f64).sin())
    }

    #[test]
    fn solutions_solve_the_system() {
        let context = Context::default();
        for n in [1, 2, 5, 130] {
            let (s, b) = (positive(n), right_sides(n, 3));
            let factor = Cholesky::new(s.clone(), &context).unwrap().unwrap();
            assert_solves(&s, &factor.solve(b.clone(), &context).unwrap(), &b);
        }
    }

    #[test]
    fn many_blocks_solve_the_system_too() {
        let context = Context::default();
        let pieces = Pieces { limit: 1 << 12, par: Par::Seq, context: &context };
        for (n, count) in [(1, 1), (8, 8), (9, 2), (100, 3), (131, 70)] {
            let (s, mut b) = (positive(n), right_sides(n, count));
            let wanted = b.clone();
            let mut factor = s.clone();
            let matrix = MatMut::from_column_major_slice_mut(factor.as_mut_slice(), n, n);
            assert_eq!(factorise(matrix, &pieces).unwrap(), Ok(()));
            let lower = MatRef::from_column_major_slice(factor.as_slice(), n, n);
            solve(lower, view_mut(&mut b), &pieces).unwrap();
            assert_solves(&s, &b, &wanted);
        }
    }

    #[test]
    fn an_indefinite_matrix_names_its_pivot() {
        let context = Context::default();
        let diagonal = [1.0, -2.0, 3.0];
        let m = Matrix::from_fn(3, 3, |i, j| if i == j { diagonal[i] } else { 0.0 });
        assert_eq!(Cholesky::new(m, &context).unwrap().unwrap_err(), 1);
        let pieces = Pieces { limit: 1 << 12, par: Par::Seq, context: &context };
        for pivot in [0, 7, 8, 60, 99] {
            let mut s = positive(100);
            s[(pivot, pivot)] = -1.0;
            let matrix = MatMut::from_column_major_slice_mut(s.as_mut_slice(), 100, 100);
            assert_eq!(factorise(matrix, &pieces).unwrap(), Err(pivot));
        }
    }
}
