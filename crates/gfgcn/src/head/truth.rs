//! What some nodes really are: the targets Y of a ridge problem, and scores judged by them.

use super::Head;
use super::tally::Tally;
use crate::context::Context;
use crate::device::Judged;
use crate::error::{Error, Result};
use crate::linalg::multiply;
use crate::matrix::Matrix;
use crate::metrics::{Metric, Ranked, best_threshold};
use crate::ridge::{Candidate, RidgePath};
use rayon::prelude::*;

/// Rows that a task fills at least.
const ROWS_AT_ONCE: usize = 4096;

/// What some nodes are.
#[derive(Clone, Debug)]
pub struct Truth {
    head: Head,
    known: Known,
    /// Y, shared with the ridge problem.
    matrix: Matrix<f64>,
    metric: Metric,
    weights: Option<Vec<f64>>,
    /// Nodes of each class or label, none of values.
    supports: Vec<usize>,
    /// Σ (y − mean)² of each column of values.
    variations: Vec<f64>,
}

/// What Y does not say.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// `None` is a class that the head does not know.
    Classes(Vec<Option<u32>>),
    /// How many labels each node has, with those that the head does not know.
    Sets {
        sizes: Vec<u32>,
    },
    Values,
}

impl Truth {
    /// Of nodes with classes, as positions in the head's names; `None` is a class that the head does not know.
    ///
    /// Three classes or more have one column each, 1 for the node's class and 0 elsewhere. Two classes share one
    /// column, −1 and +1. One class has one column of ones. A class that is not known is 0 everywhere.
    pub fn of_classes(head: &Head, classes: Vec<Option<u32>>) -> Self {
        let (count, columns) = (head.names().len(), head.columns());
        let mut matrix = Matrix::zeros(classes.len(), columns);
        let rows = matrix.as_mut_slice().par_chunks_mut(columns.max(1)).zip(&classes);
        rows.with_min_len(ROWS_AT_ONCE).for_each(|(row, class)| match (count, *class) {
            // What none of the classes is, is no more one of them than another.
            (_, None) => {}
            (1, Some(_)) => row[0] = 1.0,
            (2, Some(class)) => row[0] = f64::from(class == 1) * 2.0 - 1.0,
            (_, Some(class)) => row[class as usize] = 1.0,
        });
        let mut supports = vec![0; count];
        classes.iter().flatten().for_each(|&class| supports[class as usize] += 1);
        Truth::new(head, Known::Classes(classes), matrix, supports)
    }

    /// Of nodes with sets of labels, as positions in the head's names, each with how many labels it has that the head does not
    /// know. One column per label, 1 for those that the node has and 0 for the others.
    pub fn of_sets(head: &Head, sets: impl ExactSizeIterator<Item = (Vec<u32>, usize)>) -> Self {
        let mut matrix = Matrix::zeros(sets.len(), head.columns());
        let mut supports = vec![0; head.names().len()];
        let mut sizes = Vec::with_capacity(sets.len());
        for (node, (labels, unknown)) in sets.enumerate() {
            sizes.push((labels.len() + unknown) as u32);
            for label in labels {
                matrix[(node, label as usize)] = 1.0;
                supports[label as usize] += 1;
            }
        }
        Truth::new(head, Known::Sets { sizes }, matrix, supports)
    }

    /// Of nodes with values, nodes × columns.
    pub fn of_values(head: &Head, values: Matrix<f64>) -> Self {
        let mut truth = Truth::new(head, Known::Values, values, Vec::new());
        let means = truth.matrix.column_means();
        truth.variations = vec![0.0; means.len()];
        for node in 0..truth.matrix.rows() {
            let row = truth.matrix.row(node).iter().zip(&means);
            let squares = row.map(|(value, mean)| (value - mean) * (value - mean));
            truth.variations.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
        }
        truth
    }

    fn new(head: &Head, known: Known, matrix: Matrix<f64>, supports: Vec<usize>) -> Self {
        let matrix = matrix.into_shared();
        Truth {
            head: head.clone(),
            known,
            matrix,
            metric: Metric::default_of(head.kind()),
            weights: None,
            supports,
            variations: Vec::new(),
        }
    }

    /// Judged by another metric than the usual one; the nodes are those of a part of a split, which messages name.
    ///
    /// # Errors
    /// A metric that does not fit, or that needs nodes of more than one class.
    pub fn judged_by(mut self, metric: Metric, part: &str) -> Result<Self> {
        metric.check(self.head.kind())?;
        let mixed = |column: usize| {
            let entries = (0..self.matrix.rows()).map(|node| self.matrix[(node, column)] > 0.0);
            let positives = entries.filter(|positive| *positive).count();
            positives > 0 && positives < self.matrix.rows()
        };
        if metric.is_ranking() && !(0..self.matrix.cols()).any(mixed) {
            return Err(Error::Data(format!(
                "{metric} compares nodes of a class with others, but in the {part} part there is nothing to compare; \
                 use more nodes or another metric"
            )));
        }
        self.metric = metric;
        Ok(self)
    }

    /// With weights w > 0 of the nodes' squared errors.
    #[must_use]
    pub fn with_weights(self, weights: Option<Vec<f64>>) -> Self {
        Truth { weights, ..self }
    }

    /// That of some of the nodes, by their positions.
    pub(crate) fn part(&self, nodes: &[usize]) -> Self {
        let matrix = self.matrix.select_rows(nodes);
        let truth = match &self.known {
            Known::Classes(classes) => {
                Truth::of_classes(&self.head, nodes.iter().map(|&node| classes[node]).collect())
            }
            Known::Sets { sizes } => {
                let set = |&node: &usize| {
                    let row = self.matrix.row(node).iter().zip(0..);
                    let labels: Vec<u32> = row.filter(|(y, _)| **y > 0.0).map(|(_, k)| k).collect();
                    let unknown = sizes[node] as usize - labels.len();
                    (labels, unknown)
                };
                Truth::of_sets(&self.head, nodes.iter().map(set))
            }
            Known::Values => Truth::of_values(&self.head, matrix),
        };
        let weights = |all: &Vec<f64>| nodes.iter().map(|&node| all[node]).collect();
        Truth { metric: self.metric, weights: self.weights.as_ref().map(weights), ..truth }
    }

    /// The class of a node, as a position in the head's names, where nodes have classes and the head knows it.
    pub(crate) fn class(&self, node: usize) -> Option<u32> {
        match &self.known {
            Known::Classes(classes) => classes[node],
            Known::Sets { .. } | Known::Values => None,
        }
    }

    /// How many labels a node has, with those that the head does not know; none where nodes have no sets of them.
    pub(crate) fn labels_of(&self, node: usize) -> usize {
        match &self.known {
            Known::Sets { sizes } => sizes[node] as usize,
            Known::Classes(_) | Known::Values => 0,
        }
    }

    /// Y, nodes × target columns.
    pub fn matrix(&self) -> &Matrix<f64> {
        &self.matrix
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.matrix.rows()
    }

    /// What the nodes are judged by.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The weights of the nodes, where they do not all count alike.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The weight of a node; 1 where all count alike.
    pub(crate) fn weight(&self, node: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[node])
    }

    /// What the columns stand for.
    pub fn head(&self) -> &Head {
        &self.head
    }

    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// How many nodes are of each class or have each label.
    pub(super) fn supports(&self) -> &[usize] {
        &self.supports
    }

    /// Nodes of classes that the head does not know, or labels of nodes.
    pub(super) fn unknown(&self) -> usize {
        match &self.known {
            Known::Classes(classes) => classes.iter().filter(|class| class.is_none()).count(),
            Known::Sets { sizes } => {
                let all: usize = sizes.iter().map(|&size| size as usize).sum();
                all - self.supports.iter().sum::<usize>()
            }
            Known::Values => 0,
        }
    }

    pub(super) fn has_unknown(&self) -> bool {
        self.unknown() > 0
    }

    /// Σ (y − mean)² of each column of values.
    pub(super) fn variations(&self) -> &[f64] {
        &self.variations
    }

    /// Whether a node's scores stand for its class, and their [squared error](Truth::squared_error).
    pub fn judge(&self, node: usize, scores: &[f64]) -> (bool, f64) {
        let correct = match &self.known {
            Known::Classes(classes) => Some(self.head.decode(scores)) == classes[node],
            Known::Sets { .. } | Known::Values => false,
        };
        (correct, self.squared_error(node, scores))
    }

    /// The squared distance of a node's scores from its targets, times its weight. Columns of values, which have units
    /// of their own, are measured by their variance.
    #[inline]
    pub fn squared_error(&self, node: usize, scores: &[f64]) -> f64 {
        let pairs = scores.iter().zip(self.matrix.row(node));
        let squares = pairs.map(|(score, target)| score - target).map(|d| d * d);
        let error: f64 = match &self.known {
            Known::Values => self.measured(squares),
            _ => squares.sum(),
        };
        self.weight(node) * error
    }

    /// The sum of squares of the columns of values, each in units of its variance.
    pub(super) fn measured(&self, squares: impl Iterator<Item = f64>) -> f64 {
        let nodes = self.nodes() as f64;
        let measured = squares.zip(&self.variations).map(|(square, &variation)| {
            if variation > 0.0 { square * nodes / variation } else { square }
        });
        measured.sum()
    }

    /// How well scores of the nodes (nodes × columns) predict them.
    pub fn judge_scores<'s>(&self, scores: impl Iterator<Item = &'s [f64]>) -> Candidate {
        let mut tally = Tally::default();
        scores.enumerate().for_each(|(node, scores)| self.count(&mut tally, node, scores));
        self.verdict(&tally)
    }

    /// How well each penalty predicts the training nodes, each left out in turn; `None` where it is too
    /// small for double precision. The path is one of these very targets and weights.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub fn judge_left_out(
        &self,
        path: &RidgePath,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Vec<Option<Candidate>>> {
        if path.is_judged_on_device() && self.is_judged_by_sums() {
            let classes = match &self.known {
                // A class that is not known is none of the columns.
                Known::Classes(classes) => Some(classes.iter().map(|c| c.unwrap_or(u32::MAX))),
                Known::Sets { .. } | Known::Values => None,
            };
            let classes: Option<Vec<u32>> = classes.map(Iterator::collect);
            let judged = path.judged_on_device(classes.as_deref(), penalties, context)?;
            let verdict = |judged: Judged| self.verdict(&self.tally_of(&judged));
            return Ok(judged.into_iter().map(|judged| judged.map(verdict)).collect());
        }
        let tallies = path.leave_one_out(
            penalties,
            context,
            |tally: &mut Tally, node, scores| self.count(tally, node, scores),
            Tally::add,
        )?;
        let verdict = |tally: &Option<Tally>| Some(self.verdict(tally.as_ref()?));
        Ok(tallies.par_iter().map(verdict).collect())
    }

    /// How well each penalty predicts these nodes, which took no part in the training; `inputs` are their
    /// filtered features (primal) or kernel values with the training nodes (dual).
    pub(crate) fn judge_held_out(
        &self,
        path: &RidgePath,
        penalties: &[f64],
        inputs: &Matrix<f64>,
        context: &Context,
    ) -> Result<Vec<Option<Candidate>>> {
        let (solutions, usable) = path.solve_side_by_side(penalties, context)?;
        let mut scores = multiply(inputs, &solutions.coefficients, context)?;
        scores.add_to_rows(1.0, &solutions.intercept);
        let columns = self.matrix.cols();
        let judge = |(k, usable): (usize, bool)| {
            let own = (0..scores.rows()).map(|i| &scores.row(i)[k * columns..(k + 1) * columns]);
            usable.then(|| self.judge_scores(own))
        };
        Ok(usable.into_par_iter().enumerate().map(judge).collect())
    }

    /// The threshold above which labels are predicted for nodes whose number of labels is not known: the one with the best
    /// micro-F1 on these scores, for all labels together.
    pub(crate) fn threshold_of(&self, scores: &Matrix<f64>) -> f64 {
        let positive = self.matrix.as_slice().iter().map(|&target| target > 0.0);
        let scores = scores.as_slice().iter().map(|&score| score as f32);
        best_threshold(&mut scores.zip(positive).collect::<Vec<Ranked>>())
    }
}
