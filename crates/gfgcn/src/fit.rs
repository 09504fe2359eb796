//! From filtered rows to a solution: the closed form for one training problem.

use crate::context::Context;
use crate::error::Result;
use crate::head::Supervision;
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
        if let Selection::Fixed(lambda) = self.selection {
            let solution =
                problem.solve(targets.matrix(), None, self.intercept, lambda.recip(), context)?;
            return Ok(Fitted { kernel, lambda, selected: None, predictor: predictor(solution)? });
        }
        let path = problem.path(targets.matrix().clone(), None, self.intercept, context)?;
        let penalties = penalty_grid(path.scale());
        let candidates = if self.uses_validation() {
            let features = validation();
            let inputs = match &train {
                Some(train) => kernel.matrix(&features, train, context)?,
                None => features,
            };
            supervision.validation_targets.judge_held_out(&path, &penalties, &inputs, context)?
        } else {
            targets.judge_left_out(&path, &penalties, context)?
        };
        let position = best(&candidates).ok_or_else(no_usable_penalty)?;
        let (xi, selected) = (penalties[position], candidates[position]);
        let predictor = predictor(path.solve(xi, context)?)?;
        Ok(Fitted { kernel, lambda: xi.recip(), selected, predictor })
    }
}
