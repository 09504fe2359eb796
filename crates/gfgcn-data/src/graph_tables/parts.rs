//! Tables that say something about each node they name; the labels among them.

use super::arrays;
use super::nodes::NodeIds;
use crate::classes;
use crate::columns::Columns;
use crate::reading::Reading;
use crate::table::{Cell, FileFormat, Place, RowKind, Table, TableSource, is_number, names};
use gfgcn::data::{LabelSets, Labels, Targets};
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What stands for "no label" in words: the list of pandas, and the question mark of older collections.
const MISSING: [&str; 19] = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "?",
];

/// Reads labels in any format; nodes that the table does not name have none. A table in which a node has several rows with
/// different labels says sets of labels.
pub(super) fn read_labels(
    source: &TableSource,
    ids: &NodeIds,
    columns: &Columns,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Targets> {
    let targets = read_any_labels(source, ids, columns, notes, reading)?;
    if let Targets::Classes(labels) = &targets {
        ask(labels, notes).map_err(|e| e.in_file(source.path()))?;
    }
    Ok(targets)
}

/// Refuses labels that cannot be meant as classes, and asks about those that hardly can.
pub(super) fn ask(labels: &Labels, notes: &mut Vec<String>) -> Result<()> {
    notes.extend(classes::check(labels)?);
    notes.extend(classes::ask_about_numbers(labels));
    Ok(())
}

/// As [`read_labels`], of nodes that need not be all that have a label: whether these look like classes is not asked.
pub(super) fn read_any_labels(
    source: &TableSource,
    ids: &NodeIds,
    columns: &Columns,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Targets> {
    let mut missing = Missing::default();
    let targets = if source.format()? == Some(FileFormat::Npy) {
        arrays::read_labels(source.path(), ids.len(), &mut missing, reading)?.into()
    } else {
        read_label_table(source, ids, columns, &mut missing, notes, reading)?
    };
    notes.extend(missing.notes());
    Ok(targets)
}

fn read_label_table(
    source: &TableSource,
    ids: &NodeIds,
    columns: &Columns,
    missing: &mut Missing,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Targets> {
    let mut table = open(source, ids, columns, &LABEL, reading)?;
    notes.extend(table.note_of_index());
    table.hold((size_of::<Option<String>>() + size_of::<Option<Place>>()) * ids.len())?;
    let mut labels: Vec<Option<String>> = vec![None; ids.len()];
    let mut places: Vec<Option<Place>> = vec![None; ids.len()];
    // Labels of nodes that have another one, and where the first stands.
    let mut more: Vec<(usize, String)> = Vec::new();
    let mut first = None;
    while table.advance()? {
        let node = node(&table, ids, LABEL.what)?;
        let cell = table.cell(1)?;
        let label = missing.label(&cell).map(Cow::into_owned);
        table.grow(label.as_ref().map_or(0, String::len))?;
        if let Some(place) = places[node].replace(table.place())
            && labels[node] != label
        {
            if labels[node].is_some()
                && let Some(label) = label
            {
                table.grow(size_of::<(usize, String)>())?;
                if first.is_none() {
                    first = Some((table.cell(0)?.text().into_owned(), table.place()));
                }
                more.push((node, label));
                continue;
            }
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
    let Some((id, place)) = first else {
        table.hold(size_of::<Option<u32>>() * ids.len())?;
        return Ok(Labels::from_names(&labels).into());
    };
    // A list per node, and the numbers of its labels.
    table.hold((size_of::<Option<Vec<String>>>() + 2 * size_of::<usize>()) * ids.len())?;
    table.hold(2 * (size_of::<String>() + size_of::<u32>()) * (ids.len() + more.len()))?;
    let sets = sets(labels, more);
    let several = (0..sets.len()).filter(|&n| sets.get(n).is_some_and(|set| set.len() > 1)).count();
    notes.push(match several {
        1 => format!(
            "1 node has several labels, so that sets of labels are learnt; if that is a mistake, remove one of {id:?} \
             ({place})"
        ),
        several => format!(
            "{several} nodes have several labels (the first is {id:?}, on {place}), so that sets of labels are learnt"
        ),
    });
    Ok(sets.into())
}

/// Sets of labels, from the first label of each node and those after it.
fn sets(first: Vec<Option<String>>, more: Vec<(usize, String)>) -> LabelSets {
    let mut sets: Vec<Option<Vec<String>>> =
        first.into_iter().map(|label| label.map(|label| vec![label])).collect();
    for (node, label) in more {
        sets[node].get_or_insert_default().push(label);
    }
    LabelSets::from_names(&sets)
}

/// What stands for "no label": nothing, -1 and NaN, which may have become floats on their way, and the
/// words for it.
pub(super) fn is_unlabelled(cell: &Cell) -> bool {
    let text = cell.text();
    text == "-1" || text == "-1.0" || is_missing(cell)
}

/// What stands for nothing among numbers: nothing, NaN, and the words for it.
pub(super) fn is_missing(cell: &Cell) -> bool {
    let text = cell.text();
    text.is_empty() || text.eq_ignore_ascii_case("nan") || MISSING.contains(&&*text)
}

/// Whether a cell is a word, or nothing at all; not a number that is infinite or too large.
pub(super) fn is_no_number(cell: &Cell) -> bool {
    is_missing(cell) || matches!(cell, Cell::Text(text) if !is_number(text))
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

/// What to do where there seems to be one column.
pub(super) const SEPARATED: &str =
    "; if they are separated by something unusual, say so with --separator";

/// What the columns after the id are about.
pub(super) struct Subject {
    pub(super) what: &'static str,
    pub(super) is_name: fn(&str) -> bool,
    /// Whether there may be several such columns.
    pub(super) several: bool,
}

const LABEL: Subject = Subject { what: "label", is_name: names::is_label, several: false };

/// Opens a table of an id and one or more other columns. A first row that begins with a name for ids is a
/// header, unless that is the id of a node and the other cells no names for the columns.
pub(super) fn open(
    source: &TableSource,
    ids: &NodeIds,
    columns: &Columns,
    subject: &Subject,
    reading: &Reading,
) -> Result<Table> {
    let &Subject { what, is_name, several } = subject;
    let asked = columns.label.as_ref().filter(|_| what == LABEL.what);
    let is_key = |name: &str| names::is_id(name) || ids.is_column(name);
    let is_header = |first: &[String]| match first {
        [index, rest @ ..] if names::is_unnamed(index) => rest.last().is_some_and(|n| is_name(n)),
        [id, rest @ ..] if rest.len() == 1 || (several && !rest.is_empty()) => {
            is_key(id) && (rest.iter().all(|name| is_name(name)) || !ids.contains(id))
        }
        row => row.iter().any(|id| is_key(id) && !ids.contains(id)),
    };
    let is_header = |first: &[String]| is_header(first) || columns.head_nodes(first);
    let mut table = Table::open_with(source, RowKind::Several, is_key, is_header, reading)?;
    let id = columns.id.as_ref().and_then(|name| table.find_if_there(name));
    if id.is_none() {
        let remedy = format!("the columns id and {what}, or call that column id");
        table.check_key_is_named("--id-column", &remedy)?;
    }
    let id = match (id, table.names()) {
        (Some(id), _) => id,
        // Other columns may come before the ids, if these are named so.
        (None, Some(names)) if table.columns() > 2 && !is_key(&names[0]) => {
            names.iter().position(|name| is_key(name)).unwrap_or(0)
        }
        (None, _) => 0,
    };
    let only = match (asked, table.names()) {
        (Some(name), _) => Some(table.find(name)?),
        (None, Some(names)) if !several && names.len() > 2 => {
            let fitting = (0..names.len()).filter(|&k| k != id && is_name(&names[k]));
            match fitting.collect::<Vec<_>>()[..] {
                [only] => Some(only),
                _ => None,
            }
        }
        _ => None,
    };
    match (only, table.columns()) {
        (Some(only), _) if only != id => {
            table.keep(&[id, only]);
            Ok(table)
        }
        (None, 2) => {
            table.keep(&[id, 1 - id]);
            Ok(table)
        }
        (None, 3..) if several => {
            let others = (0..table.columns()).filter(|&k| k != id);
            table.keep(&std::iter::once(id).chain(others).collect::<Vec<_>>());
            Ok(table)
        }
        (Some(_), _) => {
            Err(table.header_error("the ids and the labels would be in the same column"))
        }
        (None, columns) => {
            let which = match what == LABEL.what {
                _ if columns < 2 => SEPARATED,
                true => "; of several, --label-column says which one holds the labels",
                false => "",
            };
            Err(table.header_error(format!(
                "the number of columns is {columns}, but there must be two, id and {what}{which}"
            )))
        }
    }
}

/// The node that the current row is about, and what the row says about it, if anything.
pub(super) fn node(table: &Table, ids: &NodeIds, what: &str) -> Result<usize> {
    let id = table.cell(0)?;
    if id.is_empty() {
        return Err(table.cell_error(0, "is empty, but must be the id of a node"));
    }
    match ids.find(&id.text()) {
        Ok(node) => Ok(node as usize),
        Err(problem) if table.names().is_none() && table.place() == Place::Line(1) => {
            let columns = if what.is_empty() { "id".into() } else { format!("id,{what}") };
            Err(table.error(format!("{problem}; if this is a header, write {columns}")))
        }
        Err(problem) => Err::<_, Error>(table.error(problem)),
    }
}
