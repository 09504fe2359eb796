//! The prediction of a training node by what is learnt without it, from what is learnt with it.

use super::weights::Scaling;
use crate::device::Judging;
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Left-out predictions smaller than this share of the largest target are zeros before rounding.
const ROUNDING: f64 = 1e-9;
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
        }
    }

    /// The left-out prediction of a node from V_i and q_i.
    pub(super) fn predict(&self, node: usize, fitted: &[f64], form: f64, out: &mut [f64]) {
        let (targets, weights) = (self.targets.row(node), self.weights);
        let share =
            || weights.map_or(1.0 / self.targets.rows() as f64, |weights| weights.share(node));
        let leverage = form + self.means.map_or(0.0, |_| share());
        let root = weights.map(|weights| weights.root(node));
        for (t, out) in out.iter_mut().enumerate() {
            let scaled_residual = match self.form {
                Form::Dual => fitted[t] / form,
                Form::Primal => {
                    let centred = targets[t] - self.means.map_or(0.0, |means| means[t]);
                    (root.map_or(centred, |root| root * centred) - fitted[t]) / (1.0 - leverage)
                }
            };
            *out = targets[t] - root.map_or(scaled_residual, |root| scaled_residual / root);
            // What no other node reaches is predicted 0; rounding would leave a trace of its own target.
            if out.abs() < self.zeros[t] {
                *out = 0.0;
            }
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
