//! Which labelled nodes have the most influence on a model.

use super::{Cause, Explainer, Reasons, View};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Model;
use std::collections::HashMap;

/// How much each labelled node has to do with what is predicted: the size of its term in the mean score of the nodes of each
/// class, for that class, weighted by how many nodes these are. Without the node's coefficient, these mean scores would
/// be so much larger or smaller on average.
#[derive(Clone, Debug, Default)]
pub struct Influence {
    sizes: HashMap<usize, f64>,
    nodes: usize,
}

impl Influence {
    /// Adds the nodes of a class, of which there are so many, by [why](super::Explainer::mean) their mean score is what it is.
    pub fn add(&mut self, reasons: &Reasons, class: usize, nodes: usize) {
        for (cause, term) in reasons.terms(View::Labelled, class) {
            if let Cause::Labelled(node) = cause {
                *self.sizes.entry(node).or_default() += nodes as f64 * term.abs();
            }
        }
        self.nodes += nodes;
    }

    /// Labelled nodes, of the graph that was trained on, the most influential first.
    pub fn nodes(&self) -> Vec<(usize, f64)> {
        let mean = |(&node, size): (&usize, &f64)| (node, size / self.nodes as f64);
        let mut all: Vec<(usize, f64)> = self.sizes.iter().map(mean).collect();
        all.sort_by(|(m, a), (n, b)| b.total_cmp(a).then(m.cmp(n)));
        all
    }
}

impl Model {
    /// The [influence](Influence) of each labelled node on what is predicted of some data, the largest first; nothing where it is
    /// [not known](View::Labelled).
    ///
    /// # Errors
    /// As [`Model::explain`].
    pub fn influence(&self, dataset: &Dataset, context: &Context) -> Result<Vec<(usize, f64)>> {
        let predictions = self.predict(dataset, context)?;
        let (mut explainer, mut influence) = (Explainer::new(self, dataset), Influence::default());
        for class in 0..self.classes().len() {
            let nodes = predictions.nodes_of(class);
            if !nodes.is_empty() {
                influence.add(&explainer.mean(&nodes, context)?, class, nodes.len());
            }
        }
        Ok(influence.nodes())
    }
}
