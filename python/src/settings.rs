//! What an estimator was asked to be: its parameters as the library's values, and back.

use crate::errors::{called, raise};
use gfgcn::filter::Filter;
use gfgcn::graph::Operator;
use gfgcn::ridge::Selection;
use gfgcn::{Design, Ridge, RowScaling};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;

/// What is computed from graph and features, as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DesignSettings {
    filter: String,
    /// Parameters of filters by name, of which each filter takes its own.
    numbers: HashMap<String, f64>,
    normalization: String,
    row_normalize: bool,
}

impl DesignSettings {
    pub(crate) fn design(&self) -> PyResult<Design> {
        // Also those that this filter does not have: a value that is never right is a mistake.
        for name in ["depth", "tau", "time"] {
            if let Some(&value) = self.numbers.get(name) {
                Filter::check_number(name, value).map_err(raise)?;
            }
        }
        let filter = Filter::named(&self.filter, |name| self.numbers.get(name).copied());
        let rows = if self.row_normalize { RowScaling::Sum } else { RowScaling::Plain };
        let design = Design::from(filter.map_err(raise)?).with_rows(rows);
        Ok(design.with_operator(operator(&self.normalization)?))
    }
}

/// How that is learnt from, as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RidgeSettings {
    kernel: String,
    lam: String,
    fit_intercept: bool,
}

impl RidgeSettings {
    pub(crate) fn ridge(&self) -> PyResult<Ridge> {
        let selection: gfgcn::Result<Selection> = self.lam.parse();
        Ok(Ridge {
            kernel: self.kernel.parse().map_err(raise)?,
            selection: selection.map_err(|error| raise(called("lam", error)))?,
            intercept: self.fit_intercept,
        })
    }
}

/// Â, which Python knows by its normalisation.
pub(crate) fn operator(normalization: &str) -> PyResult<Operator> {
    normalization.parse().map_err(|error| raise(called("normalization", error)))
}

/// Refuses parameters that no filter can have, before there are data.
#[pyfunction]
pub(crate) fn check(design: DesignSettings) -> PyResult<()> {
    design.design().map(drop)
}

/// Adds a filter to the parameters of an estimator.
pub(crate) fn add_filter(params: &Bound<'_, PyDict>, filter: Filter) -> PyResult<()> {
    params.set_item("filter", filter.name())?;
    for (name, value) in filter.parameters() {
        params.set_item(name, value)?;
    }
    // The one that is a whole number to Python.
    params.set_item("depth", filter.depth())
}
