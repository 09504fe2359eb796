//! Bad input: the message names the file, the place and the value.

use super::{allocation, assert_says, folder, golden_path, read, read_file};
use std::fs;

#[test]
fn bad_documents_are_refused_with_the_place() {
    let graphml = |body: &str| {
        format!(
            "<graphml><key id=\"k\" for=\"node\" attr.name=\"x\"/><graph>{body}</graph></graphml>"
        )
    };
    let deep = format!("<graphml>{}", "<a>".repeat(100));
    let cases = [
        ("empty.graphml", String::new(), vec!["no <graph>"]),
        ("no.graphml", "<svg/>".into(), vec!["no <graph>"]),
        ("text.graphml", "hello".into(), vec!["outside"]),
        ("deep.graphml", deep, vec!["64 elements deep"]),
        ("entity.graphml", graphml("<node id=\"a\"><data key=\"k\">&lol;</data></node>"), vec!["&lol;", "byte"]),
        ("attribute.graphml", graphml("<node id=\"&lol;\"/>"), vec!["lol"]),
        ("no_id.graphml", graphml("<node/>"), vec!["<node>", "no attribute id"]),
        ("key.graphml", graphml("<node id=\"a\"><data key=\"z\">1</data></node>"), vec!["no key \"z\""]),
        ("twice.graphml", graphml("<node id=\"a\"/><node id=\"a\"/>"), vec!["node 2", "\"a\"", "node 1"]),
        ("unknown.graphml", graphml("<node id=\"a\"/><edge source=\"a\" target=\"b\"/>"), vec!["edge 1", "\"b\""]),
        ("hyper.graphml", graphml("<node id=\"a\"/><hyperedge/>"), vec!["<hyperedge>"]),
        ("nested.graphml", graphml("<node id=\"a\"><graph/></node>"), vec!["more than one <graph>"]),
        ("mixed.graphml", graphml("<node id=\"a\"/><edge source=\"a\" target=\"a\" directed=\"false\"/>"), vec!["mixed directed"]),
        ("latin.graphml", "<?xml version='1.0' encoding='latin-1'?><graphml/>".into(), vec!["latin-1", "UTF-8"]),
        ("none.graphml", graphml(""), vec!["no nodes"]),
        ("ends.gexf", "<gexf><graph><nodes><node id=\"a\"/></wrong>".into(), vec!["ends.gexf", "XML"]),
        ("type.gexf", "<gexf><graph defaultedgetype=\"both\"/></gexf>".into(), vec!["\"both\""]),
        ("undeclared.gexf", "<gexf><graph><nodes><node id=\"a\"><attvalue for=\"7\" value=\"1\"/></node></nodes></graph></gexf>".into(), vec!["\"7\"", "not declared"]),
        ("list.json", "[]".into(), vec!["line 1", "nodes and links"]),
        ("lacks.json", "{\"nodes\": []}".into(), vec!["links (or edges)"]),
        ("twice.json", "{\"nodes\": [], \"nodes\": []}".into(), vec!["\"nodes\" is there twice"]),
        ("end.json", "{\"nodes\": [{\"id\": 1}], \"links\": [{\"source\": null, \"target\": 1}]}".into(), vec!["edge 1", "source"]),
        ("open.json", "{\"nodes\": [{\"id\": 1}], \"links\": [{\"target\": 1}]}".into(), vec!["edge 1", "\"source\"", "empty"]),
        ("deep.json", "[".repeat(10_000), vec!["deep.json", "line 1"]),
        ("deep_inside.json", format!("{{\"x\": {}", "[".repeat(10_000)), vec!["EOF while parsing"]),
        ("weight.json", "{\"nodes\": [{\"id\": 1}, {\"id\": 2}], \"links\": [{\"source\": 1, \"target\": 2, \"weight\": -1}]}".into(), vec!["edge 1", "negative"]),
        ("twice_x.json", "{\"nodes\": [{\"id\": 1, \"x\": 1, \"x\": 2}], \"links\": []}".into(), vec!["node 1", "two values of \"x\""]),
    ];
    for (name, text, mut fragments) in cases {
        fragments.push(name);
        assert_says(name, read_file(name, text), &fragments);
    }
    allocation::assert_modest();
}

/// Eight megabytes in one tag are no reason to hold more, and a bomb is refused.
#[test]
fn long_texts_are_bounded() {
    let long = format!("{{\"nodes\": [{{\"id\": \"{}\"}}], \"links\": []}}", "x".repeat(65 << 20));
    assert_says("long", read_file("long.json", long), &["longer than 64 MiB"]);
    let long = format!("<graphml><graph><node id=\"{}\"/>", "x".repeat(65 << 20));
    assert_says("long", read_file("long.graphml", long), &["longer than 64 MiB"]);
}

#[test]
fn bad_matlab_files_are_refused() {
    let whole = fs::read(golden_path("facebook100.mat")).unwrap();
    let changed = |at: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    assert_says("hdf5", read_file("a.mat", b"\x89HDF\r\n\x1a\n"), &["a.mat", "7.3", "-v7"]);
    assert_says("short", read_file("a.mat", b"MATLAB 5.0"), &["a.mat", "shorter"]);
    assert_says("version", read_file("a.mat", changed(124, b"\x07\x07")), &["version"]);
    assert_says("length", read_file("a.mat", changed(132, &[0xff; 4])), &["cut off"]);
    assert_says("name", read_file("a.mat", changed(176, b"Z\0\0\0")), &["a.mat"]);
    assert_says("none", read_file("a.mat", &whole[..128]), &["no graph", "network or A"]);
    allocation::assert_modest();
}

#[test]
fn bad_collections_are_refused() {
    let edges = ("x_edges.csv", "id_1,id_2\n0,1\n");
    let target = ("x_target.csv", "id,target\n0,a\n1,b\n");
    type Case = (&'static str, Vec<(&'static str, &'static str)>, &'static [&'static str]);
    let cases: [Case; 9] = [
        (
            "feature of no node",
            vec![edges, target, ("x_features.json", "{\"7\": [1]}")],
            &["features.json", "\"7\""],
        ),
        (
            "twice",
            vec![edges, target, ("x_features.json", "{\"0\": [1], \"0\": []}")],
            &["\"0\" is there twice"],
        ),
        (
            "nested",
            vec![edges, target, ("x_features.json", "{\"0\": [[1]]}")],
            &["neither a number nor text"],
        ),
        ("nothing", vec![edges, target, ("x_features.json", "{}")], &["lists no features"]),
        (
            "no label",
            vec![edges, ("x_target.csv", "id,other\n0,a\n")],
            &["x_target.csv", "--label-column"],
        ),
        (
            "edge of no node",
            vec![("x_edges.csv", "id_1,id_2\n0,5\n"), target],
            &["x_edges.csv", "line 2", "\"5\""],
        ),
        ("two", vec![edges, target, ("y_edges.csv", ""), ("y_target.csv", "")], &["2 datasets"]),
        (
            "two ids",
            vec![("n.csv", "a:ID,b:ID\n1,2\n"), ("r.csv", ":START_ID,:END_ID\n1,1\n")],
            &["n.csv", "one column :ID"],
        ),
        (
            "no end",
            vec![("n.csv", "a:ID\n1\n"), ("r.csv", ":START_ID,:END_ID\n1,\n")],
            &["r.csv", "line 2", "end"],
        ),
    ];
    for (name, files, fragments) in cases {
        assert_says(name, read(folder(&files).path()), fragments);
    }
    let ogb = |edge: &str, label: &str, count: &str| {
        let folder = folder(&[
            ("raw/edge.csv", edge),
            ("raw/node-label.csv", label),
            ("raw/num-node-list.csv", count),
        ]);
        read(folder.path())
    };
    assert!(ogb("0,1\n", "0\n1\n", "2\n").is_ok());
    assert_says("counts", ogb("0,1\n", "0\n1\n", "3\n"), &["3 and of 2 nodes"]);
    assert_says("range", ogb("0,2\n", "0\n1\n", "2\n"), &["edge.csv", "line 1", "\"2\"", "0 to 1"]);
    assert_says("half", ogb("0,1\n", "0,1\n0,2\n", "2\n"), &["line 2", "\"2\"", "0 or 1"]);
    assert_says("many", ogb("0,1\n", "", "9999999999\n"), &["is empty"]);
}

#[test]
fn bad_arrays_of_edges_are_refused() {
    let header = |shape: &str, kind: &str| {
        let mut bytes = b"\x93NUMPY\x01\0\x76\0".to_vec();
        bytes.extend(
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}").bytes(),
        );
        bytes.resize(127, b' ');
        bytes.push(b'\n');
        bytes
    };
    let array = |shape: &str, numbers: &[i64]| {
        let mut bytes = header(shape, "<i8");
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        read_file("e.npy", bytes)
    };
    assert!(array("3, 2", &[0, 1, 1, 2, 2, 3]).is_ok());
    assert_says("square", array("2, 2", &[0, 1, 1, 2]), &["[2, 2]", "rows or by columns"]);
    assert_says("shape", array("3, 3", &[0; 9]), &["[3, 3]"]);
    assert_says("negative", array("3, 2", &[0, 1, -1, 2, 2, 3]), &["node -1"]);
    assert_says("far", array("3, 2", &[0, 1, 1 << 40, 2, 2, 3]), &["1099511627776"]);
    assert_says("none", array("0, 2", &[]), &["no edges"]);
    allocation::assert_modest();
}

#[test]
fn a_path_that_is_nothing_known_says_what_is() {
    assert_says("file", read_file("notes.docx", "x"), &["notes.docx", ".graphml", "--edges"]);
    assert_says(
        "folder",
        read(folder(&[("readme.md", "x")]).path()),
        &["edges.csv", "OGB", "MUSAE", "Neo4j"],
    );
}
