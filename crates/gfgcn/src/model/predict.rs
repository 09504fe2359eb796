//! Predicting with a model, on the graph it was trained on or on another one.

use super::known::{Known, Matched, Places};
use super::predictions::{Held, Predictions};
use super::{Member, Model};
use crate::context::Context;
use crate::data::{Dataset, TargetKind};
use crate::design::{Design, Input};
use crate::driver::{Budget, Cut, Driver, Local, Piece, Rows, Slab, strange};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::Graph;
use crate::head::Head;
use crate::matrix::Matrix;
use crate::predictor::{Predictor, finite, score_all};
use std::borrow::Cow;
use std::collections::HashMap;

/// Following edges one by one takes as much longer as going along all of them in order.
const NEAR: u64 = 4;

impl Model {
    /// Predicts every node of a graph with the same features; new nodes are fine.
    ///
    /// Where both the model and the data name their features, columns are matched by name:
    /// features the data lack count as 0, features the model does not know are left out, and
    /// both are noted. Nodes are matched in the same way where the model learnt from who is linked to whom: links to a new
    /// node say nothing. Edges have directions if they had some when the model was trained.
    ///
    /// # Errors
    /// If the number of features or of nodes that must be known differs (without names), no name is in common, directions are
    /// needed and missing, scores are not finite, there is too little memory, or the work is cancelled.
    pub fn predict(&self, dataset: &Dataset, context: &Context) -> Result<Predictions> {
        context.run(|| {
            let mut total: Option<Matrix<f64>> = None;
            // Beside the scores of a member, those of the ones before it.
            let before =
                if self.members.len() > 1 { dataset.nodes() * self.head.columns() } else { 0 };
            let remedy = "use a machine with more memory";
            let _lease = context.memory().reserve("predicting", 8 * before as u64, remedy)?;
            let notes = self.with_members(dataset, context, |_, member, graph, features| {
                let scores = member.scores(graph, features, context)?;
                match &mut total {
                    None => total = Some(scores),
                    Some(total) => total.add_scaled(1.0, &scores),
                }
                Ok(())
            })?;
            let targets = total.expect("a model has a member");
            Ok(self.predictions(Held::Targets(targets), None, notes))
        })
    }

    /// Predicts the classes of every node, as [`Model::predict`] does, and keeps nothing else: [`Predictions::class`] and
    /// [`Predictions::name`] tell them, and whoever asks for scores or probabilities panics. A model of one member takes four bytes per
    /// node for it, however many classes there are; sets of labels and values are predicted as ever.
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn predict_classes(&self, dataset: &Dataset, context: &Context) -> Result<Predictions> {
        if self.head.kind() != TargetKind::Classes {
            return self.predict(dataset, context);
        }
        if self.members.len() > 1 {
            return Ok(self.predict(dataset, context)?.without_scores());
        }
        context.run(|| {
            let mut classes = Vec::new();
            let notes = self.with_members(dataset, context, |_, member, graph, features| {
                classes = member.classes(&self.head, graph, features, context)?;
                Ok(())
            })?;
            Ok(self.predictions(Held::Classes(classes), None, notes))
        })
    }

    /// Predicts some nodes of a graph: as [`Model::predict`], at the cost of their surroundings where that is less than the
    /// graph. Scores agree with those of [`Model::predict`] up to the last digits of the precision that features are filtered in.
    ///
    /// # Errors
    /// A node that is not there or named twice, or as [`Model::predict`].
    pub fn predict_nodes(
        &self,
        dataset: &Dataset,
        nodes: &[usize],
        context: &Context,
    ) -> Result<Predictions> {
        let mut rows = HashMap::with_capacity(nodes.len());
        for (row, &node) in nodes.iter().enumerate() {
            dataset.check_node(node)?;
            if rows.insert(node, row).is_some() {
                return Err(Error::Data(format!("node {node} is asked for twice")));
            }
        }
        context.run(|| {
            let mut total = Matrix::zeros(nodes.len(), self.head.columns());
            let notes = self.with_members(dataset, context, |_, member, graph, features| {
                let near = member.scores_near(graph, features, nodes, context)?;
                let scores = match near {
                    Some(scores) => scores,
                    None => member.scores(graph, features, context)?.select_rows(nodes),
                };
                total.add_scaled(1.0, &scores);
                Ok(())
            })?;
            Ok(self.predictions(Held::Targets(total), Some(rows), notes))
        })
    }

    fn predictions(
        &self,
        held: Held,
        rows: Option<HashMap<usize, usize>>,
        notes: Vec<String>,
    ) -> Predictions {
        let (head, calibration) = (self.head.clone(), self.calibration.clone());
        Predictions { head, calibration, held, rows, notes }
    }

    /// Does some work with every member and its number, on the data as the model sees them; what a person should know about
    /// how they were matched.
    pub(crate) fn with_members(
        &self,
        dataset: &Dataset,
        context: &Context,
        mut work: impl FnMut(usize, &Member, &Graph, &Features) -> Result<()>,
    ) -> Result<Vec<String>> {
        if dataset.feature_names().is_some_and(|names| Some(names) != self.feature_names()) {
            let (needed, remedy) = (dataset.features().memory(), "use a machine with more memory");
            context.memory().check("matching the features by name", needed, remedy)?;
        }
        let designs: Vec<Design> = self.members.iter().map(|m| m.design.clone()).collect();
        let Matched { graph, features, places, notes } = self.known.match_to(dataset, &designs)?;
        Driver::check(&features, &designs, context)?;
        for (k, member) in self.members.iter().enumerate() {
            let member = match &places {
                Some(places) => member.moved_to(places, &self.known, context)?,
                None => Cow::Borrowed(member),
            };
            work(k, &member, &graph, &features)?;
        }
        Ok(notes)
    }
}

/// Scoring every node in shares.
impl Model {
    /// The slabs of each member, by its number, with their files.
    pub(crate) fn score_shares(
        &self,
        dataset: &Dataset,
        cut: Cut,
        purpose: &str,
        context: &Context,
    ) -> Result<Vec<(usize, Slab, Vec<String>)>> {
        let budget = Budget { memory: cut.memory, on_disk: true, ..Budget::default() };
        let mut all = Vec::new();
        self.with_members(dataset, context, |k, member, graph, features| {
            let driver = member.scoring_driver(graph, features, budget)?;
            let shares = match member.predictor.propagated_weights() {
                Some(weights) => driver.score_shares(weights, cut, purpose),
                None => driver.filter_shares(cut, purpose),
            };
            all.extend(shares.into_iter().map(|(slab, names)| (k, slab, names)));
            Ok(())
        })?;
        Ok(all)
    }

    /// Computes one of them.
    pub(crate) fn score_share(
        &self,
        member: usize,
        slab: &Slab,
        dataset: &Dataset,
        purpose: &str,
        context: &Context,
    ) -> Result<Vec<Piece>> {
        let budget = Budget::beside(0, context);
        let budget = Budget { on_disk: true, ..budget };
        let mut pieces = None;
        self.with_members(dataset, context, |k, one, graph, features| {
            if k == member {
                let driver = one.scoring_driver(graph, features, budget)?;
                pieces = Some(match one.predictor.propagated_weights() {
                    Some(weights) => driver.score_share(weights, slab, purpose, context)?,
                    None => driver.filter_share(slab, purpose, context)?,
                });
            }
            Ok(())
        })?;
        pieces.ok_or_else(strange)
    }
}

impl Member {
    /// With weights for the nodes in the given places, and none for others; as it is where it knows no nodes.
    fn moved_to(
        &self,
        places: &Places,
        known: &Known,
        context: &Context,
    ) -> Result<Cow<'_, Member>> {
        if !self.design.filters(Input::Structure) {
            return Ok(Cow::Borrowed(self));
        }
        // What compares whole rows has no weights that could be moved.
        let Predictor::Linear { weights, intercept } = &self.predictor else {
            return Err(Error::Data(
                "the model compares who is linked to whom, so it only knows the nodes it was trained on, in their order"
                    .into(),
            ));
        };
        let mut rows: Vec<Option<usize>> = Vec::new();
        let mut first = 0;
        for channel in self.design.channels() {
            let columns = known.columns(channel.input);
            match channel.input {
                Input::Structure => {
                    rows.extend(places.iter().map(|place| place.map(|k| first + k as usize)));
                }
                Input::Features | Input::Degrees => rows.extend((first..first + columns).map(Some)),
            }
            first += columns;
        }
        let needed = 8 * (rows.len() * weights.cols()) as u64;
        context.memory().check("matching nodes by id", needed, "use a machine with more memory")?;
        let moved = Matrix::from_fn(rows.len(), weights.cols(), |i, t| {
            rows[i].map_or(0.0, |row| weights[(row, t)])
        });
        Ok(Cow::Owned(Member {
            share: self.share,
            design: self.design.clone(),
            ridge: self.ridge,
            lambda: self.lambda,
            predictor: Predictor::linear(moved, intercept.clone()),
        }))
    }

    /// What filters for it, if the columns are those it was trained on.
    pub(crate) fn driver<'d>(
        &self,
        graph: &'d Graph,
        features: &'d Features,
        rows: Rows,
        score_columns: usize,
    ) -> Result<Driver<'d>> {
        self.driver_within(graph, features, rows, score_columns, Budget::default())
    }

    fn driver_within<'d>(
        &self,
        graph: &'d Graph,
        features: &'d Features,
        rows: Rows,
        score_columns: usize,
        budget: Budget,
    ) -> Result<Driver<'d>> {
        let designs = std::slice::from_ref(&self.design);
        let driver = Driver::on_within(graph, features, designs, rows, score_columns, budget)?;
        let what = "columns of the design, which must be those the model was trained on";
        Error::check_size(what, self.predictor.inputs(), driver.columns(0))?;
        Ok(driver)
    }

    /// What filters for its scores of every node.
    fn scoring_driver<'d>(
        &self,
        graph: &'d Graph,
        features: &'d Features,
        budget: Budget,
    ) -> Result<Driver<'d>> {
        let (rows, columns) = match self.predictor.propagated_weights() {
            Some(weights) => (Rows::of(Vec::new(), graph.nodes()), weights.cols()),
            None => (Rows::All, 0),
        };
        self.driver_within(graph, features, rows, columns, budget)
    }

    /// Its scores of a few nodes, by what is around them; `None` if that is more work than the scores of all.
    fn scores_near(
        &self,
        graph: &Graph,
        features: &Features,
        nodes: &[usize],
        context: &Context,
    ) -> Result<Option<Matrix<f64>>> {
        let local = Local::new(graph, features, &self.design)?;
        let what = "columns of the design, which must be those the model was trained on";
        Error::check_size(what, self.predictor.inputs(), local.columns())?;
        let rows = (8 * nodes.len() * (local.columns() + self.predictor.targets())) as u64;
        let needed = local.memory() + rows + self.predictor.score_memory(nodes.len());
        let remedy = "predict fewer nodes, or use a machine with more memory";
        let _lease = context.memory().reserve("predicting", needed, remedy)?;
        let most = local.whole(self.predictor.targets()) / NEAR;
        let Some(rows) = local.rows(nodes, most, context)? else { return Ok(None) };
        finite(self.predictor.score_filtered(&rows, context)?).map(Some)
    }

    /// Its scores of every node.
    pub(crate) fn scores(
        &self,
        graph: &Graph,
        features: &Features,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let own = self.predictor.score_memory(graph.nodes());
        self.with_scoring_driver(graph, features, own, context, |driver, context| {
            let filtered = || Ok(driver.run(0..1, context)?.remove(0));
            Ok(score_all(&[&self.predictor], driver, 0, filtered, context)?.remove(0))
        })
    }

    /// The class of every node, a position among those of the head.
    fn classes(
        &self,
        head: &Head,
        graph: &Graph,
        features: &Features,
        context: &Context,
    ) -> Result<Vec<u32>> {
        let own = self.predictor.class_memory(graph.nodes());
        self.with_scoring_driver(graph, features, own, context, |driver, context| {
            self.predictor.classes(head, driver, context)
        })
    }

    /// Does some work with what filters for the scores of every node, and takes so much memory beside it.
    fn with_scoring_driver<T>(
        &self,
        graph: &Graph,
        features: &Features,
        own: u64,
        context: &Context,
        work: impl Fn(&Driver<'_>, &Context) -> Result<T>,
    ) -> Result<T> {
        let budget = Budget { solving: own, scoring: own, ..Budget::beside(0, context) };
        let driver = self.scoring_driver(graph, features, budget)?;
        let needed = driver.least_memory();
        let remedy = "use a machine with more memory";
        let _lease = context.memory().reserve("predicting", needed, remedy)?;
        context.place(driver.work(), |context| work(&driver, context))
    }
}
