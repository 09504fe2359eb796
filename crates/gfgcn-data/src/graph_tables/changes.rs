//! Tables that say what changes in a dataset: new labels, nodes and edges that are named in it.

use super::edges;
use super::nodes::NodeIds;
use super::parts;
use crate::columns::Columns;
use crate::reading::Reading;
use crate::table::{Table, TableSource, names};
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Targets};
use gfgcn::graph::EdgeSet;
use gfgcn::{Error, Result};
use std::path::Path;

/// Reads a table of labels (`id,label`) for some nodes of a dataset, which are called as in it; nothing is known of others.
/// Where a node has several labels they are sets. Sentences about what was repaired come with it.
///
/// # Errors
/// Anything wrong in the file, with the line and the value; an id that the dataset does not have, or no label at all.
pub fn read_labels(
    path: &Path,
    dataset: &Dataset,
    context: &Context,
) -> Result<(Targets, Vec<String>)> {
    let (reading, mut notes) = (Reading::under(context)?, Vec::new());
    let ids = NodeIds::of(dataset, &reading)?;
    let targets = parts::read_any_labels(
        &TableSource::file(path),
        &ids,
        &Columns::default(),
        &mut notes,
        &reading,
    )?;
    if targets.known().is_empty() {
        return Err(Error::Data("there is no label in it".into()).in_file(path));
    }
    Ok((targets, notes))
}

/// Reads a list of nodes of a dataset: a table whose first column is their ids, or one id in each line of a `.txt` file.
/// Nodes that are named twice count once.
///
/// # Errors
/// Anything wrong in the file, with the line and the value; an id that the dataset does not have, or no id at all.
pub fn read_nodes(path: &Path, dataset: &Dataset, context: &Context) -> Result<Vec<usize>> {
    if !path.exists() {
        let problem = "there is no such file; nodes are named in a file with one id per line";
        return Err(Error::Data(problem.into()).in_file(path));
    }
    let reading = Reading::under(context)?;
    let ids = NodeIds::of(dataset, &reading)?;
    let is_header =
        |first: &[String]| first.first().is_some_and(|id| names::is_id(id) && !ids.contains(id));
    let mut table = Table::open(&TableSource::file(path), names::is_id, is_header, &reading)?;
    let mut nodes = Vec::new();
    while table.advance()? {
        table.grow(size_of::<usize>())?;
        nodes.push(parts::node(&table, &ids, "")?);
    }
    if nodes.is_empty() {
        return Err(Error::Data("there is no node in it".into()).in_file(path));
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// Reads a table of edges (`source,target`, perhaps with their type) between nodes of a dataset, by type where they have
/// one. Weights are not looked at.
///
/// # Errors
/// Anything wrong in the file, with the line and the value; an id that the dataset does not have, or no edge at all.
pub fn read_edges(
    path: &Path,
    dataset: &Dataset,
    context: &Context,
) -> Result<Vec<(Option<String>, EdgeSet)>> {
    let reading = Reading::under(context)?;
    let mut ids = NodeIds::of(dataset, &reading)?;
    let listed = edges::read(
        &TableSource::file(path),
        &mut ids,
        &Columns::default(),
        &mut Vec::new(),
        &reading,
    )?;
    let ends = listed.edges.ends;
    if ends.is_empty() {
        return Err(Error::Data("there is no edge in it".into()).in_file(path));
    }
    Ok(match listed.kinds {
        None => vec![(None, ends.into_iter().collect())],
        Some(kinds) => {
            let of_kind = |(kind, name): (usize, String)| {
                let own =
                    ends.iter().zip(&kinds.of_edge).filter(|(_, of)| usize::from(**of) == kind);
                (Some(name), own.map(|(ends, _)| *ends).collect::<EdgeSet>())
            };
            let parts = kinds.names.into_iter().enumerate().map(of_kind);
            parts.filter(|(_, edges)| !edges.is_empty()).collect()
        }
    })
}
