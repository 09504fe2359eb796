//! Class labels: compact class numbers, the names they had, and nodes without a label.

use super::order_of_names;
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What stands for "no label" in every integer format.
pub const UNLABELLED: i64 = -1;

/// The class of each node, if it has one.
///
/// Classes are numbered 0, 1, … without gaps, whatever the file called them; [`Labels::classes`]
/// keeps the names. Only classes with at least one node exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    of_node: Vec<Option<u32>>,
    classes: Vec<String>,
}

impl Labels {
    /// No node is labelled.
    pub fn none(nodes: usize) -> Self {
        Labels { of_node: vec![None; nodes], classes: Vec::new() }
    }

    /// From integer class ids, −1 for unlabelled; ids may start anywhere and have gaps.
    ///
    /// `names[id]` names a class where given; the id itself does otherwise.
    ///
    /// # Errors
    /// An id below −1, one that `names` does not reach, or two classes of the same name.
    pub fn from_ids(ids: &[i64], names: Option<&[String]>) -> Result<Self> {
        let mut numbers = BTreeMap::new();
        for (node, &id) in ids.iter().enumerate() {
            if id < UNLABELLED {
                return Err(Error::Data(format!(
                    "node {node} has label {id}; labels are 0 or more, or -1 for unlabelled"
                )));
            }
            if let Some(names) = names
                && id >= names.len() as i64
            {
                return Err(Error::Data(format!(
                    "node {node} has label {id}, but there are only {} class names",
                    names.len()
                )));
            }
            if id != UNLABELLED {
                numbers.insert(id, 0u32);
            }
        }
        let mut classes = Vec::with_capacity(numbers.len());
        for (number, (&id, slot)) in numbers.iter_mut().enumerate() {
            *slot = number as u32;
            classes.push(names.map_or_else(|| id.to_string(), |names| names[id as usize].clone()));
        }
        let mut seen = HashSet::new();
        if let Some(name) = classes.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::Data(format!(
                "two classes have the name {name:?}; give each its own"
            )));
        }
        let of_node = ids.iter().map(|id| numbers.get(id).copied()).collect();
        Ok(Labels { of_node, classes })
    }

    /// From class numbers and the names of the classes, as they are [held](Labels::as_slice).
    ///
    /// # Errors
    /// A number that no class has, a class that no node has, or two classes of the same name.
    pub fn from_classes(of_node: Vec<Option<u32>>, classes: Vec<String>) -> Result<Self> {
        let mut present = vec![false; classes.len()];
        for (node, class) in of_node.iter().enumerate() {
            let Some(class) = *class else { continue };
            let Some(present) = present.get_mut(class as usize) else {
                return Err(Error::Data(format!(
                    "node {node} has class {class}, but there are only {} class names",
                    classes.len()
                )));
            };
            *present = true;
        }
        if let Some(class) = present.iter().position(|present| !present) {
            return Err(Error::Data(format!("no node has the class {:?}", classes[class])));
        }
        super::dataset::check_unique("class name", &classes)?;
        Ok(Labels { of_node, classes })
    }

    /// From class names, `None` for unlabelled. Classes are numbered in the order of their names:
    /// as numbers where all are integers, alphabetically otherwise.
    pub fn from_names<S: AsRef<str>>(names: &[Option<S>]) -> Self {
        let present: BTreeSet<&str> = names.iter().flatten().map(AsRef::as_ref).collect();
        let present: Vec<&str> = present.into_iter().collect();
        let classes: Vec<&str> = order_of_names(&present).into_iter().map(|k| present[k]).collect();
        let numbers: HashMap<&str, u32> = classes.iter().copied().zip(0..).collect();
        Labels {
            of_node: names
                .iter()
                .map(|name| name.as_ref().map(|name| numbers[name.as_ref()]))
                .collect(),
            classes: classes.into_iter().map(str::to_owned).collect(),
        }
    }

    /// The number of nodes, labelled or not.
    pub fn len(&self) -> usize {
        self.of_node.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.of_node.is_empty()
    }

    /// The class of a node.
    pub fn get(&self, node: usize) -> Option<u32> {
        self.of_node[node]
    }

    /// The classes of the nodes in a part of a split, which is named in the message.
    ///
    /// # Errors
    /// If one has none.
    pub fn of_part(&self, part: &str, nodes: &[usize]) -> Result<Vec<u32>> {
        let class = |&node: &usize| {
            self.get(node).ok_or_else(|| {
                Error::Data(format!("node {node} is in the {part} part but has no label"))
            })
        };
        nodes.iter().map(class).collect()
    }

    /// The class of every node.
    pub fn as_slice(&self) -> &[Option<u32>] {
        &self.of_node
    }

    /// The names of the classes, by class number.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The nodes that have a label.
    pub fn labelled(&self) -> Vec<usize> {
        (0..self.len()).filter(|&node| self.of_node[node].is_some()).collect()
    }

    /// How many nodes each class has.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        self.of_node.iter().flatten().for_each(|&class| counts[class as usize] += 1);
        counts
    }

    /// The name of a node's class.
    pub fn name(&self, node: usize) -> Option<&str> {
        self.of_node[node].map(|class| self.classes[class as usize].as_str())
    }

    /// The labels of the given nodes; classes that none of them has are dropped. The others stay in the order of names where
    /// they stood in it, and in their own order where they did not.
    #[must_use]
    pub fn select(&self, nodes: &[usize]) -> Self {
        self.arranged(nodes.iter().copied().map(Some))
    }

    /// As [`Labels::select`], with nodes of which nothing is known among them.
    pub(super) fn arranged(&self, nodes: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let class = |node: Option<usize>| self.of_node[node?];
        let mut present = vec![false; self.classes.len()];
        nodes.clone().filter_map(class).for_each(|c| present[c as usize] = true);
        let kept = kept_names(&self.classes, &present);
        let mut renumbered = vec![0; self.classes.len()];
        kept.iter().zip(0..).for_each(|(&old, new)| renumbered[old] = new);
        let of_node = nodes.map(|n| class(n).map(|c| renumbered[c as usize])).collect();
        Labels { of_node, classes: kept.into_iter().map(|k| self.classes[k].clone()).collect() }
    }

    /// With the labels of other nodes in place of these, where they have some. New classes take their place in the order of
    /// names where the classes stand in it, and come last where they do not.
    pub(super) fn replaced(&self, by: &Labels) -> Self {
        let mut classes = self.classes.clone();
        let ordered = order_of_names(&classes).is_sorted();
        let known: HashSet<&str> = self.classes.iter().map(String::as_str).collect();
        classes.extend(by.classes.iter().filter(|name| !known.contains(name.as_str())).cloned());
        if ordered {
            classes = order_of_names(&classes).into_iter().map(|k| classes[k].clone()).collect();
        }
        let number: HashMap<&str, u32> =
            classes.iter().zip(0..).map(|(name, number)| (name.as_str(), number)).collect();
        let name = |node: usize| by.name(node).or_else(|| self.name(node));
        let of_node = (0..self.len()).map(|node| name(node).map(|name| number[name])).collect();
        let all = Labels { of_node, classes };
        all.arranged((0..all.len()).map(Some))
    }
}

/// The positions of the names that are still there, in the order in which a source of these alone has them: that of names
/// where all stand in it, which may be another one without some (`10`, `9`, `x`), and their own otherwise.
pub(super) fn kept_names(names: &[String], there: &[bool]) -> Vec<usize> {
    let kept: Vec<usize> = (0..names.len()).filter(|&k| there[k]).collect();
    if !order_of_names(names).is_sorted() {
        return kept;
    }
    let left: Vec<&str> = kept.iter().map(|&k| names[k].as_str()).collect();
    order_of_names(&left).into_iter().map(|k| kept[k]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_with_gaps_become_compact_and_keep_their_names() {
        let labels = Labels::from_ids(&[5, -1, 1, 5], None).unwrap();
        assert_eq!(labels.as_slice(), &[Some(1), None, Some(0), Some(1)]);
        assert_eq!(labels.classes(), &["1", "5"]);
        assert_eq!(labels.counts(), &[1, 2]);
    }

    #[test]
    fn names_that_are_integers_sort_as_integers() {
        let labels = Labels::from_names(&[Some("10"), Some("9"), None]);
        assert_eq!(labels.classes(), &["9", "10"]);
        assert_eq!(labels.get(0), Some(1));
    }

    #[test]
    fn selecting_nodes_drops_the_classes_that_went_away() {
        let labels = Labels::from_names(&[Some("a"), Some("b"), Some("c"), None]);
        let some = labels.select(&[2, 3, 0]);
        assert_eq!(some.classes(), &["a", "c"]);
        assert_eq!(some.as_slice(), &[Some(1), None, Some(0)]);
        // Numbers among words are ordered as words, and by themselves as numbers.
        let mixed = Labels::from_names(&[Some("10"), Some("9"), Some("x")]);
        assert_eq!(mixed.classes(), &["10", "9", "x"]);
        let rest = mixed.select(&[0, 1]);
        assert_eq!(rest, Labels::from_names(&[Some("10"), Some("9")]));
        let names = ["z", "a", "m"].map(String::from);
        let given = Labels::from_ids(&[0, 1, 2], Some(&names)).unwrap();
        assert_eq!(given.select(&[0, 2]).classes(), &["z", "m"], "an order of its own");
    }
}
