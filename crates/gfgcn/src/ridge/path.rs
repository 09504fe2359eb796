//! One factorisation, every λ.
//!
//! Let S be the smaller of the kernel matrix M (dual) and FᵀF (primal), and S = Q T Qᵀ with T
//! tridiagonal. Each training node i has a rotated row z_i: row i of Q in the dual form, of F Q in
//! the primal form. For every penalty ξ = 1/λ, with R = (T + ξI)⁻¹ (O(size) to factorise),
//!
//! ```text
//! B   = R Zᵀ Y,   V = Z B,   q_i = z_iᵀ R z_i
//! dual:    α = V;   left-out prediction of node i:  y_i − V_i / q_i
//! primal:  W = Q B; left-out prediction of node i:  y_i − (y_i − V_i) / (1 − q_i)
//! ```
//!
//! The left-out prediction is exact: what a model trained without node i says about it.
//!
//! With an intercept the constant vector must leave the problem. The dual form is reflected onto the
//! orthogonal complement of the constants (one dimension less); merely centring M would leave a
//! null vector in it, and the left-out residual would go to zero with ξ. The primal form
//! centres F and adds the leverage 1/n of the mean.
//!
//! Weights of the nodes scale all of this (`weights.rs`); coefficients and left-out predictions are those of the
//! nodes as they were.

use super::left_out::{Form, LeftOut, largest};
use super::weights::{Scaling, column_means, scaled_rows};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::{ShiftedFactor, Tridiagonal, gram_of_columns, multiply, multiply_transposed};
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Left-out nodes that a thread judges at a time.
pub(crate) const LEFT_OUT_AT_A_TIME: usize = 128;

/// The ridge problems of all λ for one set of training nodes.
#[derive(Clone, Debug)]
pub struct RidgePath {
    form: Form,
    reduced: Tridiagonal,
    /// Z, one row per training node.
    rows: Matrix<f64>,
    /// Zᵀ Y.
    right_side: Matrix<f64>,
    /// Y.
    targets: Matrix<f64>,
    /// The largest size in each column of Y.
    largest: Vec<f64>,
    scale: f64,
    intercept: Option<Means>,
    weights: Option<Scaling>,
}

/// What an intercept is computed from: b = mean(Y) − mean(inputs) · coefficients.
#[derive(Clone, Debug)]
struct Means {
    targets: Vec<f64>,
    /// Means of F's columns (primal) or of M's columns (dual).
    inputs: Vec<f64>,
}

/// The solution for one λ, or for several side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// W (features × targets) in the primal form, α = λΛ* (training nodes × targets) in the dual:
    /// scores are the inputs (filtered features, or kernel values with the training nodes) times
    /// this.
    pub coefficients: Matrix<f64>,
    /// One per target; zeros without an intercept.
    pub intercept: Vec<f64>,
}

/// A factorised system before it has targets.
struct System {
    form: Form,
    reduced: Tridiagonal,
    rows: Matrix<f64>,
    weights: Option<Scaling>,
}

impl System {
    fn with_targets(
        self,
        targets: Matrix<f64>,
        scale: f64,
        intercept: Option<Means>,
        context: &Context,
    ) -> Result<RidgePath> {
        let System { form, reduced, rows, weights } = self;
        let right_side = match weights.as_ref() {
            None => multiply_transposed(&rows, &targets, context)?,
            weights => multiply_transposed(&rows, &scaled_rows(targets.clone(), weights), context)?,
        };
        // Features that are all zero have no scale of their own.
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let largest = largest(&targets);
        Ok(RidgePath {
            form,
            reduced,
            rows,
            right_side,
            targets,
            largest,
            scale,
            intercept,
            weights,
        })
    }
}

impl RidgePath {
    /// min_W ½ Σ_i w_i ‖F_i W − y_i‖² + ξ/2 ‖W‖² for the linear kernel, by FᵀF.
    ///
    /// `features` is F, training nodes × features; `targets` is Y, training nodes × targets; `weights` are w > 0, one per
    /// training node, all 1 if there are none. Cheaper than the dual form when there are fewer features than
    /// training nodes.
    ///
    /// # Errors
    /// Weights that are not positive and finite, or that the work is cancelled.
    pub fn primal(
        mut features: Matrix<f64>,
        targets: Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        context: &Context,
    ) -> Result<Self> {
        let n = features.rows();
        let weights = Scaling::new(weights, n)?;
        let means = intercept.then(|| {
            let means = Means {
                targets: column_means(&targets, weights.as_ref()),
                inputs: column_means(&features, weights.as_ref()),
            };
            features.add_to_rows(-1.0, &means.inputs);
            means
        });
        let mut features = scaled_rows(features, weights.as_ref());
        let squares: f64 = features.as_slice().iter().map(|v| v * v).sum();
        let reduced = Tridiagonal::reduce(gram_of_columns(&features, context)?, context)?;
        reduced.rotate_rows(&mut features, context)?;
        let system = System { form: Form::Primal, reduced, rows: features, weights };
        system.with_targets(targets, squares / n as f64, means, context)
    }

    /// α = (M + ξ diag(w)⁻¹)⁻¹ Y for any kernel matrix M of the training nodes; `weights` are w, as in
    /// [`RidgePath::primal`].
    ///
    /// # Errors
    /// Weights that are not positive and finite, or that the work is cancelled.
    pub fn dual(
        mut gram: Matrix<f64>,
        targets: Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        context: &Context,
    ) -> Result<Self> {
        let n = gram.rows();
        let weights = Scaling::new(weights, n)?;
        let means = intercept.then(|| Means {
            targets: column_means(&targets, weights.as_ref()),
            inputs: column_means(&gram, weights.as_ref()),
        });
        if let Some(weights) = &weights {
            weights.scale_both(&mut gram);
        }
        let (system, mut rows) = if intercept {
            let constants = || vec![(n as f64).sqrt().recip(); n];
            without(gram, weights.as_ref().map_or_else(constants, Scaling::direction))
        } else {
            (gram, Matrix::from_fn(n, n, |i, j| f64::from(i == j)))
        };
        let scale = trace(&system) / n as f64;
        let reduced = Tridiagonal::reduce(system, context)?;
        reduced.rotate_rows(&mut rows, context)?;
        let system = System { form: Form::Dual, reduced, rows, weights };
        system.with_targets(targets, scale, means, context)
    }

    /// The mean of M's diagonal (centred with an intercept): the unit in which penalties are
    /// searched, so that multiplying the features by β changes nothing.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Y.
    pub fn targets(&self) -> &Matrix<f64> {
        &self.targets
    }

    /// Solves for one penalty ξ = 1/λ > 0.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] when ξ is too small for double precision.
    pub fn solve(&self, xi: f64, context: &Context) -> Result<Solution> {
        self.finish(&self.shifted(xi)?.solve(&self.right_side), context)
    }

    fn shifted(&self, xi: f64) -> Result<ShiftedFactor> {
        let too_small = |pivot| Error::NotPositiveDefinite { pivot, lambda: xi.recip() };
        self.reduced.shift(xi).map_err(too_small)
    }

    /// Solves for several penalties, their target columns side by side.
    ///
    /// The second value says which penalties were large enough for double precision; the columns
    /// of the others are zero.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub fn solve_side_by_side(
        &self,
        penalties: &[f64],
        context: &Context,
    ) -> Result<(Solution, Vec<bool>)> {
        let factors = self.factors(penalties);
        let usable = factors.iter().map(Option::is_some).collect();
        Ok((self.finish(&self.rotated_solutions(&factors), context)?, usable))
    }

    /// From B to the coefficients of the inputs and the intercept of each column.
    fn finish(&self, rotated: &Matrix<f64>, context: &Context) -> Result<Solution> {
        let coefficients = match self.form {
            Form::Primal => self.reduced.rotate_back(rotated, context)?,
            Form::Dual => {
                let scaled = multiply(&self.rows, rotated, context)?;
                scaled_rows(scaled, self.weights.as_ref())
            }
        };
        let mut intercept = vec![0.0; coefficients.cols()];
        if let Some(means) = &self.intercept {
            let targets = means.targets.len();
            for (c, b) in intercept.iter_mut().enumerate() {
                let inputs = means.inputs.iter().enumerate();
                *b = means.targets[c % targets]
                    - inputs.map(|(j, mean)| mean * coefficients[(j, c)]).sum::<f64>();
            }
        }
        Ok(Solution { coefficients, intercept })
    }

    /// What the model trained without each node predicts for it, for several penalties.
    ///
    /// Per penalty, calls `visit(sum, node, prediction)` for the training nodes in chunks and
    /// `combine`s the chunks' sums in the order of the nodes. `None` stands for a penalty too small
    /// for double precision.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub fn leave_one_out<S: Default + Clone + Send>(
        &self,
        penalties: &[f64],
        context: &Context,
        visit: impl Fn(&mut S, usize, &[f64]) + Sync,
        combine: impl Fn(&mut S, S),
    ) -> Result<Vec<Option<S>>> {
        const CHUNK: usize = LEFT_OUT_AT_A_TIME;
        let factors = self.factors(penalties);
        let t = self.targets.cols();
        let solutions = self.rotated_solutions(&factors);
        let nodes = self.rows.rows();
        let formula = LeftOut {
            form: self.form,
            targets: &self.targets,
            means: self.intercept.as_ref().map(|means| means.targets.as_slice()),
            weights: self.weights.as_ref(),
            largest: &self.largest,
        };
        let chunks: Vec<Vec<S>> = (0..nodes.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                context.check()?;
                let range = chunk * CHUNK..nodes.min((chunk + 1) * CHUNK);
                let rows: Vec<usize> = range.clone().collect();
                let fitted = multiply(&self.rows.select_rows(&rows), &solutions, context)?;
                let forms = self.quadratic_forms(&factors, range.clone());
                let mut sums = vec![S::default(); penalties.len()];
                let mut left_out = vec![0.0; t];
                for (k, node) in range.enumerate() {
                    for p in 0..penalties.len() {
                        let fit = &fitted.row(k)[p * t..(p + 1) * t];
                        formula.predict(node, fit, forms[(p, k)], &mut left_out);
                        visit(&mut sums[p], node, &left_out);
                    }
                }
                Ok(sums)
            })
            .collect::<Result<_>>()?;
        let mut total = vec![S::default(); penalties.len()];
        for sums in chunks {
            total.iter_mut().zip(sums).for_each(|(total, sum)| combine(total, sum));
        }
        Ok(total.into_iter().zip(&factors).map(|(sum, f)| f.as_ref().map(|_| sum)).collect())
    }

    /// What the model trained without each node predicts for it at one penalty, training nodes × targets.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] when ξ is too small for double precision, or that the work is cancelled.
    pub fn left_out(&self, xi: f64, context: &Context) -> Result<Matrix<f64>> {
        self.shifted(xi)?;
        let scores = self.leave_one_out(
            &[xi],
            context,
            |all: &mut Vec<f64>, _, scores| all.extend_from_slice(scores),
            |all, part| all.extend(part),
        )?;
        let scores = scores.into_iter().flatten().next().unwrap_or_default();
        Matrix::from_rows(self.targets.rows(), self.targets.cols(), scores)
    }

    fn factors(&self, penalties: &[f64]) -> Vec<Option<ShiftedFactor>> {
        penalties.iter().map(|&xi| self.reduced.shift(xi).ok()).collect()
    }

    /// B of every penalty, side by side; zeros where there is no factorisation.
    fn rotated_solutions(&self, factors: &[Option<ShiftedFactor>]) -> Matrix<f64> {
        let t = self.right_side.cols();
        let mut out = Matrix::zeros(self.right_side.rows(), factors.len() * t);
        for (p, factor) in factors.iter().enumerate() {
            let Some(factor) = factor else { continue };
            let b = factor.solve(&self.right_side);
            for k in 0..b.rows() {
                out.row_mut(k)[p * t..(p + 1) * t].copy_from_slice(b.row(k));
            }
        }
        out
    }

    /// q_i for each penalty (rows) and node of the range (columns).
    fn quadratic_forms(
        &self,
        factors: &[Option<ShiftedFactor>],
        nodes: std::ops::Range<usize>,
    ) -> Matrix<f64> {
        const LANES: usize = 32;
        let size = self.rows.cols();
        let mut out = Matrix::zeros(factors.len(), nodes.len());
        let mut vectors = vec![[0.0; LANES]; size];
        for first in nodes.clone().step_by(LANES) {
            let count = LANES.min(nodes.end - first);
            for lane in 0..count {
                for (vector, &value) in vectors.iter_mut().zip(self.rows.row(first + lane)) {
                    vector[lane] = value;
                }
            }
            for (p, factor) in factors.iter().enumerate() {
                let Some(factor) = factor else { continue };
                let forms = factor.quadratic_forms(&vectors);
                let start = first - nodes.start;
                out.row_mut(p)[start..start + count].copy_from_slice(&forms[..count]);
            }
        }
        out
    }
}

fn trace(m: &Matrix<f64>) -> f64 {
    (0..m.rows()).map(|i| m[(i, i)]).sum()
}

/// Reflects M so that the direction u, of unit length, becomes the first coordinate and drops that coordinate.
///
/// Returns the matrix of size n−1 and the n rows of the basis it is written in. The reflection is
/// P = I − v vᵀ / v_0 with v = u + e_0, which maps u to −e_0.
fn without(mut m: Matrix<f64>, u: Vec<f64>) -> (Matrix<f64>, Matrix<f64>) {
    let n = m.rows();
    let mut v = u;
    v[0] += 1.0;
    let v0 = v[0]; // vᵀv / 2
    let mv: Vec<f64> = (0..n).map(|i| (0..n).map(|j| m[(i, j)] * v[j]).sum::<f64>() / v0).collect();
    let vmv = (0..n).map(|i| v[i] * mv[i]).sum::<f64>() / v0;
    for i in 0..n {
        for j in 0..n {
            m[(i, j)] += vmv * v[i] * v[j] - v[i] * mv[j] - mv[i] * v[j];
        }
    }
    let reflected =
        Matrix::from_fn(n - 1, n - 1, |i, j| 0.5 * (m[(i + 1, j + 1)] + m[(j + 1, i + 1)]));
    let rows = Matrix::from_fn(n, n - 1, |i, j| f64::from(i == j + 1) - v[i] * v[j + 1] / v0);
    (reflected, rows)
}
