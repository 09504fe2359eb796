//! From a stack to a model: one member per learner, whatever it takes part in.
//!
//! A learner's own solution and its part of the sum are linear in the same inputs, so they add up to one predictor:
//!
//! ```text
//! W_c = w_c Fᵀα_c + w_sum Fᵀα_sum / s_c
//! ```

use super::FILTERED_BYTES;
use super::bank::Learner;
use super::learn::{Coefficients, Inputs};
use super::memory::{parts_memory, weighing_memory};
use super::round::{Outcome, Round};
use crate::calibration::Calibration;
use crate::data::TargetKind;
use crate::driver::{Budget, Driver, Rows, distinct};
use crate::error::Result;
use crate::head::Head;
use crate::linalg::multiply_transposed;
use crate::matrix::Matrix;
use crate::model::{Known, Member, Model, Provenance};
use crate::predictor::Predictor;
use crate::ridge::{Candidate, Ridge, Selection};

/// A model, the learner that each of its members is, and how much each has to do with its scores.
pub(super) struct Composed {
    pub(super) model: Model,
    pub(super) learners: Vec<usize>,
    pub(super) shares: Vec<(String, f64)>,
}

/// What is said where there is too little memory, and what helps.
const WHAT: &str = "putting the model together";
const REMEDY: &str = "train on fewer nodes or classes, or use a machine with more memory";

/// Weights of scores that are smaller than this are nothing.
pub(super) const NOTHING: f64 = 1e-12;

/// What a learner's predictor is made of, on either side.
#[derive(Default)]
struct Parts {
    /// Coefficients of the training nodes.
    dual: Option<Matrix<f64>>,
    /// Weights of the columns.
    primal: Option<Matrix<f64>>,
}

impl Parts {
    fn add(&mut self, factor: f64, solution: &Coefficients) {
        match solution {
            Coefficients::Dual(alpha) => add_to(&mut self.dual, factor, alpha),
            Coefficients::Primal(weights) => add_to(&mut self.primal, factor, weights),
        }
    }
}

fn add_to(total: &mut Option<Matrix<f64>>, factor: f64, part: &Matrix<f64>) {
    let total = total.get_or_insert_with(|| Matrix::zeros(part.rows(), part.cols()));
    total.add_scaled(factor, part);
}

/// What a stack gives to each learner.
struct Shared {
    parts: Vec<Parts>,
    /// λ of each; of those that only have a part in the sum, that of the sum for their kernel.
    lambdas: Vec<f64>,
    /// Of all together.
    intercept: Vec<f64>,
}

impl Shared {
    fn new(outcome: &Outcome, weights: &[f64], constants: Vec<f64>) -> Self {
        let mut parts: Vec<Parts> = outcome.learners.iter().map(|_| Parts::default()).collect();
        let mut intercept = constants;
        let mut lambdas: Vec<f64> = outcome.solved.iter().map(|solved| solved.lambda).collect();
        let add_constants = |total: &mut Vec<f64>, weight: f64, constants: &[f64]| {
            total.iter_mut().zip(constants).for_each(|(total, b)| *total += weight * b);
        };
        for (k, solved) in outcome.solved.iter().enumerate().filter(|(k, _)| weights[*k] > NOTHING)
        {
            parts[k].add(weights[k], &solved.solution);
            add_constants(&mut intercept, weights[k], &solved.intercept);
        }
        let of_sum = weights.get(outcome.learners.len()).copied().unwrap_or(0.0);
        if let Some(sum) = outcome.sum.as_ref().filter(|_| of_sum > NOTHING) {
            let mut first = 0;
            for &(k, columns) in &sum.parts {
                let scale = outcome.scales[k];
                match &sum.solved.solution {
                    alpha @ Coefficients::Dual(_) => parts[k].add(of_sum / scale, alpha),
                    Coefficients::Primal(weights) => {
                        let own: Vec<usize> = (first..first + columns).collect();
                        let own = Coefficients::Primal(weights.select_rows(&own));
                        parts[k].add(of_sum / scale.sqrt(), &own);
                    }
                }
                first += columns;
                if weights[k] <= NOTHING {
                    lambdas[k] = sum.solved.lambda / scale;
                }
            }
            add_constants(&mut intercept, of_sum, &sum.solved.intercept);
        }
        Shared { parts, lambdas, intercept }
    }
}

impl Round<'_> {
    /// The model of a stack with these weights, the last of which is the sum's where there is one. What its scores are worth is
    /// seen by left-out ones that nobody [flatters](super::stack::Ballot::unflattered).
    pub(super) fn compose(
        &self,
        outcome: &Outcome,
        weights: &[f64],
        constants: Vec<f64>,
        left_out: &Matrix<f64>,
        unflattered: &Matrix<f64>,
    ) -> Result<Composed> {
        let (train, targets) =
            (self.supervision.train.len() as u64, self.supervision.head.columns());
        let of_learner = |learner: &Learner| {
            let columns = learner.columns(self.dataset, train as usize);
            parts_memory(train, columns as u64, targets as u64)
        };
        let needed = outcome.learners.iter().map(of_learner).sum();
        let _lease = self.context.memory().reserve(WHAT, needed, REMEDY)?;
        let Shared { mut parts, lambdas, intercept } = Shared::new(outcome, weights, constants);
        self.to_columns(&outcome.learners, &mut parts)?;
        let mut members = Vec::new();
        for (k, parts) in parts.into_iter().enumerate() {
            let Some(predictor) = self.predictor(outcome, k, parts)? else { continue };
            let learner = &outcome.learners[k];
            let kernel = match &predictor {
                Predictor::Linear { .. } => learner.kernel,
                Predictor::Kernel { kernel, .. } => *kernel,
            };
            let ridge =
                Ridge { kernel, selection: Selection::LeaveOneOut, intercept: learner.intercept };
            let (design, lambda) = (learner.design.clone(), lambdas[k]);
            members.push((k, Member { share: 1.0, design, ridge, lambda, predictor }));
        }
        // The constants are those of the whole; they go with the first member.
        if let Some((_, first)) = members.first_mut() {
            first.predictor.set_intercept(intercept);
        }
        let members = self.with_shares(members)?;
        let shares =
            members.iter().map(|(k, member)| (outcome.learners[*k].name.clone(), member.share));
        let shares = shares.collect();
        let learners = members.iter().map(|(k, _)| *k).collect();
        let dataset = self.dataset;
        let judged = self.judged(left_out);
        let known = Known::new(dataset, members.iter().map(|(_, member)| &member.design));
        let model = Model {
            members: members.into_iter().map(|(_, member)| member).collect(),
            head: self.head(left_out),
            calibration: Calibration::new(&self.supervision.targets, unflattered, self.context)?,
            known,
            provenance: Provenance {
                dataset: dataset.name().to_owned(),
                fingerprint: dataset.fingerprint(),
                training_nodes: self.supervision.train.len(),
                objective: self.objective.clone(),
                selection_accuracy: self.is_of_classes().then(|| judged.accuracy()),
                selection_score: Some(judged.score),
            },
            training: None,
        };
        Ok(Composed { model, learners, shares })
    }

    fn is_of_classes(&self) -> bool {
        self.supervision.head.kind() == TargetKind::Classes
    }

    /// How well left-out scores predict the training nodes.
    pub(super) fn judged(&self, left_out: &Matrix<f64>) -> Candidate {
        let rows = (0..left_out.rows()).map(|node| left_out.row(node));
        self.supervision.targets.judge_scores(rows)
    }

    /// What decodes scores: for sets of labels with a threshold that suits the left-out ones.
    fn head(&self, left_out: &Matrix<f64>) -> Head {
        let mut head = self.supervision.head.clone();
        if let Head::Sets { threshold, .. } = &mut head {
            *threshold = self.supervision.targets.threshold_of(left_out);
        }
        head
    }

    /// Turns the coefficients of training nodes into weights of columns, W = Fᵀα, where the kernel is linear.
    ///
    /// F is that of the systems, in single precision, and not what the graph gives exactly: α is large along rows that
    /// depend on each other, and Fᵀα only cancels with the very F that α was solved for.
    fn to_columns(&self, learners: &[Learner], parts: &mut [Parts]) -> Result<()> {
        let linear = |k: &usize| parts[*k].dual.is_some() && learners[*k].kernel.is_linear();
        let dual: Vec<usize> = (0..parts.len()).filter(linear).collect();
        let designs = distinct(dual.iter().map(|&k| learners[k].design.clone()));
        if designs.is_empty() {
            return Ok(());
        }
        let (train, targets) = (self.supervision.train, self.supervision.head.columns());
        let rows = Rows::of(train.to_vec(), self.dataset.nodes());
        let widest = designs.iter().map(|design| design.columns(self.dataset)).max().unwrap_or(0);
        let solving = weighing_memory(train.len() as u64, widest as u64, targets as u64);
        let budget = Budget { solving, on_disk: false, ..Budget::beside(0, self.context) };
        let driver = Driver::within(self.dataset, &designs, rows, 0, budget)?;
        let (_lease, together) = driver.reserve(WHAT, 0, FILTERED_BYTES, REMEDY, self.context)?;
        for pass in driver.passes(together) {
            for (design, filtered) in pass.clone().zip(driver.run(pass, self.context)?) {
                for &k in dual.iter().filter(|&&k| learners[k].design == designs[design]) {
                    let alpha = parts[k].dual.take().expect("it has coefficients");
                    let weights = filtered.transposed_times(&alpha, self.context)?;
                    add_to(&mut parts[k].primal, 1.0, &weights);
                }
            }
        }
        Ok(())
    }

    /// The predictor of a learner, if it has a part in anything.
    fn predictor(&self, outcome: &Outcome, k: usize, parts: Parts) -> Result<Option<Predictor>> {
        let context = self.context;
        if parts.dual.is_none() && parts.primal.is_none() {
            return Ok(None);
        }
        let zeros = vec![0.0; self.supervision.head.columns()];
        let mut weights = parts.primal;
        if let Some(Inputs::Landmarks { rows, landmarks }) = &outcome.landmarks[k] {
            if let Some(alpha) = &parts.dual {
                add_to(&mut weights, 1.0, &multiply_transposed(rows, alpha, context)?);
            }
            let weights = weights.unwrap_or_else(|| Matrix::zeros(rows.cols(), zeros.len()));
            return Ok(Some(Predictor::Kernel {
                kernel: landmarks.kernel,
                scale: Some(landmarks.scale.clone()),
                support: landmarks.support.to_f32(),
                coefficients: landmarks.coefficients(weights, context),
                intercept: zeros,
            }));
        }
        Ok(weights.map(|weights| Predictor::linear(weights, zeros)))
    }

    /// The members with how much each moves the scores of the training nodes, Σ |T_c − mean T_c| of its scores T_c as a
    /// part of all of them; the largest first.
    fn with_shares(&self, mut members: Vec<(usize, Member)>) -> Result<Vec<(usize, Member)>> {
        let (graph, features) = (self.dataset.graph(), self.dataset.features());
        let mut moved = Vec::new();
        for (_, member) in &members {
            let scores = member.scores(graph, features, self.context)?;
            let mut scores = scores.select_rows(self.supervision.train);
            let means = scores.column_means();
            scores.add_to_rows(-1.0, &means);
            moved.push(scores.as_slice().iter().map(|score| score.abs()).sum::<f64>());
        }
        let (all, count) = (moved.iter().sum::<f64>(), moved.len() as f64);
        for ((_, member), moved) in members.iter_mut().zip(&moved) {
            // Where all nodes have the same scores, nothing moves any.
            member.share = if all > 0.0 { moved / all } else { count.recip() };
        }
        members.sort_by(|(_, a), (_, b)| b.share.total_cmp(&a.share));
        Ok(members)
    }
}
