//! Kernel ridge regression in closed form.
//!
//! [`Targets`] turns classes into numbers and back; [`RidgePath`] factorises once and answers for
//! every λ; [`Selection`] says how λ is chosen.

mod path;
mod select;
mod targets;

pub use path::{RidgePath, Solution};
pub(crate) use select::best;
pub use select::{Candidate, Selection, penalty_grid};
pub use targets::Targets;
pub(crate) use targets::{columns, decode};
