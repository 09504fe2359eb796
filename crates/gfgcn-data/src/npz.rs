//! `.npz` archives in the layout of the gnn-benchmark collection.
//!
//! | members | meaning |
//! |---|---|
//! | `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape` | adjacency in compressed rows; or `adj_matrix`, dense |
//! | `adj_symmetric` | one true value where each edge is stored in one direction only; optional |
//! | `attr_data`, `attr_indices`, `attr_indptr`, `attr_shape` | features in compressed rows; or `attr_matrix`, dense |
//! | `labels` | one integer per node, −1 for unlabelled; may be absent |
//! | `class_names`, `node_names`, `attr_names` | text, optional |
//! | `train_idx`, `val_idx`, `test_idx` | the split, optional; or `train_mask`, … |
//!
//! Integers and floats of any width and byte order are read; members with pickled objects are
//! skipped with a note and never unpickled.

use crate::archive::{self, Archive};
use crate::classes;
use crate::limits::justify_nodes;
use crate::npy::{self, Array, Kind};
use crate::reading::Reading;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels, UNLABELLED};
use gfgcn::features::Features;
use gfgcn::files::{open, write_atomically};
use gfgcn::graph::{Graph, MAX_NODES, Repairs};
use gfgcn::matrix::{Matrix, SparseMatrix, check_offsets, repeated_entries};
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::collections::HashSet;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

/// Reads a dataset from a file.
///
/// # Errors
/// Anything wrong in the file, with the member and the value; less memory than the data take.
pub fn read(path: &Path, name: &str, context: &Context) -> Result<Dataset> {
    from_source(BufReader::new(open(path)?), name, context).map_err(|error| error.in_file(path))
}

/// Reads a dataset from the bytes of an archive.
///
/// # Errors
/// As [`read`].
pub fn from_bytes(bytes: &[u8], name: &str, context: &Context) -> Result<Dataset> {
    from_source(Cursor::new(bytes), name, context)
}

fn from_source(source: impl Read + Seek, name: &str, context: &Context) -> Result<Dataset> {
    let mut members = Members::open(source, context)?;
    let (graph, mut repairs) = members.matrix("adj", "the graph", RawMatrix::into_graph)?;
    if members.flag("adj_symmetric")? {
        repairs.symmetrized = 0;
    }
    let (features, repeats) = members.matrix("attr", "the features", RawMatrix::into_features)?;
    let class_names = members.texts("class_names")?;
    let labels = match members.integers("labels", Some(UNLABELLED))? {
        Some(ids) => {
            let inside = |error| named("member labels", error);
            let labels = Labels::from_ids(&ids, class_names.as_deref()).map_err(inside)?;
            members.notes.extend(classes::check(&labels).map_err(inside)?);
            labels
        }
        None => Labels::none(graph.nodes()),
    };
    let split = members.split(graph.nodes())?;
    let node_names = members.texts("node_names")?;
    let feature_names = members.texts("attr_names")?;
    members.note_unread();

    let mut dataset =
        Dataset::new(name, graph, features, labels)?.with_repairs(&repairs).with_added_up(repeats);
    if let Some(split) = split {
        dataset = dataset.with_split(split)?;
    }
    // Names are a convenience: bad ones are noted and left out, the data are still good.
    if let Some(names) = node_names
        && let Err(error) = dataset.set_node_ids(names)
    {
        dataset = dataset.with_note(format!("member node_names ignored: {error}"));
    }
    if let Some(names) = feature_names
        && let Err(error) = dataset.set_feature_names(names)
    {
        dataset = dataset.with_note(format!("member attr_names ignored: {error}"));
    }
    Ok(members.notes.into_iter().fold(dataset, Dataset::with_note))
}

/// The split in an archive of index arrays or masks, for a graph of `nodes` nodes.
///
/// # Errors
/// As [`read`]; an archive without a split.
pub fn read_split(path: &Path, nodes: usize, context: &Context) -> Result<Split> {
    let source = BufReader::new(open(path)?);
    let read = || {
        let mut members = Members::open(source, context)?;
        members.split(nodes)?.ok_or_else(|| {
            Error::Format("has neither train_idx nor train_mask, so there is no split in it".into())
        })
    };
    read().map_err(|error: Error| error.in_file(path))
}

/// Writes a dataset; an existing file is only replaced with `overwrite`.
///
/// # Errors
/// A split whose training part is empty, which could not be read again.
pub fn write(dataset: &Dataset, path: &Path, overwrite: bool) -> Result<()> {
    if dataset.split().is_some_and(|split| split.train().is_empty()) {
        return Err(Error::Data("the training part of the split is empty".into()).in_file(path));
    }
    write_members(path, overwrite, &members_of(dataset))
}

/// The bytes of an archive; the same dataset always gives the same bytes.
pub fn to_bytes(dataset: &Dataset) -> Vec<u8> {
    archive::to_bytes(&members_of(dataset))
}

fn members_of(dataset: &Dataset) -> Vec<(&'static str, Vec<u8>)> {
    let graph = dataset.graph();
    let mut members: Vec<(&'static str, Vec<u8>)> = Vec::new();
    let nodes = graph.nodes();
    let rows = 0..nodes;
    let neighbours: Vec<u32> = rows.clone().flat_map(|i| graph.neighbours(i)).copied().collect();
    let weights: Vec<f32> = match graph.is_weighted() {
        true => rows.filter_map(|i| graph.weights(i)).flatten().copied().collect(),
        false => vec![1.0; neighbours.len()],
    };
    let offsets: Vec<i64> = graph.offsets().iter().map(|&offset| offset as i64).collect();
    members.push(("adj_data", floats(&[weights.len()], &weights)));
    members.push(("adj_indices", integers(neighbours.iter().map(|&j| i64::from(j)))));
    members.push(("adj_indptr", integers(offsets)));
    members.push(("adj_shape", integers([nodes as i64; 2])));
    match dataset.features() {
        Features::Dense(m) => {
            members.push(("attr_matrix", floats(&[m.rows(), m.cols()], m.as_slice())));
        }
        Features::Sparse(m) => {
            members.push(("attr_data", floats(&[m.nnz()], m.values())));
            members.push(("attr_indices", integers(m.indices().iter().map(|&j| i64::from(j)))));
            members.push(("attr_indptr", integers(m.offsets().iter().map(|&k| k as i64))));
            members.push(("attr_shape", integers([m.rows() as i64, m.cols() as i64])));
        }
    }
    let labels = dataset.labels().as_slice().iter();
    members.push(("labels", integers(labels.map(|label| label.map_or(UNLABELLED, i64::from)))));
    if !dataset.labels().classes().is_empty() {
        members.push(("class_names", npy::encode_texts(dataset.labels().classes())));
    }
    if let Some(ids) = dataset.node_ids() {
        members.push(("node_names", npy::encode_texts(ids)));
    }
    if let Some(names) = dataset.feature_names() {
        members.push(("attr_names", npy::encode_texts(names)));
    }
    if let Some(split) = dataset.split() {
        let names = ["train_idx", "val_idx", "test_idx"];
        for (name, (_, part)) in names.into_iter().zip(split.parts()) {
            members.push((name, integers(part.iter().map(|&node| node as i64))));
        }
    }
    members
}

/// Writes arrays as an archive.
pub(crate) fn write_members(
    path: &Path,
    overwrite: bool,
    members: &[(&str, Vec<u8>)],
) -> Result<()> {
    let bytes = archive::to_bytes(members);
    write_atomically(path, overwrite, |file| std::io::Write::write_all(file, &bytes))
}

/// An array of integers.
pub(crate) fn integers(values: impl IntoIterator<Item = i64>) -> Vec<u8> {
    let payload: Vec<u8> = values.into_iter().flat_map(i64::to_le_bytes).collect();
    npy::encode("<i8", &[payload.len() / 8], &payload)
}

fn floats(shape: &[usize], values: &[f32]) -> Vec<u8> {
    let payload: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy::encode("<f4", shape, &payload)
}

/// A matrix as it stands in the archive.
enum RawMatrix {
    Sparse { shape: [usize; 2], offsets: Vec<usize>, indices: Vec<u32>, values: Vec<f32> },
    Dense(Matrix<f32>),
}

impl RawMatrix {
    fn into_graph(self, reading: &Reading) -> Result<(Graph, Repairs)> {
        match self {
            RawMatrix::Sparse { shape, offsets, indices, values } => {
                check_square(shape[0], shape[1])?;
                let weights = values.iter().any(|&w| w != 1.0).then_some(values.as_slice());
                reading.building(indices.len(), shape[0], || {
                    Graph::from_csr(&offsets, &indices, weights)
                })
            }
            RawMatrix::Dense(m) => {
                check_square(m.rows(), m.cols())?;
                let entries = m.as_slice().iter().filter(|&&value| value != 0.0).count();
                reading.hold(2 * (8 * entries as u64 + 8 * m.rows() as u64))?;
                let (mut offsets, mut indices, mut weights) = (vec![0], Vec::new(), Vec::new());
                for i in 0..m.rows() {
                    for (j, &value) in m.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                        indices.push(j as u32);
                        weights.push(value);
                    }
                    offsets.push(indices.len());
                }
                reading.building(indices.len(), m.rows(), || {
                    Graph::from_csr(&offsets, &indices, Some(&weights))
                })
            }
        }
    }

    /// The features, and how many entries were repeated and added up.
    fn into_features(self, reading: &Reading) -> Result<(Features, usize)> {
        match self {
            RawMatrix::Sparse { shape, offsets, indices, values } => {
                reading.hold(8 * (indices.len() + offsets.len()) as u64)?;
                let matrix = SparseMatrix::from_csr(shape[1], &offsets, &indices, &values)?;
                let repeats = match indices.len() - matrix.nnz() {
                    0 => 0,
                    _ => repeated_entries(&offsets, &indices),
                };
                Ok((Features::sparse(matrix)?, repeats))
            }
            RawMatrix::Dense(m) => Ok((Features::dense(m)?, 0)),
        }
    }
}

fn check_square(rows: usize, cols: usize) -> Result<()> {
    if rows == cols {
        Ok(())
    } else {
        Err(Error::Format(format!("the adjacency is {rows} × {cols}, but must be square")))
    }
}

/// The arrays of an archive by name.
struct Members<R> {
    archive: Archive<R>,
    /// The names that were asked for.
    read: HashSet<String>,
    notes: Vec<String>,
    reading: Reading,
}

/// Names the part of the archive in which an error was found, unless that is not to blame.
fn named(what: &str, error: Error) -> Error {
    match error {
        Error::Memory { .. } | Error::Cancelled | Error::Read(_) => error,
        other => Error::Format(format!("{what}: {other}")),
    }
}

const PARTS: [&str; 3] = ["train", "val", "test"];

impl<R: Read + Seek> Members<R> {
    fn open(source: R, context: &Context) -> Result<Self> {
        let (archive, reading) = (Archive::open(source)?, Reading::under(context)?);
        Ok(Members { archive, read: HashSet::new(), notes: Vec::new(), reading })
    }

    /// Reads a member and hands its array on, of which something is made that takes so many bytes an item; errors
    /// name the member.
    fn with<T>(
        &mut self,
        name: &str,
        item: usize,
        read: impl FnOnce(&Array<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let inside = |error| named(&format!("member {name}"), error);
        self.read.insert(name.to_owned());
        let bytes = self.archive.read(name, &self.reading).map_err(inside)?;
        let Some(bytes) = bytes else { return Ok(None) };
        let limit = self.archive.limit();
        let made = Array::parse(&bytes).and_then(|array| {
            self.reading.hold((item * array.len()) as u64)?;
            read(&array.with_limit(limit))
        });
        self.reading.release(bytes.capacity() as u64);
        made.map_err(inside).map(Some)
    }

    fn integers(&mut self, name: &str, nan: Option<i64>) -> Result<Option<Vec<i64>>> {
        self.with(name, size_of::<i64>(), |array| {
            check_dimensions(array, 1)?;
            array.integers(nan)
        })
    }

    /// Whether a member is there and true.
    fn flag(&mut self, name: &str) -> Result<bool> {
        let flag = self.with(name, size_of::<i64>(), |array| match array.integers(None)?[..] {
            [value @ (0 | 1)] => Ok(value == 1),
            _ => Err(Error::Format("must have one entry, true or false".into())),
        })?;
        Ok(flag.unwrap_or(false))
    }

    /// Text, or `None` with a note where the member holds Python objects.
    fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        // A text, and its place in a set of all later on.
        const ITEM: usize = 64;
        let texts = self.with(name, ITEM, |array| match array.kind() {
            Kind::Object => Ok(None),
            _ => {
                check_dimensions(array, 1)?;
                array.texts().map(Some)
            }
        })?;
        if matches!(texts, Some(None)) {
            self.notes.push(format!("member {name} skipped: it holds pickled Python objects"));
        }
        Ok(texts.flatten())
    }

    /// What is built from a matrix; errors name it.
    fn matrix<T>(
        &mut self,
        prefix: &str,
        what: &str,
        build: impl FnOnce(RawMatrix, &Reading) -> Result<T>,
    ) -> Result<T> {
        build(self.raw_matrix(prefix, what)?, &self.reading)
            .map_err(|error| named(&format!("{what} (members {prefix}…)"), error))
    }

    /// A matrix under `PREFIX_data`, … , `PREFIX_matrix.data`, … or, dense, `PREFIX_matrix`.
    fn raw_matrix(&mut self, prefix: &str, what: &str) -> Result<RawMatrix> {
        for stem in [format!("{prefix}_"), format!("{prefix}_matrix."), format!("{prefix}.")] {
            if self.archive.names().contains(&format!("{stem}indptr")) {
                return self.sparse(&stem);
            }
        }
        let dense = self.with(&format!("{prefix}_matrix"), size_of::<f32>(), |array| {
            check_dimensions(array, 2)?;
            Matrix::from_rows(array.shape()[0], array.shape()[1], array.floats()?)
        })?;
        dense.map(RawMatrix::Dense).ok_or_else(|| {
            Error::Format(format!(
                "{what} cannot be found: neither {prefix}_data, {prefix}_indices, {prefix}_indptr, \
                 {prefix}_shape nor {prefix}_matrix; members are {}",
                self.archive.names().join(", ")
            ))
        })
    }

    fn sparse(&mut self, stem: &str) -> Result<RawMatrix> {
        let missing = |part: &str| Error::Format(format!("member {stem}{part} is missing"));
        let length = self.archive.length();
        let mut index = |part: &str| -> Result<Vec<i64>> {
            self.integers(&format!("{stem}{part}"), None)?.ok_or_else(|| missing(part))
        };
        let shape = index("shape")?;
        let [rows, cols] = shape[..] else {
            return Err(Error::Format(format!("member {stem}shape has {} entries", shape.len())));
        };
        let convert = |part: &str, values: Vec<i64>| -> Result<Vec<usize>> {
            values
                .into_iter()
                .enumerate()
                .map(|(k, value)| {
                    usize::try_from(value).map_err(|_| {
                        Error::Format(format!("member {stem}{part}: entry {k} is {value}, below 0"))
                    })
                })
                .collect()
        };
        let shape = convert("shape", vec![rows, cols])?;
        let offsets = convert("indptr", index("indptr")?)?;
        let rows_found = offsets.len().saturating_sub(1);
        Error::check_size(format!("rows by {stem}indptr (its length − 1)"), shape[0], rows_found)?;
        if !justify_nodes(length, shape[0] as u64) {
            return Err(Error::Format(format!(
                "member {stem}shape: {rows} rows are far more than the {length} bytes of the \
                 archive are about; if they are meant, save it uncompressed"
            )));
        }
        let indices = convert("indices", index("indices")?)?
            .into_iter()
            .enumerate()
            .map(|(k, value)| match u32::try_from(value) {
                Ok(column) if value < MAX_NODES => Ok(column),
                _ => Err(Error::Format(format!(
                    "member {stem}indices: entry {k} is {value}, which does not fit 32 bits"
                ))),
            })
            .collect::<Result<Vec<u32>>>()?;
        self.reading.release((size_of::<u32>() * indices.len()) as u64);
        let values = self
            .with(&format!("{stem}data"), size_of::<f32>(), |array| {
                check_dimensions(array, 1)?;
                array.floats()
            })?
            .ok_or_else(|| missing("data"))?;
        check_offsets(&offsets, indices.len())
            .map_err(|error| Error::Format(format!("member {stem}indptr: {error}")))?;
        let what = format!("entries of {stem}data (one per entry of {stem}indices)");
        Error::check_size(what, indices.len(), values.len())?;
        Ok(RawMatrix::Sparse { shape: [shape[0], shape[1]], offsets, indices, values })
    }

    /// The split by `train_idx`, … or `train_mask`, …; `None` where neither is there.
    fn split(&mut self, nodes: usize) -> Result<Option<Split>> {
        let is_train = |name: &String| name == "train_idx" || name == "train_mask";
        if !self.archive.names().iter().any(is_train) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for part in PARTS {
            let by_index = self.integers(&format!("{part}_idx"), None)?;
            let nodes_of_part = match by_index {
                Some(nodes) => Some(nodes),
                None => self.with(&format!("{part}_mask"), 2 * size_of::<i64>(), |array| {
                    check_dimensions(array, 1)?;
                    Error::check_size("entries (one per node)", nodes, array.shape()[0])?;
                    let mask = array.integers(None)?.into_iter().zip(0..);
                    Ok(mask.filter(|(set, _)| *set != 0).map(|(_, node)| node).collect())
                })?,
            };
            let nodes_of_part = nodes_of_part.unwrap_or_default();
            if let Some(negative) = nodes_of_part.iter().find(|node| **node < 0) {
                return Err(Error::Format(format!(
                    "member {part}_idx names node {negative}, but nodes are numbered from 0"
                )));
            }
            parts.push(nodes_of_part.into_iter().map(|node| node as usize).collect::<Vec<_>>());
        }
        let [train, validation, test] = &mut parts[..] else { unreachable!("three parts") };
        let take = std::mem::take;
        Split::new(nodes, take(train), take(validation), take(test)).map(Some)
    }

    /// Notes the members that were not looked at.
    fn note_unread(&mut self) {
        let unread = self.archive.names().iter().filter(|name| !self.read.contains(*name));
        let unread: Vec<&str> = unread.map(String::as_str).collect();
        if !unread.is_empty() {
            self.notes.push(format!("members not used: {}", unread.join(", ")));
        }
    }
}

fn check_dimensions(array: &Array<'_>, dimensions: usize) -> Result<()> {
    array.check_plain()?;
    if array.shape().len() == dimensions {
        Ok(())
    } else {
        Err(Error::Format(format!(
            "has shape {:?}, but must have {dimensions} dimension{}",
            array.shape(),
            if dimensions == 1 { "" } else { "s" }
        )))
    }
}
