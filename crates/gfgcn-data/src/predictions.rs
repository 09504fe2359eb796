//! Predictions as a file: a table, or an archive of arrays.

use crate::table::{Column, OutputFormat, write_table_as};
use crate::{npy, npz};
use gfgcn::Result;
use gfgcn::calibration::Regions;
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::model::Predictions;
use gfgcn::training::SmoothedSets;
use std::borrow::Cow;
use std::path::Path;

/// What is written beside labels and scores.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// The probability of every class or label.
    pub probabilities: bool,
    /// What is plausible at a coverage: sets of classes or labels, or intervals of values.
    pub regions: Option<Regions>,
    /// The same sets smoothed over neighbours, in place of those of single nodes.
    pub smoothed: Option<SmoothedSets>,
}

impl Extras {
    /// The plausible classes or labels of a node.
    pub fn plausible(&self, predictions: &Predictions, node: usize) -> Vec<u32> {
        match (&self.smoothed, &self.regions) {
            (Some(smoothed), _) => smoothed.set(node),
            (None, Some(regions)) => predictions.plausible(node, regions),
            (None, None) => Vec::new(),
        }
    }

    /// How many columns there are for each class.
    fn copies(&self) -> u64 {
        u64::from(self.probabilities) + 2 * u64::from(self.regions.is_some())
    }
}

/// Bytes that [`write()`] takes at most.
pub fn write_memory(
    predictions: &Predictions,
    extras: &Extras,
    format: OutputFormat,
    nodes: usize,
) -> u64 {
    let (nodes, classes) = (nodes as u64, predictions.classes().len() as u64);
    // As rows, as columns or bytes, and in the file's format; ids and labels beside them.
    let copies = if format == OutputFormat::Npz { 4 } else { 3 };
    nodes * (8 * copies * (1 + extras.copies()) * classes + 256)
}

/// Writes the predictions for the given nodes of the dataset that was predicted.
///
/// A table (CSV, TSV, JSON, Parquet) has the columns `id`, `label` and `score_CLASS` for each
/// class. An archive has the arrays `id`, `label` (text), `label_id` (positions in
/// `class_names`), `scores` (nodes × classes) and `class_names`.
///
/// Sets of labels stand in `label`, joined by semicolons; an archive has `labels` (nodes × labels, 0 or 1) in place of
/// `label_id`. Values have a column of their own name each, in an archive `values` (nodes × columns) and `value_names`.
///
/// Probabilities are the columns `probability_CLASS`, in an archive `probabilities` (nodes × classes). Prediction sets are the
/// column `set`, joined by semicolons, in an archive `sets` (nodes × classes, 0 or 1); intervals the columns `NAME_from` and
/// `NAME_to`, in an archive `from` and `to` (nodes × columns).
pub fn write(
    predictions: &Predictions,
    (path, format): (&Path, OutputFormat),
    overwrite: bool,
    dataset: &Dataset,
    nodes: &[usize],
    extras: &Extras,
) -> Result<()> {
    let OutputFormat::Table { format, gzipped } = format else {
        return write_archive(predictions, path, overwrite, dataset, nodes, extras);
    };
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
    if extras.probabilities {
        let rows: Vec<Vec<f64>> =
            nodes.iter().map(|&node| predictions.probabilities(node)).collect();
        for (class, name) in predictions.classes().iter().enumerate() {
            let values = rows.iter().map(|row| row[class]).collect();
            columns.push(Column::numbers(format!("probability_{name}"), values));
        }
    }
    if let Some(regions) = &extras.regions {
        columns.extend(region_columns(predictions, nodes, regions, extras));
    }
    write_table_as(path, (format, gzipped), overwrite, &columns)
}

fn region_columns<'p>(
    predictions: &'p Predictions,
    nodes: &[usize],
    regions: &Regions,
    extras: &Extras,
) -> Vec<Column<'p>> {
    if predictions.kind() != TargetKind::Values {
        let set = |&node: &usize| names(predictions, &extras.plausible(predictions, node));
        return vec![Column::text("set", nodes.iter().map(set).map(Cow::Owned))];
    }
    let rows: Vec<Vec<(f64, f64)>> =
        nodes.iter().map(|&node| predictions.intervals(node, regions)).collect();
    let of_column = |(k, name): (usize, &String)| {
        let ends = |end: fn(&(f64, f64)) -> f64| rows.iter().map(|row| end(&row[k])).collect();
        [
            Column::numbers(format!("{name}_from"), ends(|interval| interval.0)),
            Column::numbers(format!("{name}_to"), ends(|interval| interval.1)),
        ]
    };
    predictions.classes().iter().enumerate().flat_map(of_column).collect()
}

/// The names of classes or labels, joined.
fn names(predictions: &Predictions, positions: &[u32]) -> String {
    let names = positions.iter().map(|&k| predictions.classes()[k as usize].as_str());
    names.collect::<Vec<_>>().join(";")
}

/// The predicted class, or labels.
fn label(predictions: &Predictions, node: usize) -> Cow<'_, str> {
    match predictions.kind() {
        TargetKind::Sets => Cow::Owned(names(predictions, &predictions.labels(node))),
        TargetKind::Classes | TargetKind::Values => Cow::Borrowed(predictions.name(node)),
    }
}

fn write_archive(
    predictions: &Predictions,
    path: &Path,
    overwrite: bool,
    dataset: &Dataset,
    nodes: &[usize],
    extras: &Extras,
) -> Result<()> {
    let texts = |text: &dyn Fn(usize) -> String| {
        npy::encode_texts(&nodes.iter().map(|&node| text(node)).collect::<Vec<_>>())
    };
    let shape = [nodes.len(), predictions.classes().len()];
    let numbers = |of_node: &dyn Fn(usize) -> Vec<f64>| {
        let values = nodes.iter().flat_map(|&node| of_node(node)).flat_map(f64::to_le_bytes);
        npy::encode("<f8", &shape, &values.collect::<Vec<u8>>())
    };
    let marks = |of_node: &dyn Fn(usize) -> Vec<u32>| {
        let mut chosen = vec![0; shape[0] * shape[1]];
        for (&node, row) in nodes.iter().zip(chosen.chunks_mut(shape[1])) {
            of_node(node).iter().for_each(|&label| row[label as usize] = 1);
        }
        npy::encode("|u1", &shape, &chosen)
    };
    let scores = numbers(&|node| predictions.scores(node));
    let names = npy::encode_texts(predictions.classes());
    let mut members = vec![("id", texts(&|node| dataset.node_id(node).into_owned()))];
    if predictions.kind() == TargetKind::Values {
        members.extend([("values", scores), ("value_names", names)]);
        if let Some(regions) = &extras.regions {
            let ends = |end: fn(&(f64, f64)) -> f64| {
                numbers(&|node| predictions.intervals(node, regions).iter().map(end).collect())
            };
            members.extend([("from", ends(|ends| ends.0)), ("to", ends(|ends| ends.1))]);
        }
        return npz::write_members(path, overwrite, &members);
    }
    members.push(("label", texts(&|node| label(predictions, node).into_owned())));
    members.push(match predictions.kind() {
        TargetKind::Sets => ("labels", marks(&|node| predictions.labels(node))),
        TargetKind::Classes | TargetKind::Values => {
            let classes = nodes.iter().map(|&node| i64::from(predictions.class(node)));
            ("label_id", npz::integers(classes))
        }
    });
    members.extend([("scores", scores), ("class_names", names)]);
    if extras.probabilities {
        members.push(("probabilities", numbers(&|node| predictions.probabilities(node))));
    }
    if extras.regions.is_some() {
        members.push(("sets", marks(&|node| extras.plausible(predictions, node))));
    }
    npz::write_members(path, overwrite, &members)
}
