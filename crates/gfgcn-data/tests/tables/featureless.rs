//! Nodes without features: a list of them, or those that edges name.

use super::{assert_says, folder, read};
use gfgcn::context::Context;
use gfgcn_data::TableFiles;
use std::fs;

const NOTE: &str = "there are no features; only the graph tells nodes apart";
const EDGES: (&str, &str) = ("edges.csv", "source,target\n10,9\nb,10\n");
const LABELS: (&str, &str) = ("labels.csv", "id,label\n9,x\nb,y\n");

#[test]
fn nodes_are_those_that_edges_name_in_the_order_of_their_ids() {
    let dataset = read(folder(&[EDGES, LABELS]).path()).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["10", "9", "b"]);
    assert!(dataset.features().is_empty());
    assert_eq!(dataset.graph().neighbours(0), [1, 2]);
    assert_eq!((dataset.labels().name(1), dataset.labels().name(2)), (Some("x"), Some("y")));
    assert_eq!(dataset.notes(), [NOTE]);
    let turned = [("edges.csv", "u,v\nb,10\n10,9\n"), LABELS];
    assert_eq!(read(folder(&turned).path()).unwrap(), dataset);
    let numbers = [("edges.csv", "2,10\n10,1\n")];
    let numbers = read(folder(&numbers).path()).unwrap();
    assert_eq!(numbers.node_ids().unwrap(), ["1", "2", "10"]);
    assert_eq!(numbers.graph().neighbours(2), [0, 1]);
}

#[test]
fn a_list_of_nodes_knows_those_without_edges() {
    for list in ["id\nb\nlonely\n9\n10\n", "b\nlonely\n9\n10\n", "node\r\nb\r\nlonely\r\n9\r\n10"] {
        let files = [EDGES, LABELS, ("nodes.csv", list)];
        let dataset = read(folder(&files).path()).unwrap();
        assert_eq!(dataset.node_ids().unwrap(), ["b", "lonely", "9", "10"]);
        assert_eq!((dataset.graph().degree(1), dataset.graph().edges()), (0, 2));
    }
    let features = ("features.csv", "id,x\n9,1\n10,2\nb,3\n");
    let both = [EDGES, features, ("nodes.csv", "id\nother\n")];
    assert_eq!(read(folder(&both).path()).unwrap().nodes(), 3, "features say it all");
}

#[test]
fn a_matrix_of_edges_has_numbered_nodes() {
    let matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 1\n3 2\n";
    let files = [("edges.mtx", matrix), ("labels.csv", "id,label\n3,x\n")];
    let dataset = read(folder(&files).path()).unwrap();
    assert_eq!((dataset.nodes(), dataset.node_ids()), (4, None));
    assert_eq!(dataset.labels().name(3), Some("x"));
    let several = [("edges_a.mtx", matrix), ("edges_b.csv", "0,3\n")];
    assert_eq!(read(folder(&several).path()).unwrap().graph().edges(), 2);
}

#[test]
fn what_is_unclear_is_refused() {
    let refused = |name: &str, files: &[(&str, &str)], parts: &[&str]| {
        assert_says(name, read(folder(files).path()), parts);
    };
    let unknown = [EDGES, ("labels.csv", "id,label\n9,x\nzz,y\n")];
    refused("label", &unknown, &["labels.csv", "line 3", "\"zz\"", "edges.csv", "nodes.csv"]);
    let unknown = [EDGES, ("split.csv", "id,split\n9,train\nzz,test\n")];
    refused("split", &unknown, &["split.csv", "line 3", "\"zz\"", "nodes.csv"]);
    let unlisted = [EDGES, ("nodes.csv", "id\n9\n10\n")];
    refused("not in the list", &unlisted, &["edges.csv", "line 3", "\"b\"", "nodes.csv"]);
    let header = [("edges.csv", "paper,cites\na,b\n")];
    refused("header?", &header, &["line 1", "\"paper\"", "source,target"]);
    let twice = [EDGES, ("nodes.csv", "id\n9\n10\nb\n9\n")];
    refused("twice", &twice, &["nodes.csv", "line 5", "\"9\"", "line 2"]);
    refused("empty list", &[EDGES, ("nodes.csv", "id\n")], &["nodes.csv", "no nodes"]);
    refused("empty file", &[EDGES, ("nodes.csv", "")], &["nodes.csv", "empty"]);
    let wide = [EDGES, ("nodes.csv", "id,x\n9,1\n10,2\nb,3\n")];
    refused("features?", &wide, &["nodes.csv", "columns is 2", "features"]);
    refused("no edges", &[("edges.csv", "source,target\n")], &["edges.csv", "no nodes"]);
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n3 2\n";
    let mixed = [("edges_a.csv", "0,1\n"), ("edges_b.mtx", matrix)];
    refused("ids and none", &mixed, &["edges_b.mtx", "3 rows", "nodes.csv"]);
    let far = "%%MatrixMarket matrix coordinate pattern general\n4000000000 4000000000 0\n";
    refused("far too many", &[("edges.mtx", far)], &["edges.mtx", "far more"]);
    let folder = folder(&[EDGES]);
    let path = |name: &str| folder.path().join(name);
    let files = TableFiles::new(path("edges.csv"), path("features.csv"));
    let error = files.read("test", &Context::default()).unwrap_err().to_string();
    assert!(error.contains("features.csv"), "one that is named has to be there: {error}");
    fs::write(path("features.csv"), "id,x\n9,1\n10,2\nb,3\n").unwrap();
    fs::write(path("list.csv"), "id\n9\n10\nb\n").unwrap();
    let files = TableFiles { nodes: Some(path("list.csv")), ..files };
    let error = files.read("test", &Context::default()).unwrap_err().to_string();
    assert!(error.contains("no other list"), "{error}");
}
