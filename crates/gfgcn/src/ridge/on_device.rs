//! A ridge path whose systems are solved on a device.
//!
//! The device has S, and solves S + ξI by a Cholesky factorisation for every penalty: that is more arithmetic than one
//! reduction for all of them (`path.rs`), but all of it in large products, many penalties side by side. What it returns is the
//! fit and the leverage of every node; weights and intercepts are dealt with here.

use super::left_out::Form;
use super::path::Means;
use super::weights::{Scaling, column_means, scaled_rows};
use crate::context::Context;
use crate::device::{Device, Gathered, LeftOutParts, System, SystemInputs};
use crate::driver::Filtered;
use crate::error::Result;
use crate::matrix::Matrix;
use std::sync::Arc;

/// A system on a device, with targets.
#[derive(Clone, Debug)]
pub(super) struct OnDevice {
    form: Form,
    system: Arc<dyn System>,
    /// √w Y, and √w itself beside it where the dual form has an intercept.
    targets: Matrix<f64>,
    /// √w, where the dual form has an intercept.
    roots: Option<Vec<f64>>,
}

/// What a path needs beside the system.
pub(super) struct Begun {
    pub(super) on_device: OnDevice,
    pub(super) form: Form,
    pub(super) scale: f64,
    pub(super) means: Option<Means>,
}

/// The solution of one penalty: V or W, and the intercept where it does not follow from means.
pub(super) type Solved = (Matrix<f64>, Option<Vec<f64>>);

impl OnDevice {
    /// The system of some training nodes whose rows are on the device.
    ///
    /// `None` if the rows are not there, or are not finite.
    pub(super) fn gathered(
        device: &dyn Device,
        filtered: &Filtered,
        nodes: &[usize],
        targets: &Matrix<f64>,
        weights: Option<&Scaling>,
        intercept: bool,
        context: &Context,
    ) -> Result<Option<Begun>> {
        let Some((channels, positions)) = filtered.resident(nodes) else { return Ok(None) };
        let n = nodes.len();
        let shares: Vec<f64> =
            (0..n).map(|i| weights.map_or(1.0 / n as f64, |weights| weights.share(i))).collect();
        let roots = weights.map(Scaling::roots);
        let shares = intercept.then_some(shares.as_slice());
        let rows = Gathered { channels, positions: &positions, shares, roots };
        let form = if rows.is_primal() { Form::Primal } else { Form::Dual };
        let system = device.system(SystemInputs::Resident(rows), context)?;
        let begun = OnDevice::begin(form, system, targets, weights, intercept);
        let along = match begun.on_device.direction() {
            // uᵀ M u = ‖Fᵀu‖² of the scaled rows.
            Some(u) => {
                let projected = begun.on_device.system.transposed_times(&u, context)?;
                projected.as_slice().iter().map(|value| value * value).sum()
            }
            None => 0.0,
        };
        Ok(Some(begun.with_scale(along)))
    }

    /// The system of features that are centred and scaled already.
    pub(super) fn primal(
        device: &dyn Device,
        features: &Matrix<f64>,
        targets: &Matrix<f64>,
        weights: Option<&Scaling>,
        context: &Context,
    ) -> Result<Begun> {
        let system = device.system(SystemInputs::Primal(features), context)?;
        Ok(OnDevice::begin(Form::Primal, system, targets, weights, false).with_scale(0.0))
    }

    /// The system of a kernel matrix that is scaled already.
    pub(super) fn dual(
        device: &dyn Device,
        gram: &Matrix<f64>,
        targets: &Matrix<f64>,
        weights: Option<&Scaling>,
        intercept: bool,
        context: &Context,
    ) -> Result<Begun> {
        let system = device.system(SystemInputs::Dual(gram), context)?;
        let begun = OnDevice::begin(Form::Dual, system, targets, weights, intercept);
        let along = begun.on_device.direction().map_or(0.0, |u| {
            let product = |i: usize| -> f64 {
                gram.row(i).iter().zip(u.as_slice()).map(|(m, u)| m * u).sum()
            };
            (0..gram.rows()).map(|i| u[(i, 0)] * product(i)).sum()
        });
        Ok(begun.with_scale(along))
    }

    fn begin(
        form: Form,
        system: Arc<dyn System>,
        targets: &Matrix<f64>,
        weights: Option<&Scaling>,
        intercept: bool,
    ) -> Begun {
        let n = targets.rows();
        let mut scaled = scaled_rows(targets.clone(), weights);
        let by_ones = form == Form::Dual && intercept;
        let roots = by_ones.then(|| weights.map_or_else(|| vec![1.0; n], |w| w.roots().to_vec()));
        if let Some(roots) = &roots {
            let beside = Matrix::from_fn(n, 1, |i, _| roots[i]);
            scaled = Matrix::side_by_side(&[&scaled, &beside]);
        }
        let means = system.means().map(|inputs| Means {
            targets: column_means(targets, weights),
            inputs: inputs.to_vec(),
        });
        let on_device = OnDevice { form, system, targets: scaled, roots };
        Begun { on_device, form, scale: 0.0, means }
    }

    /// The direction that an intercept of the dual form removes, of unit length.
    fn direction(&self) -> Option<Matrix<f64>> {
        let roots = self.roots.as_ref()?;
        let length = roots.iter().map(|root| root * root).sum::<f64>().sqrt();
        Some(Matrix::from_fn(roots.len(), 1, |i, _| roots[i] / length))
    }

    /// W on the primal side, V on the dual one, for each penalty.
    pub(super) fn solve(
        &self,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Vec<Option<Solved>>> {
        let solutions = self.system.solve(penalties, &self.targets, context)?;
        let without_ones = |solution: Matrix<f64>| match &self.roots {
            None => (solution, None),
            Some(roots) => {
                let (v, constants, _) = without_ones(&solution, roots);
                (v, Some(constants))
            }
        };
        Ok(solutions.into_iter().map(|solution| solution.map(without_ones)).collect())
    }

    /// V and q of every node, for each penalty.
    pub(super) fn left_out(
        &self,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Vec<Option<LeftOutParts>>> {
        let parts = self.system.left_out(penalties, &self.targets, context)?;
        let without_ones = |parts: LeftOutParts| match &self.roots {
            None => parts,
            Some(roots) => {
                let (fitted, _, total) = without_ones(&parts.fitted, roots);
                let last = parts.fitted.cols() - 1;
                let along = |i: usize| parts.fitted[(i, last)] * parts.fitted[(i, last)] / total;
                let forms = parts.forms.iter().enumerate();
                LeftOutParts { forms: forms.map(|(i, q)| q - along(i)).collect(), fitted }
            }
        };
        Ok(parts.into_iter().map(|parts| parts.map(without_ones)).collect())
    }

    /// Weights of the features: W itself, or FᵀV.
    pub(super) fn weights(&self, solution: Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        match self.form {
            Form::Primal => Ok(solution),
            Form::Dual => self.system.transposed_times(&solution, context),
        }
    }
}

impl Begun {
    /// The mean of the diagonal, less what is along a direction that is removed.
    fn with_scale(mut self, along: f64) -> Self {
        let diagonal = self.on_device.system.diagonal();
        self.scale = (diagonal.iter().sum::<f64>() - along) / self.on_device.targets.rows() as f64;
        self
    }
}

/// From A⁻¹[√w Y, √w] to A⁻¹ √w (Y − 1bᵀ), the b that make the columns of √w times it sum to 0, and √wᵀ A⁻¹ √w.
fn without_ones(solution: &Matrix<f64>, roots: &[f64]) -> (Matrix<f64>, Vec<f64>, f64) {
    let (n, last) = (solution.rows(), solution.cols() - 1);
    let along = |column: usize| (0..n).map(|i| roots[i] * solution[(i, column)]).sum::<f64>();
    let total = along(last);
    let constants: Vec<f64> = (0..last).map(|column| along(column) / total).collect();
    let v = Matrix::from_fn(n, last, |i, c| solution[(i, c)] - constants[c] * solution[(i, last)]);
    (v, constants, total)
}
