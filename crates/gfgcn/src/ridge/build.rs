//! From a problem to its path: the system, in the form that serves every λ (`path.rs` has the formulas).

use super::features_overflow;
use super::left_out::Form;
use super::on_device::{Begun, OnDevice};
use super::path::{Factored, Means, RidgePath};
use super::reduced::Reduced;
use super::weights::{Scaling, column_means, scaled_rows};
use crate::context::Context;
use crate::device::Device;
use crate::driver::Filtered;
use crate::error::Result;
use crate::linalg::{gram_of_columns, multiply_transposed};
use crate::matrix::Matrix;

/// What is asked of a [path](RidgePath).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Solutions, for any λ: about half of the work.
    Solutions,
    /// Left-out predictions as well.
    LeftOut,
}

/// Whether a system of so many rows, solved for all penalties, is worth sending to a device that is at hand.
fn worth_sending(size: usize) -> bool {
    size >= 256
}

impl RidgePath {
    /// The path of some training nodes whose filtered features are on a device, on the smaller side; `None` if they are not
    /// there.
    ///
    /// # Errors
    /// As [`Problem::path`](super::Problem::path), features that are not finite, or that the device fails.
    pub(crate) fn gathered(
        device: &dyn Device,
        filtered: &Filtered,
        nodes: &[usize],
        targets: Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        context: &Context,
    ) -> Result<Option<Self>> {
        let weights = Scaling::new(weights, nodes.len())?;
        let scaling = weights.as_ref();
        let begun =
            OnDevice::gathered(device, filtered, nodes, &targets, scaling, intercept, context)?;
        let Some(mut begun) = begun else { return Ok(None) };
        if !begun.scale.is_finite() {
            return Err(features_overflow());
        }
        let means = begun.means.take();
        Ok(Some(RidgePath::on_device(begun, targets, means, weights)))
    }

    fn on_device(
        begun: Begun,
        targets: Matrix<f64>,
        means: Option<Means>,
        weights: Option<Scaling>,
    ) -> Self {
        let Begun { on_device, form, scale, .. } = begun;
        let factored = Factored::OnDevice(on_device);
        RidgePath::new(form, factored, targets, scale, means, weights)
    }

    /// min_W ½ Σ_i w_i ‖F_i W − y_i‖² + ξ/2 ‖W‖², by FᵀF.
    pub(super) fn primal(
        purpose: Purpose,
        mut features: Matrix<f64>,
        targets: Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        context: &Context,
    ) -> Result<Self> {
        let n = features.rows();
        let weights = Scaling::new(weights, n)?;
        let means = intercept.then(|| {
            let means = Means {
                targets: column_means(&targets, weights.as_ref()),
                inputs: column_means(&features, weights.as_ref()),
            };
            features.add_to_rows(-1.0, &means.inputs);
            means
        });
        let features = scaled_rows(features, weights.as_ref());
        if let Some(device) = context.device().filter(|_| worth_sending(features.cols())) {
            let begun =
                OnDevice::primal(device.as_ref(), &features, &targets, weights.as_ref(), context)?;
            return Ok(RidgePath::on_device(begun, targets, means, weights));
        }
        let scaled = scaled_rows(targets.clone(), weights.as_ref());
        let (trace, reduced) = match purpose {
            Purpose::Solutions => {
                // The right side takes as long to read F as the other thread to multiply some of it.
                let (gram, right_side) = rayon::join(
                    || gram_of_columns(&features, context),
                    || multiply_transposed(&features, &scaled, context),
                );
                drop((features, scaled));
                let (gram, right_side) = (gram?, right_side?);
                (trace(&gram), Reduced::for_solutions(gram, None, right_side, context)?)
            }
            Purpose::LeftOut => {
                let gram = gram_of_columns(&features, context)?;
                (trace(&gram), Reduced::with_rows(gram, Some(features), scaled, context)?)
            }
        };
        let (factored, scale) = (Factored::Here(reduced), trace / n as f64);
        Ok(RidgePath::new(Form::Primal, factored, targets, scale, means, weights))
    }

    /// α = (M + ξ diag(w)⁻¹)⁻¹ Y for any kernel matrix M of the training nodes.
    pub(super) fn dual(
        purpose: Purpose,
        mut gram: Matrix<f64>,
        targets: Matrix<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
        context: &Context,
    ) -> Result<Self> {
        let n = gram.rows();
        let weights = Scaling::new(weights, n)?;
        let means = intercept.then(|| Means {
            targets: column_means(&targets, weights.as_ref()),
            inputs: column_means(&gram, weights.as_ref()),
        });
        if let Some(weights) = &weights {
            weights.scale_both(&mut gram);
        }
        if let Some(device) = context.device().filter(|_| worth_sending(n)) {
            let scaling = weights.as_ref();
            let begun =
                OnDevice::dual(device.as_ref(), &gram, &targets, scaling, intercept, context)?;
            return Ok(RidgePath::on_device(begun, targets, None, weights));
        }
        let (symmetric, basis) = if intercept {
            let constants = || vec![(n as f64).sqrt().recip(); n];
            let (symmetric, basis) =
                without(gram, weights.as_ref().map_or_else(constants, Scaling::direction));
            (symmetric, Some(basis))
        } else {
            (gram, None)
        };
        let scale = trace(&symmetric) / n as f64;
        let scaled = scaled_rows(targets.clone(), weights.as_ref());
        let reduced = match (purpose, basis) {
            (Purpose::LeftOut, basis) => Reduced::with_rows(symmetric, basis, scaled, context)?,
            (Purpose::Solutions, None) => Reduced::for_solutions(symmetric, None, scaled, context)?,
            (Purpose::Solutions, Some(basis)) => {
                let right_side = multiply_transposed(&basis, &scaled, context)?;
                drop(scaled);
                Reduced::for_solutions(symmetric, Some(basis), right_side, context)?
            }
        };
        let factored = Factored::Here(reduced);
        Ok(RidgePath::new(Form::Dual, factored, targets, scale, means, weights))
    }
}

fn trace(m: &Matrix<f64>) -> f64 {
    (0..m.rows()).map(|i| m[(i, i)]).sum()
}

/// Reflects M so that the direction u, of unit length, becomes the first coordinate and drops that coordinate.
///
/// Returns the matrix of size n−1 and the n rows of the basis it is written in. The reflection is
/// P = I − v vᵀ / v_0 with v = u + e_0, which maps u to −e_0.
fn without(mut m: Matrix<f64>, u: Vec<f64>) -> (Matrix<f64>, Matrix<f64>) {
    let n = m.rows();
    let mut v = u;
    v[0] += 1.0;
    let v0 = v[0]; // vᵀv / 2
    let mv: Vec<f64> = (0..n).map(|i| (0..n).map(|j| m[(i, j)] * v[j]).sum::<f64>() / v0).collect();
    let vmv = (0..n).map(|i| v[i] * mv[i]).sum::<f64>() / v0;
    for i in 0..n {
        for j in 0..n {
            m[(i, j)] += vmv * v[i] * v[j] - v[i] * mv[j] - mv[i] * v[j];
        }
    }
    let reflected =
        Matrix::from_fn(n - 1, n - 1, |i, j| 0.5 * (m[(i + 1, j + 1)] + m[(j + 1, i + 1)]));
    drop(m);
    let rows = Matrix::from_fn(n, n - 1, |i, j| f64::from(i == j + 1) - v[i] * v[j + 1] / v0);
    (reflected, rows)
}
