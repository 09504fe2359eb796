//! How predictions compare with what is known of the nodes.

use super::Predictions;
use crate::data::Targets;
use crate::error::Result;
use crate::head::Truth;
use crate::matrix::Matrix;
use crate::metrics::Metric;
use std::collections::HashMap;

impl Predictions {
    /// A metric of those of the given nodes that are predicted and of which something is known; names are matched, and classes and labels that the model
    /// does not know are never predicted. `None` where nothing is known of any, or what is known is of another kind or has
    /// other columns of values.
    ///
    /// # Errors
    /// A metric that does not fit, or that the nodes are too few for.
    pub fn agreement(
        &self,
        targets: &Targets,
        nodes: &[usize],
        metric: Metric,
    ) -> Result<Option<f64>> {
        let is_compared = |node: &usize| targets.is_known(*node) && self.has(*node);
        let nodes: Vec<usize> = nodes.iter().copied().filter(is_compared).collect();
        if targets.kind() != self.kind() || nodes.is_empty() {
            return Ok(None);
        }
        let Some(truth) = self.truth(targets, &nodes) else { return Ok(None) };
        let truth = truth.judged_by(metric, "labelled")?;
        let scores = nodes.iter().map(|&node| self.row(node));
        Ok(Some(truth.judge_scores(scores).score))
    }

    /// What nodes are of which something is known, in the order of the model's names.
    fn truth(&self, targets: &Targets, nodes: &[usize]) -> Option<Truth> {
        let own: HashMap<&str, u32> =
            self.head.names().iter().zip(0..).map(|(name, k)| (name.as_str(), k)).collect();
        let position: Vec<Option<u32>> =
            targets.names().iter().map(|name| own.get(name.as_str()).copied()).collect();
        Some(match targets {
            Targets::Classes(labels) => {
                let class = |&node: &usize| position[labels.get(node)? as usize];
                Truth::of_classes(&self.head, nodes.iter().map(class).collect())
            }
            Targets::Sets(sets) => {
                let set = |&node: &usize| {
                    let all = sets.get(node).unwrap_or_default();
                    let known: Vec<u32> =
                        all.iter().filter_map(|&label| position[label as usize]).collect();
                    let unknown = all.len() - known.len();
                    (known, unknown)
                };
                Truth::of_sets(&self.head, nodes.iter().map(set))
            }
            Targets::Values(values) => {
                let mut matrix = Matrix::zeros(nodes.len(), self.head.columns());
                if position.iter().flatten().count() < self.head.columns() {
                    return None;
                }
                for (i, &node) in nodes.iter().enumerate() {
                    let row = values.get(node).unwrap_or_default().iter().zip(&position);
                    row.filter_map(|(value, place)| Some((value, (*place)?)))
                        .for_each(|(&value, place)| matrix[(i, place as usize)] = value);
                }
                Truth::of_values(&self.head, matrix)
            }
        })
    }
}
