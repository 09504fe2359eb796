//! What a split of a dataset asks to be learnt.

use super::tally;
use super::{Head, Objective, Truth, columns_of};
use crate::data::{TargetKind, Targets};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::metrics::Metric;
use crate::ridge::{Asked, PENALTIES, Ridge, Selection, Sizes};
use crate::split::Split;
use rayon::prelude::*;

/// Fewer nodes than this may well be of as many classes.
const FEW: usize = 100;
/// Nodes whose classes a task looks up at least.
const NODES_AT_ONCE: usize = 4096;

/// The nodes of one training problem and what is known of them, before there is a column for each of its classes.
#[derive(Clone, Debug)]
pub(crate) struct Lesson<'a> {
    targets: &'a Targets,
    train: &'a [usize],
    /// Empty unless λ is chosen by it.
    validation: &'a [usize],
    /// Whether λ is chosen by anything.
    judges: bool,
    /// Numbers in the dataset of the classes, labels or columns that are learnt, in increasing order.
    learnt: Vec<u32>,
    metric: Metric,
    /// Of the training nodes.
    weights: Option<Vec<f64>>,
}

/// The nodes of one training problem, and what they are.
#[derive(Clone, Debug)]
pub(crate) struct Supervision<'a> {
    pub(crate) train: &'a [usize],
    /// Empty unless λ is chosen by it.
    pub(crate) validation: &'a [usize],
    /// What can be learnt: classes and labels that have a training node, values.
    pub(crate) head: Head,
    pub(crate) targets: Truth,
    pub(crate) validation_targets: Truth,
    /// What the head was made from.
    lesson: Lesson<'a>,
}

/// Columns of Y if all classes, labels or columns of values are learnt.
pub(crate) fn target_columns(targets: &Targets) -> usize {
    columns_of(targets.kind(), targets.names().len())
}

impl<'a> Lesson<'a> {
    /// Only classes and labels with a training node can be learnt.
    ///
    /// # Errors
    /// An empty training part, a node of which nothing is known, an empty validation part where λ is chosen by it, as many
    /// classes as nodes, no label at all, or an objective that does not fit.
    pub(crate) fn new(
        targets: &'a Targets,
        split: &'a Split,
        ridge: &Ridge,
        objective: &Objective,
    ) -> Result<Self> {
        let metric = objective.metric_for(targets.kind())?;
        let train = split.train();
        if train.is_empty() {
            return Err(Error::Data("the training part of the split is empty".into()));
        }
        let validation = if ridge.uses_validation() { split.validation() } else { &[] };
        if ridge.uses_validation() && validation.is_empty() {
            return Err(Error::Data(
                "λ is to be chosen on the validation part, but the split has none; \
                 choose it by leave-one-out instead"
                    .into(),
            ));
        }
        check_classes(targets)?;
        for (part, nodes) in [("training", train), ("validation", validation)] {
            if let Some(node) = nodes.iter().find(|&&node| !targets.is_known(node)) {
                return Err(Error::Data(format!(
                    "node {node} is in the {part} part but has no {}",
                    targets.one()
                )));
            }
        }
        let judges = !matches!(ridge.selection, Selection::Fixed(_));
        let weights = match (objective.class_weights.of(targets, train)?, split.weights()) {
            (Some(by_class), Some(own)) => {
                Some(by_class.iter().zip(own).map(|(by_class, own)| by_class * own).collect())
            }
            (by_class, own) => by_class.or_else(|| own.map(<[f64]>::to_vec)),
        };
        let learnt = learnt(targets, train);
        if learnt.is_empty() {
            return Err(Error::Data("no training node has a label; train on others".into()));
        }
        Ok(Lesson { targets, train, validation, judges, learnt, metric, weights })
    }

    /// The sizes of the ridge problem on so many filtered features.
    pub(crate) fn sizes(&self, columns: usize) -> Sizes {
        Sizes {
            train: self.train.len(),
            validation: self.validation.len(),
            columns,
            targets: self.columns(),
        }
    }

    /// What is asked of a solution on so many threads.
    pub(crate) fn asked(&self, calibrates: bool, threads: usize) -> Asked {
        let (path, judging) = (self.kind() == TargetKind::Sets, self.judging_memory());
        Asked { calibrates, path, judging, threads: threads as u64 }
    }

    pub(crate) fn kind(&self) -> TargetKind {
        self.targets.kind()
    }

    fn columns(&self) -> usize {
        columns_of(self.kind(), self.learnt.len())
    }

    /// Bytes of the [`Supervision`].
    pub(crate) fn memory(&self) -> u64 {
        let nodes = (self.train.len() + self.validation.len()) as u64;
        // The names of the classes are in the head and in the truths of both parts.
        let names = 3 * 64 * self.learnt.len() as u64;
        let weights = self.weights.as_ref().map_or(0, Vec::len) as u64;
        8 * nodes * self.columns() as u64 + names + 8 * (weights + nodes)
    }

    /// Bytes that judging the nodes at every λ takes, beyond those of the [ridge](Ridge::memory).
    fn judging_memory(&self) -> u64 {
        let columns = self.columns() as u64;
        let judged = if self.validation.is_empty() { self.train } else { self.validation };
        let judging = match self.judges {
            true => tally::memory(self.metric, judged.len() as u64, columns, PENALTIES as u64),
            false => 0,
        };
        // Left-out scores with what is true of them, in parts and together, for the threshold.
        let threshold = match self.targets.kind() {
            TargetKind::Sets => 40 * self.train.len() as u64 * columns,
            TargetKind::Classes | TargetKind::Values => 0,
        };
        judging.max(threshold)
    }

    /// Bytes that judging so many test nodes takes.
    pub(crate) fn testing_memory(&self, nodes: usize) -> u64 {
        let (nodes, columns) = (nodes as u64, self.columns() as u64);
        let truth = 8 * nodes * columns + 16 * nodes;
        if self.metric == Metric::Accuracy {
            0
        } else {
            truth + tally::memory(self.metric, nodes, columns, 1)
        }
    }

    /// The nodes whose filtered features are needed.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        self.train.iter().chain(self.validation).copied()
    }

    fn head(&self) -> Head {
        let names = self.learnt.iter().map(|&k| self.targets.names()[k as usize].clone()).collect();
        match self.targets.kind() {
            TargetKind::Classes => Head::classes(names),
            TargetKind::Sets => Head::sets(names),
            TargetKind::Values => Head::values(names),
        }
    }

    /// What nodes are of which something is known.
    fn truth(&self, head: &Head, nodes: &[usize]) -> Truth {
        let position = |number: u32| self.learnt.binary_search(&number).ok().map(|p| p as u32);
        match self.targets {
            Targets::Classes(labels) => {
                let class = |&node: &usize| labels.get(node).and_then(position);
                let classes = nodes.par_iter().with_min_len(NODES_AT_ONCE).map(class);
                Truth::of_classes(head, classes.collect())
            }
            Targets::Sets(sets) => {
                let set = |&node: &usize| {
                    let all = sets.get(node).unwrap_or_default();
                    let known: Vec<u32> = all.iter().filter_map(|&label| position(label)).collect();
                    let unknown = all.len() - known.len();
                    (known, unknown)
                };
                Truth::of_sets(head, nodes.iter().map(set))
            }
            Targets::Values(values) => {
                let rows = nodes.iter().flat_map(|&node| values.get(node).unwrap_or_default());
                let rows = rows.copied().collect();
                let matrix = Matrix::from_rows(nodes.len(), head.columns(), rows);
                Truth::of_values(head, matrix.expect("every node has all values"))
            }
        }
    }
}

/// Ids that were read as labels say nothing.
fn check_classes(targets: &Targets) -> Result<()> {
    match targets {
        Targets::Classes(labels)
            if labels.len() >= FEW && labels.classes().len() >= labels.len() =>
        {
            Err(Error::Data(format!(
                "there are {} classes for {} nodes, so that no node says anything about another; perhaps a column of \
                 ids was read as labels",
                labels.classes().len(),
                labels.len()
            )))
        }
        _ => Ok(()),
    }
}

/// The numbers of the classes or labels that some training node has, in increasing order; all columns of values.
fn learnt(targets: &Targets, train: &[usize]) -> Vec<u32> {
    let mut found = vec![false; targets.names().len()];
    match targets {
        Targets::Classes(labels) => {
            train.iter().filter_map(|&n| labels.get(n)).for_each(|c| found[c as usize] = true);
        }
        Targets::Sets(sets) => {
            let labels = train.iter().filter_map(|&node| sets.get(node)).flatten();
            labels.for_each(|&label| found[label as usize] = true);
        }
        Targets::Values(_) => found.fill(true),
    }
    (0..).zip(found).filter(|(_, found)| *found).map(|(number, _)| number).collect()
}

impl<'a> Supervision<'a> {
    /// As [`Lesson::new`], with the targets.
    pub(crate) fn new(
        targets: &'a Targets,
        split: &'a Split,
        ridge: &Ridge,
        objective: &Objective,
    ) -> Result<Self> {
        Supervision::of(Lesson::new(targets, split, ridge, objective)?)
    }

    /// # Errors
    /// A metric that the nodes λ is chosen by are too few for.
    pub(crate) fn of(mut lesson: Lesson<'a>) -> Result<Self> {
        let head = lesson.head();
        let (train, validation, metric) = (lesson.train, lesson.validation, lesson.metric);
        let mut targets = lesson.truth(&head, train).with_weights(lesson.weights.take());
        let mut validation_targets = lesson.truth(&head, validation);
        if !validation.is_empty() {
            validation_targets = validation_targets.judged_by(metric, "validation")?;
        } else if lesson.judges {
            targets = targets.judged_by(metric, "training")?;
        }
        Ok(Supervision { train, validation, head, targets, validation_targets, lesson })
    }

    /// What those of some nodes are of which something is known, and their positions.
    ///
    /// # Errors
    /// A metric that they are too few for.
    pub(crate) fn truth_of_test(&self, nodes: &[usize]) -> Result<(Vec<usize>, Truth)> {
        let known = nodes.iter().copied().filter(|&node| self.lesson.targets.is_known(node));
        let known: Vec<usize> = known.collect();
        let truth = self.lesson.truth(&self.head, &known).judged_by(self.lesson.metric, "test")?;
        Ok((known, truth))
    }

    /// What it was made from.
    pub(crate) fn lesson(&self) -> &Lesson<'a> {
        &self.lesson
    }

    /// What λ is chosen by, and what test nodes are judged by.
    pub(crate) fn metric(&self) -> Metric {
        self.lesson.metric
    }

    /// The class that a row of scores stands for, as a number of the dataset's classes.
    pub(crate) fn predict(&self, scores: &[f64]) -> u32 {
        self.lesson.learnt[self.head.decode(scores) as usize]
    }
}
