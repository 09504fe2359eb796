//! Who wins, and what the winner is worth.
//!
//! The first candidate is the incumbent. It gives way only to one that beats it beyond chance: of
//! the left-out nodes that just one of the two classifies, so many more must be the other's that the
//! surplus is twice its standard error. Without that, the best of a hundred equally good candidates
//! wins by luck, and with few labels is worse than a good default.
//!
//! The best of many candidates looks better than it is: its left-out accuracy is partly luck. So the
//! expected accuracy is not read off the winner. Instead the choice is repeated many times on a random
//! part of the training nodes, and each time the winner is judged on the rest, which had no say in
//! it (after the bias-corrected cross-validation of Tsamardinos and others, 2018).

use super::screening::FEWEST_FINALISTS;
use super::{Combination, Contender};
use crate::context::Context;
use crate::data::mix;
use crate::error::Result;
use crate::head::Targets;
use crate::ridge::{Candidate, RidgePath, Verdict};
use rayon::prelude::*;
use serde::Serialize;

/// Repetitions of the choice.
const REPETITIONS: usize = 200;

/// The accuracy to expect on nodes that had no part in the choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// 0 to 1.
    pub accuracy: f64,
    /// The standard error of a share of so many nodes.
    pub std_error: f64,
    /// From where to where it is with a confidence of 95 %, within 0 and 1 (Wilson's interval).
    pub interval: (f64, f64),
}

/// Which left-out nodes each λ of a combination classified.
pub(super) struct Trials {
    pub(super) combination: Combination,
    penalties: Vec<f64>,
    nodes: usize,
    /// Per λ; `None` where it is too large for double precision.
    left_out: Vec<Option<LeftOut>>,
}

#[derive(Clone, Default)]
struct LeftOut {
    /// Over all nodes.
    all: Candidate,
    /// One bit per training node, in order.
    correct: Bits,
    /// One per training node.
    squared_errors: Vec<f32>,
}

impl LeftOut {
    /// The squared error on some nodes: what breaks ties among them must not know of the others.
    fn squared_error(&self, within: Option<&Bits>) -> f64 {
        let Some(within) = within else { return self.all.squared_error };
        let errors = self.squared_errors.iter().enumerate();
        errors.filter(|(node, _)| within.contains(*node)).map(|(_, &error)| f64::from(error)).sum()
    }
}

/// A set of training nodes.
#[derive(Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn insert(&mut self, k: usize) {
        if self.0.len() <= k / 64 {
            self.0.resize(k / 64 + 1, 0);
        }
        self.0[k / 64] |= 1 << (k % 64);
    }

    fn contains(&self, k: usize) -> bool {
        self.0.get(k / 64).is_some_and(|word| word >> (k % 64) & 1 == 1)
    }

    fn count(&self, within: Option<&Bits>) -> usize {
        match within {
            None => self.0.iter().map(|word| word.count_ones() as usize).sum(),
            Some(other) => {
                self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones() as usize).sum()
            }
        }
    }

    /// Whether, of the nodes in just one of two sets, this one has more by over two standard errors.
    fn beats_beyond_chance(&self, other: &Bits, within: Option<&Bits>) -> bool {
        let mut common = self.clone();
        common.0.truncate(other.0.len());
        common.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
        let both = common.count(within) as f64;
        let (own, others) = (self.count(within) as f64 - both, other.count(within) as f64 - both);
        own - others > 2.0 * (own + others).sqrt()
    }

    fn union(&mut self, other: &Bits) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }
}

impl Trials {
    pub(super) fn new(
        combination: Combination,
        path: &RidgePath,
        penalties: Vec<f64>,
        targets: &Targets,
        context: &Context,
    ) -> Result<Self> {
        let left_out = path.leave_one_out(
            &penalties,
            context,
            |sum: &mut LeftOut, node, prediction| {
                let (correct, squared_error) = targets.judge(node, prediction);
                sum.all.count(correct, squared_error);
                sum.squared_errors.push(squared_error as f32);
                if correct {
                    sum.correct.insert(node);
                }
            },
            |sum, other| {
                sum.all.add(other.all);
                sum.squared_errors.extend(other.squared_errors);
                sum.correct.union(&other.correct);
            },
        )?;
        Ok(Trials { combination, penalties, nodes: targets.classes().len(), left_out })
    }

    /// The best λ, counting only some nodes.
    fn best(&self, within: Option<&Bits>) -> Option<Verdict> {
        let correct: Vec<Option<usize>> = self
            .left_out
            .iter()
            .map(|trial| trial.as_ref().map(|trial| trial.correct.count(within)))
            .collect();
        let squared_error = |position: usize| {
            self.left_out[position].as_ref().map_or(0.0, |trial| trial.squared_error(within))
        };
        Verdict::best_of(&correct, squared_error)
    }

    pub(super) fn contender(&self, position: usize) -> Contender {
        let Combination { design, kernel } = self.combination.clone();
        let all = self.left_out[position].as_ref().expect("a winner was judged").all;
        Contender {
            design,
            kernel,
            lambda: self.penalties[position].recip(),
            accuracy: all.accuracy(),
            squared_error: all.squared_error / self.nodes as f64,
        }
    }
}

/// The trials from best to worst, each with the position of its best λ.
pub(super) fn ranking(trials: &[Trials]) -> Vec<(usize, usize)> {
    let mut verdicts = verdicts(trials, None);
    verdicts.sort_by(|(_, a), (_, b)| {
        b.score.cmp(&a.score).then(a.squared_error.total_cmp(&b.squared_error))
    });
    verdicts.into_iter().map(|(k, verdict)| (k, verdict.position)).collect()
}

fn verdicts(trials: &[Trials], within: Option<&Bits>) -> Vec<(usize, Verdict)> {
    trials.iter().enumerate().filter_map(|(k, t)| Some((k, t.best(within)?))).collect()
}

/// The trials that are chosen, with the position of their best λ; the first trials are the incumbent.
pub(super) fn choice(trials: &[Trials]) -> Option<(usize, usize)> {
    choice_within(trials, None)
}

fn choice_within(trials: &[Trials], within: Option<&Bits>) -> Option<(usize, usize)> {
    let verdicts = verdicts(trials, within);
    let incumbent = verdicts.iter().find(|(k, _)| *k == 0).copied();
    let bits = |(k, verdict): &(usize, Verdict)| {
        trials[*k].left_out[verdict.position].as_ref().map(|trial| &trial.correct)
    };
    let may_win =
        |candidate: &(usize, Verdict)| match (incumbent.as_ref().and_then(bits), bits(candidate)) {
            (Some(incumbent), Some(own)) => own.beats_beyond_chance(incumbent, within),
            _ => true,
        };
    let challengers: Vec<(usize, Verdict)> = verdicts.iter().copied().filter(may_win).collect();
    let best = Verdict::winner(&challengers, |(_, verdict)| verdict).copied();
    best.or(incumbent).map(|(k, verdict)| (k, verdict.position))
}

/// The trials that go on to all training nodes: the incumbent first, then the best, as long as they do not lose to
/// the very best beyond chance; four at least and `most` at most.
pub(super) fn finalists(trials: &[Trials], most: usize) -> Vec<usize> {
    let ranking = ranking(trials);
    let bits = |(k, position): (usize, usize)| {
        &trials[k].left_out[position].as_ref().expect("a ranked trial was judged").correct
    };
    let in_the_running = |place: usize| {
        place < FEWEST_FINALISTS
            || !bits(ranking[0]).beats_beyond_chance(bits(ranking[place]), None)
    };
    let ranked = (0..ranking.len()).filter(|&place| in_the_running(place)).map(|p| ranking[p].0);
    std::iter::once(0).chain(ranked.filter(|&k| k > 0)).take(most).collect()
}

/// Repeats the choice on two thirds of the nodes and judges it on the rest. Nodes are drawn by their keys, so that
/// their order does not matter.
pub(super) fn expected(trials: &[Trials], keys: &[u64]) -> Expected {
    let nodes = keys.len();
    let judge = |repetition: usize| {
        let seed = mix(repetition as u64);
        let (mut chosen_on, mut judged_on) = (Bits::default(), Bits::default());
        for (node, &key) in keys.iter().enumerate() {
            if mix(key ^ seed) % 3 < 2 { &mut chosen_on } else { &mut judged_on }.insert(node);
        }
        let correct = choice_within(trials, Some(&chosen_on))
            .and_then(|(k, position)| trials[k].left_out[position].as_ref())
            .map_or(0, |trial| trial.correct.count(Some(&judged_on)));
        (correct, judged_on.count(None))
    };
    let (correct, judged) = (0..REPETITIONS)
        .into_par_iter()
        .map(judge)
        .reduce(|| (0, 0), |(a, b), (c, d)| (a + c, b + d));
    let accuracy = correct as f64 / judged.max(1) as f64;
    // One success and one failure more, so that a few nodes without a failure prove little.
    let n = nodes as f64;
    let share = (accuracy * n + 1.0) / (n + 2.0);
    let std_error = (share * (1.0 - share) / (n + 2.0)).sqrt();
    Expected { accuracy, std_error, interval: wilson(accuracy, n) }
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

    fn bits(nodes: impl IntoIterator<Item = usize>) -> Bits {
        let mut bits = Bits::default();
        nodes.into_iter().for_each(|node| bits.insert(node));
        bits
    }

    #[test]
    fn sets_are_counted_joined_and_compared() {
        let (mut a, b) = (bits([0, 63, 64, 200]), bits([63, 64, 65]));
        assert_eq!((a.count(None), a.count(Some(&b)), b.count(Some(&a))), (4, 2, 2));
        a.union(&b);
        assert_eq!(a.count(None), 5);
    }

    /// Two λ that are equally right on the nodes that choose: what is known of the others must not decide.
    #[test]
    fn ties_are_broken_by_the_nodes_that_choose_alone() {
        let left_out = |errors: [f32; 4]| {
            let all = Candidate {
                correct: 4,
                total: 4,
                squared_error: errors.iter().map(|&error| f64::from(error)).sum(),
            };
            Some(LeftOut { all, correct: bits(0..4), squared_errors: errors.to_vec() })
        };
        let design = crate::filter::Filter::sgc(2).unwrap().into();
        let trials = Trials {
            combination: Combination { design, kernel: crate::kernel::Kernel::Linear },
            penalties: vec![1.0, 0.1],
            nodes: 4,
            // The first is better on nodes 0 and 1, the second on all four together.
            left_out: vec![left_out([0.1, 0.1, 0.9, 0.9]), left_out([0.2, 0.2, 0.1, 0.1])],
        };
        let position = |within: Option<&Bits>| trials.best(within).unwrap().position;
        assert_eq!(position(Some(&bits([0, 1]))), 0);
        assert_eq!(position(Some(&bits([2, 3]))), 1);
        assert_eq!(position(None), 1);
    }

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
    fn a_surplus_within_chance_does_not_win() {
        // 10 nodes against 5: a surplus of 5 with a standard error of √15.
        let (a, b) = (bits(0..10), bits(10..15));
        assert!(!a.beats_beyond_chance(&b, None));
        // 20 against 5: a surplus of 15 with a standard error of 5.
        let (a, b) = (bits(0..20), bits(20..25));
        assert!(a.beats_beyond_chance(&b, None) && !b.beats_beyond_chance(&a, None));
        assert!(!a.beats_beyond_chance(&b, Some(&bits(0..3))), "only three nodes count");
        assert!(!a.beats_beyond_chance(&a, None));
    }
}
