//! Splits: a table with a column for each that says which part a node is in.

use super::nodes::NodeIds;
use super::parts::{Subject, node, open};
use crate::columns::Columns;
use crate::reading::Reading;
use crate::table::{Column, Place, Table, TableSource, names};
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::borrow::Cow;

const SPLIT: Subject = Subject { what: "split", is_name: names::is_split, several: true };

/// What the parts are called in a table, in the order of [`Split::parts`].
const PARTS: [&str; 3] = ["train", "val", "test"];

/// Reads one split or several; nodes that the table does not name are in no part.
pub(super) fn read(
    source: &TableSource,
    ids: &NodeIds,
    columns: &Columns,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Vec<Split>> {
    let path = source.path();
    let mut table = open(source, ids, columns, &SPLIT, reading)?;
    notes.extend(table.note_of_index());
    let splits = table.columns() - 1;
    // Where each node stands, its places in parts that grow, and again while parts are compared.
    let of_node = size_of::<Option<Place>>() + (3 * splits + 1) * size_of::<usize>();
    table.hold(of_node * ids.len() + splits * size_of::<[Vec<usize>; 6]>())?;
    let mut parts: Vec<[Vec<usize>; 3]> = vec![Default::default(); splits];
    let mut places: Vec<Option<Place>> = vec![None; ids.len()];
    while table.advance()? {
        let node = node(&table, ids, SPLIT.what)?;
        if let Some(place) = places[node].replace(table.place()) {
            return Err(table.error(format!(
                "the node {:?} was already on {place}; every node is in one part at most",
                table.cell(0)?.text()
            )));
        }
        for (split, column) in parts.iter_mut().zip(1..) {
            if let Some(part) = part(&table, column)? {
                split[part].push(node);
            }
        }
    }
    let of_column = |(column, [train, validation, test]): (usize, [Vec<usize>; 3])| {
        Split::new(ids.len(), train, validation, test).map_err(|error| {
            match (splits, table.names()) {
                (1, _) => error.in_file(path),
                (_, Some(names)) => {
                    Error::Data(format!("column {:?}: {error}", names[column])).in_file(path)
                }
                (_, None) => {
                    let column = table.position(column);
                    Error::Data(format!("column {column}: {error}")).in_file(path)
                }
            }
        })
    };
    (1..).zip(parts).map(of_column).collect()
}

/// The part that a cell names; `None` where it is empty.
fn part(table: &Table, column: usize) -> Result<Option<usize>> {
    let cell = table.cell(column)?.text();
    match cell.to_lowercase().as_str() {
        "train" | "training" => Ok(Some(0)),
        "val" | "valid" | "validation" => Ok(Some(1)),
        "test" => Ok(Some(2)),
        "" => Ok(None),
        _ => Err(table.cell_error(
            column,
            format!("is {cell:?}, but a part is train, val or test, or empty for none"),
        )),
    }
}

/// The table that [`read`] gives some splits back from: `id,split`, and `split_2`, … where there are several.
pub(super) fn columns<'a>(splits: &[Split], ids: &'a [Cow<str>]) -> Vec<Column<'a>> {
    let mut parts = vec![vec![""; ids.len()]; splits.len()];
    for (split, parts) in splits.iter().zip(&mut parts) {
        for (name, (_, nodes)) in PARTS.into_iter().zip(split.parts()) {
            nodes.iter().for_each(|&node| parts[node] = name);
        }
    }
    let in_any = |&node: &usize| parts.iter().any(|parts| !parts[node].is_empty());
    let nodes: Vec<usize> = (0..ids.len()).filter(in_any).collect();
    let mut columns = vec![Column::text("id", nodes.iter().map(|&node| &*ids[node]))];
    for (k, parts) in parts.iter().enumerate() {
        let name = match k {
            0 => "split".to_owned(),
            k => format!("split_{}", k + 1),
        };
        columns.push(Column::text(name, nodes.iter().map(|&node| parts[node])));
    }
    columns
}
