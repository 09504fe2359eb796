//! A ridge path whose systems are solved on a device.
//!
//! The device has S, and solves S + ξI by a Cholesky factorisation for every penalty: that is more arithmetic than one
//! reduction for all of them (`path.rs`), but all of it in large products, many penalties side by side. What it returns is the
//! fit and the leverage of every node; weights and intercepts are dealt with here.

use super::left_out::Form;
use super::path::{LEFT_OUT_AT_A_TIME, Means};
use super::weights::{Scaling, column_means, scaled_rows};
use crate::context::Context;
use crate::device::{
    Device, Gathered, Judged, Judging, LeftOutFits, LeftOutParts, System, SystemInputs,
};
use crate::driver::Filtered;
use crate::error::Result;
use crate::matrix::Matrix;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of V and q that are here at a time, twice: one block is visited while the next one is fetched.
const BLOCK_BYTES: usize = 64 << 20;

/// A system on a device, with targets.
#[derive(Clone, Debug)]
pub(super) struct OnDevice {
    form: Form,
    /// With the targets √w Y, and √w itself beside them where the dual form has an intercept.
    system: Arc<dyn System>,
    nodes: usize,
    /// Columns of Y.
    targets: usize,
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
        let Some(channels) = filtered.resident() else { return Ok(None) };
        let positions = filtered.positions(nodes);
        let n = nodes.len();
        let share = |i: usize| weights.map_or(1.0 / n as f64, |weights| weights.share(i));
        let shares: Option<Vec<f64>> = intercept.then(|| (0..n).map(share).collect());
        let roots = weights.map(Scaling::roots);
        let rows = Gathered { channels, positions: &positions, shares: shares.as_deref(), roots };
        let form = if rows.is_primal() { Form::Primal } else { Form::Dual };
        let inputs = SystemInputs::Resident(rows);
        let begun = OnDevice::begin(device, form, inputs, targets, weights, intercept, context)?;
        let along = match begun.on_device.direction() {
            // uᵀ M u = ‖Fᵀu‖² of the scaled rows.
            Some(u) => {
                let projected = begun.on_device.system.transposed_times(&u, context)?;
                projected.as_slice().iter().map(|value| value * value).sum()
            }
            None => 0.0,
        };
        begun.with_scale(along).map(Some)
    }

    /// The system of features that are centred and scaled already.
    pub(super) fn primal(
        device: &dyn Device,
        features: &Matrix<f64>,
        targets: &Matrix<f64>,
        weights: Option<&Scaling>,
        context: &Context,
    ) -> Result<Begun> {
        let inputs = SystemInputs::Primal(features);
        let begun = OnDevice::begin(device, Form::Primal, inputs, targets, weights, false, context);
        begun?.with_scale(0.0)
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
        let inputs = SystemInputs::Dual(gram);
        let begun =
            OnDevice::begin(device, Form::Dual, inputs, targets, weights, intercept, context)?;
        let along = begun.on_device.direction().map_or(0.0, |u| {
            let product = |i: usize| -> f64 {
                gram.row(i).iter().zip(u.as_slice()).map(|(m, u)| m * u).sum()
            };
            (0..gram.rows()).map(|i| u[(i, 0)] * product(i)).sum()
        });
        begun.with_scale(along)
    }

    fn begin(
        device: &dyn Device,
        form: Form,
        inputs: SystemInputs<'_>,
        targets: &Matrix<f64>,
        weights: Option<&Scaling>,
        intercept: bool,
        context: &Context,
    ) -> Result<Begun> {
        let n = targets.rows();
        let mut scaled = match weights {
            None => Cow::Borrowed(targets),
            weights => Cow::Owned(scaled_rows(targets.clone(), weights)),
        };
        let by_ones = form == Form::Dual && intercept;
        let roots = by_ones.then(|| weights.map_or_else(|| vec![1.0; n], |w| w.roots().to_vec()));
        if let Some(roots) = &roots {
            let beside = Matrix::from_fn(n, 1, |i, _| roots[i]);
            scaled = Cow::Owned(Matrix::side_by_side(&[&scaled, &beside]));
        }
        let system = device.system(inputs, &scaled, context)?;
        let means = system.means().map(|inputs| Means {
            targets: column_means(targets, weights),
            inputs: inputs.to_vec(),
        });
        let on_device = OnDevice { form, system, nodes: n, targets: targets.cols(), roots };
        Ok(Begun { on_device, form, scale: 0.0, means })
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
        let solutions = self.system.solve(penalties, context)?;
        let without_ones = |solution: Matrix<f64>| match &self.roots {
            None => (solution, None),
            Some(roots) => {
                let (v, constants, _) = without_ones(&solution, roots);
                (v, Some(constants))
            }
        };
        Ok(solutions.into_iter().map(|solution| solution.map(without_ones)).collect())
    }

    /// Penalties whose left-out predictions are computed at a time.
    pub(super) fn penalties_at_once(&self) -> Result<usize> {
        let on_device = self.system.penalties_at_once()?;
        Ok(match self.form {
            Form::Primal => on_device,
            // All nodes are one block.
            Form::Dual => {
                let fit = BLOCK_BYTES / (self.bytes_per_node() * self.nodes).max(1);
                on_device.min(fit.max(1))
            }
        })
    }

    /// Hands V and q of every node to `visit`, a block of nodes at a time, for each penalty: while one block is visited, the
    /// device computes the next. Returns which penalties were large enough for double precision.
    pub(super) fn left_out(
        &self,
        penalties: &[f64],
        context: &Context,
        mut visit: impl FnMut(Range<usize>, &LeftOutParts) -> Result<()> + Send,
    ) -> Result<Vec<bool>> {
        let fits = self.system.left_out(penalties, context)?;
        let blocks = self.blocks(penalties.len());
        let fetch = |block: usize, out: &mut LeftOutParts| match blocks.get(block) {
            Some(nodes) => self.fetch(fits.as_ref(), nodes.clone(), out, context),
            None => Ok(()),
        };
        let (mut here, mut next) = (LeftOutParts::default(), LeftOutParts::default());
        fetch(0, &mut here)?;
        for (k, block) in blocks.iter().enumerate() {
            let (visited, fetched) =
                rayon::join(|| visit(block.clone(), &here), || fetch(k + 1, &mut next));
            visited.and(fetched)?;
            std::mem::swap(&mut here, &mut next);
        }
        Ok(fits.usable().to_vec())
    }

    /// How well left-out predictions fit on the primal side; `None` for a penalty too small for double precision.
    pub(super) fn judge(
        &self,
        penalties: &[f64],
        judging: &Judging<'_>,
        context: &Context,
    ) -> Result<Vec<Option<Judged>>> {
        let fits = self.system.left_out(penalties, context)?;
        let judged = fits.judge(judging, context)?.into_iter().zip(fits.usable());
        Ok(judged.map(|(judged, usable)| usable.then_some(judged)).collect())
    }

    /// Ranges of nodes that are fetched at a time: whole chunks, or all nodes where an intercept needs sums over them.
    fn blocks(&self, penalties: usize) -> Vec<Range<usize>> {
        let fit = BLOCK_BYTES / (self.bytes_per_node() * penalties.max(1));
        let block = match self.form {
            Form::Primal => (fit / LEFT_OUT_AT_A_TIME).max(1) * LEFT_OUT_AT_A_TIME,
            Form::Dual => self.nodes.max(1),
        };
        let starts = (0..self.nodes).step_by(block);
        starts.map(|start| start..self.nodes.min(start + block)).collect()
    }

    /// Bytes of V and q of a node at one penalty.
    fn bytes_per_node(&self) -> usize {
        8 * (self.targets + 2)
    }

    fn fetch(
        &self,
        fits: &dyn LeftOutFits,
        nodes: Range<usize>,
        out: &mut LeftOutParts,
        context: &Context,
    ) -> Result<()> {
        fits.fetch(nodes, out, context)?;
        let Some(roots) = &self.roots else { return Ok(()) };
        let (n, columns) = (self.nodes, self.targets + 1);
        let mut without = LeftOutParts::default();
        for (fitted, forms) in out.fitted.chunks(n * columns).zip(out.forms.chunks(n)) {
            let fitted = Matrix::from_rows(n, columns, fitted.to_vec())?;
            let (v, _, total) = without_ones(&fitted, roots);
            let along = |i: usize| fitted[(i, self.targets)] * fitted[(i, self.targets)] / total;
            without.fitted.extend_from_slice(v.as_slice());
            without.forms.extend(forms.iter().enumerate().map(|(i, q)| q - along(i)));
        }
        *out = without;
        Ok(())
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
    fn with_scale(mut self, along: f64) -> Result<Self> {
        let diagonal = self.on_device.system.diagonal()?;
        self.scale = (diagonal.iter().sum::<f64>() - along) / self.on_device.nodes as f64;
        Ok(self)
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
