//! What scores are worth: probabilities, and what is plausible at a coverage.
//!
//! Everything comes from the left-out scores of the training nodes, each predicted by what was learnt without it: they are
//! as good as scores of nodes that took no part, so no node is held out.
//!
//! ```text
//! classes   p = softmax(a asinh(κ s) / κ), which is softmax(a s) for κ = 0, or softmax(a sinh(κ (s − s̄)) / κ) for κ < 0 and the
//!           mean s̄ of a node's scores; a and κ by the left-out likelihood
//! sets      p_l = 1 / (1 + exp(−(a_l s_l + b_l))), one pair per label, or one that rare labels share
//! values    no probabilities; absolute left-out errors
//! ```
//!
//! How badly something fits a node is its misfit: 1 − p of a class or label, |y − s| of a value. Those of the training nodes'
//! own classes, labels and values, left out, say how large one may be at a [coverage](Regions).

mod judged;
mod likelihood;
mod nnls;
mod regions;
mod sharpness;
mod sigmoid;

pub use judged::{Calibrated, Covered};
pub(crate) use likelihood::Likelihood;
pub(crate) use nnls::Normal;
pub use regions::Regions;
use sharpness::Scores;
pub use sigmoid::Sigmoid;

use crate::context::Context;
use crate::error::Result;
use crate::head::{Head, Truth};
use crate::matrix::Matrix;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// ρ, which only ends what would grow without end: classes that left-out scores almost separate. Of scores whose mean square
/// is 1.
const PENALTY: f64 = 1e-8;

/// κ that are tried, of scores whose mean square is 1. Least squares on indicators gives scores that are close to
/// probabilities, whose logarithm is nearer to a logit than they are themselves: nodes with small scores are less uncertain,
/// and those with large ones less certain, than softmax(a s) says. On the citation graphs the expected calibration error falls
/// by a quarter. Where most nodes can hardly be predicted and some for sure, it is the other way round, and κ < 0: on Actor and
/// Minesweeper the error falls by a quarter as well.
const BENDS: [f64; 14] =
    [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, -0.25, -0.5, -1.0, -2.0];

/// Where sinh is followed no further: everything is certain there.
const FARTHEST: f64 = 30.0;

/// The least sharpness of such scores: where they say nothing, the largest is still the most probable.
const LEAST_SHARPNESS: f64 = 1e-6;

/// The largest sharpness of such scores that could matter, as a power of two.
const MOST_SHARPNESS: f64 = 40.0;

/// Two parameters are chosen on so many nodes, at most.
const ENOUGH: usize = 20_000;

/// How scores become probabilities, and the misfits of the training nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    pub(crate) link: Link,
    /// Each in increasing order: one list of classes and labels, one per column of values.
    pub(crate) misfits: Vec<Vec<f64>>,
}

/// From scores to probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Link {
    /// softmax(a asinh(κ s) / κ), of classes; softmax(a sinh(κ (s − s̄)) / κ) for κ < 0 and the mean s̄ of a node's scores.
    Softmax {
        /// a ≥ 0, the inverse of what is called temperature.
        sharpness: f64,
        /// κ; 0 does not bend.
        bend: f64,
    },
    /// Of sets, one per label.
    Sigmoids {
        /// In the order of the labels.
        labels: Vec<Sigmoid>,
    },
    /// None, of values.
    Identity,
}

impl Calibration {
    /// From the left-out scores of some nodes, nodes × target columns. Nodes that nothing is known of without them, such as a
    /// single one beside an intercept, say nothing.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub(crate) fn new(truth: &Truth, left_out: &Matrix<f64>, context: &Context) -> Result<Self> {
        if left_out.as_slice().par_iter().all(|score| score.is_finite()) {
            return Calibration::of_all(truth, left_out, context);
        }
        let finite = |&node: &usize| left_out.row(node).iter().all(|score| score.is_finite());
        let usable: Vec<usize> = (0..left_out.rows()).into_par_iter().filter(finite).collect();
        Calibration::of_all(&truth.part(&usable), &left_out.select_rows(&usable), context)
    }

    /// Bytes that [`Calibration::new`] takes on so many nodes × columns, at most, on so many threads.
    pub(crate) fn memory(nodes: usize, columns: usize, threads: u64) -> u64 {
        // Targets and scores of the nodes that the link is chosen by, and on each thread the scores as one of the links has them.
        let picked = (nodes.min(ENOUGH) * columns) as u64;
        let bends = threads.min(BENDS.len() as u64);
        // The misfits of labels and values are as many as these.
        8 * ((2 + bends) * picked).max((nodes * columns) as u64)
    }

    fn of_all(truth: &Truth, left_out: &Matrix<f64>, context: &Context) -> Result<Self> {
        let nodes = 0..left_out.rows();
        let (link, misfits) = match truth.head() {
            Head::Classes { .. } => {
                let link = most_likely(truth, left_out, context)?;
                let misfit = |p: &mut Vec<f64>, node: usize| {
                    link.fill(truth.head(), left_out.row(node), p);
                    truth.class(node).map(|class| 1.0 - p[class as usize])
                };
                let misfits = nodes.into_par_iter().map_init(Vec::new, misfit).flatten_iter();
                let misfits = vec![misfits.collect()];
                (link, misfits)
            }
            Head::Sets { names, .. } => {
                let positive = |node: usize, label: usize| truth.matrix()[(node, label)] > 0.0;
                let labels = sigmoid::per_label(names.len(), left_out, positive, context)?;
                let link = Link::Sigmoids { labels };
                let of_node = |node: usize| {
                    let p = link.probabilities(truth.head(), left_out.row(node));
                    let own = p.into_iter().enumerate().filter(move |&(l, _)| positive(node, l));
                    own.map(|(_, p)| 1.0 - p)
                };
                let misfits = vec![nodes.into_par_iter().flat_map_iter(of_node).collect()];
                (link, misfits)
            }
            Head::Values { .. } => {
                let error = |node: usize, t: usize| truth.matrix()[(node, t)] - left_out[(node, t)];
                let of_column =
                    |t: usize| nodes.clone().map(|node| error(node, t).abs()).collect::<Vec<f64>>();
                (Link::Identity, (0..left_out.cols()).map(of_column).collect())
            }
        };
        Ok(Calibration { link, misfits: misfits.into_iter().map(sorted).collect() })
    }

    /// How scores become probabilities.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// What is plausible at a coverage, 0 to 1.
    ///
    /// # Errors
    /// A coverage that is not between 0 and 1.
    pub fn regions(&self, coverage: f64) -> Result<Regions> {
        Regions::new(coverage, &self.misfits)
    }
}

impl Link {
    /// The probability of each class or label by a row of scores; none of values. Those of classes add up to 1.
    pub fn probabilities(&self, head: &Head, scores: &[f64]) -> Vec<f64> {
        let mut probabilities = Vec::new();
        self.fill(head, scores, &mut probabilities);
        probabilities
    }

    /// As [`Link::probabilities`], in place of what `out` has.
    fn fill(&self, head: &Head, scores: &[f64], out: &mut Vec<f64>) {
        out.clear();
        match self {
            Link::Softmax { sharpness, bend } => {
                head.scores_into(scores, out);
                bend_row(out, *bend);
                let largest = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                out.iter_mut().for_each(|score| *score = (sharpness * (*score - largest)).exp());
                let total: f64 = out.iter().sum();
                out.iter_mut().for_each(|odds| *odds /= total);
            }
            Link::Sigmoids { labels } => {
                out.extend(labels.iter().zip(scores).map(|(sigmoid, &score)| sigmoid.at(score)));
            }
            Link::Identity => {}
        }
    }
}

/// Bends the scores of a node: asinh(κ s) / κ grows like s near 0 and like its logarithm far from it. For κ < 0 it is the inverse of
/// that around the mean m of the scores, sinh(κ (s − m)) / κ, which grows like its exponential.
fn bend_row(scores: &mut [f64], bend: f64) {
    if bend > 0.0 {
        scores.iter_mut().for_each(|score| *score = (bend * *score).asinh() / bend);
    } else if bend < 0.0 {
        // A single one stands for s and −s.
        let mean = match scores.len() {
            1 => 0.0,
            count => scores.iter().sum::<f64>() / count as f64,
        };
        let sinh = |score: f64| (bend * (score - mean)).clamp(-FARTHEST, FARTHEST).sinh() / bend;
        scores.iter_mut().for_each(|score| *score = sinh(*score));
    }
}

/// The link under which the classes of left-out nodes are most likely; the straighter one of equals.
fn most_likely(truth: &Truth, left_out: &Matrix<f64>, context: &Context) -> Result<Link> {
    let entries = left_out.as_slice();
    let squares = |part: &[f64]| part.iter().map(|score| score * score).sum::<f64>();
    let squares: f64 = entries.par_chunks(ENOUGH).map(squares).collect::<Vec<_>>().iter().sum();
    let size = (squares / entries.len().max(1) as f64).sqrt();
    // One class, or scores that say nothing at all.
    if truth.head().names().len() == 1 || size <= 0.0 {
        return Ok(Link::Softmax { sharpness: 0.0, bend: 0.0 });
    }
    let picked: Vec<usize> =
        (0..left_out.rows()).step_by(left_out.rows().div_ceil(ENOUGH)).collect();
    // Probabilities are about the nodes as they come, whatever they count in the training.
    let (truth, left_out) = (truth.part(&picked).with_weights(None), left_out.select_rows(&picked));
    let classes = truth.head().names().len();
    let bent = |bend: f64, size: f64| {
        Scores::new(picked.len(), classes, |node, row| {
            let scores = left_out.row(node);
            // One column stands for s and −s, and is bent as one.
            let bent = &mut row[classes - scores.len()..];
            bent.iter_mut().zip(scores).for_each(|(to, score)| *to = score / size);
            bend_row(bent, bend);
            if scores.len() < classes {
                row[0] = -row[1];
            }
            truth.class(node).unwrap_or(0) as usize
        })
    };
    let plain = bent(0.0, 1.0);
    let are_known = (0..picked.len()).all(|node| truth.class(node).is_some());
    if are_known && plain.are_separated() {
        // The likelihood grows with the sharpness, without end. But n nodes that are right do not prove that the next one will
        // be: by the rule of succession that has probability (n + 1) / (n + 2), and so much is what the nodes' own classes get on
        // average.
        let rule = (picked.len() as f64 + 1.0) / (picked.len() as f64 + 2.0);
        let (least, unit) = (LEAST_SHARPNESS.log2(), size.log2());
        let sharpness = plain.of_mean_probability(rule, least - unit, MOST_SHARPNESS - unit);
        return Ok(Link::Softmax { sharpness, bend: 0.0 });
    }
    let tried = |bend: f64| -> Result<(f64, Link)> {
        context.check()?;
        let (sharpness, merit) = bent(bend, size).most_likely(PENALTY);
        let sharpness = sharpness.max(LEAST_SHARPNESS) / size;
        Ok((merit, Link::Softmax { sharpness, bend: bend / size }))
    };
    let links = BENDS.into_par_iter().map(tried).collect::<Result<Vec<_>>>()?;
    let best = links.into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best });
    Ok(best.expect("there are bends to try").1)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.par_sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn chance(seed: usize) -> f64 {
        (mix(seed as u64) % 10_000) as f64 / 10_000.0
    }

    fn calibrated(truth: &Truth, left_out: &Matrix<f64>) -> Calibration {
        Calibration::new(truth, left_out, &Context::default()).unwrap()
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|class| class.to_string()).collect()
    }

    /// Nodes that are all predicted right say that the next one is, too, with the probability of the rule of succession, however
    /// far apart or close together their scores are.
    #[test]
    fn few_nodes_that_are_right_make_no_certainty() {
        for (nodes, classes) in [(1, 3), (12, 3), (12, 2), (500, 4)] {
            let head = Head::classes(names(classes));
            let labels = (0..nodes).map(|i| Some((i % classes) as u32)).collect();
            let truth = Truth::of_classes(&head, labels);
            for scale in [1e-3, 1.0, 50.0] {
                // One column of two classes is the score of the second, and that of the first with the other sign.
                let score = |i: usize, j: usize| match (head.columns(), i % classes) {
                    (1, class) => scale * (0.2 + chance(i)) * if class == 1 { 1.0 } else { -1.0 },
                    (_, class) if class == j => scale * (0.7 + 0.3 * chance(i)),
                    _ => scale * 0.3 * chance(31 * i + j),
                };
                let left_out = Matrix::from_fn(nodes, head.columns(), score);
                let link = calibrated(&truth, &left_out).link;
                let own = |i: usize| link.probabilities(&head, left_out.row(i))[i % classes];
                let mean = (0..nodes).map(own).sum::<f64>() / nodes as f64;
                let rule = (nodes as f64 + 1.0) / (nodes as f64 + 2.0);
                assert!((mean - rule).abs() < 1e-9, "{nodes} nodes, {classes} classes: {mean}");
            }
        }
    }

    /// Classes drawn with the very probabilities of a link: that is found again.
    #[test]
    fn the_sharpness_is_that_of_the_scores() {
        for (classes, bend) in [(2, 0.0f64), (5, 0.0), (4, 8.0), (2, -2.0), (5, -3.0)] {
            let head = Head::classes(names(classes));
            let columns = head.columns();
            let scores = Matrix::from_fn(40_000, columns, |i, j| chance(7 * i + 1000 * j) - 0.5);
            let right = Link::Softmax { sharpness: 4.0 * (1.0 + bend.max(0.0)), bend };
            let draw = |i: usize| {
                let mut left = chance(i ^ 0xabcdef);
                let p = right.probabilities(&head, scores.row(i));
                let class = p.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                Some(class.unwrap_or(classes - 1) as u32)
            };
            let truth = Truth::of_classes(&head, (0..scores.rows()).map(draw).collect());
            let calibration = calibrated(&truth, &scores);
            // Links that are nearly alike have nearly the same probabilities.
            for (i, score) in [0, 1, 2].map(|i| (i, scores.row(i))) {
                let pairs = right.probabilities(&head, score);
                let found = calibration.link.probabilities(&head, score);
                for (p, q) in pairs.iter().zip(&found) {
                    assert!((p - q).abs() < 0.02, "{classes} classes, node {i}: {p} {q}");
                }
            }
            let p = calibration.link.probabilities(&head, scores.row(0));
            assert!(p.len() == classes && (p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn misfits_are_those_of_the_truth() {
        let head = Head::values(names(2));
        let values = Matrix::from_rows(3, 2, vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]).unwrap();
        let left_out = Matrix::from_rows(3, 2, vec![1.5, 10.0, 1.0, 26.0, 3.25, 31.0]).unwrap();
        let calibration = calibrated(&Truth::of_values(&head, values), &left_out);
        assert_eq!(calibration.misfits, [[0.25, 0.5, 1.0], [0.0, 1.0, 6.0]]);
        assert!(calibration.link.probabilities(&head, &[1.0, 2.0]).is_empty());

        let head = Head::classes(names(3));
        let truth = Truth::of_classes(&head, vec![Some(0), Some(1), Some(2)]);
        let left_out = Matrix::from_fn(3, 3, |i, j| f64::from(i == j));
        let calibration = calibrated(&truth, &left_out);
        let p = calibration.link.probabilities(&head, left_out.row(0));
        assert!((p[0] - 4.0 / 5.0).abs() < 1e-9, "three of three are right");
        assert!(calibration.misfits[0].iter().all(|misfit| (misfit - (1.0 - p[0])).abs() < 1e-12));
    }

    #[test]
    fn one_class_is_certain() {
        let head = Head::classes(names(1));
        let truth = Truth::of_classes(&head, vec![Some(0), Some(0)]);
        let left_out = Matrix::from_fn(2, 1, |_, _| 0.3);
        let calibration = calibrated(&truth, &left_out);
        assert_eq!(calibration.link.probabilities(&head, &[0.3]), [1.0]);
    }

    #[test]
    fn the_scale_of_the_scores_changes_nothing() {
        let head = Head::classes(names(3));
        let class = |i: usize| (mix(i as u64) % 3) as usize;
        let truth = Truth::of_classes(&head, (0..300).map(|i| Some(class(i) as u32)).collect());
        let scores =
            Matrix::from_fn(300, 3, |i, j| 0.4 * f64::from(class(i) == j) + chance(i + 1000 * j));
        let plain = calibrated(&truth, &scores);
        let mut small = scores.clone();
        small.as_mut_slice().iter_mut().for_each(|score| *score *= 1e-9);
        let scaled = calibrated(&truth, &small);
        for i in 0..20 {
            let p = plain.link.probabilities(&head, scores.row(i));
            let q = scaled.link.probabilities(&head, small.row(i));
            assert!(p.iter().zip(&q).all(|(p, q)| (p - q).abs() < 1e-6), "{p:?} {q:?}");
        }
    }

    /// A single node beside an intercept is predicted by nothing at all.
    #[test]
    fn what_is_not_a_number_says_nothing() {
        let left_out = |cols: usize| Matrix::from_fn(3, cols, |i, _| [0.5, f64::NAN, 0.1][i]);
        let classes = Truth::of_classes(&Head::classes(names(2)), vec![Some(1), Some(0), Some(1)]);
        let values = Matrix::from_fn(3, 2, |i, j| (i + j) as f64);
        let values = Truth::of_values(&Head::values(names(2)), values);
        let sets = (0..3).map(|i| (vec![i % 2], 0));
        let sets = Truth::of_sets(&Head::sets(names(2)), sets);
        for truth in [&classes, &values, &sets] {
            let calibration = calibrated(truth, &left_out(truth.matrix().cols()));
            assert!(calibration.misfits.iter().flatten().all(|misfit| misfit.is_finite()));
            let nothing = Matrix::from_fn(3, truth.matrix().cols(), |_, _| f64::NAN);
            let calibration = calibrated(truth, &nothing);
            assert!(calibration.misfits.iter().all(Vec::is_empty));
            assert!(calibration.regions(0.5).unwrap().is_everything());
        }
    }
}
