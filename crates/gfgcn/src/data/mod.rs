//! Datasets: a graph with features, labels and perhaps a split. The crate `gfgcn-data` reads and
//! writes them.

mod dataset;
mod fingerprint;
mod labels;
pub mod split;

pub use dataset::Dataset;
pub use labels::{Labels, UNLABELLED};
