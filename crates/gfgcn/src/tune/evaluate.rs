//! What the search is worth: the whole of it, on every split.

use super::Search;
use crate::calibration::Calibrated;
use crate::context::Context;
use crate::data::{Dataset, TargetKind};
use crate::error::{Error, Result};
use crate::head::Supervision;
use crate::metrics::{Metric, Summary};
use crate::ridge::Ridge;
use crate::split::Split;
use std::time::{Duration, Instant};

/// What a search achieved over splits.
#[derive(Clone, Debug)]
pub struct Searched {
    /// What test nodes are judged by.
    pub metric: Metric,
    /// The metric on the test nodes, one per split; in percent where it is a [share](Metric::is_share).
    pub scores: Vec<f64>,
    /// Test accuracy in percent, one per split; empty where the targets are no classes.
    pub accuracies: Vec<f64>,
    /// On how many splits a stack replaced the paper's default.
    pub stacked: usize,
    /// How well probabilities and prediction sets hold on the test nodes.
    pub calibrated: Calibrated,
    /// Searching and training, all splits together.
    pub fit: Duration,
    /// Scoring every node, all splits together.
    pub predict: Duration,
}

impl Searched {
    /// Mean and spread of the scores.
    pub fn score(&self) -> Summary {
        Summary::of(&self.scores)
    }

    /// Mean accuracy and its spread, in percent; `None` where the targets are no classes.
    pub fn accuracy(&self) -> Option<Summary> {
        (!self.accuracies.is_empty()).then(|| Summary::of(&self.accuracies))
    }
}

impl Search {
    /// Searches on the training part of every split and judges the test part: exactly what a user of
    /// [`Search::run`] gets. The context's observer is told after each learner.
    ///
    /// # Errors
    /// A split without test nodes of which something is known, or whatever [`Search::run`] refuses.
    pub fn evaluate(
        &self,
        dataset: &Dataset,
        splits: &[Split],
        context: &Context,
    ) -> Result<Searched> {
        if splits.is_empty() {
            return Err(Error::Data("there is no split to evaluate on".into()));
        }
        let mut result = Searched {
            metric: self.objective.metric_for(dataset.targets().kind())?,
            scores: Vec::new(),
            accuracies: Vec::new(),
            stacked: 0,
            calibrated: Calibrated::default(),
            fit: Duration::ZERO,
            predict: Duration::ZERO,
        };
        for split in splits {
            split.check_test(dataset.targets())?;
            let start = Instant::now();
            let tuned = self.run(dataset, split, context)?;
            result.fit += start.elapsed();
            let start = Instant::now();
            let scores = tuned.model.predict(dataset, context)?.into_targets();
            result.predict += start.elapsed();
            let supervision =
                Supervision::new(dataset.targets(), split, &Ridge::default(), &self.objective)?;
            let (nodes, truth) = supervision.truth_of_test(split.test())?;
            let rows = nodes.iter().map(|&node| scores.row(node));
            result.calibrated.add(tuned.model.calibration(), &truth, rows.clone());
            let judged = truth.judge_scores(rows);
            let percent = |share: f64| 100.0 * share;
            let shown = if result.metric.is_share() { percent(judged.score) } else { judged.score };
            result.scores.push(shown);
            if dataset.targets().kind() == TargetKind::Classes {
                result.accuracies.push(percent(judged.accuracy()));
            }
            result.stacked += usize::from(tuned.stacked);
        }
        Ok(result)
    }
}
