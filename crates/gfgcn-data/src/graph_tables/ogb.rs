//! OGB's raw folders: `raw/edge.csv.gz`, `raw/node-feat.csv.gz`, `raw/node-label.csv.gz`, `split/NAME/train.csv.gz`, ….
//!
//! Tables without headers and ids: a row for each node, nodes by their number from 0. Files may be expanded (`.csv`). One
//! column of labels is a class for each node, several of 0 and 1 are sets of labels.

use super::nodes::NodeIds;
use super::relations::{self, Wanted};
use super::{file_name, parts};
use crate::NO_FEATURES;
use crate::columns::Columns;
use crate::density::FeatureRows;
use crate::directions::{Directions, note_repairs};
use crate::limits::justify_nodes;
use crate::reading::Reading;
use crate::table::{Table, TableSource};
use gfgcn::data::{Dataset, LabelSets, Labels, Targets};
use gfgcn::features::Features;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::path::{Path, PathBuf};

/// Where the tables of a folder are, if it is one of these: in `raw`, or in itself.
pub(crate) fn raw_folder(folder: &Path) -> Option<PathBuf> {
    let candidates = [folder.join("raw"), folder.to_owned()];
    candidates.into_iter().find(|raw| {
        find(raw, "edge").is_some()
            && (find(raw, "node-label").is_some() || find(raw, "node-feat").is_some())
    })
}

fn find(folder: &Path, stem: &str) -> Option<PathBuf> {
    let candidates = ["csv.gz", "csv"].map(|end| folder.join(format!("{stem}.{end}")));
    candidates.into_iter().find(|path| path.is_file())
}

/// Reads a folder.
pub(crate) fn read(
    folder: &Path,
    name: &str,
    directions: Directions,
    reading: &Reading,
) -> Result<Dataset> {
    let missing = || Error::Data("has no raw/edge.csv.gz".into()).in_file(folder);
    let raw = raw_folder(folder).ok_or_else(missing)?;
    let edges = find(&raw, "edge").ok_or_else(missing)?;
    let mut notes = Vec::new();
    let mut features = match find(&raw, "node-feat") {
        Some(path) => Some(read_features(&path, reading)?),
        None => None,
    };
    let labels =
        find(&raw, "node-label").map(|path| read_labels(&path, &mut notes, reading)).transpose()?;
    let counted = find(&raw, "num-node-list").map(|path| read_count(&path, reading)).transpose()?;
    let known = [counted, features.as_ref().map(Features::rows), labels.as_ref().map(Targets::len)];
    let mut counts = known.into_iter().flatten();
    let nodes = counts.next().ok_or_else(missing)?;
    if let Some(other) = counts.find(|&other| other != nodes) {
        let problem = format!("its tables are of {nodes} and of {other} nodes");
        return Err(Error::Data(problem).in_file(&raw));
    }
    let length = raw.read_dir().map_err(|e| Error::Read(e).in_file(&raw))?;
    let length: u64 =
        length.flatten().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
    if nodes == 0 || !justify_nodes(length, nodes as u64) {
        let problem = format!("claims {nodes} nodes, which {length} bytes are not about");
        return Err(Error::Data(problem).in_file(&raw));
    }
    if features.is_none() {
        notes.push(NO_FEATURES.into());
        features = Some(Features::none(nodes));
    }
    let mut ids = NodeIds::rows(file_name(&raw), nodes);
    let columns = &Columns::default();
    let wanted = Wanted { columns, directions, said: None };
    let sources = [(TableSource::file(&edges), None)];
    let (graph, repairs) = relations::read(&sources, &mut ids, wanted, &mut notes, reading)?;
    let unread = ["edge-feat", "edge_reltype", "node_species", "node_year"];
    let unread =
        unread.into_iter().filter_map(|stem| find(&raw, stem)).map(|path| file_name(&path));
    let unread: Vec<String> = unread.collect();
    if !unread.is_empty() {
        notes.push(format!("not read: {}", unread.join(", ")));
    }
    let splits = read_splits(folder, nodes, reading)?;
    let targets = labels.unwrap_or_else(|| Labels::none(nodes).into());
    let features = features.unwrap_or_else(|| Features::none(nodes));
    let dataset = note_repairs(Dataset::new(name, graph, features, targets)?, &repairs);
    notes.into_iter().fold(dataset, Dataset::with_note).with_splits(splits)
}

/// A table without a header.
fn open(path: &Path, reading: &Reading) -> Result<Table> {
    Table::open(&TableSource::file(path), |_| false, |_| false, reading)
}

fn read_features(path: &Path, reading: &Reading) -> Result<Features> {
    let mut table = open(path, reading)?;
    let width = table.columns();
    let mut rows = FeatureRows::new(width, reading);
    let mut row = vec![0.0; width];
    while table.advance()? {
        for (k, value) in row.iter_mut().enumerate() {
            let number = table.cell(k)?.number();
            *value = number.map_err(|problem| table.cell_error(k, problem))?;
        }
        rows.push(&row).map_err(|e| e.in_file(path))?;
    }
    rows.finish().map_err(|e| e.in_file(path))
}

fn read_labels(path: &Path, notes: &mut Vec<String>, reading: &Reading) -> Result<Targets> {
    let mut table = open(path, reading)?;
    let mut missing = parts::Missing::default();
    if table.columns() == 1 {
        let mut labels = Vec::new();
        while table.advance()? {
            let label = missing.label(&table.cell(0)?).map(|label| label.into_owned());
            table.grow(size_of::<Option<String>>() + label.as_ref().map_or(0, String::len))?;
            labels.push(label);
        }
        notes.extend(missing.notes());
        let labels = Labels::from_names(&labels);
        parts::ask(&labels, notes).map_err(|e| e.in_file(path))?;
        return Ok(labels.into());
    }
    let names: Vec<String> = (0..table.columns()).map(|column| column.to_string()).collect();
    let mut sets: Vec<Option<Vec<&str>>> = Vec::new();
    while table.advance()? {
        let (mut set, mut unknown) = (Vec::new(), 0);
        for (column, name) in names.iter().enumerate() {
            match table.cell(column)?.text().as_ref() {
                "1" | "1.0" => set.push(name.as_str()),
                "0" | "0.0" => {}
                "nan" | "" => unknown += 1,
                other => {
                    let problem = format!("is {other:?}, but labels in several columns are 0 or 1");
                    return Err(table.cell_error(column, problem));
                }
            }
        }
        table.grow(size_of::<Option<Vec<&str>>>() + size_of::<&str>() * set.len())?;
        sets.push((unknown < names.len()).then_some(set));
    }
    Ok(LabelSets::from_names(&sets).into())
}

fn read_count(path: &Path, reading: &Reading) -> Result<usize> {
    let numbers = read_numbers(path, reading)?;
    match numbers[..] {
        [only] => Ok(only),
        _ => {
            Err(Error::Data(format!("is of {} graphs, but one is read", numbers.len()))
                .in_file(path))
        }
    }
}

/// A column of whole numbers.
fn read_numbers(path: &Path, reading: &Reading) -> Result<Vec<usize>> {
    let mut table = open(path, reading)?;
    let mut numbers = Vec::new();
    while table.advance()? {
        let cell = table.cell(0)?.text();
        let number = cell
            .parse()
            .map_err(|_| table.cell_error(0, format!("is {cell:?}, but must be a whole number")))?;
        table.grow(size_of::<usize>())?;
        numbers.push(number);
    }
    Ok(numbers)
}

/// The splits in the folder `split`, in the order of their names.
fn read_splits(folder: &Path, nodes: usize, reading: &Reading) -> Result<Vec<Split>> {
    let Ok(entries) = folder.join("split").read_dir() else { return Ok(Vec::new()) };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| find(path, "train").is_some());
    folders.sort_unstable();
    let read = |folder: PathBuf| {
        let part =
            |stem| find(&folder, stem).map_or(Ok(Vec::new()), |path| read_numbers(&path, reading));
        let (train, validation, test) = (part("train")?, part("valid")?, part("test")?);
        reading.hold((size_of::<Option<&str>>() * nodes) as u64)?;
        Split::new(nodes, train, validation, test).map_err(|e| e.in_file(&folder))
    };
    folders.into_iter().map(read).collect()
}
