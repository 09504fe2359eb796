//! Reduction to tridiagonal form, and what the form makes cheap.

use super::{parts_of_products, view_mut, with_a_thread_awake};
use crate::matrix::Matrix;
use crate::simd::Simd;
use crate::context::Context;
use crate::error::Result as Outcome;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag;
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Conj, Mat, MatMut, MatRef, Par};

/// The parts that a reduction is divided into: every column is a synchronisation, so that more
/// parts cost more than they bring, and small matrices want none.
fn parts_of_reductions(size: usize) -> Par {
    if size < 600 { Par::Seq } else { Par::rayon(2) }
}

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
    /// # Panics
    /// If the matrix is not square.
    pub fn reduce(mut symmetric: Matrix<f64>, context: &Context) -> Outcome<Self> {
        context.check()?;
        let n = symmetric.rows();
        assert_eq!(n, symmetric.cols(), "a symmetric matrix is square");
        // Symmetric: its rows are its columns, and the factorisation likes those contiguous.
        let mut reflectors = MatMut::from_column_major_slice_mut(symmetric.as_mut_slice(), n, n);
        let block = if n > 1 { recommended_block_size::<f64>(n - 1, n - 1) } else { 1 };
        let mut factors = Mat::zeros(block, n.saturating_sub(1));
        let par = parts_of_reductions(n);
        let scratch = tridiag::tridiag_in_place_scratch::<f64>(n, par, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let reduce = || {
            tridiag::tridiag_in_place(
                reflectors.as_mut(),
                factors.as_mut(),
                par,
                MemStack::new(&mut memory),
                Default::default(),
            );
        };
        with_a_thread_awake(par, reduce);
        Ok(Tridiagonal {
            diagonal: (0..n).map(|i| reflectors[(i, i)]).collect(),
            off_diagonal: (1..n).map(|i| reflectors[(i, i - 1)]).collect(),
            reflectors: symmetric,
            factors,
        })
    }

    /// The vectors of the reflections that make up Q, below their unit diagonal.
    fn reflectors(&self) -> MatRef<'_, f64> {
        let n = self.size();
        MatRef::from_column_major_slice(self.reflectors.as_slice(), n, n).submatrix(
            1,
            0,
            n - 1,
            n - 1,
        )
    }

    /// n.
    pub fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// Replaces each row r by Qᵀ r, so that R becomes R Q.
    pub fn rotate_rows(&self, rows: &mut Matrix<f64>, _: &Context) -> Outcome<()> {
        let n = self.size();
        assert_eq!(n, rows.cols(), "the rows to rotate have the size of the matrix");
        if n < 2 {
            return Ok(());
        }
        let count = rows.rows();
        let scratch =
            householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<
                f64,
            >(n - 1, self.factors.nrows(), count);
        let par = parts_of_products(count * n * n);
        with_a_thread_awake(par, || {
            householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
                self.reflectors(),
                self.factors.as_ref(),
                Conj::No,
                view_mut(rows).transpose_mut().subrows_mut(1, n - 1),
                par,
                MemStack::new(&mut MemBuffer::new(scratch)),
            );
        });
        Ok(())
    }

    /// Q · B.
    pub fn rotate_back(&self, b: &Matrix<f64>, _: &Context) -> Outcome<Matrix<f64>> {
        let n = self.size();
        assert_eq!(n, b.rows(), "the columns to rotate have the size of the matrix");
        let mut out = b.clone();
        if n < 2 {
            return Ok(out);
        }
        let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<
            f64,
        >(n - 1, self.factors.nrows(), b.cols());
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            self.reflectors(),
            self.factors.as_ref(),
            Conj::No,
            view_mut(&mut out).subrows_mut(1, n - 1),
            parts_of_products(b.cols() * n * n),
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        Ok(out)
    }

    /// T + ξI = L D Lᵀ, or the first pivot that is not positive.
    pub fn shift(&self, xi: f64) -> Result<ShiftedFactor, usize> {
        let n = self.size();
        let mut lower = vec![0.0; n];
        let mut inverse_pivots = vec![0.0; n];
        let mut pivot = 0.0;
        for k in 0..n {
            let mut next = self.diagonal[k] + xi;
            if k > 0 {
                lower[k] = self.off_diagonal[k - 1] / pivot;
                next -= self.off_diagonal[k - 1] * lower[k];
            }
            if !(next > 0.0 && next.is_finite()) {
                return Err(k);
            }
            inverse_pivots[k] = next.recip();
            pivot = next;
        }
        Ok(ShiftedFactor { lower, inverse_pivots })
    }
}

/// The factorisation of a tridiagonal matrix T + ξI.
#[derive(Clone, Debug)]
pub struct ShiftedFactor {
    /// Below the unit diagonal of L; the first entry is 0.
    lower: Vec<f64>,
    inverse_pivots: Vec<f64>,
}

impl ShiftedFactor {
    /// (T + ξI)⁻¹ B.
    pub fn solve(&self, b: &Matrix<f64>) -> Matrix<f64> {
        let mut x = b.clone();
        let n = self.lower.len();
        for k in 1..n {
            for c in 0..x.cols() {
                x[(k, c)] -= self.lower[k] * x[(k - 1, c)];
            }
        }
        for k in (0..n).rev() {
            for c in 0..x.cols() {
                let below = if k + 1 < n { self.lower[k + 1] * x[(k + 1, c)] } else { 0.0 };
                x[(k, c)] = x[(k, c)] * self.inverse_pivots[k] - below;
            }
        }
        x
    }

    /// zᵀ (T + ξI)⁻¹ z for `LANES` vectors at once; entry k of vector l is `vectors[k][l]`.
    pub fn quadratic_forms<const LANES: usize>(&self, vectors: &[[f64; LANES]]) -> [f64; LANES] {
        Simd::detect().run(
            #[inline(always)]
            || self.quadratic_forms_inlined(vectors),
        )
    }

    #[inline(always)]
    fn quadratic_forms_inlined<const LANES: usize>(
        &self,
        vectors: &[[f64; LANES]],
    ) -> [f64; LANES] {
        let mut sum = [0.0; LANES];
        let mut u = [0.0; LANES];
        for ((z, &lower), &inverse) in vectors.iter().zip(&self.lower).zip(&self.inverse_pivots) {
            for l in 0..LANES {
                u[l] = z[l] - lower * u[l];
                sum[l] += u[l] * u[l] * inverse;
            }
        }
        sum
    }
}

