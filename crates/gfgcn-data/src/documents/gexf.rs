//! GEXF, the format of Gephi: <https://gexf.net>. Attributes are declared for nodes or edges; these have their values.
//!
//! A node's own `label` is what Gephi writes beside it, as a rule its name, and only read where a column `label` is asked
//! for. Nodes inside nodes are refused; time and what is drawn are left out.

use super::markup::{self, Declared, Markup, Place};
use super::xml::Element;
use super::{GraphDocument, Part};
use crate::columns::Columns;
use crate::table::Cell;
use gfgcn::{Error, Result};
use std::path::Path;

#[derive(Default)]
struct Gexf {
    place: Place,
    /// What is being declared.
    class: Option<Part>,
    declared: Option<String>,
    wants_label: bool,
}

pub(super) fn read(path: &Path, columns: &Columns, graph: &mut GraphDocument) -> Result<()> {
    let asked = [&columns.label, &columns.id].into_iter().flatten().chain(&columns.features);
    let wants_label = asked.into_iter().any(|name| name.eq_ignore_ascii_case("label"));
    markup::read(path, "GEXF", Gexf { wants_label, ..Gexf::default() }, graph)
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

impl Markup for Gexf {
    fn has_graph(&self) -> bool {
        self.place.has_graph()
    }

    fn begin(&mut self, element: &Element, graph: &mut GraphDocument) -> Result<()> {
        match element.name.as_str() {
            "graph" => {
                let default = element.attribute("defaultedgetype")?;
                let directed = default.as_deref().map_or(Ok(false), is_directed)?;
                self.place.begin_graph(directed, "defaultedgetype", graph)?;
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
                graph.reading.grow(2 * (id.len() + name.len()) + 128)?;
                let attribute = Declared { name, is_truth, default: None };
                if self.place.attributes(part).insert(id.clone(), attribute).is_some() {
                    return Err(Error::Data(format!("the attribute {id:?} is declared twice")));
                }
                self.declared = Some(id);
            }
            "node" => {
                self.place.begin_node(element, graph)?;
                if let Some(label) = element.attribute("label")?.filter(|_| self.wants_label) {
                    graph.set(Part::Node, "label", Cell::Text(&label))?;
                }
            }
            "edge" => {
                let directed = element.attribute("type")?.map(|word| is_directed(&word));
                self.place.begin_edge(element, directed.transpose()?, graph)?;
                for (attribute, column) in [("weight", "weight"), ("kind", "type")] {
                    if let Some(value) = element.attribute(attribute)? {
                        graph.set(Part::Edge, column, Cell::Text(&value))?;
                    }
                }
            }
            "attvalue" if self.place.part().is_some() => {
                let id = match element.attribute("for")? {
                    Some(id) => id,
                    None => element.needed("id")?,
                };
                let value = element.needed("value")?;
                if !self.place.put(id.clone(), &value, graph)? {
                    return Err(Error::Data(format!("the attribute {id:?} is not declared")));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str, graph: &mut GraphDocument) -> Result<()> {
        match name {
            "default" => {
                if let (Some(part), Some(id)) = (self.class, &self.declared)
                    && let Some(attribute) = self.place.attributes(part).get_mut(id)
                {
                    graph.reading.grow(text.len())?;
                    attribute.default = Some(text.trim().to_owned());
                }
            }
            "attribute" => self.declared = None,
            "attributes" => self.class = None,
            "node" | "edge" => self.place.finish(graph)?,
            _ => {}
        }
        Ok(())
    }
}
