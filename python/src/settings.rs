//! What an estimator was asked to be, from its parameters.

use crate::errors::raise;
use gfgcn::filter::{Filter, MAX_DEPTH};
use gfgcn::graph::Normalization;
use gfgcn::ridge::Selection;
use gfgcn::{Error, Options, Result};
use pyo3::prelude::*;
use std::fmt::Display;

/// A filter, as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FilterSettings {
    filter: String,
    depth: i64,
    tau: f64,
    time: f64,
}

impl FilterSettings {
    pub(crate) fn filter(&self) -> PyResult<Filter> {
        self.checked().map_err(raise)
    }

    fn checked(&self) -> Result<Filter> {
        let depth = usize::try_from(self.depth).map_err(|_| {
            let expected = format!("a whole number from 1 to {MAX_DEPTH}");
            Error::parameter("depth", self.depth, expected)
        })?;
        match self.filter.as_str() {
            "sgc" => Filter::sgc(depth),
            "ssgc" => Filter::ssgc(depth, self.tau),
            "dgc" => Filter::dgc(depth, self.time),
            other => Err(Error::parameter("filter", other, "sgc, ssgc or dgc")),
        }
    }
}

/// Refuses parameters that no model can have, before there are data.
#[pyfunction]
pub(crate) fn check(filter: FilterSettings, settings: Settings) -> PyResult<()> {
    filter.filter().and_then(|_| settings.options()).map(drop)
}

/// Everything else that decides a model, as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    kernel: String,
    lam: Lambda,
    normalization: String,
    row_normalize: bool,
    fit_intercept: bool,
}

/// `"loo"`, `"validation"` or a number.
#[derive(FromPyObject)]
enum Lambda {
    ChosenBy(String),
    Given(f64),
}

impl Settings {
    pub(crate) fn options(&self) -> PyResult<Options> {
        self.checked().map_err(raise)
    }

    fn checked(&self) -> Result<Options> {
        let refused = |value: &dyn Display| {
            Error::parameter("lam", value, "loo, validation or a positive finite number")
        };
        let selection = match &self.lam {
            Lambda::Given(lambda) => Selection::fixed(*lambda).map_err(|_| refused(lambda))?,
            Lambda::ChosenBy(how) => match how.as_str() {
                "loo" => Selection::LeaveOneOut,
                "validation" => Selection::Validation,
                _ => return Err(refused(how)),
            },
        };
        Ok(Options {
            kernel: self.kernel.parse()?,
            selection,
            normalization: self.normalization.parse::<Normalization>()?,
            row_normalize: self.row_normalize,
            intercept: self.fit_intercept,
            ..Options::default()
        })
    }
}
