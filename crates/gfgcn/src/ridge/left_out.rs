//! The prediction of a training node by what is learnt without it, from what is learnt with it.

use super::weights::Scaling;
use crate::device::Judging;
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Left-out predictions smaller than this share of the largest target are zeros before rounding.
const ROUNDING: f64 = 1e-9;
/// With a leverage h, rounding grows by 1 / (1 − h), and so does what is no more than rounding.
const GROWTH: f64 = 64.0 * f64::EPSILON / ROUNDING;
/// Rows of targets that a task looks through at least.
const ROWS_AT_ONCE: usize = 4096;

/// The side that a problem is solved on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Primal,
    Dual,
}

/// The formula of exact leave-one-out, as `path.rs` has it.
pub(super) struct LeftOut<'a> {
    pub(super) form: Form,
    /// Y.
    pub(super) targets: &'a Matrix<f64>,
    /// Means of Y's columns, with an intercept.
    pub(super) means: Option<&'a [f64]>,
    pub(super) weights: Option<&'a Scaling>,
    /// Predictions of each column that are smaller are zeros before rounding: see [`zeros_of`].
    pub(super) zeros: &'a [f64],
}

impl<'a> LeftOut<'a> {
    /// What a device judges predictions by, where the nodes have these classes or else values.
    pub(super) fn judging(&self, classes: Option<&'a [u32]>) -> Judging<'a> {
        Judging {
            classes,
            means: self.means,
            roots: self.weights.map(Scaling::roots),
            total: self.weights.map_or(self.targets.rows() as f64, Scaling::total),
            zeros: self.zeros,
            growth: GROWTH,
        }
    }

    /// How rounding grows at a penalty ξ, times 1 / (room − q_i): 1 − h is the room that is left in the primal form, and
    /// ξ q_i in the dual one.
    pub(super) fn growth(&self, xi: f64) -> f64 {
        match self.form {
            Form::Primal => GROWTH,
            Form::Dual => GROWTH / xi,
        }
    }

    /// What does not depend on the penalty.
    pub(super) fn of(&self, node: usize) -> LeftOutNode<'a> {
        let (targets, weights) = (self.targets.row(node), self.weights);
        let share =
            || weights.map_or(1.0 / self.targets.rows() as f64, |weights| weights.share(node));
        let root = weights.map_or(1.0, |weights| weights.root(node));
        // A residual of the dual form is V_i / q_i = (0 − V_i) / (0 − q_i).
        let (scale, room) = match (self.form, self.means) {
            (Form::Dual, _) => (0.0, 0.0),
            (Form::Primal, None) => (root, 1.0),
            (Form::Primal, Some(_)) => (root, 1.0 - share()),
        };
        LeftOutNode { targets, means: self.means, scale, room, root, zeros: self.zeros }
    }
}

/// The formula for one node: y_i − (aim − V_i) / ((room − q_i) s_i), where V_i comes near the aim.
pub(super) struct LeftOutNode<'a> {
    /// y_i.
    targets: &'a [f64],
    means: Option<&'a [f64]>,
    /// The aim is so many times y_i, less its mean: s_i, or 0 in the dual form.
    scale: f64,
    /// What q_i is subtracted from: 1, less the leverage of the mean; 0 in the dual form.
    room: f64,
    /// s_i.
    root: f64,
    zeros: &'a [f64],
}

impl LeftOutNode<'_> {
    /// The left-out prediction from V_i and q_i, where rounding [grows](LeftOut::growth) so much.
    #[inline]
    pub(super) fn predict(&self, fitted: &[f64], form: f64, growth: f64, out: &mut [f64]) {
        let factor = ((self.room - form) * self.root).recip();
        let rounding = (growth * factor.abs()).max(1.0);
        let columns = self.targets.iter().zip(self.zeros).zip(fitted).enumerate();
        for (out, (column, ((target, zero), fitted))) in out.iter_mut().zip(columns) {
            let mean = self.means.map_or(0.0, |means| means[column]);
            let left_out = target - (self.scale * (target - mean) - fitted) * factor;
            // What no other node reaches is predicted 0; rounding would leave a trace of its own target.
            *out = if left_out.abs() < zero * rounding { 0.0 } else { left_out };
        }
    }
}

/// What predictions of each column of Y are zeros below.
pub(super) fn zeros_of(targets: &Matrix<f64>) -> Vec<f64> {
    let columns = targets.cols();
    let larger = |mut most: Vec<f64>, row: &[f64]| {
        most.iter_mut().zip(row).for_each(|(most, size)| *most = size.abs().max(*most));
        most
    };
    let rows = targets.as_slice().par_chunks(columns.max(1)).with_min_len(ROWS_AT_ONCE);
    let parts = rows.fold(|| vec![0.0; columns], larger);
    let largest = parts.reduce(|| vec![0.0; columns], |most, part| larger(most, &part));
    largest.iter().map(|largest| ROUNDING * largest).collect()
}
