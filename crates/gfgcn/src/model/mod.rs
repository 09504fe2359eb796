//! A trained model: what it is, what it predicts, how it is stored.

mod file;
mod predict;

pub use predict::Predictions;

use crate::classifier::Options;
use crate::filter::Filter;
use crate::matrix::Matrix;
use crate::predictor::Predictor;
use serde::{Deserialize, Serialize};

/// A trained classifier. Made by [`Classifier::fit`](crate::Classifier::fit) or [`Model::load`].
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(crate) filter: Filter,
    pub(crate) options: Options,
    pub(crate) lambda: f64,
    pub(crate) classes: Vec<String>,
    pub(crate) feature_names: Option<Vec<String>>,
    pub(crate) training: Training,
    pub(crate) predictor: Predictor,
}

/// Where a model came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// The dataset's name.
    pub dataset: String,
    /// The dataset's [fingerprint](crate::data::Dataset::fingerprint).
    pub fingerprint: String,
    /// Nodes in the graph.
    pub nodes: usize,
    /// Nodes trained on.
    pub training_nodes: usize,
    /// Accuracy (0 to 1) by which λ was chosen: leave-one-out or validation.
    pub selection_accuracy: Option<f64>,
}

impl Model {
    /// The filter.
    pub fn filter(&self) -> Filter {
        self.filter
    }

    /// The options; the kernel's width is filled in.
    pub fn options(&self) -> Options {
        self.options
    }

    /// λ as it was given or chosen.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The names of the classes it can predict.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of features it expects.
    pub fn features(&self) -> usize {
        self.predictor.features()
    }

    /// The names of the features it expects, where the training data gave them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// W (features × targets) and b (one per target) of scores = F W + b, where the kernel is linear. Two
    /// classes share one target.
    pub fn weights(&self) -> Option<(&Matrix<f64>, &[f64])> {
        match &self.predictor {
            Predictor::Linear { weights, intercept } => Some((weights, intercept)),
            Predictor::Kernel { .. } => None,
        }
    }

    /// Where the model came from.
    pub fn training(&self) -> &Training {
        &self.training
    }
}
