//! How sharp scores are: by what factor they become the logits under which the classes of nodes are most likely.
//!
//! ```text
//! a = argmax_{a ≥ 0} Σ_i log softmax(a s_i)[y_i] / n − ρ a²
//! ```
//!
//! This is concave in one unknown: Newton's method. It is `likelihood.rs` for one candidate, of which calibration tries many.
//!
//! Where every node is predicted right, the likelihood grows without end, and the mean probability of the nodes' own classes is
//! given instead.

use rayon::prelude::*;

/// Newton steps, at most; four to eight are usual.
const STEPS: usize = 40;
/// Halvings of a step that goes too far.
const HALVINGS: i32 = 30;
/// The rise of the mean log-likelihood that is not worth another step.
const SETTLED: f64 = 1e-10;
/// Halvings until two factors are the same to the last digits, from a range of all that could matter.
const HALVINGS_OF_RANGE: usize = 56;
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

    /// Whether the largest score of every node is that of its class, and of no other.
    pub(super) fn are_separated(&self) -> bool {
        let is_right = |(below, own): (&[f64], &f64)| {
            *own == 0.0 && below.iter().filter(|score| **score == 0.0).count() == 1
        };
        self.below.par_chunks(self.classes).zip(&self.own).with_min_len(CHUNK).all(is_right)
    }

    /// The factor, from 2^low to 2^high, at which the probabilities of the nodes' own classes have this mean, where the nodes are
    /// [separated](Scores::are_separated): it grows with the factor.
    pub(super) fn of_mean_probability(&self, wanted: f64, mut low: f64, mut high: f64) -> f64 {
        for _ in 0..HALVINGS_OF_RANGE {
            let middle = 0.5 * (low + high);
            let factor = middle.exp2();
            let [mean] = self.means(|below, own| {
                let total: f64 = below.iter().map(|score| (factor * score).exp()).sum();
                [(factor * own).exp() / total]
            });
            if mean < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        high.exp2()
    }

    fn at(&self, factor: f64, penalty: f64) -> Derivatives {
        let [value, slope, curvature] = self.means(|below, own| {
            let [mut total, mut first, mut second] = [0.0; 3];
            for &score in below {
                let odds = (factor * score).exp();
                total += odds;
                first += odds * score;
                second += odds * score * score;
            }
            let mean = first / total;
            [factor * own - total.ln(), own - mean, second / total - mean * mean]
        });
        Derivatives {
            value: value - penalty * factor * factor,
            slope: slope - 2.0 * penalty * factor,
            curvature: curvature + 2.0 * penalty,
        }
    }

    /// The means of what is said of each node, by its scores and that of its own class.
    fn means<const N: usize>(&self, of_node: impl Fn(&[f64], f64) -> [f64; N] + Sync) -> [f64; N] {
        let add = |mut sums: [f64; N], terms: [f64; N]| {
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            sums
        };
        let of_chunk = |(below, own): (&[f64], &[f64])| {
            let nodes = below.chunks_exact(self.classes).zip(own);
            nodes.map(|(below, &own)| of_node(below, own)).fold([0.0; N], add)
        };
        let chunks = self.below.par_chunks(CHUNK * self.classes).zip(self.own.par_chunks(CHUNK));
        let parts: Vec<[f64; N]> = chunks.map(of_chunk).collect();
        parts.into_iter().fold([0.0; N], add).map(|sum| sum / self.own.len() as f64)
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

    /// Where scores separate the classes, any mean that they can have is found.
    #[test]
    fn the_mean_probability_is_what_it_should_be() {
        let right = Scores::new(40, 3, |node, row| {
            row.iter_mut().enumerate().for_each(|(class, to)| *to = 0.1 * score(node, class));
            row[node % 3] += 0.2;
            node % 3
        });
        assert!(right.are_separated() && !scores(40).are_separated());
        for wanted in [0.5, 0.9, 41.0 / 42.0] {
            let factor = right.of_mean_probability(wanted, -20.0, 40.0);
            let own = |node: usize| {
                let bonus = |class: usize| if class == node % 3 { 0.2 } else { 0.0 };
                let odds = [0, 1, 2].map(|c| (factor * (0.1 * score(node, c) + bonus(c))).exp());
                odds[node % 3] / odds.iter().sum::<f64>()
            };
            let mean = (0..40).map(own).sum::<f64>() / 40.0;
            assert!((mean - wanted).abs() < 1e-12, "{mean} {wanted}");
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
