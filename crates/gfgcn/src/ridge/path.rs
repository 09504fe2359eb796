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
//!
//! On a device, systems are solved for every penalty instead (`on_device.rs`); V and q mean the same.

use super::fits::Fits;
use super::left_out::{Form, LeftOut, zeros_of};
use super::on_device::{self, OnDevice};
use super::reduced::{Reduced, too_small};
use super::weights::{Scaling, scaled_rows};
use crate::context::Context;
use crate::device::Judged;
use crate::error::Result;
use crate::linalg::ShiftedFactors;
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Left-out nodes that a thread judges at a time.
pub(crate) const LEFT_OUT_AT_A_TIME: usize = 128;

/// The ridge problems of all λ for one set of training nodes.
#[derive(Clone, Debug)]
pub struct RidgePath {
    form: Form,
    factored: Factored,
    /// Y.
    targets: Matrix<f64>,
    /// Left-out predictions of each column that are smaller are zeros before rounding.
    zeros: Vec<f64>,
    scale: f64,
    intercept: Option<Means>,
    weights: Option<Scaling>,
}

/// What serves every λ.
#[derive(Clone, Debug)]
pub(super) enum Factored {
    Here(Reduced),
    OnDevice(OnDevice),
}

/// What an intercept is computed from: b = mean(Y) − mean(inputs) · coefficients.
#[derive(Clone, Debug)]
pub(super) struct Means {
    pub(super) targets: Vec<f64>,
    /// Means of F's columns (primal) or of M's columns (dual).
    pub(super) inputs: Vec<f64>,
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

impl RidgePath {
    pub(super) fn new(
        form: Form,
        factored: Factored,
        targets: Matrix<f64>,
        scale: f64,
        intercept: Option<Means>,
        weights: Option<Scaling>,
    ) -> Self {
        // Features that are all zero have no scale of their own.
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let zeros = zeros_of(&targets);
        RidgePath { form, factored, targets, zeros, scale, intercept, weights }
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
    /// [`Error::NotPositiveDefinite`](crate::Error::NotPositiveDefinite) when ξ is too small for double precision.
    pub fn solve(&self, xi: f64, context: &Context) -> Result<Solution> {
        match &self.factored {
            Factored::Here(reduced) => {
                let factor = reduced.system.shift(&[xi]);
                if let [Some(pivot)] = *factor.failed() {
                    return Err(too_small(pivot, xi));
                }
                self.finish(reduced, &factor.solve(&reduced.right_side), context)
            }
            Factored::OnDevice(on_device) => {
                let solved = on_device.solve(&[xi], context)?.pop().flatten();
                Ok(self.of_device(solved.ok_or_else(|| too_small(0, xi))?))
            }
        }
    }

    /// The weights of filtered features that are on a device for one penalty: W of F W + b, on whichever side it is solved.
    ///
    /// # Errors
    /// As [`RidgePath::solve`].
    ///
    /// # Panics
    /// If the path was not [gathered](RidgePath::gathered) there.
    pub(crate) fn solve_weights(&self, xi: f64, context: &Context) -> Result<Solution> {
        let Factored::OnDevice(on_device) = &self.factored else {
            unreachable!("the rows are on a device");
        };
        let solved = on_device.solve(&[xi], context)?.pop().flatten();
        let (solution, constants) = solved.ok_or_else(|| too_small(0, xi))?;
        let coefficients = on_device.weights(solution, context)?;
        let intercept = constants.unwrap_or_else(|| self.constants(&coefficients));
        Ok(Solution { coefficients, intercept })
    }

    fn of_device(&self, (solution, constants): on_device::Solved) -> Solution {
        let coefficients = match self.form {
            Form::Primal => solution,
            Form::Dual => scaled_rows(solution, self.weights.as_ref()),
        };
        let intercept = constants.unwrap_or_else(|| self.constants(&coefficients));
        Solution { coefficients, intercept }
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
        match &self.factored {
            Factored::Here(reduced) => {
                let factors = reduced.system.shift(penalties);
                let solutions = factors.solve(&reduced.right_side);
                Ok((self.finish(reduced, &solutions, context)?, usable(&factors)))
            }
            Factored::OnDevice(on_device) => {
                let solved = on_device.solve(penalties, context)?;
                let usable = solved.iter().map(Option::is_some).collect();
                let size = solved.iter().flatten().map(|(solution, _)| solution.rows()).max();
                let nothing = Solution {
                    coefficients: Matrix::zeros(size.unwrap_or(0), self.targets.cols()),
                    intercept: vec![0.0; self.targets.cols()],
                };
                let each = solved.into_iter().map(|solved| {
                    solved.map_or_else(|| nothing.clone(), |solved| self.of_device(solved))
                });
                let each: Vec<Solution> = each.collect();
                let parts: Vec<&Matrix<f64>> = each.iter().map(|s| &s.coefficients).collect();
                let coefficients = Matrix::side_by_side(&parts);
                let intercept = each.iter().flat_map(|s| s.intercept.iter().copied()).collect();
                Ok((Solution { coefficients, intercept }, usable))
            }
        }
    }

    /// From B to the coefficients of the inputs and the intercept of each column.
    fn finish(
        &self,
        reduced: &Reduced,
        rotated: &Matrix<f64>,
        context: &Context,
    ) -> Result<Solution> {
        let coefficients = match self.form {
            Form::Primal => reduced.system.rotate_back(rotated, context)?,
            Form::Dual => {
                let scaled = reduced.at_nodes(rotated, context)?;
                scaled_rows(scaled, self.weights.as_ref())
            }
        };
        let intercept = self.constants(&coefficients);
        Ok(Solution { coefficients, intercept })
    }

    /// The intercept of each column of coefficients, by the means.
    fn constants(&self, coefficients: &Matrix<f64>) -> Vec<f64> {
        let mut intercept = vec![0.0; coefficients.cols()];
        if let Some(means) = &self.intercept {
            let targets = means.targets.len();
            for (c, b) in intercept.iter_mut().enumerate() {
                let inputs = means.inputs.iter().enumerate();
                *b = means.targets[c % targets]
                    - inputs.map(|(j, mean)| mean * coefficients[(j, c)]).sum::<f64>();
            }
        }
        intercept
    }

    /// What the model trained without each node predicts for it, for several penalties.
    ///
    /// Per penalty, calls `visit(sum, node, prediction)` for the training nodes in chunks and
    /// `combine`s the chunks' sums in the order of the nodes. `None` stands for a penalty too small
    /// for double precision.
    ///
    /// # Errors
    /// If the work is cancelled.
    ///
    /// # Panics
    /// If the path is one for [solutions](super::Purpose::Solutions) alone.
    pub fn leave_one_out<S: Default + Clone + Send>(
        &self,
        penalties: &[f64],
        context: &Context,
        visit: impl Fn(&mut S, usize, &[f64]) + Sync,
        combine: impl Fn(&mut S, S) + Sync,
    ) -> Result<Vec<Option<S>>> {
        let at_once = match &self.factored {
            Factored::Here(_) => penalties.len(),
            Factored::OnDevice(on_device) => on_device.penalties_at_once()?,
        };
        let mut all = Vec::with_capacity(penalties.len());
        for penalties in penalties.chunks(at_once.max(1)) {
            let mut total = vec![S::default(); penalties.len()];
            let usable = self.for_each_block(penalties, context, |fits| {
                for sums in self.visited(fits, penalties, context, &visit)? {
                    total.iter_mut().zip(sums).for_each(|(total, sum)| combine(total, sum));
                }
                Ok(())
            })?;
            let sums = total.into_iter().zip(usable);
            all.extend(sums.map(|(sum, usable)| usable.then_some(sum)));
        }
        Ok(all)
    }

    /// Whether a device judges left-out predictions: on the dual side there are few of them.
    pub(crate) fn is_judged_on_device(&self) -> bool {
        matches!(self.factored, Factored::OnDevice(_)) && self.form == Form::Primal
    }

    /// How well left-out predictions fit the targets and, where nodes have them, these classes, by a
    /// [device](RidgePath::is_judged_on_device); `None` for a penalty too small for double precision.
    ///
    /// # Errors
    /// As [`RidgePath::leave_one_out`].
    pub(crate) fn judged_on_device(
        &self,
        classes: Option<&[u32]>,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Vec<Option<Judged>>> {
        let Factored::OnDevice(on_device) = &self.factored else {
            unreachable!("the system is on a device");
        };
        let judging = self.formula().judging(classes);
        let mut all = Vec::with_capacity(penalties.len());
        for penalties in penalties.chunks(on_device.penalties_at_once()?) {
            all.extend(on_device.judge(penalties, &judging, context)?);
        }
        Ok(all)
    }

    /// The sums of each chunk of nodes, one per penalty.
    fn visited<S: Default + Clone + Send>(
        &self,
        fits: &Fits<'_>,
        penalties: &[f64],
        context: &Context,
        visit: &(impl Fn(&mut S, usize, &[f64]) + Sync),
    ) -> Result<Vec<Vec<S>>> {
        const CHUNK: usize = LEFT_OUT_AT_A_TIME;
        let (t, nodes, formula) = (self.targets.cols(), fits.nodes(), self.formula());
        let growths: Vec<f64> = penalties.iter().map(|&xi| formula.growth(xi)).collect();
        let chunks = (0..nodes.len().div_ceil(CHUNK)).into_par_iter().map(|chunk| {
            context.check()?;
            let first = nodes.start + chunk * CHUNK;
            let range = first..nodes.end.min(first + CHUNK);
            let fits = fits.of(range.clone(), context)?;
            let mut sums = vec![S::default(); penalties.len()];
            let mut left_out = vec![0.0; t];
            for (k, node) in range.enumerate() {
                let of_node = formula.of(node);
                for (p, (sum, &growth)) in sums.iter_mut().zip(&growths).enumerate() {
                    let (fit, form) = fits.at(p, k, t);
                    of_node.predict(fit, form, growth, &mut left_out);
                    visit(sum, node, &left_out);
                }
            }
            Ok(sums)
        });
        chunks.collect()
    }

    /// Hands V and q to `visit`, block by block in the order of the nodes; blocks are whole chunks. Returns which penalties were
    /// large enough for double precision.
    fn for_each_block(
        &self,
        penalties: &[f64],
        context: &Context,
        mut visit: impl FnMut(&Fits<'_>) -> Result<()> + Send,
    ) -> Result<Vec<bool>> {
        match &self.factored {
            Factored::Here(reduced) => {
                let factors = reduced.system.shift(penalties);
                let (usable, solutions) = (usable(&factors), factors.solve(&reduced.right_side));
                visit(&Fits::Here { reduced, factors, solutions })?;
                Ok(usable)
            }
            Factored::OnDevice(on_device) => {
                on_device.left_out(penalties, context, |block, parts| {
                    visit(&Fits::Fetched { parts, block })
                })
            }
        }
    }

    /// What the model trained without each node predicts for it at one penalty, training nodes × targets.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`](crate::Error::NotPositiveDefinite) when ξ is too small for double precision, or that the work is cancelled.
    ///
    /// # Panics
    /// If the path is one for [solutions](super::Purpose::Solutions) alone.
    pub fn left_out(&self, xi: f64, context: &Context) -> Result<Matrix<f64>> {
        let (t, formula) = (self.targets.cols(), self.formula());
        let growth = formula.growth(xi);
        let mut scores = Matrix::zeros(self.targets.rows(), t);
        let usable = self.for_each_block(&[xi], context, |fits| {
            let block = fits.nodes();
            let scores = &mut scores.as_mut_slice()[block.start * t..block.end * t];
            let chunks = scores.par_chunks_mut(LEFT_OUT_AT_A_TIME * t.max(1));
            chunks.enumerate().try_for_each(|(chunk, out)| {
                context.check()?;
                let first = block.start + chunk * LEFT_OUT_AT_A_TIME;
                let fits = fits.of(first..first + out.len() / t, context)?;
                for (k, out) in out.chunks_mut(t).enumerate() {
                    let (fit, form) = fits.at(0, k, t);
                    formula.of(first + k).predict(fit, form, growth, out);
                }
                Ok(())
            })
        })?;
        if usable == [true] { Ok(scores) } else { Err(too_small(0, xi)) }
    }

    fn formula(&self) -> LeftOut<'_> {
        LeftOut {
            form: self.form,
            targets: &self.targets,
            means: self.intercept.as_ref().map(|means| means.targets.as_slice()),
            weights: self.weights.as_ref(),
            zeros: &self.zeros,
        }
    }
}

/// Which penalties were large enough for double precision.
fn usable(factors: &ShiftedFactors) -> Vec<bool> {
    factors.failed().iter().map(Option::is_none).collect()
}
