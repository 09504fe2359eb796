//! Choosing λ.

use super::path::RidgePath;
use super::targets::decode;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How λ is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// By exact leave-one-out on the training labels alone.
    #[default]
    #[serde(rename = "loo")]
    LeaveOneOut,
    /// By the accuracy on the validation part of the split.
    Validation,
    /// This λ.
    #[non_exhaustive]
    Fixed(f64),
}

impl Selection {
    /// A given λ: positive and finite.
    pub fn fixed(lambda: f64) -> Result<Self> {
        if lambda > 0.0 && lambda.is_finite() && lambda.recip().is_finite() {
            Ok(Selection::Fixed(lambda))
        } else {
            Err(Error::parameter("lambda", lambda, "a positive finite number"))
        }
    }
}

/// The penalties ξ = ρ · scale that are searched, ρ from 1e2 down to 1e-10 in half decades.
///
/// Relative to the scale of the kernel matrix, so that deep filters, whose features are tiny, are
/// searched as well as shallow ones.
pub fn penalty_grid(scale: f64) -> Vec<f64> {
    (0..=24).map(|k| scale * 10f64.powf(2.0 - 0.5 * f64::from(k))).collect()
}

/// How well one penalty did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// Nodes whose class was predicted.
    pub correct: usize,
    /// Nodes that were judged.
    pub total: usize,
    /// Sum of squared differences from the targets; decides between equal accuracies.
    pub squared_error: f64,
}

impl Candidate {
    /// Judges one prediction.
    pub(crate) fn judge(
        &mut self,
        prediction: &[f64],
        targets: &[f64],
        class: u32,
        classes: usize,
    ) {
        self.total += 1;
        self.correct += usize::from(decode(prediction, classes) == class);
        self.squared_error +=
            prediction.iter().zip(targets).map(|(p, t)| (p - t).powi(2)).sum::<f64>();
    }

    fn add(&mut self, other: Candidate) {
        self.correct += other.correct;
        self.total += other.total;
        self.squared_error += other.squared_error;
    }

    fn beats(&self, other: &Candidate) -> bool {
        self.correct > other.correct
            || (self.correct == other.correct && self.squared_error < other.squared_error)
    }

    /// The share of nodes whose class was predicted, 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.total.max(1) as f64
    }
}

impl RidgePath {
    /// The leave-one-out result of each penalty.
    pub fn leave_one_out_candidates(
        &self,
        penalties: &[f64],
        classes: usize,
    ) -> Vec<Option<Candidate>> {
        let targets = self.targets();
        self.leave_one_out(
            penalties,
            |sum: &mut Candidate, node, prediction| {
                sum.judge(prediction, targets.matrix().row(node), targets.classes()[node], classes);
            },
            Candidate::add,
        )
    }
}

/// The position of the best candidate; the first (the strongest penalty) of equals.
pub(crate) fn best(candidates: &[Option<Candidate>]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (position, candidate) in candidates.iter().enumerate() {
        let Some(candidate) = candidate else { continue };
        let better = best.and_then(|b| candidates[b]).is_none_or(|b| candidate.beats(&b));
        if better {
            best = Some(position);
        }
    }
    best
}
