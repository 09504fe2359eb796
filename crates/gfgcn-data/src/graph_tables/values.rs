//! Values: a table of an id and one or more columns of numbers.

use super::nodes::NodeIds;
use super::parts::{self, is_missing, node};
use crate::columns::Columns;
use crate::reading::Reading;
use crate::table::{Place, RowKind, Table, TableSource, is_number, names};
use gfgcn::data::Values;
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};

/// Reads values; nodes that the table does not name, or whose cells are all empty or say that something is missing, have none.
pub(super) fn read(
    source: &TableSource,
    ids: &NodeIds,
    columns: &Columns,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Values> {
    let is_key = |name: &str| names::is_id(name) || ids.is_column(name);
    let is_header = |first: &[String]| {
        let named = first.iter().skip(1).any(|cell| !cell.is_empty() && !is_number(cell));
        named || names::is_unnamed(&first[0]) || (is_key(&first[0]) && !ids.contains(&first[0]))
    };
    let is_header = |first: &[String]| is_header(first) || columns.head_nodes(first);
    let mut table = Table::open_with(source, RowKind::Several, is_key, is_header, reading)?;
    let asked = |name: &Option<String>| name.as_ref().and_then(|name| table.find_if_there(name));
    let (id, only) = (asked(&columns.id), asked(&columns.label));
    if id.is_none() {
        let remedy = "the column id first, or call that column id";
        table.check_key_is_named("--id-column", remedy)?;
    }
    let id = id.unwrap_or(0);
    let others = (0..table.columns()).filter(|&k| k != id && only.is_none_or(|only| k == only));
    table.keep(&std::iter::once(id).chain(others).collect::<Vec<_>>());
    notes.extend(table.note_of_index());
    let width = table.columns() - 1;
    if width == 0 {
        return Err(table.header_error(
            "there is 1 column, but an id and at least one column of values are needed".to_owned()
                + parts::SEPARATED,
        ));
    }
    let columns: Vec<String> = match table.names() {
        Some(names) => names[1..].to_vec(),
        None if width == 1 => vec!["value".into()],
        None => (0..width).map(|k| k.to_string()).collect(),
    };
    table.hold(8 * width * ids.len() + size_of::<Option<Place>>() * ids.len())?;
    let mut values = vec![f64::NAN; width * ids.len()];
    let mut places: Vec<Option<Place>> = vec![None; ids.len()];
    while table.advance()? {
        let node = node(&table, ids, "value")?;
        if let Some(place) = places[node].replace(table.place()) {
            return Err(table.error(format!(
                "the node {:?} was already on {place}; every node has one row",
                table.cell(0)?.text()
            )));
        }
        let row = &mut values[node * width..(node + 1) * width];
        read_row(&table, row)?;
    }
    let matrix = Matrix::from_rows(ids.len(), width, values)?;
    Values::new(columns, matrix).map_err(|e| e.in_file(source.path()))
}

/// All cells are numbers, or none is there.
fn read_row(table: &Table, row: &mut [f64]) -> Result<(), Error> {
    let mut missing = None;
    let mut found = false;
    for (k, value) in row.iter_mut().enumerate() {
        let cell = table.cell(k + 1)?;
        if is_missing(&cell) {
            missing.get_or_insert(k + 1);
        } else {
            *value = cell.double().map_err(|problem| table.cell_error(k + 1, problem))?;
            found = true;
        }
    }
    match missing {
        Some(column) if found => Err(table.cell_error(
            column,
            "has no number, but other values of the node are there; give all or none",
        )),
        _ => Ok(()),
    }
}
