//! What a model says about the nodes of a graph.

#[cfg(doc)]
use super::Model;
use crate::calibration::{Calibration, Regions};
use crate::data::TargetKind;
use crate::error::Result;
use crate::head::Head;
use crate::matrix::Matrix;
use rayon::prelude::*;
use std::collections::HashMap;

const NO_SCORES: &str = "only the classes of these nodes were asked for";

/// What a model says about the nodes of a graph: [classes](Predictions::class), [sets of labels](Predictions::labels) or
/// [values](Predictions::values).
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    pub(super) head: Head,
    pub(super) calibration: Calibration,
    pub(super) held: Held,
    /// The row of each node, where not all are predicted.
    pub(super) rows: Option<HashMap<usize, usize>>,
    pub(super) notes: Vec<String>,
}

/// What is known of each node that is predicted.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Held {
    /// Nodes × target columns.
    Targets(Matrix<f64>),
    /// Its class, and nothing else.
    Classes(Vec<u32>),
}

impl Predictions {
    /// Of which kind they are.
    pub fn kind(&self) -> TargetKind {
        self.head.kind()
    }

    /// The names of the classes, the labels or the columns of values.
    pub fn classes(&self) -> &[String] {
        self.head.names()
    }

    /// The number of nodes that are predicted.
    pub fn nodes(&self) -> usize {
        match &self.held {
            Held::Targets(targets) => targets.rows(),
            Held::Classes(classes) => classes.len(),
        }
    }

    /// Whether a node is predicted. What is said about others panics.
    pub fn has(&self, node: usize) -> bool {
        match &self.rows {
            None => node < self.nodes(),
            Some(rows) => rows.contains_key(&node),
        }
    }

    /// Whether there is more than [classes](Model::predict_classes): scores, and what is made of them.
    pub fn has_scores(&self) -> bool {
        matches!(self.held, Held::Targets(_))
    }

    /// With the class of each node and nothing else.
    pub(super) fn without_scores(mut self) -> Self {
        if let Held::Targets(targets) = &self.held {
            let class = |row: usize| self.head.decode(targets.row(row));
            self.held = Held::Classes((0..targets.rows()).into_par_iter().map(class).collect());
        }
        self
    }

    /// The target columns of a node.
    pub(super) fn row(&self, node: usize) -> &[f64] {
        match &self.held {
            Held::Targets(targets) => targets.row(self.position(node)),
            Held::Classes(_) => panic!("{NO_SCORES}"),
        }
    }

    /// Where a node is among those that are predicted.
    fn position(&self, node: usize) -> usize {
        match &self.rows {
            None => node,
            Some(rows) => *rows.get(&node).expect("the node is predicted"),
        }
    }

    /// The predicted class of a node, a position in [`Predictions::classes`].
    pub fn class(&self, node: usize) -> u32 {
        match &self.held {
            Held::Targets(_) => self.head.decode(self.row(node)),
            Held::Classes(classes) => classes[self.position(node)],
        }
    }

    /// The name of the predicted class of a node.
    pub fn name(&self, node: usize) -> &str {
        &self.classes()[self.class(node) as usize]
    }

    /// The nodes that are predicted to be in a class or to have a label, by its position; of values all of them.
    pub fn nodes_of(&self, class: usize) -> Vec<usize> {
        let belongs = |&node: &usize| match self.kind() {
            TargetKind::Classes => self.class(node) as usize == class,
            TargetKind::Sets => self.labels(node).contains(&(class as u32)),
            TargetKind::Values => true,
        };
        (0..self.nodes()).filter(belongs).collect()
    }

    /// The predicted labels of a node, positions in [`Predictions::classes`] in increasing order: those whose score is above
    /// the [threshold](Head::Sets). None where classes or values are predicted.
    pub fn labels(&self, node: usize) -> Vec<u32> {
        self.head.decode_set(self.row(node))
    }

    /// The predicted values of a node, one per column; the scores of the targets where these are no values.
    pub fn values(&self, node: usize) -> &[f64] {
        self.row(node)
    }

    /// The score of each class or label for a node; of classes the largest wins. Two classes share one regression
    /// target, so their scores are s and −s.
    pub fn scores(&self, node: usize) -> Vec<f64> {
        self.head.scores(self.row(node))
    }

    /// The probability of each class or label for a node; none of values. Those of classes add up to 1.
    pub fn probabilities(&self, node: usize) -> Vec<f64> {
        self.calibration.link().probabilities(&self.head, self.row(node))
    }

    /// What is plausible at a coverage, 0 to 1: to be asked by [`Predictions::plausible`] or
    /// [`Predictions::intervals`].
    ///
    /// # Errors
    /// A coverage that is not between 0 and 1.
    pub fn regions(&self, coverage: f64) -> Result<Regions> {
        self.calibration.regions(coverage)
    }

    /// The plausible classes or labels of a node, positions in [`Predictions::classes`] in increasing order; none where values
    /// are predicted.
    pub fn plausible(&self, node: usize, regions: &Regions) -> Vec<u32> {
        match self.kind() {
            TargetKind::Values => Vec::new(),
            TargetKind::Classes | TargetKind::Sets => regions.set(&self.probabilities(node)),
        }
    }

    /// From where to where the values of a node plausibly are, one pair per column; none where classes or labels are
    /// predicted.
    pub fn intervals(&self, node: usize, regions: &Regions) -> Vec<(f64, f64)> {
        match self.kind() {
            TargetKind::Values => regions.intervals(self.row(node)),
            TargetKind::Classes | TargetKind::Sets => Vec::new(),
        }
    }

    /// The regression targets, nodes × columns, in the order in which nodes were asked for: a score per class, or for two classes the score of the
    /// second, whose negative is that of the first.
    pub fn into_targets(self) -> Matrix<f64> {
        match self.held {
            Held::Targets(targets) => targets,
            Held::Classes(_) => panic!("{NO_SCORES}"),
        }
    }

    /// What a person should know about how the data were matched to the model.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
