//! Features as JSON lists, `{"node": [feature, …], …}`: each node with the features that it has, each of which counts 1.
//!
//! The layout of the MUSAE collection. The file is parsed as it is read, entry by entry.

use super::nodes::NodeIds;
use crate::json::{self, Scalar, Stop};
use crate::reading::Reading;
use crate::triplets::{self, Entry};
use gfgcn::data::order_of_names;
use gfgcn::features::Features;
use gfgcn::matrix::SparseMatrix;
use gfgcn::{Error, Result};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// What a file of lists says.
pub(super) struct Listed {
    pub(super) ids: NodeIds,
    pub(super) features: Features,
    /// The features, in the order of their names.
    pub(super) names: Vec<String>,
}

/// Reads lists; nodes that are known but have none have no features.
pub(super) fn read(
    path: &Path,
    ids: NodeIds,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Listed> {
    let mut lists = Lists {
        ids,
        entries: Vec::new(),
        columns: HashMap::new(),
        names: Vec::new(),
        seen: Vec::new(),
        reading,
        stop: Stop::default(),
    };
    let stop = lists.stop.clone();
    json::parse(path, reading, &stop, &mut lists)?;
    let Lists { ids, mut entries, mut names, .. } = lists;
    if ids.len() == 0 || names.is_empty() {
        let problem = "lists no features of any node".to_owned();
        return Err(Error::Data(problem).in_file(path));
    }
    let mut position = vec![0; names.len()];
    let order = order_of_names(&names);
    order.iter().zip(0..).for_each(|(&old, new)| position[old] = new);
    names = order.iter().map(|&old| std::mem::take(&mut names[old])).collect();
    entries.iter_mut().for_each(|entry| entry.column = position[entry.column as usize]);
    triplets::sort(&mut entries);
    let listed = entries.len();
    entries.dedup_by_key(|entry| (entry.row, entry.column));
    if entries.len() < listed {
        notes.push(format!("{} features are listed twice and count once", listed - entries.len()));
    }
    let memory = triplets::memory(ids.len(), entries.len()) as u64;
    reading.hold(memory).map_err(|e| e.in_file(path))?;
    let rows = triplets::compress(ids.len(), &entries);
    let matrix = SparseMatrix::from_csr(names.len(), &rows.offsets, &rows.columns, &rows.values);
    let features = matrix.and_then(Features::sparse).map_err(|e| e.in_file(path))?;
    Ok(Listed { ids, features, names })
}

struct Lists<'r> {
    ids: NodeIds,
    entries: Vec<Entry>,
    columns: HashMap<String, u32>,
    names: Vec<String>,
    /// Which nodes have had their list.
    seen: Vec<bool>,
    reading: &'r Reading,
    stop: Stop,
}

impl Lists<'_> {
    fn begin<E: serde::de::Error>(&mut self, id: &str) -> Result<u32, E> {
        let (node, new) = self.ids.insert_row(id).map_err(E::custom)?;
        if new {
            let grown = self.reading.grow(2 * id.len() + NodeIds::ENTRY as usize + 1);
            grown.map_err(|e| self.stop.because(e))?;
        }
        let index = node as usize;
        if self.seen.len() <= index {
            self.seen.resize(self.ids.len().max(index + 1), false);
        }
        if std::mem::replace(&mut self.seen[index], true) {
            return Err(E::custom(format!("the node {id:?} is there twice")));
        }
        Ok(node)
    }

    fn add<E: serde::de::Error>(&mut self, row: u32, feature: String) -> Result<(), E> {
        let at = self.entries.len() as u64;
        let next = self.names.len();
        let column = match self.columns.get(&feature) {
            Some(&column) => column,
            None => {
                let column = u32::try_from(next)
                    .map_err(|_| E::custom("there are more features than 32 bits can number"))?;
                let grown = self.reading.grow(2 * feature.len() + NodeIds::ENTRY as usize);
                grown.map_err(|e| self.stop.because(e))?;
                self.names.push(feature.clone());
                self.columns.insert(feature, column);
                column
            }
        };
        self.reading.grow(size_of::<Entry>()).map_err(|e| self.stop.because(e))?;
        self.entries.push(Entry { row, column, value: 1.0, at });
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Lists<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Lists<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object with a list of features for each node")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(id) = map.next_key::<String>()? {
            let row = self.begin(&id)?;
            map.next_value_seed(List { lists: self, row })?;
        }
        Ok(())
    }
}

/// The features of one node.
struct List<'l, 'r> {
    lists: &'l mut Lists<'r>,
    row: u32,
}

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(feature) = list.next_element::<Scalar>()? {
            let name = feature
                .name()
                .ok_or_else(|| A::Error::custom("a feature is neither a number nor text"))?;
            self.lists.add(self.row, name)?;
        }
        Ok(())
    }
}
