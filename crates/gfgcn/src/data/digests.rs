//! A digest per node, by which it is seen what has changed around it.

use super::Dataset;
use crate::graph::Graph;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

impl Dataset {
    /// A digest of each node's features and edges, in which other nodes stand by their ids and features by their names, or by
    /// their numbers where they have none. Equal digests mean that nothing about the node itself has changed, wherever it stands.
    pub(crate) fn node_digests(&self) -> Vec<u128> {
        let (ids, columns) = (short_names(self.node_ids()), short_names(self.feature_names()));
        let name = |node: usize| ids.as_ref().map_or(node as u64, |names| names[node]);
        let feature = |column: usize| columns.as_ref().map_or(column as u64, |names| names[column]);
        let digest = |bytes: &mut Vec<u8>, node: usize| {
            bytes.clear();
            let mut entries = Vec::new();
            self.features().for_each_in_row(node, |column, value| {
                if value != 0.0 {
                    entries.push((feature(column), value));
                }
            });
            push_pairs(bytes, entries);
            push_edges(bytes, self.graph(), node, &name);
            for relation in self.graph().relations() {
                bytes.extend_from_slice(relation.name().as_bytes());
                push_edges(bytes, relation.graph(), node, &name);
            }
            let digest: [u8; 32] = Sha256::digest(&bytes).into();
            u128::from_le_bytes(digest[..16].try_into().expect("sixteen bytes"))
        };
        (0..self.nodes()).into_par_iter().map_init(Vec::new, digest).collect()
    }
}

/// All edges of a node, each list after its length.
fn push_edges(bytes: &mut Vec<u8>, graph: &Graph, node: usize, name: &impl Fn(usize) -> u64) {
    for (others, weights) in graph.edges_of(node) {
        bytes.extend_from_slice(&(others.len() as u64).to_le_bytes());
        let weight = |k: usize| weights.map_or(1.0, |weights| weights[k]);
        let pair = |(k, &other): (usize, &u32)| (name(other as usize), weight(k));
        push_pairs(bytes, others.iter().enumerate().map(pair).collect());
    }
}

/// In the order of names, so that the numbers of nodes and features do not matter.
fn push_pairs(bytes: &mut Vec<u8>, mut pairs: Vec<(u64, f32)>) {
    pairs.sort_unstable_by_key(|(name, _)| *name);
    for (name, value) in pairs {
        bytes.extend_from_slice(&name.to_le_bytes());
        bytes.extend_from_slice(&value.to_le_bytes());
    }
}

/// A number in place of each name.
fn short_names(names: Option<&[String]>) -> Option<Vec<u64>> {
    let short = |name: &String| {
        let digest: [u8; 32] = Sha256::digest(name).into();
        u64::from_le_bytes(digest[..8].try_into().expect("eight bytes"))
    };
    names.map(|names| names.par_iter().map(short).collect())
}
