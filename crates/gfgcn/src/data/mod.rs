//! Datasets: a graph with features, labels and perhaps a split, and the files they come from.
//!
//! One file per format. Each reader turns bytes into the same validated [`Dataset`] or an error
//! that names the file and the place; none allocates more than the file justifies.

mod archive;
mod dataset;
mod density;
mod entries;
mod files;
mod labels;
mod limits;
mod lines;
mod matrix_market;
mod npy;
pub mod npz;
mod pickle;
pub mod planetoid;
mod synthetic;
mod table;
mod tabular;

pub use dataset::Dataset;
pub use files::{read_file, temporary_beside, write_atomically};
pub use labels::{Labels, UNLABELLED};
pub use synthetic::{DEFAULT_HOMOPHILY, Shape as SyntheticShape, Synthetic};
pub use table::{Column, ColumnData, TableFormat, check_table_name, write_table};
pub use tabular::{TableFiles, read_split, write_folder};
