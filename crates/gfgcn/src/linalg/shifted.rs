//! A tridiagonal matrix with several shifts, T + ξI, factorised and solved side by side: each step of one shift
//! alone would wait for the previous one, and never fill a vector.

use crate::matrix::Matrix;
use pulp::{Arch, Simd, WithSimd};

/// Vectors whose quadratic forms are computed at once.
pub const FORMS_AT_ONCE: usize = 8;

const LANES: usize = FORMS_AT_ONCE;

/// The factorisations T + ξI = L D Lᵀ of several ξ.
#[derive(Clone, Debug)]
pub struct ShiftedFactors {
    /// Below the unit diagonal of −L, row by row, one entry per shift; the first row is 0. So quadratic forms take it from memory as
    /// it is.
    minus_lower: Vec<f64>,
    /// The inverse of D in the same order.
    inverse_pivots: Vec<f64>,
    failed: Vec<Option<usize>>,
}

impl ShiftedFactors {
    /// Factorises the tridiagonal matrix of this diagonal, and of this off-diagonal, for every shift.
    pub(super) fn new(diagonal: &[f64], off_diagonal: &[f64], shifts: &[f64]) -> Self {
        let (n, count) = (diagonal.len(), shifts.len());
        let mut factors = ShiftedFactors {
            minus_lower: vec![0.0; n * count],
            inverse_pivots: vec![0.0; n * count],
            failed: vec![None; count],
        };
        Arch::new().dispatch(Factorise { diagonal, off_diagonal, shifts, factors: &mut factors });
        // So that solutions are zero.
        for p in (0..count).filter(|&p| factors.failed[p].is_some()) {
            for entries in [&mut factors.minus_lower, &mut factors.inverse_pivots] {
                entries[p..].iter_mut().step_by(count).for_each(|entry| *entry = 0.0);
            }
        }
        factors
    }

    /// For each shift the first pivot that is not positive: it has no factorisation then, its solutions and quadratic forms are
    /// zero.
    pub fn failed(&self) -> &[Option<usize>] {
        &self.failed
    }

    /// (T + ξI)⁻¹ B of every shift, side by side in the order of the shifts.
    ///
    /// # Panics
    /// If the columns of B are not as long as the matrix.
    pub fn solve(&self, b: &Matrix<f64>) -> Matrix<f64> {
        let (n, columns, shifts) = (b.rows(), b.cols(), self.failed.len());
        assert_eq!(n * shifts, self.minus_lower.len(), "columns as long as the matrix");
        let width = shifts * columns;
        let mut x = Matrix::zeros(n, width);
        if n * width == 0 {
            return x;
        }
        Arch::new().dispatch(Solve { factors: self, b, x: x.as_mut_slice() });
        x
    }

    /// zᵀ (T + ξI)⁻¹ z of several vectors, for every shift: entry k of vector l is `vectors[k][l]`, and the forms of a shift come
    /// one after the other.
    ///
    /// # Panics
    /// If the vectors are not as long as the matrix, or there are not as many `forms` as shifts.
    pub fn quadratic_forms(&self, vectors: &[[f64; LANES]], forms: &mut [[f64; LANES]]) {
        let shifts = self.failed.len();
        assert_eq!(forms.len(), shifts, "one form per shift and vector");
        assert_eq!(vectors.len() * shifts, self.minus_lower.len(), "vectors as long as the matrix");
        Arch::new().dispatch(Forms { factors: self, vectors, forms });
    }
}

/// [`ShiftedFactors::new`].
struct Factorise<'a> {
    diagonal: &'a [f64],
    off_diagonal: &'a [f64],
    shifts: &'a [f64],
    factors: &'a mut ShiftedFactors,
}

impl WithSimd for Factorise<'_> {
    type Output = ();

    /// Plain loops over the shifts, which the compiler makes vectors of.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Factorise { diagonal, off_diagonal, shifts, factors } = self;
        let count = shifts.len();
        let mut beside = 0.0;
        for (k, &diagonal) in diagonal.iter().enumerate() {
            let (above, row) = factors.inverse_pivots.split_at_mut(k * count);
            let (above, row) = (&above[k.saturating_sub(1) * count..], &mut row[..count]);
            let minus_lower = &mut factors.minus_lower[k * count..][..count];
            for (minus, inverse) in minus_lower.iter_mut().zip(above) {
                *minus = -beside * inverse;
            }
            let mut all_positive = true;
            for ((inverse, minus), shift) in row.iter_mut().zip(&*minus_lower).zip(shifts) {
                *inverse = 1.0 / (diagonal + shift + beside * minus);
                all_positive &= is_positive(*inverse);
            }
            if !all_positive {
                note_failures(k, row, &mut factors.failed);
            }
            beside = off_diagonal.get(k).copied().unwrap_or(0.0);
        }
    }
}

/// [`ShiftedFactors::solve`].
struct Solve<'a> {
    factors: &'a ShiftedFactors,
    b: &'a Matrix<f64>,
    x: &'a mut [f64],
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        self.forwards();
        self.back();
    }
}

impl Solve<'_> {
    /// X = L⁻¹ B.
    #[inline(always)]
    fn forwards(&mut self) {
        let (columns, shifts) = (self.b.cols(), self.factors.failed.len());
        let (width, b) = (shifts * columns, self.b.as_slice());
        for row in self.x[..width].chunks_exact_mut(columns) {
            row.copy_from_slice(&b[..columns]);
        }
        for (k, b) in b.chunks_exact(columns).enumerate().skip(1) {
            let (above, row) = self.x[(k - 1) * width..].split_at_mut(width);
            let rows = row[..width].chunks_exact_mut(columns).zip(above.chunks_exact(columns));
            let minus_lower = &self.factors.minus_lower[k * shifts..][..shifts];
            for ((row, above), minus) in rows.zip(minus_lower) {
                for ((x, above), b) in row.iter_mut().zip(above).zip(b) {
                    *x = b + minus * above;
                }
            }
        }
    }

    /// X ← L⁻ᵀ D⁻¹ X.
    #[inline(always)]
    fn back(&mut self) {
        let (columns, shifts) = (self.b.cols(), self.factors.failed.len());
        let width = shifts * columns;
        for k in (0..self.b.rows()).rev() {
            let (row, below) = self.x[k * width..].split_at_mut(width);
            let inverse = &self.factors.inverse_pivots[k * shifts..][..shifts];
            for (row, inverse) in row.chunks_exact_mut(columns).zip(inverse) {
                row.iter_mut().for_each(|x| *x *= inverse);
            }
            // None below the last row.
            let rows = row.chunks_exact_mut(columns).zip(below.chunks_exact(columns));
            let minus_lower = self.factors.minus_lower.get((k + 1) * shifts..).unwrap_or_default();
            for ((row, below), minus) in rows.zip(minus_lower) {
                for (x, below) in row.iter_mut().zip(below) {
                    *x += minus * below;
                }
            }
        }
    }
}

/// [`ShiftedFactors::quadratic_forms`].
struct Forms<'a> {
    factors: &'a ShiftedFactors,
    vectors: &'a [[f64; LANES]],
    forms: &'a mut [[f64; LANES]],
}

impl WithSimd for Forms<'_> {
    type Output = ();

    /// As many shifts at once as the registers hold: a step of one alone would wait for the previous one.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.in_turn::<S, 1, 5>(simd),
            4 => self.in_turn::<S, 2, 2>(simd),
            2 => self.in_turn::<S, 4, 2>(simd),
            _ => self.in_turn::<S, LANES, 1>(simd),
        }
    }
}

impl Forms<'_> {
    /// `SHIFTS` shifts at a time; a row of all vectors is `VECTORS` of the processor's vectors.
    #[inline(always)]
    fn in_turn<S: Simd, const VECTORS: usize, const SHIFTS: usize>(self, simd: S) {
        let Forms { factors, vectors, forms } = self;
        let (some, rest) = forms.as_chunks_mut::<SHIFTS>();
        let vectors = S::as_simd_f64s(vectors.as_flattened()).0.as_chunks().0;
        for (chunk, forms) in some.iter_mut().enumerate() {
            let sums = factors.forms::<S, VECTORS, SHIFTS>(simd, vectors, chunk * SHIFTS);
            let forms = S::as_mut_simd_f64s(forms.as_flattened_mut()).0;
            forms.copy_from_slice(sums.as_flattened());
        }
        let first = some.len() * SHIFTS;
        for (shift, forms) in rest.iter_mut().enumerate() {
            let [sums] = factors.forms::<S, VECTORS, 1>(simd, vectors, first + shift);
            S::as_mut_simd_f64s(forms).0.copy_from_slice(&sums);
        }
    }
}

impl ShiftedFactors {
    /// The forms of the shifts from `first` on.
    #[inline(always)]
    fn forms<S: Simd, const VECTORS: usize, const SHIFTS: usize>(
        &self,
        simd: S,
        vectors: &[[S::f64s; VECTORS]],
        first: usize,
    ) -> [[S::f64s; VECTORS]; SHIFTS] {
        let shifts = self.failed.len();
        // A matrix of no rows has no factors.
        let minus_lower = self.minus_lower.get(first..).unwrap_or_default().chunks(shifts);
        let inverse = self.inverse_pivots.get(first..).unwrap_or_default().chunks(shifts);
        let mut sums = [[simd.splat_f64s(0.0); VECTORS]; SHIFTS];
        let mut u = sums;
        for ((z, minus), inverse) in vectors.iter().zip(minus_lower).zip(inverse) {
            let (minus, inverse) = (&minus[..SHIFTS], &inverse[..SHIFTS]);
            for s in 0..SHIFTS {
                let (minus, inverse) = (simd.splat_f64s(minus[s]), simd.splat_f64s(inverse[s]));
                for v in 0..VECTORS {
                    let next = simd.mul_add_e_f64s(minus, u[s][v], z[v]);
                    let scaled = simd.mul_f64s(next, inverse);
                    sums[s][v] = simd.mul_add_e_f64s(scaled, next, sums[s][v]);
                    u[s][v] = next;
                }
            }
        }
        sums
    }
}

/// Whether this is the inverse of a pivot that can be divided by.
#[inline(always)]
fn is_positive(inverse_pivot: f64) -> bool {
    inverse_pivot > 0.0 && inverse_pivot < f64::INFINITY
}

/// Takes note of the shifts whose pivot of row k is not positive, and lets their recurrences go on with something finite.
#[cold]
fn note_failures(k: usize, inverse_pivots: &mut [f64], failed: &mut [Option<usize>]) {
    for (inverse, failed) in inverse_pivots.iter_mut().zip(failed) {
        if !is_positive(*inverse) {
            failed.get_or_insert(k);
            *inverse = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T, with positive and negative eigenvalues.
    const DIAGONAL: [f64; 5] = [2.0, -1.0, 3.0, 0.5, 4.0];
    const OFF_DIAGONAL: [f64; 4] = [0.5, -0.7, 0.2, 1.0];

    fn times(shift: f64, x: &[f64]) -> Vec<f64> {
        let at = |k: usize| x.get(k).copied().unwrap_or(0.0);
        let beside = |k: usize| OFF_DIAGONAL.get(k).copied().unwrap_or(0.0);
        (0..5)
            .map(|k| {
                let above = if k > 0 { OFF_DIAGONAL[k - 1] * x[k - 1] } else { 0.0 };
                above + (DIAGONAL[k] + shift) * x[k] + beside(k) * at(k + 1)
            })
            .collect()
    }

    #[test]
    fn every_shift_is_solved_by_itself() {
        let shifts = [10.0, 2.5, 1.8, 100.0, 3.0, 7.0, 2.0];
        let factors = ShiftedFactors::new(&DIAGONAL, &OFF_DIAGONAL, &shifts);
        assert_eq!(factors.failed(), [None; 7]);
        let b = Matrix::from_fn(5, 2, |i, j| (i as f64 * 0.7 + j as f64).sin());
        let x = factors.solve(&b);
        let vectors: Vec<[f64; LANES]> =
            (0..5).map(|k| std::array::from_fn(|l| if l < 2 { b[(k, l)] } else { 0.0 })).collect();
        let mut forms = [[f64::NAN; LANES]; 7];
        factors.quadratic_forms(&vectors, &mut forms);
        for (p, &shift) in shifts.iter().enumerate() {
            for j in 0..2 {
                let own: Vec<f64> = (0..5).map(|k| x[(k, 2 * p + j)]).collect();
                for (k, product) in times(shift, &own).into_iter().enumerate() {
                    assert!((product - b[(k, j)]).abs() < 1e-12, "shift {shift}, row {k}");
                }
                let form: f64 = own.iter().enumerate().map(|(k, x)| x * b[(k, j)]).sum();
                assert!((forms[p][j] - form).abs() < 1e-12, "shift {shift}");
            }
            assert_eq!(forms[p][2..], [0.0; LANES - 2]);
        }
    }

    #[test]
    fn a_shift_that_is_too_small_names_its_pivot_and_harms_no_other() {
        let b = Matrix::from_fn(5, 1, |i, _| i as f64 - 1.5);
        let alone = ShiftedFactors::new(&DIAGONAL, &OFF_DIAGONAL, &[5.0]);
        let both = ShiftedFactors::new(&DIAGONAL, &OFF_DIAGONAL, &[0.0, 5.0, -2.0, f64::NAN]);
        assert_eq!(both.failed(), [Some(1), None, Some(0), Some(0)]);
        let (one, all) = (alone.solve(&b), both.solve(&b));
        for k in 0..5 {
            assert_eq!(all.row(k), [0.0, one[(k, 0)], 0.0, 0.0]);
        }
        let vectors = [[1.0; LANES]; 5];
        let (mut form, mut forms) = ([[0.0; LANES]; 1], [[f64::NAN; LANES]; 4]);
        alone.quadratic_forms(&vectors, &mut form);
        both.quadratic_forms(&vectors, &mut forms);
        assert_eq!(forms, [[0.0; LANES], form[0], [0.0; LANES], [0.0; LANES]]);
    }

    #[test]
    fn a_failed_shift_is_zero_however_fast_its_recurrences_grow() {
        let failed = ShiftedFactors::new(&[-1.0; 110], &[1e3; 109], &[0.0]);
        assert_eq!(failed.failed(), [Some(0)]);
        let x = failed.solve(&Matrix::from_fn(110, 2, |_, _| 1.0));
        assert!(x.as_slice().iter().all(|&x| x == 0.0));
        let mut forms = [[f64::NAN; LANES]];
        failed.quadratic_forms(&[[1.0; LANES]; 110], &mut forms);
        assert_eq!(forms, [[0.0; LANES]]);
    }

    /// Vectors of every width that this processor has, and none.
    #[test]
    fn every_width_of_vectors_finds_the_same_forms() {
        let shifts = [10.0, 2.5, 1.8, 100.0, 3.0, 7.0, 2.0];
        let factors = ShiftedFactors::new(&DIAGONAL, &OFF_DIAGONAL, &shifts);
        let vectors: Vec<[f64; LANES]> =
            (0..5).map(|k| std::array::from_fn(|l| (k * 8 + l) as f64 * 0.37 - 4.0)).collect();
        let mut wanted = [[0.0; LANES]; 7];
        Forms { factors: &factors, vectors: &vectors, forms: &mut wanted }.with_simd(pulp::Scalar);
        let mut forms = [[0.0; LANES]; 7];
        factors.quadratic_forms(&vectors, &mut forms);
        let close = |forms: &[[f64; LANES]; 7]| {
            let pairs = forms.as_flattened().iter().zip(wanted.as_flattened());
            pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12 * b.abs())
        };
        assert!(close(&forms));
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            let mut forms = [[0.0; LANES]; 7];
            Simd::vectorize(
                simd,
                Forms { factors: &factors, vectors: &vectors, forms: &mut forms },
            );
            assert!(close(&forms));
        }
    }

    #[test]
    fn nothing_is_solved_for_nothing() {
        let empty = ShiftedFactors::new(&[], &[], &[1.0; 7]);
        assert_eq!(empty.solve(&Matrix::zeros(0, 3)).cols(), 21);
        let mut forms = [[f64::NAN; LANES]; 7];
        empty.quadratic_forms(&[], &mut forms);
        assert_eq!(forms, [[0.0; LANES]; 7]);
        let none = ShiftedFactors::new(&DIAGONAL, &OFF_DIAGONAL, &[]);
        assert_eq!(none.solve(&Matrix::zeros(5, 3)).cols(), 0);
        none.quadratic_forms(&[[0.0; LANES]; 5], &mut []);
    }
}
