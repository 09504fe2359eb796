//! The terms of a sum, by what they come from.

use crate::head::Head;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a term of a score comes from; numbers are positions in the model or its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
}

/// Terms with one number per target column; those of the same cause are added up.
#[derive(Clone, Debug)]
pub struct Terms {
    targets: usize,
    by_cause: BTreeMap<Cause, Vec<f64>>,
}

impl Terms {
    pub(super) fn new(targets: usize) -> Self {
        Terms { targets, by_cause: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, cause: Cause, term: &[f64]) {
        let sums = self.by_cause.entry(cause).or_insert_with(|| vec![0.0; self.targets]);
        sums.iter_mut().zip(term).for_each(|(sum, term)| *sum += term);
    }

    /// Those of a class, the largest in size first; of equals in the order of their causes.
    pub(super) fn of(&self, head: &Head, class: usize) -> Vec<(Cause, f64)> {
        let all = self.by_cause.iter();
        let mut terms: Vec<(Cause, f64)> =
            all.map(|(&cause, term)| (cause, head.scores(term)[class])).collect();
        terms.retain(|(_, term)| *term != 0.0);
        terms.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        terms
    }
}
