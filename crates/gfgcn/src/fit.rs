//! From filtered rows to a solution: the closed form for one training problem.

use crate::calibration::Calibration;
use crate::context::Context;
use crate::error::Result;
use crate::head::{Head, Supervision};
use crate::kernel::Kernel;
use crate::linalg::multiply_transposed;
use crate::matrix::Matrix;
use crate::predictor::Predictor;
use crate::ridge::{
    Candidate, Posed, Ridge, Selection, Solution, best, no_usable_penalty, penalty_grid,
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

impl Ridge {
    /// Chooses λ and solves on filtered training features (training nodes × features); `validation` gives those
    /// of the validation nodes. Calibrating needs left-out scores, which a given λ does not.
    pub(crate) fn fit(
        &self,
        supervision: &Supervision<'_>,
        train: Matrix<f64>,
        validation: impl FnOnce() -> Matrix<f64>,
        calibrates: bool,
        context: &Context,
    ) -> Result<Fitted> {
        let Posed { kernel, problem, train } = self.pose(train, context)?;
        let targets = &supervision.targets;
        let predictor = |solution: Solution| {
            Ok(match &train {
                Some(train) if kernel.is_linear() => {
                    let weights = multiply_transposed(train, &solution.coefficients, context)?;
                    Predictor::linear(weights, solution.intercept)
                }
                Some(train) => Predictor::kernel(kernel, train, solution),
                None => Predictor::linear(solution.coefficients, solution.intercept),
            })
        };
        let calibrated = |left_out: Matrix<f64>| {
            let calibration = Calibration::new(targets, &left_out, context)?;
            Ok::<_, crate::Error>((left_out, calibration))
        };
        let mut head = supervision.head.clone();
        let given = match self.selection {
            Selection::Fixed(lambda) => Some(lambda),
            Selection::LeaveOneOut | Selection::Validation => None,
        };
        let is_set = matches!(head, Head::Sets { .. });
        if let Some(lambda) = given.filter(|_| !is_set) {
            let (matrix, weights, xi) = (targets.matrix(), targets.weights(), lambda.recip());
            let (solution, left_out) = if calibrates {
                let (solution, left_out) =
                    problem.solve_left_out(matrix, weights, self.intercept, xi, context)?;
                (solution, Some(left_out))
            } else {
                (problem.solve(matrix, weights, self.intercept, xi, context)?, None)
            };
            let predictor = predictor(solution)?;
            let calibrated = left_out.map(calibrated).transpose()?;
            return Ok(Fitted { kernel, lambda, selected: None, predictor, head, calibrated });
        }
        let (matrix, weights) = (targets.matrix().clone(), targets.weights());
        let path = problem.path(matrix, weights, self.intercept, context)?;
        let (xi, selected) = match given {
            Some(lambda) => (lambda.recip(), None),
            None => {
                let penalties = penalty_grid(path.scale());
                let (truth, candidates) = if self.uses_validation() {
                    let features = validation();
                    let inputs = match &train {
                        Some(train) => kernel.matrix(&features, train, context)?,
                        None => features,
                    };
                    let truth = &supervision.validation_targets;
                    (truth, truth.judge_held_out(&path, &penalties, &inputs, context)?)
                } else {
                    (targets, targets.judge_left_out(&path, &penalties, context)?)
                };
                let position = best(&candidates, truth.metric()).ok_or_else(no_usable_penalty)?;
                (penalties[position], candidates[position])
            }
        };
        let left_out = match calibrates || is_set {
            true => Some(path.left_out(xi, context)?),
            false => None,
        };
        if let (Head::Sets { threshold, .. }, Some(left_out)) = (&mut head, &left_out) {
            *threshold = targets.threshold_of(left_out);
        }
        let calibrated = left_out.filter(|_| calibrates).map(calibrated).transpose()?;
        let predictor = predictor(path.solve(xi, context)?)?;
        let lambda = given.unwrap_or(xi.recip());
        Ok(Fitted { kernel, lambda, selected, predictor, head, calibrated })
    }
}
