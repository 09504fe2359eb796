//! Datasets as tables: edges, features, and where known labels or values and splits.
//!
//! The features decide which nodes there are and in which order; the other tables refer to them
//! by id. Ids are any text, `7` as well as `doi:10/x`, and are kept as they stand.
//!
//! | table | columns | |
//! |---|---|---|
//! | edges | `source,target` and perhaps `weight`, `directed` | each edge once, in either direction, unless it is directed |
//! | features | `id,NAME,NAME,…` or `id,feature,value` | a row per node, or an entry per row |
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
mod edges;
mod features;
mod nodes;
mod parts;
mod splits;
mod values;
mod write;

pub use write::{write_folder, write_folder_memory};

use crate::directions::{Directions, note_repairs};
use crate::reading::Reading;
use crate::table::FileFormat;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels, Values};
use gfgcn::files::check_parts;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use nodes::NodeIds;
use std::path::{Path, PathBuf};

/// The tables of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableFiles {
    /// Pairs of node ids, or a square matrix (`.mtx`).
    pub edges: PathBuf,
    /// Features of every node with its id, or a matrix (`.mtx`, `.npy`).
    pub features: PathBuf,
    /// Labels of some nodes with their ids, or of every node in order (`.npy`).
    pub labels: Option<PathBuf>,
    /// Values of some nodes with their ids, in place of labels.
    pub values: Option<PathBuf>,
    /// Which nodes train, validate and test, in one split or several.
    pub split: Option<PathBuf>,
    /// What becomes of the directions of edges.
    pub directions: Directions,
}

impl TableFiles {
    /// Edges and features, and nothing else.
    pub fn new(edges: impl Into<PathBuf>, features: impl Into<PathBuf>) -> TableFiles {
        TableFiles { edges: edges.into(), features: features.into(), ..TableFiles::default() }
    }

    /// Finds `edges`, `features`, `labels`, `values` and `split` in a folder, with any extension that is
    /// read; `None` if there are no edges. Where there are labels, values are not read.
    ///
    /// # Errors
    /// A folder that is not there, edges without features, two files for the same table, or files that do not belong
    /// together by the manifest that gfgcn wrote with them.
    pub fn in_folder(folder: &Path) -> Result<Option<TableFiles>> {
        let metadata = folder.metadata().map_err(|e| Error::Read(e).in_file(folder))?;
        if !metadata.is_dir() {
            return Err(
                Error::Data("is a file, but a folder is needed here".into()).in_file(folder)
            );
        }
        let Some(edges) = the_only(folder, Role::Edges)? else { return Ok(None) };
        let Some(features) = the_only(folder, Role::Features)? else {
            return Err(Error::Data(format!(
                "there is {:?} but no table of features beside it; it is needed to say which \
                 nodes there are",
                edges.file_name().unwrap_or_default()
            ))
            .in_file(folder));
        };
        let labels = the_only(folder, Role::Labels)?;
        let values = the_only(folder, Role::Values)?;
        let split = the_only(folder, Role::Split)?;
        let used =
            [Some(&edges), Some(&features), labels.as_ref(), values.as_ref(), split.as_ref()];
        let used: Vec<&Path> = used.into_iter().flatten().map(PathBuf::as_path).collect();
        check_parts(folder, &used)?;
        Ok(Some(TableFiles { edges, features, labels, values, split, ..TableFiles::default() }))
    }

    /// Whether a folder holds a table of edges, sound or not.
    ///
    /// # Errors
    /// If the folder cannot be looked into.
    pub fn are_in(folder: &Path) -> Result<bool> {
        Ok(!Role::Edges.candidates(folder)?.is_empty())
    }

    /// Reads the tables into a dataset of the given name.
    ///
    /// # Errors
    /// Anything wrong in a file, with the file, the line and the value; less memory than the data take.
    pub fn read(&self, name: &str, context: &Context) -> Result<Dataset> {
        let reading = &Reading::under(context)?;
        let mut notes = Vec::new();
        let nodes = features::read(&self.features, &mut notes, reading)?;
        let ids = &nodes.ids;
        let (graph, repairs) = edges::read(&self.edges, ids, self.directions, &mut notes, reading)?;
        if graph.edges() == 0 {
            let file = self.edges.file_name().unwrap_or_default().to_string_lossy();
            notes.push(format!("{file} has no edges; every node stands alone"));
        }
        let targets = match (&self.labels, &self.values) {
            (Some(path), values) => {
                notes.extend(values.as_deref().map(note_of_unread));
                parts::read_labels(path, ids, &mut notes, reading)?
            }
            (None, Some(path)) => values::read(path, ids, &mut notes, reading)?.into(),
            (None, None) => Labels::none(ids.len()).into(),
        };
        let splits = match &self.split {
            Some(path) => splits::read(path, ids, &mut notes, reading)?,
            None => Vec::new(),
        };
        let dataset = Dataset::new(name, graph, nodes.features, targets)?;
        let dataset = note_repairs(dataset, &repairs).with_added_up(nodes.repeats);
        let mut dataset = notes.into_iter().fold(dataset, Dataset::with_note);
        if let Some(names) = nodes.feature_names {
            dataset = dataset.with_feature_names(names).map_err(|e| e.in_file(&self.features))?;
        }
        if nodes.as_they_came {
            dataset = dataset.with_features_as_they_came();
        }
        if let Some(ids) = nodes.ids.into_names() {
            reading.hold(NodeIds::ENTRY * ids.len() as u64)?;
            dataset = dataset.with_node_ids(ids)?;
        }
        dataset.with_splits(splits)
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
    splits::read(path, &ids, &mut Vec::new(), &reading)
}

/// Reads a table of values (`id,NAME,…`) for a dataset; nodes are called as in the dataset.
///
/// # Errors
/// Anything wrong in the file, with the line, the column and the value; an id that the dataset does not have.
pub fn read_values(path: &Path, dataset: &Dataset, context: &Context) -> Result<Values> {
    let reading = Reading::under(context)?;
    let ids = NodeIds::of(dataset, &reading)?;
    values::read(path, &ids, &mut Vec::new(), &reading)
}

fn note_of_unread(values: &Path) -> String {
    let file = values.file_name().unwrap_or_default().to_string_lossy();
    format!("{file} is not read, because there are labels; name it to learn values instead")
}

/// What a table of a dataset is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Edges,
    Features,
    Labels,
    Values,
    Split,
}

impl Role {
    const ALL: [Role; 5] = [Role::Edges, Role::Features, Role::Labels, Role::Values, Role::Split];

    /// The name of the file without its extension.
    fn stem(self) -> &'static str {
        match self {
            Role::Edges => "edges",
            Role::Features => "features",
            Role::Labels => "labels",
            Role::Values => "values",
            Role::Split => "split",
        }
    }

    /// The files of a folder that could play this role.
    fn candidates(self, folder: &Path) -> Result<Vec<PathBuf>> {
        let matrices: &[&str] = match self {
            Role::Edges => &["mtx", "mtx.gz"],
            Role::Features => &["mtx", "mtx.gz", "npy"],
            Role::Labels => &["npy"],
            Role::Values | Role::Split => &[],
        };
        let mut found = Vec::new();
        for extension in FileFormat::TABLE_EXTENSIONS.iter().chain(matrices) {
            let path = folder.join(format!("{}.{extension}", self.stem()));
            if path.try_exists().map_err(|e| Error::Read(e).in_file(&path))? {
                found.push(path);
            }
        }
        Ok(found)
    }
}

fn the_only(folder: &Path, role: Role) -> Result<Option<PathBuf>> {
    let found = role.candidates(folder)?;
    match found.as_slice() {
        [first, second, ..] => Err(Error::Data(format!(
            "both {:?} and {:?} could be the {}; remove or rename one",
            first.file_name().unwrap_or_default(),
            second.file_name().unwrap_or_default(),
            role.stem()
        ))
        .in_file(folder)),
        _ => Ok(found.into_iter().next()),
    }
}
