//! Adding up learners by how well they predict nodes they have not seen.
//!
//! The left-out scores P_c of every learner are honest predictions, so weighting by them does not reward overfitting:
//!
//! ```text
//! w = argmin_{w ≥ 0} ‖Y − Σ_c w_c P_c‖² + ρ ‖Y‖² ‖w‖²,    scores Σ_c w_c T_c
//! ```
//!
//! The paper's default stays unless this stack is better beyond chance: by the likelihood of the left-out nodes' classes
//! (or their squared error, where targets are no classes), more than three standard errors of the paired comparison. Three,
//! because the weights were chosen on the same nodes.

use super::nnls::Normal;
use crate::data::{TargetKind, mix};
use crate::head::Truth;
use crate::matrix::Matrix;
use crate::metrics::Metric;
use rayon::prelude::*;
use serde::Serialize;

/// The penalty on the weights, as a share of the targets' squares: learners that say the same share their weight.
const PENALTY: f64 = 0.001;
/// Standard errors by which the stack must beat the incumbent.
const BEYOND_CHANCE: f64 = 3.0;
/// Standard errors by which one thing says more than another, where nothing was chosen by it.
const SAYS_MORE: f64 = 2.0;
/// Parts that the training nodes are divided into to repeat the choice, and those of them that choose.
const GROUPS: usize = 30;
const CHOOSING: usize = 20;
/// Repetitions of the choice.
const REPETITIONS: usize = 60;

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

    /// The normal equations of some nodes.
    fn normal(&self, nodes: impl Iterator<Item = usize>) -> Normal {
        let mut normal = Normal::new(self.scores.len());
        let mut row = vec![0.0; self.scores.len()];
        for node in nodes {
            let root = self.targets.weights().map_or(1.0, |weights| weights[node].sqrt());
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
        let all: Vec<usize> = (0..self.nodes()).collect();
        self.choice_by(&self.normal(0..self.nodes()), &all)
    }

    fn choice_by(&self, normal: &Normal, nodes: &[usize]) -> Choice {
        let mut weights = normal.solve(PENALTY);
        if !self.incumbent {
            // Where nothing says anything, the first is as good as any.
            if weights.iter().all(|&weight| weight == 0.0) {
                weights[0] = 1.0;
            }
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

    /// Whether a candidate is as good as what was chosen, as far as chance allows to tell.
    pub(super) fn is_as_good(&self, candidate: usize, choice: &Choice) -> bool {
        let all: Vec<usize> = (0..self.nodes()).collect();
        let own = self.quality(self.scores[candidate], &all);
        surplus(&self.quality(&self.chosen(choice), &all), &own) < SAYS_MORE
    }

    /// How good scores are for each of some nodes: the log-likelihood of its class, or its negative squared error.
    fn quality(&self, scores: &Matrix<f64>, nodes: &[usize]) -> Vec<f64> {
        let squared_error = |&node: &usize| -self.targets.squared_error(node, scores.row(node));
        let head = self.targets.head();
        if head.kind() != TargetKind::Classes || head.names().len() < 2 {
            return nodes.iter().map(squared_error).collect();
        }
        let weight = |node: usize| self.targets.weights().map_or(1.0, |weights| weights[node]);
        let two = scores.cols() == 1;
        let likelihood = |node: usize, temperature: f64| {
            weight(node) * {
                let class = self.targets.class(node).unwrap_or(0) as usize;
                let row = scores.row(node);
                match two {
                    // Scores s and −s.
                    true => {
                        let margin = 2.0 * temperature * if class == 1 { row[0] } else { -row[0] };
                        -ln_1p_exp(-margin)
                    }
                    false => {
                        let largest = row.iter().fold(f64::NEG_INFINITY, |m, &s| m.max(s));
                        let sum: f64 =
                            row.iter().map(|s| (temperature * (s - largest)).exp()).sum();
                        temperature * (row[class] - largest) - sum.ln()
                    }
                }
            }
        };
        let mean = |log_temperature: f64| -> f64 {
            nodes.iter().map(|&node| likelihood(node, log_temperature.exp())).sum::<f64>()
        };
        let temperature = maximum(mean, -3.0, 7.0).exp();
        nodes.iter().map(|&node| likelihood(node, temperature)).collect()
    }

    /// Repeats the choice on two thirds of the nodes and judges it on the rest. Nodes are drawn by their keys, so that
    /// their order does not matter.
    pub(super) fn expected(&self, keys: &[u64]) -> Expected {
        let mut groups = vec![Vec::new(); GROUPS];
        for (node, &key) in keys.iter().enumerate() {
            groups[(mix(key) % GROUPS as u64) as usize].push(node);
        }
        let normals: Vec<Normal> =
            groups.par_iter().map(|group| self.normal(group.iter().copied())).collect();
        let judge = |repetition: usize| {
            let mut order: Vec<usize> = (0..GROUPS).collect();
            order.sort_by_key(|&group| mix(group as u64 ^ mix(1 + repetition as u64)));
            let (choosing, judging) = order.split_at(CHOOSING);
            let mut normal = Normal::new(self.scores.len());
            choosing.iter().for_each(|&group| normal.join(&normals[group]));
            let nodes: Vec<usize> = choosing.iter().flat_map(|&g| groups[g].clone()).collect();
            if nodes.is_empty() {
                return None;
            }
            let scores = self.chosen(&self.choice_by(&normal, &nodes));
            let judged: Vec<usize> = judging.iter().flat_map(|&g| groups[g].clone()).collect();
            (!judged.is_empty()).then(|| {
                let rows = judged.iter().map(|&node| scores.row(node));
                (self.targets.part(&judged).judge_scores(rows).score, judged.len())
            })
        };
        let judged: Vec<(f64, usize)> =
            (0..REPETITIONS).into_par_iter().filter_map(judge).collect();
        let all = judged.iter().map(|(_, nodes)| *nodes as f64).sum::<f64>().max(1.0);
        let mean = judged.iter().map(|(score, nodes)| score * *nodes as f64).sum::<f64>() / all;
        let squares = judged.iter().map(|(score, _)| (score - mean) * (score - mean)).sum::<f64>();
        let metric = self.targets.metric();
        if metric == Metric::Accuracy {
            // One success and one failure more, so that a few nodes without a failure prove little.
            let n = keys.len() as f64;
            let share = (mean * n + 1.0) / (n + 2.0);
            let std_error = (share * (1.0 - share) / (n + 2.0)).sqrt();
            return Expected { metric, score: mean, std_error, interval: wilson(mean, n) };
        }
        // Scores of a third of the nodes spread by √2 times what those of all of them would, drawn once each.
        let std_error = (squares / judged.len().max(1) as f64 / 2.0).sqrt();
        let (mut low, mut high) = (mean - 1.96 * std_error, mean + 1.96 * std_error);
        if metric.is_share() {
            (low, high) = (low.max(0.0), high.min(1.0));
        }
        Expected { metric, score: mean, std_error, interval: (low, high) }
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

/// ln(1 + eˣ) without overflow.
fn ln_1p_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Where a function with one peak has it, between two bounds, by golden sections.
fn maximum(of: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const STEPS: usize = 30;
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let inner = |low: f64, high: f64| (high - ratio * (high - low), low + ratio * (high - low));
    let (mut left, mut right) = inner(low, high);
    let (mut at_left, mut at_right) = (of(left), of(right));
    for _ in 0..STEPS {
        if at_left >= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = inner(low, high).0;
            at_left = of(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = inner(low, high).1;
            at_right = of(right);
        }
    }
    0.5 * (low + high)
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

    #[test]
    fn the_peak_of_a_function_is_found() {
        assert!((maximum(|x| -(x - 1.25) * (x - 1.25), -3.0, 7.0) - 1.25).abs() < 1e-5);
        assert!((maximum(|x| x, -3.0, 7.0) - 7.0).abs() < 1e-5);
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
        assert!(ballot.expected(&keys).score > 0.95);
        let ballot = Ballot::new(&targets, vec![&one, &other], true);
        assert_eq!(ballot.choice(), Choice::Incumbent);
        assert!(ballot.is_as_good(1, &Choice::Incumbent));
        assert!((0.2..0.5).contains(&ballot.expected(&keys).score));
    }
}
