//! Edges of several kinds: a column of types in one file, or a file for each.

use super::edges::{self, Listed};
use super::file_name;
use super::nodes::NodeIds;
use crate::columns::Columns;
use crate::directions::{Directions, Said};
use crate::edges::EdgeList;
use crate::reading::Reading;
use crate::table::TableSource;
use gfgcn::data::order_of_names;
use gfgcn::graph::{Graph, Repairs};
use gfgcn::{Error, Result};

/// So many kinds of edges at most: each has an operator of its own.
pub(crate) const MAX_RELATIONS: usize = 64;

/// A table of edges and the name of their type, where there are several.
type EdgeSource = (TableSource, Option<String>);

/// What is asked for, and said outside the tables.
pub(super) struct Wanted<'w> {
    pub(super) columns: &'w Columns,
    pub(super) directions: Directions,
    pub(super) said: Option<Said>,
}

/// Reads the edges of all files; where the nodes are not known yet, they are those that the edges name.
///
/// Relations come in the order of their names, so that neither the order of rows nor that of files changes anything.
pub(super) fn read(
    files: &[EdgeSource],
    ids: &mut NodeIds,
    wanted: Wanted,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<(Graph, Repairs)> {
    check_names(files)?;
    let mut lists = Vec::with_capacity(files.len());
    for (source, _) in files {
        lists.push(edges::read(source, ids, wanted.columns, notes, reading)?);
    }
    if let Some(places) = ids.close() {
        let place = |end: u32| places[end as usize];
        let ends = lists.iter_mut().flat_map(|listed| &mut listed.edges.ends);
        ends.for_each(|(from, to)| (*from, *to) = (place(*from), place(*to)));
    }
    let of_files = |error: Error| match files {
        [(only, _)] => error.in_file(only.path()),
        _ => error,
    };
    let said = lists.iter().flat_map(|listed| listed.said.clone()).chain(wanted.said);
    let resolved = wanted.directions.resolve(said.collect::<Vec<_>>()).map_err(of_files)?;
    let directed = resolved.directed;
    let built = match (files, &mut lists[..]) {
        ([(source, None)], [listed]) => match listed.kinds.take() {
            None => listed.edges.build(ids.len(), directed, reading).map_err(of_files),
            Some(kinds) => {
                reading.hold(listed.edges.memory()).map_err(of_files)?;
                let edges = std::mem::take(&mut listed.edges);
                let of_kind = |(kind, name): (usize, String)| {
                    (name, edges.select(|edge| usize::from(kinds.of_edge[edge]) == kind))
                };
                let parts = kinds.names.into_iter().enumerate().map(of_kind).collect();
                drop((edges, kinds.of_edge));
                join(parts, ids.len(), directed, reading).map_err(|e| e.in_file(source.path()))
            }
        },
        _ => {
            let of_file = |((source, relation), listed): (&EdgeSource, Listed)| match (
                relation,
                listed.kinds,
            ) {
                (Some(name), None) => Ok((name.clone(), listed.edges)),
                (name, _) => Err(Error::Data(format!(
                    "has a column of types, but {}; put all edges into one file with types, or \
                     have a file for each type",
                    match name {
                        Some(name) => format!("its edges are those of type {name:?}"),
                        None => "there are other files of edges".into(),
                    }
                ))
                .in_file(source.path())),
            };
            let parts = files.iter().zip(lists).map(of_file).collect::<Result<_>>()?;
            join(parts, ids.len(), directed, reading)
        }
    };
    built.map(|built| resolved.settled(built))
}

/// Several files need names, and not too many of them.
fn check_names(files: &[EdgeSource]) -> Result<()> {
    let unnamed = files.iter().find(|(_, relation)| relation.is_none());
    match (files, unnamed) {
        ([], _) => Err(Error::Data("there are no edges; name a file of them".into())),
        ([_, _, ..], Some((source, _))) => Err(Error::Data(format!(
            "is one of {} files of edges, so it needs a name for its type, as in NAME={}",
            files.len(),
            file_name(source.path())
        ))
        .in_file(source.path())),
        _ => {
            let named = files.iter().filter_map(|(_, relation)| relation.as_deref());
            if named.clone().any(str::is_empty) {
                return Err(Error::Data("a type of edges has an empty name".into()));
            }
            check_count(named.count())
        }
    }
}

/// Refuses more relations than there can be.
pub(crate) fn check_count(relations: usize) -> Result<()> {
    match relations {
        0..=MAX_RELATIONS => Ok(()),
        _ => Err(Error::Data(format!(
            "there are {relations} types of edges, but {MAX_RELATIONS} are the most; are they meant as types?"
        ))),
    }
}

/// The graph of all edges, with a relation for each kind.
fn join(
    mut parts: Vec<(String, EdgeList)>,
    nodes: usize,
    directed: bool,
    reading: &Reading,
) -> Result<(Graph, Repairs)> {
    let names: Vec<String> = parts.iter().map(|(name, _)| name.clone()).collect();
    let mut all = EdgeList::default();
    all.ends.reserve_exact(parts.iter().map(|(_, part)| part.ends.len()).sum());
    reading.hold(parts.iter().map(|(_, part)| part.memory()).sum())?;
    let (mut repairs, mut edges) = (Repairs::default(), 0);
    let mut relations = Vec::with_capacity(parts.len());
    for place in order_of_names(&names) {
        let (name, part) = std::mem::take(&mut parts[place]);
        all.append(&part);
        let (graph, own) = part.build_counting(nodes, directed, reading)?;
        reading.hold(graph.memory())?;
        edges += graph.edges();
        repairs.duplicates += own.duplicates;
        repairs.self_loops += own.self_loops;
        repairs.zero_weights += own.zero_weights;
        repairs.symmetrized += own.symmetrized;
        repairs.uneven += own.uneven;
        relations.push((name, graph));
    }
    all.forgive_habit(&mut repairs, edges);
    let (graph, _) = all.build_counting(nodes, directed, reading)?;
    Ok((graph.with_relations(relations)?, repairs))
}
