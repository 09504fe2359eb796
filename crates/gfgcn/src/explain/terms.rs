//! The terms of a sum, by what they come from.

use crate::matrix::Matrix;
use serde::Serialize;

/// What a term of a score comes from; numbers are positions in the model or its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// A channel of a member.
    Channel {
        /// Among the members of the model.
        member: usize,
        /// Among the channels of its design.
        channel: usize,
    },
    /// A member whose kernel is not linear, as a whole.
    Member(usize),
    /// A feature, of the node and of others as far as the filters reach.
    Feature(usize),
    /// Links to and around a node, by a member that learnt from who is linked to whom.
    Link(usize),
    /// A column of degrees.
    Degree(usize),
    /// Everything that a node of the graph contributes.
    Node(usize),
    /// What was learnt from a labelled node, of the graph that was trained on.
    Labelled(usize),
}

/// Terms of one kind, numbered: one row each, one column per target.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    cause: fn(usize) -> Cause,
    values: Matrix<f64>,
}

impl Terms {
    pub(super) fn new(cause: fn(usize) -> Cause, count: usize, targets: usize) -> Self {
        Terms { cause, values: Matrix::zeros(count, targets) }
    }

    /// Adds to a term.
    pub(super) fn add(&mut self, number: usize, term: &[f64]) {
        let row = self.values.row_mut(number).iter_mut();
        row.zip(term).for_each(|(sum, term)| *sum += term);
    }

    /// Every term that is not zero anywhere.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Cause, &[f64])> {
        let rows = (0..self.values.rows()).map(|number| (number, self.values.row(number)));
        let there = rows.filter(|(_, row)| row.iter().any(|value| *value != 0.0));
        there.map(|(number, row)| ((self.cause)(number), row))
    }
}
