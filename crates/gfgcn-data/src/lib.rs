//! Readers and writers of graph datasets, for gfgcn.
//!
//! Every reader turns bytes into the same validated [`Dataset`](gfgcn::data::Dataset) or an error
//! that names the file and the place; none allocates more than the file justifies, or than its context has
//! memory for. What the data
//! are good for is the business of [`gfgcn`]; what a name or a path means, of `gfgcn-datasets`.
//!
//! ```
//! use gfgcn::context::Context;
//! use gfgcn::data::Dataset;
//! use gfgcn_data::{TableFiles, npz};
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! std::fs::write(folder.join("edges.csv"), "source,target\na,b\n")?;
//! std::fs::write(folder.join("features.csv"), "id,height,weight\na,1,0.5\nb,2,0\n")?;
//! let tables = TableFiles::in_folder(folder)?.expect("there are edges");
//! let context = Context::default();
//! let data: Dataset = tables.read("pair", &context)?;
//!
//! let archive = folder.join("pair.npz");
//! npz::write(&data, &archive, false)?;
//! assert_eq!(npz::read(&archive, "pair", &context)?.graph().edges(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | see | feature |
//! |---|---|---|
//! | read and write archives of arrays | [`npz`] | |
//! | map graphs of any size from a folder of arrays | [`store`] | |
//! | read and write a graph as tables (CSV, TSV; read also MatrixMarket and NumPy arrays) | [`TableFiles`], [`write_folder`] | |
//! | have these tables also in Parquet | [`TableFormat::Parquet`] | `parquet` |
//! | read what changes in a dataset: labels, nodes, edges | [`read_labels`], [`read_nodes`], [`read_edges`] | |
//! | read raw Planetoid folders | [`planetoid`] | `planetoid` |
//! | write any table | [`write_table`] | |
//! | write predictions | [`predictions`] | |
//! | make data of any size | [`Synthetic`] | |
//!
//! Without a feature its names are still there, and using them gives an error that says so.

mod archive;
mod checksum;
mod classes;
mod columns;
mod density;
mod directions;
mod documents;
mod edges;
mod giveaway;
mod graph_tables;
mod json;
mod layout;
mod limits;
mod lines;
mod matlab;
mod matrix_market;
mod musae;
mod npy;
pub mod npz;
pub mod planetoid;
pub mod predictions;
mod reading;
pub mod store;
mod synthetic;
mod table;
mod triplets;
mod watched;

pub use columns::{Columns, Separator};
pub use directions::Directions;
pub use giveaway::giveaway;
pub use graph_tables::{
    EdgeFile, EncodedFrame, TableFiles, encode_frame, read_edges, read_labels, read_nodes,
    read_splits, read_values, write_folder, write_folder_memory,
};
pub use layout::{Layout, ReadOptions};
pub use musae::MusaeFiles;
pub use synthetic::{DEFAULT_HOMOPHILY, Shape as SyntheticShape, Synthetic};
pub use table::names::{EdgeColumns, edge_columns, is_id as is_id_name};
pub use table::{
    Column, ColumnData, Frame, FrameColumn, OutputFormat, TableFormat, check_table_name,
    write_columns, write_table,
};

/// What is said of data whose nodes have no features.
const NO_FEATURES: &str = "there are no features; only the graph tells nodes apart";
