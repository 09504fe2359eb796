//! Comparing filters over many splits, sharing what can be shared.
//!
//! The features are propagated once for all filters (or for as many at a time as the memory
//! allows), each split is solved on its own, and all splits of a filter are scored by one
//! propagation of their targets side by side.

use crate::classifier::{Fitted, Options, Task};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::filter::{Filter, FilterBank, Propagated};
use crate::graph::{Graph, Propagator};
use crate::matrix::Matrix;
use crate::metrics::{Summary, test_accuracy};
use crate::plan::{Explanation, Pass, Plan, Scoring, Systems};
use crate::predictor::{Predictor, score_all};
use crate::ridge::{Selection, columns, decode};
use crate::split::Split;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Filters to be compared on the same splits with the same options.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The filters, each evaluated on every split.
    pub filters: Vec<Filter>,
    /// The splits; each needs test nodes.
    pub splits: Vec<Split>,
    /// Everything else.
    pub options: Options,
    /// Bytes that filtered features may take at a time; more filters than fit are propagated in
    /// turns. Does not change any result.
    pub memory: u64,
}

/// What one filter achieved.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The filter.
    pub filter: Filter,
    /// Test accuracy in percent, one per split.
    pub accuracies: Vec<f64>,
    /// The λ that each split used.
    pub lambdas: Vec<f64>,
    /// Predicted classes of the test nodes (class numbers of the dataset), one list per split in
    /// the order of its test part.
    pub predictions: Vec<Vec<u32>>,
    /// Where the time went.
    pub times: Times,
}

/// Time by stage: the propagation that filters share is divided among them, and the times of all
/// splits' solutions, which run side by side, are added up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Propagating the features.
    pub propagate: Duration,
    /// Choosing λ and solving.
    pub fit: Duration,
    /// Scoring every node.
    pub predict: Duration,
}

impl Outcome {
    /// Mean accuracy and its spread, in percent.
    pub fn accuracy(&self) -> Summary {
        Summary::of(&self.accuracies)
    }

    /// The median λ.
    pub fn lambda_median(&self) -> f64 {
        let mut sorted = self.lambdas.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            0.5 * (sorted[middle - 1] + sorted[middle])
        }
    }
}

impl Evaluation {
    /// Runs every filter on every split. `progress` is told after each solution.
    ///
    /// # Errors
    /// A split without labelled test nodes, or whatever [`crate::Classifier::fit`] refuses.
    pub fn run(&self, dataset: &Dataset, progress: &(dyn Fn() + Sync)) -> Result<Vec<Outcome>> {
        if self.splits.is_empty() {
            return Err(Error::Data("there is no split to evaluate on".into()));
        }
        let tasks = self
            .splits
            .iter()
            .map(|split| {
                split.check_test(dataset.labels())?;
                Task::new(dataset.labels(), split, &self.options)
            })
            .collect::<Result<Vec<Task<'_>>>>()?;
        let features = self.options.prepare(dataset.features());
        let propagator = Propagator::new(dataset.graph(), self.options.normalization);
        let plan = self.plan_with(dataset.graph(), &features);
        let propagator = propagator.prepared_for(plan.multiplied_columns());
        let run = Run {
            evaluation: self,
            dataset,
            features: &features,
            propagator,
            plan,
            tasks,
            progress,
        };
        let mut outcomes = Vec::with_capacity(self.filters.len());
        for pass in run.plan.passes() {
            outcomes.extend(run.pass(pass)?);
        }
        Ok(outcomes)
    }

    /// What [`Evaluation::run`] will do, and what it costs.
    pub fn explain(&self, dataset: &Dataset) -> Explanation {
        let train = self.splits.iter().map(|s| s.train().len()).max().unwrap_or(0);
        let linear = self.options.kernel.is_linear();
        let fixed = matches!(self.options.selection, Selection::Fixed(_));
        let count = self.filters.len() * self.splits.len();
        let systems = Systems::new(count, train, dataset.features().cols(), linear, fixed);
        let targets = columns(dataset.labels().classes().len());
        self.plan(dataset).explain(systems, |plan| {
            if linear {
                let columns = targets * self.splits.len();
                Scoring::Labels { columns, products: plan.products_one_by_one() }
            } else {
                Scoring::Kernel { pairs: self.splits.len() * train * dataset.nodes() }
            }
        })
    }

    fn plan(&self, dataset: &Dataset) -> Plan {
        self.plan_with(dataset.graph(), dataset.features())
    }

    fn plan_with(&self, graph: &Graph, features: &Features) -> Plan {
        // Only a linear kernel predicts without the filtered features of every node.
        let rows = self.options.kernel.is_linear().then(|| {
            let needs_validation = self.options.selection == Selection::Validation;
            let mut rows: Vec<usize> = Vec::new();
            for split in &self.splits {
                rows.extend_from_slice(split.train());
                if needs_validation {
                    rows.extend_from_slice(split.validation());
                }
            }
            rows
        });
        let tolerance = self.options.tolerance;
        Plan::new(graph, features, &self.filters, tolerance, rows, self.memory)
    }

    /// Bytes of memory that [`Evaluation::run`] takes beyond the dataset, about.
    pub fn memory_needed(&self, dataset: &Dataset) -> u64 {
        let threads = rayon::current_num_threads() as u64;
        let (nodes, features) = (dataset.nodes() as u64, dataset.features().cols() as u64);
        let train = self.splits.iter().map(|s| s.train().len()).max().unwrap_or(0) as u64;
        let targets = self.splits.len() as u64 * dataset.labels().classes().len() as u64;
        self.plan(dataset).cost().memory
            + threads * self.options.solve_memory(train, features)
            + 8 * targets * (features + 3 * nodes)
    }
}

/// What stays the same during a run.
struct Run<'a> {
    evaluation: &'a Evaluation,
    dataset: &'a Dataset,
    features: &'a Features,
    propagator: Propagator<'a>,
    plan: Plan,
    tasks: Vec<Task<'a>>,
    progress: &'a (dyn Fn() + Sync),
}

impl Run<'_> {
    /// Filters that are propagated together.
    fn pass(&self, pass: &Pass) -> Result<Vec<Outcome>> {
        let start = Instant::now();
        let filtered = self.plan.run(pass, &self.propagator, self.features);
        let share = start.elapsed() / pass.filters.len() as u32;
        let filters = &self.evaluation.filters[pass.filters.clone()];
        filters
            .iter()
            .zip(filtered)
            .enumerate()
            .map(|(k, (&filter, filtered))| {
                let mut outcome = self.filter(filter, &pass.bank.only(k), &filtered)?;
                outcome.times.propagate = share;
                Ok(outcome)
            })
            .collect()
    }

    fn filter(
        &self,
        filter: Filter,
        bank: &FilterBank,
        filtered: &Propagated<f32>,
    ) -> Result<Outcome> {
        let fits: Vec<(Fitted, Duration)> =
            self.tasks.par_iter().map(|task| self.fit(task, filtered)).collect::<Result<_>>()?;
        let start = Instant::now();
        let predictors: Vec<&Predictor> = fits.iter().map(|(fit, _)| &fit.predictor).collect();
        let scores = score_all(&predictors, &self.propagator, bank, self.features, Some(filtered));
        let mut outcome = Outcome {
            filter,
            accuracies: Vec::new(),
            lambdas: fits.iter().map(|(fit, _)| fit.lambda).collect(),
            predictions: Vec::new(),
            times: Times { fit: fits.iter().map(|(_, time)| *time).sum(), ..Times::default() },
        };
        for ((task, split), scores) in self.tasks.iter().zip(&self.evaluation.splits).zip(scores) {
            let predictions = self.predict(task, split, &scores);
            outcome.accuracies.push(test_accuracy(self.dataset.labels(), split, &predictions));
            outcome.predictions.push(predictions);
        }
        outcome.times.predict = start.elapsed();
        Ok(outcome)
    }

    fn fit(&self, task: &Task<'_>, filtered: &Propagated<f32>) -> Result<(Fitted, Duration)> {
        let start = Instant::now();
        let train = self.plan.select(filtered, task.train);
        let validation = || self.plan.select(filtered, task.validation);
        let fitted = self.evaluation.options.fit(task, train, validation)?;
        (self.progress)();
        Ok((fitted, start.elapsed()))
    }

    fn predict(&self, task: &Task<'_>, split: &Split, scores: &Matrix<f64>) -> Vec<u32> {
        let class = |node: usize| decode(scores.row(node), task.classes.len()) as usize;
        split.test().iter().map(|&node| task.classes[class(node)]).collect()
    }
}
