//! What the scores of a stack owe to each training node.
//!
//! Every member is linear in the inputs of its learner, whatever the kernel, and its weights come from the training nodes:
//!
//! ```text
//! W_c = Fᵀα_c,    α_c = w_c α of the learner + w_sum / s_c α of the sum
//! ```
//!
//! A system that was solved on the side of the nodes has α; one on the side of the columns has it from what is left of the
//! targets, α = λ w (y − F W − b).

use super::FILTERED_BYTES;
use super::compose::NOTHING;
use super::learn::{Coefficients, Inputs, Solved};
use super::round::{Outcome, Round};
use crate::driver::{Budget, Driver, PANEL, Rows, distinct};
use crate::error::Result;
use crate::linalg::multiply;
use crate::matrix::Matrix;
use crate::ridge::correct_representers;

impl Round<'_> {
    /// α of each learner in a stack with these weights, the last of which is the sum's where there is one: training nodes ×
    /// targets; zeros where it has no part in anything.
    pub(super) fn representers(
        &self,
        outcome: &Outcome,
        weights: &[f64],
    ) -> Result<Vec<Matrix<f64>>> {
        let count = outcome.learners.len();
        let mut shares = Shares::new(self, outcome, weights);
        let needed = |k: &usize| shares.needs_rows(*k);
        for k in (0..count).filter(needed).collect::<Vec<usize>>() {
            if let Some(inputs) = &outcome.landmarks[k] {
                shares.add(k, inputs)?;
            }
        }
        let linear = |k: &usize| shares.needs_rows(*k) && outcome.landmarks[*k].is_none();
        let linear: Vec<usize> = (0..count).filter(linear).collect();
        let designs = distinct(linear.iter().map(|&k| outcome.learners[k].design.clone()));
        if !designs.is_empty() {
            let train = self.supervision.train;
            let rows = Rows::of(train.to_vec(), self.dataset.nodes());
            let widest = designs.iter().map(|design| design.columns(self.dataset)).max();
            let widest = widest.unwrap_or(0);
            // Rows in double precision, where there are fewer columns than nodes.
            let dense = train.len() * widest.min(train.len()).max(PANEL.min(widest));
            let solving = 8 * 2 * dense as u64;
            let budget = Budget { solving, on_disk: false, ..Budget::beside(0, self.context) };
            let driver = Driver::within(self.dataset, &designs, rows, 0, budget)?;
            let remedy = "train on fewer nodes or classes, or use a machine with more memory";
            let what = "keeping the training";
            let (_lease, together) =
                driver.reserve(what, 0, FILTERED_BYTES, remedy, self.context)?;
            for pass in driver.passes(together) {
                for (design, filtered) in pass.clone().zip(driver.run(pass, self.context)?) {
                    let inputs = Inputs::Linear(filtered);
                    let own = |k: &&usize| outcome.learners[**k].design == designs[design];
                    for &k in linear.iter().filter(own) {
                        shares.add(k, &inputs)?;
                    }
                }
            }
        }
        Ok(shares.finish())
    }

    /// λ w (y − s) for scores s of the training nodes.
    fn residuals(&self, solved: &Solved, scores: &Matrix<f64>) -> Matrix<f64> {
        let truth = &self.supervision.targets;
        Matrix::from_fn(scores.rows(), scores.cols(), |j, t| {
            let missing = truth.matrix()[(j, t)] - scores[(j, t)] - solved.intercept[t];
            solved.lambda * truth.weight(j) * missing
        })
    }
}

/// α as far as it is known.
struct Shares<'r, 'd> {
    round: &'r Round<'d>,
    outcome: &'r Outcome,
    weights: &'r [f64],
    of_sum: f64,
    totals: Vec<Matrix<f64>>,
    /// F W of the sum so far, where it was solved on the side of the columns.
    sum_scores: Option<Matrix<f64>>,
}

impl<'r, 'd> Shares<'r, 'd> {
    fn new(round: &'r Round<'d>, outcome: &'r Outcome, weights: &'r [f64]) -> Self {
        let (nodes, targets) = (round.supervision.train.len(), round.supervision.head.columns());
        let zeros = || Matrix::zeros(nodes, targets);
        let of_sum = weights.get(outcome.learners.len()).copied().unwrap_or(0.0);
        let sum = outcome.sum.as_ref().filter(|_| of_sum > NOTHING);
        let primal = sum.filter(|sum| matches!(sum.solved.solution, Coefficients::Primal(_)));
        let mut totals: Vec<Matrix<f64>> = outcome.learners.iter().map(|_| zeros()).collect();
        for (k, solved) in outcome.solved.iter().enumerate().filter(|(k, _)| weights[*k] > NOTHING)
        {
            if let Coefficients::Dual(alpha) = &solved.solution {
                totals[k].add_scaled(weights[k], alpha);
            }
        }
        let sum_scores = primal.map(|_| zeros());
        Shares { round, outcome, weights, of_sum, totals, sum_scores }
    }

    /// Whether α of a learner takes its rows.
    fn needs_rows(&self, k: usize) -> bool {
        let own = matches!(self.outcome.solved[k].solution, Coefficients::Primal(_));
        (own && self.weights[k] > NOTHING) || (self.sum_scores.is_some() && self.place(k).is_some())
    }

    /// The columns of a learner among those of the sum.
    fn place(&self, k: usize) -> Option<std::ops::Range<usize>> {
        let mut first = 0;
        for &(learner, columns) in &self.outcome.sum.as_ref()?.parts {
            if learner == k {
                return Some(first..first + columns);
            }
            first += columns;
        }
        None
    }

    /// What the rows of a learner say.
    fn add(&mut self, k: usize, inputs: &Inputs) -> Result<()> {
        let context = self.round.context;
        let times = |weights: &Matrix<f64>| match inputs {
            Inputs::Landmarks { rows, .. } => multiply(rows, weights, context),
            Inputs::Linear(filtered) => filtered.times(weights, context),
        };
        let solved = &self.outcome.solved[k];
        if let Coefficients::Primal(weights) = &solved.solution
            && self.weights[k] > NOTHING
        {
            let mut alpha = self.round.residuals(solved, &times(weights)?);
            let xi = solved.lambda.recip();
            correct_representers(&mut alpha, &inputs.rows(), weights, xi, context)?;
            self.totals[k].add_scaled(self.weights[k], &alpha);
        }
        let place = self.place(k);
        if let (Some(scores), Some(sum), Some(place)) =
            (&mut self.sum_scores, &self.outcome.sum, place)
            && let Coefficients::Primal(weights) = &sum.solved.solution
        {
            let own = weights.select_rows(&place.collect::<Vec<usize>>());
            scores.add_scaled(self.outcome.scales[k].sqrt().recip(), &times(&own)?);
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<Matrix<f64>> {
        let Some(sum) = self.outcome.sum.as_ref().filter(|_| self.of_sum > NOTHING) else {
            return self.totals;
        };
        let alpha = match (&sum.solved.solution, &self.sum_scores) {
            (Coefficients::Dual(alpha), _) => alpha.clone(),
            (_, Some(scores)) => self.round.residuals(&sum.solved, scores),
            (Coefficients::Primal(_), None) => return self.totals,
        };
        for &(k, _) in &sum.parts {
            self.totals[k].add_scaled(self.of_sum / self.outcome.scales[k], &alpha);
        }
        self.totals
    }
}
