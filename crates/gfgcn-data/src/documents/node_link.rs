//! Node-link JSON: `{"directed": …, "nodes": [{"id": …, …}], "links": [{"source": …, "target": …, …}]}`.
//!
//! What networkx, D3 and many others write. `edges` may stand for `links`. Numbers in `source` and `target` are ids; where
//! nodes have none, they are places in the list, as in older files of D3. Lists of numbers become a column for each place.

use super::{GraphDocument, ID, Part, SOURCE, TARGET};
use crate::json::{self, Scalar, Stop};
use crate::table::Cell;
use gfgcn::{Error, Result};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::fmt;
use std::path::Path;

pub(super) fn read(path: &Path, graph: &mut GraphDocument) -> Result<()> {
    let stop = Stop::default();
    let reading = graph.reading;
    let mut seen = Seen::default();
    json::parse(path, reading, &stop, Root { graph, stop: &stop, seen: &mut seen })?;
    match seen {
        Seen { nodes: true, links: true, .. } => Ok(()),
        Seen { nodes, .. } => {
            let lacks = if nodes { "links (or edges)" } else { "nodes" };
            let problem = format!(
                "is not a graph in node-link form (networkx.node_link_data): it has no list {lacks}"
            );
            Err(Error::Format(problem).in_file(path))
        }
    }
}

#[derive(Default)]
struct Seen {
    nodes: bool,
    links: bool,
    directed: bool,
}

struct Root<'g, 'r> {
    graph: &'g mut GraphDocument<'r>,
    stop: &'g Stop,
    seen: &'g mut Seen,
}

impl<'de> DeserializeSeed<'de> for Root<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with the lists nodes and links")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Root { graph, stop, seen } = self;
        let twice = |flag: &mut bool, name: &str| match std::mem::replace(flag, true) {
            true => Err(A::Error::custom(format!("{name:?} is there twice"))),
            false => Ok(()),
        };
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "nodes" => {
                    twice(&mut seen.nodes, "nodes")?;
                    map.next_value_seed(Items { graph: &mut *graph, stop, part: Part::Node })?;
                }
                "links" | "edges" => {
                    twice(&mut seen.links, &key)?;
                    map.next_value_seed(Items { graph: &mut *graph, stop, part: Part::Edge })?;
                }
                "directed" => {
                    twice(&mut seen.directed, "directed")?;
                    graph.say(map.next_value::<bool>()?, "\"directed\"");
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// A list of nodes or edges.
struct Items<'g, 'r> {
    graph: &'g mut GraphDocument<'r>,
    stop: &'g Stop,
    part: Part,
}

impl<'de> DeserializeSeed<'de> for Items<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Items { graph, stop, part } = self;
        while list.next_element_seed(Item { graph: &mut *graph, stop, part })?.is_some() {}
        Ok(())
    }
}

/// A node or an edge.
struct Item<'g, 'r> {
    graph: &'g mut GraphDocument<'r>,
    stop: &'g Stop,
    part: Part,
}

impl<'de> DeserializeSeed<'de> for Item<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Item<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Item { graph, stop, part } = self;
        let mut has_id = false;
        while let Some(key) = map.next_key::<String>()? {
            has_id |= part == Part::Node && key == "id";
            let is_end = part == Part::Edge && (key == "source" || key == "target");
            let value: Value = map.next_value()?;
            let put = match value {
                Value::Scalar(Scalar::Null | Scalar::Nested) if is_end => {
                    Err(graph.edges.error(format!("has a {key} that is no id")))
                }
                Value::Scalar(scalar) => put(graph, part, &key, &scalar),
                Value::Numbers(numbers) => {
                    (numbers.iter().enumerate()).try_for_each(|(k, number)| {
                        graph.set(part, &format!("{key}[{k}]"), Cell::Float(*number))
                    })
                }
            };
            put.map_err(|error| stop.because::<A::Error>(error))?;
        }
        let finished = match part {
            Part::Node if !has_id => {
                let place = graph.nodes.len();
                let reading = graph.reading;
                graph.nodes.set(ID, Cell::Integer(place as i128), reading)
            }
            _ => Ok(()),
        };
        let finished = finished.and_then(|()| graph.finish(part));
        finished.map_err(|error| stop.because(error))
    }
}

fn put(graph: &mut GraphDocument, part: Part, key: &str, value: &Scalar) -> Result<()> {
    let cell = match value {
        Scalar::Null | Scalar::Nested => Cell::Empty,
        Scalar::Bool(value) => Cell::Bool(*value),
        Scalar::Integer(value) => Cell::Integer(*value),
        Scalar::Float(value) => Cell::Float(*value),
        Scalar::Text(text) => Cell::Text(text),
    };
    let reading = graph.reading;
    match (part, key) {
        (Part::Node, "id") => graph.nodes.set(ID, cell, reading),
        (Part::Edge, "source") => graph.edges.set(SOURCE, cell, reading),
        (Part::Edge, "target") => graph.edges.set(TARGET, cell, reading),
        _ => graph.set(part, key, cell),
    }
}

/// What an attribute is: one value, or a list of numbers.
enum Value {
    Scalar(Scalar),
    Numbers(Vec<f64>),
}

impl<'de> serde::Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

/// Longer lists of numbers in a node are no features.
const MOST_NUMBERS: usize = 1 << 16;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Scalar(Scalar::Null))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Scalar(Scalar::Bool(value)))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Scalar(Scalar::Integer(value.into())))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Scalar(Scalar::Integer(value.into())))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Scalar(Scalar::Float(value)))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Scalar(Scalar::Text(value.to_owned())))
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Scalar(Scalar::Text(value)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let (mut numbers, mut others) = (Vec::new(), false);
        while let Some(value) = list.next_element::<Scalar>()? {
            match value {
                _ if numbers.len() == MOST_NUMBERS => {
                    return Err(A::Error::custom(format!(
                        "a list has more than {MOST_NUMBERS} numbers"
                    )));
                }
                Scalar::Integer(value) => numbers.push(value as f64),
                Scalar::Float(value) => numbers.push(value),
                _ => others = true,
            }
        }
        Ok(if others { Value::Scalar(Scalar::Nested) } else { Value::Numbers(numbers) })
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Scalar(Scalar::Nested))
    }
}
