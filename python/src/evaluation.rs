//! Comparing models over many splits.

use crate::arrays::nodes;
use crate::dataset::Dataset;
use crate::errors::raise;
use crate::settings::{DesignSettings, ObjectiveSettings, RidgeSettings, add_filter, operator};
use crate::work::{self, Workers};
use gfgcn::Design;
use gfgcn::calibration::Calibrated;
use gfgcn::evaluation::{Evaluated, Evaluation};
use gfgcn::metrics::{Metric, Summary};
use gfgcn::split::{Ratio, Split};
use gfgcn::tune::{Search, Searched};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Evaluates designs on splits, and the search where none is given in place of a design: one mapping for each, in their
/// order. The splits are random (their number, their ratio, and the seed of the first) unless training, validation and test
/// nodes are given.
#[pyfunction]
#[pyo3(signature = (dataset, designs, normalization, ridge, objective, random, given, largest_component, calibrates, workers=Workers::default()))]
#[allow(clippy::too_many_arguments)] // Python's side names them
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    designs: Vec<Option<DesignSettings>>,
    normalization: &str,
    ridge: RidgeSettings,
    objective: ObjectiveSettings,
    random: (usize, String, u64),
    given: Option<[PyReadonlyArray1<'py, i64>; 3]>,
    largest_component: bool,
    calibrates: bool,
    workers: Workers,
) -> PyResult<Bound<'py, PyList>> {
    let designs: Vec<Option<Design>> = designs
        .iter()
        .map(|design| design.as_ref().map(DesignSettings::design).transpose())
        .collect::<PyResult<_>>()?;
    let ridge = ridge.ridge()?;
    let objective = objective.objective(dataset.dataset.targets().kind())?;
    let search = Search {
        operator: operator(normalization)?,
        intercept: ridge.intercept,
        objective: objective.clone(),
        ..Search::default()
    };
    let (runs, ratio, seed) = random;
    let ratio: Ratio = ratio.parse().map_err(raise)?;
    let given = match given {
        Some(parts) => {
            let [train, validation, test] = parts.map(|part| nodes(&part));
            Some(Split::new(dataset.dataset.nodes(), train, validation, test).map_err(raise)?)
        }
        None => None,
    };
    let (found, searched) = work::run(py, workers.on(&dataset.dataset), |context| {
        if largest_component {
            let remedy = "use a machine with more memory, or all nodes";
            let needed = dataset.dataset.memory();
            context.memory().check("taking the largest component", needed, remedy)?;
        }
        let part = largest_component.then(|| dataset.dataset.largest_component());
        let data = part.as_ref().unwrap_or(&dataset.dataset);
        let splits = match given {
            Some(split) => vec![split],
            None => (0..runs as u64)
                .map(|k| {
                    context.check()?;
                    Split::random(data.targets(), ratio, seed.wrapping_add(k))
                })
                .collect::<gfgcn::Result<_>>()?,
        };
        let searches = designs.iter().any(Option::is_none);
        let searched = match searches {
            true => Some(search.evaluate(data, &splits, context)?),
            false => None,
        };
        let named: Vec<Design> = designs.iter().flatten().cloned().collect();
        let evaluation = Evaluation { designs: named, splits, ridge, objective, calibrates };
        Ok((evaluation.run(data, context)?, searched))
    })?;
    let mut found = found.iter();
    let rows = PyList::empty(py);
    for design in &designs {
        let row = match design {
            Some(_) => found.next().map(|outcome| of_design(py, outcome)),
            None => searched.as_ref().map(|outcome| of_search(py, outcome, calibrates)),
        };
        rows.append(row.expect("one outcome for each")?)?;
    }
    Ok(rows)
}

fn of_design<'py>(py: Python<'py>, outcome: &Evaluated) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    let filter = outcome.design.filter();
    row.set_item("model", filter.model_name())?;
    add_filter(&row, filter)?;
    if filter.depth() == 0 {
        row.set_item("depth", py.None())?;
    }
    add_scores(&row, outcome.metric, &outcome.scores, &outcome.accuracies)?;
    row.set_item("lam", outcome.lambda_median())?;
    outcome.calibrated.iter().try_for_each(|calibrated| add_calibration(&row, calibrated))?;
    let times = outcome.times;
    row.set_item("seconds", (times.propagate + times.fit + times.predict).as_secs_f64())?;
    Ok(row)
}

fn of_search<'py>(
    py: Python<'py>,
    outcome: &Searched,
    calibrates: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("model", "auto")?;
    row.set_item("filter", py.None())?;
    row.set_item("depth", py.None())?;
    add_scores(&row, outcome.metric, &outcome.scores, &outcome.accuracies)?;
    row.set_item("lam", py.None())?;
    if calibrates {
        add_calibration(&row, &outcome.calibrated)?;
    }
    row.set_item("seconds", (outcome.fit + outcome.predict).as_secs_f64())?;
    row.set_item("stacked", outcome.stacked)?;
    Ok(row)
}

/// Of probabilities the expected calibration error, and of each coverage what is really inside, in percent, and how large a
/// set or an interval is.
fn add_calibration(row: &Bound<'_, PyDict>, calibrated: &Calibrated) -> PyResult<()> {
    if let Some(error) = calibrated.expected_error() {
        row.set_item("calibration_error", error.mean)?;
    }
    for covered in &calibrated.covered {
        let percent = (100.0 * covered.coverage).round();
        row.set_item(format!("coverage_{percent}"), covered.share().mean)?;
        row.set_item(format!("size_{percent}"), covered.size().mean)?;
    }
    Ok(())
}

/// Mean and spread over the splits, of the metric and where that is another of the accuracy; shares in percent.
fn add_scores(
    row: &Bound<'_, PyDict>,
    metric: Metric,
    scores: &[f64],
    accuracies: &[f64],
) -> PyResult<()> {
    let Summary { mean, std_error, .. } = Summary::of(scores);
    if metric != Metric::Accuracy {
        row.set_item("metric", metric.to_string())?;
        row.set_item("score", mean)?;
        row.set_item("scores", PyArray1::from_slice(row.py(), scores))?;
    }
    if !accuracies.is_empty() {
        row.set_item("accuracy", Summary::of(accuracies).mean)?;
        row.set_item("accuracies", PyArray1::from_slice(row.py(), accuracies))?;
    }
    row.set_item("std_error", std_error)
}
