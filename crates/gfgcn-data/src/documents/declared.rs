//! Attributes that a document declares before its nodes and edges have them.

use super::{GraphDocument, Part};
use crate::table::Cell;
use gfgcn::Result;
use std::collections::BTreeMap;

/// What an attribute is called, whether it is a truth value, and what it is where nothing is said.
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) is_truth: bool,
    pub(super) default: Option<String>,
}

impl Declared {
    /// Fills in a value.
    pub(super) fn put(&self, graph: &mut GraphDocument, part: Part, text: &str) -> Result<()> {
        let cell = match (self.is_truth, text) {
            (true, "true" | "1") => Cell::Bool(true),
            (true, "false" | "0") => Cell::Bool(false),
            _ => Cell::Text(text),
        };
        graph.set(part, &self.name, cell)
    }
}

/// Ends a node or an edge: what it has no value of is the default.
pub(super) fn finish(
    graph: &mut GraphDocument,
    part: Part,
    declared: &BTreeMap<String, Declared>,
    had: &[String],
) -> Result<()> {
    for (id, attribute) in declared {
        if let Some(default) = attribute.default.as_ref().filter(|_| !had.contains(id)) {
            attribute.put(graph, part, default)?;
        }
    }
    graph.finish(part)
}
