//! Graphs from arrays: directed or not, with edges of one kind or of several.

use crate::arrays::Indices;
use crate::columns::Columns;
use crate::dataset::Dataset;
use crate::work::{self, Workers};
use gfgcn::graph::Repairs;
use gfgcn::{Error, Result, graph};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// A graph that is checked and in the form that everything computes with; datasets share it.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct Graph {
    pub(crate) graph: graph::Graph,
    notes: Vec<String>,
}

/// Row offsets, columns in 32 or 64 bits, values.
pub(crate) type CsrArrays<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl Graph {
    /// The graph of all edges on so many nodes.
    #[staticmethod]
    #[pyo3(signature = (edges, directed, nodes, workers=Workers::default()))]
    fn build(
        py: Python<'_>,
        edges: Vec<GivenEdges<'_>>,
        directed: bool,
        nodes: usize,
        workers: Workers,
    ) -> PyResult<Self> {
        let edges: Vec<Edges> = edges.iter().map(GivenEdges::detached).collect::<PyResult<_>>()?;
        let (graph, notes) = work::run(py, workers, |_| build(nodes, edges, directed))?;
        Ok(Graph { graph, notes })
    }

    /// That of a dataset, which shares it.
    #[staticmethod]
    fn of(dataset: &Dataset) -> Self {
        Graph { graph: dataset.dataset.graph().clone(), notes: Vec::new() }
    }

    /// What was repaired.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// Edges, each counted once whatever its directions.
    #[getter]
    fn edges(&self) -> usize {
        self.graph.edges()
    }

    /// The adjacency matrix in compressed rows; of an undirected graph every edge in both directions.
    fn adjacency<'py>(&self, py: Python<'py>) -> CsrArrays<'py> {
        compressed_rows(py, &self.graph)
    }

    /// The same of each kind of edges, where there are several.
    fn relations<'py>(&self, py: Python<'py>) -> Vec<(String, CsrArrays<'py>)> {
        relations(py, &self.graph)
    }

    /// What the kinds of edges are called, where there are several.
    #[getter]
    fn relation_names(&self) -> Vec<String> {
        self.graph.relations().iter().map(|relation| relation.name().to_owned()).collect()
    }
}

/// The adjacency matrix of each kind of edges.
pub(crate) fn relations<'py>(
    py: Python<'py>,
    graph: &graph::Graph,
) -> Vec<(String, CsrArrays<'py>)> {
    let relations = graph.relations().iter();
    relations.map(|r| (r.name().to_owned(), compressed_rows(py, r.graph()))).collect()
}

/// An adjacency matrix as arrays.
pub(crate) fn compressed_rows<'py>(py: Python<'py>, graph: &graph::Graph) -> CsrArrays<'py> {
    let mut offsets = vec![0i64; graph.nodes() + 1];
    let (mut ends, mut weights) = (Vec::new(), Vec::new());
    for (from, to, weight) in graph.arc_list() {
        offsets[from + 1] += 1;
        ends.push(to as u32);
        weights.push(weight);
    }
    (0..graph.nodes()).for_each(|node| offsets[node + 1] += offsets[node]);
    let columns = Columns::new(ends.into_iter(), graph.nodes());
    (offsets.into_pyarray(py), column_array(py, columns), weights.into_pyarray(py))
}

pub(crate) fn column_array(py: Python<'_>, columns: Columns) -> Bound<'_, PyAny> {
    match columns {
        Columns::Short(columns) => columns.into_pyarray(py).into_any(),
        Columns::Long(columns) => columns.into_pyarray(py).into_any(),
    }
}

/// The edges of one kind: an adjacency matrix in compressed rows, or their ends; with weights.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenEdges<'py> {
    /// What they are called, where there are several kinds.
    name: Option<String>,
    as_matrix: bool,
    rows: Indices<'py>,
    columns: Indices<'py>,
    weights: Option<PyReadonlyArray1<'py, f32>>,
}

impl GivenEdges<'_> {
    /// The same with nothing of Python's in it.
    pub(crate) fn detached(&self) -> PyResult<Edges> {
        let (rows, columns) = match self.as_matrix {
            true => ("the row offset", "the column index"),
            false => ("the node", "the node"),
        };
        Ok(Edges {
            name: self.name.clone(),
            as_matrix: self.as_matrix,
            rows: self.rows.to(rows)?,
            columns: self.columns.to(columns)?,
            weights: self.weights.as_ref().map(|weights| weights.as_array().to_vec()),
        })
    }
}

/// The edges of one kind before they are checked.
pub(crate) struct Edges {
    name: Option<String>,
    as_matrix: bool,
    rows: Vec<usize>,
    columns: Vec<u32>,
    weights: Option<Vec<f32>>,
}

impl Edges {
    fn graph(self, nodes: usize, directed: bool) -> Result<(graph::Graph, Repairs)> {
        let weights = self.weights.as_deref();
        if self.as_matrix {
            return match directed {
                true => graph::Graph::from_directed_csr(&self.rows, &self.columns, weights),
                false => graph::Graph::from_csr(&self.rows, &self.columns, weights),
            };
        }
        Error::check_size("ends of edges", self.rows.len(), self.columns.len())?;
        let node = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
        let ends = self.rows.into_iter().zip(self.columns);
        let edges: Vec<(u32, u32)> = ends.map(|(from, to)| (node(from), to)).collect();
        match directed {
            true => graph::Graph::from_arcs(nodes, &edges, weights),
            false => graph::Graph::from_edges(nodes, &edges, weights),
        }
    }
}

/// The graph of all edges on so many nodes, with relations where they have names, and what was repaired.
fn build(nodes: usize, edges: Vec<Edges>, directed: bool) -> Result<(graph::Graph, Vec<String>)> {
    let (mut relations, mut notes) = (Vec::new(), Vec::new());
    for edges in edges {
        let name = edges.name.clone();
        let (graph, repairs) = edges.graph(nodes, directed)?;
        let Some(name) = name else { return Ok((graph, repairs.sentences())) };
        notes.extend(repairs.sentences().into_iter().map(|said| format!("{name:?}: {said}")));
        relations.push((name, graph));
    }
    let (mut arcs, mut weights) = (Vec::new(), Vec::new());
    for (from, to, weight) in relations.iter().flat_map(|(_, graph)| graph.arc_list()) {
        arcs.push((from as u32, to as u32));
        weights.push(weight);
    }
    // An edge that several relations have is no mistake.
    let (whole, _) = graph::Graph::from_arcs(nodes, &arcs, Some(&weights))?;
    Ok((whole.with_relations(relations)?, notes))
}
