//! GEXF, the format of Gephi: <https://gexf.net>. Attributes are declared for nodes or edges; these have their values.
//!
//! A node's own `label` is what Gephi writes beside it, as a rule its name, and only read where a column `label` is asked
//! for. Nodes inside nodes are refused; time and what is drawn are left out.

use super::declared::{self, Declared};
use super::xml::{Document, Element, Node};
use super::{GraphDocument, ID, Part, SOURCE, TARGET};
use crate::columns::Columns;
use crate::table::Cell;
use gfgcn::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Default)]
struct State {
    of_nodes: BTreeMap<String, Declared>,
    of_edges: BTreeMap<String, Declared>,
    /// What is being declared.
    class: Option<Part>,
    declared: Option<String>,
    directed: Option<bool>,
    /// The node or edge that is being read, and the attributes it has values of.
    part: Option<(Part, Vec<String>)>,
    wants_label: bool,
}

pub(super) fn read(path: &Path, columns: &Columns, graph: &mut GraphDocument) -> Result<()> {
    let reading = graph.reading;
    let mut document = Document::open(path, reading)?;
    let asked = [&columns.label, &columns.id].into_iter().flatten().chain(&columns.features);
    let wants_label = asked.into_iter().any(|name| name.eq_ignore_ascii_case("label"));
    let mut state = State { wants_label, ..State::default() };
    while let Some(node) = document.next()? {
        let done = match node {
            Node::Begin(element) => state.begin(&element, graph),
            Node::End { name, text } => state.end(&name, &text, graph),
        };
        done.map_err(|error| document.place(error))?;
    }
    match state.directed {
        Some(_) => Ok(()),
        None => Err(Error::Format("is no GEXF: it has no <graph>".into()).in_file(path)),
    }
}

/// Whether a word says that edges are directed. Mutual ones go both ways, as undirected ones do.
fn is_directed(word: &str) -> Result<bool> {
    match word {
        "directed" => Ok(true),
        "undirected" | "mutual" => Ok(false),
        other => Err(Error::Data(format!(
            "the type of an edge is {other:?}, but must be directed, undirected or mutual"
        ))),
    }
}

impl State {
    fn attributes(&mut self, part: Part) -> &mut BTreeMap<String, Declared> {
        match part {
            Part::Node => &mut self.of_nodes,
            Part::Edge => &mut self.of_edges,
        }
    }

    fn begin(&mut self, element: &Element, graph: &mut GraphDocument) -> Result<()> {
        let reading = graph.reading;
        match element.name.as_str() {
            "graph" => {
                if self.directed.is_some() {
                    return Err(Error::Data("there is more than one <graph>".into()));
                }
                let default = element.attribute("defaultedgetype")?;
                let directed = default.as_deref().map_or(Ok(false), is_directed)?;
                self.directed = Some(directed);
                graph.say(directed, "defaultedgetype");
            }
            "attributes" => {
                self.class = match element.needed("class")?.as_str() {
                    "node" => Some(Part::Node),
                    "edge" => Some(Part::Edge),
                    other => {
                        return Err(Error::Data(format!(
                            "attributes of class {other:?} are not read"
                        )));
                    }
                };
            }
            "attribute" => {
                let Some(part) = self.class else {
                    return Err(Error::Format("<attribute> stands outside of <attributes>".into()));
                };
                let id = element.needed("id")?;
                let name = element.attribute("title")?.unwrap_or_else(|| id.clone());
                let is_truth = element.attribute("type")?.as_deref() == Some("boolean");
                reading.grow(2 * (id.len() + name.len()) + 128)?;
                let attribute = Declared { name, is_truth, default: None };
                if self.attributes(part).insert(id.clone(), attribute).is_some() {
                    return Err(Error::Data(format!("the attribute {id:?} is declared twice")));
                }
                self.declared = Some(id);
            }
            "node" | "edge" if self.part.is_some() => {
                return Err(Error::Data(format!(
                    "<{}> inside a node or an edge is not read",
                    element.name
                )));
            }
            "node" => {
                let id = element.needed("id")?;
                graph.nodes.set(ID, Cell::Text(&id), reading)?;
                if let Some(label) = element.attribute("label")?.filter(|_| self.wants_label) {
                    graph.set(Part::Node, "label", Cell::Text(&label))?;
                }
                self.part = Some((Part::Node, Vec::new()));
            }
            "edge" => {
                let (source, target) = (element.needed("source")?, element.needed("target")?);
                graph.edges.set(SOURCE, Cell::Text(&source), reading)?;
                graph.edges.set(TARGET, Cell::Text(&target), reading)?;
                for (attribute, column) in [("weight", "weight"), ("kind", "type")] {
                    if let Some(value) = element.attribute(attribute)? {
                        graph.set(Part::Edge, column, Cell::Text(&value))?;
                    }
                }
                if let Some(word) = element.attribute("type")?
                    && Some(is_directed(&word)?) != self.directed
                {
                    return Err(graph.edges.error(
                        "mixed directed flags: the edge says otherwise than defaultedgetype; for an undirected edge among \
                         directed ones, write one in each direction"
                            .into(),
                    ));
                }
                self.part = Some((Part::Edge, Vec::new()));
            }
            "attvalue" => {
                let id = match element.attribute("for")? {
                    Some(id) => id,
                    None => element.needed("id")?,
                };
                let Some(part) = self.part.as_ref().map(|(part, _)| *part) else { return Ok(()) };
                let value = element.needed("value")?;
                let attribute = self.attributes(part).get(&id);
                let undeclared = || Error::Data(format!("the attribute {id:?} is not declared"));
                attribute.ok_or_else(undeclared)?.put(graph, part, &value)?;
                if let Some((_, had)) = &mut self.part {
                    had.push(id);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str, graph: &mut GraphDocument) -> Result<()> {
        match name {
            "default" => {
                if let (Some(part), Some(id)) = (self.class, self.declared.clone())
                    && let Some(attribute) = self.attributes(part).get_mut(&id)
                {
                    graph.reading.grow(text.len())?;
                    attribute.default = Some(text.trim().to_owned());
                }
            }
            "attribute" => self.declared = None,
            "attributes" => self.class = None,
            "node" | "edge" => {
                let Some((part, had)) = self.part.take() else { return Ok(()) };
                declared::finish(graph, part, self.attributes(part), &had)?;
            }
            _ => {}
        }
        Ok(())
    }
}
