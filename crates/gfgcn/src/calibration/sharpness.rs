//! How sharp scores are: by what factor they become the logits under which the classes of nodes are most likely.
//!
//! ```text
//! a = argmax_{a ≥ 0} Σ_i log softmax(a s_i)[y_i] / n − ρ a²
//! ```
//!
//! This is concave in one unknown: Newton's method. It is `likelihood.rs` for one candidate, of which calibration tries many.

use rayon::prelude::*;

/// Newton steps, at most; four to eight are usual.
const STEPS: usize = 40;
/// Halvings of a step that goes too far.
const HALVINGS: i32 = 30;
/// The rise of the mean log-likelihood that is not worth another step.
const SETTLED: f64 = 1e-10;
/// Nodes whose terms one task adds up: the same on any number of threads, and so is the rounding.
const CHUNK: usize = 256;

/// The scores of some nodes, each less the largest one of its node: the largest term of a softmax is then 1.
pub(super) struct Scores {
    classes: usize,
    /// Nodes × classes.
    below: Vec<f64>,
    /// Those of the nodes' own classes.
    own: Vec<f64>,
}

/// The mean log-likelihood less the penalty, its first derivative, and minus the second one.
#[derive(Clone, Copy)]
struct Derivatives {
    value: f64,
    slope: f64,
    curvature: f64,
}

impl Scores {
    /// `fill` has the scores of a node, one per class, and says which class is its own.
    pub(super) fn new(
        nodes: usize,
        classes: usize,
        fill: impl Fn(usize, &mut [f64]) -> usize + Sync,
    ) -> Self {
        let (mut below, mut own) = (vec![0.0; nodes * classes], vec![0.0; nodes]);
        let rows = below.par_chunks_mut(classes).zip(&mut own).enumerate();
        rows.with_min_len(CHUNK).for_each(|(node, (row, own))| {
            let class = fill(node, row);
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|score| *score -= largest);
            *own = row[class];
        });
        Scores { classes, below, own }
    }

    /// The factor under which the nodes' classes are most likely, with a penalty ρ, and their mean log-likelihood.
    pub(super) fn most_likely(&self, penalty: f64) -> (f64, f64) {
        let (mut factor, mut now) = (0.0, self.at(0.0, penalty));
        for _ in 0..STEPS {
            let goal = (factor + now.slope / now.curvature).max(0.0);
            let step = |halvings: i32| factor + 0.5f64.powi(halvings) * (goal - factor);
            let mut trials = (0..HALVINGS).map(step).map(|trial| (self.at(trial, penalty), trial));
            let Some((then, better)) = trials.find(|(then, _)| then.value > now.value) else {
                break;
            };
            let rise = then.value - now.value;
            (now, factor) = (then, better);
            if rise < SETTLED {
                break;
            }
        }
        (factor, now.value + penalty * factor * factor)
    }

    fn at(&self, factor: f64, penalty: f64) -> Derivatives {
        let chunks = self.below.par_chunks(CHUNK * self.classes).zip(self.own.par_chunks(CHUNK));
        let of_chunk = |(below, own): (&[f64], &[f64])| {
            let mut sums = [0.0; 3];
            for (below, own) in below.chunks_exact(self.classes).zip(own) {
                let [mut total, mut first, mut second] = [0.0; 3];
                for &score in below {
                    let odds = (factor * score).exp();
                    total += odds;
                    first += odds * score;
                    second += odds * score * score;
                }
                let mean = first / total;
                sums[0] += factor * own - total.ln();
                sums[1] += own - mean;
                sums[2] += second / total - mean * mean;
            }
            sums
        };
        let parts: Vec<[f64; 3]> = chunks.map(of_chunk).collect();
        let nodes = self.own.len() as f64;
        let mean = |k: usize| parts.iter().map(|part| part[k]).sum::<f64>() / nodes;
        Derivatives {
            value: mean(0) - penalty * factor * factor,
            slope: mean(1) - 2.0 * penalty * factor,
            curvature: mean(2) + 2.0 * penalty,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn score(node: usize, class: usize) -> f64 {
        let chance = (mix((node * 7 + class) as u64) % 1000) as f64 / 1000.0;
        chance + if class == node % 3 { 0.4 } else { 0.0 }
    }

    fn scores(nodes: usize) -> Scores {
        Scores::new(nodes, 3, |node, row| {
            row.iter_mut().enumerate().for_each(|(class, to)| *to = score(node, class));
            node % 3
        })
    }

    /// The mean log-likelihood, written out.
    fn likelihood(nodes: usize, factor: f64) -> f64 {
        let of_node = |node: usize| {
            let logits = [0, 1, 2].map(|class| factor * score(node, class));
            logits[node % 3] - logits.iter().map(|logit| logit.exp()).sum::<f64>().ln()
        };
        (0..nodes).map(of_node).sum::<f64>() / nodes as f64
    }

    #[test]
    fn no_other_factor_makes_the_classes_more_likely() {
        for (nodes, penalty) in [(700, 1e-8), (700, 0.02), (3, 1e-3)] {
            let (factor, value) = scores(nodes).most_likely(penalty);
            assert!((value - likelihood(nodes, factor)).abs() < 1e-12, "{value}");
            let merit = |factor: f64| likelihood(nodes, factor) - penalty * factor * factor;
            for step in [-1e-3, 1e-3] {
                assert!(merit(factor + step) < merit(factor), "{nodes} nodes, {factor}");
            }
        }
    }

    /// Scores that mislead are not turned around, and those that separate end at the penalty.
    #[test]
    fn factors_are_neither_negative_nor_infinite() {
        let against = Scores::new(50, 2, |_, row| {
            row.copy_from_slice(&[1.0, 0.0]);
            1
        });
        assert_eq!(against.most_likely(1e-8).0, 0.0);
        let separated = Scores::new(50, 2, |_, row| {
            row.copy_from_slice(&[1.0, 0.0]);
            0
        });
        let (factor, value) = separated.most_likely(1e-8);
        assert!(factor.is_finite() && factor > 5.0 && value > -0.01, "{factor} {value}");
    }
}
