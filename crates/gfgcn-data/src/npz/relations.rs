//! Kinds of edges as matrices, each beside the adjacency of all.

use super::{Members, named, rows_of};
use crate::graph_tables::check_relation_count;
use crate::npy;
use gfgcn::Result;
use gfgcn::data::order_of_names;
use gfgcn::graph::{Graph, Repairs};
use std::borrow::Cow;

const NAMES: &str = "relation_names";

impl Members<'_> {
    /// A graph with the relations that are in the archive, whose repairs are added to its own.
    pub(super) fn relations(
        &mut self,
        graph: Graph,
        directed: bool,
        repairs: &mut Repairs,
    ) -> Result<Graph> {
        let Some(names) = self.texts(NAMES)? else { return Ok(graph) };
        let inside = |error| named(&format!("member {NAMES}"), error);
        check_relation_count(names.len()).map_err(inside)?;
        let mut relations = Vec::with_capacity(names.len());
        for (k, name) in names.into_iter().enumerate() {
            let what = format!("the edges of type {name:?}");
            let (relation, own) =
                self.matrix(&format!("relation_{k}"), &what, |raw, reading| {
                    let built = raw.into_graph(directed, reading)?;
                    reading.hold(built.0.memory())?;
                    Ok(built)
                })?;
            repairs.duplicates += own.duplicates;
            repairs.self_loops += own.self_loops;
            repairs.zero_weights += own.zero_weights;
            relations.push((name, relation));
        }
        // Whatever their order in the archive, so that it changes nothing.
        let names: Vec<String> = relations.iter().map(|(name, _)| name.clone()).collect();
        let mut relations: Vec<Option<_>> = relations.into_iter().map(Some).collect();
        let ordered = order_of_names(&names).into_iter().filter_map(|k| relations[k].take());
        graph.with_relations(ordered.collect()).map_err(inside)
    }
}

/// The members that hold the relations of a graph.
pub(super) fn members_of(graph: &Graph) -> Vec<(Cow<'static, str>, Vec<u8>)> {
    let mut members = Vec::new();
    for (k, relation) in graph.relations().iter().enumerate() {
        let parts =
            ["data", "indices", "indptr", "shape"].into_iter().zip(rows_of(relation.graph()));
        members.extend(parts.map(|(part, array)| (format!("relation_{k}_{part}").into(), array)));
    }
    if !members.is_empty() {
        let names: Vec<String> = graph.relations().iter().map(|r| r.name().to_owned()).collect();
        members.push((NAMES.into(), npy::encode_texts(&names)));
    }
    members
}
