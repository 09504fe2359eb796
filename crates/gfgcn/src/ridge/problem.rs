//! One ridge problem: solved for one λ by a Cholesky factorisation, or turned into a path.

use super::build::Purpose;
use super::left_out::{Form, LeftOut, zeros_of};
use super::path::{RidgePath, Solution};
use super::weights::{Scaling, column_means, scaled_rows};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, gram_of_columns, multiply, multiply_transposed, solve_refined};
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
    /// Prepares the solutions of all λ, and what else the purpose asks for.
    ///
    /// `targets` are Y, training nodes × targets; `weights` are w > 0, one per training node, all 1 if there are none: each
    /// node's squared error counts as often as its weight says. The primal form,
    /// min_W ½ Σ_i w_i ‖F_i W − y_i‖² + ξ/2 ‖W‖², is cheaper where there are fewer features than training nodes; the dual
    /// one, α = (M + ξ diag(w)⁻¹)⁻¹ Y, is there for every kernel.
    ///
    /// # Errors
    /// Weights that are not positive and finite, or that the work is cancelled.
    pub fn path(
        self,
        purpose: Purpose,
        targets: Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        context: &Context,
    ) -> Result<RidgePath> {
        match self {
            Problem::Primal(features) => {
                RidgePath::primal(purpose, features, targets, weights, intercept, context)
            }
            Problem::Dual(gram) => {
                RidgePath::dual(purpose, gram, targets, weights, intercept, context)
            }
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
        let side = Side { targets, weights: weights.as_ref(), intercept, xi, context };
        Ok(match self {
            Problem::Primal(features) => side.primal_alone(features)?,
            Problem::Dual(gram) => side.dual(gram)?.0,
        })
    }

    /// As [`Problem::solve`], with what the model trained without each node predicts for it, training nodes × targets. That
    /// about doubles the work.
    ///
    /// # Errors
    /// As [`Problem::solve`].
    pub fn solve_left_out(
        self,
        targets: &Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        xi: f64,
        context: &Context,
    ) -> Result<(Solution, Matrix<f64>)> {
        let weights = Scaling::new(weights, targets.rows())?;
        let side = Side { targets, weights: weights.as_ref(), intercept, xi, context };
        match self {
            Problem::Primal(features) => {
                let (solution, solved) = side.primal(features)?;
                let left_out = side.left_out_primal(solved, &solution.coefficients)?;
                Ok((solution, left_out))
            }
            Problem::Dual(gram) => {
                let (solution, solved) = side.dual(gram)?;
                Ok((solution, side.left_out_dual(solved)?))
            }
        }
    }
}

/// What both sides of a problem share.
struct Side<'a> {
    targets: &'a Matrix<f64>,
    weights: Option<&'a Scaling>,
    intercept: bool,
    xi: f64,
    context: &'a Context,
}

/// A primal problem: F and Y, scaled by the weights, and what F was centred by.
struct Prepared {
    features: Matrix<f64>,
    targets: Matrix<f64>,
    means: Option<Vec<f64>>,
}

/// What left-out predictions follow from besides W: F, centred and scaled, and FᵀF + ξI.
struct SolvedPrimal {
    features: Matrix<f64>,
    factor: Cholesky,
}

/// The same: M + ξI, α of the scaled problem, and with an intercept (M + ξI)⁻¹s.
struct SolvedDual {
    factor: Cholesky,
    coefficients: Matrix<f64>,
    ones: Option<Matrix<f64>>,
}

impl Side<'_> {
    /// W = (FᵀF + ξI)⁻¹ FᵀY, with centred F for an intercept, and F and Y scaled by the weights.
    fn primal(&self, features: Matrix<f64>) -> Result<(Solution, SolvedPrimal)> {
        let Prepared { features, targets, means } = self.prepared(features);
        let (factor, coefficients) = self.solve_primal(&features, &targets)?;
        let solution = self.with_constants(coefficients, means.as_deref());
        Ok((solution, SolvedPrimal { features, factor }))
    }

    /// The same where no left-out predictions are made of the factor: single precision may do for it then.
    fn primal_alone(&self, features: Matrix<f64>) -> Result<Solution> {
        let Prepared { features, targets, means } = self.prepared(features);
        let coefficients = match solve_refined(&features, &targets, self.xi, self.context)? {
            Some(coefficients) => coefficients,
            None => self.solve_primal(&features, &targets)?.1,
        };
        Ok(self.with_constants(coefficients, means.as_deref()))
    }

    fn prepared(&self, mut features: Matrix<f64>) -> Prepared {
        let means = self.intercept.then(|| {
            let means = column_means(&features, self.weights);
            features.add_to_rows(-1.0, &means);
            means
        });
        let features = scaled_rows(features, self.weights);
        let targets = scaled_rows(self.targets.clone(), self.weights);
        Prepared { features, targets, means }
    }

    fn solve_primal(
        &self,
        features: &Matrix<f64>,
        targets: &Matrix<f64>,
    ) -> Result<(Cholesky, Matrix<f64>)> {
        let gram = gram_of_columns(features, self.context)?;
        // A factorisation has little to do for a second thread.
        let (factor, right_side) = rayon::join(
            || self.factorise(gram),
            || multiply_transposed(features, targets, self.context),
        );
        let (factor, right_side) = (factor?, right_side?);
        let coefficients = factor.solve(right_side, self.context)?;
        Ok((factor, coefficients))
    }

    /// With the constants that follow from the means of the columns of F.
    fn with_constants(&self, coefficients: Matrix<f64>, means: Option<&[f64]>) -> Solution {
        let mut intercept = vec![0.0; coefficients.cols()];
        if let Some(means) = means {
            let of_targets = column_means(self.targets, self.weights);
            for (c, constant) in intercept.iter_mut().enumerate() {
                let of_scores: f64 =
                    means.iter().enumerate().map(|(j, mean)| mean * coefficients[(j, c)]).sum();
                *constant = of_targets[c] - of_scores;
            }
        }
        Solution { coefficients, intercept }
    }

    /// α = (M + ξI)⁻¹ (Y − 1bᵀ); b is 0, or with an intercept makes the columns of α sum to 0. With weights, M, Y, 1 and α are
    /// scaled.
    fn dual(&self, mut gram: Matrix<f64>) -> Result<(Solution, SolvedDual)> {
        let n = gram.rows();
        if let Some(weights) = self.weights {
            weights.scale_both(&mut gram);
        }
        let factor = self.factorise(gram)?;
        let scaled = scaled_rows(self.targets.clone(), self.weights);
        let mut coefficients = factor.solve(scaled, self.context)?;
        let mut constants = vec![0.0; coefficients.cols()];
        let mut inverse_of_ones = None;
        if self.intercept {
            let ones = factor.solve(Matrix::from_fn(n, 1, |i, _| self.root(i)), self.context)?;
            let total = self.total(&ones);
            for (c, constant) in constants.iter_mut().enumerate() {
                let sum: f64 = (0..n).map(|i| self.root(i) * coefficients[(i, c)]).sum();
                *constant = sum / total;
                (0..n).for_each(|i| coefficients[(i, c)] -= *constant * ones[(i, 0)]);
            }
            inverse_of_ones = Some(ones);
        }
        let solution = Solution {
            coefficients: scaled_rows(coefficients.clone(), self.weights),
            intercept: constants,
        };
        Ok((solution, SolvedDual { factor, coefficients, ones: inverse_of_ones }))
    }

    /// From q_i = F_i (FᵀF + ξI)⁻¹ F_iᵀ = ‖L⁻¹ F_iᵀ‖².
    fn left_out_primal(&self, solved: SolvedPrimal, weights: &Matrix<f64>) -> Result<Matrix<f64>> {
        let SolvedPrimal { features, factor } = solved;
        let fitted = multiply(&features, weights, self.context)?;
        let rows = factor.solve_rows(features, self.context)?;
        let means = self.intercept.then(|| column_means(self.targets, self.weights));
        Ok(self.left_out(Form::Primal, means.as_deref(), &fitted, |i| squared_length(rows.row(i))))
    }

    /// From the diagonal of (M + ξI)⁻¹; with an intercept, of its part that is orthogonal to s.
    fn left_out_dual(&self, solved: SolvedDual) -> Result<Matrix<f64>> {
        let SolvedDual { factor, coefficients, ones } = solved;
        let n = coefficients.rows();
        let identity = Matrix::from_fn(n, n, |i, j| f64::from(i == j));
        let rows = factor.solve_rows(identity, self.context)?;
        let ones = ones.map(|ones| (self.total(&ones), ones));
        let along = |i: usize| match &ones {
            Some((total, ones)) => ones[(i, 0)] * ones[(i, 0)] / total,
            None => 0.0,
        };
        let form = |i: usize| squared_length(rows.row(i)) - along(i);
        Ok(self.left_out(Form::Dual, None, &coefficients, form))
    }

    fn left_out(
        &self,
        form: Form,
        means: Option<&[f64]>,
        fitted: &Matrix<f64>,
        quadratic_form: impl Fn(usize) -> f64,
    ) -> Matrix<f64> {
        let (targets, weights, zeros) = (self.targets, self.weights, zeros_of(self.targets));
        let formula = LeftOut { form, targets, means, weights, zeros: &zeros };
        let mut out = Matrix::zeros(targets.rows(), targets.cols());
        let growth = formula.growth(self.xi);
        for i in 0..targets.rows() {
            formula.of(i).predict(fitted.row(i), quadratic_form(i), growth, out.row_mut(i));
        }
        out
    }

    /// s_i.
    fn root(&self, node: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights.root(node))
    }

    /// sᵀ (M + ξI)⁻¹ s.
    fn total(&self, ones: &Matrix<f64>) -> f64 {
        (0..ones.rows()).map(|i| self.root(i) * ones[(i, 0)]).sum()
    }

    fn factorise(&self, symmetric: Matrix<f64>) -> Result<Cholesky> {
        factorise(symmetric, self.xi, self.context)
    }
}

/// The factor of S + ξI.
///
/// # Errors
/// [`Error::NotPositiveDefinite`] when ξ is too small for double precision, or that the work is cancelled.
pub(crate) fn factorise(
    mut symmetric: Matrix<f64>,
    xi: f64,
    context: &Context,
) -> Result<Cholesky> {
    (0..symmetric.rows()).for_each(|i| symmetric[(i, i)] += xi);
    let too_small = |pivot| Error::NotPositiveDefinite { pivot, lambda: xi.recip() };
    Cholesky::new(symmetric, context)?.map_err(too_small)
}

fn squared_length(row: &[f64]) -> f64 {
    row.iter().map(|v| v * v).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;
    use crate::linalg::gram_of_rows;
    use crate::ridge::penalty_grid;

    fn chance(seed: usize) -> f64 {
        (mix(seed as u64) % 1000) as f64 / 1000.0 - 0.5
    }

    /// Training without each node in turn, and predicting it.
    #[test]
    fn left_out_predictions_are_those_of_training_without_the_node() {
        let (n, context) = (14, Context::default());
        let targets = Matrix::from_fn(n, 2, |i, j| chance(i + 100 * j) + 1.0);
        let all: Vec<f64> = (0..n).map(|i| 1.5 + chance(i + 500)).collect();
        for (columns, intercept, weighted, xi) in [
            (5, false, false, 0.3),
            (5, true, false, 0.1),
            (5, true, true, 2.0),
            (30, false, true, 0.5),
        ] {
            let features = Matrix::from_fn(n, columns, |i, j| chance(31 * i + j + 7000));
            let weights = weighted.then_some(all.as_slice());
            let dual = || Problem::Dual(gram_of_rows(&features, &context).unwrap());
            let primal = || Problem::Primal(features.clone());
            for (problem, path) in [(primal(), primal()), (dual(), dual())] {
                let (solution, left_out) =
                    problem.solve_left_out(&targets, weights, intercept, xi, &context).unwrap();
                for purpose in [Purpose::Solutions, Purpose::LeftOut] {
                    let targets = targets.clone();
                    let path = path.clone().path(purpose, targets, weights, intercept, &context);
                    let path = path.unwrap();
                    let solved = path.solve(xi, &context).unwrap();
                    assert!(close(&solution.coefficients, &solved.coefficients), "{purpose:?}");
                    if purpose == Purpose::LeftOut {
                        let by_path = path.left_out(xi, &context).unwrap();
                        assert!(close(&left_out, &by_path), "{columns} columns: the path");
                    }
                }
            }
            let (_, left_out) =
                dual().solve_left_out(&targets, weights, intercept, xi, &context).unwrap();
            for i in 0..n {
                let rest: Vec<usize> = (0..n).filter(|&k| k != i).collect();
                let own: Vec<f64> = rest.iter().map(|&k| all[k]).collect();
                let problem = Problem::Primal(features.select_rows(&rest));
                let weights = weighted.then_some(own.as_slice());
                let targets = targets.select_rows(&rest);
                let without = problem.solve(&targets, weights, intercept, xi, &context).unwrap();
                for t in 0..2 {
                    let products =
                        (0..columns).map(|j| features[(i, j)] * without.coefficients[(j, t)]);
                    let expected = products.sum::<f64>() + without.intercept[t];
                    let found = left_out[(i, t)];
                    assert!((found - expected).abs() < 1e-10, "node {i}: {found} {expected}");
                }
            }
        }
    }

    /// Nodes that share nothing with any other are predicted 0 without themselves, at every penalty that is searched, however
    /// little the smallest leaves of what is not rounding.
    #[test]
    fn what_no_other_node_reaches_is_predicted_zero() {
        let (n, context) = (60, Context::default());
        // Among the others: a reduction that came to them first would never mix them with these.
        let alone = |i: usize| i % 10 == 3;
        let targets = Matrix::from_fn(n, 3, |i, j| f64::from(i % 3 == j));
        for columns in [46, 120] {
            let features = Matrix::from_fn(n, columns, |i, j| match (alone(i), j < 6) {
                (true, _) => f64::from(i / 10 == j),
                (false, true) => 0.0,
                (false, false) => chance(31 * i + j + 7000),
            });
            let dual = Problem::Dual(gram_of_rows(&features, &context).unwrap());
            for problem in [Problem::Primal(features), dual] {
                let path = problem.clone();
                let path = path.path(Purpose::LeftOut, targets.clone(), None, false, &context);
                let path = path.unwrap();
                for xi in penalty_grid(path.scale()) {
                    let once = problem.clone().solve_left_out(&targets, None, false, xi, &context);
                    for left_out in [path.left_out(xi, &context).unwrap(), once.unwrap().1] {
                        for i in 0..n {
                            let row = left_out.row(i);
                            assert_eq!(row == [0.0; 3], alone(i), "{columns}, {xi:e}: {row:?}");
                        }
                    }
                }
            }
        }
    }

    fn close(one: &Matrix<f64>, other: &Matrix<f64>) -> bool {
        let pairs = one.as_slice().iter().zip(other.as_slice());
        one.rows() == other.rows() && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-10)
    }
}
