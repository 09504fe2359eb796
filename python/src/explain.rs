//! Why a score is what it is, and which labels look wrong.

use crate::arrays::nodes;
use crate::dataset::Dataset;
use crate::errors::raise;
use crate::model::Model;
use crate::settings::{DesignSettings, ObjectiveSettings, RidgeSettings, operator};
use crate::work::{self, Workers};
use gfgcn::Classifier;
use gfgcn::audit::{Audit, Doubt};
use gfgcn::context::Context;
use gfgcn::data::TargetKind;
use gfgcn::explain::{Cause, Reasons, View};
use gfgcn::split::Split;
use gfgcn::tune::Search;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The terms of the mean score of some nodes, by view: what a term comes from (a word and a number or name) and its value.
#[pyfunction]
#[pyo3(signature = (model, dataset, nodes, class_=None, workers=Workers::default()))]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    model: &Model,
    dataset: &Dataset,
    nodes: PyReadonlyArray1<'py, i64>,
    class_: Option<usize>,
    workers: Workers,
) -> PyResult<Bound<'py, PyDict>> {
    let (model, nodes) = (&model.model, crate::arrays::nodes(&nodes));
    let explain = |context: &Context| model.explain_mean(&dataset.dataset, &nodes, context);
    let reasons = work::run(py, workers, explain)?;
    let class = class_.unwrap_or_else(|| reasons.predicted());
    let why = PyDict::new(py);
    why.set_item("class", class)?;
    why.set_item("score", reasons.score(class))?;
    why.set_item("constant", reasons.constant(class))?;
    let probability = match model.head().kind() {
        TargetKind::Values => None,
        TargetKind::Classes | TargetKind::Sets => {
            Some(reasons.probabilities(model.calibration())[class])
        }
    };
    why.set_item("probability", probability)?;
    why.set_item("notes", reasons.notes().to_vec())?;
    for (name, view) in [
        ("channels", View::Channels),
        ("features", View::Features),
        ("nodes", View::Nodes),
        ("labelled", View::Labelled),
    ] {
        let terms = reasons.has(view).then(|| terms(py, model, &reasons, view, class));
        why.set_item(name, terms.transpose()?)?;
    }
    Ok(why)
}

/// The labelled nodes, the most influential first, with how much each has to do with what is predicted; `None` where the model
/// does not know on these data.
#[pyfunction]
#[pyo3(signature = (model, dataset, workers=Workers::default()))]
pub(crate) fn influence(
    py: Python<'_>,
    model: &Model,
    dataset: &Dataset,
    workers: Workers,
) -> PyResult<Option<Vec<(usize, f64)>>> {
    let (model, data) = (&model.model, &dataset.dataset);
    let influence = work::run(py, workers.on(data), |context| model.influence(data, context))?;
    Ok((!influence.is_empty()).then_some(influence))
}

fn terms<'py>(
    py: Python<'py>,
    model: &gfgcn::Model,
    reasons: &Reasons,
    view: View,
    class: usize,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (cause, value) in reasons.terms(view, class) {
        let member = |k: usize| &model.members()[k];
        match cause {
            Cause::Channel { member: k, channel } => {
                let name = member(k).design().channels()[channel].to_string();
                list.append(("channel", name, value))?;
            }
            Cause::Member(k) => {
                let name = format!("{} ({} kernel)", member(k).design(), member(k).ridge().kernel);
                list.append(("channel", name, value))?;
            }
            Cause::Feature(k) => list.append(("feature", k, value))?,
            Cause::Link(k) => list.append(("link", k, value))?,
            Cause::Degree(k) => list.append(("degree", k, value))?,
            Cause::Node(k) => list.append(("node", k, value))?,
            Cause::Labelled(k) => list.append(("labelled", k, value))?,
        }
    }
    Ok(list)
}

/// How a model is trained: a design with its ridge, or the normalisation and the constants of a search.
#[derive(FromPyObject)]
pub(crate) enum How {
    Described((DesignSettings, RidgeSettings)),
    Searched((String, bool)),
}

/// Labels that are not what is expected of their nodes, the most surprising first: node, what is given and expected, the
/// probability of what is given, and how surprising it is. Classes, labels and columns are positions among the names that
/// come with it.
#[pyfunction]
#[pyo3(signature = (dataset, how, objective, train, validation, workers=Workers::default()))]
pub(crate) fn audit<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    how: How,
    objective: ObjectiveSettings,
    train: PyReadonlyArray1<'py, i64>,
    validation: PyReadonlyArray1<'py, i64>,
    workers: Workers,
) -> PyResult<(Bound<'py, PyList>, Vec<String>)> {
    let data = &dataset.dataset;
    let objective = objective.objective(data.targets().kind())?;
    let split = Split::new(data.nodes(), nodes(&train), nodes(&validation), Vec::new());
    let split = split.map_err(raise)?;
    let audit: Audit = match how {
        How::Described((design, ridge)) => {
            let (design, ridge) = (design.design()?, ridge.ridge()?);
            let classifier = Classifier { design, ridge, objective };
            work::run(py, workers.on(data), |context| classifier.audit(data, &split, context))?
        }
        How::Searched((normalization, intercept)) => {
            let operator = operator(&normalization)?;
            let search = Search { operator, intercept, objective, ..Search::default() };
            work::run(py, workers.on(data), |context| search.audit(data, &split, context))?
        }
    };
    let list = PyList::empty(py);
    for suspect in &audit.suspects {
        let (node, surprise) = (suspect.node, suspect.surprise);
        match suspect.doubt {
            Doubt::Class { given, expected, probability, .. } => {
                list.append((node, given, expected, probability, surprise))?;
            }
            Doubt::Label { label, given, probability } => {
                let own = if given { probability } else { 1.0 - probability };
                list.append((node, label, given, own, surprise))?;
            }
            Doubt::Value { column, given, expected } => {
                list.append((node, column, (given, expected), None::<f64>, surprise))?;
            }
        }
    }
    Ok((list, audit.model.classes().to_vec()))
}
