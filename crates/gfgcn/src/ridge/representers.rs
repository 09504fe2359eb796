//! Representers: α of training nodes whose features are weighted by W = Fᵀα, and the landmarks by which they may be compared.

use super::factorise;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, gram_of_columns, gram_of_rows, multiply, multiply_transposed};
use crate::matrix::Matrix;

/// W and Fᵀα may differ by this share of the largest weight.
const ROUNDING: f64 = 1e-13;
/// Corrections of α, each of which takes away most of what is left.
const CORRECTIONS: usize = 4;

/// Corrects α until Fᵀα = W, by the rows that F has.
pub(crate) fn correct_representers(
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

/// The factor of the kernel among landmarks. Those that are nearly alike make it singular; this much more of themselves changes
/// nothing.
pub(crate) fn factorise_landmarks(mut among: Matrix<f64>, context: &Context) -> Result<Cholesky> {
    (0..among.rows()).for_each(|i| among[(i, i)] += 1e-8);
    Cholesky::new(among, context)?
        .map_err(|_| Error::Data("the kernel of the landmarks has no factorisation".into()))
}
