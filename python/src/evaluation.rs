//! Comparing models over many splits, and searching for the best.

use crate::arrays::nodes;
use crate::dataset::Dataset;
use crate::errors::raise;
use crate::model::filter_params;
use crate::settings::{FilterSettings, Settings};
use crate::work;
use gfgcn::evaluation::Evaluation;
use gfgcn::filter::Filter;
use gfgcn::memory;
use gfgcn::metrics::Summary;
use gfgcn::split::{Ratio, Split};
use gfgcn::tune::Search;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Filtered features are kept below this, so that big graphs leave room for the rest.
const FILTERED_BYTES: u64 = 4 << 30;
const LESS_MEMORY: &str = "use a smaller n_jobs, or a machine with more memory";

/// The splits of an evaluation.
#[derive(FromPyObject)]
pub(crate) enum Splits<'py> {
    /// Training, validation and test nodes, given.
    Given([PyReadonlyArray1<'py, i64>; 3]),
    /// A number of random ones, their ratio, and the seed of the first.
    Random((usize, String, u64)),
}

/// Evaluates filters on splits: one mapping for each, in their order.
#[pyfunction]
#[pyo3(signature = (dataset, filters, settings, splits, largest_component, threads=0))]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    filters: Vec<FilterSettings>,
    settings: Settings,
    splits: Splits<'py>,
    largest_component: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let filters: Vec<Filter> =
        filters.iter().map(FilterSettings::filter).collect::<PyResult<_>>()?;
    let options = settings.options()?;
    let given = match splits {
        Splits::Given(parts) => {
            let [train, validation, test] = parts.map(|part| nodes(&part));
            Ok(Split::new(dataset.dataset.nodes(), train, validation, test).map_err(raise)?)
        }
        Splits::Random((runs, ratio, seed)) => {
            Err((runs, ratio.parse::<Ratio>().map_err(raise)?, seed))
        }
    };
    let data = dataset.dataset.clone();
    let outcomes = work::run(py, threads, move || {
        let part = if largest_component { Some(data.largest_component()) } else { None };
        let data = part.as_ref().unwrap_or(&data);
        let splits = match given {
            Ok(split) => vec![split],
            Err((runs, ratio, seed)) => (0..runs as u64)
                .map(|k| Split::stratified(data.labels(), ratio, seed.wrapping_add(k)))
                .collect::<gfgcn::Result<_>>()?,
        };
        let evaluation =
            Evaluation { filters, splits, options, memory: memory::budget(FILTERED_BYTES) };
        memory::check("the evaluation", evaluation.memory_needed(data), LESS_MEMORY)?;
        evaluation.run(data, &|| ())
    })?;
    let rows = PyList::empty(py);
    for outcome in outcomes {
        let row = PyDict::new(py);
        row.set_item("model", outcome.filter.model_name())?;
        filter_params(&row, outcome.filter)?;
        let Summary { mean, std_error, .. } = outcome.accuracy();
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
/// to expect of that one (accuracy and its standard error, 0 to 1), and how many were tried.
#[pyfunction]
#[pyo3(signature = (dataset, settings, train, threads=0))]
pub(crate) fn tune<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    settings: Settings,
    train: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let search = Search { options: settings.options()?, ..Search::default() };
    let data = dataset.dataset.clone();
    let split = Split::new(data.nodes(), nodes(&train), Vec::new(), Vec::new()).map_err(raise)?;
    let tuned = work::run(py, threads, move || {
        memory::check("the search", search.memory_needed(&data, &split)?, LESS_MEMORY)?;
        search.run(&data, &split, &|| ())
    })?;
    let board = PyList::empty(py);
    for contender in &tuned.board {
        let row = PyDict::new(py);
        row.set_item("model", contender.filter.model_name())?;
        filter_params(&row, contender.filter)?;
        row.set_item("kernel", contender.kernel.to_string())?;
        row.set_item("row_normalize", contender.row_normalize)?;
        row.set_item("lam", contender.lambda)?;
        row.set_item("loo_score", contender.accuracy)?;
        board.append(row)?;
    }
    let result = PyDict::new(py);
    result.set_item("board", board)?;
    result.set_item("chosen", tuned.chosen)?;
    result.set_item("accuracy", tuned.expected.accuracy)?;
    result.set_item("std_error", tuned.expected.std_error)?;
    result.set_item("tried", tuned.tried)?;
    Ok(result)
}
