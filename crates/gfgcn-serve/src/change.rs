//! What can be asked to change, as requests and the journal say it: nodes by their ids.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A node: its id, or its number where nodes have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Text(String),
    Number(u64),
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Id::Text(text) => f.write_str(text),
            Id::Number(number) => write!(f, "{number}"),
        }
    }
}

/// What is known of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Label {
    /// Its class, or its only label.
    Class(String),
    /// Its only value.
    Value(f64),
    /// Its labels.
    Set(Vec<String>),
    /// Its values, one per column.
    Values(Vec<f64>),
}

/// The features of a new node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum NewFeatures {
    /// By name, or by column number; others are 0.
    Named(BTreeMap<String, f32>),
    /// All of them.
    Dense(Vec<f32>),
}

impl Default for NewFeatures {
    fn default() -> Self {
        NewFeatures::Named(BTreeMap::new())
    }
}

/// An edge of a new node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Link {
    /// To this node.
    Plain(Id),
    Full(FullLink),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FullLink {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<Id>,
    /// In place of `to`: the edge starts there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<f32>,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) relation: Option<String>,
}

/// A node that the graph does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Newcomer {
    pub(crate) id: Id,
    #[serde(default)]
    pub(crate) features: NewFeatures,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) edges: Vec<Link>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<Label>,
}

/// An edge between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Edge {
    Pair(Id, Id),
    Full(FullEdge),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FullEdge {
    pub(crate) from: Id,
    pub(crate) to: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<f32>,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) relation: Option<String>,
}

impl Edge {
    pub(crate) fn ends(&self) -> (&Id, &Id) {
        match self {
            Edge::Pair(from, to) => (from, to),
            Edge::Full(edge) => (&edge.from, &edge.to),
        }
    }

    pub(crate) fn weight(&self) -> f32 {
        match self {
            Edge::Pair(..) => 1.0,
            Edge::Full(edge) => edge.weight.unwrap_or(1.0),
        }
    }

    pub(crate) fn relation(&self) -> Option<&str> {
        match self {
            Edge::Pair(..) => None,
            Edge::Full(edge) => edge.relation.as_deref(),
        }
    }
}

/// What is to be learnt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Update {
    /// New and corrected ones, by node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, Label>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) nodes: Vec<Newcomer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) edges: Vec<Edge>,
}

impl Update {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Update::default()
    }
}

/// What is to be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forget {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels_of: Vec<Id>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) nodes: Vec<Id>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) edges: Vec<Edge>,
}

impl Forget {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Forget::default()
    }
}

/// A model that is described otherwise, in the explorer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The text form of a design.
    pub(crate) design: String,
    /// Chosen by leave-one-out where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lambda: Option<f64>,
}

/// Whatever makes a new version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase")]
pub(crate) enum Change {
    Update(Update),
    Forget(Forget),
    Settings(Settings),
    Rollback { to: u64 },
}

impl Change {
    /// The labels, where it has nothing else to say: several such changes are made in one go.
    pub(crate) fn only_labels(&self) -> Option<&BTreeMap<String, Label>> {
        match self {
            Change::Update(Update { labels, nodes, edges })
                if nodes.is_empty() && edges.is_empty() =>
            {
                Some(labels)
            }
            _ => None,
        }
    }

    /// In a few words, for the list of versions.
    pub(crate) fn summary(&self) -> String {
        let count = |number: usize, one: &str, many: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{number} {many}")),
        };
        let list =
            |parts: [Option<String>; 3]| parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        match self {
            Change::Update(update) => {
                let labels = count(update.labels.len(), "label", "labels");
                let nodes = count(update.nodes.len(), "node", "nodes");
                let edges = count(update.edges.len(), "edge", "edges");
                format!("learnt {}", list([labels, nodes, edges]))
            }
            Change::Forget(forget) => {
                let labels = count(forget.labels_of.len(), "label", "labels");
                let nodes = count(forget.nodes.len(), "node", "nodes");
                let edges = count(forget.edges.len(), "edge", "edges");
                format!("forgot {}", list([labels, nodes, edges]))
            }
            Change::Settings(settings) => match settings.lambda {
                Some(lambda) => format!("{} with λ = {lambda}", settings.design),
                None => settings.design.clone(),
            },
            Change::Rollback { to } => format!("back to version {to}"),
        }
    }
}
