//! The edges: pairs of node ids, perhaps with a weight, or a square matrix.

use super::nodes::NodeIds;
use crate::matrix_market;
use crate::reading::Reading;
use crate::table::{FileFormat, Place, Table, is_number, names};
use gfgcn::Result;
use gfgcn::graph::{Graph, Repairs, build_memory};
use std::path::Path;

/// Reads edges in any format.
pub(super) fn read(
    path: &Path,
    ids: &NodeIds,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<(Graph, Repairs)> {
    match FileFormat::of(path)? {
        FileFormat::MatrixMarket => matrix_market::read_graph(path, ids.len(), reading),
        // A NumPy array is refused there: it could be pairs or a matrix.
        FileFormat::Text { .. } | FileFormat::Parquet | FileFormat::Npy => {
            read_table(path, ids, notes, reading)
        }
    }
}

fn read_table(
    path: &Path,
    ids: &NodeIds,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<(Graph, Repairs)> {
    let mut table = Table::open(path, names::is_source, is_header, reading)?;
    table.check_key_is_named("the columns source and target first")?;
    notes.extend(table.note_of_index());
    let weighted = match (table.columns(), table.names()) {
        (2, _) => false,
        (3, None) => true,
        (3, Some(names)) if names::is_weight(&names[2]) => true,
        (3, Some(names)) => {
            return Err(table.header_error(format!(
                "the third column is called {:?}, but only a weight may stand there",
                names[2]
            )));
        }
        (columns, _) => {
            return Err(table.header_error(format!(
                "the number of columns is {columns}, but edges have two, source and target, or a \
                 third, weight, separated as the extension of the file says"
            )));
        }
    };
    let mut edges = Vec::new();
    let mut weights = Vec::new();
    while table.advance()? {
        table.grow(size_of::<(u32, u32)>() + if weighted { size_of::<f32>() } else { 0 })?;
        edges.push((end(&table, 0, ids)?, end(&table, 1, ids)?));
        if weighted {
            weights.push(weight(&table)?);
        }
    }
    let weights = weighted.then_some(&weights[..]);
    reading
        .holding(build_memory(edges.len(), ids.len()), || {
            Graph::from_edges(ids.len(), &edges, weights)
        })
        .map_err(|e| e.in_file(path))
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

fn weight(table: &Table) -> Result<f32> {
    match table.cell(2)?.number() {
        Ok(weight) if weight < 0.0 => {
            Err(table.cell_error(2, format!("is {weight}, but weights must not be negative")))
        }
        Ok(weight) => Ok(weight),
        Err(problem) => Err(table.cell_error(2, problem)),
    }
}
