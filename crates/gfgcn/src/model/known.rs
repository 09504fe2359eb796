//! What a model knows of the data it was trained on, and how other data are matched to that.

use crate::data::{Dataset, Encoding};
use crate::design::{Design, Input};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::{Direction, Graph};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// The columns that members have weights for: features, and nodes where who is linked to whom says something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Columns of the features.
    pub(crate) features: usize,
    pub(crate) feature_names: Option<Vec<String>>,
    /// How columns of a table became the features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) encoding: Option<Encoding>,
    /// Nodes of the graph.
    pub(crate) nodes: usize,
    /// Only where members know nodes.
    pub(crate) node_ids: Option<Vec<String>>,
    /// Columns of degrees: two where directions did not even out.
    pub(crate) degrees: usize,
    /// Whether edges had directions.
    pub(crate) directed: bool,
}

/// The place of each node of the data among those that the model knows.
pub(crate) type Places = Vec<Option<u32>>;

/// Data as a model sees them.
pub(crate) struct Matched<'a> {
    pub(crate) graph: Cow<'a, Graph>,
    pub(crate) features: Cow<'a, Features>,
    /// `None` where the nodes are those the model knows.
    pub(crate) places: Option<Places>,
    /// What a person should know about it.
    pub(crate) notes: Vec<String>,
}

impl Known {
    /// What a model of these designs knows of a dataset.
    pub(crate) fn new<'a>(
        dataset: &Dataset,
        designs: impl IntoIterator<Item = &'a Design>,
    ) -> Self {
        let knows_nodes = designs.into_iter().any(|design| design.filters(Input::Structure));
        let columns = |input: Input| input.columns(dataset.graph(), dataset.features());
        Known {
            features: columns(Input::Features),
            feature_names: dataset.feature_names().map(<[String]>::to_vec),
            encoding: dataset.encoding().cloned(),
            nodes: columns(Input::Structure),
            node_ids: dataset.node_ids().filter(|_| knows_nodes).map(<[String]>::to_vec),
            degrees: columns(Input::Degrees),
            directed: dataset.graph().has_directions(),
        }
    }

    /// The columns that a channel's input had.
    pub(crate) fn columns(&self, input: Input) -> usize {
        match input {
            Input::Features => self.features,
            Input::Structure => self.nodes,
            Input::Degrees => self.degrees,
        }
    }

    /// Data for members of these designs.
    ///
    /// # Errors
    /// If the data lack directions that the members need, have no feature in common, or cannot be matched without names.
    pub(crate) fn match_to<'a>(
        &self,
        dataset: &'a Dataset,
        designs: &[Design],
    ) -> Result<Matched<'a>> {
        let mut notes = Vec::new();
        let features = self.match_features(dataset, &mut notes)?;
        check_relations(dataset.graph(), designs)?;
        let graph = self.match_directions(dataset.graph(), designs, &mut notes)?;
        let places = match designs.iter().any(|design| design.filters(Input::Structure)) {
            true => self.match_nodes(dataset, &mut notes)?,
            false => None,
        };
        Ok(Matched { graph, features, places, notes })
    }

    fn match_features<'a>(
        &self,
        dataset: &'a Dataset,
        notes: &mut Vec<String>,
    ) -> Result<Cow<'a, Features>> {
        let (Some(wanted), Some(given)) = (&self.feature_names, dataset.feature_names()) else {
            let found = dataset.features().cols();
            if found != self.features {
                return Err(Error::Data(format!(
                    "{} has {found} features per node, but the model was trained on {}; give it data with the same features",
                    dataset.name(),
                    self.features
                )));
            }
            return Ok(Cow::Borrowed(dataset.features()));
        };
        if wanted == given {
            return Ok(Cow::Borrowed(dataset.features()));
        }
        let columns = places(wanted, given);
        let matched = columns.iter().flatten().count();
        if matched == 0 {
            return Err(Error::Data(format!(
                "no feature of the data is one the model was trained on; \
                 the model's first is {:?}, the data's first is {:?}",
                wanted[0], given[0]
            )));
        }
        if matched < wanted.len() {
            let missing = wanted.len() - matched;
            notes
                .push(format!("{missing} features of the model are not in the data; counted as 0"));
        }
        if matched < given.len() {
            let unknown = given.len() - matched;
            notes
                .push(format!("{unknown} features of the data are unknown to the model; left out"));
        }
        Ok(Cow::Owned(dataset.features().map_columns(&columns, wanted.len())))
    }

    /// The graph with directions if the model was trained with some, and without if it was not.
    fn match_directions<'a>(
        &self,
        graph: &'a Graph,
        designs: &[Design],
        notes: &mut Vec<String>,
    ) -> Result<Cow<'a, Graph>> {
        match (self.directed, graph.has_directions()) {
            (false, true) => {
                notes.push("edges are used either way, as when the model was trained".into());
                Ok(Cow::Owned(graph.clone().undirected()))
            }
            (true, false) if designs.iter().any(needs_directions) => Err(Error::Data(
                "the model learnt from the directions of edges, and every edge of the data goes both ways".into(),
            )),
            _ => Ok(Cow::Borrowed(graph)),
        }
    }

    /// Links to a node that the model does not know say nothing.
    fn match_nodes(&self, dataset: &Dataset, notes: &mut Vec<String>) -> Result<Option<Places>> {
        let (Some(wanted), Some(given)) = (&self.node_ids, dataset.node_ids()) else {
            let what = "nodes, which must be those the model was trained on, because it learnt from who is linked to whom \
                        and they have no ids";
            Error::check_size(what, self.nodes, dataset.nodes())?;
            return Ok(None);
        };
        if wanted == given {
            return Ok(None);
        }
        let places = places(wanted, given);
        let unknown = places.iter().filter(|place| place.is_none()).count();
        if unknown == given.len() {
            return Err(Error::Data(format!(
                "the model learnt from who is linked to whom, and no node of the data is one it was trained on; \
                 the model's first is {:?}, the data's first is {:?}",
                wanted[0], given[0]
            )));
        }
        if unknown > 0 {
            notes.push(format!(
                "{unknown} nodes are new to the model, which partly learnt from who is linked to whom; links to them say \
                 nothing"
            ));
        }
        Ok(Some(places))
    }
}

fn check_relations(graph: &Graph, designs: &[Design]) -> Result<()> {
    let channels = designs.iter().flat_map(|design| design.channels());
    for relation in channels.filter_map(|channel| channel.operator.relation()) {
        if graph.relation(relation).is_err() {
            return Err(Error::Data(format!(
                "the model learnt from edges of type {relation:?}, and the data have none"
            )));
        }
    }
    Ok(())
}

fn needs_directions(design: &Design) -> bool {
    let mut channels = design.channels().iter();
    channels.any(|c| c.operator.direction != Direction::Both || c.input == Input::Degrees)
}

/// Where each name given is among those wanted.
fn places(wanted: &[String], given: &[String]) -> Vec<Option<u32>> {
    let position: HashMap<&str, u32> =
        wanted.iter().zip(0..).map(|(name, k)| (name.as_str(), k)).collect();
    given.iter().map(|name| position.get(name.as_str()).copied()).collect()
}
