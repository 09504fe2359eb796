//! Datasets: a graph with features, labels and perhaps a split. The crate `gfgcn-data` reads and
//! writes them.

mod dataset;
mod fingerprint;
mod keys;
mod labels;
mod order;
pub mod split;

pub use dataset::Dataset;
pub(crate) use keys::mix;
pub use labels::{Labels, UNLABELLED};
pub use order::order_of_names;
