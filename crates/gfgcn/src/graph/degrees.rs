//! The diagonal matrices that an operator divides by.

use super::operator::Direction;
use super::rows::Rows;
use super::{Graph, Normalization, Operator};
use crate::error::Result;
use crate::matrix::Matrix;

/// Ã of an operator on a graph, by rows, and what its rows are divided by.
#[derive(Clone, Debug)]
pub(super) struct Scaled<'g> {
    /// The rows of A, and of Aᵀ.
    pub(super) rows: Rows<'g>,
    pub(super) transposed: Rows<'g>,
    /// D of the rows of Ã.
    pub(super) left: Vec<f64>,
    /// D of the rows of Ãᵀ, where they are others and matter.
    pub(super) right: Option<Vec<f64>>,
}

/// The rows of A and of Aᵀ for an operator on a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'g> {
    pub(super) rows: Rows<'g>,
    pub(super) transposed: Rows<'g>,
    /// Whether D of the transposed is another one, and matters.
    pub(super) differ: bool,
}

impl<'g> Sides<'g> {
    pub(super) fn new(graph: &'g Graph, operator: &Operator) -> Result<Self> {
        let graph = match operator.relation() {
            Some(name) => graph.relation(name)?,
            None => graph,
        };
        let (rows, transposed) = match operator.direction {
            Direction::Both => (graph.rows(), graph.rows()),
            Direction::Out | Direction::OutIn => (graph.outgoing(), graph.incoming()),
            Direction::In | Direction::InOut => (graph.incoming(), graph.outgoing()),
        };
        let one_way = graph.is_directed() && operator.direction != Direction::Both;
        let needed = operator.direction.is_there_and_back()
            || operator.normalization == Normalization::Symmetric;
        Ok(Sides { rows, transposed, differ: one_way && needed })
    }
}

impl<'g> Scaled<'g> {
    /// The matrix that is multiplied by in one step, or in the last of two.
    pub(super) fn new(graph: &'g Graph, operator: &Operator) -> Result<Self> {
        let Sides { rows, transposed, differ } = Sides::new(graph, operator)?;
        let of = |rows| degrees(rows, operator.loops(), operator.normalization);
        let right = differ.then(|| of(transposed));
        Ok(Scaled { rows, transposed, left: of(rows), right })
    }

    /// D of the rows of Ãᵀ.
    pub(super) fn right(&self) -> &[f64] {
        self.right.as_deref().unwrap_or(&self.left)
    }
}

/// What each row of A + s·I is divided by.
fn degrees(rows: Rows<'_>, loops: f32, normalization: Normalization) -> Vec<f64> {
    (0..rows.nodes()).map(|node| degree(rows, node, loops, normalization)).collect()
}

/// What a row of A + s·I is divided by: its sum, or its length; 1 for a row of zeros.
pub(super) fn degree(rows: Rows<'_>, node: usize, loops: f32, normalization: Normalization) -> f64 {
    let loops = f64::from(loops);
    let degree = match (normalization, rows.weights_of(node)) {
        (Normalization::Symmetric | Normalization::Row, Some(weights)) => {
            loops + weights.iter().map(|&w| f64::from(w)).sum::<f64>()
        }
        (Normalization::Symmetric | Normalization::Row, None) => loops + rows.degree(node) as f64,
        (Normalization::Unit, Some(weights)) => {
            let squares: f64 = weights.iter().map(|&w| f64::from(w) * f64::from(w)).sum();
            (loops * loops + squares).sqrt()
        }
        (Normalization::Unit, None) => (loops * loops + rows.degree(node) as f64).sqrt(),
    };
    if degree > 0.0 { degree } else { 1.0 }
}

impl Graph {
    /// D̃: each node's summed edge weights, plus 1 for its self-loop.
    pub fn degrees(&self) -> Vec<f64> {
        degrees(self.rows(), 1.0, Normalization::Row)
    }

    /// ln(1 + number of neighbours) of each node; of a directed graph, of the arcs that start there and of those that end
    /// there.
    pub(crate) fn log_degrees(&self) -> Matrix<f32> {
        self.log_degrees_of(&(0..self.nodes()).collect::<Vec<usize>>())
    }

    /// As [`Graph::log_degrees`], of some nodes.
    pub(crate) fn log_degrees_of(&self, nodes: &[usize]) -> Matrix<f32> {
        let kinds = match self.is_directed() {
            true => vec![self.outgoing(), self.incoming()],
            false => vec![self.rows()],
        };
        Matrix::from_fn(nodes.len(), kinds.len(), |k, kind| {
            (kinds[kind].degree(nodes[k]) as f64).ln_1p() as f32
        })
    }
}
