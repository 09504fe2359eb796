//! Node ids: from the text in a table to a row and back.

use crate::reading::Reading;
use gfgcn::Result;
use gfgcn::data::Dataset;
use gfgcn::graph::MAX_NODES;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The ids of all nodes, and where they come from for messages.
pub(super) struct NodeIds {
    source: String,
    ids: Ids,
    /// The name of the id column, if the table has a header.
    column: Option<String>,
}

enum Ids {
    /// Any text; the map is the inverse of the list.
    Names { names: Vec<String>, rows: HashMap<String, u32> },
    /// The nodes are called by their row, 0, 1, ….
    Rows(usize),
}

impl NodeIds {
    /// No nodes yet; `source` is the file that names them.
    pub(super) fn new(source: String, column: Option<String>) -> Self {
        NodeIds { source, ids: Ids::Names { names: Vec::new(), rows: HashMap::new() }, column }
    }

    /// Nodes that are called by their row number.
    pub(super) fn rows(source: String, count: usize) -> Self {
        NodeIds { source, ids: Ids::Rows(count), column: None }
    }

    /// Bytes that an id takes in a map, besides its text.
    pub(super) const ENTRY: u64 = 64;

    /// The ids a dataset has.
    pub(super) fn of(dataset: &Dataset, reading: &Reading) -> Result<Self> {
        let source = "the dataset".to_owned();
        let Some(names) = dataset.node_ids() else {
            return Ok(NodeIds::rows(source, dataset.nodes()));
        };
        let text: usize = names.iter().map(String::len).sum();
        reading.hold(2 * (text as u64 + NodeIds::ENTRY * names.len() as u64))?;
        let rows = names.iter().enumerate().map(|(k, name)| (name.clone(), k as u32)).collect();
        Ok(NodeIds { source, ids: Ids::Names { names: names.to_vec(), rows }, column: None })
    }

    /// The row of an id, which is new if it was not there before; `Err` if there are too many.
    pub(super) fn insert(&mut self, id: &str) -> Result<(u32, bool), String> {
        let Ids::Names { names, rows } = &mut self.ids else {
            return Err("has an id, but the nodes are numbered".into());
        };
        if let Some(&row) = rows.get(id) {
            return Ok((row, false));
        }
        if names.len() >= MAX_NODES {
            return Err(format!("is one more node than the {MAX_NODES} that can be numbered"));
        }
        let row = names.len() as u32;
        if let Entry::Vacant(entry) = rows.entry(id.to_owned()) {
            names.push(id.to_owned());
            entry.insert(row);
        }
        Ok((row, true))
    }

    /// The row of an id; `Err` says that there is none.
    pub(super) fn find(&self, id: &str) -> Result<u32, String> {
        let found = match &self.ids {
            Ids::Names { rows, .. } => rows.get(id).copied(),
            Ids::Rows(count) => id.parse().ok().filter(|&row: &u32| (row as usize) < *count),
        };
        found.ok_or_else(|| self.unknown(id))
    }

    /// Whether there is a node of this id.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.find(id).is_ok()
    }

    /// Whether a column of this name in another table would hold these ids.
    pub(super) fn is_column(&self, name: &str) -> bool {
        self.column.as_deref().is_some_and(|column| column.eq_ignore_ascii_case(name))
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        match &self.ids {
            Ids::Names { names, .. } => names.len(),
            Ids::Rows(count) => *count,
        }
    }

    /// The names in the order of the rows; `None` if the nodes are just numbered.
    pub(super) fn into_names(self) -> Option<Vec<String>> {
        match self.ids {
            Ids::Names { names, .. } => Some(names),
            Ids::Rows(_) => None,
        }
    }

    fn unknown(&self, id: &str) -> String {
        let source = &self.source;
        match &self.ids {
            Ids::Rows(count) => format!(
                "there is no node {id:?}; {source} has no ids, so nodes are the row numbers 0 to {}",
                count.saturating_sub(1)
            ),
            Ids::Names { .. } if self.column.as_deref() == Some(id) => format!(
                "there is no node {id:?} in {source}, whose first line was taken for a header \
                 because of it; give that file a header that begins with id"
            ),
            Ids::Names { .. } => {
                format!("there is no node {id:?} in {source}; add it there or remove this row")
            }
        }
    }
}
