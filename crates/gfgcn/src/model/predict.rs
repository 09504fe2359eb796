//! Predicting with a model, on the graph it was trained on or on another one.

use super::Model;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::filter::FilterBank;
use crate::graph::Propagator;
use crate::matrix::Matrix;
use crate::predictor::score_all;
use crate::ridge::decode;
use std::borrow::Cow;
use std::collections::HashMap;

/// Scores and labels for every node of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    classes: Vec<String>,
    /// Nodes × target columns.
    targets: Matrix<f64>,
    notes: Vec<String>,
}

impl Predictions {
    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.targets.rows()
    }

    /// The predicted class of a node, a position in [`Predictions::classes`].
    pub fn class(&self, node: usize) -> u32 {
        decode(self.targets.row(node), self.classes.len())
    }

    /// The name of the predicted class of a node.
    pub fn name(&self, node: usize) -> &str {
        &self.classes[self.class(node) as usize]
    }

    /// The score of each class for a node; the largest wins. Two classes share one regression
    /// target, so their scores are s and −s.
    pub fn scores(&self, node: usize) -> Vec<f64> {
        let row = self.targets.row(node);
        if self.classes.len() == 2 { vec![-row[0], row[0]] } else { row.to_vec() }
    }

    /// The regression targets, nodes × columns: a score per class, or for two classes the score of the
    /// second, whose negative is that of the first.
    pub fn into_targets(self) -> Matrix<f64> {
        self.targets
    }

    /// What a person should know about how the data were matched to the model.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Model {
    /// Predicts every node of a graph with the same features; new nodes are fine.
    ///
    /// Where both the model and the data name their features, columns are matched by name:
    /// features the data lack count as 0, features the model does not know are left out, and
    /// both are noted.
    ///
    /// # Errors
    /// If the number of features differs (without names), or no name is in common.
    pub fn predict(&self, dataset: &Dataset) -> Result<Predictions> {
        let (features, notes) = self.match_features(dataset)?;
        let features = self.options.prepare(&features);
        let propagator = Propagator::new(dataset.graph(), self.options.normalization);
        let bank = FilterBank::new(&[self.filter], self.options.tolerance);
        let propagator = propagator.prepared_for(bank.products() * self.predictor.columns());
        let targets = score_all(&[&self.predictor], &propagator, &bank, &features, None).remove(0);
        if targets.as_slice().iter().any(|score| !score.is_finite()) {
            return Err(Error::Data(
                "the scores overflow; the features are larger than those the model was trained on"
                    .into(),
            ));
        }
        Ok(Predictions { classes: self.classes.clone(), targets, notes })
    }

    /// Bytes of memory that [`Model::predict`] takes beyond the dataset, about.
    pub fn predict_memory(&self, dataset: &Dataset) -> u64 {
        self.predictor.score_memory(dataset.nodes())
    }

    fn match_features<'a>(&self, dataset: &'a Dataset) -> Result<(Cow<'a, Features>, Vec<String>)> {
        let (Some(wanted), Some(given)) = (self.feature_names(), dataset.feature_names()) else {
            let found = dataset.features().cols();
            let what = format!(
                "features per node in {}, which must be those the model was trained on",
                dataset.name()
            );
            Error::check_size(what, self.features(), found)?;
            return Ok((Cow::Borrowed(dataset.features()), Vec::new()));
        };
        if wanted == given {
            return Ok((Cow::Borrowed(dataset.features()), Vec::new()));
        }
        let position: HashMap<&str, u32> =
            wanted.iter().zip(0..).map(|(name, k)| (name.as_str(), k)).collect();
        let columns: Vec<Option<u32>> =
            given.iter().map(|name| position.get(name.as_str()).copied()).collect();
        let matched = columns.iter().flatten().count();
        if matched == 0 {
            return Err(Error::Data(format!(
                "no feature of the data is one the model was trained on; \
                 the model's first is {:?}, the data's first is {:?}",
                wanted[0], given[0]
            )));
        }
        let mut notes = Vec::new();
        if matched < wanted.len() {
            let missing = wanted.len() - matched;
            notes
                .push(format!("{missing} features of the model are not in the data; counted as 0"));
        }
        if matched < given.len() {
            let unknown = given.len() - matched;
            notes
                .push(format!("{unknown} features of the data are unknown to the model; left out"));
        }
        Ok((Cow::Owned(dataset.features().map_columns(&columns, wanted.len())), notes))
    }
}
