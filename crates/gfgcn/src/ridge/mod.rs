//! Kernel ridge regression in closed form.
//!
//! [`Targets`] turns classes into numbers and back; [`RidgePath`] factorises once and answers for
//! every λ, [`Problem`] solves for one; [`Selection`] says how λ is chosen.

mod path;
mod problem;
mod select;
mod targets;

pub use path::{RidgePath, Solution};
pub use problem::Problem;
pub use select::{Candidate, Selection, penalty_grid};
pub(crate) use select::{PENALTIES, Verdict, best, no_usable_penalty, squared_distance};
pub(crate) use targets::columns;
pub use targets::{Targets, decode};
