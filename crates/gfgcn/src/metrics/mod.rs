//! How good predictions are.

mod metric;
mod ranking;
mod reliability;

pub use metric::Metric;

pub(crate) use ranking::{Ranked, auc, average_precision, best_threshold};
pub use reliability::{Bin, Reliability};

use crate::data::Labels;
use crate::split::Split;
use serde::Serialize;

/// Counts of true against predicted classes, and what follows from them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Share of nodes whose class was predicted, 0 to 1.
    pub accuracy: f64,
    /// Mean F1 over the classes; those that are neither there nor predicted do not count.
    pub macro_f1: f64,
    /// Mean F1 over the classes, weighted by their size.
    pub weighted_f1: f64,
    /// One entry per class.
    pub classes: Vec<ClassMetrics>,
    /// `confusion[true][predicted]`.
    pub confusion: Vec<Vec<usize>>,
}

/// The metrics of one class. Where a denominator is 0 the value is 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassMetrics {
    /// The class's name.
    pub class: String,
    /// Nodes of this class.
    pub support: usize,
    /// Of the nodes predicted to be in the class, the share that is.
    pub precision: f64,
    /// Of the nodes in the class, the share predicted to be.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
}

impl Metrics {
    /// Compares pairs of (true, predicted) class numbers, each below `classes.len()`.
    ///
    /// ```
    /// use gfgcn::metrics::Metrics;
    /// let classes = ["a".to_string(), "b".to_string()];
    /// let metrics = Metrics::new(&classes, [(0, 0), (0, 1), (1, 1), (1, 1)]);
    /// assert_eq!(metrics.accuracy, 0.75);
    /// assert_eq!(metrics.confusion, [[1, 1], [0, 2]]);
    /// assert_eq!(metrics.classes[0].recall, 0.5);
    /// ```
    pub fn new(classes: &[String], pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut confusion = vec![vec![0; classes.len()]; classes.len()];
        for (truth, prediction) in pairs {
            confusion[truth as usize][prediction as usize] += 1;
        }
        let ratio = |part: usize, whole: usize| {
            if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
        };
        let per_class: Vec<ClassMetrics> = classes
            .iter()
            .enumerate()
            .map(|(c, class)| {
                let hits = confusion[c][c];
                let support = confusion[c].iter().sum();
                let predicted = confusion.iter().map(|row| row[c]).sum();
                ClassMetrics {
                    class: class.clone(),
                    support,
                    precision: ratio(hits, predicted),
                    recall: ratio(hits, support),
                    f1: ratio(2 * hits, support + predicted),
                }
            })
            .collect();
        let total: usize = per_class.iter().map(|c| c.support).sum();
        let hits = (0..classes.len()).map(|c| confusion[c][c]).sum();
        let weighted: f64 = per_class.iter().map(|c| c.f1 * c.support as f64).sum();
        let predicted = |c: usize| confusion.iter().any(|row| row[c] > 0);
        let found = (0..classes.len()).filter(|&c| per_class[c].support > 0 || predicted(c));
        Metrics {
            accuracy: ratio(hits, total),
            macro_f1: per_class.iter().map(|c| c.f1).sum::<f64>() / found.count().max(1) as f64,
            weighted_f1: weighted / total.max(1) as f64,
            classes: per_class,
            confusion,
        }
    }
}

impl Metrics {
    /// The same metrics with every share in percent.
    #[must_use]
    pub fn in_percent(mut self) -> Self {
        let of_classes =
            self.classes.iter_mut().flat_map(|c| [&mut c.precision, &mut c.recall, &mut c.f1]);
        [&mut self.accuracy, &mut self.macro_f1, &mut self.weighted_f1]
            .into_iter()
            .chain(of_classes)
            .for_each(|share| *share *= 100.0);
        self
    }
}

/// The share of a split's labelled test nodes whose class was predicted, in percent; the predictions
/// are in the order of the test part.
pub fn test_accuracy(labels: &Labels, split: &Split, predictions: &[u32]) -> f64 {
    let judged = split
        .test()
        .iter()
        .zip(predictions)
        .filter_map(|(&node, &prediction)| labels.get(node).map(|truth| truth == prediction));
    let (hits, total) =
        judged.fold((0, 0), |(hits, total), hit| (hits + usize::from(hit), total + 1));
    100.0 * hits as f64 / f64::from(total)
}

/// Mean and spread of repeated measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation (n − 1); `None` for a single value.
    pub std: Option<f64>,
    /// The standard error of the mean; `None` for a single value.
    pub std_error: Option<f64>,
}

impl Summary {
    /// Summarises at least one value.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let std = (values.len() > 1)
            .then(|| (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt());
        Summary { mean, std, std_error: std.map(|s| s / n.sqrt()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted by hand: class a 2 of 4 found in 3 guesses, b 2 of 3 in 4, c 2 of 3 in 3.
    #[test]
    fn metrics_equal_a_worked_example() {
        let truth = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2];
        let predicted = [0, 0, 1, 2, 1, 1, 0, 2, 2, 1];
        let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let metrics = Metrics::new(&names, truth.into_iter().zip(predicted));
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(metrics.accuracy, 0.6);
        close(metrics.classes[0].precision, 2.0 / 3.0);
        close(metrics.classes[0].recall, 0.5);
        close(metrics.classes[0].f1, 4.0 / 7.0);
        close(metrics.classes[1].f1, 4.0 / 7.0);
        close(metrics.classes[2].f1, 2.0 / 3.0);
        close(metrics.macro_f1, (4.0 / 7.0 + 4.0 / 7.0 + 2.0 / 3.0) / 3.0);
        close(metrics.weighted_f1, (4.0 * 4.0 / 7.0 + 3.0 * 4.0 / 7.0 + 3.0 * 2.0 / 3.0) / 10.0);
    }

    #[test]
    fn a_single_value_has_no_spread() {
        assert_eq!(Summary::of(&[3.0]).std, None);
        let summary = Summary::of(&[1.0, 3.0]);
        assert_eq!(
            (summary.mean, summary.std, summary.std_error),
            (2.0, Some(2f64.sqrt()), Some(1.0))
        );
    }
}
