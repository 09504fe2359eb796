//! The edges: pairs of node ids, perhaps with a weight and whether they are directed, or a square matrix.

use super::nodes::NodeIds;
use crate::directions::{Directions, Said};
use crate::edges::EdgeList;
use crate::matrix_market;
use crate::reading::Reading;
use crate::table::{Cell, FileFormat, Place, Table, is_number, names};
use gfgcn::Result;
use gfgcn::graph::{Graph, Repairs};
use std::path::Path;

/// Reads edges in any format.
pub(super) fn read(
    path: &Path,
    ids: &NodeIds,
    directions: Directions,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<(Graph, Repairs)> {
    let (edges, said) = match FileFormat::of(path)? {
        FileFormat::MatrixMarket => matrix_market::read_graph(path, ids.len(), reading)?,
        // A NumPy array is refused there: it could be pairs or a matrix.
        FileFormat::Text { .. } | FileFormat::Parquet | FileFormat::Npy => {
            read_table(path, ids, notes, reading)?
        }
    };
    let directed = directions.resolve(said).map_err(|e| e.in_file(path))?;
    edges.build(ids.len(), directed, reading).map_err(|e| e.in_file(path))
}

fn read_table(
    path: &Path,
    ids: &NodeIds,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<(EdgeList, Option<Said>)> {
    let mut table = Table::open(path, names::is_source, is_header, reading)?;
    table.check_key_is_named("the columns source and target first")?;
    notes.extend(table.note_of_index());
    let columns = Columns::of(&table)?;
    let mut edges = EdgeList { weights: columns.weight.map(|_| Vec::new()), ..EdgeList::default() };
    let mut flag = Flag::default();
    while table.advance()? {
        table.grow(size_of::<(u32, u32)>() + size_of::<f32>())?;
        edges.ends.push((end(&table, 0, ids)?, end(&table, 1, ids)?));
        if let (Some(weights), Some(column)) = (&mut edges.weights, columns.weight) {
            weights.push(weight(&table, column)?);
        }
        if let Some(column) = columns.directed {
            flag.read(&table, column)?;
        }
    }
    let said = flag.0.map(|(directed, place)| {
        let file = path.file_name().unwrap_or_default().display();
        Said { directed, by: format!("{place} of {file}") }
    });
    Ok((edges, said))
}

/// Where things stand after the two ends.
#[derive(Default)]
struct Columns {
    weight: Option<usize>,
    directed: Option<usize>,
}

impl Columns {
    fn of(table: &Table) -> Result<Columns> {
        let mut columns = Columns::default();
        let Some(names) = table.names() else {
            columns.weight = (table.columns() == 3).then_some(2);
            return match table.columns() {
                2 | 3 => Ok(columns),
                count => Err(table.header_error(format!(
                    "the number of columns is {count}, but edges have two, source and target, or a third, \
                     weight, separated as the extension of the file says; others need a header that names \
                     them"
                ))),
            };
        };
        if names.len() < 2 {
            return Err(table.header_error(format!(
                "the number of columns is {}, but edges have source and target, separated as the \
                 extension of the file says",
                names.len()
            )));
        }
        for (column, name) in names.iter().enumerate().skip(2) {
            let known = [
                (&mut columns.weight, names::is_weight as fn(&str) -> bool),
                (&mut columns.directed, names::is_directed),
            ];
            match known.into_iter().find(|(_, is_name)| is_name(name)) {
                None => {
                    return Err(table.header_error(format!(
                        "column {} is called {name:?}, but after source and target there may only be \
                         weight and directed",
                        table.position(column)
                    )));
                }
                Some((place, _)) => {
                    if let Some(other) = place.replace(column) {
                        return Err(table.header_error(format!(
                            "columns {} and {} mean the same, {:?} and {name:?}; remove one",
                            table.position(other),
                            table.position(column),
                            names[other]
                        )));
                    }
                }
            }
        }
        Ok(columns)
    }
}

/// Whether the edges are directed, and the first row that says so: they are all or none.
#[derive(Default)]
struct Flag(Option<(bool, Place)>);

impl Flag {
    fn read(&mut self, table: &Table, column: usize) -> Result<()> {
        let cell = table.cell(column)?;
        let directed = truth(&cell).ok_or_else(|| {
            let text = cell.text();
            table.cell_error(column, format!("is {text:?}, but must be true or false"))
        })?;
        match self.0.replace(self.0.unwrap_or((directed, table.place()))) {
            Some((before, place)) if before != directed => {
                let word = |directed| if directed { "directed" } else { "undirected" };
                Err(table.error(format!(
                    "mixed directed flags: this edge is {}, but that on {place} is {}; for an undirected edge \
                     among directed ones, write one in each direction",
                    word(directed),
                    word(before)
                )))
            }
            _ => Ok(()),
        }
    }
}

fn truth(cell: &Cell) -> Option<bool> {
    match cell.text().to_lowercase().as_str() {
        "true" | "1" | "yes" | "directed" => Some(true),
        "false" | "0" | "no" | "undirected" => Some(false),
        _ => None,
    }
}

fn is_header(first: &[String]) -> bool {
    match first {
        // An index before names that are not known; a number there could be a weight.
        [index, rest @ ..] if names::is_unnamed(index) && rest.len() > 1 => {
            rest.iter().all(|name| !name.is_empty() && !is_number(name))
        }
        [a, b, ..] => names::are_ends(a, b),
        _ => false,
    }
}

fn end(table: &Table, column: usize, ids: &NodeIds) -> Result<u32> {
    let id = table.cell(column)?;
    if id.is_empty() {
        return Err(table.cell_error(column, "is empty, but an edge has two ends"));
    }
    ids.find(&id.text()).map_err(|problem| {
        if table.names().is_none() && table.place() == Place::Line(1) {
            table.error(format!("{problem}; if this is a header, write source,target"))
        } else {
            table.error(problem)
        }
    })
}

fn weight(table: &Table, column: usize) -> Result<f32> {
    match table.cell(column)?.number() {
        Ok(weight) if weight < 0.0 => {
            Err(table.cell_error(column, format!("is {weight}, but weights must not be negative")))
        }
        Ok(weight) => Ok(weight),
        Err(problem) => Err(table.cell_error(column, problem)),
    }
}
