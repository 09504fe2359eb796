//! Operations on every entry by itself.

use super::parallel::over_rows;
use crate::random::Dropout;
use gfgcn::matrix::Matrix;

fn over_entries(m: &mut Matrix<f32>, f: impl Fn(usize, &mut [f32]) + Sync) {
    let work = m.as_slice().len();
    over_rows(
        m.as_mut_slice(),
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

/// `x ← a·x + b·y`.
pub(super) fn combine(a: f32, x: &mut Matrix<f32>, b: f32, y: &Matrix<f32>) {
    let y = y.as_slice();
    over_entries(
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
        |_, x| x.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { 0.0 }),
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
                *g = if r > 0.0 { *g } else { 0.0 };
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
                *x = if *x > 0.0 { *x } else { x.exp_m1() };
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
                *g *= if r > 0.0 { 1.0 } else { r + 1.0 };
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
