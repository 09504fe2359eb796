//! What an estimator was asked to be: its parameters as the library's values, and back.

use crate::errors::{called, raise};
use gfgcn::data::TargetKind;
use gfgcn::filter::Filter;
use gfgcn::graph::Operator;
use gfgcn::head::{ClassWeights, Objective};
use gfgcn::ridge::Selection;
use gfgcn::{Design, Ridge, RowScaling};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;

/// What is computed from graph and features: the library's text form, or a filter by its name and parameters.
#[derive(FromPyObject)]
pub(crate) enum DesignSettings {
    Text(String),
    Filter(FilterSettings),
}

/// A filter, as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FilterSettings {
    filter: String,
    /// Parameters of filters by name, of which each filter takes its own.
    numbers: HashMap<String, f64>,
    normalization: String,
    row_normalize: bool,
}

impl DesignSettings {
    pub(crate) fn design(&self) -> PyResult<Design> {
        match self {
            DesignSettings::Text(text) => text.parse().map_err(raise),
            DesignSettings::Filter(settings) => settings.design(),
        }
    }
}

impl FilterSettings {
    fn design(&self) -> PyResult<Design> {
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

/// What it should be good at, as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ObjectiveSettings {
    metric: Option<String>,
    /// By the name of the class; none for equal ones.
    class_weight: Option<Weighting>,
}

#[derive(FromPyObject)]
enum Weighting {
    /// `balanced`.
    Named(String),
    Given(Vec<(String, f64)>),
}

impl ObjectiveSettings {
    /// For targets of a kind.
    pub(crate) fn objective(self, kind: TargetKind) -> PyResult<Objective> {
        let class_weights = match self.class_weight {
            None => Ok(ClassWeights::Equal),
            Some(Weighting::Named(name)) => name.parse(),
            Some(Weighting::Given(weights)) => Ok(ClassWeights::Given(weights)),
        };
        let metric = self.metric.map(|metric| metric.parse()).transpose();
        let objective = Objective {
            metric: metric.map_err(|error| raise(called("scoring", error)))?,
            class_weights: class_weights.map_err(|error| raise(called("class_weight", error)))?,
        };
        objective.metric_for(kind).map_err(|error| raise(called("scoring", error)))?;
        Ok(objective)
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

/// Adds a design to the parameters of an estimator: by its filter where that says all, as text otherwise.
pub(crate) fn add_design(params: &Bound<'_, PyDict>, design: &Design) -> PyResult<()> {
    if let [channel] = design.channels()
        && let Some(text) = plain_operator(&channel.operator)
        && Filter::NAMES.contains(&channel.filter.name())
        && channel.rows != RowScaling::Unit
        && *design
            == Design::from(channel.filter)
                .with_rows(channel.rows)
                .with_operator(channel.operator.clone())
    {
        add_filter(params, channel.filter)?;
        params.set_item("normalization", text)?;
        return params.set_item("row_normalize", channel.rows == RowScaling::Sum);
    }
    params.set_item("design", design.to_string())
}

/// One of the paper's operators by its name.
fn plain_operator(operator: &Operator) -> Option<String> {
    Operator::PAPERS.contains(operator).then(|| operator.to_string())
}
