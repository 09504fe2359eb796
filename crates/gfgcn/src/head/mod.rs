//! What is learnt: how labels become the targets Y of a ridge problem, and scores become predictions.
//!
//! The ridge problem sees plain numbers. A [`Head`] encodes what nodes are, judges scores by it, and decodes
//! them; `supervision.rs` has what a split of labelled nodes asks of it.

mod supervision;

pub(crate) use supervision::{Lesson, Supervision};

use crate::context::Context;
use crate::error::Result;
use crate::linalg::multiply;
use crate::matrix::Matrix;
use crate::ridge::{Candidate, RidgePath};
use serde::{Deserialize, Serialize};

/// What is learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Head {
    /// One class per node.
    ///
    /// Three classes or more have one target column each, 1 for the node's class and 0 elsewhere. Two classes share one
    /// column, −1 and +1. One class has one column of ones.
    Classes {
        /// The names of the classes.
        names: Vec<String>,
    },
}

impl Head {
    /// One of the named classes per node.
    pub fn classes(names: Vec<String>) -> Self {
        Head::Classes { names }
    }

    /// The names of the classes.
    pub fn names(&self) -> &[String] {
        let Head::Classes { names } = self;
        names
    }

    /// The number of target columns.
    pub fn columns(&self) -> usize {
        columns_of(self.names().len())
    }

    /// The class that a row of scores stands for: with one column for two classes its sign; with one per
    /// class the largest, the first of equals.
    pub fn decode(&self, scores: &[f64]) -> u32 {
        if self.names().len() == 2 && scores.len() == 1 {
            return u32::from(scores[0] > 0.0);
        }
        let mut best = 0;
        for (class, score) in scores.iter().enumerate() {
            if *score > scores[best] {
                best = class;
            }
        }
        best as u32
    }

    /// A row of scores with one entry per class; the largest wins. Two classes share one target, so theirs
    /// are s and −s.
    pub fn scores(&self, row: &[f64]) -> Vec<f64> {
        if self.names().len() == 2 { vec![-row[0], row[0]] } else { row.to_vec() }
    }

    /// The targets of some nodes by their classes; `None` is a class that the head does not know.
    pub fn targets(&self, classes: Vec<Option<u32>>) -> Targets {
        let count = self.names().len();
        let matrix = Matrix::from_fn(classes.len(), self.columns(), |i, j| match classes[i] {
            // What none of the classes is, is no more one of them than another.
            None => 0.0,
            Some(class) if count == 2 => f64::from(class == 1) * 2.0 - 1.0,
            Some(class) => f64::from(count == 1 || class as usize == j),
        });
        Targets { head: self.clone(), classes, matrix }
    }
}

/// The number of target columns of so many classes.
pub(crate) fn columns_of(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

/// What some nodes are to be.
#[derive(Clone, Debug)]
pub struct Targets {
    head: Head,
    classes: Vec<Option<u32>>,
    matrix: Matrix<f64>,
}

impl Targets {
    /// Y, nodes × target columns.
    pub fn matrix(&self) -> &Matrix<f64> {
        &self.matrix
    }

    /// The classes of the nodes, as positions in the head's names.
    pub fn classes(&self) -> &[Option<u32>] {
        &self.classes
    }

    /// Whether a node's scores stand for what it is, and their squared distance from its targets.
    pub fn judge(&self, node: usize, scores: &[f64]) -> (bool, f64) {
        let correct = Some(self.head.decode(scores)) == self.classes[node];
        let pairs = scores.iter().zip(self.matrix.row(node));
        (correct, pairs.map(|(score, target)| score - target).map(|d| d * d).sum())
    }

    /// How well each penalty predicts the training nodes, each left out in turn; `None` where it is too
    /// small for double precision.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub fn judge_left_out(
        &self,
        path: &RidgePath,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Vec<Option<Candidate>>> {
        path.leave_one_out(
            penalties,
            context,
            |sum: &mut Candidate, node, scores| {
                let (correct, squared_error) = self.judge(node, scores);
                sum.count(correct, squared_error);
            },
            Candidate::add,
        )
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
        let mut candidates = vec![Candidate::default(); penalties.len()];
        for node in 0..scores.rows() {
            let of_penalties = scores.row(node).chunks(self.matrix.cols());
            for (candidate, scores) in candidates.iter_mut().zip(of_penalties) {
                let (correct, squared_error) = self.judge(node, scores);
                candidate.count(correct, squared_error);
            }
        }
        Ok(candidates.into_iter().zip(usable).map(|(c, usable)| usable.then_some(c)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(classes: usize) -> Head {
        Head::classes((0..classes).map(|class| class.to_string()).collect())
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for classes in 1..5 {
            let head = head(classes);
            let all: Vec<Option<u32>> = (0..classes as u32).map(Some).collect();
            let targets = head.targets(all.clone());
            for (k, class) in all.iter().enumerate() {
                assert_eq!(Some(head.decode(targets.matrix().row(k))), *class);
                assert_eq!(targets.judge(k, targets.matrix().row(k)), (true, 0.0));
            }
        }
    }

    #[test]
    fn a_class_that_is_not_known_is_none_of_the_others() {
        for (classes, scores) in [(2, vec![0.5]), (3, vec![0.5, 0.0, 0.0])] {
            let targets = head(classes).targets(vec![None]);
            assert!(targets.matrix().as_slice().iter().all(|&y| y == 0.0), "{classes} classes");
            assert_eq!(targets.judge(0, &scores), (false, 0.25));
        }
    }
}
