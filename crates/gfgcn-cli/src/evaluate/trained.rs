//! Training the models that have no closed form: slowly, so what is done is kept and said.

use crate::output::{Output, count, seconds};
use crate::progress::{self, Unit};
use gfgcn::Result;
use gfgcn::memory;
use gfgcn_baselines::{Cache, Comparison, Outcome};
use std::time::Duration;

/// What takes longer is announced.
const LONG: Duration = Duration::from_secs(60);
/// Runs that go on at a time take no more than this together, unless one alone does.
pub(super) const RUN_BYTES: u64 = 8 << 30;

/// Trains every model on every split, or finds it in the cache.
pub(super) fn run(
    comparison: &Comparison<'_>,
    cache: Option<&Cache>,
    output: &Output,
) -> Result<Vec<Outcome>> {
    let known = comparison.known(cache);
    memory::check(
        "the training",
        comparison.memory_needed(&known),
        "use smaller --depths or --hidden, or a machine with more memory",
    )?;
    let missing = known.missing();
    if missing > 0 {
        let estimate = progress::show(output, "trying a few epochs", Unit::Time, |_| {
            comparison.estimate(&known)
        });
        if estimate > LONG {
            let kept = if cache.is_some() {
                "; finished runs are kept, so it can be stopped and taken up again"
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
    let outcomes = progress::show(output, "training", Unit::Steps, |progress| {
        progress.set_total((missing * comparison.training.epochs) as u64);
        comparison.run(known, cache, &|| progress.advance())
    })?;
    if let Some(problem) = cache.and_then(Cache::take_problem) {
        output.warn(format!("finished runs could not be kept: {problem}"));
    }
    Ok(outcomes)
}
