//! What a path is: the one place that knows every layout in which a graph may come.

use crate::columns::Columns;
use crate::directions::Directions;
use crate::documents::{self, Format};
use crate::graph_tables::{EdgeFile, TableFiles, ogb};
use crate::musae::MusaeFiles;
use crate::reading::Reading;
use crate::{matlab, npz, planetoid, store};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::{Error, Result};
use std::path::{Path, PathBuf};

/// How data are to be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// What becomes of the directions of edges.
    pub directions: Directions,
    /// Which columns say what, where their names do not.
    pub columns: Columns,
}

impl From<Directions> for ReadOptions {
    fn from(directions: Directions) -> Self {
        ReadOptions { directions, ..ReadOptions::default() }
    }
}

/// A layout in which a graph comes, and where.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Layout {
    /// An archive of arrays.
    Archive(PathBuf),
    /// Files of Planetoid.
    Planetoid {
        /// Where they are.
        folder: PathBuf,
        /// `NAME` of `ind.NAME.graph`.
        name: String,
    },
    /// A [store](crate::store).
    Store(PathBuf),
    /// A folder of tables.
    Tables(Box<TableFiles>),
    /// A file of edges, and nothing else.
    EdgeList(PathBuf),
    /// A raw folder of OGB.
    Ogb(PathBuf),
    /// A folder in the layout of MUSAE or KarateClub.
    Musae(MusaeFiles),
    /// A folder of CSV files for Neo4j.
    Neo4j(PathBuf),
    /// A node-link document.
    NodeLink(PathBuf),
    /// A GraphML document.
    GraphMl(PathBuf),
    /// A GEXF document.
    Gexf(PathBuf),
    /// A MATLAB file.
    Matlab(PathBuf),
}

/// What a path becomes.
type OfPath = fn(PathBuf) -> Layout;

/// What every path is by the end of its name.
const FILES: [(&[&str], OfPath); 6] = [
    (&["npz"], Layout::Archive),
    (&["json", "json.gz"], Layout::NodeLink),
    (&["graphml", "graphml.gz", "xml"], Layout::GraphMl),
    (&["gexf", "gexf.gz"], Layout::Gexf),
    (&["mat"], Layout::Matlab),
    (
        &[
            "edges",
            "edgelist",
            "el",
            "ncol",
            "dat",
            "csv",
            "tsv",
            "txt",
            "mtx",
            "npy",
            "parquet",
            "arrow",
            "arrows",
            "feather",
            "ipc",
            "edges.gz",
            "edgelist.gz",
            "csv.gz",
            "tsv.gz",
            "txt.gz",
            "mtx.gz",
        ],
        Layout::EdgeList,
    ),
];

impl Layout {
    /// What a path is, by its name, or by those of the files in it.
    ///
    /// # Errors
    /// If it is nothing that is known, or several things.
    pub fn of(path: &Path) -> Result<Layout> {
        match path.is_dir() {
            true => Layout::of_folder(path),
            false => Layout::of_file(path),
        }
    }

    fn of_file(path: &Path) -> Result<Layout> {
        if let Some((folder, name)) = planetoid_name(path) {
            return Ok(Layout::Planetoid { folder: folder.to_owned(), name: name.to_owned() });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ends = |end: &&str| name.strip_suffix(*end).is_some_and(|rest| rest.ends_with('.'));
        let known = FILES.iter().find(|(endings, _)| endings.iter().any(ends));
        match known {
            Some((_, layout)) => Ok(layout(path.to_owned())),
            None => Err(Error::Data(
                "is not a dataset, by the ending of its name; give an .npz, .graphml, .gexf, .json or .mat file, a list of edges \
                 (.txt, .csv, .tsv, .edges, .npy, .mtx, .parquet, .arrow), a folder, or separate tables (--edges, --features and --labels)"
                    .into(),
            )
            .in_file(path)),
        }
    }

    fn of_folder(path: &Path) -> Result<Layout> {
        if store::is_store(path) {
            return Ok(Layout::Store(path.to_owned()));
        }
        if let Some(files) = MusaeFiles::in_folder(path)? {
            return Ok(Layout::Musae(files));
        }
        if let Some(tables) = TableFiles::in_folder(path)? {
            return Ok(Layout::Tables(Box::new(tables)));
        }
        if ogb::raw_folder(path).is_some() {
            return Ok(Layout::Ogb(path.to_owned()));
        }
        if !documents::neo4j_files(path)?.is_empty() {
            return Ok(Layout::Neo4j(path.to_owned()));
        }
        match &planetoid::names_in(path)?[..] {
            [only] => Ok(Layout::Planetoid { folder: path.to_owned(), name: only.clone() }),
            [] => {
                let others = match &TableFiles::other_tables(path)?[..] {
                    [] => String::new(),
                    names => format!(
                        "; there are {}, which can be named one by one (--edges, --features, --labels)",
                        names.join(", ")
                    ),
                };
                Err(Error::Data(format!(
                    "has neither tables (edges.csv, features.csv, labels.csv) nor Planetoid files (ind.NAME.graph, …), nor \
                     those of OGB (raw/edge.csv.gz, …), MUSAE (NAME_edges.csv, …) or Neo4j (CSV with :ID and :START_ID){others}"
                ))
                .in_file(path))
            }
            several => Err(Error::Data(format!(
                "has {} Planetoid datasets ({}); name one by its graph, such as {}",
                several.len(),
                several.join(", "),
                path.join(format!("ind.{}.graph", several[0])).display()
            ))
            .in_file(path)),
        }
    }

    /// A sentence on what was recognised and how it is read.
    pub fn describe(&self) -> String {
        match self {
            Layout::Archive(_) => "an archive of NumPy arrays".into(),
            Layout::Store(path) => store::describe(path).unwrap_or_else(|_| "a store".into()),
            Layout::Planetoid { name, .. } => format!("raw Planetoid files, ind.{name}.*"),
            Layout::Tables(files) => {
                let names = list(&files.paths());
                format!("a folder of tables: {names}")
            }
            Layout::EdgeList(_) => {
                "a list of edges: the nodes are those it names, and only the graph tells them apart".into()
            }
            Layout::Ogb(_) => {
                "a raw folder of OGB: nodes are the rows of raw/node-feat, splits those under split/".into()
            }
            Layout::Musae(files) => {
                format!("the layout of MUSAE and KarateClub: {}", list(&files.paths()))
            }
            Layout::Neo4j(_) => {
                "CSV files for Neo4j: nodes from those with :ID, directed edges and their types from those with :START_ID"
                    .into()
            }
            Layout::NodeLink(_) => "a graph in node-link JSON: attributes of nodes are features".into(),
            Layout::GraphMl(_) => "a GraphML document: attributes of nodes are features".into(),
            Layout::Gexf(_) => "a GEXF document: attributes of nodes are features".into(),
            Layout::Matlab(_) => "a MATLAB file: nodes are rows of the adjacency matrix, from 0".into(),
        }
    }

    /// Whether nodes are known by their places, and not by ids.
    pub fn is_by_place(&self) -> bool {
        matches!(
            self,
            Layout::Archive(_)
                | Layout::Store(_)
                | Layout::Planetoid { .. }
                | Layout::Ogb(_)
                | Layout::Matlab(_)
        )
    }

    /// Reads it into a dataset of the given name.
    ///
    /// # Errors
    /// Whatever its reader refuses, with the file and the place; less memory than the data take.
    pub fn read(&self, name: &str, options: &ReadOptions, context: &Context) -> Result<Dataset> {
        let ReadOptions { directions, columns } = options;
        let document = |path: &Path, format: Format| {
            let reading = Reading::under(context)?;
            documents::read(path, format, name, *directions, columns, &reading)
        };
        match self {
            Layout::Archive(path) => npz::read_with(path, name, *directions, context),
            Layout::Store(path) => store::read_with(path, name, *directions, context),
            Layout::Planetoid { folder, name } => {
                planetoid::read_with(folder, name, *directions, context)
            }
            Layout::Tables(files) => {
                let (directions, columns) = (*directions, columns.clone());
                let dataset =
                    TableFiles { directions, columns, ..(**files).clone() }.read(name, context)?;
                note_unread_tables(dataset, files)
            }
            Layout::EdgeList(path) => {
                let edges = vec![EdgeFile::from(path.clone())];
                let (directions, columns) = (*directions, columns.clone());
                TableFiles { edges, directions, columns, ..TableFiles::default() }
                    .read(name, context)
            }
            Layout::Ogb(path) => ogb::read(path, name, *directions, &Reading::under(context)?),
            Layout::Musae(files) => files.read(name, *directions, columns, context),
            Layout::Neo4j(path) => document(path, Format::Neo4j),
            Layout::NodeLink(path) => document(path, Format::NodeLink),
            Layout::GraphMl(path) => document(path, Format::GraphMl),
            Layout::Gexf(path) => document(path, Format::Gexf),
            Layout::Matlab(path) => {
                matlab::read(path, name, *directions, columns, &Reading::under(context)?)
            }
        }
    }
}

/// Says which tables of a folder were not read, where something is missed: labels may be in a file of another name.
fn note_unread_tables(dataset: Dataset, files: &TableFiles) -> Result<Dataset> {
    let folder = files.edges.first().and_then(|edges| edges.path.parent());
    match folder {
        Some(folder) if dataset.targets().known().is_empty() => {
            let others = TableFiles::other_tables(folder)?;
            Ok(match &others[..] {
                [] => dataset,
                names => dataset.with_note(format!(
                    "not read: {}; labels are read from labels.csv, or from what --labels names",
                    names.join(", ")
                )),
            })
        }
        _ => Ok(dataset),
    }
}

/// The names of some files.
fn list(paths: &[&Path]) -> String {
    let name = |path: &&Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// `folder/ind.NAME.graph` (or another of its files) names the dataset in that folder.
fn planetoid_name(path: &Path) -> Option<(&Path, &str)> {
    let name = path.file_name()?.to_str()?.strip_prefix("ind.")?.split('.').next()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some((folder.unwrap_or(Path::new(".")), name))
}
