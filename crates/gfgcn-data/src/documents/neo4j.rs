//! CSV files for Neo4j: nodes with a column `:ID`, relationships with `:START_ID` and `:END_ID`, each with a header.
//!
//! What `neo4j-admin database import` reads and APOC exports for it. Columns are `name:type`; `:LABEL` and `:TYPE` are the
//! labels of nodes and the types of relationships, which always have a direction. Ids of several spaces, `:ID(Person)` and
//! `:ID(Film)`, are told apart by the name of their space, `Person:1`.

use super::{GraphDocument, ID, LABEL, Part, SOURCE, TARGET};
use crate::columns::Separator;
use crate::lines::Lines;
use crate::reading::Reading;
use crate::table::{Cell, Table, TableSource};
use gfgcn::{Error, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files of a folder, if some are for Neo4j: nodes, then relationships.
pub(crate) fn files_in(folder: &Path, reading: &Reading) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(|e| Error::Read(e).in_file(folder))? {
        let path = entry.map_err(|e| Error::Read(e).in_file(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_table = [".csv", ".csv.gz", ".tsv"].iter().any(|end| name.ends_with(end));
        if !is_table || !path.is_file() {
            continue;
        }
        // What is no text, or has no first line, is something else.
        let first =
            Lines::open(&path, reading).and_then(|mut lines| Ok(lines.next()?.map(str::to_owned)));
        if let Ok(Some(line)) = first
            && (line.contains(":ID") || line.contains(":START_ID"))
        {
            files.push((!line.contains(":START_ID"), path));
        }
    }
    // Files in the order of their names, so that a listing changes nothing.
    files.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

pub(super) fn read(
    folder: &Path,
    separator: Option<Separator>,
    graph: &mut GraphDocument,
) -> Result<()> {
    let reading = graph.reading;
    let files = files_in(folder, reading)?;
    let open = |path: &PathBuf| {
        let source = TableSource::File { path: path.clone(), separator };
        Table::open(&source, |_| false, |_| true, reading)
    };
    let mut spaces = BTreeSet::new();
    for path in &files {
        let table = open(path)?;
        let columns = headings(&table)?;
        spaces.extend(
            columns.into_iter().filter(|column| column.role == Role::Id).map(|column| column.space),
        );
    }
    let several = spaces.len() > 1;
    for path in &files {
        let mut table = open(path)?;
        let columns = headings(&table)?;
        let part = match columns.iter().any(|column| column.role == Role::Start) {
            true => Part::Edge,
            false => Part::Node,
        };
        check(&table, &columns, part)?;
        while table.advance()? {
            for (place, column) in columns.iter().enumerate() {
                put(graph, part, column, &table, place, several)?;
            }
            graph.finish(part)?;
        }
    }
    graph.say(true, ":START_ID");
    Ok(())
}

fn put(
    graph: &mut GraphDocument,
    part: Part,
    column: &Heading,
    table: &Table,
    place: usize,
    several: bool,
) -> Result<()> {
    let cell = table.cell(place)?;
    let reading = graph.reading;
    let end = match column.role {
        Role::Id => Some((ID, "id")),
        Role::Start => Some((SOURCE, "start")),
        Role::End => Some((TARGET, "end")),
        _ => None,
    };
    if let Some((position, what)) = end {
        if cell.is_empty() {
            return Err(table.cell_error(place, format!("is empty, but must be the {what}")));
        }
        let text = cell.text();
        let id = if several { format!("{}:{text}", column.space) } else { text.into_owned() };
        let records = graph.records(part).0;
        return records.set(position, Cell::Text(&id), reading);
    }
    if cell.is_empty() || column.role == Role::Ignored {
        return Ok(());
    }
    match (column.role, cell.text().as_ref()) {
        (Role::Truth, "true") => graph.set(part, &column.name, Cell::Bool(true)),
        (Role::Truth, "false") => graph.set(part, &column.name, Cell::Bool(false)),
        _ => graph.set(part, &column.name, cell),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Id,
    Start,
    End,
    Truth,
    Property,
    Ignored,
}

/// What a column of a file is.
struct Heading {
    name: String,
    role: Role,
    space: String,
}

fn headings(table: &Table) -> Result<Vec<Heading>> {
    let names = table.names().unwrap_or_default();
    names.iter().map(|name| heading(name).map_err(|problem| table.header_error(problem))).collect()
}

/// `name:type`, `:ID(space)`, `:LABEL`, ….
fn heading(text: &str) -> Result<Heading, String> {
    let (name, kind) = text.rsplit_once(':').unwrap_or((text, "string"));
    // Options in braces, `:ID{label:Person}`, say nothing about ids.
    let kind = kind.split('{').next().unwrap_or_default();
    let (kind, space) = match kind.split_once('(') {
        Some((kind, rest)) => (kind, rest.trim_end_matches(')')),
        None => (kind, ""),
    };
    let role = match kind {
        "ID" => Role::Id,
        "START_ID" => Role::Start,
        "END_ID" => Role::End,
        "IGNORE" => Role::Ignored,
        "boolean" => Role::Truth,
        _ => Role::Property,
    };
    let name = match (kind, name) {
        ("LABEL", _) => LABEL,
        ("TYPE", _) => "type",
        (_, "") if role == Role::Property => return Err(format!("column {text:?} has no name")),
        (_, name) => name,
    };
    Ok(Heading { name: name.to_owned(), role, space: space.to_owned() })
}

fn check(table: &Table, columns: &[Heading], part: Part) -> Result<()> {
    let count = |role: Role| columns.iter().filter(|column| column.role == role).count();
    let wrong = match part {
        Part::Node => (count(Role::Id) != 1).then_some("one column :ID"),
        Part::Edge => ((count(Role::Start), count(Role::End)) != (1, 1))
            .then_some("one column :START_ID and one :END_ID"),
    };
    match wrong {
        Some(needed) => Err(table.header_error(format!("there must be {needed}"))),
        None => Ok(()),
    }
}
