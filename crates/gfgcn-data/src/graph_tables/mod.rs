//! Datasets as tables: edges, features, and where known labels or values and splits.
//!
//! The features decide which nodes there are and in which order; the other tables refer to them
//! by id. Ids are any text, `7` as well as `doi:10/x`, and are kept as they stand. Without features, a list of nodes
//! decides; without that, the nodes are those that edges name, in the order of their ids.
//!
//! | table | columns | |
//! |---|---|---|
//! | edges | `source,target` and perhaps `weight`, `type`, `directed` | each edge once, in either direction, unless it is directed |
//! | edges_NAME | the same without `type` | the edges of one type, instead of a column of types |
//! | features | `id,NAME,NAME,…` or `id,feature,value` | a row per node, or an entry per row |
//! | nodes | `id` | all nodes, where there are no features |
//! | labels | `id,label` | a missing row, an empty label, `-1`, `nan`, `NA`, `null`, `None`, `?` mean unlabelled |
//! | values | `id,NAME,NAME,…` | numbers, in place of labels; a missing row, or one with nothing in it, means unknown |
//! | split | `id,split` and perhaps `split_2`, … | `train`, `val` or `test`; a missing row or empty part: in none |
//!
//! A node may have several rows of labels: then its labels are a set, and so are those of all other nodes.
//!
//! A header is optional in text, where its names are recognised (`src,dst`, `from,to`, `node`,
//! `class`, …). Columns before the ids that have no name are the index of a data frame, and left out.
//! Edges and features may also be MatrixMarket matrices, features and labels NumPy
//! arrays. Those have rows in place of ids: their rows are the nodes in the order of the features,
//! and where the features have no ids either, the nodes are called `0`, `1`, ….

mod arrays;
mod assembly;
mod changes;
mod edges;
mod encode;
mod features;
mod folder;
mod frame;
mod lists;
mod nodes;
pub(crate) mod ogb;
mod parts;
mod relations;
mod splits;
mod values;
mod write;

pub(crate) use assembly::Tables;
pub use changes::{read_edges, read_labels, read_nodes};
pub use frame::{EncodedFrame, encode_frame};
pub(crate) use relations::check_count as check_relation_count;
pub use write::{write_folder, write_folder_memory};

use crate::columns::Columns;
use crate::directions::Directions;
use crate::reading::Reading;
use crate::table::TableSource;
use folder::{Role, edge_files, the_only};
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Values};
use gfgcn::files::check_parts;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use nodes::NodeIds;
use std::path::{Path, PathBuf};

/// The tables of a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableFiles {
    /// One at least.
    pub edges: Vec<EdgeFile>,
    /// Features of every node with its id, or a matrix (`.mtx`, `.npy`); nodes may have none.
    pub features: Option<PathBuf>,
    /// The ids of all nodes, where there are no features and some nodes have no edges, or where features list only the nodes
    /// that have some.
    pub nodes: Option<PathBuf>,
    /// Labels of some nodes with their ids, or of every node in order (`.npy`).
    pub labels: Option<PathBuf>,
    /// Values of some nodes with their ids, in place of labels.
    pub values: Option<PathBuf>,
    /// Which nodes train, validate and test, in one split or several.
    pub split: Option<PathBuf>,
    /// What becomes of the directions of edges.
    pub directions: Directions,
    /// Which columns say what, where their names do not.
    pub columns: Columns,
}

/// Pairs of node ids, or a square matrix (`.mtx`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeFile {
    /// The file.
    pub path: PathBuf,
    /// What its edges are called, where there are several kinds in several files.
    pub relation: Option<String>,
}

impl From<PathBuf> for EdgeFile {
    fn from(path: PathBuf) -> Self {
        EdgeFile { path, relation: None }
    }
}

impl TableFiles {
    /// Edges and features, and nothing else.
    pub fn new(edges: impl Into<PathBuf>, features: impl Into<PathBuf>) -> TableFiles {
        let edges = vec![EdgeFile::from(edges.into())];
        TableFiles { edges, features: Some(features.into()), ..TableFiles::default() }
    }

    /// Finds `edges` (or `edges_NAME`, …), `features` (or `nodes`), `labels`, `values` and `split` in a folder, with any
    /// extension that is read; `None` if there are no edges. Where there are labels, values are not read.
    ///
    /// # Errors
    /// A folder that is not there, two files for the same table, or files that do not belong
    /// together by the manifest that gfgcn wrote with them.
    pub fn in_folder(folder: &Path) -> Result<Option<TableFiles>> {
        let metadata = folder.metadata().map_err(|e| Error::Read(e).in_file(folder))?;
        if !metadata.is_dir() {
            return Err(
                Error::Data("is a file, but a folder is needed here".into()).in_file(folder)
            );
        }
        let edges = edge_files(folder)?;
        if edges.is_empty() {
            return Ok(None);
        }
        let features = the_only(folder, Role::Features)?;
        let nodes = match features {
            Some(_) => None,
            None => the_only(folder, Role::Nodes)?,
        };
        let labels = the_only(folder, Role::Labels)?;
        let values = the_only(folder, Role::Values)?;
        let split = the_only(folder, Role::Split)?;
        let files =
            TableFiles { edges, features, nodes, labels, values, split, ..TableFiles::default() };
        check_parts(folder, &files.paths())?;
        Ok(Some(files))
    }

    /// Whether a folder holds a table of edges, sound or not.
    ///
    /// # Errors
    /// If the folder cannot be looked into.
    pub fn are_in(folder: &Path) -> Result<bool> {
        Ok(!Role::Edges.candidates(folder)?.is_empty())
    }

    /// The names of files in a folder that are tables and none of those that are read, the first few of many.
    ///
    /// # Errors
    /// If the folder cannot be looked into.
    pub fn other_tables(folder: &Path) -> Result<Vec<String>> {
        folder::other_tables(folder)
    }

    /// All files.
    pub fn paths(&self) -> Vec<&Path> {
        let edges = self.edges.iter().map(|file| &file.path);
        let others = [&self.features, &self.nodes, &self.labels, &self.values, &self.split];
        edges.chain(others.into_iter().flatten()).map(PathBuf::as_path).collect()
    }

    /// Reads the tables into a dataset of the given name.
    ///
    /// # Errors
    /// Anything wrong in a file, with the file, the line and the value; less memory than the data take.
    pub fn read(&self, name: &str, context: &Context) -> Result<Dataset> {
        self.tables().read(name, Vec::new(), &Reading::under(context)?)
    }

    /// The tables, in the words of what puts them together.
    pub(crate) fn tables(&self) -> Tables<'_> {
        let separator = self.columns.separator;
        let source = |path: &PathBuf| TableSource::File { path: path.clone(), separator };
        let edges = self.edges.iter().map(|file| (source(&file.path), file.relation.clone()));
        Tables {
            edges: edges.collect(),
            features: self.features.as_ref().map(source),
            nodes: self.nodes.as_ref().map(source),
            labels: self.labels.as_ref().map(source),
            values: self.values.as_ref().map(source),
            split: self.split.as_ref().map(source),
            directions: self.directions,
            said: None,
            columns: &self.columns,
        }
    }
}

/// Reads a table of splits (`id,split`, and perhaps `split_2`, …) for a dataset; nodes are called as in the dataset.
/// There is one at least.
///
/// # Errors
/// Anything wrong in the file, with the line and the value; an id that the dataset does not have.
pub fn read_splits(path: &Path, dataset: &Dataset, context: &Context) -> Result<Vec<Split>> {
    let reading = Reading::under(context)?;
    let ids = NodeIds::of(dataset, &reading)?;
    let (source, columns) = (TableSource::file(path), Columns::default());
    splits::read(&source, &ids, &columns, &mut Vec::new(), &reading)
}

/// Reads a table of values (`id,NAME,…`) for a dataset; nodes are called as in the dataset.
///
/// # Errors
/// Anything wrong in the file, with the line, the column and the value; an id that the dataset does not have.
pub fn read_values(path: &Path, dataset: &Dataset, context: &Context) -> Result<Values> {
    let reading = Reading::under(context)?;
    let ids = NodeIds::of(dataset, &reading)?;
    let (source, columns) = (TableSource::file(path), Columns::default());
    values::read(&source, &ids, &columns, &mut Vec::new(), &reading)
}

/// What messages call a file.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
