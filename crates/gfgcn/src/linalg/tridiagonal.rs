//! Reduction to tridiagonal form, and what the form makes cheap.

use super::pieces::Pieces;
use super::shifted::ShiftedFactors;
use super::{reduction, view_mut, workspace};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder::{
    apply_block_householder_on_the_left_in_place_with_conj as apply_block,
    apply_block_householder_sequence_on_the_left_in_place_scratch as scratch_of_blocks,
    apply_block_householder_transpose_on_the_left_in_place_with_conj as apply_transposed_block,
};
use faer::{Conj, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// To Qᵀ, the first block first, or to Q, the last one first.
#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Back,
}

/// What is known of the columns that are rotated.
#[derive(Clone, Copy)]
enum Columns {
    Any,
    /// They are those of the identity, below its first row. With the last block first, a block finds zeros in its rows
    /// of all columns before it, which stay zeros.
    OfIdentity,
}

/// How a block of reflections is applied: its vectors, its factor, and the columns.
type Apply = fn(MatRef<'_, f64>, MatRef<'_, f64>, Conj, MatMut<'_, f64>, Par, &mut MemStack);

/// Columns that are rotated at a time: enough for fast products, few enough to stay in a core's cache.
const COLUMNS: RangeInclusive<usize> = 64..=256;

/// A symmetric matrix S = Q T Qᵀ with T tridiagonal and Q orthogonal.
///
/// A third of the work of an eigendecomposition, and enough for a whole path of ridge problems:
/// (S + ξI)⁻¹ = Q (T + ξI)⁻¹ Qᵀ costs O(n) per right-hand side and ξ.
#[derive(Clone, Debug)]
pub struct Tridiagonal {
    diagonal: Vec<f64>,
    off_diagonal: Vec<f64>,
    /// As the reduction left it, by columns.
    reflectors: Matrix<f64>,
    factors: Mat<f64>,
}

impl Tridiagonal {
    /// Reduces a symmetric matrix; O(n³).
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn reduce(mut symmetric: Matrix<f64>, context: &Context) -> Result<Self> {
        let n = symmetric.rows();
        assert_eq!(n, symmetric.cols(), "a symmetric matrix is square");
        let check = || context.check();
        // Symmetric: its rows are its columns, and the reduction likes those contiguous.
        let reduced = reduction::reduce(n, symmetric.as_mut_slice(), &check)?;
        let factors = reduction::block_factors(n, symmetric.as_slice(), &reduced.scales, &check)?;
        let (diagonal, off_diagonal) = (reduced.diagonal, reduced.off_diagonal);
        Ok(Tridiagonal { diagonal, off_diagonal, reflectors: symmetric, factors })
    }

    /// Numbers that are held beside a matrix of so many rows when it is reduced, and while it is.
    pub(crate) fn memory(n: u64) -> (u64, u64) {
        let (block, reducing) = reduction::widths(n as usize);
        // The factors of the reflections, and T; products beside what is reduced.
        ((block as u64 + 2) * n, (reducing as u64 + 4) * n)
    }

    /// Numbers that are held while so many rows are [rotated](Tridiagonal::rotate_rows) on so many threads.
    pub(crate) fn rotation_memory(n: u64, rows: u64, threads: u64) -> u64 {
        let at_once = match Pieces::is_small((n * n * rows) as usize) {
            true => rows,
            false => rows.min(threads * *COLUMNS.end() as u64),
        };
        reduction::widths(n as usize).0 as u64 * at_once
    }

    /// n.
    pub fn size(&self) -> usize {
        self.diagonal.len()
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
        let mut basis = Matrix::from_fn(n, n, |i, j| f64::from(i == j));
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

    /// Applies the blocks of reflections to the columns of a matrix, in one direction or the other.
    ///
    /// Parallel over columns: a chunk of them goes through all blocks without waiting for the others.
    fn rotate(
        &self,
        columns: MatMut<'_, f64>,
        direction: Direction,
        known: Columns,
        context: &Context,
    ) -> Result<()> {
        /// Chunks that are wanted, as far as there are columns for them.
        const CHUNKS: usize = 8;
        context.check()?;
        let (n, count) = (self.size(), columns.ncols());
        if n < 2 || count == 0 {
            return Ok(());
        }
        let pieces = Pieces::of(n * n * count, context);
        // A block is applied in two products.
        let most = pieces.limit / (2 * n * self.factors.nrows());
        let wanted = match pieces.par {
            Par::Seq => count,
            _ => {
                count.div_ceil(CHUNKS).next_multiple_of(16).clamp(*COLUMNS.start(), *COLUMNS.end())
            }
        };
        let chunk = wanted.min(most.max(1));
        let columns = columns.subrows_mut(1, n - 1);
        // How many columns of a chunk a block that begins with this row does not touch.
        let untouched = |start: usize, first: usize| match known {
            Columns::Any => 0,
            Columns::OfIdentity => first.saturating_sub(start),
        };
        if chunk >= count {
            self.rotate_chunk(columns, direction, &|first| untouched(0, first), context)
        } else {
            let chunks = columns.par_col_chunks_mut(chunk).enumerate();
            chunks.try_for_each(|(k, columns)| {
                self.rotate_chunk(columns, direction, &|first| untouched(k * chunk, first), context)
            })
        }
    }

    fn rotate_chunk(
        &self,
        mut columns: MatMut<'_, f64>,
        direction: Direction,
        untouched: &dyn Fn(usize) -> usize,
        context: &Context,
    ) -> Result<()> {
        let n = self.size();
        let reflectors = MatRef::from_column_major_slice(self.reflectors.as_slice(), n, n);
        // Below their unit diagonal.
        let vectors = reflectors.submatrix(1, 0, n - 1, n - 1);
        let block = self.factors.nrows();
        workspace::note(columns.ncols(), block, n);
        let mut memory = MemBuffer::new(scratch_of_blocks::<f64>(n - 1, block, columns.ncols()));
        let stack = MemStack::new(&mut memory);
        let blocks = (n - 1).div_ceil(block);
        for b in 0..blocks {
            context.check()?;
            let (apply, first): (Apply, _) = match direction {
                Direction::Forward => (apply_transposed_block, b * block),
                Direction::Back => (apply_block, (blocks - 1 - b) * block),
            };
            let end = (n - 1).min(first + block);
            let untouched = untouched(first).min(columns.ncols());
            apply(
                vectors.get(first.., first..end),
                self.factors.get(..end - first, first..end),
                Conj::No,
                columns.as_mut().get_mut(first.., untouched..),
                Par::Seq,
                stack,
            );
        }
        Ok(())
    }

    /// T + ξI = L D Lᵀ for several ξ.
    pub fn shift(&self, shifts: &[f64]) -> ShiftedFactors {
        ShiftedFactors::new(&self.diagonal, &self.off_diagonal, shifts)
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
