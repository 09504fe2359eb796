//! Training the models that have no closed form: slowly, so what is done is kept and said.

use crate::output::{Output, count, seconds};
use crate::progress::{self, Unit};
use gfgcn::Result;
use gfgcn_baselines::{Cache, Comparison, ModelRuns};
use std::time::Duration;

/// What takes longer is announced.
const LONG: Duration = Duration::from_secs(60);

/// Trains every model on every split, or finds it in the cache.
pub(super) fn run(
    comparison: &Comparison<'_>,
    cache: Option<&Cache>,
    output: &Output,
) -> Result<Vec<ModelRuns>> {
    let known = comparison.known(cache);
    let missing = known.missing();
    if missing > 0 {
        let estimate = progress::show(output, "trying a few epochs", Unit::Time, |context| {
            comparison.estimate(&known, context)
        });
        if estimate > LONG {
            let kept = if cache.is_some() {
                "; finished runs are kept, so it can be interrupted and resumed"
            } else {
                ""
            };
            output.note(format!(
                "{} to train, which takes about {}{kept}",
                count(missing, "model is", "models are"),
                seconds(estimate)
            ));
        }
    }
    let outcomes = progress::show(output, "training", Unit::Steps, |context| {
        context.progress().begin("training", (missing * comparison.training.epochs) as u64);
        comparison.run(known, cache, context)
    })?;
    if let Some(problem) = cache.and_then(Cache::take_problem) {
        output.warn(format!("finished runs could not be kept: {problem}"));
    }
    for outcome in &outcomes {
        if let Some((runs, epoch)) = outcome.diverged() {
            output.warn(diverged(comparison, outcome, runs, epoch));
        }
    }
    Ok(outcomes)
}

fn diverged(comparison: &Comparison<'_>, outcome: &ModelRuns, runs: usize, epoch: usize) -> String {
    let counts = match comparison.training.patience {
        Some(_) => "what was best before counts",
        None => "what it predicts then counts, the same class for all nodes",
    };
    format!(
        "training {} at depth {} diverged in {runs} of {}, first in epoch {}: its loss was no longer finite, \
         and {counts}; use a smaller --learning-rate, or --row-normalize",
        outcome.model.name(),
        outcome.model.depth(),
        count(outcome.runs.len(), "run", "runs"),
        epoch + 1
    )
}
