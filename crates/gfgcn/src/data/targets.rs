//! What is known of the nodes, and is to be learnt.

use super::{LabelSets, Labels, Values};
use crate::error::{Error, Result};
use serde::Serialize;
use std::fmt;

/// What is known of each node: one class, a set of labels, or numbers.
///
/// | kind | a node has | unknown |
/// |---|---|---|
/// | [`Labels`] | one class | no class |
/// | [`LabelSets`] | any number of labels, perhaps none | no set, which is not the empty one |
/// | [`Values`] | a number in each of some columns | no number in any |
///
/// ```
/// use gfgcn::data::{LabelSets, TargetKind, Targets};
/// let targets = Targets::from(LabelSets::from_names(&[Some(vec!["a", "b"]), Some(vec![]), None]));
/// assert_eq!(targets.kind(), TargetKind::Sets);
/// assert_eq!(targets.known(), [0, 1]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// One class per node.
    Classes(Labels),
    /// A set of labels per node.
    Sets(LabelSets),
    /// Numbers.
    Values(Values),
}

/// The kinds of targets. Written as `classes`, `label sets` and `values`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// One class per node.
    Classes,
    /// A set of labels per node.
    Sets,
    /// Numbers.
    Values,
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TargetKind::Classes => "classes",
            TargetKind::Sets => "label sets",
            TargetKind::Values => "values",
        })
    }
}

impl Targets {
    /// Of which kind they are.
    pub fn kind(&self) -> TargetKind {
        match self {
            Targets::Classes(_) => TargetKind::Classes,
            Targets::Sets(_) => TargetKind::Sets,
            Targets::Values(_) => TargetKind::Values,
        }
    }

    /// The number of nodes, known or not.
    pub fn len(&self) -> usize {
        match self {
            Targets::Classes(labels) => labels.len(),
            Targets::Sets(sets) => sets.len(),
            Targets::Values(values) => values.len(),
        }
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the classes, the labels or the columns.
    pub fn names(&self) -> &[String] {
        match self {
            Targets::Classes(labels) => labels.classes(),
            Targets::Sets(sets) => sets.names(),
            Targets::Values(values) => values.names(),
        }
    }

    /// Whether a node's class, labels or values are known.
    pub fn is_known(&self, node: usize) -> bool {
        match self {
            Targets::Classes(labels) => labels.get(node).is_some(),
            Targets::Sets(sets) => sets.get(node).is_some(),
            Targets::Values(values) => values.get(node).is_some(),
        }
    }

    /// The nodes of which something is known.
    pub fn known(&self) -> Vec<usize> {
        (0..self.len()).filter(|&node| self.is_known(node)).collect()
    }

    /// What one node has, for messages.
    pub(crate) fn one(&self) -> &'static str {
        match self {
            Targets::Classes(_) => "label",
            Targets::Sets(_) => "set of labels",
            Targets::Values(_) => "value",
        }
    }

    /// The targets of the given nodes; classes and labels that none of them has are dropped.
    #[must_use]
    pub fn select(&self, nodes: &[usize]) -> Self {
        self.arranged(nodes.iter().copied().map(Some))
    }

    /// As [`Targets::select`], with nodes of which nothing is known among them.
    pub(crate) fn arranged(&self, nodes: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        match self {
            Targets::Classes(labels) => Targets::Classes(labels.arranged(nodes)),
            Targets::Sets(sets) => Targets::Sets(sets.arranged(nodes)),
            Targets::Values(values) => Targets::Values(values.arranged(nodes)),
        }
    }

    /// What is known of the given nodes; nothing is known of the others any more.
    #[must_use]
    pub fn only(&self, nodes: &[usize]) -> Self {
        let mut wanted = vec![false; self.len()];
        nodes.iter().for_each(|&node| wanted[node] = true);
        self.arranged((0..self.len()).map(|node| wanted[node].then_some(node)))
    }

    /// With what is known of the same nodes otherwise in place of this.
    ///
    /// # Errors
    /// Another number of nodes, another kind of targets, or other columns of values.
    pub fn replaced(&self, by: &Targets) -> Result<Self> {
        Error::check_size("nodes with new targets", self.len(), by.len())?;
        Ok(match (self, by) {
            (Targets::Classes(own), Targets::Classes(by)) => Targets::Classes(own.replaced(by)),
            (Targets::Sets(own), Targets::Sets(by)) => Targets::Sets(own.replaced(by)),
            (Targets::Values(own), Targets::Values(by)) => Targets::Values(own.replaced(by)?),
            _ => {
                let (own, new) = (self.kind(), by.kind());
                return Err(Error::Data(format!("{new} cannot take the place of {own}")));
            }
        })
    }

    /// Bytes of memory, about.
    pub(crate) fn memory(&self) -> u64 {
        match self {
            Targets::Classes(labels) => 8 * labels.len() as u64,
            Targets::Sets(sets) => sets.memory(),
            Targets::Values(values) => values.memory(),
        }
    }

    /// Whether a node has the same class, labels or values in both.
    pub(crate) fn is_same(&self, other: &Targets, node: usize) -> bool {
        match (self, other) {
            (Targets::Classes(own), Targets::Classes(other)) => own.name(node) == other.name(node),
            (Targets::Sets(own), Targets::Sets(other)) => {
                let names = |sets: &'_ LabelSets| -> Option<Vec<String>> {
                    sets.of_node(node).map(|names| names.map(str::to_owned).collect())
                };
                names(own) == names(other)
            }
            (Targets::Values(own), Targets::Values(other)) => own.get(node) == other.get(node),
            _ => false,
        }
    }
}

impl From<Labels> for Targets {
    fn from(labels: Labels) -> Self {
        Targets::Classes(labels)
    }
}

impl From<LabelSets> for Targets {
    fn from(sets: LabelSets) -> Self {
        Targets::Sets(sets)
    }
}

impl From<Values> for Targets {
    fn from(values: Values) -> Self {
        Targets::Values(values)
    }
}
