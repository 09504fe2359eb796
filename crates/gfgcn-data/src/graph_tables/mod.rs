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
mod changes;
mod edges;
mod features;
mod nodes;
mod parts;
mod relations;
mod splits;
mod values;
mod write;

pub use changes::{read_edges, read_labels, read_nodes};
pub(crate) use relations::check_count as check_relation_count;
pub use write::{write_folder, write_folder_memory};

use crate::NO_FEATURES;
use crate::directions::{Directions, note_repairs};
use crate::reading::Reading;
use crate::table::FileFormat;
use features::Nodes;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels, Values};
use gfgcn::features::Features;
use gfgcn::files::check_parts;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use nodes::NodeIds;
use std::path::{Path, PathBuf};

/// The tables of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableFiles {
    /// One at least.
    pub edges: Vec<EdgeFile>,
    /// Features of every node with its id, or a matrix (`.mtx`, `.npy`); nodes may have none.
    pub features: Option<PathBuf>,
    /// The ids of all nodes, where there are no features and some nodes have no edges.
    pub nodes: Option<PathBuf>,
    /// Labels of some nodes with their ids, or of every node in order (`.npy`).
    pub labels: Option<PathBuf>,
    /// Values of some nodes with their ids, in place of labels.
    pub values: Option<PathBuf>,
    /// Which nodes train, validate and test, in one split or several.
    pub split: Option<PathBuf>,
    /// What becomes of the directions of edges.
    pub directions: Directions,
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
        let reading = &Reading::under(context)?;
        let mut notes = Vec::new();
        let mut nodes = self.read_nodes(&mut notes, reading)?;
        let nodes_of_edges = nodes.ids.is_open();
        let (graph, repairs) =
            relations::read(&self.edges, &mut nodes.ids, self.directions, &mut notes, reading)?;
        if graph.edges() == 0 {
            notes.push(format!("{} has no edges; every node stands alone", self.edges_name()));
        }
        if self.features.is_none() {
            nodes.features = Features::none(graph.nodes());
            notes.push(NO_FEATURES.into());
        }
        let ids = &nodes.ids;
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
        if let (Some(names), Some(features)) = (nodes.feature_names, &self.features) {
            dataset = dataset.with_feature_names(names).map_err(|e| e.in_file(features))?;
        }
        if nodes.as_they_came {
            dataset = dataset.with_features_as_they_came();
        }
        if nodes_of_edges && nodes.ids.has_names() {
            dataset = dataset.with_nodes_of_edges();
        }
        if self.edges.iter().all(|file| file.relation.is_none()) {
            dataset = dataset.with_relations_of_edges();
        }
        if let Some(ids) = nodes.ids.into_names() {
            reading.hold(NodeIds::ENTRY * ids.len() as u64)?;
            dataset = dataset.with_node_ids(ids)?;
        }
        dataset.with_splits(splits)
    }

    /// What says which nodes there are.
    fn read_nodes(&self, notes: &mut Vec<String>, reading: &Reading) -> Result<Nodes> {
        let ids = match (&self.features, &self.nodes) {
            (Some(features), None) => return features::read(features, notes, reading),
            (None, Some(list)) => NodeIds::read(list, notes, reading)?,
            (None, None) => NodeIds::of_edges(self.edges_name()),
            (Some(features), Some(_)) => {
                return Err(Error::Data(
                    "says which nodes there are, so there can be no other list of them".into(),
                )
                .in_file(features));
            }
        };
        Ok(Nodes::without_features(ids))
    }

    /// What messages call the edges.
    fn edges_name(&self) -> String {
        match &self.edges[..] {
            [only] => file_name(&only.path),
            several => format!("any of the {} files of edges", several.len()),
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
    Nodes,
    Labels,
    Values,
    Split,
}

impl Role {
    const ALL: [Role; 6] =
        [Role::Edges, Role::Features, Role::Nodes, Role::Labels, Role::Values, Role::Split];

    /// The name of the file without its extension.
    fn stem(self) -> &'static str {
        match self {
            Role::Edges => "edges",
            Role::Features => "features",
            Role::Nodes => "nodes",
            Role::Labels => "labels",
            Role::Values => "values",
            Role::Split => "split",
        }
    }

    /// The files of a folder that could play this role.
    fn candidates(self, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for extension in self.extensions() {
            let path = folder.join(format!("{}.{extension}", self.stem()));
            if path.try_exists().map_err(|e| Error::Read(e).in_file(&path))? {
                found.push(path);
            }
        }
        if self == Role::Edges {
            found.extend(files_of_relations(folder)?.into_iter().map(|(_, path)| path));
        }
        Ok(found)
    }

    /// The extensions a file may have that plays this role.
    fn extensions(self) -> impl Iterator<Item = &'static str> {
        let matrices: &[&str] = match self {
            Role::Edges => &["mtx", "mtx.gz"],
            Role::Features => &["mtx", "mtx.gz", "npy"],
            Role::Labels => &["npy"],
            Role::Nodes | Role::Values | Role::Split => &[],
        };
        FileFormat::TABLE_EXTENSIONS.iter().chain(matrices).copied()
    }
}

/// The edges of a folder. Those in `edges` are a type of their own beside those in `edges_NAME`.
fn edge_files(folder: &Path) -> Result<Vec<EdgeFile>> {
    let named = files_of_relations(folder)?;
    let plain = Role::Edges.candidates(folder)?.into_iter();
    let plain: Vec<PathBuf> =
        plain.filter(|path| named.iter().all(|(_, other)| other != path)).collect();
    let plain = only_one(folder, Role::Edges.stem(), plain)?;
    if named.is_empty() {
        return Ok(plain.into_iter().map(EdgeFile::from).collect());
    }
    let mut files: Vec<EdgeFile> = Vec::new();
    for (relation, path) in named {
        if let Some(other) = files.iter().find(|file| file.relation.as_ref() == Some(&relation)) {
            let what = format!("{}_{relation}", Role::Edges.stem());
            only_one(folder, &what, vec![other.path.clone(), path.clone()])?;
        }
        files.push(EdgeFile { path, relation: Some(relation) });
    }
    let relation = Some(Role::Edges.stem().to_owned());
    files.extend(plain.map(|path| EdgeFile { path, relation }));
    Ok(files)
}

/// The files of a folder that hold the edges of one type by their name, sorted.
fn files_of_relations(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let failed = |error| Error::Read(error).in_file(folder);
    let mut found = Vec::new();
    let Ok(entries) = folder.read_dir() else { return Ok(found) };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(rest) = name.and_then(|name| name.strip_prefix("edges_")) else { continue };
        let mut endings = Role::Edges.extensions();
        let relation = endings.find_map(|ending| rest.strip_suffix(ending)?.strip_suffix('.'));
        if let Some(relation) = relation.filter(|relation| !relation.is_empty()) {
            found.push((relation.to_owned(), path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn the_only(folder: &Path, role: Role) -> Result<Option<PathBuf>> {
    only_one(folder, role.stem(), role.candidates(folder)?)
}

/// The only one of some files, if there is one.
fn only_one(folder: &Path, what: &str, found: Vec<PathBuf>) -> Result<Option<PathBuf>> {
    match found.as_slice() {
        [first, second, ..] => Err(Error::Data(format!(
            "both {:?} and {:?} could be the {what}; remove or rename one",
            first.file_name().unwrap_or_default(),
            second.file_name().unwrap_or_default(),
        ))
        .in_file(folder)),
        _ => Ok(found.into_iter().next()),
    }
}

/// What messages call a file.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
