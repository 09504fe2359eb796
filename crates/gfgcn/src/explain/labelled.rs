//! Which labelled nodes a score comes from: s_c(i) = b_c + Σ_j K_ij α_jc.
//!
//! α_j = w_j (y_j − s(j)) λ is how far the model stays from what node j says. A linear kernel has W = Fᵀα, so its scores are
//! the same sum whether weights or labelled nodes are summed over; where rounding has spoilt that, α is corrected until they are.

use crate::context::Context;
use crate::design::Input;
use crate::error::Result;
use crate::linalg::{
    Cholesky, gram_of_columns, gram_of_rows, multiply, multiply_by_transposed, multiply_transposed,
};
use crate::matrix::Matrix;
use crate::model::{Member, Model};
use crate::predictor::Predictor;
use crate::ridge::factorise;
use crate::training::Training;

/// W and Fᵀα may differ by this share of the largest weight.
const ROUNDING: f64 = 1e-13;
/// Corrections of α, each of which takes away most of what is left.
const CORRECTIONS: usize = 4;

/// The labelled nodes of a model that keeps its training.
pub(super) struct Labelled {
    /// Of the graph it was trained on.
    pub(super) nodes: Vec<usize>,
    /// F of these nodes, where the kernel is linear.
    rows: Option<Matrix<f64>>,
    /// α, nodes × targets.
    coefficients: Matrix<f64>,
}

impl Labelled {
    /// `None` where the model does not keep the rows of its labelled nodes, or knows them by their links.
    pub(super) fn of(model: &Model, context: &Context) -> Result<Option<Self>> {
        let Some(training) = model.training() else { return Ok(None) };
        let (Some(rows), [member]) = (&training.rows, model.members()) else { return Ok(None) };
        if member.design.filters(Input::Structure) {
            return Ok(None);
        }
        let nodes = training.training_nodes();
        Ok(Some(match &member.predictor {
            Predictor::Kernel { coefficients, .. } => {
                Labelled { nodes, rows: None, coefficients: coefficients.clone() }
            }
            Predictor::Linear { weights, .. } => {
                let rows = rows.of(&nodes);
                let coefficients = representers(training, member, &rows, weights, context)?;
                Labelled { nodes, rows: Some(rows), coefficients }
            }
        }))
    }

    /// The terms of a node, labelled nodes × targets, from its filtered features where the kernel is linear, and its similarity
    /// to the labelled nodes elsewhere; one row.
    pub(super) fn terms(&self, row: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        let similar = match &self.rows {
            Some(rows) => multiply_by_transposed(row, rows, context)?,
            None => row.clone(),
        };
        Ok(Matrix::from_fn(self.nodes.len(), self.coefficients.cols(), |j, c| {
            similar[(0, j)] * self.coefficients[(j, c)]
        }))
    }
}

/// α of a linear kernel.
fn representers(
    training: &Training,
    member: &Member,
    rows: &Matrix<f64>,
    weights: &Matrix<f64>,
    context: &Context,
) -> Result<Matrix<f64>> {
    let mut alpha = training.residuals(member, rows, weights, context)?.weighted;
    alpha.as_mut_slice().iter_mut().for_each(|residual| *residual *= member.lambda);
    correct(&mut alpha, rows, weights, member.lambda.recip(), context)?;
    Ok(alpha)
}

/// Corrects α until Fᵀα = W, by the rows that F has.
fn correct(
    alpha: &mut Matrix<f64>,
    rows: &Matrix<f64>,
    weights: &Matrix<f64>,
    xi: f64,
    context: &Context,
) -> Result<()> {
    let largest = |m: &Matrix<f64>| m.as_slice().iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let by_rows = rows.rows() <= rows.cols();
    let mut factor: Option<Cholesky> = None;
    for _ in 0..CORRECTIONS {
        let mut missing = multiply_transposed(rows, alpha, context)?;
        missing.as_mut_slice().iter_mut().for_each(|value| *value = -*value);
        missing.add_scaled(1.0, weights);
        if largest(&missing) <= ROUNDING * largest(weights) {
            return Ok(());
        }
        let factor = match &mut factor {
            Some(factor) => factor,
            none => {
                let gram = match by_rows {
                    true => gram_of_rows(rows, context)?,
                    false => gram_of_columns(rows, context)?,
                };
                none.insert(factorise(gram, xi, context)?)
            }
        };
        let step = match by_rows {
            true => factor.solve(multiply(rows, &missing, context)?, context)?,
            false => multiply(rows, &factor.solve(missing, context)?, context)?,
        };
        alpha.add_scaled(1.0, &step);
    }
    Ok(())
}
