//! How long the trainings take, before they begin.

use crate::lab::Lab;
use crate::part::Part;
use crate::stability;
use crate::subject::{Model, Subject};
use gfgcn::split::Split;
use gfgcn_baselines::{Method, Training};
use std::time::Duration;

/// The depth at which each model is tried: networks take longer in proportion to theirs, linear models
/// do not.
const TRIED: usize = 8;

/// How long the trainings that are not known take, about: those of the accuracies and of the spread over
/// seeds, next to which the other parts take little.
pub fn estimate(lab: &Lab<'_>, subjects: &[Subject], parts: &[Part]) -> Duration {
    if lab.only_finished {
        return Duration::ZERO;
    }
    let wants = |part| parts.contains(&part);
    let accuracies = [Part::Overall, Part::Depth, Part::Accuracy].into_iter().any(wants);
    let spreads = if wants(Part::Stability) { stability::shown(lab.scope, subjects) } else { &[] };
    let mut total = Duration::ZERO;
    for subject in subjects {
        let spread = spreads.iter().any(|of_spread| of_spread.which == subject.which);
        for model in Model::ALL {
            let mut runs = 0.0;
            if accuracies {
                let splits = &subject.splits[..lab.scope.runs(model)];
                runs += missing(lab, subject, splits, model);
            }
            if spread {
                let seeds = stability::seeds(lab.scope, subject, model);
                runs += missing(lab, subject, &seeds, model);
            }
            if runs > 0.0 {
                total += one(lab, subject, model).mul_f64(runs);
            }
        }
    }
    total
}

/// Runs of a model that are not known, each counted by what it takes relative to one at the depth that is
/// tried.
fn missing(lab: &Lab<'_>, subject: &Subject, splits: &[Split], model: Model) -> f64 {
    let of_depth = |&depth: &usize| {
        let Method::Trained(baseline) = model.at(depth) else { return 0.0 };
        let comparison = lab.comparison(subject, splits, vec![baseline], Training::default());
        let longer = if model.is_network() { depth as f64 / TRIED as f64 } else { 1.0 };
        comparison.known(lab.cache).missing() as f64 * longer
    };
    lab.scope.depths(model).iter().map(of_depth).sum()
}

/// What one run takes of the machine, with as many going on at a time as in the experiments.
fn one(lab: &Lab<'_>, subject: &Subject, model: Model) -> Duration {
    let Method::Trained(baseline) = model.at(TRIED) else { return Duration::ZERO };
    let splits = &subject.splits[..lab.scope.runs(model)];
    let comparison = lab.comparison(subject, splits, vec![baseline], Training::default());
    comparison.estimate(&comparison.known(None), &lab.context) / splits.len() as u32
}
