//! What a comparison costs: time, tried out; memory, counted.

use super::{Comparison, Known, RUN_BYTES, Share, missing};
use crate::model::Baseline;
use crate::network::{Dual, Logistic, Parameter};
use crate::train::{Epoch, Trainer, Training};
use gfgcn::context::Context;
use gfgcn::features::Features;
use gfgcn::filter::{Basis, Filter, Series};
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::time::{Duration, Instant};

/// Epochs that are tried of each model; more of them, as long as these take next to no time.
const TRIED: usize = 3;
const MORE: usize = 30;
const NEXT_TO_NONE: Duration = Duration::from_millis(50);

impl Comparison<'_> {
    /// How long the missing runs take, about: a few epochs of each model are tried. A model that cannot be
    /// trained takes no time; the run says why.
    pub fn estimate(&self, known: &Known, context: &Context) -> Duration {
        let mut total = Duration::ZERO;
        for (&model, runs) in self.models.iter().zip(&known.0) {
            let missing = missing(runs);
            if let Some(&first) = missing.first()
                && let Ok((prepare, run)) =
                    self.time(model, &self.splits[first], missing.len(), context)
            {
                total += prepare + run.mul_f64(self.rounds(model, missing.len(), context));
            }
        }
        total
    }

    /// How long one run of a model takes, about, beside as many others as there are at a time, on the first split; none
    /// if it cannot be trained.
    pub fn estimate_run(&self, model: Baseline, context: &Context) -> Option<Duration> {
        let split = self.splits.first()?;
        self.time(model, split, self.splits.len(), context).ok().map(|(_, run)| run)
    }

    /// How many times as long as one run some runs of a model take: several go on at a time, and those that are left over
    /// share all threads.
    pub fn rounds(&self, model: Baseline, runs: usize, context: &Context) -> f64 {
        /// Threads within a run are worth a little less than runs of their own.
        const GAIN: f64 = 0.8;
        let workers = self.workers(model, runs, budget(context)).max(1);
        let rest = (runs % workers) as f64 / workers as f64;
        (runs / workers) as f64 + rest.powf(GAIN)
    }

    /// What comes before the runs of a model, and one of them, beside others.
    fn time(
        &self,
        model: Baseline,
        split: &Split,
        runs: usize,
        context: &Context,
    ) -> Result<(Duration, Duration)> {
        // The epochs that are tried are none of those that the observer waits for.
        let context = &context.clone().with_progress(Default::default());
        // An epoch takes as long whatever the filter was, and a filter as long as its products.
        let (tried, products) = match (model, model.filter()) {
            (_, None) => (model, 1),
            (model, Some(filter)) => {
                let products =
                    Series::new(filter, Basis::Chebyshev, self.training.tolerance).products();
                let filter = Filter::sgc(1)?;
                let tried = match model {
                    Baseline::Dual(dual) => Baseline::Dual(Dual { filter, ..dual }),
                    _ => Baseline::logistic(filter),
                };
                (tried, products)
            }
        };
        let splits = std::slice::from_ref(split);
        let workers = self.workers(model, runs, budget(context));
        let training = Training { epochs: MORE, ..self.training };
        let clock = Instant::now();
        let trainer = Trainer::new(self.dataset, tried, training, splits, context)?;
        let prepare = clock.elapsed() * products as u32;
        let epoch = trial(&trainer, split, self.seed, workers, context)?;
        Ok((prepare, epoch * self.training.epochs as u32))
    }

    /// How many runs of a model go on at a time; so many bytes are shared among them.
    pub(super) fn workers(&self, model: Baseline, runs: usize, budget: u64) -> usize {
        let fit = (budget / self.run_memory(model).max(1)).max(1);
        rayon::current_num_threads().min(runs).min(usize::try_from(fit).unwrap_or(usize::MAX))
    }

    /// Bytes that the largest missing run takes beyond the dataset, about.
    pub(super) fn largest_run(&self, known: &Known) -> u64 {
        let models = self.models.iter().zip(&known.0);
        let of_missing = models.filter(|(_, runs)| runs.iter().any(Option::is_none));
        of_missing.map(|(&model, _)| self.run_memory(model)).max().unwrap_or(0)
    }

    fn run_memory(&self, model: Baseline) -> u64 {
        // What a network reads is arranged for each of its runs.
        let arranged = match model.network() {
            Some(_) => self.dataset.features().memory() + self.dataset.graph().memory(),
            None => 0,
        };
        let classes = self.dataset.labels().classes().len();
        let (nodes, features) = (self.dataset.nodes(), self.dataset.features());
        let train = self.splits.iter().map(|split| split.train().len()).max().unwrap_or(0);
        let (parameters, values) = match (model.network(), model) {
            (Some(network), _) => {
                let (of_node, of_entry) = network.kept(classes);
                let entries = self.dataset.graph().nonzeros();
                let dropped = match features {
                    Features::Dense(x) => x.as_slice().len(),
                    Features::Sparse(x) => x.nnz(),
                    Features::Blocks(x) => x.rows() * x.cols(),
                };
                let values = nodes * of_node + entries * of_entry + dropped;
                (network.parameters(features.cols(), classes), values)
            }
            (None, Baseline::Dual(_)) => (Dual::parameters(train, classes), train * train),
            _ => (Logistic::parameters(features.cols(), classes), 0),
        };
        // Of all nodes that train somewhere, and of one split in double precision too.
        let rows = if model.filter().is_some() { nodes + 3 * train } else { 0 };
        // Scores, in single precision with their gradients and in double precision on their way out.
        let scores = 9 * nodes * classes;
        // The parameters, their gradients and two moments.
        let trained = 5 * parameters.iter().map(Parameter::entries).sum::<usize>();
        let entries = values + rows * features.cols() + scores + trained;
        arranged + (size_of::<f32>() * entries) as u64
    }
}

/// Bytes that the runs of a model share.
pub(super) fn budget(context: &Context) -> u64 {
    RUN_BYTES.min(context.memory().free())
}

/// What an epoch takes while as many runs go on at a time as there will be.
fn trial(
    trainer: &Trainer<'_>,
    split: &Split,
    seed: u64,
    workers: usize,
    context: &Context,
) -> Result<Duration> {
    let one = || -> Result<Duration> {
        let (context, mut ends) = (context.child(), Vec::new());
        let mut watch = |_: &Epoch| {
            ends.push(Instant::now());
            if ends.len() >= TRIED && ends[0].elapsed() >= NEXT_TO_NONE {
                context.cancel().cancel();
            }
        };
        match trainer.train_watched(split, seed, &context, &mut watch) {
            Err(Error::Cancelled) | Ok(_) => {}
            Err(other) => return Err(other),
        }
        // Not the first, which is also the first to ask for its memory; a run that diverges has none or one.
        let epochs = ends.len().saturating_sub(1) as u32;
        Ok(ends.last().map_or(Duration::ZERO, |&last| (last - ends[0]) / epochs.max(1)))
    };
    Share::of(workers).run_all(one).pop().expect("at least one worker")
}
