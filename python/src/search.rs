//! The search for the best model.

use crate::arrays::{Sample, split};
use crate::dataset::Dataset;
use crate::model::{KEPT_ON_PROCESSOR, Model, Predicted, predicted};
use crate::settings::{ObjectiveSettings, operator};
use crate::work::{self, Workers};
use gfgcn::tune::{Search, Tuned};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Chooses everything on some nodes by exact leave-one-out: the model, its predictions of every node, and what was found.
#[pyfunction]
#[pyo3(signature = (dataset, normalization, fit_intercept, objective, train, keep=false, workers=Workers::default()))]
#[allow(clippy::too_many_arguments)] // Python's side names them
pub(crate) fn search<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    normalization: &str,
    fit_intercept: bool,
    objective: ObjectiveSettings,
    train: Sample<'py>,
    keep: bool,
    workers: Workers,
) -> PyResult<(Model, Predicted<'py>, Bound<'py, PyDict>)> {
    let data = &dataset.dataset;
    let search = Search {
        operator: operator(normalization)?,
        intercept: fit_intercept,
        objective: objective.objective(data.targets().kind())?,
        ..Search::default()
    };
    let split = split(data.nodes(), &train, Vec::new())?;
    let workers = if keep { workers.only_processor(KEPT_ON_PROCESSOR)? } else { workers.on(data) };
    let (tuned, predictions) = work::run(py, workers, |context| {
        let tuned = match keep {
            true => search.run_keeping(data, &split, context)?,
            false => search.run(data, &split, context)?,
        };
        let predictions = tuned.model.predict(data, context)?;
        Ok((tuned, predictions))
    })?;
    let found = report(py, &tuned)?;
    Ok((Model { model: tuned.model }, predicted(py, &predictions)?, found))
}

/// What a search found, besides the model. Scores are those of the metric, not in percent.
fn report<'py>(py: Python<'py>, tuned: &Tuned) -> PyResult<Bound<'py, PyDict>> {
    let board = PyList::empty(py);
    for contender in &tuned.board {
        let row = PyDict::new(py);
        row.set_item("name", &contender.name)?;
        row.set_item("design", contender.design.as_ref().map(ToString::to_string))?;
        row.set_item("kernel", contender.kernel.to_string())?;
        row.set_item("lam", contender.lambda)?;
        row.set_item("loo_score", contender.score)?;
        row.set_item("weight", contender.weight)?;
        board.append(row)?;
    }
    let times = PyDict::new(py);
    for (stage, time) in [
        ("screening", tuned.times.screening),
        ("learning", tuned.times.learning),
        ("stacking", tuned.times.stacking),
        ("composing", tuned.times.composing),
    ] {
        times.set_item(stage, time.as_secs_f64())?;
    }
    let found = PyDict::new(py);
    found.set_item("board", board)?;
    found.set_item("stacked", tuned.stacked)?;
    found.set_item("metric", tuned.metric.to_string())?;
    found.set_item("description", tuned.metric.description())?;
    found.set_item("is_share", tuned.metric.is_share())?;
    found.set_item("score", tuned.score)?;
    let expected = tuned.expected.map(|e| (e.score, e.std_error, e.interval));
    found.set_item("expected", expected)?;
    found.set_item("shares", tuned.shares.clone())?;
    found.set_item("own_features_suffice", tuned.own_features_suffice)?;
    found.set_item("left_out", tuned.left_out.clone())?;
    found.set_item("sample", tuned.sample)?;
    found.set_item("seconds", times)?;
    Ok(found)
}
