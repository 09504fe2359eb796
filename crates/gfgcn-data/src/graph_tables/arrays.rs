//! Edges, features and labels as NumPy arrays: no ids, numbers of nodes, a row or an entry per node.

use super::nodes::NodeIds;
use super::parts::Missing;
use crate::density::FeatureRows;
use crate::edges::EdgeList;
use crate::limits::justify_nodes;
use crate::npy::{Array, Kind};
use crate::reading::Reading;
use crate::table::Cell;
use gfgcn::data::Labels;
use gfgcn::data::UNLABELLED;
use gfgcn::features::Features;
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

/// Reads edges: an array of integers of shape (E, 2) or (2, E), which number the nodes from 0 in the order of the features.
/// Where nothing else says how many nodes there are, the largest number does.
pub(super) fn read_edges(path: &Path, ids: &mut NodeIds, reading: &Reading) -> Result<EdgeList> {
    let bytes = reading.read_file(path)?;
    let mut read = || {
        let array = Array::parse(&bytes)?;
        array.check_plain()?;
        let by_rows = match array.shape() {
            [2, 2] => {
                return Err(Error::Data(
                    "the array has the shape [2, 2], which may be two edges by rows or by columns; write it as a \
                     table, edges.csv"
                        .into(),
                ));
            }
            [_, 2] => true,
            [2, _] => false,
            shape => {
                return Err(Error::Data(format!(
                    "the array has the shape {shape:?}, but edges are two columns or two rows of node numbers"
                )));
            }
        };
        let count = array.len() / 2;
        reading.hold((2 * count * size_of::<i64>() + count * size_of::<(u32, u32)>()) as u64)?;
        let numbers = array.integers(None)?;
        let (largest, smallest) = (numbers.iter().max(), numbers.iter().min());
        if let Some(negative) = smallest.filter(|&&number| number < 0) {
            return Err(Error::Data(format!(
                "there is an edge of node {negative}; nodes are numbered from 0"
            )));
        }
        let nodes = largest.map_or(0, |&largest| largest as u64 + 1);
        if ids.is_open() {
            if nodes == 0 {
                return Err(Error::Data("there are no edges, so there are no nodes".into()));
            }
            if !justify_nodes(bytes.len() as u64, nodes) {
                return Err(Error::Data(format!(
                    "there is an edge of node {}, far more nodes than {} bytes are about; number them without gaps, or \
                     write a table of edges",
                    nodes - 1,
                    bytes.len()
                )));
            }
            ids.number(nodes as usize).map_err(Error::Data)?;
        } else if nodes > ids.len() as u64 {
            return Err(Error::Data(format!(
                "there is an edge of node {}, but the nodes are numbered 0 to {}, in the order of the features",
                nodes - 1,
                ids.len().saturating_sub(1)
            )));
        }
        let at = |edge: usize, end: usize| match by_rows {
            true => numbers[2 * edge + end] as u32,
            false => numbers[end * count + edge] as u32,
        };
        let ends = (0..count).map(|edge| (at(edge, 0), at(edge, 1))).collect();
        Ok(EdgeList { ends, ..EdgeList::default() })
    };
    read().map_err(|e| e.in_file(path))
}

/// Reads features, a row per node.
pub(super) fn read_features(path: &Path, reading: &Reading) -> Result<Features> {
    let bytes = reading.read_file(path)?;
    let read = || {
        let array = Array::parse(&bytes)?;
        array.check_plain()?;
        let &[nodes, columns] = array.shape() else {
            return Err(Error::Data(format!(
                "the array has the shape {:?}, but features have two dimensions, nodes and columns",
                array.shape()
            )));
        };
        if nodes == 0 || columns == 0 {
            return Err(Error::Data(format!(
                "the array has {nodes} rows and {columns} columns, but at least one node and one \
                 feature are needed"
            )));
        }
        reading.hold((nodes * columns * size_of::<f32>()) as u64)?;
        let mut rows = FeatureRows::new(columns, reading);
        array.floats()?.chunks_exact(columns).try_for_each(|row| rows.push(row))?;
        rows.finish()
    };
    read().map_err(|e| e.in_file(path))
}

/// Reads labels, one per node: integers, −1 or NaN for unlabelled, or text.
pub(super) fn read_labels(
    path: &Path,
    nodes: usize,
    missing: &mut Missing,
    reading: &Reading,
) -> Result<Labels> {
    let bytes = reading.read_file(path)?;
    let mut read = || {
        let array = Array::parse(&bytes)?;
        array.check_plain()?;
        if array.shape() != [nodes] {
            return Err(Error::Data(format!(
                "the array has the shape {:?}, but labels are one per node, [{nodes}]",
                array.shape()
            )));
        }
        // As text or numbers, and as labels.
        reading.hold(bytes.len() as u64 + 64 * nodes as u64)?;
        if !matches!(array.kind(), Kind::Unicode | Kind::Bytes) {
            return Labels::from_ids(&array.integers(Some(UNLABELLED))?, None);
        }
        let texts = array.texts()?;
        let names: Vec<Option<Cow<str>>> =
            texts.iter().map(|text| missing.label(&Cell::Text(text))).collect();
        Ok(Labels::from_names(&names))
    };
    read().map_err(|e| e.in_file(path))
}
