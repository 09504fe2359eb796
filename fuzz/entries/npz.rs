//! What the fuzz target and the replay of its corpus both run.

#[path = "../../crates/gfgcn-data/tests/zip/mod.rs"]
mod zip;

use gfgcn::context::Context;
use gfgcn_data::npz::{from_bytes, to_bytes};

const NAMES: [&str; 37] = [
    "adj_data",
    "adj_indices",
    "adj_indptr",
    "adj_shape",
    "adj_matrix",
    "attr_data",
    "attr_indices",
    "attr_indptr",
    "attr_shape",
    "attr_matrix",
    "labels",
    "class_names",
    "node_names",
    "attr_names",
    "train_idx",
    "val_idx",
    "test_idx",
    "train_mask",
    "val_mask",
    "test_mask",
    "idx_to_node",
    "adj_matrix.data",
    "adj_symmetric",
    "node_features",
    "node_labels",
    "edges",
    "train_masks",
    "val_masks",
    "test_masks",
    "directed",
    "relation_names",
    "relation_0_data",
    "relation_0_indices",
    "relation_0_indptr",
    "relation_0_shape",
    "values",
    "value_names",
];

/// Reads an archive. Input that does not begin like one holds arrays, each after the number of its
/// name in one byte and its length in two: the archive is made here, because a fuzzer does not find
/// the checksums that would let it reach the arrays.
///
/// What is read must survive being written.
pub(crate) fn run(input: &[u8]) {
    let made;
    let bytes = if input.starts_with(b"PK") {
        input
    } else {
        made = zip::archive(&members(input));
        &made
    };
    let context = Context::default();
    if let Ok(dataset) = from_bytes(bytes, "fuzz", &context) {
        let again = from_bytes(&to_bytes(&dataset), "fuzz", &context);
        let again = again.expect("what was written is read");
        assert_eq!(dataset.fingerprint(), again.fingerprint());
        assert_eq!(dataset.splits(), again.splits());
        // Questions are asked again.
        let questions = [" classes, ", "no features", "a single 1"];
        let asked = |note: &&String| questions.iter().any(|question| note.contains(question));
        assert_eq!(again.notes().iter().find(|note| !asked(note)), None);
    }
}

fn members(mut rest: &[u8]) -> Vec<zip::Member> {
    let mut members = Vec::new();
    while let Some((&[name, low, high], tail)) = rest.split_first_chunk() {
        let length = tail.len().min(u16::from_le_bytes([low, high]).into());
        let name = format!("{}.npy", NAMES[usize::from(name) % NAMES.len()]);
        members.push(zip::Member::stored(&name, tail[..length].to_vec()));
        rest = &tail[length..];
    }
    members
}
