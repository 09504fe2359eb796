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

impl<'g> Scaled<'g> {
    /// The matrix that is multiplied by in one step, or in the last of two.
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
        let of = |rows| degrees(rows, operator.loops(), operator.normalization);
        let one_way = graph.is_directed() && operator.direction != Direction::Both;
        let needed = operator.direction.is_there_and_back()
            || operator.normalization == Normalization::Symmetric;
        let right = (one_way && needed).then(|| of(transposed));
        Ok(Scaled { rows, transposed, left: of(rows), right })
    }

    /// D of the rows of Ãᵀ.
    pub(super) fn right(&self) -> &[f64] {
        self.right.as_deref().unwrap_or(&self.left)
    }
}

/// What each row of A + s·I is divided by: its sum, or its length; 1 for rows of zeros.
fn degrees(rows: Rows<'_>, loops: f32, normalization: Normalization) -> Vec<f64> {
    let loops = f64::from(loops);
    let sum = |node: usize| match rows.weights_of(node) {
        Some(weights) => loops + weights.iter().map(|&w| f64::from(w)).sum::<f64>(),
        None => loops + rows.degree(node) as f64,
    };
    let length = |node: usize| match rows.weights_of(node) {
        Some(weights) => {
            let squares: f64 = weights.iter().map(|&w| f64::from(w) * f64::from(w)).sum();
            (loops * loops + squares).sqrt()
        }
        None => (loops * loops + rows.degree(node) as f64).sqrt(),
    };
    let degree = |node| match normalization {
        Normalization::Symmetric | Normalization::Row => sum(node),
        Normalization::Unit => length(node),
    };
    let or_one = |degree: f64| if degree > 0.0 { degree } else { 1.0 };
    (0..rows.nodes()).map(|node| or_one(degree(node))).collect()
}

impl Graph {
    /// D̃: each node's summed edge weights, plus 1 for its self-loop.
    pub fn degrees(&self) -> Vec<f64> {
        degrees(self.rows(), 1.0, Normalization::Row)
    }

    /// ln(1 + number of neighbours) of each node; of a directed graph, of the arcs that start there and of those that end
    /// there.
    pub(crate) fn log_degrees(&self) -> Matrix<f32> {
        let kinds = match self.is_directed() {
            true => vec![self.outgoing(), self.incoming()],
            false => vec![self.rows()],
        };
        Matrix::from_fn(self.nodes(), kinds.len(), |node, kind| {
            (kinds[kind].degree(node) as f64).ln_1p() as f32
        })
    }
}
