//! Why a score is what it is: exact sums.
//!
//! A linear member's score of class c at node i is one sum that can be taken in several orders,
//!
//! ```text
//! s_c(i) = b_c + Σ_channels Σ_u p(Â)_iu X_u · W_c
//!        = b_c + Σ_channels (by channel)
//!        = b_c + Σ_f F_if W_fc (by feature), F_i = Σ_u p(Â)_iu X_u
//!        = b_c + Σ_u (by node of the graph)
//! ```
//!
//! so every view adds up to the score. A member whose kernel is not linear compares whole rows with those of training nodes;
//! in these views it is one term. A model that keeps its training also has the sum over its
//! [labelled nodes](View::Labelled), whatever its kernel.

mod influence;
mod labelled;
mod names;
mod terms;

pub use influence::Influence;
pub use terms::Cause;

use crate::calibration::Calibration;
use crate::context::Context;
use crate::data::Dataset;
use crate::design::Input;
use crate::driver::{Response, Rows};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::Graph;
use crate::head::Head;
use crate::matrix::Matrix;
use crate::model::{Member, Model};
use crate::training::Training;
use labelled::Labelled;
use terms::Terms;

/// What the terms of labelled nodes may lack of a score, as a share of their sizes.
const ROUNDING: f64 = 1e-7;

/// Why the scores of a node, or the mean scores of several, are what they are.
#[derive(Clone, Debug)]
pub struct Reasons {
    head: Head,
    /// One per target column.
    scores: Vec<f64>,
    constants: Vec<f64>,
    channels: Vec<(Cause, Vec<f64>)>,
    /// Members that are one term in the other views.
    wholes: Vec<(Cause, Vec<f64>)>,
    features: Terms,
    links: Option<Terms>,
    degrees: Terms,
    nodes: Terms,
    /// Numbers of nodes of the graph that was trained on.
    labelled: Option<Vec<(Cause, Vec<f64>)>>,
    notes: Vec<String>,
}

/// Which parts a score is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The channels of all members.
    Channels,
    /// The features, links and degrees of the node and its surroundings.
    Features,
    /// The nodes of the graph whose features these are.
    Nodes,
    /// The labelled nodes that were learnt from. Only of a model that [keeps its training](crate::training); of one that was searched
    /// for, or knows nodes by their links, only on the data it was trained on.
    Labelled,
}

impl Reasons {
    /// The names of the classes or labels, or of the columns of values.
    pub fn names(&self) -> &[String] {
        self.head.names()
    }

    /// The score of a class or label, or the value of a column, by its position.
    pub fn score(&self, class: usize) -> f64 {
        self.head.scores(&self.scores)[class]
    }

    /// What every node has of it.
    pub fn constant(&self, class: usize) -> f64 {
        self.head.scores(&self.constants)[class]
    }

    /// The probability of each class or label; none of values. Of several nodes that of their mean scores.
    pub fn probabilities(&self, calibration: &Calibration) -> Vec<f64> {
        calibration.link().probabilities(&self.head, &self.scores)
    }

    /// The class with the largest score.
    pub fn predicted(&self) -> usize {
        self.head.decode(&self.scores) as usize
    }

    /// What a person should know about how the data were matched to the model.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether it is known how a score is divided in this way.
    pub fn has(&self, view: View) -> bool {
        view != View::Labelled || self.labelled.is_some()
    }

    /// The terms of a class's score, the largest in size first; with the [constant](Reasons::constant) they add up to the
    /// [score](Reasons::score). None where a view is [not known](Reasons::has).
    pub fn terms(&self, view: View, class: usize) -> Vec<(Cause, f64)> {
        let wholes = || self.wholes.iter().map(|(cause, term)| (*cause, term.as_slice()));
        let terms: Vec<(Cause, &[f64])> = match view {
            View::Channels => self.channels.iter().map(|(c, term)| (*c, term.as_slice())).collect(),
            View::Features => {
                let links = self.links.iter().flat_map(Terms::iter);
                self.features
                    .iter()
                    .chain(links)
                    .chain(self.degrees.iter())
                    .chain(wholes())
                    .collect()
            }
            View::Nodes => self.nodes.iter().chain(wholes()).collect(),
            View::Labelled => {
                let labelled = self.labelled.iter().flatten();
                labelled.map(|(cause, term)| (*cause, term.as_slice())).collect()
            }
        };
        let of_class = |(cause, term): (Cause, &[f64])| (cause, self.head.scores(term)[class]);
        let mut terms: Vec<(Cause, f64)> = terms.into_iter().map(of_class).collect();
        terms.retain(|(_, term)| *term != 0.0);
        terms.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        terms
    }
}

impl Model {
    /// Why the scores of a node of a graph are what they are.
    ///
    /// # Errors
    /// A node that is not there, or as [`Model::predict`].
    pub fn explain(&self, dataset: &Dataset, node: usize, context: &Context) -> Result<Reasons> {
        self.explain_mean(dataset, &[node], context)
    }

    /// Why the mean scores of some nodes, each counted once, are what they are: of those of a class, what speaks for the class.
    ///
    /// # Errors
    /// As [`Model::explain`].
    pub fn explain_mean(
        &self,
        dataset: &Dataset,
        nodes: &[usize],
        context: &Context,
    ) -> Result<Reasons> {
        Explainer::new(self, dataset).mean(nodes, context)
    }
}

/// Explains several scores by the same data: what is known of the labelled nodes is found out once.
pub struct Explainer<'a> {
    model: &'a Model,
    dataset: &'a Dataset,
    training: Option<&'a Training>,
    /// Of each member, as soon as it was needed.
    labelled: Vec<Labelled>,
}

impl<'a> Explainer<'a> {
    /// Of a model on some data.
    pub fn new(model: &'a Model, dataset: &'a Dataset) -> Self {
        let training = labelled::training_of(model, dataset);
        Explainer { model, dataset, training, labelled: Vec::new() }
    }

    /// As [`Model::explain_mean`].
    ///
    /// # Errors
    /// As [`Model::explain`].
    pub fn mean(&mut self, nodes: &[usize], context: &Context) -> Result<Reasons> {
        if nodes.is_empty() {
            return Err(Error::Data("there is no node to explain".into()));
        }
        let Explainer { model, dataset, training, labelled } = self;
        nodes.iter().try_for_each(|&node| dataset.check_node(node))?;
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let nodes = &nodes;
        context.run(|| {
            let _lease = context.memory().reserve(
                "explaining",
                model.explaining_memory(dataset),
                "use a machine with more memory",
            )?;
            let mut reasons = Reasons::nothing(model, dataset.nodes());
            let notes = model.with_members(dataset, context, |k, member, graph, features| {
                let row = reasons.add(k, member, graph, features, nodes, context)?;
                let Some(training) = training else { return Ok(()) };
                if labelled.len() == k {
                    labelled.push(Labelled::new(training, (k, member), graph, features, context)?);
                }
                let terms = labelled[k].terms(row, context)?;
                reasons.add_labelled(&training.training_nodes(), terms);
                Ok(())
            })?;
            reasons.settle_labelled();
            Ok(Reasons { notes, ..reasons })
        })
    }
}

impl Model {
    /// Bytes that explaining takes: terms, and what is propagated.
    fn explaining_memory(&self, dataset: &Dataset) -> u64 {
        let (nodes, targets) = (dataset.nodes() as u64, self.head().columns() as u64);
        let links = if self.knows_links() { nodes } else { 0 };
        let labelled = self.training().map_or(0, |training| {
            let rows = training.rows.as_ref().map_or(0, |rows| rows.cols());
            training.nodes.len() * (rows + 3 * self.head().columns())
        });
        8 * (targets * (nodes + links + self.features() as u64) + 8 * nodes + labelled as u64)
    }

    fn knows_links(&self) -> bool {
        self.members().iter().any(|member| member.design().filters(Input::Structure))
    }
}

impl Reasons {
    /// Those of scores of 0, on a graph of so many nodes.
    fn nothing(model: &Model, nodes: usize) -> Self {
        let targets = model.head().columns();
        let terms = |cause: fn(usize) -> Cause, count: usize| Terms::new(cause, count, targets);
        Reasons {
            head: model.head().clone(),
            scores: vec![0.0; targets],
            constants: vec![0.0; targets],
            channels: Vec::new(),
            wholes: Vec::new(),
            features: terms(Cause::Feature, model.features()),
            links: model.knows_links().then(|| terms(Cause::Link, nodes)),
            degrees: terms(Cause::Degree, 2),
            nodes: terms(Cause::Node, nodes),
            labelled: None,
            notes: Vec::new(),
        }
    }

    /// Adds a member. Gives the mean of the nodes' filtered features, or where the kernel is not linear of their similarities to
    /// the support, as one row.
    fn add(
        &mut self,
        k: usize,
        member: &Member,
        graph: &Graph,
        features: &Features,
        nodes: &[usize],
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let intercept = member.predictor.intercept();
        add(&mut self.constants, intercept);
        add(&mut self.scores, intercept);
        let Some(weights) = member.predictor.weights() else {
            return self.add_whole(k, member, graph, features, nodes, context);
        };
        let driver = member.driver(graph, features, Rows::of(Vec::new(), graph.nodes()), 1)?;
        let share = (nodes.len() as f64).recip();
        let shares: Vec<(usize, f64)> = nodes.iter().map(|&node| (node, share)).collect();
        let mut filtered = Vec::with_capacity(weights.rows());
        for (c, response) in driver.responses(0, &shares, context)?.into_iter().enumerate() {
            let first = filtered.len();
            let own: Vec<usize> = (first..first + response.rows.cols()).collect();
            let total = self.add_channel(&response, &weights.select_rows(&own), &mut filtered);
            add(&mut self.scores, &total);
            self.channels.push((Cause::Channel { member: k, channel: c }, total));
        }
        Matrix::from_rows(1, filtered.len(), filtered)
    }

    /// Adds a member whose kernel is not linear, as one term.
    fn add_whole(
        &mut self,
        k: usize,
        member: &Member,
        graph: &Graph,
        features: &Features,
        nodes: &[usize],
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let rows = Rows::of(nodes.to_vec(), graph.nodes());
        // As they are filtered where all nodes are predicted.
        let driver = member.driver(graph, features, rows, 0)?.by_features();
        let _lease = context.memory().reserve(
            "explaining",
            driver.least_memory() + member.predictor.score_memory(nodes.len()),
            "use a machine with more memory",
        )?;
        let filtered = driver.run(0..1, context)?.remove(0);
        let similar = member.predictor.mean_kernel_values(&filtered, context)?;
        let mean = member.predictor.score_similar(&similar, context)?.into_vec();
        add(&mut self.scores, &mean);
        self.channels.push((Cause::Member(k), mean.clone()));
        self.wholes.push((Cause::Member(k), mean));
        Ok(similar)
    }

    /// Adds the terms of a member, labelled nodes × targets.
    fn add_labelled(&mut self, nodes: &[usize], terms: Matrix<f64>) {
        let all = self.labelled.get_or_insert_with(|| {
            let nothing = vec![0.0; terms.cols()];
            nodes.iter().map(|&node| (Cause::Labelled(node), nothing.clone())).collect()
        });
        all.iter_mut().enumerate().for_each(|(j, (_, sum))| add(sum, terms.row(j)));
    }

    /// Terms of labelled nodes are known up to rounding, which their sum may be small beside: what it lacks is theirs by size.
    fn settle_labelled(&mut self) {
        let Some(terms) = &mut self.labelled else { return };
        for (t, score) in self.scores.iter().enumerate() {
            let size: f64 = terms.iter().map(|(_, term)| term[t].abs()).sum();
            let sum: f64 = terms.iter().map(|(_, term)| term[t]).sum();
            let lacking = score - self.constants[t] - sum;
            if lacking.abs() <= ROUNDING * size {
                terms.iter_mut().for_each(|(_, term)| term[t] += lacking * term[t].abs() / size);
            }
        }
    }

    /// Adds the terms of a channel with weights W; their sum. Its filtered features go to the end of `row`.
    fn add_channel(
        &mut self,
        response: &Response<'_>,
        weights: &Matrix<f64>,
        row: &mut Vec<f64>,
    ) -> Vec<f64> {
        let targets = weights.cols();
        let mut filtered = vec![0.0; weights.rows()];
        let mut total = vec![0.0; targets];
        let mut term = vec![0.0; targets];
        for (node, &part) in response.nodes.iter().enumerate().filter(|(_, part)| **part != 0.0) {
            term.fill(0.0);
            response.rows.for_each_in_row(node, |column, value| {
                let value = part * f64::from(value);
                filtered[column] += value;
                let row = weights.row(column);
                term.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
            });
            self.nodes.add(node, &term);
            add(&mut total, &term);
        }
        row.extend_from_slice(&filtered);
        for (column, value) in filtered.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
            let row = weights.row(column).iter();
            term.iter_mut().zip(row).for_each(|(term, weight)| *term = value * weight);
            let terms = match (response.input, &mut self.links) {
                (Input::Structure, Some(links)) => links,
                (Input::Degrees, _) => &mut self.degrees,
                _ => &mut self.features,
            };
            terms.add(column, &term);
        }
        total
    }
}

fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
