//! Datasets: a graph with features, targets and perhaps splits. The crate `gfgcn-data` reads and
//! writes them.

mod dataset;
mod digests;
mod encoding;
mod fingerprint;
mod growth;
mod homophily;
mod keys;
mod label_sets;
mod labels;
mod order;
mod removal;
pub mod split;
mod targets;
mod values;

pub use dataset::{Dataset, Listing};
pub use encoding::{ColumnKind, EncodedColumn, Encoding};
pub use growth::NewNode;
pub(crate) use keys::mix;
pub use label_sets::LabelSets;
pub use labels::{Labels, UNLABELLED};
pub use order::order_of_names;
pub use removal::Rest;
pub use targets::{TargetKind, Targets};
pub use values::Values;
