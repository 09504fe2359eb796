//! GraphML: <http://graphml.graphdrawing.org>. Keys say what attributes are called; nodes and edges have their values.
//!
//! Nested graphs and hyperedges are refused; ports, and what programs add to draw the graph, are left out.

use super::xml::{Document, Element, Node};
use super::{GraphDocument, ID, Part, SOURCE, TARGET};
use crate::table::Cell;
use gfgcn::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// What a key stands for.
struct Key {
    name: String,
    is_truth: bool,
    of: Of,
    default: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Of {
    Node,
    Edge,
    Both,
    Neither,
}

impl Of {
    fn is(self, part: Part) -> bool {
        match part {
            Part::Node => matches!(self, Of::Node | Of::Both),
            Part::Edge => matches!(self, Of::Edge | Of::Both),
        }
    }
}

#[derive(Default)]
struct State {
    keys: BTreeMap<String, Key>,
    /// The key that is being read, or whose value is.
    key: Option<String>,
    directed: Option<bool>,
    /// The node or edge that is being read, and the keys it has values of.
    part: Option<(Part, Vec<String>)>,
}

pub(super) fn read(path: &Path, graph: &mut GraphDocument) -> Result<()> {
    let reading = graph.reading;
    let mut document = Document::open(path, reading)?;
    let mut state = State::default();
    while let Some(node) = document.next()? {
        let done = match node {
            Node::Begin(element) => state.begin(&element, graph),
            Node::End { name, text } => state.end(&name, &text, graph),
        };
        done.map_err(|error| document.place(error))?;
    }
    match state.directed {
        Some(_) => Ok(()),
        None => Err(Error::Format("is no GraphML: it has no <graph>".into()).in_file(path)),
    }
}

impl State {
    fn begin(&mut self, element: &Element, graph: &mut GraphDocument) -> Result<()> {
        let reading = graph.reading;
        match element.name.as_str() {
            "graph" => {
                if self.directed.is_some() {
                    let problem = "there is more than one <graph>; leave one in the file";
                    return Err(Error::Data(problem.into()));
                }
                let directed = match element.attribute("edgedefault")?.as_deref() {
                    None | Some("directed") => true,
                    Some("undirected") => false,
                    Some(other) => {
                        let problem =
                            format!("edgedefault is {other:?}, but must be directed or undirected");
                        return Err(Error::Data(problem));
                    }
                };
                self.directed = Some(directed);
                graph.say(directed, "edgedefault");
            }
            "key" => {
                let id = element.needed("id")?;
                let name = element.attribute("attr.name")?.unwrap_or_else(|| id.clone());
                let is_truth = element.attribute("attr.type")?.as_deref() == Some("boolean");
                let of = match element.attribute("for")?.as_deref() {
                    Some("node") => Of::Node,
                    Some("edge") => Of::Edge,
                    None | Some("all") => Of::Both,
                    Some(_) => Of::Neither,
                };
                reading.grow(2 * (id.len() + name.len()) + 128)?;
                if self.keys.insert(id.clone(), Key { name, is_truth, of, default: None }).is_some()
                {
                    return Err(Error::Data(format!("the key {id:?} is there twice")));
                }
                self.key = Some(id);
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
                self.part = Some((Part::Node, Vec::new()));
            }
            "edge" => {
                let (source, target) = (element.needed("source")?, element.needed("target")?);
                graph.edges.set(SOURCE, Cell::Text(&source), reading)?;
                graph.edges.set(TARGET, Cell::Text(&target), reading)?;
                if let Some(directed) = element.attribute("directed")?
                    && self.directed.is_some_and(|default| (directed == "true") != default)
                {
                    return Err(graph.edges.error(
                        "mixed directed flags: the edge says otherwise than edgedefault; for an undirected edge among \
                         directed ones, write one in each direction"
                            .into(),
                    ));
                }
                self.part = Some((Part::Edge, Vec::new()));
            }
            "data" => self.key = Some(element.needed("key")?),
            "hyperedge" => {
                return Err(Error::Data("<hyperedge> is not read; an edge has two ends".into()));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str, graph: &mut GraphDocument) -> Result<()> {
        match name {
            "default" => {
                if let Some(key) = self.key.as_ref().and_then(|id| self.keys.get_mut(id)) {
                    graph.reading.grow(text.len())?;
                    key.default = Some(text.trim().to_owned());
                }
            }
            "key" => self.key = None,
            "data" => {
                let Some(id) = self.key.take() else { return Ok(()) };
                let Some((part, had)) = &mut self.part else { return Ok(()) };
                let key = self.keys.get(&id);
                let key = key.ok_or_else(|| Error::Data(format!("there is no key {id:?}")))?;
                // What programs draw by is in elements of their own.
                if key.of.is(*part) && !text.trim().is_empty() {
                    put(graph, *part, key, text.trim())?;
                    had.push(id);
                }
            }
            "node" | "edge" => {
                let Some((part, had)) = self.part.take() else { return Ok(()) };
                for (id, key) in &self.keys {
                    if let Some(default) =
                        key.default.as_ref().filter(|_| key.of.is(part) && !had.contains(id))
                    {
                        put(graph, part, key, default)?;
                    }
                }
                graph.finish(part)?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn put(graph: &mut GraphDocument, part: Part, key: &Key, text: &str) -> Result<()> {
    let cell = match (key.is_truth, text) {
        (true, "true" | "1") => Cell::Bool(true),
        (true, "false" | "0") => Cell::Bool(false),
        _ => Cell::Text(text),
    };
    graph.set(part, &key.name, cell)
}
