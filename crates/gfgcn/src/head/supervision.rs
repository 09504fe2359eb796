//! What a split of labelled nodes asks to be learnt.

use super::{Head, Targets};
use crate::data::Labels;
use crate::error::{Error, Result};
use crate::ridge::Ridge;
use crate::split::Split;

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

impl<'a> Supervision<'a> {
    /// Only classes with a training node can be learnt.
    ///
    /// # Errors
    /// An empty training part, a node without a label, or an empty validation part where λ is chosen by it.
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
        let train_labels = labels.of_part("training", train)?;
        let mut dataset_classes = train_labels.clone();
        dataset_classes.sort_unstable();
        dataset_classes.dedup();
        let name = |&class: &u32| labels.classes()[class as usize].clone();
        let head = Head::classes(dataset_classes.iter().map(name).collect());
        let targets = |part: &[u32]| {
            let position = |class| dataset_classes.binary_search(class).ok().map(|p| p as u32);
            head.targets(part.iter().map(position).collect())
        };
        Ok(Supervision {
            train,
            validation,
            targets: targets(&train_labels),
            validation_targets: targets(&labels.of_part("validation", validation)?),
            head,
            dataset_classes,
        })
    }

    /// The class that a row of scores stands for, as a number of the dataset's classes.
    pub(crate) fn predict(&self, scores: &[f64]) -> u32 {
        self.dataset_classes[self.head.decode(scores) as usize]
    }

    /// The nodes whose filtered features are needed.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        self.train.iter().chain(self.validation).copied()
    }
}
