//! The raw Planetoid folder: the golden folder of `golden/make_planetoid.py`, and files that do
//! not fit each other.

use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn_data::planetoid::{Files, from_bytes, names_in, read};
use std::collections::BTreeMap;
use std::path::PathBuf;

const NAMES: [&str; 5] = ["protocol0", "protocol2", "protocol4", "protocol5", "python2"];

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/planetoid")
}

/// The files of a golden dataset by part, to be tampered with.
fn parts(name: &str) -> BTreeMap<&'static str, Vec<u8>> {
    ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"]
        .into_iter()
        .map(|part| (part, std::fs::read(golden().join(format!("ind.{name}.{part}"))).unwrap()))
        .collect()
}

fn assemble(parts: &BTreeMap<&'static str, Vec<u8>>) -> Result<Dataset, String> {
    let files = Files {
        x: &parts["x"],
        y: &parts["y"],
        tx: &parts["tx"],
        ty: &parts["ty"],
        allx: &parts["allx"],
        ally: &parts["ally"],
        graph: &parts["graph"],
        test_index: &parts["test.index"],
    };
    from_bytes("tiny", &files, &Context::default()).map_err(|error| error.to_string())
}

/// The error for the Python 2 folder with one file replaced.
fn refused(part: &'static str, content: &[u8]) -> String {
    let mut parts = parts("python2");
    parts.insert(part, content.to_vec());
    assemble(&parts).expect_err("must be refused")
}

#[test]
fn names_are_those_with_a_graph() {
    assert_eq!(names_in(&golden()).unwrap(), NAMES);
    let error = names_in(&golden().join("nowhere")).unwrap_err();
    assert!(error.to_string().contains("nowhere: cannot read"), "{error}");
}

#[test]
fn every_way_of_pickling_gives_the_same_dataset() {
    let features: [&[(usize, f32)]; 12] = [
        &[(0, 1.0), (4, 0.5)],
        &[(1, 1.0)],
        &[(2, 1.0)],
        &[(0, 1.0), (1, 1.0)],
        &[],
        &[(1, 0.25), (3, 2.0)],
        &[(4, -1.5)],
        &[(2, 3.0)],
        &[(0, 1.0), (3, 1.0)],
        &[],
        &[(4, 1.0)],
        &[(1, 2.0)],
    ];
    let neighbours: [&[u32]; 12] =
        [&[1, 3], &[0, 2], &[1], &[0], &[5, 9], &[4], &[7], &[6], &[10, 11], &[4], &[8], &[8]];
    let labels = ["0", "1", "2", "0", "", "1", "2", "0", "1", "", "2", "1"];
    for name in NAMES {
        let dataset =
            read(&golden(), name, &Context::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(dataset.name(), name);
        assert_eq!((dataset.nodes(), dataset.features().cols()), (12, 5));
        assert_eq!(dataset.graph().edges(), 8);
        assert!(!dataset.graph().is_weighted());
        for node in 0..12 {
            let mut row = Vec::new();
            dataset.features().for_each_in_row(node, |column, value| row.push((column, value)));
            assert_eq!(row, features[node], "{name}, features of node {node}");
            assert_eq!(dataset.graph().neighbours(node), neighbours[node], "{name}, node {node}");
            assert_eq!(dataset.labels().name(node).unwrap_or(""), labels[node], "{name}, {node}");
        }
        let split = dataset.split().unwrap();
        assert_eq!(split.train(), &[0, 1, 2], "{name}");
        assert_eq!(split.validation(), &[3, 5, 6], "{name}");
        assert_eq!(split.test(), &[7, 8, 10, 11], "{name}");
        assert_eq!(
            dataset.notes(),
            &[
                "1 duplicate edge entries merged",
                "1 self-loops dropped (the propagation adds its own)",
                "1 edge goes one way only; it is used either way (--directed keeps directions)",
                "1 nodes are in the graph only; kept with zero features and no label",
                "1 nodes of the public split have no label; left out of it",
            ]
        );
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = read(&golden(), "nothing", &Context::default()).unwrap_err().to_string();
    assert!(error.contains("ind.nothing.x: cannot read"), "{error}");
}

#[test]
fn files_that_do_not_fit_each_other_are_named() {
    let of = |part| parts("python2")[part].clone();
    for (part, content, expected) in [
        ("y", of("ally"), "ind.tiny.y: rows (as many as in x): expected 3, found 7"),
        ("ally", of("ty"), "ind.tiny.ally: rows (as many as in allx): expected 7, found 4"),
        ("ty", of("y"), "ind.tiny.ty: rows (as many as in tx): expected 4, found 3"),
        ("x", of("y"), "ind.tiny.x: feature columns (as many as in allx): expected 5, found 3"),
        ("y", of("x"), "ind.tiny.y: expected a NumPy array, found a SciPy CSR matrix"),
        ("graph", of("y"), "ind.tiny.graph: expected a dict, found a NumPy array"),
        ("allx", of("graph"), "ind.tiny.allx: expected a NumPy array, found a dict of 12"),
    ] {
        assert_eq!(refused(part, &content), expected);
    }
    let mut other_training = parts("python2");
    other_training.insert("x", of("tx"));
    other_training.insert("y", of("ty"));
    let error = assemble(&other_training).unwrap_err();
    assert!(error.starts_with("ind.tiny.x: row 0 is not row 0 of allx"), "{error}");
}

#[test]
fn a_bad_test_index_names_the_line_or_the_node() {
    for (content, expected) in [
        ("10\n7\n11", "test.index: node numbers (one for each row of tx): expected 4, found 3"),
        ("10\n7\n1.5\n8", "test.index: line 3: \"1.5\" is not a node number"),
        ("10\n7\n-1\n8", "test.index: line 3: \"-1\" is not a node number"),
        ("10\n7\n99999999999999999999\n8", "test.index: line 3: \"9999"),
        ("10\n7\n10\n8", "test.index: node 10 is there twice"),
        ("10\n7\n3\n8", "test.index: node 3 is a test node, but the nodes 0 to 6 are in allx"),
        ("10\n7\n4294967295\n8", "test.index: node 4294967295 needs more than 32 bits"),
        ("10\n7\n18446744073709551615\n8", "needs more than 32 bits"),
        // Four billion nodes would be 32 GiB; the graph does not vouch for them.
        (
            "10\n7\n4000000000\n8",
            "graph: names 12 nodes, but test.index reaches to node 4000000000",
        ),
        ("10\n7\n9\n8", "node 11 is named, but allx and test.index give 11 nodes"),
    ] {
        let error = refused("test.index", content.as_bytes());
        assert!(error.contains(expected), "{error}");
    }
    let mut accepted = parts("python2");
    let plain = assemble(&accepted);
    for content in ["10\r\n7\r\n11\r\n8\r\n", "\u{feff}10\n7\n11\n8", "10\n 7\n11\n\n8\n\n"] {
        accepted.insert("test.index", content.into());
        assert_eq!(assemble(&accepted), plain);
    }
    assert!(refused("test.index", b"10\n7\n\xff\n8").contains("byte 5: not UTF-8"));
}

#[test]
fn labels_that_are_not_one_hot_are_refused() {
    // The payload of the Python 2 array stands before the final "tb.", four bytes per entry.
    let ally = &parts("python2")["ally"];
    let entry = |row: usize, class: usize| ally.len() - 3 - 4 * 3 * (7 - row) + 4 * class;
    let mut twice = ally.clone();
    twice[entry(5, 2)] = 1;
    let error = refused("ally", &twice);
    assert!(error.contains("ally: row 5 has a 1 in columns 1 and 2"), "{error}");
    let mut two = ally.clone();
    two[entry(6, 2)] = 2;
    let error = refused("ally", &two);
    assert!(error.contains("ally: row 6 has 2 in column 2"), "{error}");
    let mut other = ally.clone();
    other.swap(entry(1, 1), entry(1, 0));
    let error = refused("ally", &other);
    assert!(error.contains("y: row 1 is not row 1 of ally"), "{error}");
}

#[test]
fn a_graph_dict_is_checked_node_by_node() {
    for (graph, expected) in [
        (&b"}(K\x00]K\x0caK\x01]u."[..], "the neighbours of node 0: node 12 is named"),
        (b"}(K\x00]J\xff\xff\xff\xffaK\x01]u.", "the neighbours of node 0: node -1 is named"),
        (b"}(K\x0c]K\x01]u.", "graph: node 12 is named"),
        (b"}(K\x02]K\x02]u.", "graph: node 2 is there twice"),
        (b"}(K\x02K\x03K\x04]u.", "the neighbours of node 2: expected a list, found the integer 3"),
        (b"}(G\x3f\xf8\x00\x00\x00\x00\x00\x00]u.", "expected an integer, found the number 1.5"),
        (b"}(X\x01\x00\x00\x00a]u.", "expected an integer, found the string \"a\""),
        (b"}(K\x02]K\x03u.", "a dict has a key without a value"),
        (b"}.", "graph: names 0 nodes"),
    ] {
        let error = refused("graph", graph);
        assert!(error.contains(expected), "{error}");
    }
    let mut sparse = parts("python2");
    sparse.insert("graph", b"}K\x00]K\x09as.".to_vec());
    let notes = assemble(&sparse).unwrap().notes().join("; ");
    assert!(notes.contains("11 nodes are not in the graph file; kept without"), "{notes}");
}
