//! How long the trainings take, before they begin.

use crate::lab::Lab;
use crate::part::Part;
use crate::published::Published;
use crate::subject::{Model, Subject};
use crate::{ablation, differences, stability, time};
use gfgcn::split::Split;
use gfgcn_baselines::{Baseline, Method, Trainer, Training};
use std::time::Duration;

/// The depths at which networks are tried; others are on the line through these. Linear models take as long at any depth.
const TRIED: [usize; 2] = [4, 16];

/// How long the trainings that are not known take, about: all but those of the gradients, which take little.
pub fn estimate(lab: &Lab<'_>, subjects: &[Subject], parts: &[Part]) -> Duration {
    if lab.only_finished {
        return Duration::ZERO;
    }
    let (published, wants) = (Published::load(), |part| parts.contains(&part));
    let accuracies = Part::OF_ACCURACIES.into_iter().any(wants);
    let spreads = if wants(Part::Stability) { stability::shown(lab.scope, subjects) } else { &[] };
    let mut total = 0.0;
    for subject in subjects {
        let other_settings = if wants(Part::Differences) {
            // What cannot be read from the cache is to be run, and the run says why.
            differences::missing(lab, subject, &published).unwrap_or_default()
        } else {
            Vec::new()
        };
        let times = if wants(Part::Time) && Part::Time.is_about(subject.which) {
            time::missing(lab, subject)
        } else {
            Vec::new()
        };
        let spread = spreads.iter().any(|of_spread| of_spread.which == subject.which);
        for model in Model::ALL {
            let mut cells = Vec::new();
            for &depth in lab.scope.depths(model) {
                let mut own = 0.0;
                if accuracies {
                    let splits = subject.splits_of(lab.scope, model, depth);
                    own += rounds(lab, subject, splits, model, depth);
                }
                if spread {
                    // The first of them, on the first split, is one of the others; that is little.
                    let seeds = stability::seeds(lab.scope, subject, model, depth);
                    own += rounds(lab, subject, &seeds, model, depth);
                }
                if own > 0.0 && !diverges_at_once(lab, subject, model, depth) {
                    cells.push((depth, own));
                }
            }
            let others = other_settings.iter().filter(|(of_model, ..)| *of_model == model);
            cells.extend(others.map(|&(_, depth, rounds)| (depth, rounds)));
            total += seconds(lab, subject, model, &cells, subject.splits.len());
            // These run alone, each on all threads.
            let alone = times.iter().filter(|(of_model, _)| *of_model == model);
            let alone: Vec<(usize, f64)> = alone.map(|&(_, depth)| (depth, 1.0)).collect();
            total += seconds(lab, subject, model, &alone, 1);
        }
        if wants(Part::Ablation) {
            let (baseline, training, runs) = ablation::missing(lab, subject);
            let comparison = lab.comparison(subject, &subject.splits, vec![baseline], training);
            let rounds = runs.iter().map(|&runs| comparison.rounds(baseline, runs, &lab.context));
            let rounds: f64 = rounds.sum();
            if rounds > 0.0
                && let Some(run) = comparison.estimate_run(baseline, &lab.context)
            {
                total += run.as_secs_f64() * rounds;
            }
        }
    }
    Duration::from_secs_f64(total)
}

fn rounds(lab: &Lab<'_>, subject: &Subject, splits: &[Split], model: Model, depth: usize) -> f64 {
    let Method::Trained(baseline) = model.at(depth) else { return 0.0 };
    rounds_of(lab, subject, splits, baseline, Training::default())
}

/// How many times as long as one run those take that are not known.
pub(crate) fn rounds_of(
    lab: &Lab<'_>,
    subject: &Subject,
    splits: &[Split],
    baseline: Baseline,
    training: Training,
) -> f64 {
    let comparison = lab.comparison(subject, splits, vec![baseline], training);
    match comparison.known(lab.cache).missing() {
        0 => 0.0,
        missing => comparison.rounds(baseline, missing, &lab.context),
    }
}

/// Seconds of some rounds of a model at each depth, with so many runs to be divided among the threads.
fn seconds(
    lab: &Lab<'_>,
    subject: &Subject,
    model: Model,
    rounds: &[(usize, f64)],
    runs: usize,
) -> f64 {
    if rounds.iter().all(|&(_, rounds)| rounds == 0.0) {
        return 0.0;
    }
    let splits = &subject.splits[..runs];
    let run = |depth: usize| {
        let Method::Trained(baseline) = model.at(depth) else { return 0.0 };
        one(lab, subject, splits, baseline)
    };
    let [shallow, deep] = TRIED;
    let [at_shallow, at_deep] = if model.is_network() { TRIED.map(run) } else { [run(shallow); 2] };
    let slope = (at_deep - at_shallow) / (deep - shallow) as f64;
    let of_depth = |depth: usize| at_deep + slope * (depth as f64 - deep as f64);
    // A network of two layers takes something, whatever the line says.
    rounds.iter().map(|&(depth, rounds)| of_depth(depth).max(at_shallow / 4.0) * rounds).sum()
}

/// Whether the first loss of a deep network is not a finite number, which ends its runs.
fn diverges_at_once(lab: &Lab<'_>, subject: &Subject, model: Model, depth: usize) -> bool {
    let Method::Trained(baseline) = model.at(depth) else { return false };
    if !model.is_network() || depth <= TRIED[1] {
        return false;
    }
    let splits = &subject.splits[..1];
    let training = Training { epochs: 1, ..Training::default() };
    // The observer does not wait for this epoch.
    let context = &lab.context.clone().with_progress(Default::default());
    let trained = Trainer::new(&subject.dataset, baseline, training, splits, context)
        .and_then(|trainer| trainer.train(&splits[0], 0, context));
    trained.is_ok_and(|trained| trained.diverged == Some(0))
}

/// Seconds of one run, beside as many others as in the experiments.
fn one(lab: &Lab<'_>, subject: &Subject, splits: &[Split], baseline: Baseline) -> f64 {
    let comparison = lab.comparison(subject, splits, vec![baseline], Training::default());
    comparison.estimate_run(baseline, &lab.context).unwrap_or_default().as_secs_f64()
}
