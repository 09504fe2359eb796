//! Predictions as a file: a table, or an archive of arrays.

use crate::archive::Writer;
use crate::npy;
use crate::table::{Column, OutputFormat, ROWS_AT_A_TIME, TableFormat, write_table_in_parts};
use gfgcn::Result;
use gfgcn::calibration::Regions;
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::files::write_atomically;
use gfgcn::model::Predictions;
use gfgcn::training::SmoothedSets;
use std::borrow::Cow;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::Path;

/// What is written beside labels and scores, and what is left out.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// No scores, only labels. Values are written as ever.
    pub labels_only: bool,
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
    fn copies(&self, kind: TargetKind) -> u64 {
        u64::from(self.writes_scores(kind))
            + u64::from(self.probabilities)
            + 2 * u64::from(self.regions.is_some())
    }

    fn writes_scores(&self, kind: TargetKind) -> bool {
        !self.labels_only || kind == TargetKind::Values
    }
}

/// Nodes that are written together.
const PART: usize = ROWS_AT_A_TIME;

/// Bytes that [`write()`] takes at most.
pub fn write_memory(
    predictions: &Predictions,
    extras: &Extras,
    format: OutputFormat,
    nodes: usize,
) -> u64 {
    let whole = matches!(format, OutputFormat::Table { format: TableFormat::Parquet, .. });
    let some = if whole { nodes } else { nodes.min(PART) } as u64;
    let classes = predictions.classes().len() as u64;
    // As rows, as columns or bytes, and in the file's format; ids and labels beside them.
    let copies = if format == OutputFormat::Npz { 4 } else { 3 };
    8 * nodes as u64 + some * (8 * copies * extras.copies(predictions.kind()) * classes + 256)
}

/// Writes the predictions for the given nodes of the dataset that was predicted.
///
/// A table (CSV, TSV, JSON, Parquet) has the columns `id`, `label` and `score_CLASS` for each
/// class. An archive has the arrays `id`, `label` (text), `label_id` (positions in
/// `class_names`), `scores` (nodes × classes) and `class_names`. [`Extras::labels_only`] leaves the scores out.
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
    let part = |rows: Range<usize>| columns(predictions, dataset, &nodes[rows], extras);
    write_table_in_parts(path, (format, gzipped), overwrite, nodes.len(), &part)
}

/// The columns of a table, for some nodes.
fn columns<'p>(
    predictions: &'p Predictions,
    dataset: &'p Dataset,
    nodes: &[usize],
    extras: &Extras,
) -> Vec<Column<'p>> {
    let mut columns = vec![Column::text("id", nodes.iter().map(|&node| dataset.node_id(node)))];
    if predictions.kind() != TargetKind::Values {
        columns.push(Column::text("label", nodes.iter().map(|&node| label(predictions, node))));
    }
    let mut of_classes = |of_node: &dyn Fn(usize) -> Vec<f64>, prefix: &str| {
        let rows: Vec<Vec<f64>> = nodes.iter().map(|&node| of_node(node)).collect();
        for (class, name) in predictions.classes().iter().enumerate() {
            let values = rows.iter().map(|row| row[class]).collect();
            columns.push(Column::numbers(format!("{prefix}{name}"), values));
        }
    };
    if extras.writes_scores(predictions.kind()) {
        let prefix = if predictions.kind() == TargetKind::Values { "" } else { "score_" };
        of_classes(&|node| predictions.scores(node), prefix);
    }
    if extras.probabilities {
        of_classes(&|node| predictions.probabilities(node), "probability_");
    }
    if let Some(regions) = &extras.regions {
        columns.extend(region_columns(predictions, nodes, regions, extras));
    }
    columns
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
    write_atomically(path, overwrite, |file| {
        let mut archive = Members { archive: Writer::deflated(file), predictions, nodes };
        archive.all(dataset, extras)?;
        archive.archive.finish()
    })
}

/// An archive of predictions that is written some nodes at a time.
struct Members<'p, W: Write + Seek> {
    archive: Writer<W>,
    predictions: &'p Predictions,
    nodes: &'p [usize],
}

impl<W: Write + Seek> Members<'_, W> {
    fn all(&mut self, dataset: &Dataset, extras: &Extras) -> io::Result<()> {
        let predictions = self.predictions;
        self.texts("id", &|node| dataset.node_id(node))?;
        if predictions.kind() == TargetKind::Values {
            self.numbers("values", &|node| predictions.scores(node))?;
            self.names("value_names")?;
            if let Some(regions) = &extras.regions {
                let ends = |node, end: fn(&(f64, f64)) -> f64| {
                    predictions.intervals(node, regions).iter().map(end).collect()
                };
                self.numbers("from", &|node| ends(node, |ends| ends.0))?;
                self.numbers("to", &|node| ends(node, |ends| ends.1))?;
            }
            return Ok(());
        }
        self.texts("label", &|node| label(predictions, node))?;
        match predictions.kind() {
            TargetKind::Sets => self.marks("labels", &|node| predictions.labels(node))?,
            TargetKind::Classes | TargetKind::Values => {
                self.archive.start("label_id", "<i8", &[self.nodes.len()])?;
                self.rows(&mut |node, bytes| {
                    bytes.extend(i64::from(predictions.class(node)).to_le_bytes());
                })?;
            }
        }
        if !extras.labels_only {
            self.numbers("scores", &|node| predictions.scores(node))?;
        }
        self.names("class_names")?;
        if extras.probabilities {
            self.numbers("probabilities", &|node| predictions.probabilities(node))?;
        }
        if extras.regions.is_some() {
            self.marks("sets", &|node| extras.plausible(predictions, node))?;
        }
        Ok(())
    }

    /// The bytes of every node, one after the other.
    fn rows(&mut self, push: &mut dyn FnMut(usize, &mut Vec<u8>)) -> io::Result<()> {
        let mut bytes = Vec::new();
        for some in self.nodes.chunks(PART) {
            bytes.clear();
            some.iter().for_each(|&node| push(node, &mut bytes));
            self.archive.write_all(&bytes)?;
        }
        Ok(())
    }

    fn texts<'t>(&mut self, name: &str, text: &dyn Fn(usize) -> Cow<'t, str>) -> io::Result<()> {
        let lengths = self.nodes.iter().map(|&node| text(node).chars().count());
        let width = lengths.max().unwrap_or(0).max(1);
        self.archive.start(name, &format!("<U{width}"), &[self.nodes.len()])?;
        self.rows(&mut |node, bytes| npy::push_text(bytes, &text(node), width))
    }

    fn numbers(&mut self, name: &str, of_node: &dyn Fn(usize) -> Vec<f64>) -> io::Result<()> {
        let shape = [self.nodes.len(), self.predictions.classes().len()];
        self.archive.start(name, "<f8", &shape)?;
        self.rows(&mut |node, bytes| {
            bytes.extend(of_node(node).into_iter().flat_map(f64::to_le_bytes))
        })
    }

    fn marks(&mut self, name: &str, of_node: &dyn Fn(usize) -> Vec<u32>) -> io::Result<()> {
        let width = self.predictions.classes().len();
        self.archive.start(name, "|u1", &[self.nodes.len(), width])?;
        self.rows(&mut |node, bytes| {
            let first = bytes.len();
            bytes.resize(first + width, 0);
            of_node(node).into_iter().for_each(|label| bytes[first + label as usize] = 1);
        })
    }

    fn names(&mut self, name: &str) -> io::Result<()> {
        self.archive.member(name, &npy::encode_texts(self.predictions.classes()))
    }
}
