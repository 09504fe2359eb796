//! Kernel ridge regression in closed form, on plain matrices: inputs and targets, with no idea of classes.
//!
//! [`RidgePath`] factorises once and answers for every λ, [`Problem`] solves for one; [`Selection`] says how λ is
//! chosen, and a [`Ridge`] is everything that decides a solution besides the data.

mod build;
mod fits;
mod left_out;
mod memory;
mod on_device;
mod path;
mod problem;
mod reduced;
mod representers;
mod select;
mod weights;

pub use build::Purpose;
pub(crate) use memory::{Asked, Sizes};
pub use path::{RidgePath, Solution};
pub use problem::Problem;
pub(crate) use problem::factorise;
pub(crate) use representers::{correct_representers, factorise_landmarks};
pub use select::{Candidate, Selection, penalty_grid};
pub(crate) use select::{PENALTIES, best, no_usable_penalty};
pub(crate) use weights::{Scaling, column_means, scaled_rows};

use crate::context::Context;
use crate::data::TargetKind;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::gram_of_rows;
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};

/// How filtered features become scores.
///
/// | field | meaning | default |
/// |---|---|---|
/// | `kernel` | similarity of two nodes' filtered features | linear |
/// | `selection` | how λ is chosen | exact leave-one-out |
/// | `intercept` | fit a constant per target | no; values always have one |
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ridge {
    /// The similarity of two nodes' filtered features.
    pub kernel: Kernel,
    /// How λ is chosen.
    pub selection: Selection,
    /// Whether a constant is fitted per target. Values always have one: without, they would be drawn towards zero, which is
    /// nothing special among them.
    pub intercept: bool,
}

/// The ridge problem of some training nodes on its smaller side.
pub(crate) struct Posed {
    /// The kernel, its width filled in.
    pub(crate) kernel: Kernel,
    pub(crate) problem: Problem,
    /// The filtered features of the training nodes, where predictions need them.
    pub(crate) train: Option<Matrix<f64>>,
}

/// What is said of filtered features that are not finite.
pub(crate) fn features_overflow() -> Error {
    Error::Data(
        "the filtered features overflow single precision; divide the features by a large \
         number first (predictions do not depend on their scale)"
            .into(),
    )
}

impl Ridge {
    /// What it is for targets of a kind.
    #[must_use]
    pub fn on(self, kind: TargetKind) -> Self {
        Ridge { intercept: self.intercept || kind == TargetKind::Values, ..self }
    }

    /// Poses the problem of filtered training features (training nodes × features).
    pub(crate) fn pose(&self, train: Matrix<f64>, context: &Context) -> Result<Posed> {
        if self.kernel.is_linear() && train.rows() <= train.cols() {
            let gram = gram_of_rows(&train, context)?;
            // A squared length is finite exactly if every entry is.
            return if (0..gram.rows()).all(|i| gram[(i, i)].is_finite()) {
                Ok(Posed { kernel: self.kernel, problem: Problem::Dual(gram), train: Some(train) })
            } else {
                Err(features_overflow())
            };
        }
        if train.as_slice().iter().any(|value| !value.is_finite()) {
            return Err(features_overflow());
        }
        let kernel = self.kernel.resolve(&train);
        if kernel.is_linear() {
            return Ok(Posed { kernel, problem: Problem::Primal(train), train: None });
        }
        // Other kernels only have the dual side.
        let gram = kernel.matrix(&train, &train, context)?;
        Ok(Posed { kernel, problem: Problem::Dual(gram), train: Some(train) })
    }

    /// Floating-point operations of one closed-form solution: the system, its factorisation, and the path of λ.
    pub(crate) fn operations(&self, train: usize, features: usize, targets: usize) -> f64 {
        let (n, d, t) = (train as f64, features as f64, targets as f64);
        let (system, p) = match self.kernel.is_linear() {
            true => (n * d * n.min(d), n.min(d)),
            false => (2.0 * n * n * d, n),
        };
        system
            + match self.selection {
                Selection::Fixed(_) => p * p * p / 3.0 + 2.0 * p * p * t,
                // Solutions of all λ, and the scores of about as many nodes.
                Selection::Validation => {
                    let inputs = if p < n { 0.0 } else { 2.0 * n * n * d };
                    4.0 / 3.0 * p * p * p + inputs + PENALTIES as f64 * 2.0 * t * p * (p + n)
                }
                Selection::LeaveOneOut => {
                    // The basis of a dual problem costs less than rotating rows into it.
                    let rotated = match p < n || self.intercept {
                        true => 2.0 * n * p * p,
                        false => 4.0 / 3.0 * p * p * p,
                    };
                    let left_out = PENALTIES as f64 * n * p * (2.0 * t + 4.0);
                    4.0 / 3.0 * p * p * p + rotated + left_out
                }
            }
    }

    /// What is asked of a path: left-out predictions choose λ, or calibrate, or set the threshold of sets of labels.
    pub(crate) fn purpose(&self, calibrates: bool, of_sets: bool) -> Purpose {
        match self.uses_validation() && !calibrates && !of_sets {
            true => Purpose::Solutions,
            false => Purpose::LeftOut,
        }
    }

    /// Whether the validation part of a split has a say.
    pub fn uses_validation(&self) -> bool {
        self.selection == Selection::Validation
    }
}
