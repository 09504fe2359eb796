//! The fit and the leverage of training nodes, which left-out predictions follow from: computed as they are needed, or
//! fetched from a device.

use super::reduced::Reduced;
use crate::context::Context;
use crate::device::LeftOutParts;
use crate::error::Result;
use crate::linalg::{ShiftedFactors, multiply_some_rows};
use crate::matrix::Matrix;
use std::ops::Range;

/// V and q for several penalties: those of all nodes, computed as they are needed, or those of a block that is there already.
pub(super) enum Fits<'a> {
    Here { reduced: &'a Reduced, factors: ShiftedFactors, solutions: Matrix<f64> },
    Fetched { parts: &'a LeftOutParts, block: Range<usize> },
}

/// Those of some nodes.
pub(super) enum FitsOf<'a> {
    Here { fitted: Matrix<f64>, forms: Matrix<f64> },
    Fetched { parts: &'a LeftOutParts, nodes: usize, first: usize },
}

impl Fits<'_> {
    /// The nodes that these are of.
    pub(super) fn nodes(&self) -> Range<usize> {
        match self {
            Fits::Here { reduced, .. } => 0..reduced.rotated().rows(),
            Fits::Fetched { block, .. } => block.clone(),
        }
    }

    pub(super) fn of(&self, nodes: Range<usize>, context: &Context) -> Result<FitsOf<'_>> {
        Ok(match self {
            Fits::Here { reduced, factors, solutions } => {
                let fitted =
                    multiply_some_rows(reduced.rotated(), nodes.clone(), solutions, context)?;
                FitsOf::Here { fitted, forms: reduced.quadratic_forms(factors, nodes) }
            }
            Fits::Fetched { parts, block } => {
                FitsOf::Fetched { parts, nodes: block.len(), first: nodes.start - block.start }
            }
        })
    }
}

impl FitsOf<'_> {
    /// V and q of the k-th node for a penalty, of so many targets.
    pub(super) fn at(&self, penalty: usize, k: usize, targets: usize) -> (&[f64], f64) {
        match self {
            FitsOf::Here { fitted, forms } => {
                (&fitted.row(k)[penalty * targets..(penalty + 1) * targets], forms[(k, penalty)])
            }
            FitsOf::Fetched { parts, nodes, first } => {
                let at = penalty * nodes + first + k;
                (&parts.fitted[at * targets..(at + 1) * targets], parts.forms[at])
            }
        }
    }
}
