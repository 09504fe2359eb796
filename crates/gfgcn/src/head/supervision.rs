//! What a split of labelled nodes asks to be learnt.

use super::{Head, Targets, columns_of};
use crate::data::Labels;
use crate::error::{Error, Result};
use crate::ridge::{Ridge, Sizes};
use crate::split::Split;

/// Fewer nodes than this may well be of as many classes.
const FEW: usize = 100;

/// The nodes of one training problem and their classes, before there is a column for each of those.
#[derive(Clone, Debug)]
pub(crate) struct Lesson<'a> {
    train: &'a [usize],
    /// Empty unless λ is chosen by it.
    validation: &'a [usize],
    train_labels: Vec<u32>,
    validation_labels: Vec<u32>,
    /// Those that have a training node, in increasing order.
    classes: Vec<u32>,
}

/// The nodes of one training problem, and what they are.
#[derive(Clone, Debug)]
pub(crate) struct Supervision<'a> {
    pub(crate) train: &'a [usize],
    /// Empty unless λ is chosen by it.
    pub(crate) validation: &'a [usize],
    /// The classes that have a training node.
    pub(crate) head: Head,
    pub(crate) targets: Targets,
    pub(crate) validation_targets: Targets,
    /// The number in the dataset of each class of the head.
    dataset_classes: Vec<u32>,
}

impl<'a> Lesson<'a> {
    /// Only classes with a training node can be learnt.
    ///
    /// # Errors
    /// An empty training part, a node without a label, an empty validation part where λ is chosen by it, or as many
    /// classes as nodes.
    pub(crate) fn new(labels: &Labels, split: &'a Split, ridge: &Ridge) -> Result<Self> {
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
        if labels.len() >= FEW && labels.classes().len() >= labels.len() {
            return Err(Error::Data(format!(
                "there are {} classes for {} nodes, so that no node says anything about another; perhaps a column of \
                 ids was read as labels",
                labels.classes().len(),
                labels.len()
            )));
        }
        let train_labels = labels.of_part("training", train)?;
        let mut classes = train_labels.clone();
        classes.sort_unstable();
        classes.dedup();
        let validation_labels = labels.of_part("validation", validation)?;
        Ok(Lesson { train, validation, train_labels, validation_labels, classes })
    }

    /// The sizes of the ridge problem on so many filtered features.
    pub(crate) fn sizes(&self, columns: usize) -> Sizes {
        Sizes {
            train: self.train.len(),
            validation: self.validation.len(),
            columns,
            targets: columns_of(self.classes.len()),
        }
    }

    /// Bytes of the [`Supervision`].
    pub(crate) fn memory(&self) -> u64 {
        let nodes = (self.train.len() + self.validation.len()) as u64;
        // The names of the classes are in the head and in the targets of both parts.
        let names = 3 * 64 * self.classes.len() as u64;
        8 * nodes * columns_of(self.classes.len()) as u64 + names
    }

    /// The nodes whose filtered features are needed.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        self.train.iter().chain(self.validation).copied()
    }
}

impl<'a> Supervision<'a> {
    /// As [`Lesson::new`], with the targets.
    pub(crate) fn new(labels: &Labels, split: &'a Split, ridge: &Ridge) -> Result<Self> {
        Ok(Supervision::of(labels, Lesson::new(labels, split, ridge)?))
    }

    pub(crate) fn of(labels: &Labels, lesson: Lesson<'a>) -> Self {
        let Lesson { train, validation, train_labels, validation_labels, classes } = lesson;
        let name = |&class: &u32| labels.classes()[class as usize].clone();
        let head = Head::classes(classes.iter().map(name).collect());
        let targets = |part: &[u32]| {
            let position = |class| classes.binary_search(class).ok().map(|p| p as u32);
            head.targets(part.iter().map(position).collect())
        };
        Supervision {
            train,
            validation,
            targets: targets(&train_labels),
            validation_targets: targets(&validation_labels),
            head,
            dataset_classes: classes,
        }
    }

    /// The class that a row of scores stands for, as a number of the dataset's classes.
    pub(crate) fn predict(&self, scores: &[f64]) -> u32 {
        self.dataset_classes[self.head.decode(scores) as usize]
    }
}
