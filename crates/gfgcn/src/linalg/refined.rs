//! Normal equations, factorised in single precision and solved to double precision.
//!
//! Nearly all of the work for (FᵀF + ξI) W = B is the product FᵀF, and processors multiply twice as fast in single
//! precision. A solution by such a factor is good to some five digits. Its residual, computed in double precision from F
//! itself, is solved for by the same factor, and each such step adds as many digits again (iterative refinement, as in
//! LAPACK's `dsposv`).

use super::cholesky::{factorise, solve};
use super::pieces::Pieces;
use super::{multiply_transposed, view_mut};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::simd::Simd;
use faer::{Accum, MatMut, MatRef};
use rayon::prelude::*;
use std::mem;

/// Rows of F that are in single precision at a time.
const PANEL: usize = 256;
/// What rounding leaves of a residual, as a share of the right side.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// A step that leaves more than this of the residual adds too few digits: double precision is faster then.
const LEAST_PROGRESS: f64 = 1e-2;

/// Whether residuals of so many columns are so much less work than FᵀF for so many rows and features.
fn pays(rows: usize, features: usize, columns: usize) -> bool {
    features >= 256.max(32 * columns) && rows >= features && rows * features * features >= 1 << 27
}

/// (FᵀF + ξI)⁻¹ Fᵀ Y, to the accuracy of a factor in double precision; `None` where that is faster or more than single
/// precision can tell apart: problems that are small or ill-conditioned, numbers beyond its range.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Panics
/// If F and Y have not as many rows.
pub(crate) fn solve_refined(
    features: &Matrix<f64>,
    targets: &Matrix<f64>,
    xi: f64,
    context: &Context,
) -> Result<Option<Matrix<f64>>> {
    let (rows, d) = (features.rows(), features.cols());
    if !pays(rows, d, targets.cols()) {
        return Ok(None);
    }
    let gram = regularised_gram(features, xi as f32, context)?;
    // A factorisation has little to do for a second thread.
    let (factor, right_side) = rayon::join(
        || Factor::new(gram, context),
        || multiply_transposed(features, targets, context),
    );
    let (Some(factor), right_side) = (factor?, right_side?) else { return Ok(None) };
    let mut solution = Matrix::zeros(d, targets.cols());
    let mut residual = right_side.clone();
    let mut left = 1.0;
    loop {
        solution.add_scaled(1.0, &factor.solve(&residual, context)?);
        residual = right_side.clone();
        residual.add_scaled(-1.0, &multiply_by_gram(features, &solution, context)?);
        residual.add_scaled(-xi, &solution);
        let before = mem::replace(&mut left, share(&residual, &right_side));
        // What is not a number is none either.
        let progress = left <= LEAST_PROGRESS * before;
        if !progress {
            return Ok((left <= ROUNDING).then_some(solution));
        }
        // The next step leaves as small a share of this residual as this one did of the last.
        if left * left < f64::EPSILON * before {
            solution.add_scaled(1.0, &factor.solve(&residual, context)?);
            return Ok(Some(solution));
        }
    }
}

/// FᵀF + ξI in single precision, by columns; the lower triangle counts.
fn regularised_gram(features: &Matrix<f64>, xi: f32, context: &Context) -> Result<Matrix<f32>> {
    let (rows, d) = (features.rows(), features.cols());
    let pieces = Pieces::of(rows * d * d, context);
    // Two sums, so that threads do not meet after every panel.
    let half = (rows / 2).next_multiple_of(PANEL).min(rows);
    let (first, second) = features.as_slice().split_at(half * d);
    let (gram, other) =
        rayon::join(|| rounded_gram(first, d, &pieces), || rounded_gram(second, d, &pieces));
    let (mut gram, other) = (gram?, other?);
    gram.as_mut_slice().iter_mut().zip(other.as_slice()).for_each(|(sum, other)| *sum += other);
    (0..d).for_each(|j| gram[(j, j)] += xi);
    Ok(gram)
}

/// The product of some rows of F, in single precision, with themselves.
fn rounded_gram(rows: &[f64], d: usize, pieces: &Pieces<'_>) -> Result<Matrix<f32>> {
    /// Rows that a thread rounds at a time.
    const LINES: usize = 32;
    let mut gram = Matrix::zeros(d, d);
    let mut panel = Matrix::zeros(PANEL.min(rows.len() / d), d);
    for rows in rows.chunks(PANEL * d) {
        let panel = &mut panel.as_mut_slice()[..rows.len()];
        let lines = panel.par_chunks_mut(LINES * d).zip(rows.par_chunks(LINES * d));
        lines.for_each(|(panel, rows)| {
            panel.iter_mut().zip(rows).for_each(|(out, &value)| *out = value as f32);
        });
        let panel = MatRef::from_row_major_slice(panel, rows.len() / d, d);
        let sums = MatMut::from_column_major_slice_mut(gram.as_mut_slice(), d, d);
        pieces.multiply_by_itself(Accum::Add, sums, panel.transpose(), 1.0)?;
    }
    Ok(gram)
}

/// FᵀF W for a few columns W. Each row of F is read once: for its product with W, and while it is at hand for the sums.
fn multiply_by_gram(
    features: &Matrix<f64>,
    w: &Matrix<f64>,
    context: &Context,
) -> Result<Matrix<f64>> {
    /// Sums of some rows each, which are added in their order: as many as threads have use for, and no more than fit beside the
    /// factor.
    const PARTS: usize = 16;
    /// Rows between two questions whether the work is still wanted.
    const UNASKED: usize = 1024;
    let (d, columns) = (features.cols(), w.cols());
    let at_once = features.rows().div_ceil(PARTS).max(128);
    let transposed = Matrix::from_fn(columns, d, |c, j| w[(j, c)]);
    let sum = |rows: &[f64]| {
        let mut sums = Matrix::zeros(columns, d);
        for rows in rows.chunks(UNASKED * d) {
            context.check()?;
            Simd::detect().run(
                #[inline(always)]
                || {
                    for row in rows.chunks_exact(d) {
                        add_row(row, &transposed, &mut sums);
                    }
                },
            );
        }
        Ok(sums)
    };
    let parts: Vec<Matrix<f64>> =
        features.as_slice().par_chunks(at_once * d).map(sum).collect::<Result<_>>()?;
    let mut total = Matrix::zeros(columns, d);
    parts.iter().for_each(|part| total.add_scaled(1.0, part));
    Ok(Matrix::from_fn(d, columns, |j, c| total[(c, j)]))
}

/// Adds what a row of F contributes to each column of FᵀF W, both by columns.
#[inline(always)]
fn add_row(row: &[f64], w: &Matrix<f64>, sums: &mut Matrix<f64>) {
    for c in 0..w.rows() {
        let fitted = dot(row, w.row(c));
        for (sum, x) in sums.row_mut(c).iter_mut().zip(row) {
            *sum += fitted * x;
        }
    }
}

/// The product of two vectors, in as many sums as keep a processor busy.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 32;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// The length of a residual as a share of that of the right side, over all columns.
fn share(residual: &Matrix<f64>, right_side: &Matrix<f64>) -> f64 {
    let squares = |m: &Matrix<f64>| {
        let mut sums = vec![0.0; m.cols()];
        for row in m.as_slice().chunks(m.cols().max(1)) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
        }
        sums
    };
    let pairs = squares(residual).into_iter().zip(squares(right_side));
    // Columns of zeros are solved by zeros.
    pairs.map(|(left, all)| if left == 0.0 { 0.0 } else { left / all }).sum::<f64>().sqrt()
}

/// L of a matrix in single precision.
struct Factor {
    /// By columns, in the lower triangle.
    lower: Matrix<f32>,
}

impl Factor {
    /// `None` if a pivot is not positive.
    fn new(mut symmetric: Matrix<f32>, context: &Context) -> Result<Option<Self>> {
        let n = symmetric.rows();
        let matrix = MatMut::from_column_major_slice_mut(symmetric.as_mut_slice(), n, n);
        let factorised = factorise(matrix, &Pieces::of(n * n * n, context))?;
        Ok(factorised.is_ok().then_some(Factor { lower: symmetric }))
    }

    /// S⁻¹ B, scaled so that small residuals are in range.
    fn solve(&self, b: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        let n = self.lower.rows();
        let largest = b.as_slice().iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let mut x = Matrix::from_fn(n, b.cols(), |i, j| (b[(i, j)] / scale) as f32);
        let lower = MatRef::from_column_major_slice(self.lower.as_slice(), n, n);
        solve(lower, view_mut(&mut x), &Pieces::of(n * n * b.cols(), context))?;
        Ok(Matrix::from_fn(n, b.cols(), |i, j| scale * f64::from(x[(i, j)])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Cancel;
    use crate::data::mix;
    use crate::error::Error;
    use crate::linalg::{Cholesky, gram_of_columns};
    use rayon::ThreadPoolBuilder;

    const ROWS: usize = 1600;
    const FEATURES: usize = 300;

    fn chance(seed: usize) -> f64 {
        (mix(seed as u64) % 100_000) as f64 / 100_000.0 - 0.5
    }

    /// Features of this size, the second half of which are the first half but for so much.
    fn features(size: f64, different: f64) -> Matrix<f64> {
        let half = FEATURES / 2;
        Matrix::from_fn(ROWS, FEATURES, |i, j| {
            let same = if j < half { 0.0 } else { chance(1000 * i + j - half) };
            size * (same + if j < half { 1.0 } else { different } * chance(1000 * i + j))
        })
    }

    fn targets() -> Matrix<f64> {
        Matrix::from_fn(ROWS, 4, |i, c| if c == 2 { 0.0 } else { chance(7 * i + c) })
    }

    /// By a factor in double precision.
    fn reference(features: &Matrix<f64>, targets: &Matrix<f64>, xi: f64) -> Matrix<f64> {
        let context = Context::default();
        let mut gram = gram_of_columns(features, &context).unwrap();
        (0..gram.rows()).for_each(|j| gram[(j, j)] += xi);
        let right_side = multiply_transposed(features, targets, &context).unwrap();
        Cholesky::new(gram, &context).unwrap().unwrap().solve(right_side, &context).unwrap()
    }

    fn distance(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
        let length = |m: &Matrix<f64>| m.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut difference = a.clone();
        difference.add_scaled(-1.0, b);
        length(&difference) / length(b)
    }

    #[test]
    fn solutions_are_those_of_a_factor_in_double_precision() {
        let (context, targets) = (Context::default(), targets());
        for (size, different, xi) in [(1.0, 1.0, 0.5), (1.0, 0.1, 1e-3), (1e-8, 1.0, 1e-18)] {
            let features = features(size, different);
            let found = solve_refined(&features, &targets, xi, &context).unwrap();
            let found = found.expect("well conditioned");
            let away = distance(&found, &reference(&features, &targets, xi));
            assert!(away < 1e-11, "{size}, {different}: {away:e}");
            assert!((0..FEATURES).all(|j| found[(j, 2)] == 0.0), "targets that are zero");
        }
    }

    #[test]
    fn what_single_precision_cannot_tell_apart_is_left_to_double_precision() {
        let (context, targets) = (Context::default(), targets());
        // Beyond its range, below it, and features that are the same in it.
        for (size, different, xi) in [(1e25, 1.0, 1.0), (1e-30, 1.0, 1e-62), (1.0, 1e-5, 1e-9)] {
            let features = features(size, different);
            let found = solve_refined(&features, &targets, xi, &context).unwrap();
            assert!(found.is_none(), "{size}, {different}");
        }
    }

    #[test]
    fn small_problems_and_those_of_many_columns_are_left_to_double_precision() {
        let context = Context::default();
        for (rows, d, columns) in [(100, 90, 2), (5000, 100, 2), (1000, 300, 1), (1600, 300, 10)] {
            let (features, targets) = (Matrix::zeros(rows, d), Matrix::zeros(rows, columns));
            assert_eq!(solve_refined(&features, &targets, 1.0, &context).unwrap(), None);
        }
    }

    #[test]
    fn any_number_of_threads_finds_the_same_bits() {
        let (features, targets) = (features(1.0, 0.1), targets());
        let of_threads = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve_refined(&features, &targets, 0.1, &Context::default())).unwrap()
        };
        let one = of_threads(1);
        assert!(one.is_some());
        assert_eq!(one, of_threads(2));
        assert_eq!(one, of_threads(5));
    }

    #[test]
    fn a_solution_is_cancelled() {
        let cancel = Cancel::default();
        cancel.cancel();
        let context = Context::default().with_cancel(cancel);
        let result = solve_refined(&features(1.0, 1.0), &targets(), 1.0, &context);
        assert!(matches!(result, Err(Error::Cancelled)));
    }
}
