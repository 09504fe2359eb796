//! The inner loops of the tridiagonal reduction: products of a vector with columns, several columns at a time, so that
//! the vectors are read and written once for all of them.
//!
//! Vectors and columns begin at cache lines and are as long as whole lines, with zeros at their ends. So no load
//! touches two lines, and no loop has a remainder. A step takes eight columns if the processor has 32 vector registers, and
//! otherwise four: their factors and sums are held in registers.

use pulp::{Arch, Simd, WithSimd};

/// Numbers of a cache line, and a multiple of the columns of a step.
pub(super) const LINE: usize = 8;

/// Adds to `sums` what the columns from `first` on of a block contribute to the product of a symmetric matrix with x.
///
/// The columns of a block lie `stride` apart, which is also their length, and begin at the row of the first column's
/// diagonal, as `x` and `sums` do. Those from `first` on hold the matrix from the diagonal down, and above it within
/// lines. Some columns before them take part as well, and rows of `sums` before `first` change: x must be zero
/// there.
pub(super) struct AddSymmetricProduct<'a> {
    pub(super) columns: &'a [f64],
    pub(super) stride: usize,
    pub(super) first: usize,
    pub(super) x: &'a [f64],
    pub(super) sums: &'a mut [f64],
}

/// The products of columns, `stride` apart, with x; as many as `out` is long, which must be a multiple of [`LINE`].
pub(super) struct Products<'a> {
    pub(super) columns: &'a [f64],
    pub(super) stride: usize,
    pub(super) x: &'a [f64],
    pub(super) out: &'a mut [f64],
}

/// Adds multiples of columns, `stride` apart, to a vector; as many as there are factors, a multiple of [`LINE`].
pub(super) struct AddCombination<'a> {
    pub(super) columns: &'a [f64],
    pub(super) stride: usize,
    pub(super) factors: &'a [f64],
    pub(super) sum: &'a mut [f64],
}

/// w = p / τ − (pᵀ v / 2τ²) v, by the inverse of τ.
pub(super) struct Complete<'a> {
    pub(super) p: &'a [f64],
    pub(super) v: &'a [f64],
    pub(super) inverse: f64,
    pub(super) w: &'a mut [f64],
}

/// Runs a kernel with the best vector instructions of this processor.
pub(super) fn run<K: WithSimd>(kernel: K) -> K::Output {
    Arch::new().dispatch(kernel)
}

/// The first rows of some columns, `stride` apart, in vectors. (Closures are not inlined into what is compiled for other
/// instructions, so there are none here and below.)
#[inline(always)]
fn vectors<S: Simd, const COLUMNS: usize>(
    columns: &[f64],
    stride: usize,
    rows: usize,
) -> [&[S::f64s]; COLUMNS] {
    let mut all = [&[][..]; COLUMNS];
    for (c, vectors) in all.iter_mut().enumerate() {
        *vectors = S::as_simd_f64s(&columns[c * stride..][..rows]).0;
    }
    all
}

#[inline(always)]
fn splat<S: Simd, const COUNT: usize>(simd: S, values: &[f64]) -> [S::f64s; COUNT] {
    let mut all = [simd.splat_f64s(0.0); COUNT];
    for (c, &value) in values[..COUNT].iter().enumerate() {
        all[c] = simd.splat_f64s(value);
    }
    all
}

impl WithSimd for AddSymmetricProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 { self.add::<S, 8>(simd) } else { self.add::<S, 4>(simd) }
    }
}

impl AddSymmetricProduct<'_> {
    #[inline(always)]
    fn add<S: Simd, const STEP: usize>(self, simd: S) {
        let AddSymmetricProduct { columns, stride, first, x, sums } = self;
        for start in (first / STEP * STEP..columns.len() / stride).step_by(STEP) {
            let rows = stride - start;
            let a = vectors::<S, STEP>(&columns[start * stride + start..], stride, rows);
            let factors = splat::<S, STEP>(simd, &x[start..]);
            let x = S::as_simd_f64s(&x[start..][..rows]).0;
            let own = &mut sums[start..][..rows];
            let sums = S::as_mut_simd_f64s(own).0;
            // The square that the diagonal runs through is there as a whole; what is below it is also what is beside it.
            let square = STEP / S::F64_LANES;
            for i in 0..square {
                let mut sum = sums[i];
                for c in 0..STEP {
                    sum = simd.mul_add_e_f64s(a[c][i], factors[c], sum);
                }
                sums[i] = sum;
            }
            let mut dots = [simd.splat_f64s(0.0); STEP];
            for i in square..x.len() {
                let mut sum = sums[i];
                for c in 0..STEP {
                    sum = simd.mul_add_e_f64s(a[c][i], factors[c], sum);
                    dots[c] = simd.mul_add_e_f64s(a[c][i], x[i], dots[c]);
                }
                sums[i] = sum;
            }
            for c in 0..STEP {
                own[c] += simd.reduce_sum_f64s(dots[c]);
            }
        }
    }
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 { self.find::<S, 8>(simd) } else { self.find::<S, 4>(simd) }
    }
}

impl Products<'_> {
    #[inline(always)]
    fn find<S: Simd, const STEP: usize>(self, simd: S) {
        let Products { columns, stride, x, out } = self;
        for (step, out) in out.chunks_exact_mut(STEP).enumerate() {
            let a = vectors::<S, STEP>(&columns[step * STEP * stride..], stride, x.len());
            let mut dots = [simd.splat_f64s(0.0); STEP];
            for (i, &x) in S::as_simd_f64s(x).0.iter().enumerate() {
                for c in 0..STEP {
                    dots[c] = simd.mul_add_e_f64s(a[c][i], x, dots[c]);
                }
            }
            for c in 0..STEP {
                out[c] = simd.reduce_sum_f64s(dots[c]);
            }
        }
    }
}

impl WithSimd for AddCombination<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AddCombination { columns, stride, factors, sum } = self;
        for (step, factors) in factors.chunks_exact(LINE).enumerate() {
            let a = vectors::<S, LINE>(&columns[step * LINE * stride..], stride, sum.len());
            let factors = splat::<S, LINE>(simd, factors);
            for (i, out) in S::as_mut_simd_f64s(sum).0.iter_mut().enumerate() {
                let mut sum = *out;
                for c in 0..LINE {
                    sum = simd.mul_add_e_f64s(a[c][i], factors[c], sum);
                }
                *out = sum;
            }
        }
    }
}

impl WithSimd for Complete<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (p, v) = (S::as_simd_f64s(self.p).0, S::as_simd_f64s(self.v).0);
        let mut dot = simd.splat_f64s(0.0);
        for (&p, &v) in p.iter().zip(v) {
            dot = simd.mul_add_e_f64s(p, v, dot);
        }
        let along = 0.5 * simd.reduce_sum_f64s(dot) * self.inverse * self.inverse;
        let (inverse, minus) = (simd.splat_f64s(self.inverse), simd.splat_f64s(-along));
        let w = S::as_mut_simd_f64s(self.w).0;
        for ((w, &p), &v) in w.iter_mut().zip(p).zip(v) {
            *w = simd.mul_add_e_f64s(minus, v, simd.mul_f64s(p, inverse));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(k: usize) -> f64 {
        ((k * 31 + 17) % 23) as f64 / 23.0 - 0.4
    }

    fn assert_close(found: &[f64], wanted: &[f64]) {
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
    }

    /// Each kernel as this processor runs it, with shorter vectors, and without any.
    fn every_way(run: impl Fn(&dyn Fn(AddSymmetricProduct<'_>), &dyn Fn(Products<'_>))) {
        run(&|kernel| super::run(kernel), &|kernel| super::run(kernel));
        let scalar = pulp::Scalar;
        run(&|kernel| kernel.with_simd(scalar), &|kernel| kernel.with_simd(scalar));
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            run(&|kernel| Simd::vectorize(simd, kernel), &|kernel| Simd::vectorize(simd, kernel));
        }
    }

    #[test]
    fn products_are_the_sums_they_stand_for() {
        const ROWS: usize = 40;
        const COLUMNS: usize = 16;
        // By columns; the squares on the diagonal are symmetric.
        let entry = |i: usize, j: usize| value(i.min(j) * 7 + i.max(j) * 13);
        let columns: Vec<f64> =
            (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| entry(i, j))).collect();
        for first in [0, 3, 8, 15] {
            let x: Vec<f64> =
                (0..ROWS).map(|i| if i < first { 0.0 } else { value(i + 5) }).collect();
            // Every pair of rows one of which is a column of the block.
            let wanted: Vec<f64> = (first..ROWS)
                .map(|i| {
                    let pairs = (first..ROWS).filter(|&j| i.min(j) < COLUMNS);
                    1.0 + pairs.map(|j| entry(i, j) * x[j]).sum::<f64>()
                })
                .collect();
            let dots: Vec<f64> = (0..COLUMNS)
                .map(|j| (0..ROWS).map(|i| columns[j * ROWS + i] * x[i]).sum())
                .collect();
            every_way(|symmetric, products| {
                let mut sums = vec![1.0; ROWS];
                let (columns, x) = (&columns, &x);
                symmetric(AddSymmetricProduct { columns, stride: ROWS, first, x, sums: &mut sums });
                assert_close(&sums[first..], &wanted);
                let mut out = [0.0; COLUMNS];
                products(Products { columns, stride: ROWS, x, out: &mut out });
                assert_close(&out, &dots);
            });
        }
    }
}
