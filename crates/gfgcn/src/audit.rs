//! Which labels look wrong: those that are far from what is predicted of their nodes without them.
//!
//! Every training node is predicted by what was learnt without it, so a wrong label cannot vouch for itself. How surprising a
//! label is then is its self-information:
//!
//! ```text
//! classes   −log p(given)
//! sets      −log p(given), of having a label or of not having it, each label of each node by itself
//! values    |given − expected| in units of the median error of the column
//! ```
//!
//! If labels are wrong with the same probability ε whatever the true class is, and as often any other, the probability that a given one is
//! wrong is a function of p(given) alone, which falls as p(given) grows:
//!
//! ```text
//! P(wrong) = (1 − p) ε/(C − 1) / (p (1 − ε) + (1 − p) ε/(C − 1)),   p = p(given), C classes
//! ```
//!
//! so under that assumption the list is in the best order that these predictions allow. Other orders were measured in a NumPy prototype that
//! stacks four learners, with one label in twenty replaced, twenty times, on Cora, Texas and filtered Chameleon: by the odds against the most probable other class, or by how far both are apart; and by a second
//! round that trains without the most suspicious twentieth or tenth of the labels, or with each label replaced by what it and the first round
//! together make probable. None finds more wrong labels on all three beyond chance, and most find fewer on one. Nor does a model that was
//! trained on the right labels find more of Cora's in the first tenth: those that are missed are of nodes that look like what they are called.

use crate::calibration::{Calibration, Link};
use crate::classifier::Classifier;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::head::{Supervision, Truth};
use crate::matrix::Matrix;
use crate::model::Model;
use crate::ridge::Ridge;
use crate::split::Split;
use crate::tune::{Search, Tuned};
use serde::Serialize;

/// Probabilities are not taken for smaller than this: surprises have an end.
const LEAST: f64 = 1e-12;

/// The labels of a dataset, the most surprising first.
#[derive(Clone, Debug)]
pub struct Audit {
    /// What was learnt from all of them.
    pub model: Model,
    /// Labels that are not what is expected of their nodes, the most surprising first; of values all.
    pub suspects: Vec<Suspect>,
    /// How many labels or values were looked at.
    pub audited: usize,
}

/// A label or a value that is not what is expected of its node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    /// The node.
    pub node: usize,
    /// How surprising it is; 0 and more.
    pub surprise: f64,
    /// What is there and what was expected.
    #[serde(flatten)]
    pub doubt: Doubt,
}

/// What is there and what was expected; classes, labels and columns are positions among the model's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Doubt {
    /// A class.
    Class {
        /// The one that is given.
        given: u32,
        /// The most probable one.
        expected: u32,
        /// The probability of the given one, 0 to 1.
        probability: f64,
        /// The probability of the expected one.
        of_expected: f64,
    },
    /// A label that a node has and should not, or the other way round.
    Label {
        /// Which one.
        label: u32,
        /// Whether the node has it.
        given: bool,
        /// How probable it is, 0 to 1.
        probability: f64,
    },
    /// A value.
    Value {
        /// Its column.
        column: u32,
        /// The one that is given.
        given: f64,
        /// The one that is predicted.
        expected: f64,
    },
}

impl Classifier {
    /// Which of the labels that a split trains on look wrong to this classifier.
    ///
    /// # Errors
    /// As [`Classifier::fit`].
    pub fn audit(&self, dataset: &Dataset, split: &Split, context: &Context) -> Result<Audit> {
        let (model, left_out) = self.fit_left_out(dataset, split, context)?;
        let supervision = Supervision::new(dataset.targets(), split, &self.ridge, &self.objective)?;
        Ok(Audit::new(model, &supervision.targets, split.train(), &left_out))
    }
}

impl Search {
    /// Which of the labels that a split trains on look wrong to the model that is found.
    ///
    /// # Errors
    /// As [`Search::run`].
    pub fn audit(&self, dataset: &Dataset, split: &Split, context: &Context) -> Result<Audit> {
        self.run(dataset, split, context)?.audit(dataset, split)
    }
}

impl Tuned {
    /// Which of the labels look wrong to the model that was found on these data and this split.
    ///
    /// # Errors
    /// Other data than those it was found on.
    pub fn audit(self, dataset: &Dataset, split: &Split) -> Result<Audit> {
        let objective = &self.model.provenance().objective;
        let supervision = Supervision::new(dataset.targets(), split, &Ridge::default(), objective)?;
        Ok(Audit::new(self.model, &supervision.targets, split.train(), &self.left_out_scores))
    }
}

impl Audit {
    /// From the left-out scores of some nodes, in their order.
    fn new(model: Model, truth: &Truth, nodes: &[usize], left_out: &Matrix<f64>) -> Self {
        let calibration = model.calibration();
        let (audited, mut suspects) = match calibration.link() {
            Link::Softmax { .. } => (nodes.len(), of_classes(calibration, truth, left_out)),
            Link::Sigmoids { labels } => {
                (nodes.len() * labels.len(), of_sets(calibration, truth, left_out))
            }
            Link::Identity => {
                (nodes.len() * left_out.cols(), of_values(calibration, truth, left_out))
            }
        };
        // Of equals, in the order of the nodes.
        suspects.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
        suspects.iter_mut().for_each(|suspect| suspect.node = nodes[suspect.node]);
        Audit { model, suspects, audited }
    }
}

fn of_classes(calibration: &Calibration, truth: &Truth, left_out: &Matrix<f64>) -> Vec<Suspect> {
    let of_node = |node: usize| {
        let given = truth.class(node)?;
        let scores = left_out.row(node);
        let expected = truth.head().decode(scores);
        let p = calibration.link().probabilities(truth.head(), scores);
        let (probability, of_expected) = (p[given as usize], p[expected as usize]);
        let surprise = -probability.max(LEAST).ln();
        let doubt = Doubt::Class { given, expected, probability, of_expected };
        (expected != given).then_some(Suspect { node, surprise, doubt })
    };
    (0..left_out.rows()).filter_map(of_node).collect()
}

fn of_sets(calibration: &Calibration, truth: &Truth, left_out: &Matrix<f64>) -> Vec<Suspect> {
    let of_node = |node: usize| {
        let p = calibration.link().probabilities(truth.head(), left_out.row(node));
        let of_label = move |(label, probability): (usize, f64)| {
            let given = truth.matrix()[(node, label)] > 0.0;
            let said = if given { probability } else { 1.0 - probability };
            let surprise = -said.max(LEAST).ln();
            let doubt = Doubt::Label { label: label as u32, given, probability };
            (said < 0.5).then_some(Suspect { node, surprise, doubt })
        };
        p.into_iter().enumerate().filter_map(of_label)
    };
    (0..left_out.rows()).flat_map(of_node).collect()
}

fn of_values(calibration: &Calibration, truth: &Truth, left_out: &Matrix<f64>) -> Vec<Suspect> {
    let medians: Vec<f64> = calibration
        .misfits
        .iter()
        .map(|misfits| misfits.get(misfits.len() / 2).copied().unwrap_or(1.0))
        .collect();
    let of_node = |node: usize| {
        let medians = &medians;
        (0..left_out.cols()).map(move |column| {
            let (given, expected) = (truth.matrix()[(node, column)], left_out[(node, column)]);
            let error = (given - expected).abs();
            let surprise = if medians[column] > 0.0 { error / medians[column] } else { error };
            Suspect {
                node,
                surprise,
                doubt: Doubt::Value { column: column as u32, given, expected },
            }
        })
    };
    (0..left_out.rows()).flat_map(of_node).collect()
}
