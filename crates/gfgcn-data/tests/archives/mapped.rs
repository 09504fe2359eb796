//! Large arrays that are not compressed: read where they are in the file, and the same data as of a copy.

use super::{Member, npy, npz, zip};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::graph::Graph;
use std::fs;
use std::path::Path;

const NODES: u32 = 20_000;
/// Neighbours on either side, on a ring: as many entries as take more than 16 MiB.
const REACH: u32 = 106;

fn bytes<const SIZE: usize>(numbers: impl Iterator<Item = [u8; SIZE]>) -> Vec<u8> {
    numbers.flatten().collect()
}

/// Every node and the nodes near it on the ring, in increasing order.
fn neighbours() -> Vec<u32> {
    let near = |node: u32| {
        let mut near: Vec<u32> =
            (1..=REACH).flat_map(|k| [(node + k) % NODES, (node + NODES - k) % NODES]).collect();
        near.sort_unstable();
        near
    };
    (0..NODES).flat_map(near).collect()
}

/// An archive of a graph and dense features, all members as they are, from somewhere in the file on.
fn archive(shift: usize) -> Vec<u8> {
    let entries = NODES * 2 * REACH;
    let length = |count: u32| format!("{count},");
    let indices = bytes(neighbours().into_iter().map(u32::to_le_bytes));
    let offsets = bytes((0..=NODES).map(|node| u64::from(node * 2 * REACH).to_le_bytes()));
    let weights = bytes((0..entries).map(|_| 1f32.to_le_bytes()));
    let features = bytes((0..NODES * 220).map(|k| ((k % 977) as f32).to_le_bytes()));
    let labels = bytes((0..NODES).map(|node| i64::from(node % 3).to_le_bytes()));
    let members = [
        ("note.npy".to_owned() + &"x".repeat(shift), npy::vector("<i8", &[1.0])),
        ("adj_indices.npy".into(), npy::array("'<i4'", &length(entries), &indices)),
        ("adj_indptr.npy".into(), npy::array("'<i8'", &length(NODES + 1), &offsets)),
        ("adj_data.npy".into(), npy::array("'<f4'", &length(entries), &weights)),
        ("adj_shape.npy".into(), npy::vector("<i8", &[f64::from(NODES); 2])),
        ("attr_matrix.npy".into(), npy::array("'<f4'", &format!("{NODES}, 220"), &features)),
        ("labels.npy".into(), npy::array("'<i8'", &length(NODES), &labels)),
    ];
    let members = members.map(|(name, array)| Member::stored(&name, array));
    zip::archive(&members)
}

fn read(path: &Path) -> gfgcn::Result<Dataset> {
    npz::read(path, "test", &Context::default())
}

#[test]
fn arrays_are_the_same_wherever_they_stand_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let edges: Vec<(u32, u32)> =
        (0..NODES).flat_map(|node| (1..=REACH).map(move |k| (node, (node + k) % NODES))).collect();
    let (graph, _) = Graph::from_edges(NODES as usize, &edges, None).unwrap();
    let mut saved = 0;
    for shift in 0..4 {
        let archive = archive(shift);
        fs::write(&path, &archive).unwrap();
        let (there, copied) =
            (read(&path).unwrap(), npz::from_bytes(&archive, "test", &Context::default()).unwrap());
        assert!(there == copied, "{shift}");
        assert!(*there.graph() == graph, "{shift}");
        let mut row = Vec::new();
        there.features().for_each_in_row(7777, |_, value| row.push(value));
        let expected: Vec<f32> = (0..220)
            .map(|k| ((7777 * 220 + k) % 977) as f32)
            .filter(|&value| value != 0.0)
            .collect();
        row.retain(|&value| value != 0.0);
        assert_eq!(row, expected, "{shift}");
        saved += copied.held_memory() - there.held_memory();
        // Another file in its place does no harm.
        fs::write(folder.path().join("other"), b"something else").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(there.fingerprint(), copied.fingerprint(), "{shift}");
    }
    // One place in four is aligned for numbers of four bytes. Weights that are all 1 are not kept anyway.
    assert_eq!(saved, 4 * u64::from(NODES) * u64::from(2 * REACH + 220));
}

#[test]
fn a_flipped_bit_in_a_stored_member_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let archive = archive(0);
    for place in [9_000_000, 20_000_000, 40_000_000] {
        let mut archive = archive.clone();
        archive[place] ^= 4;
        fs::write(&path, archive).unwrap();
        let error = read(&path).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("checksum") && message.contains("member a"), "{message}");
        assert!(!error.is_machine_failure());
    }
}
