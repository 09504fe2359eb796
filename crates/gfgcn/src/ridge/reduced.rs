//! A ridge system in tridiagonal form, as `path.rs` has it.

use crate::error::Error;
use crate::linalg::{FORMS_AT_ONCE, ShiftedFactors, Tridiagonal};
use crate::matrix::Matrix;
use std::ops::Range;

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
    /// q_i for each node of the range (rows) and penalty (columns).
    pub(super) fn quadratic_forms(
        &self,
        factors: &ShiftedFactors,
        nodes: Range<usize>,
    ) -> Matrix<f64> {
        const LANES: usize = FORMS_AT_ONCE;
        let penalties = factors.failed().len();
        let mut out = Matrix::zeros(nodes.len(), penalties);
        let mut vectors = vec![[0.0; LANES]; self.rows.cols()];
        let mut forms = vec![[0.0; LANES]; penalties];
        for first in nodes.clone().step_by(LANES) {
            let count = LANES.min(nodes.end - first);
            for lane in 0..count {
                for (vector, &value) in vectors.iter_mut().zip(self.rows.row(first + lane)) {
                    vector[lane] = value;
                }
            }
            factors.quadratic_forms(&vectors, &mut forms);
            for lane in 0..count {
                let row = out.row_mut(first - nodes.start + lane);
                row.iter_mut().zip(&forms).for_each(|(out, forms)| *out = forms[lane]);
            }
        }
        out
    }
}

/// What is said of a penalty that double precision does not see.
pub(super) fn too_small(pivot: usize, xi: f64) -> Error {
    Error::NotPositiveDefinite { pivot, lambda: xi.recip() }
}
