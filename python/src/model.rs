//! Filtering, fitting and predicting.

use crate::arrays::{Sample, array, nodes, split};
use crate::dataset::{Dataset, kind};
use crate::dlpack::DeviceArray;
use crate::errors::raise;
use crate::settings::{DesignSettings, ObjectiveSettings, RidgeSettings, add_design};
use crate::work::{self, Workers};
use gfgcn::context::Scratch;
use gfgcn::data::TargetKind;
use gfgcn::driver::{Driver, Filtered, Rows};
use gfgcn::head::ClassWeights;
use gfgcn::matrix::Matrix;
use gfgcn::model::Predictions;
use gfgcn::ridge::Selection;
use gfgcn::shares::Job;
use gfgcn::training::Recipe;
use gfgcn::{Classifier, Ridge};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyFileExistsError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

/// A trained model.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct Model {
    pub(crate) model: gfgcn::Model,
}

/// What is predicted of every node (the class, a position among the model's; which labels, nodes × labels of 0 and 1; or
/// nothing where the scores are the values), the scores, and what a person should know about them.
pub(crate) type Predicted<'py> =
    (Option<Bound<'py, PyAny>>, Bound<'py, PyArray2<f64>>, Vec<String>);

/// Where intervals begin and end, each nodes × columns.
type Ends<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// Of a linear kernel: W and b.
type Weights<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

pub(crate) fn predicted<'py>(
    py: Python<'py>,
    predictions: &Predictions,
) -> PyResult<Predicted<'py>> {
    let all: Vec<usize> = (0..predictions.nodes()).collect();
    predicted_nodes(py, predictions, &all)
}

/// The same of the nodes that were asked for, in their order.
fn predicted_nodes<'py>(
    py: Python<'py>,
    predictions: &Predictions,
    nodes: &[usize],
) -> PyResult<Predicted<'py>> {
    let decoded = match predictions.kind() {
        TargetKind::Classes => {
            let classes = nodes.iter().map(|&node| i64::from(predictions.class(node)));
            Some(classes.collect::<Vec<i64>>().into_pyarray(py).into_any())
        }
        TargetKind::Sets => {
            let mut labels = Matrix::<u8>::zeros(nodes.len(), predictions.classes().len());
            for (row, &node) in nodes.iter().enumerate() {
                let own = predictions.labels(node);
                own.into_iter().for_each(|label| labels[(row, label as usize)] = 1);
            }
            Some(array(py, labels)?.into_any())
        }
        TargetKind::Values => None,
    };
    let notes = predictions.notes().to_vec();
    Ok((decoded, array(py, predictions.clone().into_targets())?, notes))
}

/// Why a model that keeps its training is not trained on a GPU.
pub(crate) const KEPT_ON_PROCESSOR: &str =
    "what keep_training keeps must be the same bits when it is computed again";

/// Trains on some nodes, chooses λ on others where that was asked for, and predicts every node.
#[pyfunction]
#[pyo3(signature = (dataset, design, ridge, objective, train, validation, keep=false, workers=Workers::default()))]
#[allow(clippy::too_many_arguments)] // Python's side names them
pub(crate) fn fit<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    design: DesignSettings,
    ridge: RidgeSettings,
    objective: ObjectiveSettings,
    train: Sample<'py>,
    validation: PyReadonlyArray1<'py, i64>,
    keep: bool,
    workers: Workers,
) -> PyResult<(Model, Predicted<'py>)> {
    let data = &dataset.dataset;
    let classifier = Classifier {
        design: design.design()?,
        ridge: ridge.ridge()?,
        objective: objective.objective(data.targets().kind())?,
    };
    let split = split(data.nodes(), &train, nodes(&validation))?;
    let workers = if keep { workers.only_processor(KEPT_ON_PROCESSOR)? } else { workers.on(data) };
    let (model, predictions) = work::run(py, workers, |context| {
        let model = match keep {
            true => Recipe::from(classifier).fit(data, &split, context)?,
            false => classifier.fit(data, &split, context)?,
        };
        let predictions = model.predict(data, context)?;
        Ok((model, predictions))
    })?;
    Ok((Model { model }, predicted(py, &predictions)?))
}

/// F = p(Â) X in single precision, nodes × features; on the GPU, where X is there already.
#[pyfunction]
#[pyo3(name = "filter", signature = (dataset, design, workers=Workers::default()))]
pub(crate) fn filter<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    design: DesignSettings,
    workers: Workers,
) -> PyResult<Bound<'py, PyAny>> {
    let (data, design) = (&dataset.dataset, design.design()?);
    let workers = workers.on(data);
    let filtered = work::run(py, workers, |context| {
        let driver = Driver::new(data, &[design], Rows::All, 0)?;
        // They come in blocks, and are copied into one piece.
        let copy = 4 * data.nodes() as u64 * driver.columns(0) as u64;
        let _lease = context.memory().reserve(
            "filtering",
            driver.least_memory() + copy,
            "use fewer nodes, or a machine with more memory",
        )?;
        context.place(driver.work(), |context| {
            let filtered = driver.run_where_it_is(0..1, context)?.remove(0);
            match still_there(&filtered).filter(|_| workers.has_data_on_gpu()) {
                Some(there) => Ok(Where::OnGpu(there)),
                None => Ok(Where::Here(filtered.fetched()?.to_matrix())),
            }
        })
    })?;
    match filtered {
        Where::OnGpu(there) => Ok(Bound::new(py, there)?.into_any()),
        Where::Here(matrix) => Ok(array(py, matrix)?.into_any()),
    }
}

/// A result that stayed on a GPU, or did not.
enum Where {
    OnGpu(DeviceArray),
    Here(Matrix<f32>),
}

/// The rows of the only channel of a design, if they are on a GPU as they should be.
fn still_there(filtered: &Filtered) -> Option<DeviceArray> {
    match filtered.resident() {
        Some([(rows, scale)]) if *scale == 1.0 => DeviceArray::of(rows.as_ref()),
        _ => None,
    }
}

/// The rows of an array, however they lie in memory.
fn rows(array: &PyReadonlyArray2<'_, f64>) -> Vec<Vec<f64>> {
    array.as_array().outer_iter().map(|row| row.to_vec()).collect()
}

#[pymethods]
impl Model {
    /// Predicts every node of a graph, or some of them. What is in a work folder is taken from there.
    #[pyo3(signature = (dataset, nodes=None, workers=Workers::default(), work=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        dataset: &Dataset,
        nodes: Option<PyReadonlyArray1<'py, i64>>,
        workers: Workers,
        work: Option<PathBuf>,
    ) -> PyResult<Predicted<'py>> {
        let data = &dataset.dataset;
        let workers = workers.on(data);
        if let Some(folder) = work {
            let purpose = Job::Predict(Box::new(self.model.clone())).purpose(data);
            let scratch = Scratch::at(&folder, purpose);
            let predictions = work::run(py, workers, |context| {
                self.model.predict(data, &context.clone().with_scratch(scratch.clone()))
            })?;
            let predicted = predicted(py, &predictions)?;
            scratch.remove();
            return Ok(predicted);
        }
        match nodes.map(|part| crate::arrays::nodes(&part)) {
            Some(nodes) => {
                let predict = |context: &_| self.model.predict_nodes(data, &nodes, context);
                predicted_nodes(py, &work::run(py, workers, predict)?, &nodes)
            }
            None => predicted(py, &work::run(py, workers, |c| self.model.predict(data, c))?),
        }
    }

    /// Whether it can learn more and forget.
    #[getter]
    fn keeps_training(&self) -> bool {
        self.model.training().is_some()
    }

    /// The probabilities of classes or labels by their scores, nodes × names.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let link = self.model.calibration().link();
        let rows = rows(&scores);
        let all = rows.iter().flat_map(|row| link.probabilities(self.model.head(), row)).collect();
        array(py, Matrix::from_rows(rows.len(), self.model.classes().len(), all).map_err(raise)?)
    }

    /// Which classes or labels are plausible at a coverage by their scores, nodes × names.
    fn sets<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f64>,
        coverage: f64,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let calibration = self.model.calibration();
        let regions = calibration.regions(coverage).map_err(raise)?;
        let rows = rows(&scores);
        let mut sets = Matrix::<bool>::zeros(rows.len(), self.model.classes().len());
        for (node, row) in rows.iter().enumerate() {
            let set = regions.set(&calibration.link().probabilities(self.model.head(), row));
            set.into_iter().for_each(|class| sets[(node, class as usize)] = true);
        }
        array(py, sets)
    }

    /// From where to where values plausibly are at a coverage, each nodes × columns.
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
        coverage: f64,
    ) -> PyResult<Ends<'py>> {
        let regions = self.model.calibration().regions(coverage).map_err(raise)?;
        let rows = rows(&values);
        let ends = |end: fn(&(f64, f64)) -> f64| {
            let all = rows.iter().flat_map(|row| regions.intervals(row)).map(|i| end(&i)).collect();
            Matrix::from_rows(rows.len(), self.model.classes().len(), all).map_err(raise)
        };
        Ok((array(py, ends(|ends| ends.0)?)?, array(py, ends(|ends| ends.1)?)?))
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

    /// The columns of the data frame that became the features, where they are not just its numbers.
    #[getter]
    fn encoded_columns(&self) -> Option<Vec<String>> {
        let columns = &self.model.encoding()?.columns;
        let names = columns.iter().map(|column| column.name.clone());
        (!columns.is_empty()).then(|| names.collect())
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes().to_vec()
    }

    /// What is predicted: `classes`, `sets` or `values`.
    #[getter]
    fn kind(&self) -> &'static str {
        kind(self.model.head().kind())
    }

    /// λ by which it was solved; none where several solutions are added up.
    #[getter]
    fn lam(&self) -> Option<f64> {
        match self.model.members() {
            [only] => Some(only.lambda()),
            _ => None,
        }
    }

    /// The metric by which λ was chosen, of the nodes that chose it, if it was.
    #[getter]
    fn selection_score(&self) -> Option<f64> {
        self.model.provenance().selection_score
    }

    #[getter]
    fn features(&self) -> usize {
        self.model.features()
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.model.feature_names().map(<[String]>::to_vec)
    }

    /// What an estimator would have been asked to be; of several solutions that are added up only what they are for.
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let params = PyDict::new(py);
        if let [only] = self.model.members() {
            add_design(&params, only.design())?;
            let Ridge { kernel, selection, intercept } = only.ridge();
            params.set_item("kernel", kernel.to_string())?;
            match selection {
                Selection::Fixed { .. } => params.set_item("lam", only.lambda())?,
                chosen => params.set_item("lam", chosen.to_string())?,
            }
            params.set_item("fit_intercept", intercept)?;
        }
        let objective = &self.model.provenance().objective;
        params.set_item("scoring", objective.metric.map(|metric| metric.to_string()))?;
        match &objective.class_weights {
            ClassWeights::Equal => {}
            ClassWeights::Balanced => params.set_item("class_weight", "balanced")?,
            ClassWeights::Given(weights) => params.set_item("class_weight", weights.clone())?,
        }
        Ok(params)
    }

    /// W (columns of the design × targets) and b (one per target) of scores = F W + b, for one solution with a linear
    /// kernel.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Weights<'py>>> {
        let [only] = self.model.members() else { return Ok(None) };
        let Some((weights, intercept)) = only.weights() else { return Ok(None) };
        Ok(Some((array(py, weights.clone())?, intercept.to_vec().into_pyarray(py))))
    }
}
