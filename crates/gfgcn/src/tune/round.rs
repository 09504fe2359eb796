//! All learners on one set of training nodes, and the sum of their kernels.

use super::bank::Learner;
use super::learn::{Inputs, Solved, solve};
use super::memory::SearchMemory;
use super::stack::{Ballot, Choice};
use super::sum::{Growing, Sum, mean_diagonal};
use super::{Contender, FILTERED_BYTES};
use crate::context::{Context, Lease};
use crate::data::Dataset;
use crate::design::Design;
use crate::driver::{Budget, Driver, Rows, distinct};
use crate::error::{Error, Result};
use crate::head::{Objective, Supervision};
use crate::kernel::Kernel;
use crate::matrix::Matrix;
use crate::metrics::Metric;
use crate::ridge::{Problem, Ridge, features_overflow};
use crate::split::Split;

/// Systems larger than this are not solved: they take the cube of their size.
pub(super) const LARGEST_SYSTEM: usize = 4000;
/// Entries of filtered rows that are more than this are not computed.
pub(super) const MOST_ENTRIES: usize = 1 << 29;

/// Kernels with a smaller mean on their diagonal say nothing.
const NOTHING: f64 = 1e-30;

/// What stays the same while learners are tried.
pub(super) struct Round<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) supervision: Supervision<'a>,
    pub(super) objective: Objective,
    pub(super) context: &'a Context,
    /// Positions of the training nodes in the order of their keys.
    order: Vec<usize>,
}

/// Learners, how they are propagated together, and the memory of trying them.
pub(super) struct Planned<'a> {
    learners: Vec<Learner>,
    designs: Vec<Design>,
    driver: Driver<'a>,
    /// Bytes that designs which are filtered together may take.
    together: u64,
    /// Bytes that stay when the choice is made.
    kept: u64,
    lease: Lease,
}

impl Planned<'_> {
    /// Gives back what only trying and choosing took: the propagation, the systems and the choice.
    pub(super) fn choice_is_made(self) -> Lease {
        let mut lease = self.lease;
        drop(self.driver);
        lease.shrink(lease.bytes() - self.kept);
        lease
    }
}

/// Every learner's solution.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) learners: Vec<Learner>,
    pub(super) solved: Vec<Solved>,
    /// What the kernel of each is divided by in the sum: the mean of its diagonal.
    pub(super) scales: Vec<f64>,
    /// The inputs of those that are compared with landmarks.
    pub(super) landmarks: Vec<Option<Inputs>>,
    pub(super) sum: Option<Sum>,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        dataset: &'a Dataset,
        split: &'a Split,
        keys: &[u64],
        objective: &'a Objective,
        context: &'a Context,
    ) -> Result<Self> {
        let supervision = Supervision::new(dataset.targets(), split, &Ridge::default(), objective)?;
        let metric = Some(supervision.metric());
        let objective = Objective { metric, ..objective.clone() };
        let mut order: Vec<usize> = (0..supervision.train.len()).collect();
        order.sort_by_key(|&position| keys[supervision.train[position]]);
        Ok(Round { dataset, supervision, objective, context, order })
    }

    /// The learners that say something on these nodes, to be tried on more: those that count most in a stack of them, as many
    /// as take no more than so many operations together; the incumbent; and own features alone where they are as good.
    pub(super) fn survivors(
        &self,
        learners: Vec<Learner>,
        operations: impl Fn(&Learner) -> f64,
        most_operations: f64,
    ) -> Result<Vec<Learner>> {
        let planned = self.plan_with(learners, false)?;
        let outcome = self.run_with(&planned, Growing::nothing())?;
        let ballot = Ballot::new(&self.supervision.targets, outcome.left_out_scores(), false);
        let choice = ballot.choice();
        let Choice::Stack(weights) = &choice else { return Ok(outcome.learners) };
        let suffices =
            |k: usize| outcome.learners[k].is_own_features() && ballot.is_as_good(k, &choice);
        let must_stay = |k: usize| (outcome.has_incumbent() && k == 0) || suffices(k);
        let counts = |k: usize| {
            let scores = outcome.solved[k].left_out.as_slice();
            weights[k] * scores.iter().map(|score| score.abs()).sum::<f64>()
        };
        let all = 0..outcome.learners.len();
        let (mut stay, others): (Vec<usize>, Vec<usize>) = all.partition(|&k| must_stay(k));
        let mut others: Vec<(f64, usize)> = others.into_iter().map(|k| (counts(k), k)).collect();
        others.retain(|(counts, _)| *counts > 0.0);
        others.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let cost = |k: usize| operations(&outcome.learners[k]);
        let mut spent: f64 = stay.iter().map(|&k| cost(k)).sum();
        for (_, k) in others {
            spent += cost(k);
            if spent > most_operations && !stay.is_empty() {
                break;
            }
            stay.push(k);
        }
        stay.sort_unstable();
        Ok(stay.into_iter().map(|k| outcome.learners[k].clone()).collect())
    }

    /// Plans for the learners and their sum.
    pub(super) fn plan(&self, learners: Vec<Learner>) -> Result<Planned<'a>> {
        self.plan_with(learners, true)
    }

    /// Solves every learner and their sum.
    pub(super) fn run(&self, planned: &Planned<'_>) -> Result<Outcome> {
        let train = self.supervision.train.len();
        self.run_with(planned, Growing::new(&planned.learners, self.dataset, train))
    }

    fn run_with(&self, planned: &Planned<'_>, mut growing: Growing) -> Result<Outcome> {
        let Planned { learners, designs, driver, together, .. } = planned;
        let mut outcome = Outcome::default();
        for pass in driver.passes(*together) {
            let filtered = driver.run(pass.clone(), self.context)?;
            for (design, filtered) in pass.zip(filtered) {
                for learner in learners.iter().filter(|learner| learner.design == designs[design]) {
                    let inputs = Inputs::new(learner, filtered.clone(), &self.order, self.context)?;
                    self.try_out(learner, inputs, &mut growing, &mut outcome)?;
                    self.context.progress().advance();
                }
            }
        }
        outcome.in_the_order_of(learners, &mut growing.parts);
        if let Some((problem, parts)) = growing.finish() {
            let intercept = outcome.learners.iter().any(|learner| learner.intercept);
            let solved = solve(problem, &self.supervision.targets, intercept, self.context)?;
            outcome.sum = Some(Sum { solved, parts });
            self.context.progress().advance();
        }
        match outcome.learners.is_empty() {
            true => Err(Error::Data("all features of the training nodes are zero".into())),
            false => Ok(outcome),
        }
    }

    /// Solves one learner and adds it to the sum; one that says nothing at all is left out.
    fn try_out(
        &self,
        learner: &Learner,
        inputs: Inputs,
        sum: &mut Growing,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let dual = inputs.nodes() <= inputs.columns();
        let gram = match dual || sum.needs_gram(&inputs) {
            true => Some(inputs.gram(self.context)?),
            false => None,
        };
        let rows = (!dual || sum.needs_rows(&inputs)).then(|| inputs.rows());
        let scale = mean_diagonal(gram.as_ref(), rows.as_ref());
        if !scale.is_finite() {
            return Err(features_overflow());
        }
        if scale <= NOTHING {
            return Ok(());
        }
        sum.add(outcome.learners.len(), &inputs, scale, gram.as_ref(), rows.as_ref());
        let problem = match (dual, gram, rows) {
            (true, Some(gram), _) => Problem::Dual(gram),
            (_, _, Some(rows)) => Problem::Primal(rows),
            _ => unreachable!("one side is there"),
        };
        let targets = &self.supervision.targets;
        outcome.solved.push(solve(problem, targets, learner.intercept, self.context)?);
        outcome.learners.push(learner.clone());
        outcome.scales.push(scale);
        outcome.landmarks.push(match inputs {
            Inputs::Linear(_) => None,
            landmarks => Some(landmarks),
        });
        Ok(())
    }

    /// Plans the propagation of learners and reserves what trying them takes, perhaps with their sum, and what follows from it.
    fn plan_with(&self, learners: Vec<Learner>, sums: bool) -> Result<Planned<'a>> {
        let designs = distinct(learners.iter().map(|learner| learner.design.clone()));
        let lesson = self.supervision.lesson();
        let SearchMemory { kept, growing, trying, after } =
            SearchMemory::new(self.dataset, lesson, &learners, &designs, sums);
        let rows = Rows::of(self.supervision.train.to_vec(), self.dataset.nodes());
        let held = kept + growing;
        let budget = Budget {
            solving: trying.iter().copied().max().unwrap_or(0),
            after: after.saturating_sub(growing),
            on_disk: false,
            ..Budget::beside(held, self.context)
        };
        let driver = Driver::within(self.dataset, &designs, rows, 0, budget)?.with_solving(trying);
        let remedy = "train on fewer nodes or classes, or use a machine with more memory";
        let (lease, together) =
            driver.reserve("the search", held, FILTERED_BYTES, remedy, self.context)?;
        Ok(Planned { learners, designs, driver, together, kept, lease })
    }
}

impl Outcome {
    /// Puts the learners, which were solved in the order of what is propagated together, into the one in which they were
    /// given.
    fn in_the_order_of(&mut self, given: &[Learner], parts: &mut [(usize, usize)]) {
        let place = |learner: &Learner| given.iter().position(|other| other == learner);
        let mut order: Vec<usize> = (0..self.learners.len()).collect();
        order.sort_by_key(|&k| place(&self.learners[k]));
        let mut new = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| new[from] = to);
        parts.iter_mut().for_each(|(learner, _)| *learner = new[*learner]);
        fn permuted<T>(values: &mut Vec<T>, order: &[usize]) {
            let mut old: Vec<Option<T>> = values.drain(..).map(Some).collect();
            values.extend(order.iter().filter_map(|&from| old[from].take()));
        }
        permuted(&mut self.learners, &order);
        permuted(&mut self.solved, &order);
        permuted(&mut self.scales, &order);
        permuted(&mut self.landmarks, &order);
    }

    /// Whether the first learner is the paper's default.
    pub(super) fn has_incumbent(&self) -> bool {
        self.learners.first().is_some_and(Learner::is_incumbent)
    }

    /// The number of learners and their sum.
    pub(super) fn candidates(&self) -> usize {
        self.learners.len() + usize::from(self.sum.is_some())
    }

    /// Left-out scores of all learners and their sum.
    pub(super) fn left_out_scores(&self) -> Vec<&Matrix<f64>> {
        let sum = self.sum.iter().map(|sum| &sum.solved.left_out);
        self.solved.iter().map(|solved| &solved.left_out).chain(sum).collect()
    }

    /// All candidates, the best first.
    pub(super) fn board(&self, weights: &[f64], metric: Metric) -> Vec<Contender> {
        let contender = |name: &str, design: Option<&Design>, kernel, solved: &Solved, weight| {
            let judged = solved.judged;
            Contender {
                name: name.to_owned(),
                design: design.cloned(),
                kernel,
                lambda: solved.lambda,
                score: judged.score,
                squared_error: judged.squared_error / judged.total.max(1) as f64,
                weight,
            }
        };
        let learners = self.learners.iter().zip(&self.solved).zip(weights);
        let mut board: Vec<Contender> = learners
            .map(|((l, solved), &w)| contender(&l.name, Some(&l.design), l.kernel, solved, w))
            .collect();
        if let Some(sum) = &self.sum {
            let weight = weights.last().copied().unwrap_or(0.0);
            board.push(contender("all together", None, Kernel::Linear, &sum.solved, weight));
        }
        board.sort_by(|a, b| {
            let better = match metric.higher_is_better() {
                true => b.score.total_cmp(&a.score),
                false => a.score.total_cmp(&b.score),
            };
            better.then(a.squared_error.total_cmp(&b.squared_error))
        });
        board
    }
}
