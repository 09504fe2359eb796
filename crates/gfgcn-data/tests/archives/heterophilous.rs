//! The layout of the heterophilous-graphs collection: the same data as in the other layout, every oddity that is
//! accepted or refused, and the published archives where they are at hand.

use super::{Arrays, allocation, assert_says, npy, read, small};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::features::Features;
use gfgcn_data::npz;
use npy::{array, fortran, items, vector};
use std::fs;
use std::path::Path;

const FEATURES: [f64; 15] =
    [1.0, 0.0, 2.0, 0.0, 4.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0];
const LABELS: [f64; 5] = [0.0, 1.0, 0.0, -1.0, 1.0];
const EDGES: [f64; 8] = [0.0, 1.0, 0.0, 2.0, 1.0, 2.0, 2.0, 3.0];

fn rows(descr: &str, shape: &str, values: &[f64]) -> Vec<u8> {
    array(&format!("'{descr}'"), shape, &items(descr, values))
}

/// The small dataset in this layout, with one split.
fn plain() -> Arrays {
    Arrays(Vec::new())
        .with("node_features", rows("<f4", "5, 3", &FEATURES))
        .with("node_labels", vector("<i8", &LABELS))
        .with("edges", rows("<i8", "4, 2", &EDGES))
        .with("train_masks", rows("|b1", "1, 5", &[1.0, 1.0, 0.0, 0.0, 0.0]))
        .with("val_masks", rows("|b1", "1, 5", &[0.0, 0.0, 1.0, 0.0, 0.0]))
        .with("test_masks", rows("|b1", "1, 5", &[0.0, 0.0, 0.0, 0.0, 1.0]))
}

/// The small dataset in the other layout; classes have no names here.
fn expected() -> Dataset {
    read(&Arrays::small().without("class_names").stored()).unwrap()
}

fn assert_same(name: &str, dataset: &Dataset) {
    assert_eq!(dataset.graph(), small().graph(), "{name}");
    assert_eq!(dataset.labels().as_slice(), small().labels().as_slice(), "{name}");
    assert_eq!(dataset.labels().classes(), ["0", "1"], "{name}");
    assert_eq!(dataset.fingerprint(), expected().fingerprint(), "{name}");
    assert_eq!(dataset.split(), small().split(), "{name}");
}

/// What is different, the arrays, and what the notes must say: one fragment for each.
fn variations() -> Vec<(&'static str, Arrays, &'static [&'static str])> {
    let both = [EDGES.to_vec(), EDGES.chunks(2).flat_map(|e| [e[1], e[0]]).collect()].concat();
    let with_edges = |shape: &str, edges: &[f64]| plain().with("edges", rows("<i4", shape, edges));
    let columns: Vec<f64> = (0..3).flat_map(|j| (0..5).map(move |i| FEATURES[3 * i + j])).collect();
    let ends: Vec<f64> = (0..2).flat_map(|j| (0..4).map(move |i| EDGES[2 * i + j])).collect();
    let unlabelled = [0.0, 1.0, 0.0, f64::NAN, 1.0];
    vec![
        ("itself", plain(), &[]),
        ("float labels", plain().with("node_labels", vector("<f8", &unlabelled)), &[]),
        ("short labels", plain().with("node_labels", vector("|i1", &LABELS)), &[]),
        ("double features", plain().with("node_features", rows(">f8", "5, 3", &FEATURES)), &[]),
        ("integer features", plain().with("node_features", rows("<u2", "5, 3", &FEATURES)), &[]),
        (
            "Fortran order",
            plain()
                .with("node_features", fortran("'<f4'", "5, 3", &items("<f4", &columns)))
                .with("edges", fortran("'<i8'", "4, 2", &items("<i8", &ends))),
            &[],
        ),
        ("float edges", plain().with("edges", rows("<f8", "4, 2", &EDGES)), &[]),
        ("unsigned edges", plain().with("edges", rows(">u4", "4, 2", &EDGES)), &[]),
        ("edges in both directions", with_edges("8, 2", &both), &[]),
        (
            "directed edges",
            with_edges("5, 2", &[&EDGES[..], &[3.0, 2.0]].concat()),
            &["3 edges go one way only"],
        ),
        (
            "duplicates and self-loops",
            with_edges("7, 2", &[&EDGES[..], &EDGES[..2], &EDGES[..2], &[4.0, 4.0]].concat()),
            &["2 duplicate edge entries", "1 self-loops"],
        ),
        (
            "directed, and a duplicate",
            with_edges("7, 2", &[&EDGES[..], &[1.0, 0.0, 1.0, 0.0, 3.0, 3.0]].concat()),
            &["1 duplicate edge entries", "1 self-loops", "3 edges go one way only"],
        ),
        (
            "masks of one dimension",
            plain()
                .with("train_masks", vector("|b1", &[1.0, 1.0, 0.0, 0.0, 0.0]))
                .with("val_masks", vector("|b1", &[0.0, 0.0, 1.0, 0.0, 0.0]))
                .with("test_masks", vector("|b1", &[0.0, 0.0, 0.0, 0.0, 1.0])),
            &[],
        ),
        (
            "nodes in place of masks",
            plain()
                .without("train_")
                .without("val_")
                .without("test_")
                .with("train_idx", vector("<i8", &[0.0, 1.0]))
                .with("val_idx", vector("<i8", &[2.0]))
                .with("test_idx", vector("<i8", &[4.0])),
            &[],
        ),
        (
            "more members",
            plain().with("year", vector("<i8", &[1999.0])),
            &["members not used: year"],
        ),
    ]
}

#[test]
fn the_layout_is_read_as_the_same_dataset() {
    for (name, arrays, notes) in variations() {
        for bytes in [arrays.stored(), arrays.deflated()] {
            let dataset = read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_same(name, &dataset);
            let found = dataset.notes();
            assert_eq!(found.len(), notes.len(), "{name}: {found:?}");
            for (found, note) in found.iter().zip(notes) {
                assert!(found.contains(note), "{name}: {found}");
            }
            let again = npz::from_bytes(&npz::to_bytes(&dataset), "again", &Context::default());
            assert_same(name, &again.unwrap());
        }
    }
}

/// `tests/golden/make_npz.py`.
#[test]
fn an_archive_of_numpy_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/npz/heterophilous.npz");
    let dataset = read(&fs::read(path).unwrap()).unwrap();
    assert_same("NumPy", &dataset);
    let parts: Vec<_> = dataset.splits().iter().map(|s| s.parts().map(|(_, p)| p)).collect();
    let expected: [[&[usize]; 3]; 3] =
        [[&[0, 1], &[2], &[4]], [&[2, 4], &[0], &[1]], [&[1], &[], &[0, 3]]];
    assert_eq!(parts, expected);
}

#[test]
fn graphs_without_edges_or_splits_are_read() {
    let dataset = read(&plain().with("edges", array("'<i8'", "0, 2", &[])).stored()).unwrap();
    assert_eq!((dataset.graph().nodes(), dataset.graph().edges()), (5, 0));
    assert_eq!(dataset.notes(), ["member edges has no edges; every node stands alone"]);
    let bare = plain().without("train_").without("val_").without("test_");
    assert_eq!(read(&bare.stored()).unwrap().splits(), []);
    let all = vector("<i8", &[-1.0; 5]);
    let dataset = read(&plain().with("node_labels", all).stored()).unwrap();
    assert_eq!(dataset.labels().labelled(), [0; 0]);
}

/// Members of the other layout decide: an archive of ours may have more in it.
#[test]
fn an_adjacency_goes_before_an_edge_list() {
    let arrays = Arrays::small().with("edges", rows("<i8", "1, 2", &[0.0, 4.0]));
    let dataset = read(&arrays.stored()).unwrap();
    assert_eq!(dataset.graph(), small().graph());
    assert_eq!(dataset.notes(), ["members not used: edges"]);
}

#[test]
fn features_are_held_as_their_density_asks() {
    let dense = read(&plain().with("node_features", rows("<f4", "5, 1", &[1.0; 5])).stored());
    assert!(matches!(dense.unwrap().features(), Features::Dense(_)));
    let mut values = vec![0.0; 5 * 40];
    values[13] = 2.0;
    let sparse = read(&plain().with("node_features", rows("<f4", "5, 40", &values)).stored());
    assert!(matches!(sparse.unwrap().features(), Features::Sparse(m) if m.nnz() == 1));
}

#[test]
fn bad_members_are_named_with_the_place_and_the_value() {
    let edges = |descr: &str, shape: &str, values: &[f64]| {
        plain().with("edges", rows(descr, shape, values))
    };
    let with_end = |descr: &str, end: f64| {
        let mut ends = EDGES;
        ends[5] = end;
        edges(descr, "4, 2", &ends)
    };
    let features = |descr: &str, shape: &str, values: &[f64]| {
        plain().with("node_features", rows(descr, shape, values))
    };
    let with_feature = |value: f64| {
        let mut values = FEATURES;
        values[4] = value;
        features("<f8", "5, 3", &values)
    };
    let labels = |values: &[f64]| plain().with("node_labels", vector("<f8", values));
    for (name, arrays, fragments) in [
        ("no edges", plain().without("edges"), &["edges is missing"][..]),
        ("no labels", plain().without("node_labels"), &["node_labels is missing"]),
        ("no test part", plain().without("test_"), &["test_masks is missing"]),
        ("past the last node", with_end("<i8", 5.0), &["edges", "row 2", "node 5", "0 to 4"]),
        ("negative end", with_end("<i8", -1.0), &["edges", "row 2", "node -1"]),
        ("over 32 bits", with_end("<i8", 4294967297.0), &["edges", "row 2", "4294967297"]),
        ("half an end", with_end("<f8", 1.5), &["edges", "entry 5", "whole numbers"]),
        ("NaN end", with_end("<f4", f64::NAN), &["edges", "entry 5", "whole numbers"]),
        ("three columns", edges("<i8", "1, 3", &[0.0; 3]), &["edges", "[1, 3]", "two columns"]),
        ("edge index", edges("<i8", "2, 4", &EDGES), &["edges", "[2, 4]", "two columns"]),
        ("flat edges", edges("<i8", "8,", &EDGES), &["edges", "[8]", "two columns"]),
        ("pickled edges", plain().with("edges", array("'|O'", "4, 2", b"")), &["edges", "pickled"]),
        ("NaN feature", with_feature(f64::NAN), &["node_features", "row 1, column 1", "NaN"]),
        ("infinite feature", with_feature(f64::INFINITY), &["node_features", "inf"]),
        ("feature too large", with_feature(1e39), &["node_features", "row 1, column 1"]),
        ("flat features", features("<f4", "15,", &FEATURES), &["node_features", "[15]"]),
        ("no columns", features("<f4", "5, 0", &[]), &["node_features", "5 rows and 0 columns"]),
        ("no nodes", features("<f4", "0, 3", &[]), &["node_features", "0 rows and 3 columns"]),
        (
            "text for features",
            plain().with("node_features", array("'<U1'", "1, 1", &[97, 0, 0, 0])),
            &["node_features", "text"],
        ),
        ("too few labels", labels(&[0.0; 4]), &["node_labels", "expected 5, found 4"]),
        ("label below -1", labels(&[0.0, 1.0, -2.0, 0.0, 0.0]), &["node_labels", "label -2"]),
        ("half a label", labels(&[0.5; 5]), &["node_labels", "whole numbers"]),
        (
            "labels of three dimensions",
            plain().with("node_labels", rows("<i8", "5, 1, 1", &LABELS)),
            &["node_labels", "[5, 1, 1]"],
        ),
        (
            "overlapping masks",
            plain().with("test_masks", rows("|b1", "1, 5", &[0.0, 1.0, 0.0, 0.0, 1.0])),
            &["train_masks", "node 1", "training", "test"],
        ),
    ] {
        assert_says(name, &arrays.stored(), fragments);
    }
}

/// A deflated archive of a few kilobytes claims tens of millions of nodes.
#[test]
fn nodes_that_the_bytes_do_not_justify_are_refused() {
    let nodes = 60_000_000;
    let features = array("'|b1'", &format!("{nodes}, 1"), &vec![0; nodes]);
    let archive = plain().with("node_features", features).deflated();
    assert!(archive.len() < 200_000);
    let asked = allocation::bytes_asked_for(|| {
        assert_says("bomb", &archive, &["node_features", "uncompressed"]);
    });
    assert!(asked < 3 * nodes, "{asked} bytes");
}

#[test]
fn an_archive_that_is_cut_anywhere_is_refused() {
    let bytes = plain().deflated();
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "cut at {length}");
    }
}

/// A published archive beside the checkout or in `GFGCN_DATA`; `None`, said aloud, without.
fn published(name: &str) -> Option<Dataset> {
    let path = super::published::published(&format!("{name}.npz"))?;
    Some(npz::read(&path, name, &Context::default()).unwrap())
}

/// Counted with NumPy; nodes, edges and classes are those.
#[test]
fn the_published_archives_have_the_sizes_they_should() {
    let directed = |count: &str| {
        let one_way = format!(
            "{count} edges go one way only; they are used either way (--directed keeps directions)"
        );
        vec!["50 self-loops dropped (the propagation adds its own)".to_owned(), one_way]
    };
    for (name, nodes, edges, features, classes, first, notes) in [
        ("texas", 183, 279, 1703, 5, [87, 59, 37], vec![]),
        ("cornell", 183, 277, 1703, 5, [87, 59, 37], vec![]),
        ("chameleon_filtered", 890, 8854, 2325, 5, [409, 287, 194], vec![]),
        ("chameleon_filtered_directed", 890, 8854, 2325, 5, [409, 287, 194], directed("4174")),
        ("chameleon_directed", 2277, 31371, 2325, 5, [1092, 729, 456], directed("26691")),
        ("actor", 7600, 26659, 932, 5, [3648, 2432, 1520], vec![]),
        ("minesweeper", 10000, 39402, 7, 2, [5000, 2500, 2500], vec![]),
    ] {
        let Some(dataset) = published(name) else { continue };
        assert_eq!((dataset.nodes(), dataset.graph().edges()), (nodes, edges), "{name}");
        assert_eq!(dataset.features().cols(), features, "{name}");
        assert!(matches!(dataset.features(), Features::Sparse(_)), "{name}");
        assert_eq!(dataset.labels().classes().len(), classes, "{name}");
        assert_eq!(dataset.labels().labelled().len(), nodes, "{name}");
        assert_eq!(dataset.notes(), notes, "{name}");
        assert_eq!(dataset.splits().len(), 10, "{name}");
        let parts = dataset.split().unwrap().parts().map(|(_, part)| part.len());
        assert_eq!(parts, first, "{name}");
        for split in dataset.splits() {
            let covered: usize = split.parts().iter().map(|(_, part)| part.len()).sum();
            assert_eq!(covered, nodes, "{name}: every node is in a part");
        }
        let again = npz::from_bytes(&npz::to_bytes(&dataset), name, &Context::default()).unwrap();
        assert_eq!(again.fingerprint(), dataset.fingerprint(), "{name}");
        assert_eq!(again.splits(), dataset.splits(), "{name}");
    }
}
