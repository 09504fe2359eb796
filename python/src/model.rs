//! Filtering, fitting and predicting.

use crate::arrays::{array, nodes};
use crate::dataset::Dataset;
use crate::errors::raise;
use crate::settings::{FilterSettings, Settings};
use crate::work;
use gfgcn::filter::{Filter, FilterBank, propagate};
use gfgcn::graph::Propagator;
use gfgcn::model::Predictions;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::{Classifier, memory};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyFileExistsError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

const LESS_MEMORY: &str = "use fewer nodes, or a machine with more memory";

/// A trained model.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct Model {
    model: Arc<gfgcn::Model>,
}

/// The predicted class (a position in the model's classes) and the scores of every node, and what a person
/// should know about them.
type Predicted<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<f64>>, Vec<String>);

/// Of a linear kernel: W and b.
type Weights<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

fn predicted(py: Python<'_>, predictions: Predictions) -> PyResult<Predicted<'_>> {
    let classes = (0..predictions.nodes()).map(|node| i64::from(predictions.class(node)));
    let classes = classes.collect::<Vec<i64>>().into_pyarray(py);
    let notes = predictions.notes().to_vec();
    Ok((classes, array(py, predictions.into_targets())?, notes))
}

/// Trains on some nodes, chooses λ on others where that was asked for, and predicts every node.
#[pyfunction]
#[pyo3(signature = (dataset, filter, settings, train, validation, threads=0))]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    filter: FilterSettings,
    settings: Settings,
    train: PyReadonlyArray1<'py, i64>,
    validation: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<(Model, Predicted<'py>)> {
    let classifier = Classifier::new(filter.filter()?).options(settings.options()?);
    let data = dataset.dataset.clone();
    let split = Split::new(data.nodes(), nodes(&train), nodes(&validation), Vec::new());
    let split = split.map_err(raise)?;
    let (model, predictions) = work::run(py, threads, move || {
        memory::check("training", classifier.fit_memory(&data, &split)?, LESS_MEMORY)?;
        let model = classifier.fit(&data, &split)?;
        memory::check("predicting", model.predict_memory(&data), LESS_MEMORY)?;
        let predictions = model.predict(&data)?;
        Ok((model, predictions))
    })?;
    Ok((Model { model: Arc::new(model) }, predicted(py, predictions)?))
}

/// F = p(Â) X in single precision, nodes × features.
#[pyfunction]
#[pyo3(name = "filter", signature = (dataset, filter, settings, threads=0))]
pub(crate) fn filter<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    filter: FilterSettings,
    settings: Settings,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let (filter, options) = (filter.filter()?, settings.options()?);
    let data = dataset.dataset.clone();
    let filtered = work::run(py, threads, move || {
        let entries = data.features().rows() as u64 * data.features().cols() as u64;
        // The filtered features in the blocks they come in, and once more in one piece.
        memory::check("filtering", 2 * 4 * entries, LESS_MEMORY)?;
        let features = options.prepare(data.features());
        let bank = FilterBank::new(&[filter], options.tolerance);
        let propagator = Propagator::new(data.graph(), options.normalization)
            .prepared_for(bank.products() * features.cols());
        Ok(propagate::<f32>(&propagator, &bank, &*features, None)[0].to_native())
    })?;
    array(py, filtered)
}

#[pymethods]
impl Model {
    /// Predicts every node of a graph.
    #[pyo3(signature = (dataset, threads=0))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        dataset: &Dataset,
        threads: usize,
    ) -> PyResult<Predicted<'py>> {
        let (model, data) = (self.model.clone(), dataset.dataset.clone());
        let predictions = work::run(py, threads, move || {
            memory::check("predicting", model.predict_memory(&data), LESS_MEMORY)?;
            model.predict(&data)
        })?;
        predicted(py, predictions)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.to_bytes())
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let model = gfgcn::Model::from_bytes(bytes).map_err(raise)?;
        Ok(Model { model: Arc::new(model) })
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Model>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    /// Writes the model file.
    fn save(&self, path: PathBuf, overwrite: bool) -> PyResult<()> {
        self.model.save(&path, overwrite).map_err(|error| {
            if !overwrite && path.symlink_metadata().is_ok() {
                PyFileExistsError::new_err(error.to_string())
            } else {
                raise(error)
            }
        })
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Ok(Model { model: Arc::new(gfgcn::Model::load(&path).map_err(raise)?) })
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes().to_vec()
    }

    #[getter]
    fn lam(&self) -> f64 {
        self.model.lambda()
    }

    /// The accuracy by which λ was chosen, if it was.
    #[getter]
    fn selection_accuracy(&self) -> Option<f64> {
        self.model.training().selection_accuracy
    }

    #[getter]
    fn features(&self) -> usize {
        self.model.features()
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.model.feature_names().map(<[String]>::to_vec)
    }

    /// What an estimator would have been asked to be.
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let params = PyDict::new(py);
        let options = self.model.options();
        filter_params(&params, self.model.filter())?;
        params.set_item("kernel", options.kernel.to_string())?;
        match options.selection {
            Selection::LeaveOneOut => params.set_item("lam", "loo")?,
            Selection::Validation => params.set_item("lam", "validation")?,
            _ => params.set_item("lam", self.model.lambda())?,
        }
        params.set_item("normalization", options.normalization.to_string())?;
        params.set_item("row_normalize", options.row_normalize)?;
        params.set_item("fit_intercept", options.intercept)?;
        Ok(params)
    }

    /// W (features × targets) and b (one per target) of scores = F W + b, for a linear kernel.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Weights<'py>>> {
        let Some((weights, intercept)) = self.model.weights() else { return Ok(None) };
        Ok(Some((array(py, weights.clone())?, intercept.to_vec().into_pyarray(py))))
    }
}

/// Adds a filter's parameters to those of an estimator.
pub(crate) fn filter_params(params: &Bound<'_, PyDict>, filter: Filter) -> PyResult<()> {
    params.set_item("depth", filter.depth())?;
    match filter {
        Filter::Sgc { .. } => params.set_item("filter", "sgc"),
        Filter::Ssgc { tau, .. } => {
            params.set_item("filter", "ssgc")?;
            params.set_item("tau", tau)
        }
        Filter::Dgc { time, .. } => {
            params.set_item("filter", "dgc")?;
            params.set_item("time", time)
        }
    }
}
