//! Graph, features and labels together, built from arrays or read from files.

use crate::arrays::{Csr, Indices, array, lend, numbers};
use crate::columns::Columns;
use crate::work;
use gfgcn::data::Labels;
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::{SparseMatrix, repeated_entries};
use gfgcn_data::TableFiles;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::path::PathBuf;

/// What can be filtered, fitted and predicted.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct Dataset {
    pub(crate) dataset: gfgcn::data::Dataset,
}

/// Features before they are checked.
#[derive(FromPyObject)]
pub(crate) enum Table<'py> {
    Dense(PyReadonlyArray2<'py, f32>),
    Sparse((Csr<'py>, usize)),
}

/// Row offsets, columns in 32 or 64 bits, values.
type CsrArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl Dataset {
    /// Joins arrays. The graph is an adjacency matrix in compressed rows (`as_matrix`) or a list of
    /// edges, or None for no edges; labels are class numbers, -1 for unlabelled.
    #[staticmethod]
    #[pyo3(signature = (edges, as_matrix, features, labels, classes, feature_names=None, threads=0))]
    #[allow(clippy::too_many_arguments)] // Python's side names them
    fn build(
        py: Python<'_>,
        edges: Option<(Indices<'_>, Indices<'_>, Option<PyReadonlyArray1<'_, f32>>)>,
        as_matrix: bool,
        features: Table<'_>,
        labels: PyReadonlyArray1<'_, i64>,
        classes: Vec<String>,
        feature_names: Option<Vec<String>>,
        threads: usize,
    ) -> PyResult<Self> {
        let labels = labels.as_array().to_vec();
        let features = match features {
            Table::Dense(array) => Raw::Dense(lend(&array)?),
            Table::Sparse(((offsets, columns, values), cols)) => Raw::Sparse {
                cols,
                offsets: offsets.to("the row offset")?,
                columns: columns.to("the column index")?,
                values: values.as_array().to_vec(),
            },
        };
        let edges = match edges {
            None => None,
            Some((rows, columns, weights)) => Some((
                rows.to::<usize>(if as_matrix { "the row offset" } else { "the node" })?,
                columns.to::<u32>(if as_matrix { "the column index" } else { "the node" })?,
                weights.map(|weights| weights.as_array().to_vec()),
            )),
        };
        let dataset = work::run(py, threads, |_| {
            let (features, repeats) = match features {
                Raw::Dense(matrix) => (Features::dense(matrix)?, 0),
                Raw::Sparse { cols, offsets, columns, values } => {
                    let matrix = SparseMatrix::from_csr(cols, &offsets, &columns, &values)?;
                    (Features::sparse(matrix)?, repeated_entries(&offsets, &columns))
                }
            };
            let nodes = features.rows();
            let (graph, repairs) = match edges {
                None => Graph::from_edges(nodes, &[], None)?,
                Some((offsets, columns, weights)) if as_matrix => {
                    Graph::from_csr(&offsets, &columns, weights.as_deref())?
                }
                Some((from, to, weights)) => {
                    gfgcn::Error::check_size("ends of edges", from.len(), to.len())?;
                    let node = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
                    let edges: Vec<(u32, u32)> =
                        from.into_iter().zip(to).map(|(from, to)| (node(from), to)).collect();
                    Graph::from_edges(nodes, &edges, weights.as_deref())?
                }
            };
            let labels = Labels::from_ids(&labels, Some(&classes))?;
            let dataset = gfgcn::data::Dataset::new("the data", graph, features, labels)?;
            let dataset = dataset.with_repairs(&repairs).with_added_up(repeats);
            match feature_names {
                Some(names) => dataset.with_feature_names(names),
                None => Ok(dataset),
            }
        })?;
        Ok(Dataset { dataset })
    }

    /// A dataset by name or path.
    #[staticmethod]
    #[pyo3(signature = (source, data_dir=None))]
    fn open(py: Python<'_>, source: PathBuf, data_dir: Option<PathBuf>) -> PyResult<Self> {
        let dataset = work::run(py, 0, |context| {
            gfgcn_datasets::open(&source, data_dir.as_deref(), context)
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
        let dataset = work::run(py, 0, |context| tables.read(&name, context))?;
        Ok(Dataset { dataset })
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

    #[getter]
    fn class_names(&self) -> Vec<String> {
        self.dataset.labels().classes().to_vec()
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.dataset.feature_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn node_ids(&self) -> Option<Vec<String>> {
        self.dataset.node_ids().map(<[String]>::to_vec)
    }

    /// Class numbers, -1 for unlabelled.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let of_node = self.dataset.labels().as_slice().iter();
        of_node.map(|class| class.map_or(-1, i64::from)).collect::<Vec<i64>>().into_pyarray(py)
    }

    /// Training, validation and test nodes of the split that came with the data.
    #[getter]
    fn split<'py>(&self, py: Python<'py>) -> Option<[Bound<'py, PyArray1<i64>>; 3]> {
        let split = self.dataset.split()?;
        Some(split.parts().map(|(_, nodes)| numbers(py, nodes.iter().copied())))
    }

    /// The adjacency matrix in compressed rows, every edge in both directions.
    fn adjacency<'py>(&self, py: Python<'py>) -> CsrArrays<'py> {
        let graph = self.dataset.graph();
        let offsets: Vec<i64> = graph.offsets().iter().map(|&offset| offset as i64).collect();
        let nodes = 0..graph.nodes();
        let neighbours = nodes.clone().flat_map(|node| graph.neighbours(node)).copied();
        let columns = Columns::new(neighbours, graph.nodes());
        let weights: Vec<f32> = match graph.is_weighted() {
            true => nodes.filter_map(|node| graph.weights(node)).flatten().copied().collect(),
            false => vec![1.0; 2 * graph.edges()],
        };
        (offsets.into_pyarray(py), column_array(py, columns), weights.into_pyarray(py))
    }

    /// The features: a dense array, or compressed rows with the number of columns.
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.dataset.features() {
            Features::Dense(matrix) => Ok(array(py, matrix.clone())?.into_any()),
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

fn column_array(py: Python<'_>, columns: Columns) -> Bound<'_, PyAny> {
    match columns {
        Columns::Short(columns) => columns.into_pyarray(py).into_any(),
        Columns::Long(columns) => columns.into_pyarray(py).into_any(),
    }
}

/// Features with nothing of Python's left but the numbers of a dense array.
enum Raw {
    Dense(gfgcn::matrix::Matrix<f32>),
    Sparse { cols: usize, offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f32> },
}
