//! Choosing everything by exact leave-one-out on the training labels: what is computed from the graph, each λ, and how
//! much each learner counts.
//!
//! A [bank](Learner) of base learners fits any kind of graph: a node's own features, its neighbours', the paper's filters,
//! who is linked to whom, degrees, directions, relations. Each is solved in closed form with its own λ, so is the sum of
//! their kernels, and their left-out scores are added up with non-negative weights. The paper's default stays unless that is better
//! beyond chance. One propagation serves all learners that share an operator.

mod bank;
mod compose;
mod evaluate;
mod learn;
mod memory;
mod representers;
mod round;
mod screening;
mod stack;
mod sum;

pub use bank::Learner;
pub use evaluate::Searched;
pub use stack::Expected;

use crate::classifier::Classifier;
use crate::context::{Context, Work};
use crate::data::Dataset;
use crate::design::Design;
use crate::driver::{Driver, Explanation, Rows, Scoring, Systems};
use crate::error::{Error, Result};
use crate::filter::Tolerance;
use crate::graph::Operator;
use crate::head::{Objective, target_columns};
use crate::kernel::Kernel;
use crate::matrix::Matrix;
use crate::metrics::Metric;
use crate::model::Model;
use crate::ridge::{Ridge, Selection};
use crate::split::Split;
use compose::Composed;
use round::Round;
use screening::Screening;
use serde::{Deserialize, Serialize};
use stack::{Ballot, Choice};
use std::time::{Duration, Instant};

/// Bytes that filtered features may take at a time.
const FILTERED_BYTES: u64 = 1 << 30;

/// A search over all learners that fit the data.
///
/// ```no_run
/// # use gfgcn::{context::Context, data::Dataset, split::Split, tune::Search};
/// # fn example(dataset: &Dataset, split: &Split) -> gfgcn::Result<()> {
/// let context = Context::default();
/// let tuned = Search::default().run(dataset, split, &context)?;
/// if let Some(expected) = tuned.expected {
///     println!("expected accuracy {:.1} %", 100.0 * expected.score);
/// }
/// let predictions = tuned.model.predict(dataset, &context)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The learners; without them, those that fit the data. Where there are features, the first is the incumbent, which is
    /// only replaced by what is better beyond chance.
    pub learners: Option<Vec<Learner>>,
    /// The operator of the incumbent.
    pub operator: Operator,
    /// Whether a constant is fitted per target in every learner; otherwise only where there are few features.
    pub intercept: bool,
    /// What truncating a filter's series may change.
    pub tolerance: Tolerance,
    /// What predictions should be good at.
    pub objective: Objective,
}

/// A learner at its best λ, or the sum of all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contender {
    /// In a few words.
    pub name: String,
    /// What is computed from graph and features; of a sum, nothing by itself.
    pub design: Option<Design>,
    /// The kernel, as it was asked for.
    pub kernel: Kernel,
    /// λ.
    pub lambda: f64,
    /// The metric on left-out training nodes.
    pub score: f64,
    /// The mean squared error of the left-out scores.
    pub squared_error: f64,
    /// What its scores are multiplied by in the stack.
    pub weight: f64,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The trained model: the incumbent, or the stack.
    pub model: Model,
    /// Whether it is the stack.
    pub stacked: bool,
    /// All learners and their sum, the best first.
    pub board: Vec<Contender>,
    /// What everything was judged by.
    pub metric: Metric,
    /// The metric of the model on left-out training nodes.
    pub score: f64,
    /// The model's scores of left-out training nodes, in the order of the split's training part × target columns; those of a
    /// stack with weights that were chosen without the node, too.
    pub left_out_scores: Matrix<f64>,
    /// What to expect of the model on other nodes; `None` where there are too few nodes to tell.
    pub expected: Option<Expected>,
    /// How much each learner has to do with the model's scores; they add up to 1. The largest first.
    pub shares: Vec<(String, f64)>,
    /// Whether a node's own features alone are as good.
    pub own_features_suffice: bool,
    /// Learners that were left out, because they would take too long or too much memory on so many nodes.
    pub left_out: Vec<String>,
    /// Training nodes of the sample on which all met first, if they did.
    pub sample: Option<usize>,
    /// Where the time went.
    pub times: Times,
    /// α of each member, training nodes × targets, where it was asked for.
    pub(crate) representers: Vec<Matrix<f64>>,
}

/// Time by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// All learners on a sample of the training nodes.
    pub screening: Duration,
    /// Getting the filtered features and solving every learner.
    pub learning: Duration,
    /// Weighting them, and what to expect.
    pub stacking: Duration,
    /// Putting the model together.
    pub composing: Duration,
}

impl Search {
    /// Chooses and trains on the training part of a split; the context's observer is told after each learner.
    ///
    /// # Errors
    /// Nothing to search, or what [`Classifier::fit`] refuses.
    pub fn run(&self, dataset: &Dataset, split: &Split, context: &Context) -> Result<Tuned> {
        self.run_with(dataset, split, false, context)
    }

    /// The same, perhaps with what each member owes to the training nodes.
    pub(crate) fn run_with(
        &self,
        dataset: &Dataset,
        split: &Split,
        keep: bool,
        context: &Context,
    ) -> Result<Tuned> {
        context.run(|| {
            let tried = self.learners(dataset, split.train().len())?;
            if keep {
                // What is kept must be the same bits when it is computed again.
                return self.run_placed(dataset, split, tried, keep, &context.on_processor());
            }
            let operations = tried.0.iter().map(|l| operations(l, dataset, split.train().len()));
            let work = Work { bytes: 0.0, operations: operations.sum() };
            let run =
                |context: &Context| self.run_placed(dataset, split, tried.clone(), keep, context);
            context.place(work, run)
        })
    }

    /// As [`Search::run_with`], where it is to run, with what [`Search::learners`] found.
    fn run_placed(
        &self,
        dataset: &Dataset,
        split: &Split,
        (learners, left_out): (Vec<Learner>, Vec<String>),
        keep: bool,
        context: &Context,
    ) -> Result<Tuned> {
        if learners.is_empty() {
            return Err(Error::Data("there is no learner for these data".into()));
        }
        let designs: Vec<Design> = learners.iter().map(|l| l.design.clone()).collect();
        Driver::check(dataset.features(), &designs, context)?;
        let keys = dataset.node_keys(split.train());
        let screening = self.screening(dataset, split, &learners);
        let sample = screening.sample(dataset.targets(), split, &keys)?;
        let start = Instant::now();
        let learners = match &sample {
            None => learners,
            Some(sample) => {
                let round = Round::new(dataset, sample, &keys, &self.objective, context)?;
                let operations =
                    |learner: &Learner| operations(learner, dataset, split.train().len());
                round.survivors(learners, operations, screening::FINAL_OPERATIONS)?
            }
        };
        let screening = start.elapsed();
        let tuned = self.decide(dataset, split, learners, &keys, keep, context)?;
        Ok(Tuned {
            left_out,
            sample: sample.map(|sample| sample.train().len()),
            times: Times { screening, ..tuned.times },
            ..tuned
        })
    }

    /// The choice among learners on all training nodes, and its model.
    fn decide(
        &self,
        dataset: &Dataset,
        split: &Split,
        learners: Vec<Learner>,
        keys: &[u64],
        keep: bool,
        context: &Context,
    ) -> Result<Tuned> {
        let mut times = Times::default();
        let start = Instant::now();
        let round = Round::new(dataset, split, keys, &self.objective, context)?;
        let planned = round.plan(learners)?;
        let outcome = round.run(&planned)?;
        times.learning = start.elapsed();
        let start = Instant::now();
        let incumbent = outcome.has_incumbent();
        let supervision = &round.supervision;
        let ballot = Ballot::new(&supervision.targets, outcome.left_out_scores(), incumbent);
        let choice = ballot.choice();
        let training_keys: Vec<u64> = split.train().iter().map(|&node| keys[node]).collect();
        let expected = ballot.expected(&training_keys);
        let own = outcome.learners.iter().position(Learner::is_own_features);
        let own_features_suffice = own.is_some_and(|own| ballot.is_as_good(own, &choice));
        let left_out = ballot.chosen(&choice);
        let unflattered = ballot.unflattered(&choice, &training_keys);
        let metric = supervision.metric();
        times.stacking = start.elapsed();
        let start = Instant::now();
        // Training the incumbent and scoring members reserve what they take themselves.
        let _lease = planned.choice_is_made();
        let (composed, weights) = match &choice {
            Choice::Incumbent => {
                let learner = &outcome.learners[0];
                let model = self.classifier(learner).fit(dataset, split, context)?;
                let shares = vec![(learner.name.clone(), 1.0)];
                (Composed { model, learners: vec![0], shares }, vec![0.0; outcome.candidates()])
            }
            Choice::Stack(weights) => {
                let constants = ballot.constants(weights);
                let composed =
                    round.compose(&outcome, weights, constants, &left_out, &unflattered)?;
                (composed, weights.clone())
            }
        };
        let Composed { model, learners, shares } = composed;
        let mut representers = Vec::new();
        if keep {
            let alone = |k: usize| f64::from(u8::from(k == 0));
            let counted = match choice {
                Choice::Incumbent => (0..outcome.candidates()).map(alone).collect(),
                Choice::Stack(_) => weights.clone(),
            };
            let of_learners = round.representers(&outcome, &counted)?;
            representers = learners.iter().map(|&k| of_learners[k].clone()).collect();
        }
        times.composing = start.elapsed();
        Ok(Tuned {
            model,
            stacked: choice != Choice::Incumbent,
            board: outcome.board(&weights, metric),
            metric,
            score: round.judged(&left_out).score,
            left_out_scores: unflattered,
            expected,
            shares,
            own_features_suffice,
            left_out: Vec::new(),
            sample: None,
            times,
            representers,
        })
    }

    /// A learner by itself.
    fn classifier(&self, learner: &Learner) -> Classifier {
        let ridge = Ridge {
            kernel: learner.kernel,
            intercept: learner.intercept,
            selection: Selection::LeaveOneOut,
        };
        Classifier::new(learner.design.clone())
            .with_ridge(ridge)
            .with_objective(self.objective.clone())
    }

    /// The learners that are tried with so many training nodes, and the names of those that would take too long.
    fn learners(&self, dataset: &Dataset, train: usize) -> Result<(Vec<Learner>, Vec<String>)> {
        let all = match &self.learners {
            Some(given) => given.clone(),
            None => bank::learners(dataset, &self.operator, self.intercept, self.tolerance)?,
        };
        let (tried, out): (Vec<Learner>, Vec<Learner>) =
            all.into_iter().partition(|learner| learner.is_feasible(dataset, train));
        Ok((tried, out.into_iter().map(|learner| learner.name).collect()))
    }

    fn screening(&self, dataset: &Dataset, split: &Split, learners: &[Learner]) -> Screening {
        Screening::new(split.train().len(), |train| {
            learners.iter().map(|learner| operations(learner, dataset, train)).sum()
        })
    }

    /// How often the observer will be told, at most.
    ///
    /// # Errors
    /// As [`Search::run`].
    pub fn steps(&self, dataset: &Dataset, split: &Split) -> Result<u64> {
        let (learners, _) = self.learners(dataset, split.train().len())?;
        let rounds = match self.screening(dataset, split, &learners) {
            Screening::None => 1,
            Screening::Sample { .. } => 2,
        };
        Ok(rounds * (learners.len() as u64 + 1))
    }

    /// What [`Search::run`] will do: the propagation is that for the sample, where there is one.
    ///
    /// # Errors
    /// As [`Search::run`].
    pub fn explain(&self, dataset: &Dataset, split: &Split) -> Result<Explanation> {
        let (learners, _) = self.learners(dataset, split.train().len())?;
        let screening = self.screening(dataset, split, &learners);
        let sample =
            screening.sample(dataset.targets(), split, &dataset.node_keys(split.train()))?;
        let train = sample.as_ref().unwrap_or(split).train();
        let designs: Vec<Design> = learners.iter().map(|l| l.design.clone()).collect();
        let rows = Rows::of(train.to_vec(), dataset.nodes());
        let driver = Driver::new(dataset, &designs, rows, 0)?;
        let targets = target_columns(dataset.targets());
        let systems = |learner: &Learner| {
            let columns = learner.columns(dataset, train.len());
            Systems::new(1, train.len(), columns, targets, &Ridge::default())
        };
        let solve = learners.iter().map(systems).fold(Vec::new(), Systems::gathered);
        Ok(driver.explain(FILTERED_BYTES, solve, Scoring::Later))
    }

    /// With another operator for the incumbent.
    #[must_use]
    pub fn with_operator(self, operator: Operator) -> Self {
        Search { operator, ..self }
    }

    /// With another tolerance.
    #[must_use]
    pub fn with_tolerance(self, tolerance: Tolerance) -> Self {
        Search { tolerance, ..self }
    }
}

/// Floating-point operations of a learner on so many training nodes.
fn operations(learner: &Learner, dataset: &Dataset, train: usize) -> f64 {
    let targets = target_columns(dataset.targets());
    Ridge::default().operations(train, learner.columns(dataset, train), targets)
}

impl Tuned {
    /// How long the search took.
    pub fn elapsed(&self) -> Duration {
        let Times { screening, learning, stacking, composing } = self.times;
        screening + learning + stacking + composing
    }
}
