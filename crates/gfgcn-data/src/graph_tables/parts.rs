//! Labels and splits: tables that say one thing about each node they name.

use super::arrays;
use super::nodes::NodeIds;
use crate::classes;
use crate::reading::Reading;
use crate::table::{Cell, FileFormat, Place, Table, names};
use gfgcn::data::Labels;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// What stands for "no label" in words: the list of pandas, and the question mark of older collections.
const MISSING: [&str; 19] = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "?",
];

/// Reads labels in any format; nodes that the table does not name have none.
pub(super) fn read_labels(
    path: &Path,
    ids: &NodeIds,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Labels> {
    let mut missing = Missing::default();
    let labels = if FileFormat::of(path)? == FileFormat::Npy {
        arrays::read_labels(path, ids.len(), &mut missing, reading)?
    } else {
        read_label_table(path, ids, &mut missing, notes, reading)?
    };
    notes.extend(missing.notes());
    notes.extend(classes::check(&labels).map_err(|e| e.in_file(path))?);
    notes.extend(classes::ask_about_numbers(&labels));
    Ok(labels)
}

fn read_label_table(
    path: &Path,
    ids: &NodeIds,
    missing: &mut Missing,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Labels> {
    let mut table = open(path, ids, "label", names::is_label, reading)?;
    notes.extend(table.note_of_index());
    table.hold((size_of::<Option<String>>() + size_of::<Option<Place>>()) * ids.len())?;
    let mut labels: Vec<Option<String>> = vec![None; ids.len()];
    let mut places: Vec<Option<Place>> = vec![None; ids.len()];
    while table.advance()? {
        let node = node(&table, ids, "label")?;
        let cell = table.cell(1)?;
        let label = missing.label(&cell).map(Cow::into_owned);
        table.grow(label.as_ref().map_or(0, String::len))?;
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
    table.hold(size_of::<Option<u32>>() * ids.len())?;
    Ok(Labels::from_names(&labels))
}

/// What stands for "no label": nothing, -1 and NaN, which may have become floats on their way, and the
/// words for it.
pub(super) fn is_unlabelled(cell: &Cell) -> bool {
    let text = cell.text();
    let number = text == "-1" || text == "-1.0" || text.eq_ignore_ascii_case("nan");
    text.is_empty() || number || MISSING.contains(&&*text)
}

/// How often each word stood for "no label". Some call a class so, and have to be told.
#[derive(Default)]
pub(super) struct Missing(BTreeMap<String, usize>);

impl Missing {
    /// The label in a cell, if there is one.
    pub(super) fn label<'a>(&mut self, cell: &Cell<'a>) -> Option<Cow<'a, str>> {
        if !is_unlabelled(cell) {
            return Some(cell.text());
        }
        match *cell {
            Cell::Text("" | "-1" | "-1.0") => {}
            Cell::Text(word) => *self.0.entry(word.to_owned()).or_default() += 1,
            _ => {}
        }
        None
    }

    /// A sentence for each word.
    pub(super) fn notes(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|(word, count)| {
            let count = match count {
                1 => format!("1 label is {word:?} and counts"),
                several => format!("{several} labels are {word:?} and count"),
            };
            format!("{count} as unlabelled; if that is a class, give it another name")
        })
    }
}

/// Reads a split; nodes that the table does not name are in no part.
pub(super) fn read_split(
    path: &Path,
    ids: &NodeIds,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Split> {
    let mut table = open(path, ids, "split", names::is_split, reading)?;
    notes.extend(table.note_of_index());
    // Where each node stands, its place in a part, and again while the parts are compared.
    table.hold((size_of::<Option<Place>>() + 4 * size_of::<usize>()) * ids.len())?;
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
fn open(
    path: &Path,
    ids: &NodeIds,
    what: &str,
    is_name: fn(&str) -> bool,
    reading: &Reading,
) -> Result<Table> {
    let is_key = |name: &str| names::is_id(name) || ids.is_column(name);
    let is_header = |first: &[String]| match first {
        [index, rest @ ..] if names::is_unnamed(index) => rest.last().is_some_and(|n| is_name(n)),
        [id, second] => is_key(id) && (is_name(second) || !ids.contains(id)),
        _ => false,
    };
    let table = Table::open(path, is_key, is_header, reading)?;
    table.check_key_is_named(&format!("the columns id and {what}, or call that column id"))?;
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
