//! Filtering, fitting and predicting.

use crate::arrays::{array, nodes};
use crate::dataset::Dataset;
use crate::errors::raise;
use crate::settings::{DesignSettings, RidgeSettings, add_filter};
use crate::work;
use gfgcn::driver::{Driver, Rows};
use gfgcn::model::Predictions;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::{Classifier, Ridge, RowScaling};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::{PyFileExistsError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

/// A trained model.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct Model {
    model: gfgcn::Model,
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
#[pyo3(signature = (dataset, design, ridge, train, validation, threads=0))]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    design: DesignSettings,
    ridge: RidgeSettings,
    train: PyReadonlyArray1<'py, i64>,
    validation: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<(Model, Predicted<'py>)> {
    let classifier = Classifier::new(design.design()?).with_ridge(ridge.ridge()?);
    let data = &dataset.dataset;
    let split = Split::new(data.nodes(), nodes(&train), nodes(&validation), Vec::new());
    let split = split.map_err(raise)?;
    let (model, predictions) = work::run(py, threads, |context| {
        let model = classifier.fit(data, &split, context)?;
        let predictions = model.predict(data, context)?;
        Ok((model, predictions))
    })?;
    Ok((Model { model }, predicted(py, predictions)?))
}

/// F = p(Â) X in single precision, nodes × features.
#[pyfunction]
#[pyo3(name = "filter", signature = (dataset, design, threads=0))]
pub(crate) fn filter<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    design: DesignSettings,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let (data, design) = (&dataset.dataset, design.design()?);
    let filtered = work::run(py, threads, |context| {
        let driver = Driver::new(data, &[design], Rows::All, 0)?;
        // They come in blocks, and are copied into one piece.
        let copy = 4 * data.nodes() as u64 * driver.columns(0) as u64;
        let _lease = context.memory().reserve(
            "filtering",
            driver.least_memory() + copy,
            "use fewer nodes, or a machine with more memory",
        )?;
        Ok(driver.run(0..1, context)?.remove(0).to_matrix())
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
        let predict = |context: &_| self.model.predict(&dataset.dataset, context);
        predicted(py, work::run(py, threads, predict)?)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.to_bytes())
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Model { model: gfgcn::Model::from_bytes(bytes).map_err(raise)? })
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
        Ok(Model { model: gfgcn::Model::load(&path).map_err(raise)? })
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes().to_vec()
    }

    #[getter]
    fn lam(&self) -> f64 {
        self.model.members()[0].lambda()
    }

    /// The accuracy by which λ was chosen, if it was.
    #[getter]
    fn selection_accuracy(&self) -> Option<f64> {
        self.model.provenance().selection_accuracy
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
        let design = self.model.members()[0].design();
        let [channel] = design.channels() else {
            let problem =
                format!("no estimator has several filters side by side, as this model: {design}");
            return Err(PyValueError::new_err(problem));
        };
        let Ridge { kernel, selection, intercept } = self.model.members()[0].ridge();
        let params = PyDict::new(py);
        add_filter(&params, channel.filter)?;
        params.set_item("kernel", kernel.to_string())?;
        match selection {
            Selection::Fixed { .. } => params.set_item("lam", self.model.members()[0].lambda())?,
            chosen => params.set_item("lam", chosen.to_string())?,
        }
        params.set_item("normalization", channel.operator.to_string())?;
        params.set_item("row_normalize", channel.rows == RowScaling::Sum)?;
        params.set_item("fit_intercept", intercept)?;
        Ok(params)
    }

    /// W (features × targets) and b (one per target) of scores = F W + b, for a linear kernel.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Weights<'py>>> {
        let Some((weights, intercept)) = self.model.members()[0].weights() else { return Ok(None) };
        Ok(Some((array(py, weights.clone())?, intercept.to_vec().into_pyarray(py))))
    }
}
