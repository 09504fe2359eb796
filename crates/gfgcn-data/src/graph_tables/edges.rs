//! The edges: pairs of node ids, perhaps with a weight, a type and whether they are directed, or a square matrix.

use super::file_name;
use super::nodes::NodeIds;
use super::relations::MAX_RELATIONS;
use crate::directions::Said;
use crate::edges::EdgeList;
use crate::matrix_market;
use crate::reading::Reading;
use crate::table::{Cell, FileFormat, Place, Table, is_number, names};
use gfgcn::Result;
use std::path::Path;

/// What a file of edges says.
pub(super) struct Listed {
    pub(super) edges: EdgeList,
    /// Where edges have types.
    pub(super) kinds: Option<Kinds>,
    /// What it says about directions.
    pub(super) said: Vec<Said>,
}

/// The types of edges.
#[derive(Default)]
pub(super) struct Kinds {
    /// In the order in which they first came.
    pub(super) names: Vec<String>,
    /// Where each first came.
    places: Vec<Place>,
    /// The number of each edge's name.
    pub(super) of_edge: Vec<u8>,
}

/// Reads edges in any format.
pub(super) fn read(
    path: &Path,
    ids: &mut NodeIds,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Listed> {
    match FileFormat::of(path)? {
        FileFormat::MatrixMarket => {
            let (edges, said) = matrix_market::read_graph(path, |rows| ids.number(rows), reading)?;
            Ok(Listed { edges, kinds: None, said: said.into_iter().collect() })
        }
        // A NumPy array is refused there: it could be pairs or a matrix.
        FileFormat::Text { .. } | FileFormat::Parquet | FileFormat::Npy => {
            read_table(path, ids, notes, reading)
        }
    }
}

fn read_table(
    path: &Path,
    ids: &mut NodeIds,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Listed> {
    let mut table = Table::open(path, names::is_source, is_header, reading)?;
    table.check_key_is_named("the columns source and target first")?;
    notes.extend(table.note_of_index());
    let columns = Columns::of(&table)?;
    let mut edges = EdgeList { weights: columns.weight.map(|_| Vec::new()), ..EdgeList::default() };
    let mut kinds = columns.kind.map(|_| Kinds::default());
    let mut flag = Flag::default();
    while table.advance()? {
        if let (Some(kinds), Some(column)) = (&mut kinds, columns.kind) {
            let kind = kinds.read(&table, column)?;
            // A row without ends only declares its type.
            if table.cell(0)?.is_empty() && table.cell(1)?.is_empty() {
                continue;
            }
            kinds.of_edge.push(kind);
        }
        table.grow(size_of::<(u32, u32)>() + size_of::<f32>() + size_of::<u8>())?;
        edges.ends.push((end(&table, 0, ids)?, end(&table, 1, ids)?));
        if let (Some(weights), Some(column)) = (&mut edges.weights, columns.weight) {
            weights.push(weight(&table, column)?);
        }
        if let Some(column) = columns.directed {
            flag.read(&table, column)?;
        }
    }
    let mut said = Vec::new();
    if let Some((directed, place)) = flag.0 {
        said.push(Said { directed, by: format!("{place} of {}", file_name(path)) });
    }
    let is_flag = |kinds: &Kinds| !kinds.names.is_empty() && kinds.directed().all(|d| d.is_some());
    if let Some(kinds) = kinds.take_if(|kinds| is_flag(kinds)) {
        for (directed, place) in kinds.directed().zip(&kinds.places) {
            let by = format!("the type on {place} of {}", file_name(path));
            said.extend(directed.map(|directed| Said { directed, by }));
        }
    }
    Ok(Listed { edges, kinds, said })
}

impl Kinds {
    /// The number of the type in a cell.
    fn read(&mut self, table: &Table, column: usize) -> Result<u8> {
        let name = table.cell(column)?.text();
        if name.is_empty() {
            return Err(table.cell_error(column, "is empty, but every edge has a type"));
        }
        if let Some(known) = self.names.iter().position(|other| *other == name) {
            return Ok(known as u8);
        }
        if self.names.len() == MAX_RELATIONS {
            return Err(table.cell_error(
                column,
                format!(
                    "has more than {MAX_RELATIONS} different types, {name:?} being one more; is that column \
                     meant as the types of edges? If not, remove it"
                ),
            ));
        }
        self.names.push(name.into_owned());
        self.places.push(table.place());
        Ok((self.names.len() - 1) as u8)
    }

    /// For each type, whether it says that edges are directed or not.
    fn directed(&self) -> impl Iterator<Item = Option<bool>> {
        self.names.iter().map(|name| says_directed(name))
    }
}

/// In some programs the type of an edge is whether it is directed.
pub(super) fn says_directed(kind: &str) -> Option<bool> {
    match kind.to_lowercase().as_str() {
        "directed" => Some(true),
        "undirected" => Some(false),
        _ => None,
    }
}

/// Where things stand after the two ends.
#[derive(Default)]
struct Columns {
    weight: Option<usize>,
    kind: Option<usize>,
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
                (&mut columns.kind, names::is_type),
                (&mut columns.directed, names::is_directed),
            ];
            match known.into_iter().find(|(_, is_name)| is_name(name)) {
                None => {
                    return Err(table.header_error(format!(
                        "column {} is called {name:?}, but after source and target there may only be \
                         weight, type and directed",
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

fn end(table: &Table, column: usize, ids: &mut NodeIds) -> Result<u32> {
    let id = table.cell(column)?;
    if id.is_empty() {
        return Err(table.cell_error(column, "is empty, but an edge has two ends"));
    }
    let id = id.text();
    let first = table.names().is_none() && table.place() == Place::Line(1);
    if first && ids.is_open() && id.parse::<i64>().is_err() {
        return Err(table.error(format!(
            "{id:?} may be a node or the name of a column; begin the file with a header, source,target"
        )));
    }
    let (node, new) = ids.find_or_add(&id).map_err(|problem| {
        if first {
            table.error(format!("{problem}; if this is a header, write source,target"))
        } else {
            table.error(problem)
        }
    })?;
    if new {
        table.grow(2 * id.len() + NodeIds::ENTRY as usize)?;
    }
    Ok(node)
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
