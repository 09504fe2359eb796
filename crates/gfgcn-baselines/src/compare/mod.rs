//! Many models on many splits: several runs at a time, each on its own thread.
//!
//! One run on a small graph does not keep two cores busy, but two runs do. So runs are spread over the
//! threads, and only what is left of the threads works inside a run.

mod cost;

use crate::cache::Cache;
use crate::key::{DataKey, RunKey, SplitKey};
use crate::model::Baseline;
use crate::train::{Trainer, Training};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::metrics::{Summary, test_accuracy};
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Models to be compared on the same splits with the same training.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The data.
    pub dataset: &'a Dataset,
    /// The models, each trained on every split.
    pub models: Vec<Baseline>,
    /// The splits; each needs test nodes.
    pub splits: Vec<Split>,
    /// The seed of the run on the first split; the others follow.
    pub seed: u64,
    /// How the models are trained.
    pub training: Training,
}

/// Runs that go on at a time take no more than this together, unless one alone does.
const RUN_BYTES: u64 = 8 << 30;

/// One model, trained on one split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// On the test part, in percent.
    pub accuracy: f64,
    /// One loss per epoch.
    pub losses: Vec<f64>,
    /// The epoch in which it diverged, counted from 0, if it did.
    pub diverged: Option<usize>,
    /// Seconds of the epochs.
    pub train_seconds: f64,
    /// Seconds of filtering the features, divided among the runs that share it.
    pub prepare_seconds: f64,
    /// Seconds of scoring every node.
    pub predict_seconds: f64,
}

/// All runs of a model, in the order of the splits.
#[derive(Clone, Debug)]
pub struct ModelRuns {
    /// The model.
    pub model: Baseline,
    /// One per split.
    pub runs: Vec<Run>,
    /// How many of them were known before.
    pub known: usize,
}

impl ModelRuns {
    /// Mean accuracy and its spread, in percent.
    pub fn accuracy(&self) -> Summary {
        Summary::of(&self.runs.iter().map(|run| run.accuracy).collect::<Vec<_>>())
    }

    /// How many runs diverged, and the epoch of the first of them.
    pub fn diverged(&self) -> Option<(usize, usize)> {
        let epochs = self.runs.iter().filter_map(|run| run.diverged);
        Some((epochs.clone().count(), epochs.min()?))
    }
}

/// The runs that are known already, model by model, split by split.
#[derive(Clone, Debug)]
pub struct Known(Vec<Vec<Option<Run>>>);

impl Known {
    /// How many runs are not.
    pub fn missing(&self) -> usize {
        self.missing_by_model().sum()
    }

    /// The known runs of each model, in the order of their splits.
    pub fn into_runs(self) -> Vec<Vec<Run>> {
        self.0.into_iter().map(|runs| runs.into_iter().flatten().collect()).collect()
    }

    /// How many runs of each model are not.
    pub fn missing_by_model(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|runs| missing(runs).len())
    }
}

/// Positions of the splits that a model has no run on yet.
fn missing(runs: &[Option<Run>]) -> Vec<usize> {
    (0..runs.len()).filter(|&k| runs[k].is_none()).collect()
}

impl Comparison<'_> {
    /// What a cache knows already; nothing without one.
    pub fn known(&self, cache: Option<&Cache>) -> Known {
        let Some(cache) = cache else {
            return Known(vec![vec![None; self.splits.len()]; self.models.len()]);
        };
        let data = DataKey::new(self.dataset);
        let of_model = |&model: &Baseline| {
            (0..self.splits.len()).map(|k| cache.get(&self.key(&data, model, k))).collect()
        };
        Known(self.models.iter().map(of_model).collect())
    }

    /// Trains every model on every split that is not known, and stores each run in the cache as soon as
    /// it is finished. The context's observer is told after every epoch.
    ///
    /// # Errors
    /// A split without labelled test nodes, less memory than the largest run takes, or whatever [`Trainer::new`] and
    /// [`Trainer::train`] refuse.
    pub fn run(
        &self,
        known: Known,
        cache: Option<&Cache>,
        context: &Context,
    ) -> Result<Vec<ModelRuns>> {
        context.run(|| self.run_here(known, cache, context))
    }

    fn run_here(
        &self,
        known: Known,
        cache: Option<&Cache>,
        context: &Context,
    ) -> Result<Vec<ModelRuns>> {
        let budget = cost::budget(context);
        let _lease = context.memory().reserve(
            "the training",
            self.largest_run(&known),
            "use smaller depths or fewer hidden columns, or a machine with more memory",
        )?;
        let stored = cache.map(|cache| (cache, DataKey::new(self.dataset)));
        assert_eq!(known.0.len(), self.models.len(), "what is known is about other models");
        let mut outcomes = Vec::with_capacity(self.models.len());
        for (&model, mut runs) in self.models.iter().zip(known.0) {
            let missing = missing(&runs);
            let known = runs.len() - missing.len();
            let finish = |k: usize, run: &Run| {
                if let Some((cache, data)) = &stored {
                    cache.put(&self.key(data, model, k), run);
                }
            };
            if !missing.is_empty() {
                for (k, run) in self.train(model, &missing, budget, &finish, context)? {
                    runs[k] = Some(run);
                }
            }
            let runs = runs.into_iter().map(|run| run.expect("known or trained")).collect();
            outcomes.push(ModelRuns { model, runs, known });
        }
        Ok(outcomes)
    }

    /// What the run of a model on the `k`-th split depends on.
    fn key<'k>(&self, data: &'k DataKey, model: Baseline, k: usize) -> RunKey<'k> {
        let split = SplitKey::new(&self.splits[k]);
        RunKey { data, model, training: self.training, split, seed: self.seed_of(k) }
    }

    /// The seed of the run on the `k`-th split.
    fn seed_of(&self, k: usize) -> u64 {
        self.seed.wrapping_add(k as u64)
    }

    fn train(
        &self,
        model: Baseline,
        missing: &[usize],
        budget: u64,
        finish: &(dyn Fn(usize, &Run) + Sync),
        context: &Context,
    ) -> Result<Vec<(usize, Run)>> {
        for &k in missing {
            self.splits[k].check_test(self.dataset.targets())?;
        }
        let splits: Vec<Split> = missing.iter().map(|&k| self.splits[k].clone()).collect();
        let clock = Instant::now();
        let trainer = Trainer::new(self.dataset, model, self.training, &splits, context)?;
        let prepare_seconds = clock.elapsed().as_secs_f64() / missing.len() as f64;
        // Where one run fails, the others are not worth finishing.
        let context = &context.child();
        let finished = Mutex::new(Vec::with_capacity(missing.len()));
        let one = |k: usize| -> Result<()> {
            let split = &self.splits[k];
            let trained = trainer.train(split, self.seed_of(k), context)?;
            let predictions = trained.predict(split.test());
            let run = Run {
                accuracy: test_accuracy(self.dataset.labels(), split, &predictions),
                losses: trained.losses,
                diverged: trained.diverged,
                train_seconds: trained.train_time.as_secs_f64(),
                prepare_seconds,
                predict_seconds: trained.predict_time.as_secs_f64(),
            };
            finish(k, &run);
            finished.lock().unwrap_or_else(PoisonError::into_inner).push((k, run));
            Ok(())
        };
        let workers = self.workers(model, missing.len(), budget);
        // What is left when every worker has had as many runs shares all threads.
        let (even, rest) = missing.split_at(missing.len() / workers * workers);
        for runs in [even, rest].into_iter().filter(|runs| !runs.is_empty()) {
            let next = AtomicUsize::new(0);
            let work = || -> Result<()> {
                while let Some(&k) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(k).inspect_err(|_| context.cancel().cancel())?;
                }
                Ok(())
            };
            first_failure(Share::of(workers.min(runs.len())).run_all(work).into_iter())?;
        }
        Ok(finished.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Why work failed: the others were only cancelled because of it.
fn first_failure(results: impl Iterator<Item = Result<()>>) -> Result<()> {
    let failures: Vec<Error> = results.filter_map(Result::err).collect();
    let cancelled = |error: &Error| matches!(error, Error::Cancelled);
    let cause = failures.iter().position(|error| !cancelled(error)).unwrap_or(0);
    failures.into_iter().nth(cause).map_or(Ok(()), Err)
}

/// The threads of the current pool, divided among workers.
#[derive(Clone, Copy)]
struct Share {
    workers: usize,
    threads: usize,
}

impl Share {
    /// To be asked for where the work is handed out: a new thread belongs to no pool.
    fn of(workers: usize) -> Self {
        Share { workers, threads: rayon::current_num_threads() / workers }
    }

    /// Has every worker do the same work, each on its share of the threads; the results, the caller's last.
    fn run_all<R: Send>(self, work: impl Fn() -> R + Sync) -> Vec<R> {
        let one = || self.run(&work);
        std::thread::scope(|scope| {
            // Where the system has no more threads to give, those that there are do all of it.
            let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, one).ok();
            let others: Vec<_> = (1..self.workers).filter_map(spawn).collect();
            let mine = one();
            let joined = others.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.chain([mine]).collect()
        })
    }

    /// Runs the work of one worker on threads of its own; of a single worker on the current ones.
    fn run<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        if self.workers == 1 {
            return work();
        }
        match rayon::ThreadPoolBuilder::new().num_threads(self.threads).build() {
            Ok(pool) => pool.install(work),
            // No more threads to be had: the work is done all the same.
            Err(_) => work(),
        }
    }
}
