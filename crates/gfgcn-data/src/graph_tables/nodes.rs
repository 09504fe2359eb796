//! Node ids: from the text in a table to a row and back.

use super::file_name;
use crate::columns::Columns;
use crate::reading::Reading;
use crate::table::{Place, Table, TableSource, names};
use gfgcn::data::{Dataset, order_of_names};
use gfgcn::graph::MAX_NODES;
use gfgcn::{Error, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The ids of all nodes, and where they come from for messages.
pub(super) struct NodeIds {
    source: String,
    ids: Ids,
    /// The name of the id column, if the table has a header.
    column: Option<String>,
    origin: Origin,
    /// Whether a list says which nodes there are, so that features cannot add any.
    listed: bool,
}

/// How it is known which nodes there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A file has a row for each.
    Rows,
    /// They are those that edges name; more may come.
    EdgesToCome,
    /// They are those that edges name, all of which are read.
    Edges,
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
        let ids = Ids::Names { names: Vec::new(), rows: HashMap::new() };
        NodeIds { source, ids, column, origin: Origin::Rows, listed: false }
    }

    /// Nodes that are known when the edges are; `source` is where these are.
    pub(super) fn of_edges(source: String) -> Self {
        NodeIds { origin: Origin::EdgesToCome, ..NodeIds::new(source, None) }
    }

    /// Reads a list of all nodes.
    pub(super) fn read(
        source: &TableSource,
        columns: &Columns,
        notes: &mut Vec<String>,
        reading: &Reading,
    ) -> Result<Self> {
        let path = source.path();
        let is_header = |first: &[String]| first.first().is_some_and(|name| names::is_id(name));
        let is_header = |first: &[String]| is_header(first) || columns.head_nodes(first);
        let mut table = Table::open(source, names::is_id, is_header, reading)?;
        notes.extend(table.note_of_index());
        let id = match &columns.id {
            Some(name) => table.find_if_there(name),
            None => None,
        };
        match (id, table.columns()) {
            (Some(id), _) => table.keep(&[id]),
            (None, 1) => {}
            (None, columns) => {
                return Err(table.header_error(format!(
                    "the number of columns is {columns}, but a list of nodes has one, id (--id-column says which of \
                     several); a table of features is called features"
                )));
            }
        }
        let mut ids = NodeIds::new(file_name(path), table.names().map(|names| names[0].clone()));
        let mut places: Vec<Place> = Vec::new();
        while table.advance()? {
            let id = table.cell(0)?;
            if id.is_empty() {
                return Err(table.cell_error(0, "is empty, but every node needs an id"));
            }
            let id = id.text();
            let (node, new) = ids.insert(&id).map_err(|problem| table.cell_error(0, problem))?;
            if !new {
                return Err(table.error(format!(
                    "the node {id:?} was already on {}; every node has one row",
                    places[node as usize]
                )));
            }
            table.grow(2 * id.len() + NodeIds::ENTRY as usize + size_of::<Place>())?;
            places.push(table.place());
        }
        match ids.len() {
            0 => Err(Error::Data("there are no rows, so there are no nodes".into()).in_file(path)),
            _ => Ok(ids),
        }
    }

    /// Nodes that are called by their row number.
    pub(super) fn rows(source: String, count: usize) -> Self {
        let (ids, origin) = (Ids::Rows(count), Origin::Rows);
        NodeIds { source, ids, column: None, origin, listed: false }
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
        let ids = Ids::Names { names: names.to_vec(), rows };
        Ok(NodeIds { source, ids, column: None, origin: Origin::Rows, listed: false })
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

    /// The row of an id that a table of features names: a new one, unless another table says which nodes there are.
    pub(super) fn insert_row(&mut self, id: &str) -> Result<(u32, bool), String> {
        match self.listed {
            true => self.find(id).map(|row| (row, false)),
            false => self.insert(id),
        }
    }

    /// Says that all nodes are known: other tables name none that is not there.
    pub(super) fn into_listed(self) -> Self {
        NodeIds { listed: true, ..self }
    }

    /// Whether an id that is not known yet is one more node.
    pub(super) fn is_open(&self) -> bool {
        self.origin == Origin::EdgesToCome
    }

    /// The row of an id that an edge names, and whether it is new; `Err` says that there is none.
    pub(super) fn find_or_add(&mut self, id: &str) -> Result<(u32, bool), String> {
        match self.origin {
            Origin::EdgesToCome => self.insert(id),
            Origin::Rows | Origin::Edges => self.find(id).map(|row| (row, false)),
        }
    }

    /// Checks that a matrix of so many rows is about these nodes, or takes its rows for them where none are known yet.
    pub(super) fn number(&mut self, rows: usize) -> Result<(), String> {
        let nodes = self.len();
        match self.origin {
            Origin::EdgesToCome if nodes == 0 => {
                (self.ids, self.origin) = (Ids::Rows(rows), Origin::Edges);
                Ok(())
            }
            Origin::EdgesToCome => {
                Err("other edges are between nodes with ids, of which it has none; list all \
                                      nodes in their order in a file nodes.csv"
                    .into())
            }
            _ if rows == nodes => Ok(()),
            _ => Err(format!(
                "there are {nodes} nodes in {}; its rows are the nodes in their order there",
                self.source
            )),
        }
    }

    /// When all edges are read: brings nodes that only they name into the order of their ids, and returns the place of
    /// each in it.
    pub(super) fn close(&mut self) -> Option<Vec<u32>> {
        if !self.is_open() {
            return None;
        }
        self.origin = Origin::Edges;
        let Ids::Names { names, rows } = &mut self.ids else { return None };
        let order = order_of_names(names);
        let mut places = vec![0; names.len()];
        order.iter().enumerate().for_each(|(place, &old)| places[old] = place as u32);
        *names = order.iter().map(|&old| std::mem::take(&mut names[old])).collect();
        rows.values_mut().for_each(|row| *row = places[*row as usize]);
        Some(places)
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

    /// Whether the nodes have names; otherwise they are just numbered.
    pub(super) fn has_names(&self) -> bool {
        matches!(self.ids, Ids::Names { .. })
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
            Ids::Names { .. } if self.origin == Origin::Edges => format!(
                "there is no node {id:?} in {source}; if it is one without edges, list all nodes in a file \
                 nodes.csv, or remove this row"
            ),
            Ids::Names { .. } => {
                format!("there is no node {id:?} in {source}; add it there or remove this row")
            }
        }
    }
}
