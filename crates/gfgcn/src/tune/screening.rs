//! How much of a search is done on a sample of the training nodes, and which ones are in it.
//!
//! A search whose systems are small is done on all training nodes. Where it would take long, all learners first meet
//! on a stratified sample, and those that count there meet again on all.

use crate::data::{LabelSets, Targets};
use crate::error::Result;
use crate::split::Split;
use std::collections::BTreeMap;

/// Training nodes of a sample, at least.
const LEAST: usize = 512;
/// Floating-point operations that the systems of a search may take before a sample goes first: some seconds on two cores.
const OPERATIONS: f64 = 2e11;
/// Those that the learners take which go on from there to all training nodes.
pub(super) const FINAL_OPERATIONS: f64 = 4e11;

/// How a search is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Screening {
    /// Every learner meets every training node.
    None,
    /// All learners meet on about so many training nodes, those that count there on all of them.
    Sample { nodes: usize },
}

impl Screening {
    /// `operations` is what the systems of all learners take on so many training nodes.
    pub(super) fn new(train: usize, operations: impl Fn(usize) -> f64) -> Self {
        if train <= LEAST || operations(train) <= OPERATIONS {
            return Screening::None;
        }
        let mut nodes = LEAST;
        while 2 * nodes < train && operations(2 * nodes) <= OPERATIONS {
            nodes *= 2;
        }
        Screening::Sample { nodes }
    }

    /// Some training nodes, of each class (of each node's rarest label) in proportion; `None` where there is no sample.
    ///
    /// Nodes are drawn by their [keys](crate::data::Dataset::node_keys), so that the order of the data does not choose
    /// them.
    pub(super) fn sample(
        self,
        targets: &Targets,
        split: &Split,
        keys: &[u64],
    ) -> Result<Option<Split>> {
        let Screening::Sample { nodes: size } = self else { return Ok(None) };
        let train = split.train();
        let mut groups: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
        let counts = match targets {
            Targets::Sets(sets) => counts(sets, train),
            Targets::Classes(_) | Targets::Values(_) => Vec::new(),
        };
        for &node in train {
            let group = match targets {
                Targets::Classes(labels) => labels.get(node),
                // Its rarest label, so that rare ones are there.
                Targets::Sets(sets) => {
                    let labels = sets.get(node).unwrap_or_default().iter().copied();
                    labels.min_by_key(|&label| (counts[label as usize], label))
                }
                Targets::Values(_) => None,
            };
            groups.entry(group).or_default().push(node);
        }
        let mut nodes = Vec::new();
        for mut class in groups.into_values() {
            // Two at least: a single one cannot be judged left out.
            let wanted = (class.len() * size / train.len()).max(2).min(class.len());
            class.sort_by_key(|&node| keys[node]);
            nodes.extend_from_slice(&class[..wanted]);
        }
        nodes.sort_unstable();
        let sample = Split::new(keys.len(), nodes, Vec::new(), Vec::new())?;
        Ok(Some(sample.weighted_as(split)))
    }
}

/// How many of the nodes have each label.
fn counts(sets: &LabelSets, nodes: &[usize]) -> Vec<usize> {
    let mut counts = vec![0; sets.names().len()];
    for label in nodes.iter().filter_map(|&node| sets.get(node)).flatten() {
        counts[*label as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    /// Every label of which there are two has two in the sample.
    #[test]
    fn rare_labels_are_in_the_sample() {
        let rare = |node: usize| node % 400 == 7;
        let set = |node: usize| match rare(node) {
            true => vec!["common", "rare"],
            false if node.is_multiple_of(3) => vec![],
            false => vec!["common"],
        };
        let sets: Vec<Option<Vec<&str>>> = (0..4000).map(|node| Some(set(node))).collect();
        let targets = Targets::Sets(LabelSets::from_names(&sets));
        let split = Split::new(4000, (0..4000).collect(), vec![], vec![]).unwrap();
        let keys: Vec<u64> = (0..4000).map(mix).collect();
        let sample = Screening::Sample { nodes: 512 }.sample(&targets, &split, &keys);
        let sample = sample.unwrap().unwrap();
        assert!((500..530).contains(&sample.train().len()), "{}", sample.train().len());
        assert!(sample.train().iter().filter(|&&node| rare(node)).count() >= 2);
        assert!(sample.train().iter().any(|&node| set(node).is_empty()));
    }

    #[test]
    fn only_what_is_expensive_is_screened() {
        let screening = |train: usize, features: f64| {
            Screening::new(train, move |nodes| 56.0 * 3.0 * nodes as f64 * features * features)
        };
        assert_eq!(screening(5000, 7.0), Screening::None);
        assert_eq!(screening(1_000_000, 20.0), Screening::None);
        let Screening::Sample { nodes } = screening(20_000, 500.0) else { panic!("expensive") };
        assert!((512..20_000).contains(&nodes));
        assert_eq!(screening(1_000_000, 5000.0), Screening::Sample { nodes: 512 });
    }
}
