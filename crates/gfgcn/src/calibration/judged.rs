//! How well probabilities and prediction sets hold on nodes that took no part.

use super::{Calibration, Link};
use crate::head::Truth;
use crate::metrics::{Reliability, Summary};
use serde::Serialize;

/// The coverages that are judged.
const COVERAGES: [f64; 2] = [0.9, 0.95];

/// How well a calibration does on the test nodes of several splits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibrated {
    /// The expected calibration error on each split, 0 to 1; none of values.
    pub expected_errors: Vec<f64>,
    /// The diagram of all splits: the most probable class of each node, or every label of every node.
    pub reliability: Reliability,
    /// By coverage.
    pub covered: Vec<Covered>,
}

/// Prediction sets or intervals of a coverage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Covered {
    /// What was asked for, 0 to 1.
    pub coverage: f64,
    /// The share of test nodes (of sets of labels: of their labels; of values: of all of them) that is inside, in percent, on
    /// each split.
    pub shares: Vec<f64>,
    /// How many classes or labels a set has, or how wide an interval is, on average, on each split.
    pub sizes: Vec<f64>,
}

impl Default for Calibrated {
    fn default() -> Self {
        let covered = |coverage| Covered { coverage, shares: Vec::new(), sizes: Vec::new() };
        Calibrated {
            expected_errors: Vec::new(),
            reliability: Reliability::default(),
            covered: COVERAGES.map(covered).to_vec(),
        }
    }
}

impl Calibrated {
    /// Mean expected calibration error, 0 to 1; `None` of values.
    pub fn expected_error(&self) -> Option<Summary> {
        (!self.expected_errors.is_empty()).then(|| Summary::of(&self.expected_errors))
    }

    /// Adds what was found on the splits of another, after these.
    pub(crate) fn join(&mut self, other: &Calibrated) {
        self.expected_errors.extend(&other.expected_errors);
        self.reliability.join(&other.reliability);
        for (covered, other) in self.covered.iter_mut().zip(&other.covered) {
            covered.shares.extend(&other.shares);
            covered.sizes.extend(&other.sizes);
        }
    }

    /// What was found on one split, as numbers.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let error = self.expected_errors.first().copied().unwrap_or(f64::NAN);
        let covered = self.covered.iter().flat_map(|c| [c.shares[0], c.sizes[0]]);
        [error].into_iter().chain(covered).chain(self.reliability.numbers()).collect()
    }

    /// The same from its numbers; `None` if it has others.
    pub(crate) fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let (error, rest) = numbers.split_first()?;
        let (covered, reliability) = rest.split_at_checked(2 * COVERAGES.len())?;
        let covered = COVERAGES.into_iter().zip(covered.chunks_exact(2));
        let covered = covered.map(|(coverage, found)| Covered {
            coverage,
            shares: vec![found[0]],
            sizes: vec![found[1]],
        });
        Some(Calibrated {
            expected_errors: Some(*error).filter(|error| !error.is_nan()).into_iter().collect(),
            reliability: Reliability::from_numbers(reliability)?,
            covered: covered.collect(),
        })
    }

    /// Judges a calibration on the test nodes of a split, by their scores.
    pub(crate) fn add<'s>(
        &mut self,
        calibration: &Calibration,
        truth: &Truth,
        scores: impl Iterator<Item = &'s [f64]> + Clone,
    ) {
        let mut reliability = Reliability::default();
        for (node, scores) in scores.clone().enumerate() {
            let p = calibration.link.probabilities(truth.head(), scores);
            match &calibration.link {
                Link::Softmax { .. } => {
                    let class = truth.head().decode(scores);
                    reliability.add(p[class as usize], truth.class(node) == Some(class));
                }
                Link::Sigmoids { .. } => {
                    let labels = p.iter().zip(truth.matrix().row(node));
                    labels.for_each(|(&p, &target)| reliability.add(p, target > 0.0));
                }
                Link::Identity => {}
            }
        }
        if calibration.link != Link::Identity {
            self.expected_errors.push(reliability.expected_error());
            self.reliability.join(&reliability);
        }
        for covered in &mut self.covered {
            covered.add(calibration, truth, scores.clone());
        }
    }
}

impl Covered {
    /// The share of what is inside.
    pub fn share(&self) -> Summary {
        Summary::of(&self.shares)
    }

    /// The mean size.
    pub fn size(&self) -> Summary {
        Summary::of(&self.sizes)
    }

    fn add<'s>(
        &mut self,
        calibration: &Calibration,
        truth: &Truth,
        scores: impl Iterator<Item = &'s [f64]>,
    ) {
        let regions = calibration.regions(self.coverage).expect("between 0 and 1");
        let (mut inside, mut all, mut size, mut regions_seen) = (0, 0, 0.0, 0);
        for (node, scores) in scores.enumerate() {
            let targets = truth.matrix().row(node);
            if calibration.link == Link::Identity {
                let intervals = regions.intervals(scores);
                for ((from, to), value) in intervals.into_iter().zip(targets) {
                    inside += usize::from((from..=to).contains(value));
                    size += to - from;
                }
                all += targets.len();
                regions_seen += targets.len();
                continue;
            }
            let set = regions.set(&calibration.link.probabilities(truth.head(), scores));
            size += set.len() as f64;
            regions_seen += 1;
            match &calibration.link {
                Link::Sigmoids { .. } => {
                    let own = set.iter().filter(|&&label| targets[label as usize] > 0.0);
                    inside += own.count();
                    all += truth.labels_of(node);
                }
                _ => {
                    inside += usize::from(truth.class(node).is_some_and(|c| set.contains(&c)));
                    all += 1;
                }
            }
        }
        self.shares.push(100.0 * inside as f64 / all.max(1) as f64);
        self.sizes.push(size / regions_seen.max(1) as f64);
    }
}
