//! Kernel ridge regression in closed form, on plain matrices: inputs and targets, with no idea of classes.
//!
//! [`RidgePath`] factorises once and answers for every λ, [`Problem`] solves for one; [`Selection`] says how λ is
//! chosen, and a [`Ridge`] is everything that decides a solution besides the data.

mod fits;
mod left_out;
mod on_device;
mod path;
mod problem;
mod reduced;
mod representers;
mod select;
mod weights;

pub(crate) use path::LEFT_OUT_AT_A_TIME;
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

/// Columns as long as the system is large that a factorisation works in.
const SCRATCH: u64 = 256;

/// The sizes of one ridge problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes<T = usize> {
    /// Training nodes.
    pub(crate) train: T,
    /// Nodes that λ is chosen by.
    pub(crate) validation: T,
    /// Filtered features.
    pub(crate) columns: T,
    /// Columns of Y.
    pub(crate) targets: T,
}

impl Sizes {
    fn wide(self) -> Sizes<u64> {
        let Sizes { train, validation, columns, targets } = self;
        let [train, validation, columns, targets] =
            [train, validation, columns, targets].map(|size| size as u64);
        Sizes { train, validation, columns, targets }
    }
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

    /// Bytes that one closed-form solution takes, from the filtered features to the predictor. Parts of it that threads
    /// share, one for each of them, are in [`Ridge::shared_memory`].
    pub(crate) fn memory(&self, sizes: Sizes) -> u64 {
        let Sizes { train, validation, columns, targets } = sizes.wide();
        let (linear, size) = (self.kernel.is_linear(), self.size(sizes));
        // The features of the training nodes; some kernels move two copies of them to the origin.
        let features = if linear { train * columns } else { 3 * train * columns };
        // S, and the rows that are rotated with it; without constants it is copied on the way.
        let system =
            size * size * if self.intercept { 2 } else { 1 } + train * size + SCRATCH * size;
        // Y as it is and with weights.
        let path = 2 * (train + size) * targets;
        let penalties = PENALTIES as u64 * targets;
        let judged = match self.selection {
            Selection::Fixed(_) => 0,
            Selection::LeaveOneOut => size * penalties,
            // The solutions before and after they are rotated back, and the scores.
            Selection::Validation => {
                let inputs =
                    validation * (2 * columns + train) + if linear { 0 } else { train * columns };
                inputs + (size + train.max(size) + validation) * penalties
            }
        };
        let solved = (size + train + columns) * targets;
        8 * (features + system + path + judged.max(solved)) + self.predictor_memory(sizes)
    }

    /// Bytes of the part that each thread has when left-out nodes are judged.
    pub(crate) fn shared_memory(&self, sizes: Sizes) -> u64 {
        if self.selection != Selection::LeaveOneOut {
            return 0;
        }
        let nodes = LEFT_OUT_AT_A_TIME.min(sizes.train) as u64;
        let (size, targets) = (self.size(sizes), sizes.targets as u64);
        8 * (nodes * (size + PENALTIES as u64 * (targets + 1)) + 64 * size)
    }

    /// Bytes of a predictor: weights, or support vectors with their coefficients.
    pub(crate) fn predictor_memory(&self, sizes: Sizes) -> u64 {
        let Sizes { train, columns, targets, .. } = sizes.wide();
        if self.kernel.is_linear() {
            8 * columns * targets
        } else {
            4 * train * columns + 8 * train * targets
        }
    }

    /// The rows of the smaller system.
    fn size(&self, sizes: Sizes) -> u64 {
        let Sizes { train, columns, .. } = sizes.wide();
        if self.kernel.is_linear() { train.min(columns) } else { train }
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
                _ => {
                    4.0 / 3.0 * p * p * p
                        + 2.0 * n * p * p
                        + PENALTIES as f64 * n * p * (2.0 * t + 4.0)
                }
            }
    }

    /// Whether the validation part of a split has a say.
    pub fn uses_validation(&self) -> bool {
        self.selection == Selection::Validation
    }
}
