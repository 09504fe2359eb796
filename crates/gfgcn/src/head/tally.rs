//! Judging many nodes one by one: what has to be remembered of each for a metric, and what comes of it.

use super::Truth;
use super::truth::Known;
use crate::device::Judged;
use crate::metrics::{Metric, Ranked, auc, average_precision};
use crate::ridge::Candidate;

/// Nodes whose scores are kept in one piece.
const PIECE: usize = 128;

/// What was seen of some nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    total: usize,
    correct: usize,
    squared_error: f64,
    /// Per class or label, where the metric counts them.
    guesses: Vec<Guesses>,
    /// Per column of values: squared and absolute errors.
    errors: Vec<[f64; 2]>,
    /// All scores, in the order of the nodes, where the metric ranks them. In pieces, so that joining two tallies copies
    /// nothing.
    scores: Vec<Vec<f32>>,
}

/// How often a class or label was predicted.
#[derive(Clone, Copy, Debug, Default)]
struct Guesses {
    all: u32,
    right: u32,
}

impl Tally {
    /// Counts those of the nodes that follow.
    pub(crate) fn add(&mut self, other: Tally) {
        self.total += other.total;
        self.correct += other.correct;
        self.squared_error += other.squared_error;
        join(&mut self.guesses, other.guesses, |own, other| {
            own.all += other.all;
            own.right += other.right;
        });
        join(&mut self.errors, other.errors, |own, other| {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        });
        self.scores.extend(other.scores);
    }

    fn guess(&mut self, names: usize, guessed: u32, right: bool) {
        self.guesses.resize(names, Guesses::default());
        let guesses = &mut self.guesses[guessed as usize];
        guesses.all += 1;
        guesses.right += u32::from(right);
    }

    fn keep(&mut self, scores: &[f64]) {
        let full = |piece: &Vec<f32>| piece.len() + scores.len() > piece.capacity();
        if self.scores.last().is_none_or(full) {
            self.scores.push(Vec::with_capacity(PIECE * scores.len()));
        }
        let last = self.scores.last_mut().expect("there is a piece with room");
        last.extend(scores.iter().map(|&score| score as f32));
    }
}

fn join<T>(own: &mut Vec<T>, other: Vec<T>, add: impl Fn(&mut T, T)) {
    if own.is_empty() {
        *own = other;
    } else {
        own.iter_mut().zip(other).for_each(|(own, other)| add(own, other));
    }
}

impl Truth {
    /// Takes note of a node's scores.
    #[inline]
    pub(crate) fn count(&self, tally: &mut Tally, node: usize, scores: &[f64]) {
        tally.total += 1;
        tally.squared_error += self.squared_error(node, scores);
        let (metric, names) = (self.metric(), self.head().names().len());
        match self.known() {
            Known::Classes(classes) => {
                let guessed = self.head().decode(scores);
                let right = classes[node] == Some(guessed);
                tally.correct += usize::from(right);
                if matches!(metric, Metric::BalancedAccuracy | Metric::MacroF1) {
                    tally.guess(names, guessed, right);
                }
            }
            Known::Sets { sizes } if !metric.is_ranking() => {
                tally.guesses.resize(names, Guesses::default());
                for label in highest(scores, sizes[node] as usize) {
                    tally.guess(names, label, self.matrix()[(node, label as usize)] > 0.0);
                }
            }
            Known::Sets { .. } => {}
            Known::Values => {
                tally.errors.resize(names, [0.0; 2]);
                let pairs = scores.iter().zip(self.matrix().row(node));
                for ([squared, absolute], (score, value)) in tally.errors.iter_mut().zip(pairs) {
                    let error = score - value;
                    *squared += error * error;
                    *absolute += error.abs();
                }
            }
        }
        if metric.is_ranking() {
            tally.keep(scores);
        }
    }

    /// Whether sums over the nodes are all that has to be remembered of them.
    pub(super) fn is_judged_by_sums(&self) -> bool {
        match self.known() {
            Known::Classes(_) => self.metric() == Metric::Accuracy && self.head().names().len() > 1,
            Known::Sets { .. } => false,
            Known::Values => true,
        }
    }

    /// The tally of all nodes, as a device has judged them.
    pub(super) fn tally_of(&self, judged: &Judged) -> Tally {
        let (total, correct) = (self.nodes(), judged.correct);
        let weighted = judged.errors.iter().map(|[weighted, ..]| weighted);
        match self.known() {
            Known::Values => Tally {
                total,
                squared_error: self.measured(weighted.copied()),
                errors: judged.errors.iter().map(|&[_, squared, abs]| [squared, abs]).collect(),
                ..Tally::default()
            },
            _ => Tally { total, correct, squared_error: weighted.sum(), ..Tally::default() },
        }
    }

    /// What a tally of all nodes says.
    pub(crate) fn verdict(&self, tally: &Tally) -> Candidate {
        let Tally { total, correct, squared_error, .. } = *tally;
        let guesses = || tally.guesses.iter().zip(self.supports());
        let nodes = total.max(1) as f64;
        let score = match self.metric() {
            Metric::Accuracy => correct as f64 / nodes,
            Metric::BalancedAccuracy => {
                let there = guesses().filter(|(_, support)| **support > 0);
                let shares = there.map(|(g, support)| f64::from(g.right) / *support as f64);
                mean(shares, self.has_unknown())
            }
            Metric::MacroF1 => {
                let found = guesses().filter(|(g, support)| g.all > 0 || **support > 0);
                let f1 = |(g, support): (&Guesses, &usize)| {
                    2.0 * f64::from(g.right) / (g.all as usize + support) as f64
                };
                mean(found.map(f1), self.has_unknown())
            }
            Metric::MicroF1 => {
                let (mut right, mut all) = (0, 0);
                guesses().for_each(|(g, support)| {
                    right += g.right as usize;
                    all += g.all as usize + support;
                });
                2.0 * right as f64 / (all + self.unknown()).max(1) as f64
            }
            Metric::Auc => self.ranked(&tally.scores, auc),
            Metric::AveragePrecision => self.ranked(&tally.scores, average_precision),
            Metric::R2 => {
                let columns = tally.errors.iter().zip(self.variations());
                let r2 = columns.map(|([error, _], variation)| match *variation > 0.0 {
                    true => 1.0 - error / variation,
                    // A constant: nothing to explain, and nothing to get wrong.
                    false => f64::from(*error == 0.0),
                });
                mean(r2, false)
            }
            Metric::Mae => mean(tally.errors.iter().map(|[_, error]| error / nodes), false),
        };
        Candidate { correct, total, squared_error, score }
    }

    /// The mean of a ranking metric over the columns for which there is one.
    fn ranked(&self, pieces: &[Vec<f32>], metric: fn(&mut [Ranked]) -> Option<f64>) -> f64 {
        let columns = self.matrix().cols();
        let mut ranked: Vec<Ranked> = Vec::with_capacity(self.matrix().rows());
        let mut of_column = |column: usize| {
            ranked.clear();
            let rows = pieces.iter().flat_map(|piece| piece.chunks(columns)).enumerate();
            let positive = |node: usize| self.matrix()[(node, column)] > 0.0;
            ranked.extend(rows.map(|(node, scores)| (scores[column], positive(node))));
            metric(&mut ranked)
        };
        let (mut sum, mut count) = (0.0, 0);
        for value in (0..columns).filter_map(&mut of_column) {
            sum += value;
            count += 1;
        }
        sum / f64::from(count.max(1))
    }
}

/// The mean; where some nodes are of classes that are not known, these are one more, and it has 0.
fn mean(values: impl Iterator<Item = f64>, one_more: bool) -> f64 {
    let (mut sum, mut count) = (0.0, usize::from(one_more));
    values.for_each(|value| {
        sum += value;
        count += 1;
    });
    sum / count.max(1) as f64
}

/// The columns of the so many highest scores, the first of equals.
fn highest(scores: &[f64], count: usize) -> Vec<u32> {
    let mut columns: Vec<u32> = (0..scores.len() as u32).collect();
    if count == 0 {
        return Vec::new();
    }
    if count < columns.len() {
        let score = |column: &u32| scores[*column as usize];
        columns
            .select_nth_unstable_by(count - 1, |a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
        columns.truncate(count);
    }
    columns
}

/// Bytes that are kept while so many nodes are judged at so many λ.
pub(crate) fn memory(metric: Metric, nodes: u64, columns: u64, penalties: u64) -> u64 {
    let tallies = penalties * nodes.div_ceil(PIECE as u64);
    let each = size_of::<Tally>() as u64 + 16 * columns;
    let scores = if metric.is_ranking() {
        // The last piece of each λ may have room left.
        4 * penalties * (nodes + PIECE as u64) * columns
            + size_of::<Ranked>() as u64 * nodes * rayon::current_num_threads() as u64
    } else {
        0
    };
    tallies * each + scores
}
