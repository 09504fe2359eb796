//! The fingerprint of a dataset: SHA-256 over what its graph, features and targets mean.
//!
//! Rows are cut into chunks of a fixed number, so that chunks can be hashed side by side and the
//! outcome depends on the data alone:
//!
//! ```text
//! fingerprint  SHA-256 of: the source's digest, the word `sets` or `values` with the names of their columns where targets are
//!              no classes, the digest of every chunk of targets
//! source       SHA-256 of: nodes, edges, feature columns (64 bits each), the digest of every chunk; then, where
//!              directions are known, their number and every arc; then every relation, its edges and arcs
//! chunk        SHA-256 of its rows, one after the other
//! row          how many larger neighbours, each with its weight; how many features other than zero, each with its column
//! target       the bytes of the label after their number plus one, or a zero
//! ```
//!
//! A set of labels stands there as their number plus one, then each as a single one would; values as their number plus one
//! and their bits. What is not known is a zero.
//!
//! Numbers are little-endian. Neither the storage of the features nor the numbering of the classes
//! goes into it. The source has a digest of its own, so that other targets on the same graph cost no second pass over it.

use super::Targets;
use crate::features::Features;
use crate::graph::Graph;
use crate::hex::hex;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// Rows that are hashed together.
const ROWS: usize = 256;

/// Bytes that are gathered before they are hashed: hashing a few at a time costs more than the hash, and many would leave the
/// fastest cache before they are.
const BUFFER: usize = 1 << 14;

/// Fingerprints that are computed when they are first asked for.
///
/// They are what the data are, not a part of them: any two are equal, so that datasets with and without
/// computed ones can be.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprint {
    source: OnceLock<String>,
    whole: OnceLock<String>,
}

impl PartialEq for Fingerprint {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Fingerprint {
    /// That of a source whose fingerprint is known.
    pub(super) fn of_known_source(source: String) -> Self {
        Fingerprint { source: OnceLock::from(source), whole: OnceLock::new() }
    }

    /// That of the same source with other targets.
    pub(super) fn of_other_targets(&self) -> Self {
        Fingerprint { source: self.source.clone(), whole: OnceLock::new() }
    }

    /// The fingerprint of these data, which must be the same at every call.
    pub(super) fn of(&self, graph: &Graph, features: &Features, targets: &Targets) -> String {
        once(&self.whole, || of_all(&self.of_source(graph, features), targets))
    }

    /// That of graph and features.
    pub(super) fn of_source(&self, graph: &Graph, features: &Features) -> String {
        once(&self.source, || of_source(graph, features))
    }
}

/// Not inside the lock: a thread that waits for the chunks takes up other work meanwhile, and that may ask for this very
/// fingerprint. Computed twice at worst, it is the same.
fn once(known: &OnceLock<String>, compute: impl FnOnce() -> String) -> String {
    if let Some(known) = known.get() {
        return known.clone();
    }
    let computed = compute();
    known.get_or_init(|| computed).clone()
}

/// The fingerprint of targets on a source that has one.
fn of_all(source: &str, targets: &Targets) -> String {
    let mut hash = Sha256::new();
    hash.update(source);
    match targets {
        Targets::Classes(_) => {}
        Targets::Sets(_) => hash.update("sets"),
        Targets::Values(values) => {
            let mut names = b"values".to_vec();
            values.names().iter().for_each(|name| push_label(&mut names, Some(name)));
            hash.update(names);
        }
    }
    let digests = of_rows(targets.len(), |bytes, node| push_target(bytes, targets, node));
    digests.iter().for_each(|digest| hash.update(digest));
    hex(&hash.finalize())
}

fn of_source(graph: &Graph, features: &Features) -> String {
    let digests = of_rows(graph.nodes(), |bytes, node| {
        push_neighbours(bytes, graph, node);
        push_features(bytes, features, node);
    });
    let mut hash = Sha256::new();
    for size in [graph.nodes(), graph.edges(), features.cols()] {
        hash.update((size as u64).to_le_bytes());
    }
    digests.iter().for_each(|digest| hash.update(digest));
    hash_arcs(&mut hash, graph);
    hex(&hash.finalize())
}

/// The digest of every chunk of rows, whose bytes `push` gives.
fn of_rows(rows: usize, push: impl Fn(&mut Vec<u8>, usize) + Sync) -> Vec<[u8; 32]> {
    let digest = |bytes: &mut Vec<u8>, chunk: usize| {
        let mut hash = Sha256::new();
        for row in chunk * ROWS..rows.min((chunk + 1) * ROWS) {
            push(bytes, row);
            if bytes.len() >= BUFFER {
                hash.update(&bytes);
                bytes.clear();
            }
        }
        hash.update(&bytes);
        bytes.clear();
        hash.finalize().into()
    };
    (0..rows.div_ceil(ROWS)).into_par_iter().map_init(Vec::new, digest).collect()
}

/// Directions and relations, where there are some.
fn hash_arcs(hash: &mut Sha256, graph: &Graph) {
    if graph.is_directed() {
        hash.update((graph.arc_count() as u64).to_le_bytes());
        for (from, to, weight) in graph.arc_list() {
            hash.update((from as u32).to_le_bytes());
            hash.update((to as u32).to_le_bytes());
            hash.update(weight.to_le_bytes());
        }
    }
    for relation in graph.relations() {
        let mut name = Vec::new();
        push_label(&mut name, Some(relation.name()));
        hash.update(name);
        hash.update((relation.graph().edges() as u64).to_le_bytes());
        for (from, to, weight) in relation.graph().edge_list() {
            hash.update((from as u32).to_le_bytes());
            hash.update((to as u32).to_le_bytes());
            hash.update(weight.to_le_bytes());
        }
        hash_arcs(hash, relation.graph());
    }
}

/// Each edge belongs to its smaller end.
fn push_neighbours(bytes: &mut Vec<u8>, graph: &Graph, node: usize) {
    let neighbours = graph.neighbours(node);
    let smaller = neighbours.partition_point(|&neighbour| (neighbour as usize) < node);
    push_count(bytes, neighbours.len() - smaller);
    let weights = graph.weights(node);
    for (k, neighbour) in neighbours.iter().enumerate().skip(smaller) {
        bytes.extend_from_slice(&entry(*neighbour, weights.map_or(1.0, |weights| weights[k])));
    }
}

fn push_features(bytes: &mut Vec<u8>, features: &Features, node: usize) {
    let start = bytes.len();
    push_count(bytes, 0);
    let first = bytes.len();
    // A stored zero is one that became so small: where features are dense, it does not exist.
    match features {
        Features::Dense(m) => {
            // Whatever comes after a zero is written over it: most rows have none, and nothing has to be decided.
            let row = m.row(node);
            bytes.resize(first + 8 * row.len(), 0);
            let (entries, mut end) = (&mut bytes[first..], 0);
            for (column, &value) in (0..).zip(row) {
                entries[end..end + 8].copy_from_slice(&entry(column, value));
                end += 8 * usize::from(value != 0.0);
            }
            bytes.truncate(first + end);
        }
        Features::Sparse(_) | Features::Blocks(_) => {
            features.for_each_in_row(node, |column, value| {
                if value != 0.0 {
                    bytes.extend_from_slice(&entry(column as u32, value));
                }
            });
        }
    }
    let count = (bytes.len() - first) as u64 / 8;
    bytes[start..first].copy_from_slice(&count.to_le_bytes());
}

/// A neighbour with its weight, or a column with its value.
fn entry(number: u32, value: f32) -> [u8; 8] {
    (u64::from(number) | u64::from(value.to_bits()) << 32).to_le_bytes()
}

fn push_target(bytes: &mut Vec<u8>, targets: &Targets, node: usize) {
    match targets {
        Targets::Classes(labels) => push_label(bytes, labels.name(node)),
        Targets::Sets(sets) => {
            push_count(bytes, sets.get(node).map_or(0, |labels| labels.len() + 1));
            // By name, so that the numbers of the labels do not matter.
            let mut names: Vec<&str> = sets.of_node(node).into_iter().flatten().collect();
            names.sort_unstable();
            names.into_iter().for_each(|name| push_label(bytes, Some(name)));
        }
        Targets::Values(values) => {
            let values = values.get(node);
            push_count(bytes, values.map_or(0, |values| values.len() + 1));
            // −0 is 0.
            let bits = values.into_iter().flatten().map(|value| (value + 0.0).to_le_bytes());
            bits.for_each(|bits| bytes.extend_from_slice(&bits));
        }
    }
}

fn push_label(bytes: &mut Vec<u8>, label: Option<&str>) {
    push_count(bytes, label.map_or(0, |label| label.len() + 1));
    bytes.extend_from_slice(label.unwrap_or_default().as_bytes());
}

fn push_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend_from_slice(&(count as u64).to_le_bytes());
}
