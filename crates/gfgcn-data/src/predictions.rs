//! Predictions as a file: a table, or an archive of arrays.

use crate::table::{Column, check_table_name, names_table, write_table};
use crate::{npy, npz};
use gfgcn::data::Dataset;
use gfgcn::model::Predictions;
use gfgcn::{Error, Result};
use std::path::Path;

/// Checks that [`write()`] would know the format, before anything is computed.
pub fn check_file_name(path: &Path) -> Result<()> {
    if is_archive(path) {
        return Ok(());
    }
    if names_table(path) {
        return check_table_name(path);
    }
    Err(Error::Data(
        "has an ending that says no format; predictions are written as .csv, .tsv (each also \
         .gz), .parquet or .npz"
            .into(),
    )
    .in_file(path))
}

/// Bytes that [`write()`] takes at most.
pub fn write_memory(predictions: &Predictions, path: &Path, nodes: usize) -> u64 {
    let (nodes, classes) = (nodes as u64, predictions.classes().len() as u64);
    // As rows, as columns or bytes, and in the file's format; ids and labels beside them.
    let copies = if is_archive(path) { 4 } else { 3 };
    nodes * (8 * copies * classes + 256)
}

/// Writes the predictions for the given nodes of the dataset that was predicted.
///
/// A table (`.csv`, `.tsv`, `.parquet`) has the columns `id`, `label` and `score_CLASS` for each
/// class. An archive (`.npz`) has the arrays `id`, `label` (text), `label_id` (positions in
/// `class_names`), `scores` (nodes × classes) and `class_names`.
pub fn write(
    predictions: &Predictions,
    path: &Path,
    overwrite: bool,
    dataset: &Dataset,
    nodes: &[usize],
) -> Result<()> {
    check_file_name(path)?;
    if is_archive(path) {
        return write_archive(predictions, path, overwrite, dataset, nodes);
    }
    let scores: Vec<Vec<f64>> = nodes.iter().map(|&node| predictions.scores(node)).collect();
    let mut columns = vec![
        Column::text("id", nodes.iter().map(|&node| dataset.node_id(node))),
        Column::text("label", nodes.iter().map(|&node| predictions.name(node))),
    ];
    for (class, name) in predictions.classes().iter().enumerate() {
        let values = scores.iter().map(|row| row[class]).collect();
        columns.push(Column::numbers(format!("score_{name}"), values));
    }
    write_table(path, overwrite, &columns)
}

fn write_archive(
    predictions: &Predictions,
    path: &Path,
    overwrite: bool,
    dataset: &Dataset,
    nodes: &[usize],
) -> Result<()> {
    let texts = |text: &dyn Fn(usize) -> String| {
        npy::encode_texts(&nodes.iter().map(|&node| text(node)).collect::<Vec<_>>())
    };
    let scores: Vec<u8> = nodes
        .iter()
        .flat_map(|&node| predictions.scores(node))
        .flat_map(f64::to_le_bytes)
        .collect();
    let shape = [nodes.len(), predictions.classes().len()];
    let classes = nodes.iter().map(|&node| i64::from(predictions.class(node)));
    let members = [
        ("id", texts(&|node| dataset.node_id(node).into_owned())),
        ("label", texts(&|node| predictions.name(node).to_owned())),
        ("label_id", npz::integers(classes)),
        ("scores", npy::encode("<f8", &shape, &scores)),
        ("class_names", npy::encode_texts(predictions.classes())),
    ];
    npz::write_members(path, overwrite, &members)
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}
