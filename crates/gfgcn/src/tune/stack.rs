//! Adding up learners by how well they predict nodes they have not seen.
//!
//! The left-out scores P_c of every learner are honest predictions, so weighting by them does not reward overfitting. The
//! scores of classes are added up by how likely they make the left-out nodes' classes ([`Likelihood`]), those of label
//! sets and values by least squares:
//!
//! ```text
//! w = argmin_{w ≥ 0} ‖Y − Σ_c w_c P_c‖² + ρ ‖Y‖² ‖w‖²,    scores Σ_c w_c T_c
//! ```
//!
//! The paper's default stays unless this stack is better beyond chance: by the likelihood of the left-out nodes' classes
//! (or their squared error, where targets are no classes), more than three standard errors of the paired comparison. Three,
//! because the weights were chosen on the same nodes.

use crate::calibration::{Likelihood, Normal};
use crate::data::{TargetKind, mix};
use crate::head::Truth;
use crate::matrix::Matrix;
use crate::metrics::Metric;
use rayon::prelude::*;
use serde::Serialize;

/// The penalty on weights by least squares, as a share of the targets' squares: learners that say the same share their
/// weight.
const PENALTY_OF_SQUARES: f64 = 0.001;
/// The penalty on weights by likelihood; anything between 1e-5 and 1e-3 does as well.
const PENALTY_OF_LIKELIHOOD: f64 = 2e-4;
/// The penalty on the factor that turns one score into a likelihood: only so that it is finite.
const PENALTY_OF_FACTOR: f64 = 1e-8;
/// Standard errors by which the stack must beat the incumbent.
const BEYOND_CHANCE: f64 = 3.0;
/// Standard errors by which one thing says more than another, where nothing was chosen by it.
const SAYS_MORE: f64 = 2.0;
/// How often the choice is repeated on two thirds of the nodes, to see what to expect.
const REPETITIONS: u64 = 20;
/// Nodes without which only an accuracy has an interval.
const LEAST_NODES: usize = 10;
/// Nodes that this takes, at most: with more of them, what is chosen differs too little to matter.
const REPEATED_ON: usize = 10_000;

/// Parts of the nodes, each of which is weighted by what the others say, to see what scores are worth.
const FOLDS: u64 = 10;

/// What to expect on nodes that had no part in the choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// What is measured.
    pub metric: Metric,
    /// Its value.
    pub score: f64,
    /// The standard error of the value on so many nodes.
    pub std_error: f64,
    /// From where to where it is with a confidence of 95 %; a share within 0 and 1 (Wilson's interval for the accuracy).
    pub interval: (f64, f64),
}

/// The left-out scores of all candidates, and what they should have been.
pub(super) struct Ballot<'a> {
    targets: &'a Truth,
    /// Training nodes × targets each; the first is the incumbent where there is one.
    scores: Vec<&'a Matrix<f64>>,
    incumbent: bool,
    /// What values are measured from, and in: their mean and spread. 0 and 1 for other targets.
    origin: Vec<f64>,
    unit: Vec<f64>,
}

/// What is chosen: the incumbent, or the sum of all with these weights.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    Incumbent,
    Stack(Vec<f64>),
}

impl<'a> Ballot<'a> {
    pub(super) fn new(targets: &'a Truth, scores: Vec<&'a Matrix<f64>>, incumbent: bool) -> Self {
        let y = targets.matrix();
        let (mut origin, mut unit) = (vec![0.0; y.cols()], vec![1.0; y.cols()]);
        if targets.head().kind() == TargetKind::Values {
            origin = y.column_means();
            for (t, unit) in unit.iter_mut().enumerate() {
                let squares = (0..y.rows()).map(|i| (y[(i, t)] - origin[t]).powi(2)).sum::<f64>();
                let deviation = (squares / y.rows() as f64).sqrt();
                *unit = if deviation > 0.0 { deviation } else { 1.0 };
            }
        }
        Ballot { targets, scores, incumbent, origin, unit }
    }

    fn nodes(&self) -> usize {
        self.targets.matrix().rows()
    }

    fn is_of_classes(&self) -> bool {
        let head = self.targets.head();
        head.kind() == TargetKind::Classes && head.names().len() > 1
    }

    /// The weights of all candidates that are best on some nodes.
    fn weights(&self, nodes: &[usize]) -> Vec<f64> {
        let mut weights = match self.is_of_classes() {
            true => self.weights_by_likelihood(nodes),
            false => self.normal(nodes).solve(PENALTY_OF_SQUARES),
        };
        // Where nothing says anything, the first is as good as any.
        if weights.iter().all(|&weight| weight == 0.0) {
            weights[0] = 1.0;
        }
        weights
    }

    /// A likelihood does not know what scores are targets; a common factor brings them there.
    fn weights_by_likelihood(&self, nodes: &[usize]) -> Vec<f64> {
        let likelihood = Likelihood::new(self.targets, &self.scores);
        let mut weights = likelihood.weights(nodes, PENALTY_OF_LIKELIHOOD);
        let combined = self.combined(&weights);
        let mut normal = Normal::new(1);
        for &node in nodes {
            let root = self.targets.weight(node).sqrt();
            let pairs = combined.row(node).iter().zip(self.targets.matrix().row(node));
            pairs.for_each(|(score, y)| normal.add(&[root * score], root * y));
        }
        let factor = normal.solve(0.0)[0];
        weights.iter_mut().for_each(|weight| *weight *= factor);
        weights
    }

    /// The normal equations of some nodes.
    fn normal(&self, nodes: &[usize]) -> Normal {
        let mut normal = Normal::new(self.scores.len());
        let mut row = vec![0.0; self.scores.len()];
        for &node in nodes {
            let root = self.targets.weight(node).sqrt();
            for (t, &y) in self.targets.matrix().row(node).iter().enumerate() {
                let measured = |value: f64| root * (value - self.origin[t]) / self.unit[t];
                row.iter_mut().zip(&self.scores).for_each(|(out, p)| *out = measured(p[(node, t)]));
                normal.add(&row, measured(y));
            }
        }
        normal
    }

    /// The weighted sum of all candidates' left-out scores.
    pub(super) fn combined(&self, weights: &[f64]) -> Matrix<f64> {
        let targets = self.targets.matrix();
        let mut total = Matrix::zeros(targets.rows(), targets.cols());
        for (scores, &weight) in self.scores.iter().zip(weights).filter(|(_, w)| **w > 0.0) {
            total.add_scaled(weight, scores);
        }
        total.add_to_rows(1.0, &self.constants(weights));
        total
    }

    /// What the sum has to be moved by, because values are weighted by how they differ from their mean.
    pub(super) fn constants(&self, weights: &[f64]) -> Vec<f64> {
        let rest = 1.0 - weights.iter().sum::<f64>();
        self.origin.iter().map(|origin| rest * origin).collect()
    }

    /// What is best on all training nodes.
    pub(super) fn choice(&self) -> Choice {
        self.choice_by(&(0..self.nodes()).collect::<Vec<usize>>())
    }

    fn choice_by(&self, nodes: &[usize]) -> Choice {
        let weights = self.weights(nodes);
        if !self.incumbent {
            return Choice::Stack(weights);
        }
        let stack = self.quality(&self.combined(&weights), nodes);
        match surplus(&stack, &self.quality(self.scores[0], nodes)) > BEYOND_CHANCE {
            true => Choice::Stack(weights),
            false => Choice::Incumbent,
        }
    }

    /// The left-out scores of what was chosen.
    pub(super) fn chosen(&self, choice: &Choice) -> Matrix<f64> {
        match choice {
            Choice::Incumbent => self.scores[0].clone(),
            Choice::Stack(weights) => self.combined(weights),
        }
    }

    /// The left-out scores of what was chosen, each node's weighted by what the others say: weights that were chosen on the very
    /// nodes make their scores look better than those of other nodes are. Nodes are put together by their keys, so that
    /// their order does not matter.
    pub(super) fn unflattered(&self, choice: &Choice, keys: &[u64]) -> Matrix<f64> {
        let mut scores = self.chosen(choice);
        // With many nodes, what is chosen without some of them differs too little to matter.
        if *choice == Choice::Incumbent || keys.len() > REPEATED_ON {
            return scores;
        }
        let fold_of = |node: usize| mix(keys[node]) % FOLDS;
        let of_fold = |fold: u64| {
            let (own, others): (Vec<usize>, Vec<usize>) =
                (0..keys.len()).partition(|&node| fold_of(node) == fold);
            let needed = !own.is_empty() && !others.is_empty();
            needed.then(|| {
                let weighted = self.combined(&self.weights(&others)).select_rows(&own);
                (own, weighted)
            })
        };
        let folds: Vec<(Vec<usize>, Matrix<f64>)> =
            (0..FOLDS).into_par_iter().filter_map(of_fold).collect();
        for (own, weighted) in folds {
            let rows = own.iter().enumerate();
            rows.for_each(|(k, &node)| scores.row_mut(node).copy_from_slice(weighted.row(k)));
        }
        scores
    }

    /// Whether a candidate is as good as what was chosen, as far as chance allows to tell.
    pub(super) fn is_as_good(&self, candidate: usize, choice: &Choice) -> bool {
        let all: Vec<usize> = (0..self.nodes()).collect();
        let own = self.quality(self.scores[candidate], &all);
        surplus(&self.quality(&self.chosen(choice), &all), &own) < SAYS_MORE
    }

    /// How good scores are for each of some nodes: the log-likelihood of its class, or its negative squared error.
    fn quality(&self, scores: &Matrix<f64>, nodes: &[usize]) -> Vec<f64> {
        if !self.is_of_classes() {
            let error = |&node: &usize| -self.targets.squared_error(node, scores.row(node));
            return nodes.iter().map(error).collect();
        }
        let only = [scores];
        let likelihood = Likelihood::new(self.targets, &only);
        likelihood.of_nodes(nodes, &likelihood.weights(nodes, PENALTY_OF_FACTOR))
    }

    /// Repeats the choice on two thirds of the nodes and judges it on the rest; `None` where there are too few nodes for that.
    /// Nodes are drawn by their keys, so that their order does not matter.
    pub(super) fn expected(&self, keys: &[u64]) -> Option<Expected> {
        let mut nodes: Vec<usize> = (0..keys.len()).collect();
        nodes.sort_by_key(|&node| mix(keys[node]));
        nodes.truncate(REPEATED_ON);
        let metric = self.targets.metric();
        if metric != Metric::Accuracy && nodes.len() < LEAST_NODES {
            return None;
        }
        let judge = |repetition: u64| {
            let chooses = |&node: &usize| !mix(keys[node] ^ mix(repetition)).is_multiple_of(3);
            let (choosing, judging): (Vec<usize>, Vec<usize>) =
                nodes.iter().partition(|n| chooses(n));
            let truth = self.targets.part(&judging).judged_by(metric, "judging").ok()?;
            if choosing.is_empty() || judging.is_empty() {
                return None;
            }
            let scores = self.chosen(&self.choice_by(&choosing));
            let rows = judging.iter().map(|&node| scores.row(node));
            Some((truth.judge_scores(rows).score, judging.len() as f64))
        };
        let judged: Vec<(f64, f64)> = (1..=REPETITIONS).into_par_iter().filter_map(judge).collect();
        let all = judged.iter().map(|(_, nodes)| nodes).sum::<f64>();
        let score = judged.iter().map(|(score, nodes)| score * nodes).sum::<f64>() / all;
        if !score.is_finite() {
            return None;
        }
        if metric == Metric::Accuracy {
            // One success and one failure more, so that a few nodes without a failure prove little.
            let n = keys.len() as f64;
            let share = (score * n + 1.0) / (n + 2.0);
            let std_error = (share * (1.0 - share) / (n + 2.0)).sqrt();
            return Some(Expected { metric, score, std_error, interval: wilson(score, n) });
        }
        // Scores of a third of the nodes spread by √3 times what those of all of them would; drawn again and again from the
        // same ones, they spread by √⅔ of that.
        let squares = judged.iter().map(|(own, _)| (own - score) * (own - score)).sum::<f64>();
        let repeated_on = nodes.len() as f64 / keys.len() as f64;
        let std_error = (squares / judged.len() as f64 / 2.0 * repeated_on).sqrt();
        let (mut low, mut high) = (score - 1.96 * std_error, score + 1.96 * std_error);
        if metric.is_share() {
            (low, high) = (low.max(0.0), high.min(1.0));
        }
        Some(Expected { metric, score, std_error, interval: (low, high) })
    }
}

/// By how many standard errors the first is better, in a paired comparison.
fn surplus(first: &[f64], second: &[f64]) -> f64 {
    let n = first.len() as f64;
    let differences = || first.iter().zip(second).map(|(a, b)| a - b);
    let mean = differences().sum::<f64>() / n;
    let variance = differences().map(|d| (d - mean) * (d - mean)).sum::<f64>() / n;
    let std_error = (variance / n).sqrt();
    if std_error > 1e-12 * mean.abs() { mean / std_error } else { 0.0 }
}

/// The interval of a share of n nodes that holds the true one with a confidence of 95 %.
fn wilson(share: f64, n: f64) -> (f64, f64) {
    const Z: f64 = 1.96;
    let shrink = 1.0 / (1.0 + Z * Z / n);
    let middle = (share + Z * Z / (2.0 * n)) * shrink;
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() * shrink;
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::Head;

    /// Against Table I of Newcombe (1998): 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    #[test]
    fn intervals_are_wilsons() {
        for (right, nodes, low, high) in [
            (81.0, 263.0, 0.2553, 0.3662),
            (15.0, 148.0, 0.0624, 0.1605),
            (0.0, 20.0, 0.0, 0.1611),
            (1.0, 29.0, 0.0061, 0.1718),
        ] {
            let (from, to) = wilson(right / nodes, nodes);
            assert!((from - low).abs() < 1e-4 && (to - high).abs() < 1e-4, "{from} {to}");
        }
        assert_eq!(wilson(1.0, 5.0).1, 1.0);
    }

    /// A stack that is right everywhere beats an incumbent that guesses, and noise beats nobody.
    #[test]
    fn only_what_is_better_beyond_chance_replaces_the_incumbent() {
        let n = 120;
        let head = Head::classes((0..3).map(|class| class.to_string()).collect());
        let targets = Truth::of_classes(&head, (0..n).map(|i| Some(i as u32 % 3)).collect());
        let noise = |seed: usize| {
            Matrix::from_fn(n, 3, |i, j| {
                (mix((seed * 1000 + 3 * i + j) as u64) % 100) as f64 / 100.0
            })
        };
        let (one, other) = (noise(1), noise(2));
        let good = Matrix::from_fn(n, 3, |i, j| 0.6 * f64::from(i % 3 == j) + 0.2 * one[(i, j)]);
        let ballot = Ballot::new(&targets, vec![&one, &good], true);
        let Choice::Stack(weights) = ballot.choice() else { panic!("the good one is better") };
        assert!(weights[1] > 1.0 && weights[0] < 0.2, "{weights:?}");
        assert!(!ballot.is_as_good(0, &Choice::Stack(weights)));
        let keys: Vec<u64> = (0..n as u64).collect();
        assert!(ballot.expected(&keys).unwrap().score > 0.95);
        let ballot = Ballot::new(&targets, vec![&one, &other], true);
        assert_eq!(ballot.choice(), Choice::Incumbent);
        assert!(ballot.is_as_good(1, &Choice::Incumbent));
        assert!((0.2..0.5).contains(&ballot.expected(&keys).unwrap().score));
    }
}
