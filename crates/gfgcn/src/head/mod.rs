//! What is learnt: how classes, sets of labels or values become the targets Y of a ridge problem, and scores become
//! predictions.
//!
//! The ridge problem sees plain numbers. A [`Head`] says what its columns stand for and decodes scores, a [`Truth`] is
//! what some nodes are and judges scores by it (`tally.rs`: one node at a time), an [`Objective`] is what is asked for;
//! `supervision.rs` has what a split of a dataset asks of them.

mod objective;
mod supervision;
mod tally;
mod truth;

pub use objective::{ClassWeights, Objective};
pub(crate) use supervision::{Lesson, Supervision, target_columns};
pub use truth::Truth;

use crate::data::TargetKind;
use serde::{Deserialize, Serialize};

/// What is learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Head {
    /// One class per node.
    ///
    /// Three classes or more have one target column each, 1 for the node's class and 0 elsewhere. Two classes share one
    /// column, −1 and +1. One class has one column of ones.
    Classes {
        /// The names of the classes.
        names: Vec<String>,
    },
    /// A set of labels per node: one target column per label, 1 for those that the node has and 0 for the others.
    Sets {
        /// The names of the labels.
        names: Vec<String>,
        /// Labels that score higher are predicted. Chosen on left-out scores, for the best micro-F1 of all labels together.
        threshold: f64,
    },
    /// Numbers, one target column each.
    Values {
        /// The names of the columns.
        names: Vec<String>,
    },
}

impl Head {
    /// One of the named classes per node.
    pub fn classes(names: Vec<String>) -> Self {
        Head::Classes { names }
    }

    /// Any of the named labels per node; predicted are those that score higher than ½ until a threshold is chosen.
    pub fn sets(names: Vec<String>) -> Self {
        Head::Sets { names, threshold: 0.5 }
    }

    /// The named values per node.
    pub fn values(names: Vec<String>) -> Self {
        Head::Values { names }
    }

    /// Of which kind the targets are.
    pub fn kind(&self) -> TargetKind {
        match self {
            Head::Classes { .. } => TargetKind::Classes,
            Head::Sets { .. } => TargetKind::Sets,
            Head::Values { .. } => TargetKind::Values,
        }
    }

    /// The names of the classes, the labels or the columns of values.
    pub fn names(&self) -> &[String] {
        match self {
            Head::Classes { names } | Head::Sets { names, .. } | Head::Values { names } => names,
        }
    }

    /// The number of target columns.
    pub fn columns(&self) -> usize {
        columns_of(self.kind(), self.names().len())
    }

    /// The class that a row of scores stands for: with one column for two classes its sign; with one per
    /// class the largest, the first of equals.
    pub fn decode(&self, scores: &[f64]) -> u32 {
        if self.names().len() == 2 && scores.len() == 1 {
            return u32::from(scores[0] > 0.0);
        }
        let (mut best, mut highest) = (0, scores.first().copied().unwrap_or(0.0));
        for (class, &score) in (0..).zip(scores) {
            // Chosen, not branched to: which score is the highest cannot be foreseen.
            let higher = score > highest;
            best = if higher { class } else { best };
            highest = if higher { score } else { highest };
        }
        best
    }

    /// The labels that a row of scores stands for, in increasing order: those above the threshold. None of other kinds.
    pub fn decode_set(&self, scores: &[f64]) -> Vec<u32> {
        let Head::Sets { threshold, .. } = self else { return Vec::new() };
        let chosen = scores.iter().zip(0..).filter(|(score, _)| *score > threshold);
        chosen.map(|(_, label)| label).collect()
    }

    /// A row of scores with one entry per name. Of classes the largest wins; two share one target, so theirs
    /// are s and −s.
    pub fn scores(&self, row: &[f64]) -> Vec<f64> {
        let mut scores = Vec::new();
        self.scores_into(row, &mut scores);
        scores
    }

    /// Appends them instead.
    pub(crate) fn scores_into(&self, row: &[f64], out: &mut Vec<f64>) {
        match row {
            [score] if self.names().len() == 2 => out.extend([-score, *score]),
            _ => out.extend_from_slice(row),
        }
    }
}

/// The number of target columns of so many classes, labels or columns of values.
fn columns_of(kind: TargetKind, names: usize) -> usize {
    if kind == TargetKind::Classes && names == 2 { 1 } else { names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Judged;
    use crate::error::Result;
    use crate::matrix::Matrix;
    use crate::metrics::Metric;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|class| class.to_string()).collect()
    }

    fn judged(truth: &Truth, metric: Metric, scores: &[Vec<f64>]) -> f64 {
        let truth = truth.clone().judged_by(metric, "test").unwrap();
        truth.judge_scores(scores.iter().map(Vec::as_slice)).score
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for classes in 1..5 {
            let head = Head::classes(names(classes));
            let all: Vec<Option<u32>> = (0..classes as u32).map(Some).collect();
            let truth = Truth::of_classes(&head, all.clone());
            for (k, class) in all.iter().enumerate() {
                assert_eq!(Some(head.decode(truth.matrix().row(k))), *class);
                assert_eq!(truth.judge(k, truth.matrix().row(k)), (true, 0.0));
            }
        }
        for labels in 1..4 {
            let head = Head::sets(names(labels));
            let sets = vec![(vec![], 0), ((0..labels as u32).collect::<Vec<_>>(), 0)];
            let truth = Truth::of_sets(&head, sets.clone().into_iter());
            for (k, (set, _)) in sets.iter().enumerate() {
                assert_eq!(&head.decode_set(truth.matrix().row(k)), set, "{labels} labels");
            }
        }
    }

    #[test]
    fn a_class_that_is_not_known_is_none_of_the_others() {
        for (classes, scores) in [(2, vec![0.5]), (3, vec![0.5, 0.0, 0.0])] {
            let truth = Truth::of_classes(&Head::classes(names(classes)), vec![None]);
            assert!(truth.matrix().as_slice().iter().all(|&y| y == 0.0), "{classes} classes");
            assert_eq!(truth.judge(0, &scores), (false, 0.25));
        }
    }

    /// By hand: of class 0 both nodes are right, of class 1 one of two, of an unknown class none.
    #[test]
    fn classes_are_judged_as_in_textbooks() {
        let classes = vec![Some(0), Some(0), Some(1), Some(1), None];
        let truth = Truth::of_classes(&Head::classes(names(3)), classes);
        let scores: Vec<Vec<f64>> =
            [[0.9, 0.1, 0.0], [0.6, 0.4, 0.0], [0.7, 0.3, 0.0], [0.2, 0.8, 0.0], [0.1, 0.2, 0.0]]
                .map(|row| row.to_vec())
                .to_vec();
        let close = |metric: Metric, expected: f64| {
            let found = judged(&truth, metric, &scores);
            assert!((found - expected).abs() < 1e-12, "{metric}: {found} {expected}");
        };
        close(Metric::Accuracy, 3.0 / 5.0);
        close(Metric::BalancedAccuracy, (1.0 + 0.5 + 0.0) / 3.0);
        // Class 0: precision 2/3, recall 1. Class 1: precision 1/2, recall 1/2. The unknown one: 0. Class 2 is nowhere.
        close(Metric::MacroF1, (0.8 + 0.5 + 0.0) / 3.0);
        // Pairs of class 0 and others: 0.9 beats all three, 0.6 two. Of class 1: 0.3 beats two of three, 0.8 all.
        close(Metric::Auc, (5.0 / 6.0 + 5.0 / 6.0) / 2.0);
        // Class 0 stands at places 1 and 3; class 1 at places 1 and 3.
        close(Metric::AveragePrecision, (1.0 + 2.0 / 3.0) / 2.0);
    }

    #[test]
    fn sets_are_judged_with_as_many_labels_as_a_node_has() {
        let head = Head::sets(names(3));
        let sets = vec![(vec![0, 2], 0), (vec![1], 0), (vec![], 0), (vec![0], 1)];
        let truth = Truth::of_sets(&head, sets.into_iter());
        let scores: Vec<Vec<f64>> =
            [[0.9, 0.5, 0.1], [0.2, 0.1, 0.0], [0.9, 0.9, 0.9], [0.5, 0.4, 0.3]]
                .map(|row| row.to_vec())
                .to_vec();
        // Predicted: {0, 1}, {0}, {}, {0, 1}; right are the first's 0 and the last's 0. One label is not known.
        let micro = 2.0 * 2.0 / (5.0 + 5.0);
        assert!((judged(&truth, Metric::MicroF1, &scores) - micro).abs() < 1e-12);
        // Label 0: 2 of 3 predictions, support 2. Label 1: none of 2, support 1. Label 2: never. The unknown one: never.
        let macro_f1 = (4.0 / 5.0 + 0.0 + 0.0 + 0.0) / 4.0;
        assert!((judged(&truth, Metric::MacroF1, &scores) - macro_f1).abs() < 1e-12);
    }

    #[test]
    fn values_are_judged_in_their_columns() -> Result<()> {
        let values = Matrix::from_rows(3, 2, vec![1.0, 10.0, 2.0, 10.0, 6.0, 10.0])?;
        let truth = Truth::of_values(&Head::values(names(2)), values);
        let scores: Vec<Vec<f64>> = [[2.0, 10.0], [2.0, 10.0], [4.0, 11.0]].map(Vec::from).to_vec();
        // The first column varies by 4 + 1 + 9 around its mean of 3, the second not at all.
        let r2 = ((1.0 - 5.0 / 14.0) + 0.0) / 2.0;
        assert!((judged(&truth, Metric::R2, &scores) - r2).abs() < 1e-12);
        assert!((judged(&truth, Metric::Mae, &scores) - (1.0 + 1.0 / 3.0) / 2.0).abs() < 1e-12);
        let mean: Vec<Vec<f64>> = vec![vec![3.0, 10.0]; 3];
        assert!((judged(&truth, Metric::R2, &mean) - 0.5).abs() < 1e-12);
        Ok(())
    }

    /// Sums over the nodes, which a device has instead of their scores, say the same.
    #[test]
    fn sums_say_what_scores_say() {
        let weights: Vec<f64> = (0..30).map(|node| 1.0 + f64::from(node % 4)).collect();
        let classes = (0..30u32).map(|k| (!k.is_multiple_of(7)).then_some(k % 3)).collect();
        let classes = Truth::of_classes(&Head::classes(names(3)), classes);
        let values = Matrix::from_fn(30, 2, |i, j| (i * (j + 2) % 11) as f64);
        let values = Truth::of_values(&Head::values(names(2)), values);
        let mae = values.clone().judged_by(Metric::Mae, "training").unwrap();
        for truth in [classes, values, mae].map(|truth| truth.with_weights(Some(weights.clone()))) {
            let columns = truth.matrix().cols();
            let scores = Matrix::from_fn(30, columns, |i, j| ((i * 7 + j * 5) % 13) as f64 / 5.0);
            let mut judged = Judged { correct: 0, errors: vec![[0.0; 3]; columns] };
            for node in 0..30 {
                judged.correct += usize::from(truth.judge(node, scores.row(node)).0);
                for (column, errors) in judged.errors.iter_mut().enumerate() {
                    let error = scores[(node, column)] - truth.matrix()[(node, column)];
                    let terms = [weights[node] * error * error, error * error, error.abs()];
                    errors.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                }
            }
            assert!(truth.is_judged_by_sums());
            let found = truth.verdict(&truth.tally_of(&judged));
            let expected = truth.judge_scores((0..30).map(|node| scores.row(node)));
            assert_eq!((found.correct, found.total), (expected.correct, expected.total));
            assert!((found.score - expected.score).abs() < 1e-12, "{found:?} {expected:?}");
            assert!((found.squared_error / expected.squared_error - 1.0).abs() < 1e-12);
        }
        let sets = Truth::of_sets(&Head::sets(names(2)), [(vec![0], 0)].into_iter());
        assert!(!sets.is_judged_by_sums(), "labels are counted one by one");
    }

    #[test]
    fn a_metric_that_cannot_be_computed_is_refused() {
        let truth = Truth::of_classes(&Head::classes(names(2)), vec![Some(1), Some(1)]);
        let message = truth.clone().judged_by(Metric::Auc, "test").unwrap_err().to_string();
        assert!(message.contains("auc") && message.contains("test part"), "{message}");
        assert!(truth.judged_by(Metric::R2, "test").is_err());
    }

    /// Counting in parts and joining them is counting all at once.
    #[test]
    fn tallies_of_parts_join() {
        let head = Head::classes(names(3));
        let truth = Truth::of_classes(&head, (0..300).map(|k| Some(k % 3)).collect());
        let scores: Vec<Vec<f64>> =
            (0..300).map(|k| (0..3).map(|j| f64::from((k * 7 + j * 5) % 11)).collect()).collect();
        for metric in [Metric::Accuracy, Metric::MacroF1, Metric::Auc, Metric::AveragePrecision] {
            let truth = truth.clone().judged_by(metric, "training").unwrap();
            let mut joined = tally::Tally::default();
            for part in [0..100, 100..101, 101..300] {
                let mut own = tally::Tally::default();
                part.for_each(|node| truth.count(&mut own, node, &scores[node]));
                joined.add(own);
            }
            let (joined, whole) = (truth.verdict(&joined).score, judged(&truth, metric, &scores));
            assert!((joined - whole).abs() < 1e-15, "{metric}: {joined} {whole}");
        }
    }
}
