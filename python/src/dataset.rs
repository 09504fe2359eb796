//! Graph, features and labels together, built from arrays or read from files.

use crate::arrays::{Csr, array, lend, numbers};
use crate::columns::Columns;
use crate::dlpack;
use crate::errors::raise;
use crate::graph::{CsrArrays, Graph, column_array, compressed_rows, relations};
use crate::model::Model;
use crate::targets::GivenTargets;
use crate::work::{self, Workers};
use gfgcn::data::{TargetKind, Targets};
use gfgcn::features::Features;
use gfgcn::matrix::{Matrix, SparseMatrix, repeated_entries};
use gfgcn::split::Split;
use gfgcn_data::{
    Directions, Frame, FrameColumn, ReadOptions, TableFiles, TableFormat, encode_frame, npz, store,
    write_folder,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::path::PathBuf;

/// What can be filtered, fitted and predicted.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct Dataset {
    pub(crate) dataset: gfgcn::data::Dataset,
}

/// Features before they are checked.
#[derive(FromPyObject)]
pub(crate) enum Table<'py> {
    /// None, on so many nodes.
    None(usize),
    Dense(PyReadonlyArray2<'py, f32>),
    Sparse((Csr<'py>, usize)),
    /// On a GPU, by DLPack.
    Resident(Bound<'py, PyCapsule>),
    /// Columns of a data frame, of which features are yet to be made.
    Frame(Vec<(String, GivenColumn<'py>)>),
}

/// A column of a data frame.
#[derive(FromPyObject)]
pub(crate) enum GivenColumn<'py> {
    /// NaN for what is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Words, and whether they are categories whatever they spell.
    Words((Vec<Option<String>>, bool)),
}

impl GivenColumn<'_> {
    fn detached(self) -> FrameColumn {
        match self {
            GivenColumn::Numbers(values) => FrameColumn::Numbers(values.as_array().to_vec()),
            GivenColumn::Words((words, true)) => FrameColumn::Categories(words),
            GivenColumn::Words((words, false)) => FrameColumn::Texts(words),
        }
    }
}

#[pymethods]
impl Dataset {
    /// Joins a graph, which is shared; features, or the number of nodes where there are none; and
    /// what is known of the nodes. A dense array is read where it is, unless the dataset is to be kept. The columns of a data
    /// frame become features as they did for the model `like`.
    #[staticmethod]
    #[pyo3(signature = (graph, features, targets, feature_names=None, node_ids=None, keep=false, workers=Workers::default(), like=None))]
    #[expect(clippy::too_many_arguments, reason = "the parts of a dataset, by keyword from Python")]
    fn build(
        py: Python<'_>,
        graph: &Graph,
        features: Table<'_>,
        targets: GivenTargets<'_>,
        feature_names: Option<Vec<String>>,
        node_ids: Option<Vec<String>>,
        keep: bool,
        workers: Workers,
        like: Option<PyRef<'_, Model>>,
    ) -> PyResult<Self> {
        let known = like.and_then(|model| model.model.encoding().cloned());
        let known = known.filter(|encoding| !encoding.columns.is_empty());
        let features = match features {
            Table::Frame(columns) => {
                let detached =
                    |(name, column): (String, GivenColumn<'_>)| (name, column.detached());
                let columns = columns.into_iter().map(detached).collect();
                Raw::Frame(Frame::new(columns).map_err(raise)?)
            }
            Table::None(nodes) => Raw::None(nodes),
            Table::Dense(array) if keep => {
                let entries = array.as_array();
                let values = entries.iter().copied().collect();
                let copy = Matrix::from_rows(entries.nrows(), entries.ncols(), values);
                Raw::Dense(copy.map_err(raise)?)
            }
            Table::Dense(array) => Raw::Dense(lend(&array)?),
            Table::Resident(capsule) => Raw::Dense(dlpack::lend(&capsule)?),
            Table::Sparse(((offsets, columns, values), cols)) => Raw::Sparse {
                cols,
                offsets: offsets.to("the row offset")?,
                columns: columns.to("the column index")?,
                values: values.as_array().to_vec(),
            },
        };
        let graph = graph.graph.clone();
        let targets = targets.targets().map_err(raise)?;
        let dataset = work::run(py, workers, |context| {
            let mut encoded = None;
            let (features, repeats) = match features {
                Raw::Frame(frame) => {
                    let frame = encode_frame(frame, known.as_ref(), context)?;
                    encoded = Some((frame.encoding, frame.notes));
                    (frame.features, 0)
                }
                Raw::None(nodes) => (Features::none(nodes), 0),
                Raw::Dense(matrix) => {
                    if matrix.resident().is_some() {
                        // A model's fingerprint, kernels and the like read them here.
                        let copy = 4 * matrix.rows() as u64 * matrix.cols() as u64;
                        let remedy = "use a machine with more memory";
                        context.memory().check("a copy of X in main memory", copy, remedy)?;
                    }
                    (Features::dense(matrix)?, 0)
                }
                Raw::Sparse { cols, offsets, columns, values } => {
                    let matrix = SparseMatrix::from_csr(cols, &offsets, &columns, &values)?;
                    (Features::sparse(matrix)?, repeated_entries(&offsets, &columns))
                }
            };
            let dataset = gfgcn::data::Dataset::new("the data", graph, features, targets)?;
            let mut dataset = dataset.with_added_up(repeats);
            if let Some(ids) = node_ids {
                dataset.set_node_ids(ids)?;
            }
            if let Some((encoding, notes)) = encoded {
                let dataset = notes.into_iter().fold(dataset, gfgcn::data::Dataset::with_note);
                let names = encoding.feature_names();
                return dataset.with_encoding(encoding).with_feature_names(names);
            }
            match feature_names {
                Some(names) => dataset.with_feature_names(names),
                None => Ok(dataset),
            }
        })?;
        Ok(Dataset { dataset })
    }

    /// A dataset by name or path; columns by what they are for (`id`, `label`, `features`, …).
    #[staticmethod]
    #[pyo3(signature = (source, data_dir=None, directed=false, columns=HashMap::new()))]
    fn open(
        py: Python<'_>,
        source: PathBuf,
        data_dir: Option<PathBuf>,
        directed: bool,
        columns: HashMap<String, Vec<String>>,
    ) -> PyResult<Self> {
        let directions =
            if directed { Directions::Kept { by: "directed=True" } } else { Directions::AsSaid };
        let columns = table_columns(columns).map_err(raise)?;
        let options = ReadOptions { directions, columns };
        let dataset = work::run(py, Workers::default(), |context| {
            gfgcn_datasets::open_with(&source, data_dir.as_deref(), &options, context)
        })?;
        Ok(Dataset { dataset })
    }

    /// A dataset from separate tables.
    #[staticmethod]
    #[pyo3(signature = (edges, features, labels=None))]
    fn read_tables(
        py: Python<'_>,
        edges: PathBuf,
        features: PathBuf,
        labels: Option<PathBuf>,
    ) -> PyResult<Self> {
        let name = gfgcn_datasets::stem(&edges);
        let tables = TableFiles { labels, ..TableFiles::new(edges, features) };
        let dataset = work::run(py, Workers::default(), |context| tables.read(&name, context))?;
        Ok(Dataset { dataset })
    }

    /// The same data with the names of nodes and with a split, to be written.
    #[pyo3(signature = (name, node_ids=None, split=None))]
    fn named(
        &self,
        name: &str,
        node_ids: Option<Vec<String>>,
        split: Option<[Vec<usize>; 3]>,
    ) -> PyResult<Self> {
        let name_it = || {
            let data = &self.dataset;
            let parts = (data.graph().clone(), data.features().clone(), data.targets().clone());
            let mut named = gfgcn::data::Dataset::new(name, parts.0, parts.1, parts.2)?;
            if let Some(names) = data.feature_names() {
                named = named.with_feature_names(names.to_vec())?;
            }
            if let Some(ids) = node_ids {
                named = named.with_node_ids(ids)?;
            }
            match split {
                Some([train, validation, test]) => {
                    named.with_split(Split::new(data.nodes(), train, validation, test)?)
                }
                None => Ok(named),
            }
        };
        name_it().map(|dataset| Dataset { dataset }).map_err(raise)
    }

    /// The same graph and features with other targets; nothing is copied.
    fn with_targets(&self, targets: GivenTargets<'_>) -> PyResult<Self> {
        let targets = targets.targets().map_err(raise)?;
        let dataset = self.dataset.clone().with_targets(targets).map_err(raise)?;
        Ok(Dataset { dataset })
    }

    /// Writes an archive of arrays, a store, or a folder of tables.
    #[pyo3(signature = (path, overwrite, format=None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        overwrite: bool,
        format: Option<&str>,
    ) -> PyResult<()> {
        if format == Some("store") {
            return work::run(py, Workers::default(), |context| {
                store::write(&self.dataset, &path, overwrite, context)
            });
        }
        let format: TableFormat = format.unwrap_or("csv").parse().map_err(raise)?;
        work::run(py, Workers::default(), |_| match gfgcn_datasets::has_extension(&path, "npz") {
            true => npz::write(&self.dataset, &path, overwrite),
            false => write_folder(&self.dataset, &path, format, overwrite),
        })
    }

    /// The names of the built-in datasets.
    #[staticmethod]
    fn bundled() -> Vec<&'static str> {
        gfgcn_datasets::BUNDLED.iter().map(|bundled| bundled.name).collect()
    }

    #[getter]
    fn name(&self) -> &str {
        self.dataset.name()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.dataset.notes().to_vec()
    }

    /// Of the classes, the labels or the columns of values.
    #[getter]
    fn target_names(&self) -> Vec<String> {
        self.dataset.targets().names().to_vec()
    }

    /// What is known of the nodes: `classes`, `sets` or `values`.
    #[getter]
    fn kind(&self) -> &'static str {
        kind(self.dataset.targets().kind())
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.dataset.feature_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn node_ids(&self) -> Option<Vec<String>> {
        self.dataset.node_ids().map(<[String]>::to_vec)
    }

    /// As `build` takes them: class numbers, labels of 0 and 1, or values.
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (nodes, columns) = (self.dataset.nodes(), self.dataset.targets().names().len());
        match self.dataset.targets() {
            Targets::Classes(labels) => {
                let code = |class: &Option<u32>| class.map_or(-1, i64::from);
                let codes: Vec<i64> = labels.as_slice().iter().map(code).collect();
                Ok(codes.into_pyarray(py).into_any())
            }
            Targets::Sets(sets) => {
                let mut matrix = Matrix::<i8>::zeros(nodes, columns);
                for node in 0..nodes {
                    match sets.get(node) {
                        None => matrix.row_mut(node).fill(-1),
                        Some(own) => {
                            own.iter().for_each(|&label| matrix[(node, label as usize)] = 1);
                        }
                    }
                }
                Ok(array(py, matrix)?.into_any())
            }
            Targets::Values(values) => {
                let mut matrix = Matrix::<f64>::zeros(nodes, columns);
                for node in 0..nodes {
                    match values.get(node) {
                        None => matrix.row_mut(node).fill(f64::NAN),
                        Some(own) => matrix.row_mut(node).copy_from_slice(own),
                    }
                }
                Ok(array(py, matrix)?.into_any())
            }
        }
    }

    /// Training, validation and test nodes of the split that came with the data.
    #[getter]
    fn split<'py>(&self, py: Python<'py>) -> Option<[Bound<'py, PyArray1<i64>>; 3]> {
        let split = self.dataset.split()?;
        Some(split.parts().map(|(_, nodes)| numbers(py, nodes.iter().copied())))
    }

    #[getter]
    fn directed(&self) -> bool {
        self.dataset.graph().is_directed()
    }

    /// The adjacency matrix in compressed rows; of an undirected graph every edge in both directions.
    fn adjacency<'py>(&self, py: Python<'py>) -> CsrArrays<'py> {
        compressed_rows(py, self.dataset.graph())
    }

    /// The same of each kind of edges, where there are several.
    fn relations<'py>(&self, py: Python<'py>) -> Vec<(String, CsrArrays<'py>)> {
        relations(py, self.dataset.graph())
    }

    /// The features: a dense array, or compressed rows with the number of columns.
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.dataset.features() {
            Features::Dense(matrix) => Ok(array(py, matrix.clone())?.into_any()),
            Features::Blocks(blocks) => Ok(array(py, blocks.to_matrix())?.into_any()),
            Features::Sparse(matrix) => {
                let offsets: Vec<i64> = matrix.offsets().iter().map(|&o| o as i64).collect();
                let columns = Columns::new(matrix.indices().iter().copied(), matrix.cols());
                let arrays: CsrArrays<'_> = (
                    offsets.into_pyarray(py),
                    column_array(py, columns),
                    matrix.values().to_vec().into_pyarray(py),
                );
                Ok((arrays, matrix.cols()).into_pyobject(py)?.into_any())
            }
        }
    }
}

/// Columns of tables by what they are for.
fn table_columns(given: HashMap<String, Vec<String>>) -> gfgcn::Result<gfgcn_data::Columns> {
    let mut columns = gfgcn_data::Columns::default();
    for (role, mut names) in given {
        let single = match role.as_str() {
            "features" => {
                columns.features = names;
                continue;
            }
            "dropped" => {
                columns.dropped = names;
                continue;
            }
            "id" => &mut columns.id,
            "label" => &mut columns.label,
            "source" => &mut columns.source,
            "target" => &mut columns.target,
            "weight" => &mut columns.weight,
            "type" => &mut columns.kind,
            _ => {
                columns.separator = names.pop().map(|text| text.parse()).transpose()?;
                continue;
            }
        };
        *single = names.pop();
    }
    Ok(columns)
}

/// Where source, target, weight and type of edges stand among columns of these names; `None` where no ends are named.
#[pyfunction]
pub(crate) fn edge_columns(
    names: Vec<String>,
) -> Option<(usize, usize, Option<usize>, Option<usize>)> {
    let found = gfgcn_data::edge_columns(&names)?;
    Some((found.ends.0, found.ends.1, found.weight, found.kind))
}

/// Whether a column of this name holds the ids of nodes.
#[pyfunction]
pub(crate) fn is_id_name(name: &str) -> bool {
    gfgcn_data::is_id_name(name)
}

/// What is learnt, in a word.
pub(crate) fn kind(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Classes => "classes",
        TargetKind::Sets => "sets",
        TargetKind::Values => "values",
    }
}

/// Features with nothing of Python's left but the numbers of a dense array.
enum Raw {
    None(usize),
    Dense(Matrix<f32>),
    Frame(Frame),
    Sparse { cols: usize, offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f32> },
}
