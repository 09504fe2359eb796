//! A ridge system in tridiagonal form, as `path.rs` has it.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::{FORMS_AT_ONCE, ShiftedFactors, Tridiagonal, multiply};
use crate::matrix::Matrix;
use std::array;
use std::ops::Range;

/// S in tridiagonal form, and what is written in its basis.
#[derive(Clone, Debug)]
pub(super) struct Reduced {
    pub(super) system: Tridiagonal,
    pub(super) rows: Rows,
    /// Zᵀ Y.
    pub(super) right_side: Matrix<f64>,
}

/// The rows of the training nodes, which left-out predictions are made of.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// Z, one row per training node.
    Rotated(Matrix<f64>),
    /// Only solutions are asked for, and nothing is rotated but these. S is written in the basis of the nodes or features
    /// themselves, or in that of these columns.
    Untouched(Option<Matrix<f64>>),
}

impl Reduced {
    /// What solutions are made of. S is written in the basis of the nodes or features themselves, or in that of these columns,
    /// and so is the right side.
    pub(super) fn for_solutions(
        symmetric: Matrix<f64>,
        basis: Option<Matrix<f64>>,
        mut right_side: Matrix<f64>,
        context: &Context,
    ) -> Result<Self> {
        let system = Tridiagonal::reduce(symmetric, context)?;
        system.rotate_columns(&mut right_side, context)?;
        Ok(Reduced { system, rows: Rows::Untouched(basis), right_side })
    }

    /// What left-out predictions are made of, too, from the rows of the nodes in the basis that S is written in; without rows it is
    /// that of the nodes themselves.
    pub(super) fn with_rows(
        symmetric: Matrix<f64>,
        rows: Option<Matrix<f64>>,
        targets: Matrix<f64>,
        context: &Context,
    ) -> Result<Self> {
        let Some(mut rows) = rows else {
            let reduced = Reduced::for_solutions(symmetric, None, targets, context)?;
            let rows = reduced.system.basis(context)?;
            return Ok(Reduced { rows: Rows::Rotated(rows), ..reduced });
        };
        let (system, right_side) =
            Tridiagonal::reduce_and_rotate(symmetric, &mut rows, &targets, context)?;
        Ok(Reduced { system, rows: Rows::Rotated(rows), right_side })
    }

    /// Z.
    ///
    /// # Panics
    /// If only solutions were asked for.
    pub(super) fn rotated(&self) -> &Matrix<f64> {
        match &self.rows {
            Rows::Rotated(rows) => rows,
            Rows::Untouched(_) => panic!("left-out predictions of a path for solutions alone"),
        }
    }

    /// Z B, for the training nodes.
    pub(super) fn at_nodes(&self, b: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        match &self.rows {
            Rows::Rotated(rows) => multiply(rows, b, context),
            Rows::Untouched(None) => self.system.rotate_back(b, context),
            Rows::Untouched(Some(basis)) => {
                multiply(basis, &self.system.rotate_back(b, context)?, context)
            }
        }
    }

    /// q_i for each node of the range (rows) and penalty (columns).
    pub(super) fn quadratic_forms(
        &self,
        factors: &ShiftedFactors,
        nodes: Range<usize>,
    ) -> Matrix<f64> {
        const LANES: usize = FORMS_AT_ONCE;
        let penalties = factors.failed().len();
        let mut out = Matrix::zeros(nodes.len(), penalties);
        let rows = self.rotated();
        let mut vectors = vec![[0.0; LANES]; rows.cols()];
        let mut forms = vec![[0.0; LANES]; penalties];
        for first in nodes.clone().step_by(LANES) {
            let count = LANES.min(nodes.end - first);
            // The last ones again where there are no more.
            let rows: [&[f64]; LANES] =
                array::from_fn(|lane| &rows.row(first + lane.min(count - 1))[..vectors.len()]);
            for (k, vector) in vectors.iter_mut().enumerate() {
                *vector = array::from_fn(|lane| rows[lane][k]);
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
