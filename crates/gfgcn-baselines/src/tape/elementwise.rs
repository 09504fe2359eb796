//! Operations on every entry by itself.

use super::parallel::over_rows;
use crate::random::Dropout;
use gfgcn::matrix::Matrix;

/// Smaller numbers become zero where layers meet. They change no score, but deep networks that have
/// smoothed everything away are full of them, and processors are slow with the smallest.
///
/// All comparisons are such that what is not a number stays so: a training that diverged must not look
/// like one that did not.
const NEGLIGIBLE: f32 = 1e-20;

#[inline(always)]
fn flushed(x: f32) -> f32 {
    if x.abs() < NEGLIGIBLE { 0.0 } else { x }
}

fn over_entries(m: &mut Matrix<f32>, f: impl Fn(usize, &mut [f32]) + Sync) {
    over_slice(m.as_mut_slice(), f);
}

fn over_slice(entries: &mut [f32], f: impl Fn(usize, &mut [f32]) + Sync) {
    let work = entries.len();
    over_rows(
        entries,
        1,
        work,
        #[inline(always)]
        |range, part| f(range.start, part),
    );
}

pub(super) fn add_to_rows(m: &mut Matrix<f32>, vector: &[f32]) {
    let (width, work) = (m.cols(), m.as_slice().len());
    over_rows(
        m.as_mut_slice(),
        width,
        work,
        #[inline(always)]
        |_, part| {
            for row in part.chunks_exact_mut(width) {
                row.iter_mut().zip(vector).for_each(|(x, v)| *x += v);
            }
        },
    );
}

/// `x ← a·x + b·y`, where y has at least the entries of x.
pub(super) fn combine(a: f32, x: &mut [f32], b: f32, y: &[f32]) {
    over_slice(
        x,
        #[inline(always)]
        |start, x| x.iter_mut().zip(&y[start..]).for_each(|(x, y)| *x = a * *x + b * y),
    );
}

/// `x ← a·x`.
pub(super) fn scale(a: f32, x: &mut Matrix<f32>) {
    over_entries(
        x,
        #[inline(always)]
        |_, x| x.iter_mut().for_each(|x| *x *= a),
    );
}

pub(super) fn relu(x: &mut Matrix<f32>) {
    over_entries(
        x,
        #[inline(always)]
        |_, x| x.iter_mut().for_each(|x| *x = if *x <= NEGLIGIBLE { 0.0 } else { *x }),
    );
}

/// `gradient ← gradient · relu'`, from the result.
pub(super) fn relu_back(gradient: &mut Matrix<f32>, result: &Matrix<f32>) {
    let result = result.as_slice();
    over_entries(
        gradient,
        #[inline(always)]
        |start, gradient| {
            for (g, &r) in gradient.iter_mut().zip(&result[start..]) {
                *g = if r <= 0.0 { 0.0 } else { flushed(*g) };
            }
        },
    );
}

pub(super) fn elu(x: &mut Matrix<f32>) {
    over_entries(
        x,
        #[inline(always)]
        |_, x| {
            for x in x {
                *x = flushed(if *x <= 0.0 { exp(*x) - 1.0 } else { *x });
            }
        },
    );
}

/// `gradient ← gradient · elu'`, from the result: 1 above zero, eˣ below.
pub(super) fn elu_back(gradient: &mut Matrix<f32>, result: &Matrix<f32>) {
    let result = result.as_slice();
    over_entries(
        gradient,
        #[inline(always)]
        |start, gradient| {
            for (g, &r) in gradient.iter_mut().zip(&result[start..]) {
                *g = flushed(*g * if r <= 0.0 { r + 1.0 } else { 1.0 });
            }
        },
    );
}

pub(super) fn drop(x: &mut Matrix<f32>, dropout: Dropout) {
    over_entries(
        x,
        #[inline(always)]
        |start, x| {
            for (x, place) in x.iter_mut().zip(start..) {
                *x *= dropout.factor(place);
            }
        },
    );
}

/// `x ← max(x, y)`.
pub(super) fn maximum(x: &mut Matrix<f32>, y: &Matrix<f32>) {
    let y = y.as_slice();
    over_entries(
        x,
        #[inline(always)]
        |start, x| {
            x.iter_mut().zip(&y[start..]).for_each(|(x, &y)| *x = if y > *x { y } else { *x })
        },
    );
}

/// Writes the softmax of a row of scores; returns −log of the class's share.
pub(super) fn softmax_row(scores: &[f32], class: u32, out: &mut [f32]) -> f64 {
    let largest = scores.iter().fold(f32::MIN, |m, &s| m.max(s));
    let mut total = 0.0;
    for (out, &score) in out.iter_mut().zip(scores) {
        let exp = f64::from(score - largest).exp();
        total += exp;
        *out = exp as f32;
    }
    out.iter_mut().for_each(|p| *p = (f64::from(*p) / total) as f32);
    total.ln() - f64::from(scores[class as usize] - largest)
}

/// eˣ for x from −87 to 0, below that 0; in a form that is computed for a whole vector at once.
///
/// x = n·ln 2 + r with |r| ≤ ½ ln 2; e^r by its series to r⁷, 2ⁿ by its bits.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    /// ln 2 in two parts, the first exact when multiplied by a small whole number.
    const LN2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    /// Adding it rounds to a whole number.
    const ROUND: f32 = 12_582_912.0;
    let inside = if x < -87.0 { -87.0 } else { x };
    let shifted = inside * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (inside - n * LN2.0) - n * LN2.1;
    let mut series = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = series * r + coefficient;
    }
    // The last bits of `shifted` are n itself; the rest is shifted out.
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < -87.0 { 0.0 } else { series * power }
}

/// Writes matrices side by side.
pub(super) fn concatenate(parts: &[&Matrix<f32>], out: &mut Matrix<f32>) {
    let (width, work) = (out.cols(), out.as_slice().len());
    over_rows(out.as_mut_slice(), width, work, |rows, out| {
        for (row, mut out) in rows.zip(out.chunks_exact_mut(width)) {
            for part in parts {
                let (own, rest) = out.split_at_mut(part.cols());
                own.copy_from_slice(part.row(row));
                out = rest;
            }
        }
    });
}

/// Writes the columns of a matrix from `start` on that `out` has room for.
pub(super) fn columns_from(start: usize, from: &Matrix<f32>, out: &mut Matrix<f32>) {
    let (width, work) = (out.cols(), out.as_slice().len());
    over_rows(out.as_mut_slice(), width, work, |rows, out| {
        for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
            out.copy_from_slice(&from.row(row)[start..start + width]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_exact_to_the_last_bits() {
        for k in 0..=87_000 {
            let x = -(k as f32) / 1000.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 3e-7, "exp({x}): {error:e}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1000.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert!(exp(f32::NAN).is_nan());
    }
}
