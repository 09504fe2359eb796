//! GraphML: <http://graphml.graphdrawing.org>. Keys say what attributes are called; nodes and edges have their values.
//!
//! Nested graphs and hyperedges are refused; ports, and what programs add to draw the graph, are left out.

use super::markup::{self, Declared, Markup, Place};
use super::xml::Element;
use super::{GraphDocument, Part};
use gfgcn::{Error, Result};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Default)]
struct GraphMl {
    place: Place,
    /// Keys of the graph itself, of ports and so on.
    of_others: BTreeSet<String>,
    /// The key that is being read, or whose value is.
    key: Option<String>,
}

pub(super) fn read(path: &Path, graph: &mut GraphDocument) -> Result<()> {
    markup::read(path, "GraphML", GraphMl::default(), graph)
}

impl Markup for GraphMl {
    fn has_graph(&self) -> bool {
        self.place.has_graph()
    }

    fn begin(&mut self, element: &Element, graph: &mut GraphDocument) -> Result<()> {
        match element.name.as_str() {
            "graph" => {
                let directed = match element.attribute("edgedefault")?.as_deref() {
                    None | Some("directed") => true,
                    Some("undirected") => false,
                    Some(other) => {
                        let problem =
                            format!("edgedefault is {other:?}, but must be directed or undirected");
                        return Err(Error::Data(problem));
                    }
                };
                self.place.begin_graph(directed, "edgedefault", graph)?;
            }
            "key" => {
                let id = element.needed("id")?;
                let name = element.attribute("attr.name")?.unwrap_or_else(|| id.clone());
                let is_truth = element.attribute("attr.type")?.as_deref() == Some("boolean");
                let parts: &[Part] = match element.attribute("for")?.as_deref() {
                    Some("node") => &[Part::Node],
                    Some("edge") => &[Part::Edge],
                    None | Some("all") => &[Part::Node, Part::Edge],
                    Some(_) => &[],
                };
                graph.reading.grow(4 * (id.len() + name.len()) + 256)?;
                let mut is_new = !parts.is_empty() || self.of_others.insert(id.clone());
                for &part in parts {
                    let declared = Declared { name: name.clone(), is_truth, default: None };
                    is_new &= self.place.attributes(part).insert(id.clone(), declared).is_none();
                }
                if !is_new {
                    return Err(Error::Data(format!("the key {id:?} is there twice")));
                }
                self.key = Some(id);
            }
            "node" => self.place.begin_node(element, graph)?,
            "edge" => {
                let directed = element.attribute("directed")?.map(|word| word == "true");
                self.place.begin_edge(element, directed, graph)?;
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
                for part in [Part::Node, Part::Edge] {
                    if let Some(declared) = self.place.attributes(part).get_mut(id) {
                        graph.reading.grow(text.len())?;
                        declared.default = Some(text.trim().to_owned());
                    }
                }
            }
            "key" => self.key = None,
            "data" => {
                let Some(id) = self.key.take() else { return Ok(()) };
                let Some(part) = self.place.part() else { return Ok(()) };
                // What programs draw by is in elements of their own.
                let is_known = match text.trim() {
                    "" => self.place.attributes(part).contains_key(&id),
                    value => self.place.put(id.clone(), value, graph)?,
                };
                if !is_known && !self.of_others.contains(&id) {
                    return Err(Error::Data(format!("there is no key {id:?} for this")));
                }
            }
            "node" | "edge" => self.place.finish(graph)?,
            _ => {}
        }
        Ok(())
    }
}
