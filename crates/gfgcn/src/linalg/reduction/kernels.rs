//! The inner loops of the tridiagonal reduction: products of a vector with columns, four columns at a time, so that
//! the vectors are read and written once for four columns.

use crate::simd::{multiply_add, on_this_processor};
use std::hint::black_box;

/// Columns of a step.
pub(super) const STEP: usize = 4;

/// Rows of a step.
const LANES: usize = 4;

/// Numbers that are computed with at once.
type Lanes = [f64; LANES];

#[inline(always)]
fn add_product<const FUSED: bool>(sum: &mut Lanes, a: &Lanes, b: &Lanes) {
    for l in 0..LANES {
        sum[l] = multiply_add::<FUSED>(a[l], b[l], sum[l]);
    }
}

#[inline(always)]
fn add_multiple<const FUSED: bool>(sum: &mut Lanes, a: &Lanes, factor: f64) {
    for l in 0..LANES {
        sum[l] = multiply_add::<FUSED>(a[l], factor, sum[l]);
    }
}

/// Has the compiler hold each column's products in a vector of their own. Left to itself, it adds up the totals of four
/// columns at once, and transposes what it reads for that.
#[inline(always)]
fn lane_by_lane(dots: [Lanes; STEP]) -> [Lanes; STEP] {
    black_box(dots)
}

#[inline(always)]
fn total(lanes: &Lanes) -> f64 {
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

/// Four columns from a row on, each as long as the first.
#[inline(always)]
fn four(columns: &[f64], stride: usize, row: usize, rows: usize) -> [&[f64]; STEP] {
    std::array::from_fn(|c| &columns[c * stride + row..][..rows])
}

/// Adds to `sums` what some columns of a symmetric matrix contribute to its product with x.
///
/// The columns lie `stride` apart and hold the matrix from its diagonal down; `x` and `sums` start at the row of the
/// first column's diagonal, which is `columns[0]`.
pub(super) fn add_symmetric_product(
    columns: &[f64],
    stride: usize,
    count: usize,
    x: &[f64],
    sums: &mut [f64],
) {
    on_this_processor!(|FUSED| add_symmetric_product_inlined::<FUSED>(
        columns, stride, count, x, sums
    ));
}

#[inline(always)]
fn add_symmetric_product_inlined<const FUSED: bool>(
    columns: &[f64],
    stride: usize,
    count: usize,
    x: &[f64],
    sums: &mut [f64],
) {
    let n = x.len();
    let mut j = 0;
    while j + STEP <= count && j + STEP <= n {
        let step = &columns[j * stride + j..];
        let below = n - j - STEP;
        let mut products = corner::<FUSED, STEP>(step, stride, &x[j..], &mut sums[j..]);
        let factors: [f64; STEP] = std::array::from_fn(|c| x[j + c]);
        let [a0, a1, a2, a3] = four(step, stride, STEP, below);
        let (x4, x1) = x[j + STEP..].as_chunks::<LANES>();
        let (s4, s1) = sums[j + STEP..][..below].as_chunks_mut::<LANES>();
        let mut dots = [[0.0; LANES]; STEP];
        let (a0, r0) = a0.as_chunks::<LANES>();
        let (a1, r1) = a1.as_chunks::<LANES>();
        let (a2, r2) = a2.as_chunks::<LANES>();
        let (a3, r3) = a3.as_chunks::<LANES>();
        for (((((s, x), a0), a1), a2), a3) in s4.iter_mut().zip(x4).zip(a0).zip(a1).zip(a2).zip(a3)
        {
            let mut sum = *s;
            for (c, a) in [a0, a1, a2, a3].into_iter().enumerate() {
                add_multiple::<FUSED>(&mut sum, a, factors[c]);
                add_product::<FUSED>(&mut dots[c], a, x);
            }
            *s = sum;
        }
        for (i, (s, &x)) in s1.iter_mut().zip(x1).enumerate() {
            for (c, a) in [r0[i], r1[i], r2[i], r3[i]].into_iter().enumerate() {
                *s = multiply_add::<FUSED>(a, factors[c], *s);
                products[c] = multiply_add::<FUSED>(a, x, products[c]);
            }
        }
        let dots = lane_by_lane(dots);
        for c in 0..STEP {
            sums[j + c] += products[c] + total(&dots[c]);
        }
        j += STEP;
    }
    while j < count {
        let column = &columns[j * stride + j..][..n - j];
        let mut product = column[0] * x[j];
        for ((s, &a), &x_i) in sums[j + 1..].iter_mut().zip(&column[1..]).zip(&x[j + 1..]) {
            *s = multiply_add::<FUSED>(a, x[j], *s);
            product = multiply_add::<FUSED>(a, x_i, product);
        }
        sums[j] += product;
        j += 1;
    }
}

/// The square of a step that the diagonal runs through: adds what lies below the diagonal to `sums`, and returns
/// what the columns contribute to their own rows.
#[inline(always)]
fn corner<const FUSED: bool, const SIZE: usize>(
    columns: &[f64],
    stride: usize,
    x: &[f64],
    sums: &mut [f64],
) -> [f64; SIZE] {
    let mut products = [0.0; SIZE];
    for (c, product) in products.iter_mut().enumerate() {
        let column = &columns[c * stride..][..SIZE];
        *product = column[c] * x[c];
        for r in c + 1..SIZE {
            sums[r] = multiply_add::<FUSED>(column[r], x[c], sums[r]);
            *product = multiply_add::<FUSED>(column[r], x[r], *product);
        }
    }
    products
}

/// The products of columns, `stride` apart, with x; as many as `out` is long, which must be a multiple of [`STEP`].
pub(super) fn dots(columns: &[f64], stride: usize, x: &[f64], out: &mut [f64]) {
    on_this_processor!(|FUSED| dots_inlined::<FUSED>(columns, stride, x, out));
}

#[inline(always)]
fn dots_inlined<const FUSED: bool>(columns: &[f64], stride: usize, x: &[f64], out: &mut [f64]) {
    let (x4, x1) = x.as_chunks::<LANES>();
    for (step, out) in out.as_chunks_mut::<STEP>().0.iter_mut().enumerate() {
        let [a0, a1, a2, a3] = four(&columns[step * STEP * stride..], stride, 0, x.len());
        let (a0, r0) = a0.as_chunks::<LANES>();
        let (a1, r1) = a1.as_chunks::<LANES>();
        let (a2, r2) = a2.as_chunks::<LANES>();
        let (a3, r3) = a3.as_chunks::<LANES>();
        let mut dots = [[0.0; LANES]; STEP];
        for ((((x, a0), a1), a2), a3) in x4.iter().zip(a0).zip(a1).zip(a2).zip(a3) {
            for (c, a) in [a0, a1, a2, a3].into_iter().enumerate() {
                add_product::<FUSED>(&mut dots[c], a, x);
            }
        }
        let dots = lane_by_lane(dots);
        for (c, rest) in [r0, r1, r2, r3].into_iter().enumerate() {
            out[c] = total(&dots[c]);
            for (&a, &x) in rest.iter().zip(x1) {
                out[c] = multiply_add::<FUSED>(a, x, out[c]);
            }
        }
    }
}

/// Adds multiples of columns, `stride` apart, to a vector; as many as there are factors, a multiple of [`STEP`].
pub(super) fn add_combination(columns: &[f64], stride: usize, factors: &[f64], sum: &mut [f64]) {
    on_this_processor!(|FUSED| add_combination_inlined::<FUSED>(columns, stride, factors, sum));
}

#[inline(always)]
fn add_combination_inlined<const FUSED: bool>(
    columns: &[f64],
    stride: usize,
    factors: &[f64],
    sum: &mut [f64],
) {
    // A plain loop over the rows: of one over chunks of them, the compiler makes one that transposes all it touches.
    for (step, factors) in factors.as_chunks::<STEP>().0.iter().enumerate() {
        let [a0, a1, a2, a3] = four(&columns[step * STEP * stride..], stride, 0, sum.len());
        for ((((s, a0), a1), a2), a3) in sum.iter_mut().zip(a0).zip(a1).zip(a2).zip(a3) {
            let products = [a0, a1, a2, a3].into_iter().zip(factors);
            *s = products.fold(*s, |s, (&a, &factor)| multiply_add::<FUSED>(a, factor, s));
        }
    }
}

/// The product of two vectors.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    on_this_processor!(|FUSED| dot_inlined::<FUSED>(a, b))
}

#[inline(always)]
fn dot_inlined<const FUSED: bool>(a: &[f64], b: &[f64]) -> f64 {
    let ((a4, a1), (b4, b1)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sum = [0.0; LANES];
    a4.iter().zip(b4).for_each(|(a, b)| add_product::<FUSED>(&mut sum, a, b));
    let rest = a1.iter().zip(b1);
    rest.fold(total(&sum), |sum, (&a, &b)| multiply_add::<FUSED>(a, b, sum))
}
