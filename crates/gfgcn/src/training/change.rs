//! What changes, and the model after it.

use super::rows::{Renewal, Renewed, Stale};
use super::{Check, Recipe, Taught, Training};
use crate::context::Context;
use crate::data::{Dataset, Rest, Targets};
use crate::error::{Error, Result};
use crate::graph::EdgeSet;
use crate::model::Model;
use crate::split::Split;
use serde::Serialize;
use std::collections::HashMap;

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq)]
pub enum Removal {
    /// What is known of these nodes. They stay in the graph.
    Labels(Vec<usize>),
    /// These nodes, with their edges, features and labels.
    Nodes(Vec<usize>),
    /// These edges, by relation where only one is meant.
    Edges(Vec<(Option<String>, EdgeSet)>),
}

/// A model after a change.
#[derive(Clone, Debug)]
pub struct Relearnt {
    /// What training from scratch on what there is now gives.
    pub model: Model,
    /// What has changed.
    pub changes: Changes,
    /// The data it is now trained on: nothing is known of other nodes.
    pub dataset: Dataset,
}

/// What has changed from one training to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Nodes of which nothing was known before.
    pub labels_added: usize,
    /// Nodes of which something else was known.
    pub labels_changed: usize,
    /// Nodes of which nothing is known any more, or that are gone.
    pub labels_removed: usize,
    /// Nodes of the graph that are new.
    pub nodes_added: usize,
    /// Nodes of the graph that are gone.
    pub nodes_removed: usize,
    /// Nodes that were and are there and have other edges or features.
    pub nodes_changed: usize,
    /// Rows of filtered features that were computed for it; `None` where the model is searched for, from the data.
    pub rows_computed: Option<usize>,
}

impl Relearnt {
    /// Trains from scratch on what there is now, and says whether that gives the same model. A model that
    /// is searched for was trained from scratch, and is not searched for once more.
    ///
    /// # Errors
    /// As [`Recipe::fit`], or that the models differ, which is a defect of the program.
    pub fn verify(&self, context: &Context) -> Result<Check> {
        let training = self.model.kept_training()?;
        if matches!(training.recipe, Recipe::Searched(_)) {
            return Ok(Check::FromScratch);
        }
        let scratch = training.recipe.fit(&self.dataset, &training.split()?, context)?;
        match scratch == self.model {
            true => Ok(Check::Identical),
            false => Err(Error::Data(
                "the result is not the model that training from scratch gives; this is a defect of gfgcn, please report it"
                    .into(),
            )),
        }
    }
}

impl Model {
    /// The model with new and corrected labels, on the data as they are now: `labels` says what is known of the dataset's
    /// nodes beside what the model was trained on. Nodes that are new are matched by their ids, or come last where they have none;
    /// what the data themselves say about labels is not looked at.
    ///
    /// # Errors
    /// A model that does not [keep its training](crate::training), data that cannot be matched to it, labels of another kind, or
    /// whatever training refuses.
    pub fn update(
        &self,
        dataset: &Dataset,
        labels: Option<&Targets>,
        context: &Context,
    ) -> Result<Relearnt> {
        let training = self.kept_training()?;
        let data = training.matched_to(self, dataset)?;
        let targets = training.targets();
        let known = targets.arranged(data.before.iter().copied());
        let targets = match labels {
            Some(labels) => known.replaced(labels)?,
            None => known.clone(),
        };
        let mut changes = Changes {
            nodes_added: data.before.iter().filter(|before| before.is_none()).count(),
            nodes_changed: data.changed,
            labels_removed: training.nodes.len() - known.known().len(),
            ..Changes::default()
        };
        changes.nodes_removed = training.digests.len() - (data.before.len() - changes.nodes_added);
        for node in targets.known() {
            if !known.is_known(node) {
                changes.labels_added += 1;
            } else if !known.is_same(&targets, node) {
                changes.labels_changed += 1;
            }
        }
        let (before, stale) = (data.before, data.stale);
        Next { dataset, targets, before, stale }.learn(training, changes, context)
    }

    /// The model without some labels, nodes or edges, as if they had never been there. `dataset` is what the model was trained
    /// on, its nodes in any order if they have ids; labels in it are not looked at.
    ///
    /// # Errors
    /// A model that does not [keep its training](crate::training), other data, something to forget that is not there, nothing
    /// that is left to learn from, or whatever training refuses.
    pub fn forget(
        &self,
        dataset: &Dataset,
        removal: &Removal,
        context: &Context,
    ) -> Result<Relearnt> {
        let training = self.kept_training()?;
        let Matched { before, stale, .. } = training.same_data(self, dataset)?;
        let targets = training.targets().arranged(before.iter().copied());
        match removal {
            Removal::Labels(nodes) => {
                let mut stays: Vec<bool> =
                    (0..dataset.nodes()).map(|node| targets.is_known(node)).collect();
                let mut removed = 0;
                for &node in nodes {
                    dataset.check_node(node)?;
                    if !targets.is_known(node) {
                        let id = dataset.node_id(node);
                        let what = targets.one();
                        return Err(Error::Data(format!(
                            "the model was not trained on a {what} of node {id:?}"
                        )));
                    }
                    removed += usize::from(std::mem::replace(&mut stays[node], false));
                }
                let rest: Vec<usize> = (0..stays.len()).filter(|&node| stays[node]).collect();
                let changes = Changes { labels_removed: removed, ..Changes::default() };
                let targets = targets.only(&rest);
                Next { dataset, targets, before, stale }.learn(training, changes, context)
            }
            Removal::Nodes(nodes) => {
                let rest = dataset.without_nodes(nodes)?;
                let mut gone = vec![true; dataset.nodes()];
                rest.nodes.iter().for_each(|&node| gone[node] = false);
                let lost = |&node: &usize| {
                    let neighbours = dataset.graph().neighbours(rest.nodes[node]);
                    neighbours.iter().any(|&other| gone[other as usize])
                };
                let changed = (0..rest.nodes.len()).filter(lost).collect();
                Left { dataset, rest, changed, targets, before, stale }.learn(training, context)
            }
            Removal::Edges(edges) => {
                let rest = dataset.without_edges(edges)?;
                let mut cut = vec![false; dataset.nodes()];
                let ends = edges.iter().flat_map(|(_, edges)| edges).flat_map(|&(a, b)| [a, b]);
                ends.for_each(|node| cut[node as usize] = true);
                let lost = |&node: &usize| cut[rest.nodes[node]];
                let changed = (0..rest.nodes.len()).filter(lost).collect();
                Left { dataset, rest, changed, targets, before, stale }.learn(training, context)
            }
        }
    }

    /// What it keeps of its training.
    ///
    /// # Errors
    /// A model that keeps nothing.
    pub fn kept_training(&self) -> Result<&Training> {
        self.training.as_ref().ok_or_else(|| {
            Error::Data(
                "the model does not keep its training, which this needs; train it with --keep-training (in Python \
                 keep_training=True)"
                    .into(),
            )
        })
    }
}

/// Data beside those that a model was trained on.
struct Matched {
    /// The number that each node had.
    before: Vec<Option<usize>>,
    /// Nodes that were and are there and have other edges or features.
    changed: usize,
    stale: Stale,
}

impl Training {
    /// Refuses other data than those that were trained on, in whatever order their nodes come.
    fn same_data(&self, model: &Model, dataset: &Dataset) -> Result<Matched> {
        let other = match self.check_source(dataset) {
            Ok(()) => return self.matched_to(model, dataset),
            Err(other) => other,
        };
        let ids = dataset.node_ids().zip(self.node_ids.as_ref());
        if ids.is_none_or(|(given, known)| given.len() != known.len()) {
            return Err(other);
        }
        let Ok(matched) = self.matched_to(model, dataset) else { return Err(other) };
        let same = matched.changed == 0 && matched.before.iter().all(Option::is_some);
        if same { Ok(matched) } else { Err(other) }
    }

    /// Refuses other data than those that were trained on, or the same in another order.
    pub(crate) fn check_source(&self, dataset: &Dataset) -> Result<()> {
        let same = dataset.source_fingerprint() == self.fingerprint
            && dataset.node_ids() == self.node_ids.as_deref();
        same.then_some(()).ok_or_else(|| {
            Error::Data(format!(
                "the graph or the features of {} are not those that the model was trained on; bring it up to date with them first \
                 (gfgcn update), or give the data it was trained on",
                dataset.name()
            ))
        })
    }

    fn matched_to(&self, model: &Model, dataset: &Dataset) -> Result<Matched> {
        let everyone = || (0..dataset.nodes()).map(Some).collect();
        if self.check_source(dataset).is_ok() {
            return Ok(Matched { before: everyone(), changed: 0, stale: Stale::Nothing });
        }
        let before: Vec<Option<usize>> = match (&self.node_ids, dataset.node_ids()) {
            (Some(known), Some(given)) => {
                let place: HashMap<&str, usize> =
                    known.iter().enumerate().map(|(k, id)| (id.as_str(), k)).collect();
                given.iter().map(|id| place.get(id.as_str()).copied()).collect()
            }
            (None, None) if dataset.nodes() >= self.digests.len() => (0..dataset.nodes())
                .map(|node| Some(node).filter(|&node| node < self.digests.len()))
                .collect(),
            (None, None) => {
                return Err(Error::Data(format!(
                    "{} has {} nodes and the model was trained on {}, but they have no ids, so that nobody knows which are gone; \
                     forget these nodes first (gfgcn forget --nodes)",
                    dataset.name(),
                    dataset.nodes(),
                    self.digests.len()
                )));
            }
            (known, _) => {
                let (model, data) = match known {
                    Some(_) => ("have ids", "have none"),
                    None => ("have no ids", "have some"),
                };
                return Err(Error::Data(format!(
                    "the nodes that the model was trained on {model} and those of {} {data}, so they cannot be matched",
                    dataset.name()
                )));
            }
        };
        if before.iter().all(Option::is_none) {
            return Err(Error::Data(format!(
                "no node of {} is one that the model was trained on; train another model",
                dataset.name()
            )));
        }
        let digests = dataset.node_digests();
        let differs = |&node: &usize| {
            before[node].is_some_and(|before| self.digests[before] != digests[node])
        };
        let changed: Vec<usize> = (0..dataset.nodes()).filter(differs).collect();
        let same_columns = dataset.features().cols() == model.features()
            && dataset.feature_names() == model.feature_names()
            && dataset.graph().has_directions() == model.is_directed();
        // Directions of one relation may even out, which nobody remembers.
        let one_way = dataset.graph().has_directions() && !dataset.graph().relations().is_empty();
        let in_order = before.iter().flatten().is_sorted();
        let count = changed.len();
        let stale = match same_columns && !one_way && in_order {
            true => Stale::At(changed),
            false => Stale::Everything,
        };
        Ok(Matched { before, changed: count, stale })
    }
}

/// What is trained on next.
struct Next<'d> {
    dataset: &'d Dataset,
    /// Of all its nodes.
    targets: Targets,
    /// The number that each node had.
    before: Vec<Option<usize>>,
    stale: Stale,
}

/// What is left of data that were trained on.
struct Left<'d> {
    dataset: &'d Dataset,
    rest: Rest,
    /// Nodes of the rest that have lost neighbours.
    changed: Vec<usize>,
    /// What was known of the dataset's nodes, and the number that each had in the training.
    targets: Targets,
    before: Vec<Option<usize>>,
    stale: Stale,
}

impl Left<'_> {
    fn learn(self, training: &Training, context: &Context) -> Result<Relearnt> {
        let Left { dataset, rest: Rest { dataset: rest, nodes }, changed, targets, before, stale } =
            self;
        let targets = targets.select(&nodes);
        let changes = Changes {
            labels_removed: training.nodes.len() - targets.known().len(),
            nodes_removed: dataset.nodes() - nodes.len(),
            nodes_changed: changed.len(),
            ..Changes::default()
        };
        // Other columns, another order of neighbours and other directions are computed in another way.
        let alike = rest.features().cols() == dataset.features().cols()
            && rest.feature_names() == dataset.feature_names()
            && rest.graph().directions() == dataset.graph().directions()
            && nodes.is_sorted();
        let stale = match stale {
            Stale::Nothing if alike => Stale::At(changed),
            _ => Stale::Everything,
        };
        let before = nodes.iter().map(|&node| before[node]).collect();
        Next { dataset: &rest, targets, before, stale }.learn(training, changes, context)
    }
}

impl Next<'_> {
    fn learn(
        self,
        training: &Training,
        mut changes: Changes,
        context: &Context,
    ) -> Result<Relearnt> {
        let Next { dataset, targets, before, stale } = self;
        let validates = |node: &usize| {
            before[*node].is_some_and(|old| training.validation.binary_search(&old).is_ok())
        };
        let (validation, train): (Vec<usize>, Vec<usize>) =
            targets.known().into_iter().partition(validates);
        if train.is_empty() {
            let what = targets.one();
            return Err(Error::Data(format!(
                "no {what} would be left to learn from; delete the model instead"
            )));
        }
        let dataset = dataset.clone().with_targets(targets)?;
        // What is new counts as much as a node does that nothing was said of.
        let weights = match &training.weights {
            None => None,
            Some(_) => {
                let known = training.split()?;
                let weight = |node: &usize| before[*node].map_or(1.0, |old| known.weight(old));
                Some(train.iter().map(weight).collect())
            }
        };
        let split = Split::new(dataset.nodes(), train, validation, Vec::new())?;
        let split = split.with_weights(weights)?;
        let same = matches!(stale, Stale::Nothing);
        let digests = same.then(|| training.digests.clone());
        let taught = Taught { dataset: dataset.clone(), split, digests };
        let recipe = match dataset.targets() {
            Targets::Classes(labels) => training.recipe.among(labels.classes()),
            Targets::Sets(_) | Targets::Values(_) => training.recipe.clone(),
        };
        let model = match (&recipe, &training.rows) {
            (Recipe::Described(classifier), Some(kept)) => {
                let renewal = Renewal { dataset: &dataset, before: &before, stale };
                let Renewed { rows, computed } = renewal.rows(classifier, kept, context)?;
                changes.rows_computed = Some(computed);
                taught.fit(classifier, rows, context)?
            }
            (recipe, _) => taught.train(recipe, context)?,
        };
        Ok(Relearnt { model, changes, dataset })
    }
}
