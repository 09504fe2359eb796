//! What GraphML and GEXF have in common: attributes that are declared before nodes and edges have them, one graph, and edges
//! that are all of the same kind.

use super::xml::{Document, Element, Node};
use super::{GraphDocument, ID, Part, SOURCE, TARGET};
use crate::table::Cell;
use gfgcn::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The elements of a format, one after the other.
pub(super) trait Markup {
    fn begin(&mut self, element: &Element, graph: &mut GraphDocument) -> Result<()>;
    fn end(&mut self, name: &str, text: &str, graph: &mut GraphDocument) -> Result<()>;
    /// Whether there was a graph.
    fn has_graph(&self) -> bool;
}

/// Reads a document of the format of this name.
pub(super) fn read(
    path: &Path,
    name: &str,
    mut markup: impl Markup,
    graph: &mut GraphDocument,
) -> Result<()> {
    let mut document = Document::open(path, graph.reading)?;
    while let Some(node) = document.next()? {
        let done = match node {
            Node::Begin(element) => markup.begin(&element, graph),
            Node::End { name, text } => markup.end(&name, &text, graph),
        };
        done.map_err(|error| document.place(error))?;
    }
    match markup.has_graph() {
        true => Ok(()),
        false => Err(Error::Format(format!("is no {name}: it has no <graph>")).in_file(path)),
    }
}

/// What an attribute is called, whether it is a truth value, and what it is where nothing is said.
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) is_truth: bool,
    pub(super) default: Option<String>,
}

impl Declared {
    /// Fills in a value.
    fn put(&self, graph: &mut GraphDocument, part: Part, text: &str) -> Result<()> {
        let cell = match (self.is_truth, text) {
            (true, "true" | "1") => Cell::Bool(true),
            (true, "false" | "0") => Cell::Bool(false),
            _ => Cell::Text(text),
        };
        graph.set(part, &self.name, cell)
    }
}

/// Where in a graph the document is, and what was declared.
#[derive(Default)]
pub(super) struct Place {
    of_nodes: BTreeMap<String, Declared>,
    of_edges: BTreeMap<String, Declared>,
    /// Whether edges are directed, and the attribute that says so.
    directed: Option<(bool, &'static str)>,
    /// The node or edge that is being read, and the attributes it has values of.
    part: Option<(Part, Vec<String>)>,
}

impl Place {
    pub(super) fn attributes(&mut self, part: Part) -> &mut BTreeMap<String, Declared> {
        match part {
            Part::Node => &mut self.of_nodes,
            Part::Edge => &mut self.of_edges,
        }
    }

    pub(super) fn has_graph(&self) -> bool {
        self.directed.is_some()
    }

    /// What is being read.
    pub(super) fn part(&self) -> Option<Part> {
        self.part.as_ref().map(|(part, _)| *part)
    }

    /// The graph begins; an attribute says whether it is directed.
    pub(super) fn begin_graph(
        &mut self,
        directed: bool,
        by: &'static str,
        graph: &mut GraphDocument,
    ) -> Result<()> {
        if self.directed.is_some() {
            let problem = "there is more than one <graph>; leave one in the file";
            return Err(Error::Data(problem.into()));
        }
        self.directed = Some((directed, by));
        graph.say(directed, by);
        Ok(())
    }

    pub(super) fn begin_node(&mut self, node: &Element, graph: &mut GraphDocument) -> Result<()> {
        self.check_outside(node)?;
        let id = node.needed("id")?;
        graph.nodes.set(ID, Cell::Text(&id), graph.reading)?;
        self.part = Some((Part::Node, Vec::new()));
        Ok(())
    }

    /// An edge begins, which may say for itself whether it is directed.
    pub(super) fn begin_edge(
        &mut self,
        edge: &Element,
        directed: Option<bool>,
        graph: &mut GraphDocument,
    ) -> Result<()> {
        self.check_outside(edge)?;
        let (source, target) = (edge.needed("source")?, edge.needed("target")?);
        graph.edges.set(SOURCE, Cell::Text(&source), graph.reading)?;
        graph.edges.set(TARGET, Cell::Text(&target), graph.reading)?;
        if let (Some(directed), Some((default, by))) = (directed, self.directed)
            && directed != default
        {
            return Err(graph.edges.error(format!(
                "mixed directed flags: the edge says otherwise than {by}; for an undirected edge among directed ones, write \
                 one in each direction"
            )));
        }
        self.part = Some((Part::Edge, Vec::new()));
        Ok(())
    }

    fn check_outside(&self, element: &Element) -> Result<()> {
        match self.part {
            None => Ok(()),
            Some(_) => {
                let name = &element.name;
                Err(Error::Data(format!("<{name}> inside a node or an edge is not read")))
            }
        }
    }

    /// Fills in the value of an attribute; `false` if there is none of this id.
    pub(super) fn put(
        &mut self,
        id: String,
        text: &str,
        graph: &mut GraphDocument,
    ) -> Result<bool> {
        let Some((part, had)) = &mut self.part else { return Ok(true) };
        let declared = match part {
            Part::Node => &self.of_nodes,
            Part::Edge => &self.of_edges,
        };
        let Some(declared) = declared.get(&id) else { return Ok(false) };
        declared.put(graph, *part, text)?;
        had.push(id);
        Ok(true)
    }

    /// Ends a node or an edge: what it has no value of is the default.
    pub(super) fn finish(&mut self, graph: &mut GraphDocument) -> Result<()> {
        let Some((part, had)) = self.part.take() else { return Ok(()) };
        for (id, attribute) in &*self.attributes(part) {
            if let Some(default) = attribute.default.as_ref().filter(|_| !had.contains(id)) {
                attribute.put(graph, part, default)?;
            }
        }
        graph.finish(part)
    }
}
