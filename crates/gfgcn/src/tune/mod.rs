//! Choosing everything at once: filter, depth, τ, T, kernel, row scaling and λ, jointly, by exact
//! leave-one-out on the training labels.
//!
//! One propagation serves all filters, one factorisation all λ of a filter and kernel. Where that would take long, the
//! candidates first meet on a stratified sample of the training nodes; the best are then compared on all.

mod judge;
mod screening;

pub use judge::Expected;

use crate::classifier::Classifier;
use crate::context::Context;
use crate::data::Dataset;
use crate::design::{Design, RowScaling};
use crate::driver::{Driver, Explanation, Rows, Scoring, Systems, distinct};
use crate::error::{Error, Result};
use crate::filter::{DEFAULT_DEPTH, DEFAULT_TAU, DEFAULT_TIME, Filter, Tolerance};
use crate::graph::Operator;
use crate::head::{Lesson, Supervision};
use crate::kernel::Kernel;
use crate::matrix::Matrix;
use crate::ridge::{PENALTIES, Ridge, no_usable_penalty, penalty_grid};
use crate::split::Split;
use judge::Trials;
use rayon::prelude::*;
use screening::Screening;
use serde::Serialize;

/// Only a linear kernel is tried with more training nodes: others take the cube of their number.
pub const KERNELS_UP_TO: usize = 2000;
/// Bytes that filtered features may take at a time.
const FILTERED_BYTES: u64 = 1 << 30;

/// What is searched. Every design is tried with every kernel, each at 25 values of λ. The first of each list
/// together are the incumbent, which is only replaced by a combination that is better beyond chance.
///
/// ```no_run
/// # use gfgcn::{context::Context, data::Dataset, split::Split, tune::Search};
/// # fn example(dataset: &Dataset, split: &Split) -> gfgcn::Result<()> {
/// let context = Context::default();
/// let tuned = Search::default().run(dataset, split, &context)?;
/// println!("expected accuracy {:.1} %", 100.0 * tuned.expected.accuracy);
/// let model = tuned.classifier().fit(dataset, split, &context)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The designs.
    pub designs: Vec<Design>,
    /// The kernels; only the linear one is tried with more than 2000 training nodes.
    pub kernels: Vec<Kernel>,
    /// Whether a constant is fitted per class.
    pub intercept: bool,
}

impl Default for Search {
    /// The incumbent, SSGC at depth 8; depths 1 to 8 of SGC, 2 to 32 of SSGC with three values of τ,
    /// diffusion times 1 to 12 of DGC, and no filter at all; each with the features as they are and divided by
    /// their sums; linear, RBF and cosine kernels.
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
        let filters: Vec<Filter> = incumbent
            .into_iter()
            .chain(sgc)
            .chain(ssgc)
            .chain(dgc)
            .chain(none)
            .map(|filter| filter.expect("within the ranges"))
            .collect();
        let with = |rows| filters.iter().map(move |&filter| Design::from(filter).with_rows(rows));
        Search {
            designs: [RowScaling::Plain, RowScaling::Sum].into_iter().flat_map(with).collect(),
            kernels: vec![Kernel::Linear, Kernel::Rbf { gamma: None }, Kernel::Cosine],
            intercept: false,
        }
    }
}

/// One combination of design and kernel, at its best λ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contender {
    /// The design.
    pub design: Design,
    /// The kernel, as it was asked for.
    pub kernel: Kernel,
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
    /// Combinations that were not, because their kernels take the cube of the number of training nodes.
    pub left_out: usize,
    /// Training nodes of the sample on which all met first, if they did.
    pub sample: Option<usize>,
    intercept: bool,
}

impl Tuned {
    /// The chosen combination, ready to be trained on the same data and split. λ is chosen by leave-one-out once more,
    /// from the same numbers to the last bit, so it is the λ of the board.
    pub fn classifier(&self) -> Classifier {
        let Contender { design, kernel, .. } = &self.board[self.chosen];
        let ridge = Ridge { kernel: *kernel, intercept: self.intercept, ..Ridge::default() };
        Classifier::new(design.clone()).with_ridge(ridge)
    }
}

/// A combination before it is tried.
#[derive(Clone, Debug)]
struct Combination {
    design: Design,
    kernel: Kernel,
}

impl Search {
    /// With another operator in every design.
    #[must_use]
    pub fn with_operator(self, operator: Operator) -> Self {
        self.map_designs(|design| design.with_operator(operator.clone()))
    }

    /// With another tolerance in every design.
    #[must_use]
    pub fn with_tolerance(self, tolerance: Tolerance) -> Self {
        self.map_designs(|design| design.with_tolerance(tolerance))
    }

    fn map_designs(self, change: impl Fn(Design) -> Design) -> Self {
        Search { designs: self.designs.into_iter().map(change).collect(), ..self }
    }

    /// Tries everything on the training part of a split; the context's observer is told after each design.
    ///
    /// # Errors
    /// Nothing to search, or what [`Classifier::fit`] refuses.
    pub fn run(&self, dataset: &Dataset, split: &Split, context: &Context) -> Result<Tuned> {
        let combinations = self.combinations(split.train().len());
        if combinations.is_empty() {
            return Err(Error::Data("there is no combination to search".into()));
        }
        context.run(|| {
            Driver::check(dataset.features(), &self.designs, context)?;
            let screening = self.screening(dataset, split);
            let keys = dataset.node_keys();
            let sample = screening.sample(dataset.labels(), split, &keys)?;
            let _lease = context.memory().reserve(
                "the search",
                self.least_memory(dataset, split, sample.as_ref(), screening.finalists())?,
                "train on fewer nodes or classes, or use a machine with more memory",
            )?;
            let (tried, left_out) = (combinations.len(), self.combinations(0).len());
            let course = Course { dataset, intercept: self.intercept, context };
            let trials = match &sample {
                None => course.run(combinations, split)?,
                Some(sample) => {
                    let heats = course.run(combinations, sample)?;
                    let finalists = judge::finalists(&heats, screening.finalists());
                    let finalists = finalists.into_iter().map(|k| heats[k].combination.clone());
                    course.run(finalists.collect(), split)?
                }
            };
            let (board, chosen) = board(&trials)?;
            let keys: Vec<u64> = split.train().iter().map(|&node| keys[node]).collect();
            Ok(Tuned {
                board,
                chosen,
                expected: judge::expected(&trials, &keys),
                tried,
                left_out: left_out - tried,
                sample: sample.map(|sample| sample.train().len()),
                intercept: self.intercept,
            })
        })
    }

    /// How often the observer will be told, at most.
    pub fn steps(&self, dataset: &Dataset, split: &Split) -> u64 {
        (self.designs.len() + self.screening(dataset, split).finalists()) as u64
    }

    /// What [`Search::run`] will do: the propagation is that for the sample, where there is one.
    ///
    /// # Errors
    /// As [`Search::run`].
    pub fn explain(&self, dataset: &Dataset, split: &Split) -> Result<Explanation> {
        let screening = self.screening(dataset, split);
        let sample = screening.sample(dataset.labels(), split, &dataset.node_keys())?;
        let train = sample.as_ref().unwrap_or(split).train().len();
        let driver = self.driver(dataset, sample.as_ref().unwrap_or(split).train())?;
        let combinations = self.combinations(split.train().len());
        let columns = dataset.features().cols();
        let (targets, finalists) = (targets(dataset), screening.finalists());
        let of = |linear: bool, count: usize, train: usize| {
            let kernel = if linear { Kernel::Linear } else { Kernel::Cosine };
            let ridge = Ridge { kernel, ..Ridge::default() };
            Systems::new(count, train, columns, targets, &ridge)
        };
        let linear = combinations.iter().filter(|c| c.kernel.is_linear()).count();
        let kinds = [(true, linear), (false, combinations.len() - linear)];
        let kinds = kinds.into_iter().filter(|(_, count)| *count > 0);
        let mut systems: Vec<Systems> = kinds.map(|(kind, count)| of(kind, count, train)).collect();
        if finalists > 0 {
            let all_linear = linear == combinations.len();
            systems.push(of(all_linear, finalists, split.train().len()));
        }
        Ok(driver.explain(FILTERED_BYTES, systems, Scoring::Later))
    }

    fn screening(&self, dataset: &Dataset, split: &Split) -> Screening {
        let combinations = self.combinations(split.train().len());
        let targets = targets(dataset);
        let operations = |combination: &Combination, train: usize| {
            let columns = dataset.features().cols() * combination.design.channels().len();
            let ridge = Ridge { kernel: combination.kernel, ..Ridge::default() };
            ridge.operations(train, columns, targets)
        };
        Screening::new(
            split.train().len(),
            |train| combinations.iter().map(|c| operations(c, train)).sum(),
            |train| combinations.iter().map(|c| operations(c, train)).fold(0.0, f64::max),
        )
    }

    fn driver<'d>(&self, dataset: &'d Dataset, train: &[usize]) -> Result<Driver<'d>> {
        Driver::new(dataset, &self.designs, Rows::of(train.to_vec(), dataset.nodes()), 0)
    }

    fn least_memory(
        &self,
        dataset: &Dataset,
        split: &Split,
        sample: Option<&Split>,
        finalists: usize,
    ) -> Result<u64> {
        let threads = rayon::current_num_threads();
        let train = split.train().len();
        let first = sample.unwrap_or(split).train();
        let driver = self.driver(dataset, first)?;
        let columns = (0..self.designs.len()).map(|k| driver.columns(k)).max().unwrap_or(0);
        let combinations = self.combinations(train);
        let linear = combinations.iter().all(|c| c.kernel.is_linear());
        let kernel = if linear { Kernel::Linear } else { Kernel::Cosine };
        let ridge = Ridge { kernel, intercept: self.intercept, ..Ridge::default() };
        // Of so many designs at a time: the features are there once more while a kernel is tried, and which nodes
        // were right at each λ stays.
        let trying = |part: &Split, combinations: usize, at_once: usize| -> Result<u64> {
            let lesson = Lesson::new(dataset.labels(), part, &ridge)?;
            let (sizes, nodes) = (lesson.sizes(columns), part.train().len() as u64);
            let kept = PENALTIES as u64 * (4 * nodes + nodes / 8 + 64);
            let one = ridge.memory(sizes) + 8 * nodes * columns as u64 + kept;
            Ok(lesson.memory()
                + at_once as u64 * one
                + threads as u64 * ridge.shared_memory(sizes)
                + combinations as u64 * kept)
        };
        let solving = match sample {
            None => trying(split, combinations.len(), threads)?,
            Some(sample) => {
                let at_once = threads.min(finalists);
                let finals = at_once as u64 * 4 * (train * columns) as u64
                    + trying(split, finalists, at_once)?;
                trying(sample, combinations.len(), threads)?.max(finals)
            }
        };
        Ok(driver.least_memory() + solving)
    }

    fn combinations(&self, train: usize) -> Vec<Combination> {
        let kernels = distinct(self.kernels.iter().copied());
        let kernels = kernels.into_iter().filter(|k| k.is_linear() || train <= KERNELS_UP_TO);
        let kernels: Vec<Kernel> = kernels.collect();
        let designs = distinct(self.designs.iter().cloned()).into_iter();
        designs
            .flat_map(|design| kernels.iter().map(move |&kernel| (design.clone(), kernel)))
            .map(|(design, kernel)| Combination { design, kernel })
            .collect()
    }
}

/// Target columns at most.
fn targets(dataset: &Dataset) -> usize {
    dataset.labels().classes().len()
}

/// What stays the same while candidates are tried.
struct Course<'a> {
    dataset: &'a Dataset,
    intercept: bool,
    context: &'a Context,
}

impl Course<'_> {
    /// Tries combinations on the training part of a split.
    fn run(&self, combinations: Vec<Combination>, split: &Split) -> Result<Vec<Trials>> {
        let supervision = Supervision::new(self.dataset.labels(), split, &Ridge::default())?;
        let designs = distinct(combinations.iter().map(|c| c.design.clone()));
        let rows = Rows::of(supervision.train.to_vec(), self.dataset.nodes());
        let driver = Driver::new(self.dataset, &designs, rows, 0)?;
        let budget = FILTERED_BYTES.min(self.context.memory().free() / 2);
        let mut trials = Vec::new();
        for pass in driver.passes(budget) {
            let filtered = driver.run(pass.clone(), self.context)?;
            let of_design = |(design, filtered): (usize, &crate::driver::Filtered)| {
                let train = filtered.of(supervision.train);
                let own = combinations.iter().filter(|c| c.design == designs[design]);
                let trials: Result<Vec<Trials>> =
                    own.map(|c| self.try_out(c, &supervision, &train)).collect();
                self.context.progress().advance();
                trials
            };
            let all: Vec<Result<Vec<Trials>>> =
                pass.into_par_iter().zip(&filtered).map(of_design).collect();
            for of_design in all {
                trials.extend(of_design?);
            }
        }
        Ok(trials)
    }

    /// Every λ of one combination.
    fn try_out(
        &self,
        combination: &Combination,
        supervision: &Supervision<'_>,
        train: &Matrix<f64>,
    ) -> Result<Trials> {
        let ridge = Ridge { kernel: combination.kernel, ..Ridge::default() };
        let problem = ridge.pose(train.clone(), self.context)?.problem;
        let targets = &supervision.targets;
        let path = problem.path(targets.matrix().clone(), None, self.intercept, self.context)?;
        let penalties = penalty_grid(path.scale());
        Trials::new(combination.clone(), &path, penalties, targets, self.context)
    }
}

/// The contenders, the most accurate first, and the position of the one that is chosen.
fn board(trials: &[Trials]) -> Result<(Vec<Contender>, usize)> {
    let (winner, _) = judge::choice(trials).ok_or_else(no_usable_penalty)?;
    let mut board: Vec<(usize, Contender)> = judge::ranking(trials)
        .into_iter()
        .map(|(k, position)| (k, trials[k].contender(position)))
        .collect();
    board.sort_by(|(_, a), (_, b)| {
        b.accuracy.total_cmp(&a.accuracy).then(a.squared_error.total_cmp(&b.squared_error))
    });
    let chosen = board.iter().position(|&(k, _)| k == winner).unwrap_or(0);
    Ok((board.into_iter().map(|(_, contender)| contender).collect(), chosen))
}
