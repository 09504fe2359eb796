//! Graphs from arrays: directed or not, with edges of one kind or of several.

use crate::arrays::Indices;
use gfgcn::graph::{Graph, Repairs};
use gfgcn::{Error, Result};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

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
    fn graph(self, nodes: usize, directed: bool) -> Result<(Graph, Repairs)> {
        let weights = self.weights.as_deref();
        if self.as_matrix {
            return match directed {
                true => Graph::from_directed_csr(&self.rows, &self.columns, weights),
                false => Graph::from_csr(&self.rows, &self.columns, weights),
            };
        }
        Error::check_size("ends of edges", self.rows.len(), self.columns.len())?;
        let node = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
        let ends = self.rows.into_iter().zip(self.columns);
        let edges: Vec<(u32, u32)> = ends.map(|(from, to)| (node(from), to)).collect();
        match directed {
            true => Graph::from_arcs(nodes, &edges, weights),
            false => Graph::from_edges(nodes, &edges, weights),
        }
    }
}

/// The graph of all edges on so many nodes, with relations where they have names, and what was repaired.
pub(crate) fn build(
    nodes: usize,
    edges: Vec<Edges>,
    directed: bool,
) -> Result<(Graph, Vec<String>)> {
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
    let (whole, _) = Graph::from_arcs(nodes, &arcs, Some(&weights))?;
    Ok((whole.with_relations(relations)?, notes))
}
