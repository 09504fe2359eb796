//! From filtered rows to a solution: the closed form for one training problem.

use crate::calibration::Calibration;
use crate::context::Context;
use crate::driver::Filtered;
use crate::error::Result;
use crate::head::{Head, Supervision};
use crate::kernel::Kernel;
use crate::linalg::multiply_transposed;
use crate::matrix::Matrix;
use crate::predictor::Predictor;
use crate::ridge::{
    Candidate, Posed, Purpose, Ridge, RidgePath, Solution, best, no_usable_penalty, penalty_grid,
};

/// The closed-form solution of one training problem.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    /// The kernel, its width filled in.
    pub(crate) kernel: Kernel,
    pub(crate) lambda: f64,
    /// What λ was chosen by, if it was.
    pub(crate) selected: Option<Candidate>,
    pub(crate) predictor: Predictor,
    /// What decodes its scores: the head of the supervision, with a threshold for sets of labels.
    pub(crate) head: Head,
    /// The left-out scores of the training nodes and what they say of others, if it was asked for.
    pub(crate) calibrated: Option<(Matrix<f64>, Calibration)>,
}

/// A training problem that is factorised: another λ is then little work.
#[derive(Clone, Debug)]
pub(crate) struct Factorised {
    /// The kernel, its width filled in.
    kernel: Kernel,
    path: RidgePath,
    /// The training nodes' rows, where a predictor is made of them.
    train: Option<Matrix<f64>>,
}

impl Ridge {
    /// Whether filtered features may stay on a device: nothing but sums of products is asked of them.
    pub(crate) fn leaves_rows_where_they_are(&self) -> bool {
        self.kernel.is_linear() && !self.uses_validation()
    }

    /// Chooses λ and solves on the filtered features of the training nodes. Calibrating needs left-out scores, which a given λ
    /// does not.
    pub(crate) fn fit(
        &self,
        supervision: &Supervision<'_>,
        filtered: &Filtered,
        calibrates: bool,
        context: &Context,
    ) -> Result<Fitted> {
        let targets = &supervision.targets;
        let (matrix, weights) = (targets.matrix(), targets.weights());
        if let Some(path) = self.gathered(supervision, filtered, context)? {
            let chosen =
                self.choose(&path, supervision, || unreachable!("no part is held out"), context)?;
            let Solution { coefficients, intercept } = path.solve_weights(chosen.xi, context)?;
            let left_out = chosen.left_out(&path, supervision, calibrates, context)?;
            let predictor = Predictor::linear(coefficients, intercept);
            return chosen.fitted(
                self.kernel,
                predictor,
                supervision,
                left_out,
                calibrates,
                context,
            );
        }
        if let Some(lambda) = self.selection.given().filter(|_| !is_set(supervision)) {
            // One factorisation is less work than a path.
            let Posed { kernel, problem, train } =
                self.pose(filtered.of(supervision.train), context)?;
            let xi = lambda.recip();
            let (solution, left_out) = if calibrates {
                let (solution, left_out) =
                    problem.solve_left_out(matrix, weights, self.intercept, xi, context)?;
                (solution, Some(left_out))
            } else {
                (problem.solve(matrix, weights, self.intercept, xi, context)?, None)
            };
            let predictor = predictor(kernel, train.as_ref(), solution, context)?;
            let chosen = Chosen { xi, lambda, selected: None };
            return chosen.fitted(kernel, predictor, supervision, left_out, calibrates, context);
        }
        let purpose = self.purpose(calibrates, is_set(supervision));
        let factorised = self.factorise(purpose, supervision, filtered, context)?;
        self.fit_factorised(&factorised, supervision, filtered, calibrates, context)
    }

    /// What serves every λ.
    pub(crate) fn factorise(
        &self,
        purpose: Purpose,
        supervision: &Supervision<'_>,
        filtered: &Filtered,
        context: &Context,
    ) -> Result<Factorised> {
        let targets = &supervision.targets;
        let Posed { kernel, problem, train } =
            self.pose(filtered.of(supervision.train), context)?;
        let (matrix, weights) = (targets.matrix().clone(), targets.weights());
        let path = problem.path(purpose, matrix, weights, self.intercept, context)?;
        Ok(Factorised { kernel, path, train })
    }

    /// As [`Ridge::fit`], on a problem that is factorised already.
    pub(crate) fn fit_factorised(
        &self,
        factorised: &Factorised,
        supervision: &Supervision<'_>,
        filtered: &Filtered,
        calibrates: bool,
        context: &Context,
    ) -> Result<Fitted> {
        let Factorised { kernel, path, train } = factorised;
        let held_out = || {
            let features = filtered.of(supervision.validation);
            match train {
                Some(train) => kernel.matrix(&features, train, context),
                None => Ok(features),
            }
        };
        let chosen = self.choose(path, supervision, held_out, context)?;
        let left_out = chosen.left_out(path, supervision, calibrates, context)?;
        let solution = path.solve(chosen.xi, context)?;
        let predictor = predictor(*kernel, train.as_ref(), solution, context)?;
        chosen.fitted(*kernel, predictor, supervision, left_out, calibrates, context)
    }

    /// The path of training nodes whose filtered features are on a device.
    fn gathered(
        &self,
        supervision: &Supervision<'_>,
        filtered: &Filtered,
        context: &Context,
    ) -> Result<Option<RidgePath>> {
        let Some(device) = context.device() else { return Ok(None) };
        let targets = &supervision.targets;
        let (matrix, weights) = (targets.matrix().clone(), targets.weights());
        let (device, nodes) = (device.as_ref(), supervision.train);
        RidgePath::gathered(device, filtered, nodes, matrix, weights, self.intercept, context)
    }

    /// λ, by left-out nodes or by the inputs of held-out ones.
    fn choose(
        &self,
        path: &RidgePath,
        supervision: &Supervision<'_>,
        held_out: impl FnOnce() -> Result<Matrix<f64>>,
        context: &Context,
    ) -> Result<Chosen> {
        if let Some(lambda) = self.selection.given() {
            return Ok(Chosen { xi: lambda.recip(), lambda, selected: None });
        }
        let penalties = penalty_grid(path.scale());
        let (truth, candidates) = if self.uses_validation() {
            let truth = &supervision.validation_targets;
            (truth, truth.judge_held_out(path, &penalties, &held_out()?, context)?)
        } else {
            let truth = &supervision.targets;
            (truth, truth.judge_left_out(path, &penalties, context)?)
        };
        let position = best(&candidates, truth.metric()).ok_or_else(no_usable_penalty)?;
        let xi = penalties[position];
        Ok(Chosen { xi, lambda: xi.recip(), selected: candidates[position] })
    }
}

/// From a solution and the rows of the training nodes, where the problem was posed on the side of these.
fn predictor(
    kernel: Kernel,
    train: Option<&Matrix<f64>>,
    solution: Solution,
    context: &Context,
) -> Result<Predictor> {
    Ok(match train {
        Some(train) if kernel.is_linear() => {
            let weights = multiply_transposed(train, &solution.coefficients, context)?;
            Predictor::linear(weights, solution.intercept)
        }
        Some(train) => Predictor::kernel(kernel, train, solution),
        None => Predictor::linear(solution.coefficients, solution.intercept),
    })
}

fn is_set(supervision: &Supervision<'_>) -> bool {
    matches!(supervision.head, Head::Sets { .. })
}

/// The λ that a problem is solved for.
struct Chosen {
    xi: f64,
    lambda: f64,
    selected: Option<Candidate>,
}

impl Chosen {
    /// The left-out scores, where something is made of them.
    fn left_out(
        &self,
        path: &RidgePath,
        supervision: &Supervision<'_>,
        calibrates: bool,
        context: &Context,
    ) -> Result<Option<Matrix<f64>>> {
        let wanted = calibrates || is_set(supervision);
        wanted.then(|| path.left_out(self.xi, context)).transpose()
    }

    fn fitted(
        self,
        kernel: Kernel,
        predictor: Predictor,
        supervision: &Supervision<'_>,
        left_out: Option<Matrix<f64>>,
        calibrates: bool,
        context: &Context,
    ) -> Result<Fitted> {
        let targets = &supervision.targets;
        let mut head = supervision.head.clone();
        if let (Head::Sets { threshold, .. }, Some(left_out)) = (&mut head, &left_out) {
            *threshold = targets.threshold_of(left_out);
        }
        let calibrated = |left_out: Matrix<f64>| {
            let calibration = Calibration::new(targets, &left_out, context)?;
            Ok::<_, crate::Error>((left_out, calibration))
        };
        let calibrated = left_out.filter(|_| calibrates).map(calibrated).transpose()?;
        let Chosen { lambda, selected, .. } = self;
        Ok(Fitted { kernel, lambda, selected, predictor, head, calibrated })
    }
}
