//! A dataset put together from tables, wherever these come from: files, or what a document says.

use super::features::{self, Nodes, Wanted};
use super::nodes::NodeIds;
use super::{file_name, parts, relations, splits, values};
use crate::NO_FEATURES;
use crate::columns::Columns;
use crate::directions::{Directions, Said, note_repairs};
use crate::reading::Reading;
use crate::table::TableSource;
use gfgcn::Result;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;

/// The tables of a dataset.
pub(crate) struct Tables<'t> {
    /// One at least, with the name of their type where there are several.
    pub(crate) edges: Vec<(TableSource, Option<String>)>,
    pub(crate) features: Option<TableSource>,
    /// All nodes, where there are no features, or where these do not name each.
    pub(crate) nodes: Option<TableSource>,
    pub(crate) labels: Option<TableSource>,
    pub(crate) values: Option<TableSource>,
    pub(crate) split: Option<TableSource>,
    pub(crate) directions: Directions,
    /// What is said of directions outside the tables.
    pub(crate) said: Option<Said>,
    pub(crate) columns: &'t Columns,
}

impl Tables<'_> {
    /// Reads the tables into a dataset of the given name, which has these notes beside its own.
    pub(crate) fn read(
        &self,
        name: &str,
        mut notes: Vec<String>,
        reading: &Reading,
    ) -> Result<Dataset> {
        let columns = self.columns;
        let mut nodes = self.read_nodes(&mut notes, reading)?;
        let nodes_of_edges = nodes.ids.is_open();
        let said = self.said.clone();
        let (graph, repairs) = relations::read(
            &self.edges,
            &mut nodes.ids,
            relations::Wanted { columns, directions: self.directions, said },
            &mut notes,
            reading,
        )?;
        if graph.edges() == 0 {
            notes.push(format!("{} has no edges; every node stands alone", self.edges_name()));
        }
        if nodes.features.cols() == 0 {
            nodes.features = Features::none(graph.nodes());
            notes.push(NO_FEATURES.into());
        }
        let ids = &nodes.ids;
        let targets = match (&self.labels, &self.values) {
            (Some(source), values) => {
                notes.extend(values.as_ref().map(note_of_unread));
                parts::read_labels(source, ids, columns, &mut notes, reading)?
            }
            (None, Some(source)) => values::read(source, ids, columns, &mut notes, reading)?.into(),
            (None, None) => nodes.labels.take().unwrap_or_else(|| Labels::none(ids.len())).into(),
        };
        let splits = match &self.split {
            Some(source) => splits::read(source, ids, columns, &mut notes, reading)?,
            None => Vec::new(),
        };
        let dataset = Dataset::new(name, graph, nodes.features, targets)?;
        let dataset = note_repairs(dataset, &repairs).with_added_up(nodes.repeats);
        let mut dataset = notes.into_iter().fold(dataset, Dataset::with_note);
        if let (Some(names), Some(features)) = (nodes.feature_names, &self.features) {
            dataset = dataset.with_feature_names(names).map_err(|e| e.in_file(features.path()))?;
        }
        if nodes.as_they_came {
            dataset = dataset.with_features_as_they_came();
        }
        if let Some(encoding) = nodes.encoding {
            dataset = dataset.with_encoding(encoding);
        }
        if nodes_of_edges && nodes.ids.has_names() {
            dataset = dataset.with_nodes_of_edges();
        }
        if self.edges.iter().all(|(_, relation)| relation.is_none()) {
            dataset = dataset.with_relations_of_edges();
        }
        if let Some(ids) = nodes.ids.into_names() {
            reading.hold(NodeIds::ENTRY * ids.len() as u64)?;
            dataset = dataset.with_node_ids(ids)?;
        }
        dataset.with_splits(splits)
    }

    /// What says which nodes there are.
    fn read_nodes(&self, notes: &mut Vec<String>, reading: &Reading) -> Result<Nodes> {
        let columns = self.columns;
        let ids = match &self.nodes {
            Some(list) => Some(NodeIds::read(list, columns, notes, reading)?.into_listed()),
            None => None,
        };
        match &self.features {
            Some(features) => {
                let labels = self.labels.is_none() && self.values.is_none();
                features::read(features, Wanted { columns, labels, ids }, notes, reading)
            }
            None => {
                let of_edges = || NodeIds::of_edges(self.edges_name());
                Ok(Nodes::without_features(ids.unwrap_or_else(of_edges)))
            }
        }
    }

    /// What messages call the edges.
    fn edges_name(&self) -> String {
        match &self.edges[..] {
            [(only, _)] => file_name(only.path()),
            several => format!("any of the {} files of edges", several.len()),
        }
    }
}

fn note_of_unread(values: &TableSource) -> String {
    let file = file_name(values.path());
    format!("{file} is not read, because there are labels; name it to learn values instead")
}
