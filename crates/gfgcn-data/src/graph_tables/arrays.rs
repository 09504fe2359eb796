//! Features and labels as NumPy arrays: no ids, a row or an entry per node.

use super::parts::Missing;
use crate::density::FeatureRows;
use crate::npy::{Array, Kind};
use crate::reading::Reading;
use crate::table::Cell;
use gfgcn::data::Labels;
use gfgcn::data::UNLABELLED;
use gfgcn::features::Features;
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

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
