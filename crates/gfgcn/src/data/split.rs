//! Splits: which nodes train, which choose λ, which are scored.

use crate::data::{Labels, Targets};
use crate::error::{Error, Result};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Disjoint sets of nodes for training, validation and testing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    train: Vec<usize>,
    validation: Vec<usize>,
    test: Vec<usize>,
    /// Of the training nodes, where they do not count alike.
    weights: Option<Vec<f64>>,
}

impl Split {
    /// A split of `nodes` nodes.
    ///
    /// # Errors
    /// An empty training part, a node out of range, or a node that is named twice.
    pub fn new(
        nodes: usize,
        train: Vec<usize>,
        validation: Vec<usize>,
        test: Vec<usize>,
    ) -> Result<Self> {
        let split = Split::from_parts(nodes, train, validation, test)?;
        split.check_train()?;
        Ok(split)
    }

    /// As [`Split::new`], of one that came out of another: its training part may be empty.
    ///
    /// # Errors
    /// A node out of range, or a node that is named twice.
    pub fn from_parts(
        nodes: usize,
        train: Vec<usize>,
        validation: Vec<usize>,
        test: Vec<usize>,
    ) -> Result<Self> {
        /// In no part yet.
        const NONE: u8 = u8::MAX;
        let split = Split::in_order(train, validation, test);
        let mut part_of = vec![NONE; nodes];
        let parts = split.parts();
        for ((name, part), number) in parts.into_iter().zip(0..) {
            for &node in part {
                if node >= nodes {
                    return Err(Error::Data(format!(
                        "the {name} part names node {node}, but the nodes are 0 to {}",
                        nodes.saturating_sub(1)
                    )));
                }
                match std::mem::replace(&mut part_of[node], number) {
                    NONE => {}
                    other if other == number => {
                        return Err(Error::Data(format!(
                            "the {name} part names node {node} twice"
                        )));
                    }
                    other => {
                        let other = parts[usize::from(other)].0;
                        return Err(Error::Data(format!(
                            "node {node} is in the {other} part and in the {name} part"
                        )));
                    }
                }
            }
        }
        Ok(split)
    }

    /// Says how much each training node counts, in the order of [`Split::train`]: w in min Σ_i w_i ‖y_i − f_i‖² + ξ ‖W‖².
    /// Weights that are all 1 are none.
    ///
    /// ```
    /// use gfgcn::split::Split;
    /// let split = Split::new(4, vec![2, 0], vec![], vec![])?.with_weights(Some(vec![1.0, 3.0]))?;
    /// assert_eq!((split.train(), split.weights()), (&[0, 2][..], Some(&[1.0, 3.0][..])));
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Errors
    /// Weights that are not one for each training node, or not positive and finite.
    pub fn with_weights(mut self, weights: Option<Vec<f64>>) -> Result<Self> {
        if let Some(weights) = &weights {
            Error::check_size("weights (one per training node)", self.train.len(), weights.len())?;
            let wrong = |weight: &f64| !(*weight > 0.0 && weight.is_finite());
            if let Some(place) = weights.iter().position(wrong) {
                return Err(Error::Data(format!(
                    "node {} has the weight {}, but weights are positive and finite; leave a node that counts nothing out of \
                     the training part",
                    self.train[place], weights[place]
                )));
            }
        }
        self.weights = weights.filter(|weights| weights.iter().any(|&weight| weight != 1.0));
        Ok(self)
    }

    /// Every labelled node trains; nothing is held out.
    pub fn all_labelled(labels: &Labels) -> Result<Self> {
        Split::all_of(labels.len(), labels.labelled(), "label", "label some first")
    }

    /// Every node whose class, labels or values are known trains; nothing is held out.
    ///
    /// # Errors
    /// If there is none.
    pub fn all_known(targets: &Targets) -> Result<Self> {
        let remedy = match targets {
            Targets::Classes(_) | Targets::Sets(_) => "label some first",
            Targets::Values(_) => "give some first",
        };
        Split::all_of(targets.len(), targets.known(), targets.one(), remedy)
    }

    fn all_of(nodes: usize, train: Vec<usize>, what: &str, remedy: &str) -> Result<Self> {
        if train.is_empty() {
            return Err(Error::Data(format!(
                "no node has a {what}, so there is nothing to learn from; {remedy}"
            )));
        }
        Split::new(nodes, train, Vec::new(), Vec::new())
    }

    /// Divides the nodes of which something is known at random by a ratio.
    ///
    /// Nodes with classes are divided [class by class](Split::stratified). Sets of labels and values have no strata: those
    /// nodes are divided together, with the cuts of [`Split::stratified`] for all of them. The same seed
    /// always gives the same split.
    ///
    /// # Errors
    /// If there would be no training node, or a class without one.
    pub fn random(targets: &Targets, ratio: Ratio, seed: u64) -> Result<Self> {
        if let Targets::Classes(labels) = targets {
            return Split::stratified(labels, ratio, seed);
        }
        let mut nodes = targets.known();
        shuffle(&mut nodes, &mut ChaCha8Rng::seed_from_u64(seed));
        let (first, second) = ratio.cuts(nodes.len());
        if first == 0 {
            return Err(Error::Data(format!(
                "ratio {ratio} leaves no training node of the {} whose {} is known; use a larger training share",
                nodes.len(),
                targets.one()
            )));
        }
        let test = nodes.split_off(second);
        let validation = nodes.split_off(first);
        Split::new(targets.len(), nodes, validation, test)
    }

    /// Divides the labelled nodes of each class at random by a ratio.
    ///
    /// A class of `n` nodes gives `round(n·train)` and `round(n·(train + validation))` as its cuts,
    /// with the shares of [`Ratio`]; the same seed always gives the same split.
    ///
    /// # Errors
    /// If a class would be left without a training node; the message says which.
    pub fn stratified(labels: &Labels, ratio: Ratio, seed: u64) -> Result<Self> {
        let mut of_class = vec![Vec::new(); labels.classes().len()];
        for node in labels.labelled() {
            of_class[labels.as_slice()[node].unwrap_or_default() as usize].push(node);
        }
        let (mut train, mut validation, mut test) = (Vec::new(), Vec::new(), Vec::new());
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for (class, mut nodes) in of_class.into_iter().enumerate() {
            shuffle(&mut nodes, &mut random);
            let (first, second) = ratio.cuts(nodes.len());
            if first == 0 {
                return Err(Error::Data(format!(
                    "ratio {ratio} leaves class {:?} ({} nodes) without a training node; \
                     use a larger training share, such as 1:0:1",
                    labels.classes()[class],
                    nodes.len()
                )));
            }
            train.extend_from_slice(&nodes[..first]);
            validation.extend_from_slice(&nodes[first..second]);
            test.extend_from_slice(&nodes[second..]);
        }
        for part in [&mut train, &mut validation, &mut test] {
            part.sort_unstable();
        }
        Split::new(labels.len(), train, validation, test)
    }

    /// The training nodes.
    pub fn train(&self) -> &[usize] {
        &self.train
    }

    /// How much each training node counts, in their order; `None` where all count alike.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// How much a training node counts.
    pub(crate) fn weight(&self, node: usize) -> f64 {
        let place = self.train.binary_search(&node);
        place.ok().and_then(|place| Some(self.weights()?[place])).unwrap_or(1.0)
    }

    /// As much as in a split of the same data.
    pub(crate) fn weighted_as(mut self, other: &Split) -> Self {
        if other.weights.is_some() {
            self.weights = Some(self.train.iter().map(|&node| other.weight(node)).collect());
        }
        self
    }

    /// The validation nodes.
    pub fn validation(&self) -> &[usize] {
        &self.validation
    }

    /// The test nodes.
    pub fn test(&self) -> &[usize] {
        &self.test
    }

    /// The three parts with their names.
    pub fn parts(&self) -> [(&'static str, &[usize]); 3] {
        [("training", &self.train), ("validation", &self.validation), ("test", &self.test)]
    }

    /// Refuses a split that leaves nothing to learn from, as one of a larger graph may.
    ///
    /// # Errors
    /// If the training part is empty.
    pub fn check_train(&self) -> Result<()> {
        match self.train[..] {
            [] => Err(Error::Data("the training part of the split is empty".into())),
            _ => Ok(()),
        }
    }

    /// Refuses a split that leaves nothing to be scored.
    ///
    /// # Errors
    /// If nothing is known of any test node.
    pub fn check_test(&self, targets: &Targets) -> Result<()> {
        if self.test.iter().any(|&node| targets.is_known(node)) {
            return Ok(());
        }
        let nodes = match targets {
            Targets::Classes(_) => "labelled test node".to_owned(),
            _ => format!("test node with a {}", targets.one()),
        };
        Err(Error::Data(format!(
            "the split has no {nodes} to score; give the test part a larger share"
        )))
    }

    /// With the validation part in the training part, for work that chooses nothing by it.
    #[must_use]
    pub fn training_on_validation(&self) -> Split {
        let train = [&self.train[..], &self.validation].concat();
        Split::in_order(train, Vec::new(), self.test.clone()).weighted_as(self)
    }

    /// Restricts the split to some nodes out of `total`, renumbered by their position. The
    /// training part may come out empty.
    pub(crate) fn select(&self, nodes: &[usize], total: usize) -> Split {
        let mut position = vec![None; total];
        for (k, &node) in nodes.iter().enumerate() {
            position[node] = Some(k);
        }
        let renumber =
            |part: &[usize]| part.iter().filter_map(|&node| position[node]).collect::<Vec<_>>();
        let (train, validation) = (renumber(&self.train), renumber(&self.validation));
        let mut split = Split::in_order(train, validation, renumber(&self.test));
        if self.weights.is_some() {
            let weights = split.train.iter().map(|&node| self.weight(nodes[node]));
            split.weights = Some(weights.collect());
        }
        split
    }

    /// Parts are sets: in whichever order their nodes are named, what is computed is the same to the last bit.
    fn in_order(mut train: Vec<usize>, mut validation: Vec<usize>, mut test: Vec<usize>) -> Split {
        for part in [&mut train, &mut validation, &mut test] {
            part.sort_unstable();
        }
        Split { train, validation, test, weights: None }
    }

    pub(crate) fn check_nodes(&self, nodes: usize) -> Result<()> {
        let largest = self.parts().into_iter().flat_map(|(_, part)| part).max();
        match largest {
            Some(&node) if node >= nodes => Err(Error::Data(format!(
                "the split names node {node}, but the nodes are 0 to {}",
                nodes - 1
            ))),
            _ => Ok(()),
        }
    }
}

/// Fisher–Yates with an unbiased draw. Written out because a split must stay the same for a seed
/// in every version, which shuffles in libraries do not promise.
fn shuffle(nodes: &mut [usize], random: &mut ChaCha8Rng) {
    for i in (1..nodes.len()).rev() {
        let choices = i as u64 + 1;
        let unbiased = u64::MAX - u64::MAX % choices;
        let draw = loop {
            let draw = random.next_u64();
            if draw < unbiased {
                break draw;
            }
        };
        nodes.swap(i, (draw % choices) as usize);
    }
}

/// Shares of training, validation and test, such as `1:1:8`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ratio {
    train: f64,
    validation: f64,
    test: f64,
}

impl Ratio {
    /// The paper's ratio, 1:1:8.
    pub const PAPER: Ratio = Ratio { train: 1.0, validation: 1.0, test: 8.0 };

    /// Shares in any unit: positive training, validation and test not negative, all finite.
    pub fn new(train: f64, validation: f64, test: f64) -> Result<Self> {
        let ratio = Ratio { train, validation, test };
        let shares = [train, validation, test];
        let sum: f64 = shares.iter().sum();
        if train > 0.0 && shares.iter().all(|&s| s >= 0.0) && sum.is_finite() {
            Ok(ratio)
        } else {
            Err(Error::parameter(
                "ratio",
                ratio,
                "train:validation:test with a positive training share and no negative one, \
                 such as 1:1:8",
            ))
        }
    }

    /// Where so many nodes are cut: between training and validation, and between validation and test.
    fn cuts(&self, nodes: usize) -> (usize, usize) {
        let cut = |share: f64| (nodes as f64 * share).round() as usize;
        (cut(self.train_share()), cut(self.train_share() + self.validation_share()))
    }

    fn sum(&self) -> f64 {
        self.train + self.validation + self.test
    }

    /// The part of the nodes that trains, 0 to 1.
    pub fn train_share(&self) -> f64 {
        self.train / self.sum()
    }

    /// The part of the nodes that validates, 0 to 1.
    pub fn validation_share(&self) -> f64 {
        self.validation / self.sum()
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.train, self.validation, self.test)
    }
}

impl FromStr for Ratio {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let shares: Option<Vec<f64>> = text.split(':').map(|s| s.trim().parse().ok()).collect();
        match shares.as_deref() {
            Some(&[train, validation, test]) => Ratio::new(train, validation, test),
            _ => Err(Error::parameter("ratio", text, "train:validation:test, such as 1:1:8")),
        }
    }
}

impl TryFrom<String> for Ratio {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Ratio> for String {
    fn from(ratio: Ratio) -> String {
        ratio.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_stay_with_their_nodes() {
        let split = Split::new(6, vec![4, 1, 3], vec![0], vec![]).unwrap();
        assert_eq!(split.clone().with_weights(Some(vec![1.0; 3])).unwrap(), split);
        let weighted = split.clone().with_weights(Some(vec![0.5, 2.0, 7.0])).unwrap();
        let selected = weighted.select(&[4, 2, 1], 6);
        assert_eq!((selected.train(), selected.weights()), (&[0, 2][..], Some(&[7.0, 0.5][..])));
        let more = weighted.training_on_validation();
        assert_eq!(more.weights(), Some(&[1.0, 0.5, 2.0, 7.0][..]));
        for (bad, message) in [(0.0, "node 3"), (f64::NAN, "node 3"), (-1.0, "positive")] {
            let error = split.clone().with_weights(Some(vec![1.0, bad, 1.0])).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
        assert!(split.with_weights(Some(vec![1.0])).is_err());
    }

    fn labels() -> Labels {
        let ids: Vec<i64> = (0..200).map(|i| if i % 10 == 0 { -1 } else { i % 3 }).collect();
        Labels::from_ids(&ids, None).unwrap()
    }

    #[test]
    fn a_stratified_split_divides_every_class_by_the_ratio() {
        let labels = labels();
        let split = Split::stratified(&labels, Ratio::PAPER, 7).unwrap();
        let total: usize = split.parts().iter().map(|(_, part)| part.len()).sum();
        assert_eq!(total, labels.labelled().len());
        for class in 0..3 {
            let of_class =
                |part: &[usize]| part.iter().filter(|&&n| labels.get(n) == Some(class)).count();
            assert_eq!(of_class(split.train()), 6);
            assert_eq!(of_class(split.validation()), 6);
            assert_eq!(of_class(split.test()), 48);
        }
    }

    #[test]
    fn the_seed_decides_the_split() {
        let labels = labels();
        let split = |seed| Split::stratified(&labels, Ratio::PAPER, seed).unwrap();
        assert_eq!(split(1), split(1));
        assert_ne!(split(1), split(2));
    }

    /// Nothing of them is a class that could be divided, so all known nodes are.
    #[test]
    fn sets_and_values_are_divided_together() {
        let sets: Vec<Option<Vec<&str>>> =
            (0..50).map(|i| (i % 5 > 0).then(|| vec!["a"; i % 2])).collect();
        let column =
            crate::matrix::Matrix::from_fn(
                50,
                1,
                |i, _| {
                    if i % 5 > 0 { i as f64 } else { f64::NAN }
                },
            );
        let values = crate::data::Values::new(vec!["x".into()], column).unwrap();
        for targets in [Targets::from(crate::data::LabelSets::from_names(&sets)), values.into()] {
            let split = Split::random(&targets, Ratio::PAPER, 3).unwrap();
            let sizes = split.parts().map(|(_, part)| part.len());
            assert_eq!(sizes, [4, 4, 32]);
            assert!(split.parts().iter().all(|(_, p)| p.iter().all(|&n| targets.is_known(n))));
            assert_eq!(split, Split::random(&targets, Ratio::PAPER, 3).unwrap());
            assert_ne!(split, Split::random(&targets, Ratio::PAPER, 4).unwrap());
            assert!(Split::random(&targets, Ratio::new(1.0, 0.0, 99.0).unwrap(), 0).is_err());
            assert_eq!(Split::all_known(&targets).unwrap().train().len(), 40);
        }
        let classes = Targets::from(labels());
        let split = Split::random(&classes, Ratio::PAPER, 7).unwrap();
        assert_eq!(split, Split::stratified(&labels(), Ratio::PAPER, 7).unwrap());
    }

    #[test]
    fn a_class_without_a_training_node_is_named() {
        let labels = Labels::from_names(&[Some("a"), Some("a"), Some("rare")]);
        let ratio = Ratio::new(1.0, 0.0, 2.0).unwrap();
        let error = Split::stratified(&labels, ratio, 0).unwrap_err().to_string();
        assert!(error.contains("\"rare\" (1 nodes)"), "{error}");
    }

    #[test]
    fn the_validation_part_may_train() {
        let split = Split::new(5, vec![3, 0], vec![1], vec![4]).unwrap().training_on_validation();
        assert_eq!(split, Split::new(5, vec![0, 1, 3], vec![], vec![4]).unwrap());
    }

    #[test]
    fn bad_parts_are_refused() {
        let new = |train: &[usize], test: &[usize]| {
            Split::new(3, train.to_vec(), vec![], test.to_vec()).map_err(|e| e.to_string())
        };
        assert!(new(&[], &[1]).unwrap_err().contains("empty"));
        assert!(new(&[0, 0], &[]).unwrap_err().contains("twice"));
        assert!(new(&[0, 1], &[1]).unwrap_err().contains("training part and in the test"));
        assert!(new(&[3], &[]).unwrap_err().contains("0 to 2"));
        assert!("1:1".parse::<Ratio>().is_err() && "0:1:1".parse::<Ratio>().is_err());
    }
}
