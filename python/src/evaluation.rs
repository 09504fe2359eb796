//! Comparing models over many splits, and searching for the best.

use crate::arrays::nodes;
use crate::dataset::Dataset;
use crate::errors::raise;
use crate::settings::{DesignSettings, RidgeSettings, add_filter, operator};
use crate::work;
use gfgcn::evaluation::Evaluation;
use gfgcn::head::Objective;
use gfgcn::metrics::Summary;
use gfgcn::split::{Ratio, Split};
use gfgcn::tune::Search;
use gfgcn::{Design, RowScaling};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Evaluates designs on splits: one mapping for each, in their order. The splits are random (their number,
/// their ratio, and the seed of the first) unless training, validation and test nodes are given.
#[pyfunction]
#[pyo3(signature = (dataset, designs, ridge, random, given, largest_component, threads=0))]
#[allow(clippy::too_many_arguments)] // Python's side names them
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    designs: Vec<DesignSettings>,
    ridge: RidgeSettings,
    random: (usize, String, u64),
    given: Option<[PyReadonlyArray1<'py, i64>; 3]>,
    largest_component: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let designs: Vec<Design> =
        designs.iter().map(DesignSettings::design).collect::<PyResult<_>>()?;
    let ridge = ridge.ridge()?;
    let (runs, ratio, seed) = random;
    let ratio: Ratio = ratio.parse().map_err(raise)?;
    let given = match given {
        Some(parts) => {
            let [train, validation, test] = parts.map(|part| nodes(&part));
            Some(Split::new(dataset.dataset.nodes(), train, validation, test).map_err(raise)?)
        }
        None => None,
    };
    let outcomes = work::run(py, threads, |context| {
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
                    Split::stratified(data.labels(), ratio, seed.wrapping_add(k))
                })
                .collect::<gfgcn::Result<_>>()?,
        };
        Evaluation { designs, splits, ridge, objective: Objective::default() }.run(data, context)
    })?;
    let rows = PyList::empty(py);
    for outcome in outcomes {
        let row = PyDict::new(py);
        let filter = outcome.design.filter();
        row.set_item("model", filter.model_name())?;
        add_filter(&row, filter)?;
        let Summary { mean, std_error, .. } = outcome.score();
        row.set_item("accuracy", mean)?;
        row.set_item("std_error", std_error)?;
        row.set_item("lam", outcome.lambda_median())?;
        row.set_item("accuracies", PyArray1::from_slice(py, &outcome.accuracies))?;
        let times = outcome.times;
        row.set_item("seconds", (times.propagate + times.fit + times.predict).as_secs_f64())?;
        rows.append(row)?;
    }
    Ok(rows)
}

/// Searches filter, kernel, row normalisation and λ on some nodes: the board, which of it was chosen, what
/// to expect of that one (accuracy, its standard error and 95 % interval, 0 to 1), and how many were tried.
#[pyfunction]
#[pyo3(signature = (dataset, normalization, fit_intercept, train, threads=0))]
pub(crate) fn tune<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    normalization: &str,
    fit_intercept: bool,
    train: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let search = Search { intercept: fit_intercept, ..Search::default() };
    let search = search.with_operator(operator(normalization)?);
    let data = &dataset.dataset;
    let split = Split::new(data.nodes(), nodes(&train), Vec::new(), Vec::new()).map_err(raise)?;
    let tuned = work::run(py, threads, |context| search.run(data, &split, context))?;
    let board = PyList::empty(py);
    for contender in &tuned.board {
        let row = PyDict::new(py);
        let channel = &contender.design.channels()[0];
        row.set_item("model", channel.filter.model_name())?;
        add_filter(&row, channel.filter)?;
        row.set_item("kernel", contender.kernel.to_string())?;
        row.set_item("row_normalize", channel.rows == RowScaling::Sum)?;
        row.set_item("lam", contender.lambda)?;
        row.set_item("loo_score", contender.accuracy)?;
        board.append(row)?;
    }
    let result = PyDict::new(py);
    result.set_item("board", board)?;
    result.set_item("chosen", tuned.chosen)?;
    result.set_item("accuracy", tuned.expected.accuracy)?;
    result.set_item("std_error", tuned.expected.std_error)?;
    result.set_item("interval", tuned.expected.interval)?;
    result.set_item("tried", tuned.tried)?;
    Ok(result)
}
