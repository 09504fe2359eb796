//! One ridge problem: solved for one λ by a Cholesky factorisation, or turned into a path.

use super::path::{RidgePath, Solution};
use super::weights::{Scaling, column_means, scaled_rows};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, gram_of_columns, multiply_transposed};
use crate::matrix::Matrix;

/// The data of a ridge problem, by the side it is solved on.
///
/// ```
/// use gfgcn::{context::Context, matrix::Matrix, ridge::Problem};
/// let features = Matrix::from_fn(3, 1, |i, _| i as f64 - 1.0);
/// let targets = Matrix::from_rows(3, 1, vec![-1.0, -1.0, 1.0])?;
/// let solution = Problem::Primal(features).solve(&targets, None, false, 1.0, &Context::default())?;
/// assert!((solution.coefficients[(0, 0)] - 2.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Problem {
    /// F, training nodes × features, for the linear kernel.
    Primal(Matrix<f64>),
    /// M, the kernel values of all pairs of training nodes.
    Dual(Matrix<f64>),
}

impl Problem {
    /// Prepares the solutions of all λ for the targets Y, training nodes × targets, each node's squared error counting as
    /// often as its weight says.
    ///
    /// # Errors
    /// Weights that are not positive and finite, or that the work is cancelled.
    pub fn path(
        self,
        targets: Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        context: &Context,
    ) -> Result<RidgePath> {
        match self {
            Problem::Primal(features) => {
                RidgePath::primal(features, targets, weights, intercept, context)
            }
            Problem::Dual(gram) => RidgePath::dual(gram, targets, weights, intercept, context),
        }
    }

    /// Solves for one penalty ξ = 1/λ > 0, at a fraction of the work of a path.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] when ξ is too small for double precision, or as [`Problem::path`].
    pub fn solve(
        self,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        xi: f64,
        context: &Context,
    ) -> Result<Solution> {
        let weights = Scaling::new(weights, targets.rows())?;
        let weights = weights.as_ref();
        match self {
            Problem::Primal(features) => {
                solve_primal(features, targets, weights, intercept, xi, context)
            }
            Problem::Dual(gram) => solve_dual(gram, targets, weights, intercept, xi, context),
        }
    }
}

/// W = (FᵀF + ξI)⁻¹ FᵀY, with centred F for an intercept, and F and Y scaled by the weights.
fn solve_primal(
    mut features: Matrix<f64>,
    targets: &Matrix<f64>,
    weights: Option<&Scaling>,
    intercept: bool,
    xi: f64,
    context: &Context,
) -> Result<Solution> {
    let means = intercept.then(|| {
        let means = column_means(&features, weights);
        features.add_to_rows(-1.0, &means);
        means
    });
    let features = scaled_rows(features, weights);
    let factor = factorise(gram_of_columns(&features, context)?, xi, context)?;
    let scaled = scaled_rows(targets.clone(), weights);
    let coefficients = factor.solve(multiply_transposed(&features, &scaled, context)?, context)?;
    let mut constants = vec![0.0; coefficients.cols()];
    if let Some(means) = means {
        let of_targets = column_means(targets, weights);
        for (c, constant) in constants.iter_mut().enumerate() {
            let of_scores: f64 =
                means.iter().enumerate().map(|(j, mean)| mean * coefficients[(j, c)]).sum();
            *constant = of_targets[c] - of_scores;
        }
    }
    Ok(Solution { coefficients, intercept: constants })
}

/// α = (M + ξI)⁻¹ (Y − 1bᵀ); b is 0, or with an intercept makes the columns of α sum to 0. With weights, M, Y, 1 and α are
/// scaled.
fn solve_dual(
    mut gram: Matrix<f64>,
    targets: &Matrix<f64>,
    weights: Option<&Scaling>,
    intercept: bool,
    xi: f64,
    context: &Context,
) -> Result<Solution> {
    let n = gram.rows();
    if let Some(weights) = weights {
        weights.scale_both(&mut gram);
    }
    let factor = factorise(gram, xi, context)?;
    let scaled = scaled_rows(targets.clone(), weights);
    let mut coefficients = factor.solve(scaled, context)?;
    let mut constants = vec![0.0; coefficients.cols()];
    if intercept {
        let root = |i: usize| weights.map_or(1.0, |weights| weights.root(i));
        let ones = factor.solve(Matrix::from_fn(n, 1, |i, _| root(i)), context)?;
        let total: f64 = (0..n).map(|i| root(i) * ones[(i, 0)]).sum();
        for (c, constant) in constants.iter_mut().enumerate() {
            let sum: f64 = (0..n).map(|i| root(i) * coefficients[(i, c)]).sum();
            *constant = sum / total;
            (0..n).for_each(|i| coefficients[(i, c)] -= *constant * ones[(i, 0)]);
        }
    }
    let coefficients = scaled_rows(coefficients, weights);
    Ok(Solution { coefficients, intercept: constants })
}

fn factorise(mut symmetric: Matrix<f64>, xi: f64, context: &Context) -> Result<Cholesky> {
    (0..symmetric.rows()).for_each(|i| symmetric[(i, i)] += xi);
    Cholesky::new(symmetric, context)?
        .map_err(|pivot| Error::NotPositiveDefinite { pivot, lambda: xi.recip() })
}
