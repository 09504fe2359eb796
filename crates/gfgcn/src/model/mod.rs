//! A trained model: what it is, what it predicts, how it is stored.

mod agreement;
mod file;
mod known;
mod predict;
mod predictions;
pub(crate) mod tensors;

pub(crate) use file::SAVING;
pub(crate) use known::Known;
pub use predictions::Predictions;

use crate::calibration::Calibration;
use crate::data::Encoding;
use crate::design::Design;
use crate::head::{Head, Objective};
use crate::matrix::Matrix;
use crate::metrics::Metric;
use crate::predictor::Predictor;
use crate::ridge::Ridge;
use crate::training::Training;
use serde::{Deserialize, Serialize};

/// A trained model of classes, sets of labels or values. Made by [`Classifier::fit`](crate::Classifier::fit),
/// [`Search::run`](crate::tune::Search::run) or [`Model::load`].
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// At least one; the one with the largest share first.
    pub(crate) members: Vec<Member>,
    pub(crate) head: Head,
    pub(crate) calibration: Calibration,
    pub(crate) known: Known,
    pub(crate) provenance: Provenance,
    pub(crate) training: Option<Training>,
}

/// One of the closed-form solutions whose scores a model adds up.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub(crate) share: f64,
    pub(crate) design: Design,
    /// The kernel's width is filled in.
    pub(crate) ridge: Ridge,
    pub(crate) lambda: f64,
    pub(crate) predictor: Predictor,
}

impl Member {
    /// How much it moves the scores of the training nodes, Σ |T_c − mean T_c| of its scores T_c as a part of all members';
    /// shares add up to 1.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// What it computes from graph and features.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// How that becomes scores; the kernel's width is filled in.
    pub fn ridge(&self) -> Ridge {
        self.ridge
    }

    /// λ as it was given or chosen.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// W (columns of the design × targets) and b (one per target) of scores = F W + b, where the kernel is linear.
    /// Two classes share one target.
    pub fn weights(&self) -> Option<(&Matrix<f64>, &[f64])> {
        match &self.predictor {
            Predictor::Linear { weights, intercept } => Some((weights, intercept)),
            Predictor::Kernel { .. } => None,
        }
    }
}

/// Where a model came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The dataset's name.
    pub dataset: String,
    /// The dataset's [fingerprint](crate::data::Dataset::fingerprint).
    pub fingerprint: String,
    /// Nodes trained on.
    pub training_nodes: usize,
    /// What it was trained for; the metric is filled in.
    pub objective: Objective,
    /// Accuracy (0 to 1) on the nodes by which λ was chosen, left-out or validation; of classes.
    pub selection_accuracy: Option<f64>,
    /// The metric on these nodes, which λ was chosen by; not in percent.
    pub selection_score: Option<f64>,
}

impl Model {
    /// What it adds up: one member, or several that were stacked; the one with the largest share first.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// What it predicts.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// How its scores become probabilities and prediction sets.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The names of the classes or labels that it can predict, or of the columns of values that it does.
    pub fn classes(&self) -> &[String] {
        self.head.names()
    }

    /// The number of features it expects.
    pub fn features(&self) -> usize {
        self.known.features
    }

    /// The names of the features it expects, where the training data gave them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.known.feature_names.as_deref()
    }

    /// How columns of a table became these features, where they are not just its numbers.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.known.encoding.as_ref()
    }

    /// The number of nodes of the graph it was trained on.
    pub fn nodes(&self) -> usize {
        self.known.nodes
    }

    /// Whether the edges it was trained on had directions.
    pub fn is_directed(&self) -> bool {
        self.known.directed
    }

    /// The metric by which λ was chosen, if it was, and its value on the nodes that chose it.
    pub fn selection_score(&self) -> Option<(Metric, f64)> {
        self.provenance.objective.metric.zip(self.provenance.selection_score)
    }

    /// What it keeps of its training, where it was asked to.
    pub fn training(&self) -> Option<&Training> {
        self.training.as_ref()
    }

    /// Where the model came from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}
