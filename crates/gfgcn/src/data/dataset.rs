//! A graph with features, targets, names and perhaps splits.

use super::fingerprint::Fingerprint;
use super::{Encoding, Labels, Targets};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::{Graph, Repairs};
use crate::split::Split;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// Everything known about a graph's nodes; the parts agree in size. Clones share the graph, the features and the names.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    name: String,
    graph: Arc<Graph>,
    features: Arc<Features>,
    targets: Targets,
    /// No node's, where the targets are no classes.
    no_labels: Option<Labels>,
    node_ids: Option<Arc<Vec<String>>>,
    feature_names: Option<Arc<Vec<String>>>,
    encoding: Option<Arc<Encoding>>,
    splits: Vec<Split>,
    notes: Vec<String>,
    /// The place of each node in the source of the data, where that is another.
    pub(super) places: Option<Vec<usize>>,
    pub(super) listing: Listing,
    fingerprint: Fingerprint,
}

/// How the source of the data says what there is, and in which order: a reading of a part of it may find less, and order it
/// otherwise.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Nodes, and features as far as they stand as they came, are in the order of their names.
    pub by_names: bool,
    /// There are the features that entries name, in the order in which they first came.
    pub features_as_they_came: bool,
    /// There are the nodes that edges name.
    pub nodes_of_edges: bool,
    /// There are the relations that edges name.
    pub relations_of_edges: bool,
}

impl PartialEq for Listing {
    /// It is about where the data came from, not a part of them: the same data may come in several ways.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Dataset {
    /// Joins a graph, features and what is known of the nodes ([`Labels`], [`LabelSets`](super::LabelSets) or
    /// [`Values`](super::Values)).
    ///
    /// # Errors
    /// If the numbers of nodes differ.
    pub fn new(
        name: impl Into<String>,
        graph: Graph,
        features: Features,
        targets: impl Into<Targets>,
    ) -> Result<Self> {
        let nodes = graph.nodes();
        Error::check_size("feature rows (one per node)", nodes, features.rows())?;
        let (targets, no_labels) = checked(targets.into(), nodes)?;
        Ok(Dataset {
            name: name.into(),
            graph: Arc::new(graph),
            features: Arc::new(features),
            targets,
            no_labels,
            node_ids: None,
            feature_names: None,
            encoding: None,
            splits: Vec::new(),
            notes: Vec::new(),
            places: None,
            listing: Listing::default(),
            fingerprint: Fingerprint::default(),
        })
    }

    /// Names the nodes; the names must be unique.
    pub fn with_node_ids(mut self, ids: Vec<String>) -> Result<Self> {
        self.set_node_ids(ids)?;
        Ok(self)
    }

    /// Like [`Dataset::with_node_ids`], for those who go on without the names if they are refused:
    /// the dataset is then as it was.
    pub fn set_node_ids(&mut self, ids: Vec<String>) -> Result<()> {
        Error::check_size("node ids", self.nodes(), ids.len())?;
        check_unique("node id", &ids)?;
        self.node_ids = Some(Arc::new(ids));
        Ok(())
    }

    /// Names the feature columns; the names must be unique.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self> {
        self.set_feature_names(names)?;
        Ok(self)
    }

    /// Like [`Dataset::with_feature_names`], for those who go on without the names if they are
    /// refused: the dataset is then as it was.
    pub fn set_feature_names(&mut self, names: Vec<String>) -> Result<()> {
        Error::check_size("feature names", self.features.cols(), names.len())?;
        check_unique("feature name", &names)?;
        self.feature_names = Some(Arc::new(names));
        Ok(())
    }

    /// Says how columns of a table became the features.
    #[must_use]
    pub fn with_encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = Some(Arc::new(encoding));
        self
    }

    /// How columns of a table became the features, where they are not just its numbers.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.encoding.as_deref()
    }

    /// Attaches the only split that came with the data, in place of any others.
    pub fn with_split(self, split: Split) -> Result<Self> {
        self.with_splits(vec![split])
    }

    /// Attaches the splits that came with the data, in their order, in place of any others.
    ///
    /// # Errors
    /// If one names a node that is not there.
    pub fn with_splits(mut self, splits: Vec<Split>) -> Result<Self> {
        splits.iter().try_for_each(|split| split.check_nodes(self.nodes()))?;
        self.splits = splits;
        Ok(self)
    }

    /// Attaches one sentence about what was repaired or left out while reading.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Attaches a note for each kind of repair the graph needed.
    #[must_use]
    pub fn with_repairs(mut self, repairs: &Repairs) -> Self {
        self.notes.extend(repairs.sentences());
        self
    }

    /// Attaches a note if entries of the features were there before and were added up.
    #[must_use]
    pub fn with_added_up(self, entries: usize) -> Self {
        match entries {
            0 => self,
            entries => self.with_note(format!("{entries} repeated feature entries added up")),
        }
    }

    /// Replaces the features, for example by row-normalised ones.
    ///
    /// # Panics
    /// If `change` does not keep the number of nodes and columns.
    #[must_use]
    pub fn map_features(mut self, change: impl FnOnce(Features) -> Features) -> Self {
        let shape = (self.features.rows(), self.features.cols());
        self.features = Arc::new(change(Arc::unwrap_or_clone(self.features)));
        self.fingerprint = Fingerprint::default();
        assert_eq!(shape, (self.features.rows(), self.features.cols()), "the shape is kept");
        self
    }

    /// With another graph on the same nodes.
    pub(super) fn map_graph(mut self, change: impl FnOnce(Graph) -> Graph) -> Self {
        self.graph = Arc::new(change(Arc::unwrap_or_clone(self.graph)));
        self.fingerprint = Fingerprint::default();
        self
    }

    /// With other features and their names.
    pub(super) fn with_features(mut self, features: Features, names: Vec<String>) -> Self {
        (self.features, self.feature_names) = (Arc::new(features), Some(Arc::new(names)));
        self.fingerprint = Fingerprint::default();
        self
    }

    pub(super) fn without_node_ids(mut self) -> Self {
        self.node_ids = None;
        self
    }

    /// Replaces what is known of the nodes.
    ///
    /// # Errors
    /// If the number of nodes differs.
    pub fn with_targets(mut self, targets: impl Into<Targets>) -> Result<Self> {
        (self.targets, self.no_labels) = checked(targets.into(), self.nodes())?;
        self.fingerprint = self.fingerprint.of_other_targets();
        Ok(self)
    }

    /// A short name for reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The node features, one row per node.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// What is known of the nodes.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The classes of the nodes; no node has one where the [targets](Dataset::targets) are of another kind.
    pub fn labels(&self) -> &Labels {
        match (&self.targets, &self.no_labels) {
            (Targets::Classes(labels), _) | (_, Some(labels)) => labels,
            _ => unreachable!("what is no class comes with labels of no node"),
        }
    }

    /// How the source of the data says what there is, and the place of each node in it, where that is another.
    pub fn listing(&self) -> (Listing, Option<&[usize]>) {
        (self.listing, self.places.as_deref())
    }

    /// As the source of the data says what there is; see [`Dataset::listing`].
    ///
    /// # Errors
    /// Places that are not one for each node.
    pub fn with_listing(mut self, listing: Listing, places: Option<Vec<usize>>) -> Result<Self> {
        if let Some(places) = &places {
            Error::check_size("places of nodes", self.nodes(), places.len())?;
            let mut taken = vec![false; places.len()];
            for &place in places {
                if taken.get(place).is_none_or(|&taken| taken) {
                    let problem = format!("{place} is no place of a node, or that of two");
                    return Err(Error::Data(problem));
                }
                taken[place] = true;
            }
        }
        (self.listing, self.places) = (listing, places);
        Ok(self)
    }

    /// With the [fingerprint of graph and features](Dataset::source_fingerprint), where it is known, so that it need not be
    /// computed.
    #[must_use]
    pub fn with_source_fingerprint(mut self, known: String) -> Self {
        self.fingerprint = Fingerprint::of_known_source(known);
        self
    }

    /// The split that came with the data, the first of several.
    pub fn split(&self) -> Option<&Split> {
        self.splits.first()
    }

    /// All splits that came with the data, in their order.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// What was repaired or left out while reading, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The names of the nodes, where the data give them.
    pub fn node_ids(&self) -> Option<&[String]> {
        self.node_ids.as_ref().map(|ids| ids.as_slice())
    }

    /// The names of the feature columns, where the data give them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_ref().map(|names| names.as_slice())
    }

    /// The name of a node: its id in the data, or its row number.
    pub fn node_id(&self, node: usize) -> Cow<'_, str> {
        match &self.node_ids {
            Some(ids) => Cow::Borrowed(&ids[node]),
            None => Cow::Owned(node.to_string()),
        }
    }

    /// Refuses the number of a node that is not there.
    pub(crate) fn check_node(&self, node: usize) -> Result<()> {
        if node < self.nodes() {
            return Ok(());
        }
        let there = format!("below {}, the number of nodes", self.nodes());
        Err(Error::parameter("node", node, there))
    }

    /// The dataset restricted to some nodes; node `k` of the result is `nodes[k]` here.
    #[must_use]
    pub fn select(&self, nodes: &[usize]) -> Dataset {
        Dataset {
            name: self.name.clone(),
            graph: Arc::new(self.graph.subgraph(nodes)),
            features: Arc::new(self.features.select_rows(nodes)),
            targets: self.targets.select(nodes),
            no_labels: self.no_labels.as_ref().map(|labels| labels.select(nodes)),
            node_ids: Some(Arc::new(nodes.iter().map(|&n| self.node_id(n).into_owned()).collect())),
            feature_names: self.feature_names.clone(),
            encoding: self.encoding.clone(),
            splits: self.splits.iter().map(|split| split.select(nodes, self.nodes())).collect(),
            notes: self.notes.clone(),
            places: None,
            listing: self.listing,
            fingerprint: Fingerprint::default(),
        }
    }

    /// Bytes of memory that it holds, about: as [`Dataset::memory`], without what is mapped from files.
    pub fn held_memory(&self) -> u64 {
        let mapped = self.graph.memory() + self.features.memory();
        self.memory() - mapped + self.graph.held_memory() + self.features.held_memory()
    }

    /// Bytes of memory that graph, features, names, splits and targets take, about.
    pub fn memory(&self) -> u64 {
        let named = |names: &Option<Arc<Vec<String>>>| names.as_ref().map_or(0, |n| n.len()) as u64;
        let names = 48 * (named(&self.node_ids) + named(&self.feature_names));
        let parts = self.splits.iter().flat_map(Split::parts);
        let splits = 8 * parts.map(|(_, part)| part.len() as u64).sum::<u64>();
        self.graph.memory() + self.features.memory() + names + self.targets.memory() + splits
    }

    /// The dataset restricted to its largest connected component.
    #[must_use]
    pub fn largest_component(&self) -> Dataset {
        let components = self.graph.components();
        if components.len() == 1 { self.clone() } else { self.select(&components[0]) }
    }

    /// SHA-256 over graph, features and targets: two datasets with the same fingerprint are the
    /// same data, whatever file they came from. Computed once, and again only after a change.
    pub fn fingerprint(&self) -> String {
        self.fingerprint.of(&self.graph, &self.features, &self.targets)
    }

    /// The same over graph and features alone: what targets can change without.
    pub fn source_fingerprint(&self) -> String {
        self.fingerprint.of_source(&self.graph, &self.features)
    }
}

/// The targets of so many nodes, and labels of none where they are of another kind.
fn checked(targets: Targets, nodes: usize) -> Result<(Targets, Option<Labels>)> {
    let what = match &targets {
        Targets::Classes(_) => "labels (one per node)",
        Targets::Sets(_) => "sets of labels (one per node)",
        Targets::Values(_) => "rows of values (one per node)",
    };
    Error::check_size(what, nodes, targets.len())?;
    let is_classes = matches!(targets, Targets::Classes(_));
    Ok((targets, (!is_classes).then(|| Labels::none(nodes))))
}

pub(super) fn check_unique(what: &str, names: &[String]) -> Result<()> {
    let mut seen = HashSet::with_capacity(names.len());
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(twice) => Err(Error::Data(format!("the {what} {twice:?} is there twice"))),
        None => Ok(()),
    }
}
