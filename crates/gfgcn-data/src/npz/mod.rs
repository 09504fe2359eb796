//! `.npz` archives in the layout of the gnn-benchmark collection, and in that of heterophilous-graphs.
//!
//! | members | meaning |
//! |---|---|
//! | `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape` | adjacency in compressed rows; or `adj_matrix`, dense |
//! | `directed` | one truth value: whether row i of the adjacency is for the edges that start at node i; optional |
//! | `adj_symmetric` | one true value where each undirected edge is stored in one direction only; optional |
//! | `relation_names` | text: the types of edges, optional; then `relation_0_data`, …, as for the adjacency, are the edges of the first |
//! | `attr_data`, `attr_indices`, `attr_indptr`, `attr_shape` | features in compressed rows; or `attr_matrix`, dense; may be absent |
//! | `labels` | one integer per node, −1 for unlabelled; or a row of zeros and ones per node, of −1 where they are not known: sets of labels; may be absent |
//! | `values` | in place of labels: one or several numbers per node, NaN where they are not known |
//! | `class_names`, `value_names`, `node_names`, `attr_names` | text, optional |
//! | `train_idx`, `val_idx`, `test_idx` | the split, optional; or `train_mask`, … or, of several splits, `train_masks`, … |
//!
//! The other layout has an edge list and dense features:
//!
//! | members | meaning |
//! |---|---|
//! | `node_features` | nodes × features; may be absent |
//! | `node_labels` | as `labels`; or `values` |
//! | `edges` | edges × 2: the ends of each, once or in both directions |
//! | `train_masks`, `val_masks`, `test_masks` | splits × nodes, optional |
//! | `directed` | one truth value; optional |
//!
//! Integers and floats of any width and byte order are read; members with pickled objects are
//! skipped with a note and never unpickled. What is written has the first layout.

mod heterophilous;
mod matrix;
mod relations;
mod splits;
mod targets;

use crate::NO_FEATURES;
use crate::archive::{self, Archive};
use crate::directions::{Directions, Said, note_repairs};
use crate::npy::{self, Array, Kind};
use crate::reading::Reading;
use gfgcn::buffer::{Buffer, Plain};
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::files::{open, write_atomically};
use gfgcn::graph::Graph;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use matrix::RawMatrix;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

/// Reads a dataset from a file.
///
/// Large arrays that are not compressed are read where they are in the file, which therefore must not be written to or truncated while the
/// dataset is in use; replacing the file by another does no harm.
///
/// # Errors
/// Anything wrong in the file, with the member and the value; less memory than the data take.
pub fn read(path: &Path, name: &str, context: &Context) -> Result<Dataset> {
    read_with(path, name, Directions::AsSaid, context)
}

/// Like [`read`], with edges directed as asked for.
///
/// # Errors
/// As [`read`]; an archive that says that its edges have no directions where they are asked for.
pub fn read_with(
    path: &Path,
    name: &str,
    directions: Directions,
    context: &Context,
) -> Result<Dataset> {
    let reading = Reading::under(context)?;
    let file = mapped(path, &reading)?;
    from_members(Members::open(&file, Some(&file), reading), name, directions)
        .map_err(|error| error.in_file(path))
}

/// Reads a dataset from the bytes of an archive.
///
/// # Errors
/// As [`read`].
pub fn from_bytes(bytes: &[u8], name: &str, context: &Context) -> Result<Dataset> {
    from_bytes_with(bytes, name, Directions::AsSaid, context)
}

/// Like [`from_bytes`], with edges directed as asked for.
///
/// # Errors
/// As [`read_with`].
pub fn from_bytes_with(
    bytes: &[u8],
    name: &str,
    directions: Directions,
    context: &Context,
) -> Result<Dataset> {
    from_members(Members::open(bytes, None, Reading::under(context)?), name, directions)
}

/// The bytes of a file where they are, if they can be mapped.
fn mapped(path: &Path, reading: &Reading) -> Result<Buffer<u8>> {
    let file = open(path)?;
    let length = file.metadata().map_err(|e| Error::Read(e).in_file(path))?.len();
    match Buffer::map(&file, 0, length as usize) {
        Ok(mapped) => Ok(mapped),
        Err(_) => reading.read_file(path).map(Into::into),
    }
}

fn from_members(
    members: Result<Members<'_>>,
    name: &str,
    directions: Directions,
) -> Result<Dataset> {
    let mut members = members?;
    if heterophilous::is_layout(members.archive.names()) {
        return heterophilous::read(members, name, directions);
    }
    let one_way = members.flag("adj_symmetric")?.unwrap_or(false);
    let by = "member adj_symmetric".to_owned();
    let one_way = one_way.then_some(Said { directed: false, by });
    let said = members.said_directions()?.into_iter().chain(one_way);
    let resolved = directions.resolve(said)?;
    let directed = resolved.directed;
    let built =
        members.matrix("adj", "the graph", |raw, reading| raw.into_graph(directed, reading))?;
    let (graph, mut repairs) = resolved.settled(built);
    let graph = members.relations(graph, directed, &mut repairs)?;
    let (features, repeats) = match members.has_features() {
        true => members.matrix("attr", "the features", RawMatrix::into_features)?,
        false => (Features::none(graph.nodes()), 0),
    };
    let class_names = members.texts("class_names")?;
    let targets = match members.labels("labels", class_names.as_deref())? {
        Some(labels) => labels,
        None => members.values()?.unwrap_or_else(|| Labels::none(graph.nodes()).into()),
    };
    let splits = members.splits(graph.nodes())?;
    let node_names = members.texts("node_names")?;
    let feature_names = members.texts("attr_names")?;
    members.note_unread();
    if features.is_empty() {
        members.notes.push(NO_FEATURES.into());
    }

    let dataset = Dataset::new(name, graph, features, targets)?;
    let mut dataset = note_repairs(dataset, &repairs).with_added_up(repeats).with_splits(splits)?;
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

/// The splits in an archive of index arrays or masks, for a graph of `nodes` nodes; there is one at least.
///
/// # Errors
/// As [`read`]; an archive without a split.
pub fn read_splits(path: &Path, nodes: usize, context: &Context) -> Result<Vec<Split>> {
    let reading = Reading::under(context)?;
    let file = mapped(path, &reading)?;
    let read = || {
        let splits = Members::open(&file, Some(&file), reading)?.splits(nodes)?;
        match splits[..] {
            [] => Err(Error::Format(
                "has neither train_idx nor train_mask nor train_masks, so there is no split in it"
                    .into(),
            )),
            _ => Ok(splits),
        }
    };
    read().map_err(|error: Error| error.in_file(path))
}

/// Writes a dataset; an existing file is only replaced with `overwrite`.
///
/// # Errors
/// A split whose training part is empty, which could not be read again.
pub fn write(dataset: &Dataset, path: &Path, overwrite: bool) -> Result<()> {
    dataset.splits().iter().try_for_each(Split::check_train).map_err(|e| e.in_file(path))?;
    write_members(path, overwrite, &members_of(dataset))
}

/// The bytes of an archive; the same dataset always gives the same bytes.
pub fn to_bytes(dataset: &Dataset) -> Vec<u8> {
    archive::to_bytes(&members_of(dataset))
}

fn members_of(dataset: &Dataset) -> Vec<(Cow<'static, str>, Vec<u8>)> {
    let graph = dataset.graph();
    let mut members: Vec<(&'static str, Vec<u8>)> = Vec::new();
    let [data, indices, offsets, shape] = rows_of(graph);
    members.push(("adj_data", data));
    members.push(("adj_indices", indices));
    members.push(("adj_indptr", offsets));
    members.push(("adj_shape", shape));
    if graph.has_directions() {
        members.push(("directed", npy::encode("|b1", &[], &[1])));
    }
    match dataset.features() {
        none if none.is_empty() => {}
        Features::Dense(m) => {
            members.push(("attr_matrix", floats(&[m.rows(), m.cols()], m.as_slice())));
        }
        Features::Blocks(m) => {
            let m = m.to_matrix();
            members.push(("attr_matrix", floats(&[m.rows(), m.cols()], m.as_slice())));
        }
        Features::Sparse(m) => {
            members.push(("attr_data", floats(&[m.nnz()], m.values())));
            members.push(("attr_indices", integers(m.indices().iter().map(|&j| i64::from(j)))));
            members.push(("attr_indptr", integers(m.offsets().iter().map(|&k| k as i64))));
            members.push(("attr_shape", integers([m.rows() as i64, m.cols() as i64])));
        }
    }
    members.extend(targets::members_of(dataset));
    if let Some(ids) = dataset.node_ids() {
        members.push(("node_names", npy::encode_texts(ids)));
    }
    if let Some(names) = dataset.feature_names() {
        members.push(("attr_names", npy::encode_texts(names)));
    }
    members.extend(splits::members_of(dataset));
    let members = members.into_iter().map(|(name, array)| (Cow::Borrowed(name), array));
    members.chain(relations::members_of(graph)).collect()
}

/// The arrays of an adjacency in compressed rows: weights, ends, offsets and shape.
fn rows_of(graph: &Graph) -> [Vec<u8>; 4] {
    let mut offsets = vec![0; graph.nodes() + 1];
    graph.arc_list().for_each(|(from, _, _)| offsets[from + 1] += 1);
    (0..graph.nodes()).for_each(|node| offsets[node + 1] += offsets[node]);
    let weights: Vec<f32> = graph.arc_list().map(|(_, _, weight)| weight).collect();
    [
        floats(&[weights.len()], &weights),
        integers(graph.arc_list().map(|(_, to, _)| to as i64)),
        integers(offsets),
        integers([graph.nodes() as i64; 2]),
    ]
}

/// Writes arrays as an archive.
pub(crate) fn write_members(
    path: &Path,
    overwrite: bool,
    members: &[(impl AsRef<str>, Vec<u8>)],
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

/// The arrays of an archive by name.
struct Members<'a> {
    archive: Archive<'a>,
    /// The file that the archive is, if it is mapped.
    file: Option<&'a Buffer<u8>>,
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

impl<'a> Members<'a> {
    fn open(bytes: &'a [u8], file: Option<&'a Buffer<u8>>, reading: Reading) -> Result<Self> {
        let archive = Archive::open(bytes)?;
        Ok(Members { archive, file, read: HashSet::new(), notes: Vec::new(), reading })
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
        let (limit, file) = (self.archive.limit(), self.file);
        let made = Array::parse(&bytes).and_then(|array| {
            self.reading.hold((item * array.len()) as u64)?;
            read(&array.with_limit(limit).with_file(file))
        });
        if let Cow::Owned(decompressed) = bytes {
            self.reading.release(decompressed.capacity() as u64);
        }
        made.map_err(inside).map(Some)
    }

    /// As [`Members::with`], of numbers that take no memory where they can stay in the file.
    fn buffer<T: Plain>(
        &mut self,
        name: &str,
        dimensions: usize,
        read: impl FnOnce(&Array<'_>) -> Result<Buffer<T>>,
    ) -> Result<Option<(Vec<usize>, Buffer<T>)>> {
        let reading = self.reading.clone();
        self.with(name, 0, |array| {
            check_dimensions(array, dimensions)?;
            if !array.is_lent::<T>() {
                reading.hold((size_of::<T>() * array.len()) as u64)?;
            }
            Ok((array.shape().to_vec(), read(array)?))
        })
    }

    fn integers(&mut self, name: &str, nan: Option<i64>) -> Result<Option<Vec<i64>>> {
        self.with(name, size_of::<i64>(), |array| {
            check_dimensions(array, 1)?;
            array.integers(nan)
        })
    }

    /// Whether a member is true, if it is there.
    fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        self.with(name, size_of::<i64>(), |array| match array.integers(None)?[..] {
            [value @ (0 | 1)] => Ok(value == 1),
            _ => Err(Error::Format("must have one entry, true or false".into())),
        })
    }

    /// What the archive says about directions.
    fn said_directions(&mut self) -> Result<Option<Said>> {
        let said = self.flag("directed")?;
        Ok(said.map(|directed| Said { directed, by: "member directed".into() }))
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
