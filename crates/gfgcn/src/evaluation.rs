//! Comparing designs over many splits, sharing what can be shared.
//!
//! Designs share passes over the graph, as many at a time as the memory allows; each split is solved on its own, and
//! with a linear kernel all splits of a design are scored by one propagation, side by side.

mod kept;

use crate::calibration::Calibrated;
use crate::context::Context;
use crate::data::{Dataset, TargetKind};
use crate::design::Design;
use crate::driver::{Budget, Driver, Explanation, Filtered, Rows, Scoring, Side, Systems};
use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::head::{Lesson, Objective, Supervision, target_columns};
use crate::matrix::Matrix;
use crate::metrics::{Metric, Summary, test_accuracy};
use crate::predictor::{Predictor, propagates_scores, score_all, score_memory};
use crate::ridge::{Ridge, Sizes};
use crate::split::Split;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Filtered features are kept below this and below half of what is free, so that there is room for the rest.
const FILTERED_BYTES: u64 = 4 << 30;

/// Designs to be compared on the same splits with the same ridge.
///
/// Each comes out the same to the last bit whether it is alone or among others, and whatever memory is free.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Evaluation {
    /// The designs, each evaluated on every split.
    pub designs: Vec<Design>,
    /// The splits; each needs test nodes.
    pub splits: Vec<Split>,
    /// How filtered features become scores.
    pub ridge: Ridge,
    /// What these should be good at; test nodes are judged by the same metric.
    pub objective: Objective,
    /// Whether probabilities and prediction sets are judged, too.
    pub calibrates: bool,
}

/// What one design achieved.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The design.
    pub design: Design,
    /// What test nodes are judged by.
    pub metric: Metric,
    /// The metric on the test nodes, one per split; in percent where it is a [share](Metric::is_share).
    pub scores: Vec<f64>,
    /// Test accuracy in percent, one per split; empty where the targets are no classes.
    pub accuracies: Vec<f64>,
    /// The λ that each split used.
    pub lambdas: Vec<f64>,
    /// Predicted classes of the test nodes (class numbers of the dataset), one list per split in
    /// the order of its test part; empty where the targets are no classes.
    pub predictions: Vec<Vec<u32>>,
    /// How well probabilities and prediction sets hold on the test nodes, if it was asked for.
    pub calibrated: Option<Calibrated>,
    /// Where the time went.
    pub times: Times,
}

/// Time by stage: the propagation that designs share is divided among them, and the times of all
/// splits' solutions, which run side by side, are added up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Getting the filtered features, from whichever side.
    pub propagate: Duration,
    /// Choosing λ and solving.
    pub fit: Duration,
    /// Scoring every node.
    pub predict: Duration,
}

impl Evaluated {
    /// Mean and spread of the [scores](Evaluated::scores).
    pub fn score(&self) -> Summary {
        Summary::of(&self.scores)
    }

    /// Mean accuracy and its spread, in percent; `None` where the targets are no classes.
    pub fn accuracy(&self) -> Option<Summary> {
        (!self.accuracies.is_empty()).then(|| Summary::of(&self.accuracies))
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
    /// Runs every design on every split; the context's observer is told after each solution.
    ///
    /// # Errors
    /// A split without test nodes of which something is known, a metric that they are too few for, scores that are not finite, or whatever
    /// [`crate::Classifier::fit`] refuses.
    pub fn run(&self, dataset: &Dataset, context: &Context) -> Result<Vec<Evaluated>> {
        match context.scratch() {
            Some(scratch) => self.take_up(dataset, scratch, context),
            None => self.run_from(None, dataset, context),
        }
    }

    /// As [`Evaluation::run`], with features filtered from given sides: those of each design's channels.
    fn run_from(
        &self,
        sides: Option<Vec<Vec<Side>>>,
        dataset: &Dataset,
        context: &Context,
    ) -> Result<Vec<Evaluated>> {
        if self.splits.is_empty() {
            return Err(Error::Data("there is no split to evaluate on".into()));
        }
        context.run(|| {
            let lessons = self
                .splits
                .iter()
                .map(|split| {
                    split.check_test(dataset.targets())?;
                    Lesson::new(dataset.targets(), split, &self.ridge, &self.objective)
                })
                .collect::<Result<Vec<Lesson<'_>>>>()?;
            Driver::check(dataset.features(), &self.designs, context)?;
            let EvaluationMemory { held, solving, scoring } = self.memory(&lessons, dataset);
            let budget = Budget { solving, scoring, ..Budget::beside(held, context) };
            let mut driver = self.driver(dataset, self.propagated(&lessons, dataset), budget)?;
            if let Some(sides) = sides {
                driver = driver.with_sides(&sides);
            }
            let remedy = "use fewer threads or splits, or a machine with more memory";
            let (_lease, together) =
                driver.reserve("the evaluation", held, FILTERED_BYTES, remedy, context)?;
            let supervisions = lessons.into_iter().map(Supervision::of).collect::<Result<_>>()?;
            let ridge = self.ridge.on(dataset.targets().kind());
            let work = driver.work_with(self.operations(&driver, dataset));
            let run = Run { evaluation: self, ridge, dataset, driver, supervisions };
            context.place(work, |context| run.all(together, context))
        })
    }

    /// Operations of all closed-form solutions.
    fn operations(&self, driver: &Driver<'_>, dataset: &Dataset) -> f64 {
        let (train, targets) = (self.largest_training_part(), target_columns(dataset.targets()));
        self.steps() as f64 * self.ridge.operations(train, self.columns(driver), targets)
    }

    /// How often the observer will be told.
    pub fn steps(&self) -> u64 {
        (self.designs.len() * self.splits.len()) as u64
    }

    /// What [`Evaluation::run`] will do, and what it costs.
    ///
    /// # Errors
    /// What no driver can be made for.
    pub fn explain(&self, dataset: &Dataset) -> Result<Explanation> {
        let driver = self.driver(dataset, self.score_columns(dataset), Budget::default())?;
        let train = self.largest_training_part();
        let (count, targets) = (self.steps() as usize, dataset.targets().names().len());
        let systems = Systems::new(count, train, self.columns(&driver), targets, &self.ridge);
        let scoring = if !self.ridge.kernel.is_linear() {
            Scoring::Kernel { pairs: self.splits.len() * train * dataset.nodes() }
        } else if self.needs_every_row(dataset) {
            Scoring::Features
        } else {
            Scoring::Scores {
                columns: self.score_columns(dataset),
                products: driver.score_products(),
            }
        };
        Ok(driver.explain(FILTERED_BYTES, vec![systems], scoring))
    }

    /// For the rows of all splits and so many columns of scores.
    fn driver<'d>(
        &self,
        dataset: &'d Dataset,
        columns: usize,
        budget: Budget,
    ) -> Result<Driver<'d>> {
        if self.needs_every_row(dataset) {
            return Driver::within(dataset, &self.designs, Rows::All, columns, budget);
        }
        let mut nodes: Vec<usize> = Vec::new();
        for split in &self.splits {
            nodes.extend_from_slice(split.train());
            if self.ridge.uses_validation() {
                nodes.extend_from_slice(split.validation());
            }
        }
        let rows = Rows::of(nodes, dataset.nodes());
        Driver::within(dataset, &self.designs, rows, columns, budget)
    }

    /// Whether nodes are scored by their filtered features: always, unless the kernel is linear and there are no more targets than
    /// features. (Splits whose training nodes lack some classes may have fewer.)
    fn needs_every_row(&self, dataset: &Dataset) -> bool {
        let targets = target_columns(dataset.targets());
        let narrow = |design: &Design| propagates_scores(targets, design.columns(dataset));
        !self.ridge.kernel.is_linear() || !self.designs.iter().all(narrow)
    }

    /// Columns of scores that a design has over all splits, at most.
    fn score_columns(&self, dataset: &Dataset) -> usize {
        match self.ridge.kernel.is_linear() {
            true => self.splits.len() * target_columns(dataset.targets()),
            false => 0,
        }
    }

    /// Those of them that are propagated.
    fn propagated(&self, lessons: &[Lesson<'_>], dataset: &Dataset) -> usize {
        let of_design = |design: &Design| {
            let sizes = lessons.iter().map(|lesson| lesson.sizes(design.columns(dataset)));
            sizes.filter(|&sizes| self.propagates(sizes)).map(|sizes| sizes.targets).sum()
        };
        self.designs.iter().map(of_design).max().unwrap_or(0)
    }

    /// Whether the scores of a split are propagated.
    fn propagates(&self, sizes: Sizes) -> bool {
        self.ridge.kernel.is_linear() && propagates_scores(sizes.targets, sizes.columns)
    }

    fn largest_training_part(&self) -> usize {
        self.splits.iter().map(|split| split.train().len()).max().unwrap_or(0)
    }

    /// Columns of the filtered features of the widest design.
    fn columns(&self, driver: &Driver<'_>) -> usize {
        (0..self.designs.len()).map(|design| driver.columns(design)).max().unwrap_or(0)
    }

    /// What it takes beyond the driver: one design at a time, as many of its splits side by side as there are threads, and the
    /// predictors and scores of all of them.
    fn memory(&self, lessons: &[Lesson<'_>], dataset: &Dataset) -> EvaluationMemory {
        let columns = self.designs.iter().map(|design| design.columns(dataset)).max().unwrap_or(0);
        let threads = rayon::current_num_threads();
        let at_once = threads.min(lessons.len()).max(1);
        let sizes: Vec<Sizes> = lessons.iter().map(|lesson| lesson.sizes(columns)).collect();
        let sum = |of: &dyn Fn(Sizes) -> u64| sizes.iter().map(|&sizes| of(sizes)).sum::<u64>();
        let ridge = self.ridge.on(dataset.targets().kind());
        let nodes = dataset.nodes();
        let of_split = |(lesson, &sizes): (&Lesson<'_>, &Sizes)| {
            ridge.memory(sizes, lesson.asked(self.calibrates, threads.div_ceil(at_once)))
        };
        let largest = lessons.iter().zip(&sizes).map(of_split).max().unwrap_or(0);
        let predictors = sum(&|sizes| ridge.predictor_memory(sizes));
        // Left-out scores, and the misfits among them.
        let calibrated = match self.calibrates {
            true => sum(&|sizes| 2 * 8 * (sizes.train * sizes.targets) as u64),
            false => 0,
        };
        // Those that are propagated are the driver's; of others one after the other, and all scores.
        let scores = self.designs.iter().map(|design| {
            let (mut all, mut at_work) = (0, 0);
            for lesson in lessons {
                let sizes = lesson.sizes(design.columns(dataset));
                let needed = score_memory(ridge.kernel, sizes, nodes);
                if self.propagates(sizes) {
                    all += needed;
                } else {
                    let own = 8 * (nodes * sizes.targets) as u64;
                    all += own;
                    at_work = at_work.max(needed - own);
                }
            }
            all + at_work
        });
        let scores = scores.max().unwrap_or(0);
        let tested = || self.splits.iter().map(|split| split.test().len());
        let predictions = 4 * (self.designs.len() * tested().sum::<usize>()) as u64;
        // As many splits at a time as there are threads.
        let testing =
            lessons.iter().zip(tested()).map(|(lesson, nodes)| lesson.testing_memory(nodes));
        let testing = at_once as u64 * testing.max().unwrap_or(0);
        let fits = predictors + calibrated;
        EvaluationMemory {
            held: lessons.iter().map(Lesson::memory).sum::<u64>() + predictions,
            solving: fits + at_once as u64 * largest,
            scoring: fits + scores + testing,
        }
    }
}

/// Bytes that an evaluation takes beyond its driver: all the time, and beside the filtered rows and the scores of a design.
struct EvaluationMemory {
    held: u64,
    solving: u64,
    scoring: u64,
}

/// What stays the same during a run.
struct Run<'a> {
    evaluation: &'a Evaluation,
    ridge: Ridge,
    dataset: &'a Dataset,
    driver: Driver<'a>,
    supervisions: Vec<Supervision<'a>>,
}

/// One design on every split, before it is judged.
struct Fits {
    design: usize,
    filtered: Filtered,
    fits: Vec<Fitted>,
    times: Times,
}

impl Run<'_> {
    /// Every design on every split; filtered features take so much memory at most.
    fn all(&self, budget: u64, context: &Context) -> Result<Vec<Evaluated>> {
        let mut results = Vec::with_capacity(self.evaluation.designs.len());
        for pass in self.driver.passes(budget) {
            let start = Instant::now();
            let filtered = match self.ridge.leaves_rows_where_they_are() {
                true => self.driver.run_where_it_is(pass.clone(), context)?,
                false => self.driver.run(pass.clone(), context)?,
            };
            let share = start.elapsed() / pass.len() as u32;
            let mut waiting: Option<Fits> = None;
            for (design, filtered) in pass.zip(filtered) {
                let last = waiting.take();
                let judge = || last.map(|fits| self.judge(fits, context)).transpose();
                let fit = || self.fit_all(design, filtered, share, context);
                // A device solves for the next design while the last one is judged here; what solving takes is the device's.
                let (judged, fits) = match context.device() {
                    Some(_) => rayon::join(judge, fit),
                    None => (judge(), fit()),
                };
                results.extend(judged?);
                waiting = Some(fits?);
            }
            results.extend(waiting.map(|fits| self.judge(fits, context)).transpose()?);
        }
        Ok(results)
    }

    /// One design on every split.
    fn fit_all(
        &self,
        design: usize,
        filtered: Filtered,
        propagate: Duration,
        context: &Context,
    ) -> Result<Fits> {
        let fit = |supervision| self.fit(supervision, &filtered, context);
        // One by one, so that no thread waits for several of another's.
        let fits = self.supervisions.par_iter().with_max_len(1).map(fit);
        let fits = fits.collect::<Result<Vec<_>>>()?;
        let (fits, times): (Vec<Fitted>, Vec<Duration>) = fits.into_iter().unzip();
        let times = Times { propagate, fit: times.iter().sum(), predict: Duration::ZERO };
        Ok(Fits { design, filtered, fits, times })
    }

    /// What the fits of a design achieve on the test nodes.
    fn judge(&self, fits: Fits, context: &Context) -> Result<Evaluated> {
        let Fits { design, filtered, fits, times } = fits;
        let start = Instant::now();
        let predictors: Vec<&Predictor> = fits.iter().map(|fit| &fit.predictor).collect();
        let scores = score_all(&predictors, &self.driver, design, || filtered.fetched(), context)?;
        let mut result = Evaluated {
            design: self.evaluation.designs[design].clone(),
            metric: self.evaluation.objective.metric_for(self.dataset.targets().kind())?,
            scores: Vec::new(),
            accuracies: Vec::new(),
            lambdas: fits.iter().map(|fit| fit.lambda).collect(),
            predictions: Vec::new(),
            calibrated: self.evaluation.calibrates.then(Calibrated::default),
            times,
        };
        let splits = || self.supervisions.par_iter().zip(&self.evaluation.splits);
        if self.dataset.targets().kind() == TargetKind::Classes {
            let predict =
                |((supervision, split), scores): ((&Supervision<'_>, &Split), &Matrix<f64>)| {
                    let predict = |&node: &usize| supervision.predict(scores.row(node));
                    let predictions: Vec<u32> = split.test().iter().map(predict).collect();
                    (test_accuracy(self.dataset.labels(), split, &predictions), predictions)
                };
            (result.accuracies, result.predictions) = splits().zip(&scores).map(predict).unzip();
        }
        result.scores = match result.metric {
            Metric::Accuracy => result.accuracies.clone(),
            metric => {
                let score =
                    |((supervision, split), scores): ((&Supervision<'_>, &Split), &Matrix<f64>)| {
                        Ok(shown(metric, test_score(supervision, split, scores)?))
                    };
                splits().zip(&scores).map(score).collect::<Result<_>>()?
            }
        };
        let splits = self.supervisions.iter().zip(&self.evaluation.splits);
        for (((supervision, split), scores), fit) in splits.zip(scores).zip(&fits) {
            if let (Some(judged), Some((_, calibration))) =
                (&mut result.calibrated, &fit.calibrated)
            {
                let (nodes, truth) = supervision.truth_of_test(split.test())?;
                judged.add(calibration, &truth, nodes.iter().map(|&node| scores.row(node)));
            }
        }
        result.times.predict = start.elapsed();
        Ok(result)
    }

    fn fit(
        &self,
        supervision: &Supervision<'_>,
        filtered: &Filtered,
        context: &Context,
    ) -> Result<(Fitted, Duration)> {
        let start = Instant::now();
        let calibrates = self.evaluation.calibrates;
        let fitted = self.ridge.fit(supervision, filtered, calibrates, context)?;
        context.progress().advance();
        Ok((fitted, start.elapsed()))
    }
}

/// The metric on the test nodes of which something is known.
fn test_score(supervision: &Supervision<'_>, split: &Split, scores: &Matrix<f64>) -> Result<f64> {
    let (nodes, truth) = supervision.truth_of_test(split.test())?;
    Ok(truth.judge_scores(nodes.iter().map(|&node| scores.row(node))).score)
}

/// Shares in percent.
fn shown(metric: Metric, score: f64) -> f64 {
    if metric.is_share() { 100.0 * score } else { score }
}
