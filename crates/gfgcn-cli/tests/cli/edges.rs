//! Directed edges, edges of several types, and nodes without features.

use crate::sandbox::{Run, Sandbox};
use serde_json::{Value, json};
use std::fs;

/// Twelve nodes in two classes: those of the first point to hubs of their own, and so do those of the second.
fn write_graph(
    sandbox: &Sandbox,
    folder: &str,
    header: &str,
    row: impl Fn(usize, usize) -> String,
) {
    let mut edges = format!("{header}\n");
    let mut labels = "id,label\n".to_owned();
    for node in 0..12 {
        let class = node % 2;
        for hub in [class, class + 2, (node + 2) % 12] {
            if hub != node {
                edges += &row(node, hub);
            }
        }
        labels += &format!("n{node},{}\n", ["ants", "bees"][class]);
    }
    sandbox.write(&format!("{folder}/edges.csv"), &edges);
    sandbox.write(&format!("{folder}/labels.csv"), &labels);
}

fn plain(from: usize, to: usize) -> String {
    format!("n{from},n{to}\n")
}

fn typed(from: usize, to: usize) -> String {
    format!("n{from},n{to},{}\n", if to < 4 { "points" } else { "precedes" })
}

fn refused(run: Run, status: i32, parts: &[&str]) {
    assert_eq!(run.status, Some(status), "{run:?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part:?} is not in {}", run.stderr);
    }
}

#[test]
fn data_info_shows_directions_relations_and_missing_features() {
    let sandbox = Sandbox::new();
    write_graph(&sandbox, "plain", "source,target", plain);
    write_graph(&sandbox, "typed", "source,target,type", typed);
    let info = |arguments: &str| sandbox.json(&format!("data info {arguments}"));
    let undirected = info("plain");
    assert_eq!((&undirected["directed"], &undirected["features"]), (&json!(false), &json!(0)));
    assert_eq!(undirected["feature_density"], Value::Null);
    let directed = info("typed --directed");
    assert_eq!(directed["directed"], true);
    // Every row is an arc of its own but for those that a hub and a next node share.
    let rows: std::collections::BTreeSet<String> =
        sandbox.read("plain/edges.csv").lines().skip(1).map(str::to_owned).collect();
    assert_eq!(directed["arcs"], rows.len());
    let relations = directed["relations"].as_array().unwrap();
    let names: Vec<&Value> = relations.iter().map(|relation| &relation["relation"]).collect();
    assert_eq!(names, ["points", "precedes"]);
    let arcs = |k: usize| relations[k]["arcs"].as_u64().unwrap();
    assert_eq!(arcs(0) + arcs(1), rows.len() as u64);
    let text = sandbox.ok("data info typed --directed");
    for part in ["no features", "arcs)", "points: ", "precedes: "] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let note = sandbox.run("data info plain --directed");
    assert!(note.stderr.contains("there are no features"), "{note:?}");
}

#[test]
fn what_can_be_learnt_without_features_is() {
    let sandbox = Sandbox::new();
    write_graph(&sandbox, "plain", "source,target", plain);
    write_graph(&sandbox, "typed", "source,target,type", typed);
    sandbox.ok("fit typed --directed -o m.model");
    sandbox.ok("predict m.model typed --directed -o labels.csv");
    assert_eq!(sandbox.read("labels.csv").lines().count(), 13);
    sandbox.ok("tune typed");
    let report = sandbox.json("evaluate typed --models auto --ratio 1:0:1 --splits 2");
    assert_eq!(report["results"].as_array().unwrap().len(), 1, "{report}");
    for models in ["", "--models gcn", "--models auto,features"] {
        let run = sandbox.run(&format!("evaluate typed {models} --ratio 1:0:1"));
        refused(run, 3, &["no features", "--models auto"]);
    }
    let run = sandbox.run("fit typed --model gfsgc -o other.model");
    refused(run, 3, &["no features", "--models auto"]);
    let run = sandbox.run("fit --edges typed/edges.csv --features none.csv -o other.model");
    refused(run, 3, &["none.csv"]);
    // Whom a new node points to says something; who points to it does not. Directions are those of the training.
    let other = sandbox.read("typed/edges.csv") + "n12,n0,points\nn12,n2,points\n";
    sandbox.write("other/edges.csv", &other);
    let run = sandbox.run("predict m.model other -o other.csv");
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stderr.contains("1 nodes are new to the model"), "{run:?}");
    let predicted = sandbox.read("other.csv");
    assert!(predicted.lines().any(|line| line.starts_with("n12,ants,")), "{predicted}");
    let untyped = sandbox.run("predict m.model plain -o plain.csv");
    refused(untyped, 3, &["learnt from edges of type"]);
    let both_ways = |kind: &str| -> String {
        let pair = |node: usize| (format!("n{node}"), format!("n{}", node + 1));
        let rows = (0..11).map(pair).map(|(a, b)| format!("{a},{b},{kind}\n{b},{a},{kind}\n"));
        rows.collect()
    };
    let both_ways = both_ways("points") + &both_ways("precedes");
    sandbox.write("both/edges.csv", &format!("source,target,type\n{both_ways}"));
    let run = sandbox.run("predict m.model both -o both.csv");
    refused(run, 3, &["learnt from the directions of edges"]);
    sandbox.write("said/edges.csv", "source,target,directed\nn0,n1,false\n");
    refused(
        sandbox.run("predict m.model said -o said.csv"),
        3,
        &["mixed directed flags", "the model"],
    );
}

#[test]
fn edges_come_in_several_files_or_one() {
    let sandbox = Sandbox::new();
    write_graph(&sandbox, "typed", "source,target,type", typed);
    let table = sandbox.read("typed/edges.csv");
    for kind in ["points", "precedes"] {
        let rows = table.lines().filter_map(|row| row.strip_suffix(&format!(",{kind}")));
        let rows: Vec<&str> = std::iter::once("source,target").chain(rows).collect();
        sandbox.write(&format!("files/edges_{kind}.csv"), &(rows.join("\n") + "\n"));
    }
    fs::copy(sandbox.path("typed/labels.csv"), sandbox.path("files/labels.csv")).unwrap();
    let fingerprint = |arguments: &str| {
        sandbox.json(&format!("data info {arguments} --directed"))["fingerprint"].clone()
    };
    let expected = fingerprint("typed");
    assert_eq!(fingerprint("files"), expected);
    let named = "--edges precedes=files/edges_precedes.csv --edges points=files/edges_points.csv";
    assert_eq!(fingerprint(&format!("{named} --labels typed/labels.csv")), expected);
    let run = sandbox
        .run("data info --edges files/edges_points.csv --edges points=files/edges_precedes.csv");
    refused(run, 3, &["edges_points.csv", "NAME="]);
    let run = sandbox.run("data info --edges a=typed/edges.csv --edges b=files/edges_points.csv");
    refused(run, 3, &["typed/edges.csv", "column of types", "\"a\""]);
}

#[test]
fn conversions_keep_everything() {
    let sandbox = Sandbox::new();
    write_graph(&sandbox, "typed", "source,target,type", typed);
    sandbox.ok("data convert typed archive.npz --directed");
    sandbox.ok("data convert archive.npz tables");
    sandbox.ok("data convert tables again.npz");
    let info = |arguments: &str| {
        let mut info = sandbox.json(&format!("data info {arguments}"));
        // What was repaired is repaired in what is written.
        (info["dataset"], info["notes"]) = (Value::Null, Value::Null);
        info["read_as"] = Value::Null;
        info
    };
    let expected = info("typed --directed");
    assert_eq!(expected["directed"], true);
    for written in ["archive.npz", "tables", "again.npz"] {
        assert_eq!(info(written), expected, "{written}");
        assert_eq!(info(&format!("{written} --directed")), expected, "{written}");
    }
}

#[test]
fn unknown_relations_and_mixed_flags_are_refused() {
    let sandbox = Sandbox::new();
    write_graph(&sandbox, "typed", "source,target,type", typed);
    write_graph(&sandbox, "flagged", "source,target,directed", |from, to| {
        format!("n{from},n{to},false\n")
    });
    let run = sandbox.run("tune typed --normalization row:relation=likes");
    refused(run, 2, &["relation is likes", "points, precedes"]);
    let run = sandbox.run("data info flagged --directed");
    refused(run, 3, &["mixed directed flags", "edges.csv", "--directed"]);
    let run = sandbox.run("data convert flagged out.npz --directed");
    refused(run, 3, &["mixed directed flags"]);
    assert!(!sandbox.path("out.npz").exists());
    sandbox.ok("data synth -o made.npz --nodes 50 --edges 100 --features 4 --classes 2");
    let run = sandbox.run("data info made.npz --directed");
    refused(run, 3, &["mixed directed flags", "adj_symmetric"]);
}

#[test]
fn rows_of_edges_in_another_order_are_the_same_data() {
    let sandbox = Sandbox::new();
    write_graph(&sandbox, "typed", "source,target,type", typed);
    let fingerprint = || sandbox.json("data info typed --directed")["fingerprint"].clone();
    let expected = fingerprint();
    let table = sandbox.read("typed/edges.csv");
    let (header, rows) = table.split_once('\n').unwrap();
    let turned: Vec<&str> = rows.lines().rev().collect();
    sandbox.write("typed/edges.csv", &format!("{header}\n{}\n", turned.join("\n")));
    assert_eq!(fingerprint(), expected);
    sandbox.ok("fit typed --directed -o turned.model");
    sandbox.ok("predict turned.model typed --directed -o turned.csv");
    sandbox.write("typed/edges.csv", &table);
    sandbox.ok("fit typed --directed -o m.model");
    sandbox.ok("predict m.model typed --directed -o labels.csv");
    assert_eq!(sandbox.read("labels.csv"), sandbox.read("turned.csv"));
}

/// Real graphs without features, where they are there: roles of airports by who flies where.
#[test]
fn airports_have_roles() {
    for name in ["airports_brazil", "airports_europe"] {
        let Some(folder) = crate::published::published(name) else { continue };
        let sandbox = Sandbox::new();
        std::os::unix::fs::symlink(folder, sandbox.path("airports")).unwrap();
        let report = sandbox.json("evaluate airports --models auto --ratio 8:0:2 --splits 10");
        let accuracy = report["results"][0]["accuracy"]["mean"].as_f64().unwrap();
        assert!((30.0..=100.0).contains(&accuracy), "{name}: {accuracy}");
        sandbox.ok("fit airports -o m.model");
        sandbox.ok("predict m.model airports -o labels.csv");
    }
}

/// Directions tell more than their being forgotten, and both are said.
#[test]
fn published_directions_are_kept() {
    let Some(path) = crate::published::published("chameleon_directed.npz") else { return };
    let sandbox = Sandbox::new();
    std::os::unix::fs::symlink(path, sandbox.path("c.npz")).unwrap();
    let forgotten = sandbox.run("data info c.npz");
    assert!(forgotten.stderr.contains("edges go one way only"), "{forgotten:?}");
    let kept = sandbox.json("data info c.npz --directed");
    assert_eq!(kept["directed"], true);
    sandbox.ok("data convert c.npz tables --directed");
    let tables = sandbox.json("data info tables");
    assert_eq!(tables["fingerprint"], kept["fingerprint"]);
}
