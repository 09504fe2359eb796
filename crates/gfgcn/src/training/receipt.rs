//! The receipt of what was forgotten.

use super::{Changes, Relearnt, Removal};
use crate::data::Dataset;
use crate::error::Result;
use crate::hex::hex;
use crate::model::Model;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// How it was checked that a model is that of what remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// A model was trained from scratch [beside it](Relearnt::verify), and is the same.
    Identical,
    /// It was itself trained from scratch.
    FromScratch,
    /// It was not.
    None,
}

impl Check {
    /// The same in words.
    pub fn sentence(self) -> &'static str {
        match self {
            Check::Identical => "trained from scratch on what remains: the same to the last bit",
            Check::FromScratch => "it was trained from scratch on what remains",
            Check::None => "no: solved again on the rows that remain",
        }
    }
}

/// What was removed, by the names that the data have for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Removed {
    /// The ids of nodes whose labels or values were.
    LabelsOf(Vec<String>),
    /// The ids of nodes that were.
    Nodes(Vec<String>),
    /// Edges that were.
    Edges(Vec<RemovedEdge>),
}

/// An edge that was removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RemovedEdge {
    /// The id of the node that it starts at.
    pub source: String,
    /// The id of the node that it ends at.
    pub target: String,
    /// Its relation, where only one was meant.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
}

impl Removed {
    fn new(removal: &Removal, dataset: &Dataset) -> Self {
        let id = |node: usize| dataset.node_id(node).into_owned();
        let ids = |nodes: &[usize]| nodes.iter().map(|&node| id(node)).collect();
        match removal {
            Removal::Labels(nodes) => Removed::LabelsOf(ids(nodes)),
            Removal::Nodes(nodes) => Removed::Nodes(ids(nodes)),
            Removal::Edges(parts) => {
                let edges = parts.iter().flat_map(|(relation, edges)| {
                    edges.iter().map(move |&(from, to)| RemovedEdge {
                        source: id(from as usize),
                        target: id(to as usize),
                        relation: relation.clone(),
                    })
                });
                let mut edges: Vec<RemovedEdge> = edges.collect();
                edges.sort_unstable();
                Removed::Edges(edges)
            }
        }
    }
}

/// One state of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// SHA-256 of the model file.
    pub model_sha256: String,
    /// Fingerprint of the data that it is trained on.
    pub data_fingerprint: String,
    /// Nodes of the graph.
    pub nodes: usize,
    /// Nodes that it is trained on.
    pub training_nodes: usize,
}

impl State {
    /// That of a model, whose file has these bytes.
    fn new(model: &Model, file: &[u8]) -> Self {
        State {
            model_sha256: hex(&Sha256::digest(file)),
            data_fingerprint: model.provenance().fingerprint.clone(),
            nodes: model.nodes(),
            training_nodes: model.provenance().training_nodes,
        }
    }
}

/// What was removed from a model, what it was before and after, and how it was checked that the result is the model of
/// what remains. It belongs to the model file whose hash is that of the state after, and says nothing about any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// By the names that the data have for it.
    pub removed: Removed,
    /// How many.
    pub changes: Changes,
    /// The model that it was removed from.
    pub before: State,
    /// The model without it.
    pub after: State,
    /// How the result was checked.
    pub check: Check,
    /// The same in words.
    pub how: &'static str,
}

impl Receipt {
    /// The receipt of a removal from a model that was trained on a dataset, and the file of the model that it belongs to.
    ///
    /// # Errors
    /// Too little memory for the files of both models, one after the other.
    pub fn new(
        before: &Model,
        dataset: &Dataset,
        removal: &Removal,
        after: &Relearnt,
        check: Check,
    ) -> Result<(Self, Vec<u8>)> {
        let before = State::new(before, &before.to_file()?);
        let file = after.model.to_file()?;
        let receipt = Receipt {
            removed: Removed::new(removal, dataset),
            changes: after.changes,
            before,
            after: State::new(&after.model, &file),
            check,
            how: check.sentence(),
        };
        Ok((receipt, file))
    }
}
