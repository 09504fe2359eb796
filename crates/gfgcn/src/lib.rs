//! Node classification on graphs without gradient training.

mod classifier;
pub mod data;
mod error;
pub mod evaluation;
pub mod filter;
pub mod graph;
mod hex;
pub mod kernel;
pub mod linalg;
pub mod matrix;
pub mod metrics;
pub mod model;
mod predictor;
pub mod ridge;
mod scalar;
pub mod split;

pub use classifier::{Classifier, Options};
pub use error::{Error, Result};
pub use hex::hex;
pub use model::Model;
pub use scalar::Scalar;
