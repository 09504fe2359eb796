//! Learning more and forgetting: what a model keeps of its training, and how it is changed exactly.
//!
//! A model that [keeps its training](Recipe::fit) knows how it was trained, what is known of which nodes, and the filtered
//! features of every node. New, corrected and forgotten labels then need no propagation, only another solution of the closed
//! form; nodes and edges that come and go change the rows that the filters reach from them. Either way the result is the model
//! that training from scratch on what there is now gives, to the last bit: λ, constants and classes included. Its file is the
//! same, byte for byte, so that nothing in it tells a label that was forgotten from one that never was.
//!
//! ```
//! use gfgcn::{Classifier, context::Context, data::{Dataset, Labels}, filter::Filter, graph::Graph};
//! use gfgcn::{features::Features, matrix::Matrix, split::Split, training::{Recipe, Removal}};
//!
//! # let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)];
//! # let (graph, _) = Graph::from_edges(6, &edges, None)?;
//! # let features = Features::dense(Matrix::from_fn(6, 6, |i, j| f32::from(i == j)))?;
//! # let labels = Labels::from_names(&[Some("left"), Some("left"), None, None, None, Some("right")]);
//! # let data = Dataset::new("triangles", graph, features, labels)?;
//! let context = Context::default();
//! let recipe = Recipe::from(Classifier::new(Filter::sgc(2)?));
//! let model = recipe.fit(&data, &Split::all_labelled(data.labels())?, &context)?;
//!
//! let without = model.forget(&data, &Removal::Labels(vec![1]), &context)?;
//! let rest = data.clone().with_targets(data.targets().only(&[0, 5]))?;
//! let scratch = recipe.fit(&rest, &Split::all_labelled(rest.labels())?, &context)?;
//! assert_eq!(without.model.to_bytes(), scratch.to_bytes());
//! # Ok::<(), gfgcn::Error>(())
//! ```

mod change;
mod file;
mod receipt;
mod rows;
mod smoothing;
mod study;

pub use change::{Changes, Relearnt, Removal};
pub(crate) use file::{TrainingHeader, read_training, training_tensors};
pub use receipt::{Check, Receipt, Removed, RemovedEdge, State};
pub use smoothing::SmoothedSets;
pub use study::{LeftOut, Study};

use crate::classifier::Classifier;
use crate::context::Context;
use crate::data::{Dataset, Targets};
use crate::driver::{Filtered, Rows};
use crate::error::{Error, Result};
use crate::head::Supervision;
use crate::linalg::multiply;
use crate::matrix::Matrix;
use crate::model::{Member, Model};
use crate::split::Split;
use crate::tune::{Search, Tuned};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// How a model is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipe {
    /// As it is described.
    Described(Classifier),
    /// As a search finds best. Every change searches again, from the data.
    Searched(Search),
}

impl From<Classifier> for Recipe {
    fn from(classifier: Classifier) -> Self {
        Recipe::Described(classifier)
    }
}

impl From<Search> for Recipe {
    fn from(search: Search) -> Self {
        Recipe::Searched(search)
    }
}

/// What a model keeps of its training.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    pub(crate) recipe: Recipe,
    /// Of graph and features.
    pub(crate) fingerprint: String,
    pub(crate) node_ids: Option<Vec<String>>,
    /// One per node of the graph.
    pub(crate) digests: Vec<u128>,
    /// Nodes of which something is known, in increasing order.
    pub(crate) nodes: Vec<usize>,
    /// Those among them that λ was chosen by and that are not trained on, in increasing order.
    pub(crate) validation: Vec<usize>,
    /// How much the nodes that train count, where not all alike.
    pub(crate) weights: Option<Vec<f64>>,
    /// What is known of the nodes, in their order.
    pub(crate) targets: Targets,
    /// The filtered features of all nodes of the graph, where the model is described.
    pub(crate) rows: Option<Filtered>,
    /// α of each member, training nodes × targets, where it was searched for.
    pub(crate) representers: Vec<Matrix<f64>>,
}

impl Training {
    /// How the model was trained.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The nodes that the model was trained on, in increasing order.
    pub fn training_nodes(&self) -> Vec<usize> {
        let trains = |node: &&usize| self.validation.binary_search(node).is_err();
        self.nodes.iter().filter(trains).copied().collect()
    }

    /// The nodes that λ was chosen by instead, in increasing order.
    pub fn validation_nodes(&self) -> &[usize] {
        &self.validation
    }

    /// What is known of the nodes of the graph, as far as the model was trained on it.
    pub fn targets(&self) -> Targets {
        let mut place = vec![None; self.digests.len()];
        self.nodes.iter().enumerate().for_each(|(k, &node)| place[node] = Some(k));
        self.targets.arranged(place.into_iter())
    }

    /// As [`Training::targets`], for the nodes of a dataset in their order: by their ids where there are some.
    pub fn targets_of(&self, dataset: &Dataset) -> Targets {
        let (Some(ids), Some(wanted)) = (&self.node_ids, dataset.node_ids()) else {
            return self.targets();
        };
        let known = self.nodes.iter().enumerate().map(|(k, &node)| (ids[node].as_str(), k));
        let known: HashMap<&str, usize> = known.collect();
        let places: Vec<Option<usize>> =
            wanted.iter().map(|id| known.get(id.as_str()).copied()).collect();
        self.targets.arranged(places.into_iter())
    }

    /// The nodes that train, and those that choose λ.
    fn split(&self) -> Result<Split> {
        let (train, validation) = (self.training_nodes(), self.validation.clone());
        let split = Split::new(self.digests.len(), train, validation, Vec::new())?;
        split.with_weights(self.weights.clone())
    }

    /// How far a described member with a linear kernel stays from what is known of the training nodes, by their filtered
    /// features F and its weights W.
    pub(crate) fn residuals(
        &self,
        member: &Member,
        rows: &Matrix<f64>,
        weights: &Matrix<f64>,
        context: &Context,
    ) -> Result<Residuals> {
        let Recipe::Described(classifier) = &self.recipe else {
            return Err(Error::Data("the model was searched for".into()));
        };
        let (targets, split) = (self.targets(), self.split()?);
        let supervision =
            Supervision::new(&targets, &split, &classifier.ridge, &classifier.objective)?;
        let truth = &supervision.targets;
        let mut scores = multiply(rows, weights, context)?;
        scores.add_to_rows(1.0, member.predictor.intercept());
        let counts = truth.weights().map(<[f64]>::to_vec);
        let weighted = Matrix::from_fn(rows.rows(), weights.cols(), |j, c| {
            let count = counts.as_ref().map_or(1.0, |counts| counts[j]);
            count * (truth.matrix()[(j, c)] - scores[(j, c)])
        });
        Ok(Residuals { weighted, counts })
    }

    /// The name of a node: its id in the data, or its row number.
    pub fn node_id(&self, node: usize) -> Cow<'_, str> {
        match &self.node_ids {
            Some(ids) => Cow::Borrowed(&ids[node]),
            None => Cow::Owned(node.to_string()),
        }
    }

    /// What is known of a node, for people: its class, labels or values. Empty where nothing is.
    pub fn known_of(&self, node: usize) -> String {
        let Ok(place) = self.nodes.binary_search(&node) else { return String::new() };
        match &self.targets {
            Targets::Classes(labels) => labels.name(place).unwrap_or_default().to_owned(),
            Targets::Sets(sets) => {
                let names = sets.of_node(place).map(|names| names.collect::<Vec<&str>>());
                names.unwrap_or_default().join(", ")
            }
            Targets::Values(values) => {
                let values = values.get(place).unwrap_or_default().iter();
                values.map(f64::to_string).collect::<Vec<String>>().join(", ")
            }
        }
    }

    /// Bytes that it takes.
    pub(crate) fn memory(&self) -> u64 {
        let rows = self.rows.as_ref().map_or(0, Filtered::memory);
        let ids = self.node_ids.iter().flatten().map(|id| 48 + id.len()).sum::<usize>();
        let nodes = 16 * self.digests.len() + 32 * self.nodes.len();
        let representers = self.representers.iter().map(|alpha| 8 * alpha.as_slice().len());
        rows + (ids + nodes + representers.sum::<usize>()) as u64 + self.targets.memory()
    }
}

/// What a model leaves of the training nodes' targets.
pub(crate) struct Residuals {
    /// w (y − s), training nodes × targets.
    pub(crate) weighted: Matrix<f64>,
    /// w, where nodes do not count alike.
    pub(crate) counts: Option<Vec<f64>>,
}

/// The part of a dataset that training depends on: nothing is known of nodes that neither train nor choose λ.
struct Taught {
    dataset: Dataset,
    split: Split,
    /// Of the nodes, where they are known already.
    digests: Option<Vec<u128>>,
}

impl Taught {
    fn new(recipe: &Recipe, dataset: &Dataset, split: &Split) -> Result<Self> {
        let validates = match recipe {
            Recipe::Described(classifier) => classifier.ridge.uses_validation(),
            Recipe::Searched(_) => false,
        };
        let validation = if validates { split.validation().to_vec() } else { Vec::new() };
        let nodes = [split.train(), &validation].concat();
        let dataset = dataset.clone().with_targets(dataset.targets().only(&nodes))?;
        let parts = Split::new(dataset.nodes(), split.train().to_vec(), validation, Vec::new())?;
        let split = parts.weighted_as(split);
        Ok(Taught { dataset, split, digests: None })
    }

    /// What is kept of training on it.
    fn kept(
        &self,
        recipe: Recipe,
        rows: Option<Filtered>,
        representers: Vec<Matrix<f64>>,
    ) -> Training {
        let nodes = self.dataset.targets().known();
        let digests = self.digests.clone();
        Training {
            recipe,
            fingerprint: self.dataset.source_fingerprint(),
            node_ids: self.dataset.node_ids().map(<[String]>::to_vec),
            digests: digests.unwrap_or_else(|| self.dataset.node_digests()),
            targets: self.dataset.targets().select(&nodes),
            nodes,
            validation: self.split.validation().to_vec(),
            weights: self.split.weights().map(<[f64]>::to_vec),
            rows,
            representers,
        }
    }

    /// Trains on rows that are filtered already.
    fn fit(self, classifier: &Classifier, rows: Filtered, context: &Context) -> Result<Model> {
        let mut model = classifier.fit_filtered(&self.dataset, &self.split, &rows, context)?;
        model.training = Some(self.kept(classifier.clone().into(), Some(rows), Vec::new()));
        Ok(model)
    }

    /// Trains from the data.
    fn train(self, recipe: &Recipe, context: &Context) -> Result<Model> {
        match recipe {
            Recipe::Described(classifier) => {
                let rows = classifier.filter(&self.dataset, Rows::All, context)?;
                self.fit(classifier, rows, context)
            }
            Recipe::Searched(search) => Ok(self.search(search, context)?.model),
        }
    }

    fn search(self, search: &Search, context: &Context) -> Result<Tuned> {
        let mut tuned = search.run_with(&self.dataset, &self.split, true, context)?;
        let representers = std::mem::take(&mut tuned.representers);
        tuned.model.training = Some(self.kept(search.clone().into(), None, representers));
        Ok(tuned)
    }
}

impl Recipe {
    /// Trains a model that keeps its training. The filtered features of all nodes are part of it, so it takes as much memory as
    /// these, nodes × columns of the design.
    ///
    /// Scores differ in their last digits from those of [`Classifier::fit`], which only filters what it needs, and
    /// perhaps from another side.
    ///
    /// # Errors
    /// As [`Classifier::fit`] and [`Search::run`].
    pub fn fit(&self, dataset: &Dataset, split: &Split, context: &Context) -> Result<Model> {
        Taught::new(self, dataset, split)?.train(self, context)
    }
}

impl Recipe {
    /// The same on data that only have these classes.
    fn among(&self, classes: &[String]) -> Self {
        match self {
            Recipe::Described(classifier) => {
                let objective = classifier.objective.among(classes);
                classifier.clone().with_objective(objective).into()
            }
            Recipe::Searched(search) => {
                Search { objective: search.objective.among(classes), ..search.clone() }.into()
            }
        }
    }
}

impl Search {
    /// As [`Search::run`], with a model that [keeps its training](Recipe::fit).
    ///
    /// # Errors
    /// As [`Search::run`].
    pub fn run_keeping(
        &self,
        dataset: &Dataset,
        split: &Split,
        context: &Context,
    ) -> Result<Tuned> {
        Taught::new(&self.clone().into(), dataset, split)?.search(self, context)
    }
}
