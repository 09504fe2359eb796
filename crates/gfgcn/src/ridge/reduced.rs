//! A ridge system in tridiagonal form, as `path.rs` has it.

use crate::error::{Error, Result};
use crate::linalg::{ShiftedFactor, Tridiagonal};
use crate::matrix::Matrix;
use std::ops::Range;

/// Rows whose leverages are computed side by side: enough that no vector waits for the last one, few enough for the
/// sixteen registers of AVX2.
pub(super) const SIDE_BY_SIDE: usize = 16;

/// S in tridiagonal form, and what is written in its basis.
#[derive(Clone, Debug)]
pub(super) struct Reduced {
    pub(super) system: Tridiagonal,
    /// Z, one row per training node.
    pub(super) rows: Matrix<f64>,
    /// Zᵀ Y.
    pub(super) right_side: Matrix<f64>,
}

impl Reduced {
    pub(super) fn shifted(&self, xi: f64) -> Result<ShiftedFactor> {
        self.system.shift(xi).map_err(|pivot| too_small(pivot, xi))
    }

    pub(super) fn factors(&self, penalties: &[f64]) -> Vec<Option<ShiftedFactor>> {
        penalties.iter().map(|&xi| self.system.shift(xi).ok()).collect()
    }

    /// B of every penalty, side by side; zeros where there is no factorisation.
    pub(super) fn solutions(&self, factors: &[Option<ShiftedFactor>]) -> Matrix<f64> {
        let t = self.right_side.cols();
        let mut out = Matrix::zeros(self.right_side.rows(), factors.len() * t);
        for (p, factor) in factors.iter().enumerate() {
            let Some(factor) = factor else { continue };
            let b = factor.solve(&self.right_side);
            for k in 0..b.rows() {
                out.row_mut(k)[p * t..(p + 1) * t].copy_from_slice(b.row(k));
            }
        }
        out
    }

    /// q_i for each penalty (rows) and node of the range (columns).
    pub(super) fn quadratic_forms(
        &self,
        factors: &[Option<ShiftedFactor>],
        nodes: Range<usize>,
    ) -> Matrix<f64> {
        const LANES: usize = SIDE_BY_SIDE;
        let size = self.rows.cols();
        let mut out = Matrix::zeros(factors.len(), nodes.len());
        let mut vectors = vec![[0.0; LANES]; size];
        for first in nodes.clone().step_by(LANES) {
            let count = LANES.min(nodes.end - first);
            for lane in 0..count {
                for (vector, &value) in vectors.iter_mut().zip(self.rows.row(first + lane)) {
                    vector[lane] = value;
                }
            }
            for (p, factor) in factors.iter().enumerate() {
                let Some(factor) = factor else { continue };
                let forms = factor.quadratic_forms(&vectors);
                let start = first - nodes.start;
                out.row_mut(p)[start..start + count].copy_from_slice(&forms[..count]);
            }
        }
        out
    }
}

/// What is said of a penalty that double precision does not see.
pub(super) fn too_small(pivot: usize, xi: f64) -> Error {
    Error::NotPositiveDefinite { pivot, lambda: xi.recip() }
}
