//! The features: which nodes there are, and what is known of each.
//!
//! A table has one of two layouts. *Wide*: `id` and a column per feature, a row per node. *Long*:
//! the header `id,feature,value` and a row per value other than zero, for features of which most
//! are zero; a row with neither feature nor value, or with the value 0, only declares its node, and
//! values for the same feature of a node are added up.
//! A matrix has no ids: its nodes are called by their row.

use super::nodes::NodeIds;
use super::{arrays, file_name};
use crate::density::FeatureRows;
use crate::matrix_market;
use crate::reading::Reading;
use crate::table::{FileFormat, Place, Table, is_number, names};
use crate::triplets::{self, Entry};
use gfgcn::features::Features;
use gfgcn::matrix::SparseMatrix;
use gfgcn::{Error, Result};
use std::collections::HashMap;
use std::path::Path;

/// What a table of features says.
pub(super) struct Nodes {
    pub(super) ids: NodeIds,
    pub(super) features: Features,
    pub(super) feature_names: Option<Vec<String>>,
    /// Entries that were there before and were added up.
    pub(super) repeats: usize,
    /// Whether features stand in the order in which they first came.
    pub(super) as_they_came: bool,
}

impl Nodes {
    /// Nodes without features.
    pub(super) fn without_features(ids: NodeIds) -> Nodes {
        // As many as there are when all are known.
        let features = Features::none(0);
        Nodes { ids, features, feature_names: None, repeats: 0, as_they_came: false }
    }

    /// The rows of a matrix, which has neither ids nor names.
    fn numbered(source: String, features: Features, repeats: usize) -> Nodes {
        let ids = NodeIds::rows(source, features.rows());
        Nodes { ids, features, feature_names: None, repeats, as_they_came: false }
    }
}

/// Reads features in any format.
pub(super) fn read(path: &Path, notes: &mut Vec<String>, reading: &Reading) -> Result<Nodes> {
    let source = file_name(path);
    match FileFormat::of(path)? {
        FileFormat::MatrixMarket => {
            let (features, repeats) = matrix_market::read_features(path, reading)?;
            Ok(Nodes::numbered(source, features, repeats))
        }
        FileFormat::Npy => Ok(Nodes::numbered(source, arrays::read_features(path, reading)?, 0)),
        FileFormat::Text { .. } | FileFormat::Parquet => read_table(path, source, notes, reading),
    }
}

fn read_table(
    path: &Path,
    source: String,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Nodes> {
    let mut table = Table::open(path, names::is_id, is_header, reading)?;
    table.check_key_is_named("the column id first, or call that column id")?;
    notes.extend(table.note_of_index());
    let ids = NodeIds::new(source, table.names().map(|names| names[0].clone()));
    let nodes = if table.names().is_some_and(names::are_long_features) {
        read_long(&mut table, ids)?
    } else {
        read_wide(&mut table, ids, reading)?
    };
    if nodes.ids.len() == 0 {
        return Err(Error::Data("there are no rows, so there are no nodes".into()).in_file(path));
    }
    Ok(nodes)
}

/// Without a known name for the ids, a row is a header when a feature in it is no number. An empty
/// cell among them proves nothing: it is an error in a row of values. But every row begins with an id.
fn is_header(first: &[String]) -> bool {
    let named = first.iter().skip(1).any(|cell| !cell.is_empty() && !is_number(cell));
    named || names::is_id(&first[0]) || names::is_unnamed(&first[0])
}

fn read_wide(table: &mut Table, mut ids: NodeIds, reading: &Reading) -> Result<Nodes> {
    let width = table.columns() - 1;
    if width == 0 {
        return Err(table.header_error(
            "there is 1 column, but an id and at least one feature are needed, separated as the \
             extension of the file says",
        ));
    }
    let feature_names = match table.names() {
        Some(names) => Some(check_names(table, &names[1..])?),
        None => None,
    };
    let mut rows = FeatureRows::new(width, reading);
    let mut places: Vec<Place> = Vec::new();
    let mut row = vec![0.0; width];
    while table.advance()? {
        let (node, new) = insert(table, &mut ids)?;
        if !new {
            return Err(table.error(format!(
                "the node {:?} was already on {}; every node has one row",
                table.cell(0)?.text(),
                places[node as usize]
            )));
        }
        table.grow(size_of::<Place>())?;
        places.push(table.place());
        for (k, value) in row.iter_mut().enumerate() {
            let number = table.cell(k + 1)?.number();
            *value = number.map_err(|problem| table.cell_error(k + 1, problem))?;
        }
        rows.push(&row).map_err(|e| e.in_file(table.path()))?;
    }
    let features = rows.finish().map_err(|e| e.in_file(table.path()))?;
    Ok(Nodes { ids, features, feature_names, repeats: 0, as_they_came: false })
}

fn check_names(table: &Table, names: &[String]) -> Result<Vec<String>> {
    let mut columns = HashMap::with_capacity(names.len());
    for (k, name) in names.iter().enumerate() {
        if name.is_empty() {
            let position = table.position(k + 1);
            return Err(table.header_error(format!("column {position} has no name")));
        }
        if let Some(other) = columns.insert(name, k) {
            return Err(table.header_error(format!(
                "columns {} and {} are both called {name:?}",
                table.position(other + 1),
                table.position(k + 1)
            )));
        }
    }
    Ok(names.to_vec())
}

fn read_long(table: &mut Table, mut ids: NodeIds) -> Result<Nodes> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut columns: HashMap<String, u32> = HashMap::new();
    let mut column_names: Vec<String> = Vec::new();
    while table.advance()? {
        let (row, _) = insert(table, &mut ids)?;
        let (feature, value) = (table.cell(1)?, table.cell(2)?);
        if feature.is_empty() && value.is_empty() {
            continue;
        }
        if feature.is_empty() {
            return Err(table.cell_error(1, "is empty beside a value"));
        }
        let value = value.number().map_err(|problem| table.cell_error(2, problem))?;
        let name = feature.text();
        let column = match columns.get(&*name) {
            Some(&column) => column,
            None => {
                let column = u32::try_from(column_names.len())
                    .map_err(|_| table.error("there are more features than 32 bits can number"))?;
                table.grow(2 * name.len() + NodeIds::ENTRY as usize)?;
                column_names.push(name.to_string());
                columns.insert(name.into_owned(), column);
                column
            }
        };
        let at = match table.place() {
            Place::Line(number) | Place::Row(number) => number,
        };
        table.grow(size_of::<Entry>())?;
        entries.push(Entry { row, column, value, at });
    }
    drop(columns);
    let position = order_columns(&mut column_names);
    entries.iter_mut().for_each(|entry| entry.column = position[entry.column as usize]);
    triplets::sort(&mut entries);
    let repeats = triplets::repeats(&entries);
    table.hold(triplets::memory(ids.len(), entries.len()))?;
    let matrix = triplets::compress(ids.len(), &entries);
    drop(entries);
    let features = SparseMatrix::from_csr(
        column_names.len(),
        &matrix.offsets,
        &matrix.columns,
        &matrix.values,
    )
    .and_then(Features::sparse)
    .map_err(|e| e.in_file(table.path()))?;
    Ok(Nodes { ids, features, feature_names: Some(column_names), repeats, as_they_came: true })
}

/// Brings features that are all integers into their order; others keep that of appearance. Returns
/// the new position of each column.
fn order_columns(names: &mut Vec<String>) -> Vec<u32> {
    let integers: Option<Vec<i64>> = names.iter().map(|name| name.parse().ok()).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    if let Some(integers) = integers {
        order.sort_by_key(|&column| integers[column]);
    }
    let mut position = vec![0; names.len()];
    for (new, &old) in order.iter().enumerate() {
        position[old] = new as u32;
    }
    *names = order.iter().map(|&old| std::mem::take(&mut names[old])).collect();
    position
}

/// The row of the node that the current row of the table is about.
fn insert(table: &Table, ids: &mut NodeIds) -> Result<(u32, bool)> {
    let id = table.cell(0)?;
    if id.is_empty() {
        return Err(table.cell_error(0, "is empty, but every node needs an id"));
    }
    let (node, new) = ids.insert(&id.text()).map_err(|problem| table.cell_error(0, problem))?;
    if new {
        table.grow(2 * id.text().len() + NodeIds::ENTRY as usize)?;
    }
    Ok((node, new))
}
