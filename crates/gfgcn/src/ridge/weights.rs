//! Nodes that count more than others: min Σ_i w_i ‖y_i − f_i‖² + ξ ‖W‖².
//!
//! With s_i = √w_i this is the plain problem of the rows s_i F_i and s_i y_i, or of the kernel matrix s_i M_ij s_j; the
//! direction that an intercept removes is then s instead of the constants, and a residual of the scaled
//! problem is s_i times that of the node.

use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// The weights of the training nodes, as what scales their rows.
#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    /// s.
    roots: Vec<f64>,
    /// Σ w.
    total: f64,
}

impl Scaling {
    /// # Errors
    /// Weights that are not positive and finite, or not one for each of the nodes.
    pub(crate) fn new(weights: Option<&[f64]>, nodes: usize) -> Result<Option<Self>> {
        let Some(weights) = weights else { return Ok(None) };
        Error::check_size("weights (one per training node)", nodes, weights.len())?;
        match weights.iter().find(|&&weight| !(weight > 0.0 && weight.is_finite())) {
            Some(weight) => Err(Error::parameter("weight", weight, "a positive finite number")),
            None => Ok(Some(Scaling {
                roots: weights.iter().map(|weight| weight.sqrt()).collect(),
                total: weights.iter().sum(),
            })),
        }
    }

    /// s.
    pub(super) fn roots(&self) -> &[f64] {
        &self.roots
    }

    /// s_i.
    pub(super) fn root(&self, node: usize) -> f64 {
        self.roots[node]
    }

    /// Σ w.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// The share w_i / Σ w of a node in a mean.
    pub(super) fn share(&self, node: usize) -> f64 {
        self.roots[node] * self.roots[node] / self.total
    }

    /// The direction s, of unit length.
    pub(super) fn direction(&self) -> Vec<f64> {
        let length = self.total.sqrt();
        self.roots.iter().map(|root| root / length).collect()
    }

    /// Multiplies row i by s_i.
    pub(super) fn scale_rows(&self, matrix: &mut Matrix<f64>) {
        for (i, root) in self.roots.iter().enumerate() {
            matrix.row_mut(i).iter_mut().for_each(|value| *value *= root);
        }
    }

    /// Multiplies entry (i, j) by s_i s_j.
    pub(super) fn scale_both(&self, matrix: &mut Matrix<f64>) {
        for (i, root) in self.roots.iter().enumerate() {
            let row = matrix.row_mut(i).iter_mut().zip(&self.roots);
            row.for_each(|(value, other)| *value *= root * other);
        }
    }
}

/// The means of the columns, weighted where there are weights.
pub(crate) fn column_means(matrix: &Matrix<f64>, scaling: Option<&Scaling>) -> Vec<f64> {
    let Some(scaling) = scaling else { return matrix.column_means() };
    let mut means = vec![0.0; matrix.cols()];
    for i in 0..matrix.rows() {
        let share = scaling.share(i);
        means.iter_mut().zip(matrix.row(i)).for_each(|(mean, value)| *mean += share * value);
    }
    means
}

/// The rows of a matrix times s, where there are weights.
pub(crate) fn scaled_rows(mut matrix: Matrix<f64>, scaling: Option<&Scaling>) -> Matrix<f64> {
    if let Some(scaling) = scaling {
        scaling.scale_rows(&mut matrix);
    }
    matrix
}
