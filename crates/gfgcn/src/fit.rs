//! From filtered rows to a solution: the closed form for one training problem.

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
}

impl Ridge {
    /// Chooses λ and solves on filtered training features (training nodes × features); `validation` gives those
    /// of the validation nodes.
    pub(crate) fn fit(
        &self,
        supervision: &Supervision<'_>,
        train: Matrix<f64>,
        validation: impl FnOnce() -> Matrix<f64>,
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
        let mut head = supervision.head.clone();
        let given = match self.selection {
            Selection::Fixed(lambda) => Some(lambda),
            Selection::LeaveOneOut | Selection::Validation => None,
        };
        let is_set = matches!(head, Head::Sets { .. });
        if let Some(lambda) = given.filter(|_| !is_set) {
            let (targets, weights) = (targets.matrix(), targets.weights());
            let solution =
                problem.solve(targets, weights, self.intercept, lambda.recip(), context)?;
            let predictor = predictor(solution)?;
            return Ok(Fitted { kernel, lambda, selected: None, predictor, head });
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
        if let Head::Sets { threshold, .. } = &mut head {
            *threshold = targets.threshold(&path, xi, context)?;
        }
        let predictor = predictor(path.solve(xi, context)?)?;
        Ok(Fitted { kernel, lambda: given.unwrap_or(xi.recip()), selected, predictor, head })
    }
}
