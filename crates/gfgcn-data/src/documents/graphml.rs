//! GraphML: <http://graphml.graphdrawing.org>. Keys say what attributes are called; nodes and edges have their values.
//!
//! Nested graphs and hyperedges are refused; ports, and what programs add to draw the graph, are left out.

use super::declared::{self, Declared};
use super::xml::{Document, Element, Node};
use super::{GraphDocument, ID, Part, SOURCE, TARGET};
use crate::table::Cell;
use gfgcn::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(Default)]
struct State {
    of_nodes: BTreeMap<String, Declared>,
    of_edges: BTreeMap<String, Declared>,
    /// Keys of the graph itself, of ports and so on.
    of_others: BTreeSet<String>,
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
                let (of_nodes, of_edges) = match element.attribute("for")?.as_deref() {
                    Some("node") => (true, false),
                    Some("edge") => (false, true),
                    None | Some("all") => (true, true),
                    Some(_) => (false, false),
                };
                reading.grow(4 * (id.len() + name.len()) + 256)?;
                let declared = || Declared { name: name.clone(), is_truth, default: None };
                let mut is_new = true;
                for (map, applies) in
                    [(&mut self.of_nodes, of_nodes), (&mut self.of_edges, of_edges)]
                {
                    is_new &= !applies || map.insert(id.clone(), declared()).is_none();
                }
                if !of_nodes && !of_edges {
                    is_new = self.of_others.insert(id.clone());
                }
                if !is_new {
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
                let Some(id) = &self.key else { return Ok(()) };
                for map in [&mut self.of_nodes, &mut self.of_edges] {
                    if let Some(declared) = map.get_mut(id) {
                        graph.reading.grow(text.len())?;
                        declared.default = Some(text.trim().to_owned());
                    }
                }
            }
            "key" => self.key = None,
            "data" => {
                let Some(id) = self.key.take() else { return Ok(()) };
                let Some((part, had)) = &mut self.part else { return Ok(()) };
                let declared = match part {
                    Part::Node => self.of_nodes.get(&id),
                    Part::Edge => self.of_edges.get(&id),
                };
                match declared {
                    // What programs draw by is in elements of their own.
                    Some(declared) if !text.trim().is_empty() => {
                        declared.put(graph, *part, text.trim())?;
                        had.push(id);
                    }
                    Some(_) => {}
                    None if self.of_others.contains(&id) => {}
                    None => return Err(Error::Data(format!("there is no key {id:?} for this"))),
                }
            }
            "node" | "edge" => {
                let Some((part, had)) = self.part.take() else { return Ok(()) };
                let declared = match part {
                    Part::Node => &self.of_nodes,
                    Part::Edge => &self.of_edges,
                };
                declared::finish(graph, part, declared, &had)?;
            }
            _ => {}
        }
        Ok(())
    }
}
