//! Choosing everything at once: filter, depth, τ, T, kernel, row normalisation and λ, jointly, by exact
//! leave-one-out on the training labels.
//!
//! One propagation serves all filters, one factorisation all λ of a filter and kernel. With many
//! training nodes the candidates first meet on a stratified sample of them; the best few are then
//! compared on all.

mod judge;

pub use judge::Expected;

use crate::classifier::{Classifier, Options, Task};
use crate::data::{Dataset, Labels};
use crate::error::{Error, Result};
use crate::filter::{DEFAULT_DEPTH, DEFAULT_TAU, DEFAULT_TIME, Filter};
use crate::graph::Propagator;
use crate::kernel::Kernel;
use crate::matrix::Matrix;
use crate::plan::{Explanation, Plan, Scoring, Systems};
use crate::ridge::{Selection, no_usable_penalty, penalty_grid};
use crate::split::Split;
use judge::Trials;
use rayon::prelude::*;
use serde::Serialize;

/// Training nodes on which all candidates meet; where there are more, a sample of about this size.
const SAMPLE: usize = 512;
/// Candidates that are compared on all training nodes after they met on a sample.
const FINALISTS: usize = 4;
/// Only a linear kernel is tried with more training nodes: others take the cube of their number.
const KERNELS_UP_TO: usize = 2000;
/// Bytes that filtered features may take at a time.
const FILTERED_BYTES: u64 = 1 << 30;

/// What is searched. Every filter is tried with every kernel and row normalisation, each at 25
/// values of λ. The first of each list together are the incumbent, which is only replaced by a
/// combination that is better beyond chance.
///
/// ```no_run
/// # use gfgcn::{data::Dataset, split::Split, tune::Search};
/// # fn example(dataset: &Dataset, split: &Split) -> gfgcn::Result<()> {
/// let tuned = Search::default().run(dataset, split, &|| ())?;
/// println!("expected accuracy {:.1} %", 100.0 * tuned.expected.accuracy);
/// let model = tuned.classifier().fit(dataset, split)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The filters.
    pub filters: Vec<Filter>,
    /// The kernels; only the linear one is tried with more than 2000 training nodes.
    pub kernels: Vec<Kernel>,
    /// Whether each node's features are divided by their sum first.
    pub row_normalize: Vec<bool>,
    /// Everything else: the normalisation of the adjacency, the intercept, the tolerance.
    pub options: Options,
}

impl Default for Search {
    /// The incumbent, SSGC at depth 8; depths 1 to 8 of SGC, 2 to 32 of SSGC with three values of τ,
    /// diffusion times 1 to 12 of DGC, and no filter at all.
    fn default() -> Self {
        let incumbent = [Filter::ssgc(DEFAULT_DEPTH, DEFAULT_TAU)];
        let sgc = [1, 2, 3, 4, 6, 8].map(Filter::sgc);
        let ssgc = [2, 4, 8, 16, 32]
            .into_iter()
            .flat_map(|depth| [DEFAULT_TAU, 0.2, 0.5].map(|tau| (depth, tau)))
            .filter(|&parameters| parameters != (DEFAULT_DEPTH, DEFAULT_TAU))
            .map(|(depth, tau)| Filter::ssgc(depth, tau));
        let dgc = [1.0, 2.0, 3.5, DEFAULT_TIME, 8.0, 12.0].map(|time| Filter::dgc(64, time));
        // The features as they are, for graphs that say nothing about the classes.
        let none = [Filter::ssgc(1, 1.0)];
        let filters = incumbent.into_iter().chain(sgc).chain(ssgc).chain(dgc).chain(none);
        Search {
            filters: filters.map(|filter| filter.expect("within the ranges")).collect(),
            kernels: vec![Kernel::Linear, Kernel::Rbf { gamma: None }, Kernel::Cosine],
            row_normalize: vec![false, true],
            options: Options::default(),
        }
    }
}

/// One combination of filter, kernel and row normalisation, at its best λ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Contender {
    /// The filter.
    pub filter: Filter,
    /// The kernel, as it was asked for.
    pub kernel: Kernel,
    /// Whether each node's features are divided by their sum first.
    pub row_normalize: bool,
    /// λ.
    pub lambda: f64,
    /// The share of left-out training nodes whose class was predicted, 0 to 1.
    pub accuracy: f64,
    /// The mean squared error of the left-out scores.
    pub squared_error: f64,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The contenders that were compared on all training nodes, the most accurate first.
    pub board: Vec<Contender>,
    /// The position on the board of the one that was chosen.
    pub chosen: usize,
    /// What to expect of the chosen one on other nodes.
    pub expected: Expected,
    /// Combinations that were tried, each at 25 values of λ.
    pub tried: usize,
    /// Training nodes of the sample on which all met first, if they did.
    pub sample: Option<usize>,
    options: Options,
}

impl Tuned {
    /// The chosen combination, ready to be trained; λ is chosen by leave-one-out once more, which gives
    /// the same.
    pub fn classifier(&self) -> Classifier {
        let Contender { filter, kernel, row_normalize, .. } = self.board[self.chosen];
        Classifier::new(filter).options(Options { kernel, row_normalize, ..self.options })
    }
}

/// A combination before it is tried.
#[derive(Clone, Copy, Debug)]
struct Combination {
    filter: Filter,
    kernel: Kernel,
    row_normalize: bool,
}

impl Search {
    /// Tries everything on the training part of a split. `progress` is told after each filter.
    ///
    /// # Errors
    /// Nothing to search, or what [`Classifier::fit`] refuses.
    pub fn run(
        &self,
        dataset: &Dataset,
        split: &Split,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Tuned> {
        let options = Options { selection: Selection::LeaveOneOut, ..self.options };
        let combinations = self.combinations(split.train().len());
        if combinations.is_empty() {
            return Err(Error::Data("there is no combination to search".into()));
        }
        let tried = combinations.len();
        let course = Course { dataset, options, progress };
        let Some(sample) = sample(dataset.labels(), split)? else {
            let trials = course.run(combinations, split)?;
            return course.finish(&trials, tried, None);
        };
        let heats = course.run(combinations, &sample)?;
        // The incumbent is always among them, and stays the first.
        let best = judge::ranking(&heats).into_iter().map(|(k, _)| k).filter(|&k| k > 0);
        let finalists = std::iter::once(0).chain(best).take(FINALISTS);
        let trials = course.run(finalists.map(|k| heats[k].combination).collect(), split)?;
        course.finish(&trials, tried, Some(sample.train().len()))
    }

    /// How often `progress` will be told.
    pub fn steps(&self, split: &Split) -> usize {
        let all = self.filters.len() * self.row_normalize.len();
        all + if split.train().len() > SAMPLE { FINALISTS } else { 0 }
    }

    /// What [`Search::run`] will do first, with the features as they are: on the sample, where
    /// there is one.
    ///
    /// # Errors
    /// As [`Search::run`].
    pub fn explain(&self, dataset: &Dataset, split: &Split) -> Result<Explanation> {
        let sample = sample(dataset.labels(), split)?;
        let train = sample.as_ref().unwrap_or(split).train();
        let (features, tolerance) = (dataset.features(), self.options.tolerance);
        let rows = Some(train.to_vec());
        let plan =
            Plan::new(dataset.graph(), features, &self.filters, tolerance, rows, FILTERED_BYTES);
        let count = self.combinations(split.train().len()).len();
        let systems = Systems::new(count, train.len(), features.cols(), true, false);
        Ok(plan.explain(systems, |_| Scoring::Later))
    }

    /// Bytes of memory that [`Search::run`] takes beyond the dataset, about.
    ///
    /// # Errors
    /// As [`Search::run`].
    pub fn memory_needed(&self, dataset: &Dataset, split: &Split) -> Result<u64> {
        let threads = rayon::current_num_threads() as u64;
        let features = dataset.features().cols() as u64;
        let train = split.train().len() as u64;
        let heats = threads * self.options.solve_memory(train.min(SAMPLE as u64), features);
        let finals = FINALISTS as u64 * 4 * train * features
            + threads.min(FINALISTS as u64) * self.options.solve_memory(train, features);
        let solving = if train > SAMPLE as u64 { heats.max(finals) } else { heats };
        // The features once more, divided by their sums.
        let prepared = 8 * dataset.features().nonzeros() as u64;
        Ok(self.explain(dataset, split)?.cost.memory + solving + prepared)
    }

    fn combinations(&self, train: usize) -> Vec<Combination> {
        let mut all = Vec::new();
        for row_normalize in distinct(self.row_normalize.iter().copied()) {
            for filter in distinct(self.filters.iter().copied()) {
                for kernel in distinct(self.kernels.iter().copied()) {
                    if kernel.is_linear() || train <= KERNELS_UP_TO {
                        all.push(Combination { filter, kernel, row_normalize });
                    }
                }
            }
        }
        all
    }
}

/// Each value once, in the order in which they first come.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    values.for_each(|value| {
        if !found.contains(&value) {
            found.push(value);
        }
    });
    found
}

/// Some training nodes of each class, in proportion; `None` when there are few enough in all.
fn sample(labels: &Labels, split: &Split) -> Result<Option<Split>> {
    let train = split.train();
    if train.len() <= SAMPLE {
        return Ok(None);
    }
    let mut of_class = vec![Vec::new(); labels.classes().len()];
    for &node in train {
        if let Some(class) = labels.get(node) {
            of_class[class as usize].push(node);
        }
    }
    let mut nodes = Vec::new();
    for class in of_class {
        // Evenly spread over the class, two at least: a single one cannot be judged left out.
        let wanted = (class.len() * SAMPLE / train.len()).max(2).min(class.len());
        nodes.extend((0..wanted).map(|k| class[k * class.len() / wanted]));
    }
    nodes.sort_unstable();
    Split::new(labels.len(), nodes, Vec::new(), Vec::new()).map(Some)
}

/// What stays the same while candidates are tried.
struct Course<'a> {
    dataset: &'a Dataset,
    options: Options,
    progress: &'a (dyn Fn() + Sync),
}

impl Course<'_> {
    /// Tries combinations on the training part of a split.
    fn run(&self, combinations: Vec<Combination>, split: &Split) -> Result<Vec<Trials>> {
        let task = Task::new(self.dataset.labels(), split, &self.options)?;
        let mut propagator = Propagator::new(self.dataset.graph(), self.options.normalization);
        let mut trials = Vec::new();
        for row_normalize in distinct(combinations.iter().map(|c| c.row_normalize)) {
            let own = combinations.iter().filter(|c| c.row_normalize == row_normalize);
            let filters = distinct(own.map(|c| c.filter));
            let features =
                Options { row_normalize, ..self.options }.prepare(self.dataset.features());
            let rows = Some(task.train.to_vec());
            let tolerance = self.options.tolerance;
            let graph = self.dataset.graph();
            let plan = Plan::new(graph, &features, &filters, tolerance, rows, FILTERED_BYTES);
            propagator = propagator.prepared_for(plan.multiplied_columns());
            for pass in plan.passes() {
                let filtered = plan.run(pass, &propagator, &features);
                let of_filter = |(filter, filtered)| {
                    let train = plan.select(filtered, task.train);
                    let own = combinations
                        .iter()
                        .filter(|c| c.row_normalize == row_normalize && c.filter == filter);
                    let trials: Result<Vec<Trials>> =
                        own.map(|&c| self.try_out(c, &task, &train)).collect();
                    (self.progress)();
                    trials
                };
                let filters = filters[pass.filters.clone()].to_vec();
                let all: Vec<Result<Vec<Trials>>> =
                    filters.into_par_iter().zip(&filtered).map(of_filter).collect();
                for of_filter in all {
                    trials.extend(of_filter?);
                }
            }
        }
        Ok(trials)
    }

    /// Every λ of one combination.
    fn try_out(
        &self,
        combination: Combination,
        task: &Task<'_>,
        train: &Matrix<f64>,
    ) -> Result<Trials> {
        let options = Options { kernel: combination.kernel, ..self.options };
        let (_, problem, _) = options.problem(train.clone())?;
        let path = problem.path(task.targets(), options.intercept);
        let penalties = penalty_grid(path.scale());
        Ok(Trials::new(combination, &path, penalties, task.classes.len()))
    }

    fn finish(&self, trials: &[Trials], tried: usize, sample: Option<usize>) -> Result<Tuned> {
        let (winner, _) = judge::choice(trials).ok_or_else(no_usable_penalty)?;
        let mut board: Vec<(usize, Contender)> = judge::ranking(trials)
            .into_iter()
            .map(|(k, position)| (k, trials[k].contender(position)))
            .collect();
        board.sort_by(|(_, a), (_, b)| {
            b.accuracy.total_cmp(&a.accuracy).then(a.squared_error.total_cmp(&b.squared_error))
        });
        Ok(Tuned {
            chosen: board.iter().position(|&(k, _)| k == winner).unwrap_or(0),
            board: board.into_iter().map(|(_, contender)| contender).collect(),
            expected: judge::expected(trials),
            tried,
            sample,
            options: self.options,
        })
    }
}
