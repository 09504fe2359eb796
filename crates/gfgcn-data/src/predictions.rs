//! Predictions as a file: a table, or an archive of arrays.

use crate::table::{Column, check_table_name, names_table, write_table};
use crate::{npy, npz};
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::model::Predictions;
use gfgcn::{Error, Result};
use std::borrow::Cow;
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
///
/// Sets of labels stand in `label`, joined by semicolons; an archive has `labels` (nodes × labels, 0 or 1) in place of
/// `label_id`. Values have a column of their own name each, in an archive `values` (nodes × columns) and `value_names`.
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
    let mut columns = vec![Column::text("id", nodes.iter().map(|&node| dataset.node_id(node)))];
    if predictions.kind() != TargetKind::Values {
        columns.push(Column::text("label", nodes.iter().map(|&node| label(predictions, node))));
    }
    for (class, name) in predictions.classes().iter().enumerate() {
        let values = scores.iter().map(|row| row[class]).collect();
        let name = match predictions.kind() {
            TargetKind::Values => name.clone(),
            TargetKind::Classes | TargetKind::Sets => format!("score_{name}"),
        };
        columns.push(Column::numbers(name, values));
    }
    write_table(path, overwrite, &columns)
}

/// The predicted class, or labels.
fn label(predictions: &Predictions, node: usize) -> Cow<'_, str> {
    match predictions.kind() {
        TargetKind::Sets => {
            let labels = predictions.labels(node).into_iter();
            let names = labels.map(|label| predictions.classes()[label as usize].as_str());
            Cow::Owned(names.collect::<Vec<_>>().join(";"))
        }
        TargetKind::Classes | TargetKind::Values => Cow::Borrowed(predictions.name(node)),
    }
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
    let (scores, names) =
        (npy::encode("<f8", &shape, &scores), npy::encode_texts(predictions.classes()));
    let mut members = vec![("id", texts(&|node| dataset.node_id(node).into_owned()))];
    if predictions.kind() == TargetKind::Values {
        members.extend([("values", scores), ("value_names", names)]);
        return npz::write_members(path, overwrite, &members);
    }
    members.push(("label", texts(&|node| label(predictions, node).into_owned())));
    members.push(match predictions.kind() {
        TargetKind::Sets => {
            let mut chosen = vec![0; shape[0] * shape[1]];
            for (&node, row) in nodes.iter().zip(chosen.chunks_mut(shape[1])) {
                predictions.labels(node).iter().for_each(|&label| row[label as usize] = 1);
            }
            ("labels", npy::encode("|u1", &shape, &chosen))
        }
        TargetKind::Classes | TargetKind::Values => {
            let classes = nodes.iter().map(|&node| i64::from(predictions.class(node)));
            ("label_id", npz::integers(classes))
        }
    });
    members.extend([("scores", scores), ("class_names", names)]);
    npz::write_members(path, overwrite, &members)
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}
