//! Documents that hold a whole graph in one file: node-link JSON, GraphML and GEXF.
//!
//! Each format says what its nodes and edges are; here that becomes two tables, and from there on everything is as with
//! tables: which attribute is the label, which are features, what becomes of words and of what is missing.

mod gexf;
mod graphml;
mod markup;
mod neo4j;
mod node_link;
mod xml;

use crate::columns::Columns;
use crate::directions::{Directions, Said};
use crate::graph_tables::Tables;
use crate::reading::Reading;
use crate::table::{Cell, Records, TableSource, names};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::{Error, Result};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    NodeLink,
    GraphMl,
    Gexf,
    /// A folder of tables.
    Neo4j,
}

/// Reads a document.
pub(crate) fn read(
    path: &Path,
    format: Format,
    name: &str,
    directions: Directions,
    columns: &Columns,
    reading: &Reading,
) -> Result<Dataset> {
    let mut graph = GraphDocument::new(path, reading);
    match format {
        Format::NodeLink => node_link::read(path, &mut graph)?,
        Format::GraphMl => graphml::read(path, &mut graph)?,
        Format::Gexf => gexf::read(path, columns, &mut graph)?,
        Format::Neo4j => neo4j::read(path, columns.separator, &mut graph)?,
    }
    graph.dataset(name, directions, columns)
}

/// The tables for Neo4j in a folder, if there are any.
pub(crate) fn neo4j_files(folder: &Path) -> Result<Vec<PathBuf>> {
    neo4j::files_in(folder, &Reading::under(&Context::default())?)
}

/// What a document says, as it is read.
struct GraphDocument<'r> {
    nodes: Records,
    edges: Records,
    said: Option<Said>,
    reading: &'r Reading,
}

/// The places of columns that are always there.
const ID: u32 = 0;
const SOURCE: u32 = 0;
const TARGET: u32 = 1;
/// What Neo4j calls the labels of nodes.
const LABEL: &str = ":LABEL";

impl<'r> GraphDocument<'r> {
    fn new(path: &Path, reading: &'r Reading) -> Self {
        let nodes = Records::new(path, "node", &["id"]);
        let edges = Records::new(path, "edge", &["source", "target"]);
        GraphDocument { nodes, edges, said: None, reading }
    }

    /// Says whether edges are directed.
    fn say(&mut self, directed: bool, by: &str) {
        self.said = Some(Said { directed, by: by.to_owned() });
    }

    /// Fills a cell of an attribute by its name.
    fn set(&mut self, part: Part, attribute: &str, cell: Cell) -> Result<()> {
        let records = self.records(part);
        let reading = records.1;
        let column = records.0.column(attribute, reading)?;
        records.0.set(column, cell, reading)
    }

    fn records(&mut self, part: Part) -> (&mut Records, &'r Reading) {
        match part {
            Part::Node => (&mut self.nodes, self.reading),
            Part::Edge => (&mut self.edges, self.reading),
        }
    }

    /// Ends a node or an edge.
    fn finish(&mut self, part: Part) -> Result<()> {
        let (records, reading) = self.records(part);
        if records.len().is_multiple_of(1 << 12) {
            reading.check()?;
        }
        records.finish_row(reading)
    }

    fn dataset(mut self, name: &str, directions: Directions, columns: &Columns) -> Result<Dataset> {
        self.nodes.shrink();
        self.edges.shrink();
        if self.nodes.len() == 0 {
            return Err(Error::Data("has no nodes".into()).in_file(self.nodes.path()));
        }
        let mut columns = columns.clone();
        let mut notes = Vec::new();
        // What a model was trained on is found again by its name.
        let remembers = columns.encoding.as_ref().is_some_and(|e| e.label_column.is_some());
        if columns.label.is_none()
            && !remembers
            && let Some(label) = self.guess_label(&columns)
        {
            notes.push(format!(
                "the attribute {label:?} is taken for the labels (--label-column names another)"
            ));
            columns.label = Some(label);
        }
        if self.nodes.names().iter().any(|name| name == LABEL) && self.nodes.is_constant(LABEL) {
            columns.dropped.push(LABEL.into());
        }
        let reading = self.reading;
        let tables = Tables {
            edges: vec![(TableSource::Records(Rc::new(self.edges)), None)],
            features: Some(TableSource::Records(Rc::new(self.nodes))),
            nodes: None,
            labels: None,
            values: None,
            split: None,
            directions,
            said: self.said,
            columns: &columns,
        };
        tables.read(name, notes, reading)
    }
}

impl GraphDocument<'_> {
    /// The attribute that is called most like labels and has several. What Neo4j calls so is the last choice, and `y`
    /// beside `x` is a place.
    fn guess_label(&self, columns: &Columns) -> Option<String> {
        let attributes = || self.nodes.names().iter().skip(1);
        let has_x = attributes().any(|name| name.eq_ignore_ascii_case("x"));
        let fitting = attributes().filter(|name| {
            let is_free = !columns.dropped.contains(name) && !columns.features.contains(name);
            let is_place = has_x && name.eq_ignore_ascii_case("y");
            is_free && !is_place && !self.nodes.is_constant(name)
        });
        let ranked =
            fitting.filter_map(|name| Some((name == LABEL, names::label_rank(name)?, name)));
        ranked.min().map(|(.., name)| name.clone())
    }
}

/// What an attribute is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Node,
    Edge,
}
