//! Node classification on graphs without gradient training.

pub mod data;
pub mod error;
pub mod graph;
pub mod matrix;
pub mod split;

pub use error::{Error, Result};
