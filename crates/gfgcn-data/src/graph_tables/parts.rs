//! Labels and splits: tables that say one thing about each node they name.

use super::arrays;
use super::nodes::NodeIds;
use crate::table::{Cell, FileFormat, Place, Table, names};
use gfgcn::data::Labels;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::path::Path;

/// Reads labels in any format; nodes that the table does not name have none.
pub(super) fn read_labels(path: &Path, ids: &NodeIds) -> Result<Labels> {
    if FileFormat::of(path)? == FileFormat::Npy {
        return arrays::read_labels(path, ids.len());
    }
    let mut table = open(path, ids, "label", names::is_label)?;
    let mut labels: Vec<Option<String>> = vec![None; ids.len()];
    let mut places: Vec<Option<Place>> = vec![None; ids.len()];
    while table.advance()? {
        let node = node(&table, ids, "label")?;
        let cell = table.cell(1)?;
        let label = (!is_unlabelled(&cell)).then(|| cell.text().into_owned());
        if let Some(place) = places[node].replace(table.place())
            && labels[node] != label
        {
            let show = |label: &Option<String>| match label {
                Some(label) => format!("{label:?}"),
                None => "no label".to_owned(),
            };
            return Err(table.error(format!(
                "the node {:?} has {} here, but {} on {place}; remove one",
                table.cell(0)?.text(),
                show(&label),
                show(&labels[node])
            )));
        }
        labels[node] = label;
    }
    Ok(Labels::from_names(&labels))
}

/// What stands for "no label": nothing, -1 and NaN, which may have become floats on their way.
pub(super) fn is_unlabelled(cell: &Cell) -> bool {
    let text = cell.text();
    text.is_empty() || text == "-1" || text == "-1.0" || text.eq_ignore_ascii_case("nan")
}

/// Reads a split; nodes that the table does not name are in no part.
pub(super) fn read_split(path: &Path, ids: &NodeIds) -> Result<Split> {
    let mut table = open(path, ids, "split", names::is_split)?;
    let (mut train, mut validation, mut test) = (Vec::new(), Vec::new(), Vec::new());
    let mut places: Vec<Option<Place>> = vec![None; ids.len()];
    while table.advance()? {
        let node = node(&table, ids, "split")?;
        if let Some(place) = places[node].replace(table.place()) {
            return Err(table.error(format!(
                "the node {:?} was already on {place}; every node is in one part at most",
                table.cell(0)?.text()
            )));
        }
        let part = table.cell(1)?.text();
        match part.to_lowercase().as_str() {
            "train" | "training" => train.push(node),
            "val" | "valid" | "validation" => validation.push(node),
            "test" => test.push(node),
            "" => {}
            _ => {
                return Err(table.cell_error(
                    1,
                    format!("is {part:?}, but a part is train, val or test, or empty for none"),
                ));
            }
        }
    }
    Split::new(ids.len(), train, validation, test).map_err(|e| e.in_file(path))
}

/// Opens a table of an id and one more column. A first row that begins with a name for ids is a
/// header, unless that is the id of a node and the second cell no name for the column.
fn open(path: &Path, ids: &NodeIds, what: &str, is_name: fn(&str) -> bool) -> Result<Table> {
    let table = Table::open(path, |first| match first {
        [id, second] => {
            (names::is_id(id) || ids.is_column(id)) && (is_name(second) || !ids.contains(id))
        }
        _ => false,
    })?;
    match table.columns() {
        2 => Ok(table),
        columns => Err(table.header_error(format!(
            "the number of columns is {columns}, but there must be two, id and {what}, separated \
             as the extension of the file says"
        ))),
    }
}

fn node(table: &Table, ids: &NodeIds, what: &str) -> Result<usize> {
    let id = table.cell(0)?;
    if id.is_empty() {
        return Err(table.cell_error(0, "is empty, but must be the id of a node"));
    }
    match ids.find(&id.text()) {
        Ok(node) => Ok(node as usize),
        Err(problem) if table.names().is_none() && table.place() == Place::Line(1) => {
            Err(table.error(format!("{problem}; if this is a header, write id,{what}")))
        }
        Err(problem) => Err::<_, Error>(table.error(problem)),
    }
}
