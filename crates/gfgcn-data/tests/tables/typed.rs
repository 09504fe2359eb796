//! Edges of several types: a column, or a file for each.

use super::{KEPT, assert_says, folder, read, read_as, small_with};
use gfgcn::data::Dataset;

const FEATURES: (&str, &str) = ("features.csv", "id,x\na,1\nb,2\nc,3\n");
const TYPED: &str = "source,target,type\na,b,cites\nb,c,likes\nb,c,cites\nc,b,likes\na,c,likes\n";

type Arcs = Vec<(usize, usize, f32)>;

fn relations(dataset: &Dataset) -> Vec<(&str, Arcs)> {
    let relations = dataset.graph().relations().iter();
    relations.map(|r| (r.name(), r.graph().arc_list().collect())).collect()
}

#[test]
fn every_type_is_a_relation_and_all_are_the_graph() {
    let files = [FEATURES, ("edges.csv", TYPED)];
    let dataset = read_as(folder(&files).path(), KEPT).unwrap();
    let one = |from, to| (from, to, 1.0);
    let cites = ("cites", vec![one(0, 1), one(1, 2)]);
    let likes = ("likes", vec![one(0, 2), one(1, 2), one(2, 1)]);
    assert_eq!(relations(&dataset), [cites, likes]);
    let all: Arcs = vec![one(0, 1), one(0, 2), one(1, 2), one(2, 1)];
    assert_eq!(dataset.graph().arc_list().collect::<Arcs>(), all);
    assert_eq!(dataset.notes(), [""; 0], "edges of two types are no duplicates");
    let undirected = read(folder(&files).path()).unwrap();
    assert_eq!(undirected.graph().relation("likes").unwrap().edges(), 2);
    assert_eq!(undirected.graph().edges(), 3);
    let note = "3 edges go one way only; they are used either way (--directed keeps directions)";
    assert_eq!(undirected.notes(), [note], "one of four goes both ways");
}

#[test]
fn neither_rows_nor_columns_nor_files_have_an_order() {
    let files = [FEATURES, ("edges.csv", TYPED)];
    let expected = read_as(folder(&files).path(), KEPT).unwrap();
    let turned =
        "src,dst,w,Edge_Type\na,c,1,likes\nc,b,1,likes\nb,c,1,cites\nb,c,1,likes\na,b,1,cites\n";
    let columns = [FEATURES, ("edges.csv", turned)];
    let parts = [
        FEATURES,
        ("edges_likes.tsv", "c\tb\na\tc\nb\tc\n"),
        ("edges_cites.csv", "source,target,weight\nb,c,1\na,b,1\n"),
    ];
    for (name, folder) in [("columns", folder(&columns)), ("files", folder(&parts))] {
        let dataset = read_as(folder.path(), KEPT).unwrap();
        assert_eq!(dataset, expected, "{name}");
    }
    let beside = [FEATURES, ("edges_cites.csv", "a,b\n"), ("edges.mtx", MATRIX)];
    let dataset = read(folder(&beside).path()).unwrap();
    assert_eq!(dataset.graph().relation("edges").unwrap().neighbours(2), [1]);
    assert_eq!(dataset.graph().relation("cites").unwrap().edges(), 1);
}

const MATRIX: &str = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 2\n";

#[test]
fn a_row_without_ends_declares_its_type() {
    let files = [FEATURES, ("edges.csv", "source,target,type\na,b,x\n,,y\n")];
    let dataset = read(folder(&files).path()).unwrap();
    let edges = |name: &str| dataset.graph().relation(name).unwrap().edges();
    assert_eq!((edges("x"), edges("y")), (1, 0));
}

/// As Gephi writes it.
#[test]
fn a_type_may_say_whether_edges_are_directed() {
    for (word, directed) in [("Directed", true), ("Undirected", false)] {
        let edges = format!("Source,Target,Type\na,b,{word}\nc,b,{word}\n");
        let dataset = read(folder(&[FEATURES, ("edges.csv", &edges)]).path()).unwrap();
        assert_eq!(dataset.graph().is_directed(), directed);
        assert!(dataset.graph().relations().is_empty());
    }
    let mixed = [FEATURES, ("edges.csv", "source,target,type\na,b,Directed\na,c,Undirected\n")];
    let parts = ["mixed directed flags", "line 2 of edges.csv", "line 3 of edges.csv"];
    assert_says("mixed", read(folder(&mixed).path()), &parts);
}

#[test]
fn bad_types_are_refused() {
    let many = |types: usize| {
        let rows = (0..types).map(|k| format!("a,b,t{k}\n"));
        format!("source,target,type\n{}", rows.collect::<String>())
    };
    assert_eq!(
        read(small_with(&[("edges.csv", many(64))]).path()).unwrap().graph().relations().len(),
        64
    );
    let parts = ["edges.csv", "line 66", "\"type\"", "64", "\"t64\"", "meant"];
    assert_says("65 types", read(small_with(&[("edges.csv", many(65))]).path()), &parts);
    for (name, edges, parts) in [
        ("empty type", "source,target,type\na,b,x\na,c,\n", &["line 3", "\"type\"", "empty"][..]),
        ("one end", "source,target,type\n,b,x\n", &["line 2", "\"source\"", "two ends"]),
        ("types twice", "source,target,type,relation\na,b,x,x\n", &["line 1", "columns 3 and 4"]),
        ("no header", "a,b,1,x\n", &["line 1", "columns is 4", "header"]),
        ("a word, no header", "a,b,cites\n", &["line 1", "\"cites\"", "not a number"]),
    ] {
        assert_says(name, read(small_with(&[("edges.csv", edges)]).path()), parts);
    }
    let refused = |name: &str, files: &[(&str, &str)], parts: &[&str]| {
        let files = [&[FEATURES][..], files].concat();
        assert_says(name, read(folder(&files).path()), parts);
    };
    let one = [("edges_a.csv", "a,b\n"), ("edges_b.csv", TYPED)];
    refused("types in one file", &one, &["edges_b.csv", "column of types", "\"b\""]);
    let beside = [("edges_a.csv", "a,b\n"), ("edges.csv", TYPED)];
    refused("types beside a file of one", &beside, &["edges.csv", "column of types"]);
    let twice = [("edges_a.csv", "a,b\n"), ("edges_a.tsv", "a\tb\n")];
    refused("two files for a type", &twice, &["edges_a.csv", "edges_a.tsv", "remove or rename"]);
    let flags = [
        ("edges_a.csv", "source,target,directed\na,b,true\n"),
        ("edges_b.csv", "source,target,directed\na,b,false\n"),
    ];
    let parts = ["mixed directed flags", "line 2 of edges_a.csv", "line 2 of edges_b.csv"];
    refused("flags of two files", &flags, &parts);
    let files: Vec<(String, &str)> = (0..65).map(|k| (format!("edges_{k}.csv"), "a,b\n")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    refused("65 files", &files, &["65 types of edges", "64"]);
}
