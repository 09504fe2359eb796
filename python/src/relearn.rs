//! What a model can do that keeps its training.

use crate::arrays::{array, nodes};
use crate::dataset::Dataset;
use crate::errors::raise;
use crate::model::{KEPT_ON_PROCESSOR, Model};
use crate::targets::GivenTargets;
use crate::work::{self, Workers};
use gfgcn::context::Context;
use gfgcn::graph::EdgeSet;
use gfgcn::matrix::Matrix;
use gfgcn::training::{Changes, Check, Receipt, Relearnt, Removal};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The new model, the data it is trained on, and what has changed.
pub(crate) type Changed<'py> = (Model, Dataset, Bound<'py, PyDict>);

/// What is to be forgotten.
#[derive(FromPyObject)]
pub(crate) enum Forgotten<'py> {
    /// Numbers of nodes, and whether the nodes themselves are.
    Nodes((PyReadonlyArray1<'py, i64>, bool)),
    /// Edges, 2 × their number.
    Edges(PyReadonlyArray2<'py, i64>),
}

impl Forgotten<'_> {
    fn removal(&self) -> Removal {
        match self {
            Forgotten::Nodes((part, true)) => Removal::Nodes(nodes(part)),
            Forgotten::Nodes((part, false)) => Removal::Labels(nodes(part)),
            Forgotten::Edges(ends) => {
                let ends = ends.as_array();
                let pair = |k: usize| (ends[[0, k]] as u32, ends[[1, k]] as u32);
                let edges: EdgeSet = (0..ends.ncols()).map(pair).collect();
                Removal::Edges(vec![(None, edges)])
            }
        }
    }
}

/// A model learns new and corrected labels, on the data as they are now.
#[pyfunction]
#[pyo3(signature = (model, dataset, targets=None, workers=Workers::default()))]
pub(crate) fn update<'py>(
    py: Python<'py>,
    model: &Model,
    dataset: &Dataset,
    targets: Option<GivenTargets<'py>>,
    workers: Workers,
) -> PyResult<Changed<'py>> {
    let targets = targets.map(|targets| targets.targets()).transpose().map_err(raise)?;
    let update =
        |context: &Context| model.model.update(&dataset.dataset, targets.as_ref(), context);
    let workers = workers.only_processor(KEPT_ON_PROCESSOR)?;
    let Relearnt { model, changes, dataset } = work::run(py, workers, update)?;
    Ok((Model { model }, Dataset { dataset }, to_dict(py, changes)?))
}

/// A model forgets labels, nodes or edges of the data it was trained on; with a receipt, as JSON.
#[pyfunction]
#[pyo3(signature = (model, dataset, forgotten, verify=true, workers=Workers::default()))]
pub(crate) fn forget<'py>(
    py: Python<'py>,
    model: &Model,
    dataset: &Dataset,
    forgotten: Forgotten<'py>,
    verify: bool,
    workers: Workers,
) -> PyResult<(Changed<'py>, String)> {
    let (removal, before) = (forgotten.removal(), &dataset.dataset);
    let forget = |context: &Context| {
        let relearnt = model.model.forget(before, &removal, context)?;
        let check = if verify { relearnt.verify(context)? } else { Check::None };
        let (receipt, _) = Receipt::new(&model.model, before, &removal, &relearnt, check)?;
        Ok((relearnt, receipt))
    };
    let workers = workers.only_processor(KEPT_ON_PROCESSOR)?;
    let (Relearnt { model, changes, dataset }, receipt) = work::run(py, workers, forget)?;
    let receipt = serde_json::to_string(&receipt).expect("a receipt has string keys");
    Ok(((Model { model }, Dataset { dataset }, to_dict(py, changes)?), receipt))
}

/// Which classes are plausible at a coverage, smoothed over neighbours by a share, nodes × classes.
#[pyfunction]
#[pyo3(signature = (model, dataset, coverage, share, workers=Workers::default()))]
pub(crate) fn smoothed_sets<'py>(
    py: Python<'py>,
    model: &Model,
    dataset: &Dataset,
    coverage: f64,
    share: f64,
    workers: Workers,
) -> PyResult<Bound<'py, PyArray2<bool>>> {
    let (model, data) = (&model.model, &dataset.dataset);
    let sets = work::run(py, workers, |context| {
        let predictions = model.predict(data, context)?;
        model.smoothed_sets(data, &predictions, coverage, share, context)
    })?;
    let mut mask = Matrix::<bool>::zeros(data.nodes(), model.classes().len());
    for node in 0..data.nodes() {
        sets.set(node).into_iter().for_each(|class| mask[(node, class as usize)] = true);
    }
    array(py, mask)
}

fn to_dict(py: Python<'_>, changes: Changes) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, count) in [
        ("labels_added", Some(changes.labels_added)),
        ("labels_changed", Some(changes.labels_changed)),
        ("labels_removed", Some(changes.labels_removed)),
        ("nodes_added", Some(changes.nodes_added)),
        ("nodes_removed", Some(changes.nodes_removed)),
        ("nodes_changed", Some(changes.nodes_changed)),
        ("rows_computed", changes.rows_computed),
    ] {
        dict.set_item(name, count)?;
    }
    Ok(dict)
}
