//! Where the experiments are run: closed forms together, trainings several at a time, and nothing twice.

use crate::subject::{Scope, Subject};
use gfgcn::context::Context;
use gfgcn::evaluation::Evaluation;
use gfgcn::filter::Filter;
use gfgcn::split::Split;
use gfgcn::{Design, Result, Ridge};
use gfgcn_baselines::{Baseline, Cache, Comparison, DataKey, Run, SplitKey, Training};
use serde::{Deserialize, Serialize};

/// What experiments need besides data.
#[derive(Clone)]
pub struct Lab<'a> {
    /// How much is run.
    pub scope: Scope,
    /// Where finished work is kept; without it everything is done anew.
    pub cache: Option<&'a Cache>,
    /// Whether nothing is to be run: what is not finished is left out of the report.
    pub only_finished: bool,
    /// What the work runs under. Its observer is told what is done next, how many epochs of training and solutions
    /// it takes, and after every one of them.
    pub context: Context,
}

/// A closed form over several splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fits {
    pub(crate) filter: Filter,
    /// In percent, one per split.
    pub(crate) accuracies: Vec<f64>,
    pub(crate) lambdas: Vec<f64>,
}

impl Fits {
    pub(crate) fn median_lambda(&self) -> f64 {
        let mut sorted = self.lambdas.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
}

#[derive(Serialize)]
struct FitsKey<'a> {
    data: &'a DataKey,
    filter: Filter,
    ridge: Ridge,
    splits: Vec<SplitKey>,
    /// What computes it, besides the crates below: the design, the objective.
    source: &'static str,
}

impl Lab<'_> {
    /// Evaluates closed forms on some splits of a graph, those that are not known together. None are those
    /// that are not finished and not to be run.
    pub(crate) fn fit(
        &self,
        what: &str,
        subject: &Subject,
        splits: &[Split],
        filters: &[Filter],
        ridge: Ridge,
    ) -> Result<Vec<Option<Fits>>> {
        let key = |filter: Filter| {
            let splits = splits.iter().map(SplitKey::new).collect();
            let source = include_str!("lab.rs");
            FitsKey { data: &subject.key, filter, ridge, splits, source }
        };
        let mut known: Vec<Option<Fits>> =
            filters.iter().map(|&filter| self.cache?.get(&key(filter))).collect();
        let missing: Vec<Filter> = filters
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(&filter, _)| filter)
            .collect();
        if !missing.is_empty() && !self.only_finished {
            self.begin(subject, what, missing.len() * splits.len());
            let designs = missing.into_iter().map(Design::from).collect();
            let evaluation =
                Evaluation { designs, splits: splits.to_vec(), ridge, ..Evaluation::default() };
            let results = evaluation.run(&subject.dataset, &self.context)?;
            let mut fresh = results.into_iter().map(|result| Fits {
                filter: result.design.filter(),
                accuracies: result.accuracies,
                lambdas: result.lambdas,
            });
            for slot in known.iter_mut().filter(|slot| slot.is_none()) {
                let fits = fresh.next().expect("one for every filter that was missing");
                if let Some(cache) = self.cache {
                    cache.put(&key(fits.filter), &fits);
                }
                *slot = Some(fits);
            }
        }
        Ok(known)
    }

    /// Trains a model on some splits of a graph, one run on each, with the seeds from 0 on. Runs that are not
    /// finished and not to be run are missing.
    pub(crate) fn train(
        &self,
        what: &str,
        subject: &Subject,
        splits: &[Split],
        model: Baseline,
        training: Training,
    ) -> Result<Vec<Run>> {
        let comparison = self.comparison(subject, splits, vec![model], training);
        let known = comparison.known(self.cache);
        if self.only_finished {
            return Ok(known.into_runs().swap_remove(0));
        }
        if known.missing() > 0 {
            self.begin(subject, what, known.missing() * training.epochs);
        }
        Ok(comparison.run(known, self.cache, &self.context)?.swap_remove(0).runs)
    }

    pub(crate) fn comparison<'s>(
        &self,
        subject: &'s Subject,
        splits: &[Split],
        models: Vec<Baseline>,
        training: Training,
    ) -> Comparison<'s> {
        let (dataset, splits) = (&subject.dataset, splits.to_vec());
        Comparison { dataset, models, splits, seed: 0, training }
    }

    /// Does work of some steps whose result fits into the cache, unless it is known. None if it is not
    /// finished and not to be done.
    pub(crate) fn once<V: Serialize + for<'de> Deserialize<'de>>(
        &self,
        what: &str,
        subject: &Subject,
        steps: usize,
        key: &impl Serialize,
        work: impl FnOnce() -> Result<V>,
    ) -> Result<Option<V>> {
        let known = self.cache.and_then(|cache| cache.get(key));
        if known.is_some() || self.only_finished {
            return Ok(known);
        }
        self.begin(subject, what, steps);
        let result = work()?;
        if let Some(cache) = self.cache {
            cache.put(key, &result);
        }
        Ok(Some(result))
    }

    /// Whether work is finished whose result fits into the cache.
    pub(crate) fn knows(&self, key: &impl Serialize) -> bool {
        self.cache.is_some_and(|cache| cache.get::<serde_json::Value>(key).is_some())
    }

    fn begin(&self, subject: &Subject, what: &str, steps: usize) {
        let what = format!("{}: {what}", subject.which.title());
        self.context.progress().begin(&what, steps as u64);
    }
}
