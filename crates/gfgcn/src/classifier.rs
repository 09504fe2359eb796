//! Training: from a dataset and a split to a [`Model`].

use crate::context::Context;
use crate::data::{Dataset, TargetKind};
use crate::design::Design;
use crate::driver::{Budget, Driver, Explanation, Filtered, Rows, Scoring, Systems};
use crate::error::Result;
use crate::fit::Fitted;
use crate::head::{Lesson, Objective, Supervision};
use crate::matrix::Matrix;
use crate::model::{Known, Member, Model, Provenance, SAVING};
use crate::ridge::{Ridge, features_overflow};
use crate::shares::Job;
use crate::split::Split;
use serde::{Deserialize, Serialize};

/// What helps where training does not fit.
pub(crate) const REMEDY: &str =
    "train on fewer nodes or classes, or use a machine with more memory";

/// A design, a ridge and an objective, ready to be trained in closed form: on classes, sets of labels or values.
///
/// ```
/// use gfgcn::{Classifier, context::Context, data::{Dataset, Labels}, filter::Filter, graph::Graph};
/// use gfgcn::{features::Features, matrix::Matrix, split::Split};
///
/// // Two triangles joined by an edge; one label in each.
/// let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)];
/// let (graph, _) = Graph::from_edges(6, &edges, None)?;
/// let features = Features::dense(Matrix::from_fn(6, 6, |i, j| f32::from(i == j)))?;
/// let labels = Labels::from_names(&[Some("left"), None, None, None, None, Some("right")]);
/// let data = Dataset::new("triangles", graph, features, labels)?;
///
/// let context = Context::default();
/// let model = Classifier::new(Filter::ssgc(4, 0.05)?)
///     .fit(&data, &Split::all_labelled(data.labels())?, &context)?;
/// let predictions = model.predict(&data, &context)?;
/// assert_eq!(predictions.name(1), "left");
/// assert_eq!(predictions.name(4), "right");
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    /// What is computed from graph and features.
    pub design: Design,
    /// How that becomes scores.
    pub ridge: Ridge,
    /// What these should be good at.
    pub objective: Objective,
}

impl Classifier {
    /// A classifier with a design (or the filter of its only channel), the default ridge and the usual objective.
    pub fn new(design: impl Into<Design>) -> Self {
        let (ridge, objective) = (Ridge::default(), Objective::default());
        Classifier { design: design.into(), ridge, objective }
    }

    /// Replaces the ridge.
    #[must_use]
    pub fn with_ridge(self, ridge: Ridge) -> Self {
        Classifier { ridge, ..self }
    }

    /// Replaces the objective.
    #[must_use]
    pub fn with_objective(self, objective: Objective) -> Self {
        Classifier { objective, ..self }
    }

    /// Trains on the training part of a split (the validation part chooses λ where asked for).
    ///
    /// Only classes and labels with a training node can be predicted. Sets of labels are predicted by a threshold on their
    /// scores, which is chosen on left-out ones however λ is.
    ///
    /// # Errors
    /// A training or validation node of which nothing is known, an objective that does not fit the targets, an empty validation part where it is needed,
    /// a λ too large for double precision, more memory than there is, or that the work is cancelled.
    pub fn fit(&self, dataset: &Dataset, split: &Split, context: &Context) -> Result<Model> {
        Ok(self.fit_left_out(dataset, split, context)?.0)
    }

    /// As [`Classifier::fit`], with the scores of each training node by what is learnt without it, in the order of the split's
    /// training part × target columns.
    pub(crate) fn fit_left_out(
        &self,
        dataset: &Dataset,
        split: &Split,
        context: &Context,
    ) -> Result<(Model, Matrix<f64>)> {
        context.run(|| {
            let lesson = self.lesson(dataset, split)?;
            Driver::check(dataset.features(), std::slice::from_ref(&self.design), context)?;
            let (held, solving) =
                (lesson.memory(), self.solving(&lesson, self.design.columns(dataset)));
            let budget = Budget { solving, ..Budget::beside(held, context) };
            let driver = self.driver(dataset, &lesson, budget)?;
            let needed = held + driver.least_memory();
            let _lease = context.memory().reserve("training", needed, REMEDY)?;
            let (ridge, supervision) = (self.ridge.on(lesson.kind()), Supervision::of(lesson)?);
            let (train, columns) = (supervision.train.len(), driver.columns(0));
            let targets = supervision.targets.matrix().cols();
            let work = driver.work_with(ridge.operations(train, columns, targets));
            let learn = |context: &Context| {
                let filtered = match ridge.leaves_rows_where_they_are() {
                    true => driver.run_where_it_is(0..1, context)?.remove(0),
                    false => driver.run(0..1, context)?.remove(0),
                };
                self.learn(dataset, &supervision, &filtered, context)
            };
            context.place(work, |context| match context.device() {
                None => learn(context),
                // The processor, which is idle, computes meanwhile what the model will need.
                Some(_) => rayon::join(|| learn(context), || dataset.fingerprint()).0,
            })
        })
    }

    /// As [`Classifier::fit`], on features of all nodes that are [filtered](Classifier::filter) already.
    pub(crate) fn fit_filtered(
        &self,
        dataset: &Dataset,
        split: &Split,
        filtered: &Filtered,
        context: &Context,
    ) -> Result<Model> {
        context.run(|| {
            let lesson = self.lesson(dataset, split)?;
            // The rows are kept in the model, and saved with it.
            let saving = (SAVING - 1) * filtered.memory();
            let needed = lesson.memory() + self.solving(&lesson, filtered.cols()).max(saving);
            let _lease = context.memory().reserve("training", needed, REMEDY)?;
            Ok(self.learn(dataset, &Supervision::of(lesson)?, filtered, context)?.0)
        })
    }

    /// The filtered features of some nodes, which do not depend on which nodes train.
    pub(crate) fn filter(
        &self,
        dataset: &Dataset,
        rows: Rows,
        context: &Context,
    ) -> Result<Filtered> {
        context.run(|| {
            let designs = std::slice::from_ref(&self.design);
            Driver::check(dataset.features(), designs, context)?;
            let driver = Driver::new(dataset, designs, rows, 0)?.by_features();
            let needed = driver.least_memory();
            let _lease = context.memory().reserve("filtering all nodes", needed, REMEDY)?;
            let filtered = driver.run(0..1, context)?.remove(0);
            // A training node is checked where it is used, any other one may become one.
            if filtered.is_finite() { Ok(filtered) } else { Err(features_overflow()) }
        })
    }

    fn learn(
        &self,
        dataset: &Dataset,
        supervision: &Supervision<'_>,
        filtered: &Filtered,
        context: &Context,
    ) -> Result<(Model, Matrix<f64>)> {
        let ridge = self.ridge.on(dataset.targets().kind());
        Ok(self.model(dataset, supervision, ridge.fit(supervision, filtered, true, context)?))
    }

    /// The model of a solution, with the left-out scores that it was calibrated by.
    pub(crate) fn model(
        &self,
        dataset: &Dataset,
        supervision: &Supervision<'_>,
        fitted: Fitted,
    ) -> (Model, Matrix<f64>) {
        let ridge = self.ridge.on(dataset.targets().kind());
        let member = Member {
            share: 1.0,
            design: self.design.clone(),
            ridge: Ridge { kernel: fitted.kernel, ..ridge },
            lambda: fitted.lambda,
            predictor: fitted.predictor,
        };
        let (left_out, calibration) = fitted.calibrated.expect("it was asked for");
        let model = Model {
            members: vec![member],
            head: fitted.head,
            calibration,
            known: Known::new(dataset, std::slice::from_ref(&self.design)),
            provenance: Provenance {
                dataset: dataset.name().to_owned(),
                fingerprint: dataset.fingerprint(),
                training_nodes: supervision.train.len(),
                objective: Objective {
                    metric: Some(supervision.metric()),
                    ..self.objective.clone()
                },
                selection_accuracy: fitted
                    .selected
                    .filter(|_| dataset.targets().kind() == TargetKind::Classes)
                    .map(|candidate| candidate.accuracy()),
                selection_score: fitted.selected.map(|candidate| candidate.score),
            },
            training: None,
        };
        (model, left_out)
    }

    /// What other machines can do of [`Classifier::fit`].
    ///
    /// # Errors
    /// As [`Classifier::fit`].
    pub fn job(&self, dataset: &Dataset, split: &Split) -> Result<Job> {
        let nodes = self.lesson(dataset, split)?.nodes().collect();
        Ok(Job::Fit { design: self.design.clone(), nodes })
    }

    /// What [`Classifier::fit`] will do, and what it costs.
    ///
    /// # Errors
    /// As [`Classifier::fit`].
    pub fn explain(&self, dataset: &Dataset, split: &Split) -> Result<Explanation> {
        let lesson = self.lesson(dataset, split)?;
        let driver = self.driver(dataset, &lesson, Budget::default())?;
        let (train, targets) = (split.train().len(), dataset.targets().names().len());
        let systems = Systems::new(1, train, driver.columns(0), targets, &self.ridge);
        Ok(driver.explain(u64::MAX, vec![systems], Scoring::Later))
    }

    pub(crate) fn lesson<'d>(&self, dataset: &'d Dataset, split: &'d Split) -> Result<Lesson<'d>> {
        Lesson::new(dataset.targets(), split, &self.ridge, &self.objective)
    }

    pub(crate) fn driver<'d>(
        &self,
        dataset: &'d Dataset,
        lesson: &Lesson<'_>,
        budget: Budget,
    ) -> Result<Driver<'d>> {
        let rows = Rows::of(lesson.nodes().collect(), dataset.nodes());
        Driver::within(dataset, std::slice::from_ref(&self.design), rows, 0, budget)
    }

    /// Bytes beyond the filtered features and what is known of the nodes.
    pub(crate) fn solving(&self, lesson: &Lesson<'_>, columns: usize) -> u64 {
        let (ridge, sizes) = (self.ridge.on(lesson.kind()), lesson.sizes(columns));
        let asked = lesson.asked(true, rayon::current_num_threads());
        // So that a model which could be trained can be saved, too.
        let saving = SAVING * ridge.predictor_memory(sizes);
        ridge.memory(sizes, asked).max(saving)
    }
}
