//! The receipt of what was forgotten.

use gfgcn::data::Dataset;
use gfgcn::files::write_atomically;
use gfgcn::training::{Changes, Relearnt, Removal};
use gfgcn::{Model, Result, hex};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

/// How it was checked that a model is that of what remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// A model was trained from scratch beside it.
    Identical,
    /// It was itself trained from scratch.
    FromScratch,
    /// It was not.
    None,
}

impl Check {
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Check::Identical => "trained from scratch on what remains: the same to the last bit",
            Check::FromScratch => "it was trained from scratch on what remains",
            Check::None => "no (--no-verify): solved again on the rows that remain",
        }
    }
}

/// What was removed, by the names that the data have for it.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Removed {
    LabelsOf(Vec<String>),
    Nodes(Vec<String>),
    Edges(Vec<Edge>),
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Edge {
    source: String,
    target: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
}

impl Removed {
    pub(super) fn new(removal: &Removal, dataset: &Dataset) -> Self {
        let id = |node: usize| dataset.node_id(node).into_owned();
        let ids = |nodes: &[usize]| nodes.iter().map(|&node| id(node)).collect();
        match removal {
            Removal::Labels(nodes) => Removed::LabelsOf(ids(nodes)),
            Removal::Nodes(nodes) => Removed::Nodes(ids(nodes)),
            Removal::Edges(parts) => {
                let edges = parts.iter().flat_map(|(kind, edges)| {
                    edges.iter().map(move |&(from, to)| Edge {
                        source: id(from as usize),
                        target: id(to as usize),
                        kind: kind.clone(),
                    })
                });
                let mut edges: Vec<Edge> = edges.collect();
                edges.sort_unstable();
                Removed::Edges(edges)
            }
        }
    }
}

/// One state of the model.
#[derive(Serialize)]
struct State {
    /// SHA-256 of the model file.
    model_sha256: String,
    /// Fingerprint of the data that it is trained on.
    data_fingerprint: String,
    nodes: usize,
    training_nodes: usize,
}

impl State {
    fn of(model: &Model) -> Self {
        State {
            model_sha256: hex(&Sha256::digest(model.to_bytes())),
            data_fingerprint: model.provenance().fingerprint.clone(),
            nodes: model.nodes(),
            training_nodes: model.provenance().training_nodes,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Receipt {
    gfgcn: &'static str,
    time: String,
    removed: Removed,
    changes: Changes,
    before: State,
    after: State,
    check: Check,
    how: &'static str,
}

impl Receipt {
    pub(super) fn new(before: &Model, after: &Relearnt, removed: Removed, check: Check) -> Self {
        Receipt {
            gfgcn: env!("CARGO_PKG_VERSION"),
            time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            removed,
            changes: after.changes,
            before: State::of(before),
            after: State::of(&after.model),
            check,
            how: check.sentence(),
        }
    }

    pub(super) fn save(&self, path: &Path, overwrite: bool) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(self).expect("a receipt has string keys");
        json.push(b'\n');
        write_atomically(path, overwrite, |file| file.write_all(&json))
    }
}
