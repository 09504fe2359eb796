//! Weights of several scores by how likely they make the classes of nodes:
//!
//! ```text
//! w = argmax_{w ≥ 0} Σ_i v_i log softmax(Σ_c w_c P_c[i])[y_i] / Σ_i v_i − ρ ‖w‖²
//! ```
//!
//! P_c[i] has the scores of node i by candidate c, y_i is its class and v_i its weight. This is concave in a handful of
//! unknowns: Newton's method, each step a non-negative least-squares problem.

use super::nnls::Normal;
use crate::head::Truth;
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Newton steps, at most; four to eight are usual.
const STEPS: usize = 40;
/// Halvings of a step that goes too far.
const HALVINGS: i32 = 30;
/// The rise of the mean log-likelihood that is not worth another step.
const SETTLED: f64 = 1e-10;
/// Nodes whose terms one task adds up: the same on any number of threads, and so is the rounding.
const CHUNK: usize = 256;

/// Scores of several candidates, and the classes that they should predict.
pub(crate) struct Likelihood<'a> {
    truth: &'a Truth,
    /// Nodes × classes each; one column s where two classes have the scores −s and s.
    candidates: &'a [&'a Matrix<f64>],
}

/// The log-likelihood of some nodes, its first derivatives by the weights, and minus the second ones.
struct Derivatives {
    value: f64,
    slope: Vec<f64>,
    curvature: Vec<f64>,
}

impl<'a> Likelihood<'a> {
    pub(crate) fn new(truth: &'a Truth, candidates: &'a [&'a Matrix<f64>]) -> Self {
        Likelihood { truth, candidates }
    }

    /// The weights under which the classes of some nodes are most likely, with a penalty ρ.
    pub(crate) fn weights(&self, nodes: &[usize], penalty: f64) -> Vec<f64> {
        let mut weights = vec![0.0; self.candidates.len()];
        let total: f64 = nodes.iter().map(|&node| self.truth.weight(node)).sum();
        // The objective with its derivatives: a step is nearly always taken in full, and the next one needs them.
        let merit = |weights: &[f64]| {
            let Derivatives { mut value, mut slope, mut curvature } =
                self.derivatives(nodes, weights);
            slope.iter_mut().chain(&mut curvature).for_each(|sum| *sum /= total);
            value /= total;
            for (k, &weight) in weights.iter().enumerate() {
                value -= penalty * weight * weight;
                slope[k] -= 2.0 * penalty * weight;
                curvature[k * weights.len() + k] += 2.0 * penalty;
            }
            Derivatives { value, slope, curvature }
        };
        let mut now = merit(&weights);
        for _ in 0..STEPS {
            let Derivatives { value, slope, curvature } = now;
            let goal = Normal::around(&weights, &slope, curvature).solve(0.0);
            let step = |halvings: i32| -> Vec<f64> {
                let length = 0.5f64.powi(halvings);
                weights.iter().zip(&goal).map(|(from, to)| from + length * (to - from)).collect()
            };
            let mut trials = (0..HALVINGS).map(step).map(|trial| (merit(&trial), trial));
            let Some((then, better)) = trials.find(|(then, _)| then.value > value) else { break };
            (now, weights) = (then, better);
            if now.value - value < SETTLED {
                break;
            }
        }
        weights
    }

    /// The log-likelihood of the class of each of some nodes, times the weight of the node.
    pub(crate) fn of_nodes(&self, nodes: &[usize], weights: &[f64]) -> Vec<f64> {
        let of_chunk = |chunk: &[usize]| {
            let mut at = At::new(self);
            let of_node = |&node: &usize| {
                at.move_to(node, weights);
                self.truth.weight(node) * at.log_likelihood
            };
            chunk.iter().map(of_node).collect::<Vec<f64>>()
        };
        nodes.par_chunks(CHUNK).flat_map_iter(of_chunk).collect()
    }

    fn derivatives(&self, nodes: &[usize], weights: &[f64]) -> Derivatives {
        let unknowns = weights.len();
        let zeros = || Derivatives {
            value: 0.0,
            slope: vec![0.0; unknowns],
            curvature: vec![0.0; unknowns.pow(2)],
        };
        let of_chunk = |chunk: &[usize]| {
            let (mut at, mut sums) = (At::new(self), zeros());
            for &node in chunk {
                at.move_to(node, weights);
                at.add_to(&mut sums, self.truth.weight(node));
            }
            sums
        };
        let parts: Vec<Derivatives> = nodes.par_chunks(CHUNK).map(of_chunk).collect();
        let mut total = zeros();
        for part in &parts {
            total.value += part.value;
            total.slope.iter_mut().zip(&part.slope).for_each(|(sum, part)| *sum += part);
            total.curvature.iter_mut().zip(&part.curvature).for_each(|(sum, part)| *sum += part);
        }
        total
    }
}

/// One node at some weights.
struct At<'a> {
    of: &'a Likelihood<'a>,
    class: usize,
    /// Classes × candidates.
    scores: Vec<f64>,
    probabilities: Vec<f64>,
    log_likelihood: f64,
    /// What the scores of each candidate are on average, by the probabilities.
    means: Vec<f64>,
}

impl<'a> At<'a> {
    fn new(of: &'a Likelihood<'a>) -> Self {
        let classes = of.truth.matrix().cols().max(2);
        let unknowns = of.candidates.len();
        At {
            of,
            class: 0,
            scores: vec![0.0; classes * unknowns],
            probabilities: vec![0.0; classes],
            log_likelihood: 0.0,
            means: vec![0.0; unknowns],
        }
    }

    fn move_to(&mut self, node: usize, weights: &[f64]) {
        let unknowns = weights.len();
        self.class = self.of.truth.class(node).unwrap_or(0) as usize;
        for (k, candidate) in self.of.candidates.iter().enumerate() {
            match candidate.row(node) {
                [score] => (self.scores[k], self.scores[unknowns + k]) = (-score, *score),
                scores => {
                    let classes = scores.iter().enumerate();
                    classes.for_each(|(class, score)| self.scores[class * unknowns + k] = *score);
                }
            }
        }
        let of_class = |scores: &[f64]| scores.iter().zip(weights).map(|(s, w)| s * w).sum::<f64>();
        let logits = self.scores.chunks_exact(unknowns).map(of_class);
        self.probabilities.iter_mut().zip(logits).for_each(|(to, logit)| *to = logit);
        let largest = self.probabilities.iter().fold(f64::NEG_INFINITY, |m, &l| m.max(l));
        let own = self.probabilities[self.class];
        self.probabilities.iter_mut().for_each(|p| *p = (*p - largest).exp());
        let sum: f64 = self.probabilities.iter().sum();
        self.probabilities.iter_mut().for_each(|p| *p /= sum);
        self.log_likelihood = own - largest - sum.ln();
    }

    /// Adds the log-likelihood to the value, a_y − ā to the slope and Σ_c p_c (a_c − ā)(a_c − ā)ᵀ to the curvature, where a_c has the scores of class c and
    /// ā = Σ_c p_c a_c.
    fn add_to(&mut self, sums: &mut Derivatives, weight: f64) {
        let unknowns = self.means.len();
        sums.value += weight * self.log_likelihood;
        self.means.fill(0.0);
        for (scores, p) in self.scores.chunks_exact(unknowns).zip(&self.probabilities) {
            self.means.iter_mut().zip(scores).for_each(|(mean, score)| *mean += p * score);
        }
        for scores in self.scores.chunks_exact_mut(unknowns) {
            scores.iter_mut().zip(&self.means).for_each(|(score, mean)| *score -= mean);
        }
        let own = &self.scores[self.class * unknowns..][..unknowns];
        sums.slope.iter_mut().zip(own).for_each(|(sum, score)| *sum += weight * score);
        for (scores, p) in self.scores.chunks_exact(unknowns).zip(&self.probabilities) {
            for (row, score) in sums.curvature.chunks_exact_mut(unknowns).zip(scores) {
                let factor = weight * p * score;
                row.iter_mut().zip(scores).for_each(|(sum, other)| *sum += factor * other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;
    use crate::head::Head;

    fn chance(seed: usize) -> f64 {
        (mix(seed as u64) % 1000) as f64 / 1000.0
    }

    /// The merit as the formula has it, from scores of all classes.
    fn merit(
        candidates: &[Matrix<f64>],
        truth: &Truth,
        classes: usize,
        weights: &[f64],
        penalty: f64,
    ) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for i in 0..truth.matrix().rows() {
            let v = truth.weights().map_or(1.0, |v| v[i]);
            let score = |c: usize| -> f64 {
                let of = |p: &Matrix<f64>| match (p.cols(), c) {
                    (1, 0) => -p[(i, 0)],
                    (1, _) => p[(i, 0)],
                    _ => p[(i, c)],
                };
                candidates.iter().zip(weights).map(|(p, w)| w * of(p)).sum()
            };
            let all: f64 = (0..classes).map(|c| score(c).exp()).sum();
            sum += v * (score(truth.class(i).unwrap() as usize) - all.ln());
            total += v;
        }
        sum / total - penalty * weights.iter().map(|w| w * w).sum::<f64>()
    }

    /// Concave: what is better than all neighbours in every direction is best.
    #[test]
    fn no_other_weights_are_more_likely() {
        let n = 90;
        for (classes, columns) in [(2, 1), (3, 3), (5, 5)] {
            let names = (0..classes).map(|class| class.to_string()).collect();
            let head = Head::classes(names);
            let class = |i: usize| (mix(i as u64) % classes as u64) as u32;
            let truth = Truth::of_classes(&head, (0..n).map(|i| Some(class(i))).collect())
                .with_weights(Some((0..n).map(|i| 0.5 + chance(i + 7)).collect()));
            let candidate = |k: usize| {
                let knows = [0.8, 0.0, 0.3, 0.1][k];
                Matrix::from_fn(n, columns, |i, j| {
                    let right = match columns {
                        1 => 2.0 * f64::from(class(i)) - 1.0,
                        _ => f64::from(class(i) as usize == j),
                    };
                    knows * right + chance(1000 * k + 10 * i + j) - 0.5
                })
            };
            let candidates: Vec<Matrix<f64>> = (0..4).map(candidate).collect();
            let all: Vec<&Matrix<f64>> = candidates.iter().collect();
            let nodes: Vec<usize> = (0..n).collect();
            for penalty in [1e-4, 1e-2, 1.0] {
                let likelihood = Likelihood::new(&truth, &all);
                let weights = likelihood.weights(&nodes, penalty);
                assert!(weights[0] > weights[1], "{weights:?}");
                let best = merit(&candidates, &truth, classes, &weights, penalty);
                for k in 0..4 {
                    for step in [-1e-3, 1e-3] {
                        let mut other = weights.clone();
                        other[k] = (other[k] + step).max(0.0);
                        let value = merit(&candidates, &truth, classes, &other, penalty);
                        assert!(value <= best + 1e-9, "{classes} classes, {k}: {value} > {best}");
                    }
                }
                let sum: f64 = likelihood.of_nodes(&nodes, &weights).iter().sum();
                let total: f64 = truth.weights().unwrap().iter().sum();
                let squares: f64 = weights.iter().map(|w| w * w).sum();
                assert!((sum / total - penalty * squares - best).abs() < 1e-12);
            }
        }
    }

    /// Scores that separate the classes have a limit, too.
    #[test]
    fn certainty_ends_at_the_penalty() {
        let head = Head::classes(vec!["a".into(), "b".into()]);
        let truth = Truth::of_classes(&head, (0..20).map(|i| Some(i % 2)).collect());
        let right = Matrix::from_fn(20, 1, |i, _| if i % 2 == 1 { 1.0 } else { -1.0 });
        let weights =
            Likelihood::new(&truth, &[&right]).weights(&(0..20).collect::<Vec<_>>(), 1e-8);
        assert!(weights[0].is_finite() && weights[0] > 5.0, "{weights:?}");
    }
}
