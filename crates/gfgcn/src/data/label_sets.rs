//! Sets of labels: any number of labels per node.

use super::labels::kept_names;
use super::order_of_names;
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// The labels of each node, if they are known.
///
/// A node of which nothing is known is not one that has no label: the first is not learnt from, the second is. Labels
/// are numbered 0, 1, … in the [order of their names](order_of_names), and only those exist that a node has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSets {
    names: Vec<String>,
    /// Where the labels of each node begin, and at the end how many there are.
    offsets: Vec<usize>,
    /// Each node's in increasing order.
    labels: Vec<u32>,
    known: Vec<bool>,
}

impl LabelSets {
    /// From the names of each node's labels; `None` where they are not known. A name that stands twice counts once.
    ///
    /// ```
    /// use gfgcn::data::LabelSets;
    /// let sets = LabelSets::from_names(&[Some(vec!["sea", "air"]), None, Some(vec![])]);
    /// assert_eq!(sets.names(), ["air", "sea"]);
    /// assert_eq!(sets.get(0), Some(&[0, 1][..]));
    /// assert_eq!((sets.get(1), sets.get(2)), (None, Some(&[][..])));
    /// ```
    pub fn from_names<S: AsRef<str>>(sets: &[Option<Vec<S>>]) -> Self {
        let mut numbers: BTreeMap<&str, u32> =
            sets.iter().flatten().flatten().map(|name| (name.as_ref(), 0)).collect();
        let names: Vec<String> = numbers.keys().map(|&name| name.to_owned()).collect();
        let order = order_of_names(&names);
        let mut position = vec![0; names.len()];
        order.iter().zip(0..).for_each(|(&old, new)| position[old] = new);
        numbers.values_mut().zip(position).for_each(|(number, position)| *number = position);
        let names = order.into_iter().map(|old| names[old].clone()).collect();
        let of_node = |set: &Vec<S>| set.iter().map(|name| numbers[name.as_ref()]).collect();
        LabelSets::collect(names, sets.iter().map(|set| set.as_ref().map(of_node)))
    }

    /// From numbers of labels and their names, as they are [held](LabelSets::get); `None` where they are not known.
    ///
    /// # Errors
    /// A number that no label has, a label that no node has, or two of the same name.
    pub fn from_numbers(
        names: Vec<String>,
        sets: impl Iterator<Item = Option<Vec<u32>>>,
    ) -> Result<Self> {
        super::dataset::check_unique("label", &names)?;
        let sets = LabelSets::collect(names, sets);
        let mut present = vec![false; sets.names.len()];
        for &label in &sets.labels {
            let Some(present) = present.get_mut(label as usize) else {
                let names = sets.names.len();
                return Err(Error::Data(format!(
                    "there is a label {label}, but only {names} names"
                )));
            };
            *present = true;
        }
        match present.iter().position(|present| !present) {
            Some(label) => {
                Err(Error::Data(format!("no node has the label {:?}", sets.names[label])))
            }
            None => Ok(sets),
        }
    }

    fn collect(names: Vec<String>, sets: impl Iterator<Item = Option<Vec<u32>>>) -> Self {
        let (mut offsets, mut labels, mut known) = (vec![0], Vec::new(), Vec::new());
        for set in sets {
            known.push(set.is_some());
            let mut set = set.unwrap_or_default();
            set.sort_unstable();
            set.dedup();
            labels.extend(set);
            offsets.push(labels.len());
        }
        LabelSets { names, offsets, labels, known }
    }

    /// The number of nodes, known or not.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The names of the labels, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The labels of a node in increasing order, if they are known.
    pub fn get(&self, node: usize) -> Option<&[u32]> {
        self.known[node].then(|| &self.labels[self.offsets[node]..self.offsets[node + 1]])
    }

    /// The names of a node's labels, if they are known.
    pub fn of_node(&self, node: usize) -> Option<impl Iterator<Item = &str>> {
        Some(self.get(node)?.iter().map(|&label| self.names[label as usize].as_str()))
    }

    /// How many nodes have each label.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        self.labels.iter().for_each(|&label| counts[label as usize] += 1);
        counts
    }

    /// The sets of the given nodes; labels that none of them has are dropped.
    #[must_use]
    pub fn select(&self, nodes: &[usize]) -> Self {
        self.arranged(nodes.iter().copied().map(Some))
    }

    /// As [`LabelSets::select`], with nodes of which nothing is known among them.
    pub(super) fn arranged(&self, nodes: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let labels = |node: Option<usize>| self.get(node?);
        let mut present = vec![false; self.names.len()];
        for labels in nodes.clone().filter_map(labels) {
            labels.iter().for_each(|&label| present[label as usize] = true);
        }
        let kept = kept_names(&self.names, &present);
        let mut position = vec![0; present.len()];
        kept.iter().zip(0..).for_each(|(&old, new)| position[old] = new);
        let renumbered =
            |labels: &[u32]| labels.iter().map(|&label| position[label as usize]).collect();
        LabelSets::collect(
            kept.iter().map(|&label| self.names[label].clone()).collect(),
            nodes.map(|node| labels(node).map(renumbered)),
        )
    }

    /// With the sets of other nodes in place of these, where they are known.
    pub(super) fn replaced(&self, by: &LabelSets) -> Self {
        let set = |node: usize| match by.of_node(node) {
            Some(names) => Some(names.collect()),
            None => self.of_node(node).map(|names| names.collect::<Vec<&str>>()),
        };
        LabelSets::from_names(&(0..self.len()).map(set).collect::<Vec<_>>())
    }

    /// Bytes of memory, about.
    pub(crate) fn memory(&self) -> u64 {
        (9 * self.len() + 4 * self.labels.len() + 48 * self.names.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_integers_sort_as_integers() {
        let sets = LabelSets::from_names(&[Some(vec!["10", "9", "10"]), Some(vec!["9"])]);
        assert_eq!(sets.names(), ["9", "10"]);
        assert_eq!(sets.get(0), Some(&[0, 1][..]));
        assert_eq!(sets.counts(), [2, 1]);
    }

    #[test]
    fn selecting_nodes_drops_the_labels_that_went_away() {
        let sets =
            LabelSets::from_names(&[Some(vec!["a", "c"]), Some(vec!["b"]), None, Some(vec![])]);
        let some = sets.select(&[3, 0, 2]);
        assert_eq!(some.names(), ["a", "c"]);
        assert_eq!(
            (some.get(0), some.get(1), some.get(2)),
            (Some(&[][..]), Some(&[0, 1][..]), None)
        );
        assert_eq!(some.of_node(1).unwrap().collect::<Vec<_>>(), ["a", "c"]);
    }
}
