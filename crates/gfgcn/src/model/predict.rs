//! Predicting with a model, on the graph it was trained on or on another one.

use super::{Member, Model};
use crate::context::Context;
use crate::data::{Dataset, TargetKind};
use crate::design::{Design, Input};
use crate::driver::{Driver, Rows};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::Graph;
use crate::head::Head;
use crate::matrix::Matrix;
use crate::predictor::score_all;
use std::borrow::Cow;
use std::collections::HashMap;

/// What a model says about every node of a graph: [classes](Predictions::class), [sets of labels](Predictions::labels) or
/// [values](Predictions::values).
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    pub(super) head: Head,
    /// Nodes × target columns.
    pub(super) targets: Matrix<f64>,
    notes: Vec<String>,
}

impl Predictions {
    /// Of which kind they are.
    pub fn kind(&self) -> TargetKind {
        self.head.kind()
    }

    /// The names of the classes, the labels or the columns of values.
    pub fn classes(&self) -> &[String] {
        self.head.names()
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.targets.rows()
    }

    /// The predicted class of a node, a position in [`Predictions::classes`].
    pub fn class(&self, node: usize) -> u32 {
        self.head.decode(self.targets.row(node))
    }

    /// The name of the predicted class of a node.
    pub fn name(&self, node: usize) -> &str {
        &self.classes()[self.class(node) as usize]
    }

    /// The predicted labels of a node, positions in [`Predictions::classes`] in increasing order: those whose score is above
    /// the [threshold](Head::Sets). None where classes or values are predicted.
    pub fn labels(&self, node: usize) -> Vec<u32> {
        self.head.decode_set(self.targets.row(node))
    }

    /// The predicted values of a node, one per column; the scores of the targets where these are no values.
    pub fn values(&self, node: usize) -> &[f64] {
        self.targets.row(node)
    }

    /// The score of each class or label for a node; of classes the largest wins. Two classes share one regression
    /// target, so their scores are s and −s.
    pub fn scores(&self, node: usize) -> Vec<f64> {
        self.head.scores(self.targets.row(node))
    }

    /// The regression targets, nodes × columns: a score per class, or for two classes the score of the
    /// second, whose negative is that of the first.
    pub fn into_targets(self) -> Matrix<f64> {
        self.targets
    }

    /// What a person should know about how the data were matched to the model.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Model {
    /// Predicts every node of a graph with the same features; new nodes are fine.
    ///
    /// Where both the model and the data name their features, columns are matched by name:
    /// features the data lack count as 0, features the model does not know are left out, and
    /// both are noted.
    ///
    /// # Errors
    /// If the number of features differs (without names), no name is in common, scores are not finite, there
    /// is too little memory, or the work is cancelled.
    pub fn predict(&self, dataset: &Dataset, context: &Context) -> Result<Predictions> {
        context.run(|| {
            if dataset.feature_names().is_some_and(|names| Some(names) != self.feature_names()) {
                let (needed, remedy) =
                    (dataset.features().memory(), "use a machine with more memory");
                context.memory().check("matching the features by name", needed, remedy)?;
            }
            let (features, notes) = self.match_features(dataset)?;
            self.check_nodes(dataset)?;
            let designs: Vec<Design> = self.members.iter().map(|m| m.design.clone()).collect();
            Driver::check(&features, &designs, context)?;
            let mut total: Option<Matrix<f64>> = None;
            for member in &self.members {
                let scores = member.scores(dataset.graph(), &features, context)?;
                total = Some(match total {
                    None => scores,
                    Some(mut total) => {
                        total.add_scaled(1.0, &scores);
                        total
                    }
                });
            }
            let targets = total.expect("a model has a member");
            Ok(Predictions { head: self.head.clone(), targets, notes })
        })
    }

    /// Who is linked to whom only says something about the nodes it was learnt from.
    fn check_nodes(&self, dataset: &Dataset) -> Result<()> {
        let channels = self.members.iter().flat_map(|member| member.design.channels());
        let knows_nodes = channels.into_iter().any(|channel| channel.input == Input::Structure);
        let (known, found) = (self.provenance.nodes, dataset.nodes());
        if knows_nodes && known != found {
            return Err(Error::Data(format!(
                "the model learnt from who is linked to whom, so it only knows the {known} nodes it was trained on, and the \
                 data have {found}"
            )));
        }
        Ok(())
    }

    fn match_features<'a>(&self, dataset: &'a Dataset) -> Result<(Cow<'a, Features>, Vec<String>)> {
        let (Some(wanted), Some(given)) = (self.feature_names(), dataset.feature_names()) else {
            let found = dataset.features().cols();
            let what = format!(
                "features per node in {}, which must be those the model was trained on",
                dataset.name()
            );
            Error::check_size(what, self.features(), found)?;
            return Ok((Cow::Borrowed(dataset.features()), Vec::new()));
        };
        if wanted == given {
            return Ok((Cow::Borrowed(dataset.features()), Vec::new()));
        }
        let position: HashMap<&str, u32> =
            wanted.iter().zip(0..).map(|(name, k)| (name.as_str(), k)).collect();
        let columns: Vec<Option<u32>> =
            given.iter().map(|name| position.get(name.as_str()).copied()).collect();
        let matched = columns.iter().flatten().count();
        if matched == 0 {
            return Err(Error::Data(format!(
                "no feature of the data is one the model was trained on; \
                 the model's first is {:?}, the data's first is {:?}",
                wanted[0], given[0]
            )));
        }
        let mut notes = Vec::new();
        if matched < wanted.len() {
            let missing = wanted.len() - matched;
            notes
                .push(format!("{missing} features of the model are not in the data; counted as 0"));
        }
        if matched < given.len() {
            let unknown = given.len() - matched;
            notes
                .push(format!("{unknown} features of the data are unknown to the model; left out"));
        }
        Ok((Cow::Owned(dataset.features().map_columns(&columns, wanted.len())), notes))
    }
}

impl Member {
    /// Its scores of every node.
    pub(crate) fn scores(
        &self,
        graph: &Graph,
        features: &Features,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let designs = std::slice::from_ref(&self.design);
        let linear = self.predictor.weights().is_some();
        let rows = if linear { Rows::of(Vec::new(), graph.nodes()) } else { Rows::All };
        let columns = if linear { self.predictor.targets() } else { 0 };
        let driver = Driver::on(graph, features, designs, rows, columns)?;
        Error::check_size(
            "columns of the design, which must be those the model was trained on",
            self.predictor.inputs(),
            driver.columns(0),
        )?;
        let _lease = context.memory().reserve(
            "predicting",
            driver.least_memory() + self.predictor.score_memory(graph.nodes()),
            "use a machine with more memory",
        )?;
        let filtered = || Ok(driver.run(0..1, context)?.remove(0));
        Ok(score_all(&[&self.predictor], &driver, 0, filtered, context)?.remove(0))
    }
}
