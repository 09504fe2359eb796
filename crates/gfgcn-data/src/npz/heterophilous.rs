//! Archives in the layout of the heterophilous-graphs collection.
//!
//! | members | meaning |
//! |---|---|
//! | `node_features` | nodes × features, dense; held sparse where most are zero; may be absent |
//! | `node_labels` | one integer per node, −1 for unlabelled; or a row of zeros and ones per node |
//! | `edges` | edges × 2, the numbers of their ends |
//! | `train_masks`, `val_masks`, `test_masks` | splits × nodes, optional; as in [`super::splits`] |
//! | `directed` | one truth value, optional |
//!
//! As published, nothing in it says whether edges have a direction. A list that names each edge once, or every edge in
//! both directions, is taken for one of undirected edges. One that has some of both is of directed ones, and if they are
//! made undirected, that is said.

use super::{Members, check_dimensions, named};
use crate::NO_FEATURES;
use crate::density::FeatureRows;
use crate::directions::{Directions, note_repairs};
use crate::edges::EdgeList;
use crate::limits::justify_nodes;
use crate::npy::Array;
use crate::reading::Reading;
use gfgcn::data::Dataset;
use gfgcn::features::Features;
use gfgcn::{Error, Result};

const FEATURES: &str = "node_features";
const LABELS: &str = "node_labels";
const EDGES: &str = "edges";

/// Whether these are the members of such an archive, complete or not, and of no other.
pub(super) fn is_layout(names: &[String]) -> bool {
    let ours = [FEATURES, LABELS, EDGES];
    names.iter().any(|name| ours.contains(&name.as_str()))
        && !names.iter().any(|name| name.starts_with("adj"))
}

pub(super) fn read(
    mut members: Members<'_>,
    name: &str,
    directions: Directions,
) -> Result<Dataset> {
    let missing = |member: &str| Error::Format(format!("member {member} is missing"));
    let features = members.features()?;
    let labels = match members.labels(LABELS, None)? {
        Some(labels) => labels,
        None => members.values()?.ok_or_else(|| missing(LABELS))?,
    };
    if labels.is_empty() {
        return Err(Error::Format(format!(
            "member {LABELS} has no entries, so there are no nodes"
        )));
    }
    let features = features.unwrap_or_else(|| Features::none(labels.len()));
    let nodes = features.rows();
    Error::check_size(format!("entries of {LABELS} (one per node)"), nodes, labels.len())?;
    let edges = members.edges(nodes)?.ok_or_else(|| missing(EDGES))?;
    let resolved = directions.resolve(members.said_directions()?)?;
    let edges = EdgeList { ends: edges, ..EdgeList::default() };
    let (graph, repairs) = edges
        .build(nodes, resolved.directed, &members.reading)
        .map(|built| resolved.settled(built))
        .map_err(|error| named(&format!("member {EDGES}"), error))?;
    drop(edges);
    if graph.edges() == 0 {
        members.notes.push(format!("member {EDGES} has no edges; every node stands alone"));
    }
    let splits = members.splits(nodes)?;
    members.note_unread();
    if features.is_empty() {
        members.notes.push(NO_FEATURES.into());
    }
    let dataset = Dataset::new(name, graph, features, labels)?;
    let dataset = note_repairs(dataset, &repairs).with_splits(splits)?;
    Ok(members.notes.into_iter().fold(dataset, Dataset::with_note))
}

impl Members<'_> {
    fn features(&mut self) -> Result<Option<Features>> {
        let (reading, length) = (self.reading.clone(), self.archive.length());
        self.with(FEATURES, size_of::<f32>(), |array| features(array, length, &reading))
    }

    fn edges(&mut self, nodes: usize) -> Result<Option<Vec<(u32, u32)>>> {
        const ITEM: usize = size_of::<i64>() + size_of::<u32>();
        let edges = self.with(EDGES, ITEM, |array| ends(array, nodes))?;
        if let Some(edges) = &edges {
            self.reading.release((2 * size_of::<i64>() * edges.len()) as u64);
        }
        Ok(edges)
    }
}

fn features(array: &Array<'_>, length: u64, reading: &Reading) -> Result<Features> {
    check_dimensions(array, 2)?;
    let (nodes, columns) = (array.shape()[0], array.shape()[1]);
    if nodes == 0 || columns == 0 {
        return Err(Error::Format(format!(
            "has {nodes} rows and {columns} columns, but at least one node and one feature are needed"
        )));
    }
    if !justify_nodes(length, nodes as u64) {
        return Err(Error::Format(format!(
            "{nodes} rows are far more than the {length} bytes of the archive are about; if they are \
             meant, save it uncompressed"
        )));
    }
    let values = array.floats()?;
    let mut rows = FeatureRows::new(columns, reading);
    values.chunks_exact(columns).try_for_each(|row| rows.push(row))?;
    let held = size_of_val(&values[..]);
    drop(values);
    reading.release(held as u64);
    rows.finish()
}

/// The ends of every edge.
fn ends(array: &Array<'_>, nodes: usize) -> Result<Vec<(u32, u32)>> {
    array.check_plain()?;
    let &[_, 2] = array.shape() else {
        return Err(Error::Format(format!(
            "has shape {:?}, but must have a row for each edge and two columns, its ends",
            array.shape()
        )));
    };
    let ends = array.integers(None)?;
    let node = |entry: usize| match u32::try_from(ends[entry]) {
        Ok(node) if (node as usize) < nodes => Ok(node),
        _ => Err(Error::Format(format!(
            "row {} names node {}, but the nodes are 0 to {}",
            entry / 2,
            ends[entry],
            nodes - 1
        ))),
    };
    // Not collected: an array that doubles would take twice the memory.
    let mut edges = Vec::with_capacity(ends.len() / 2);
    for edge in 0..ends.len() / 2 {
        edges.push((node(2 * edge)?, node(2 * edge + 1)?));
    }
    Ok(edges)
}
