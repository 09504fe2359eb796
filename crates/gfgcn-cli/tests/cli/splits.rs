//! Splits that come with the data: all of them are kept, shown and evaluated.

use crate::evaluate::without_seconds;
use crate::sandbox::{CLASSES, Run, Sandbox};
use serde_json::{Value, json};

const PARTS: [&str; 3] = ["train", "val", "test"];

/// The part of a node in a split: each class gives two training nodes, one or two for validation, and the rest for testing.
fn part(node: usize, split: usize) -> &'static str {
    PARTS[[0, 1, 2, 0, 2, 2, 1, 2][(node + split) % 8]]
}

/// Communities of which all nodes have a label, with three splits; and each split in a file of its own.
fn three_splits() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.communities("folder", 8);
    let nodes = || CLASSES.into_iter().flat_map(|class| (0..8).map(move |k| (class, k)));
    let labels: String = nodes().map(|(class, k)| format!("{class}-{k},{class}\n")).collect();
    sandbox.write("folder/labels.csv", &format!("id,label\n{labels}"));
    let rows: String = nodes()
        .map(|(c, k)| format!("{c}-{k},{},{},{}\n", part(k, 0), part(k, 1), part(k, 2)))
        .collect();
    sandbox.write("folder/split.csv", &format!("id,split,split_2,split_3\n{rows}"));
    for split in 0..3 {
        let rows: String = nodes().map(|(c, k)| format!("{c}-{k},{}\n", part(k, split))).collect();
        sandbox.write(&format!("{split}.csv"), &rows);
    }
    // Features that say too little, so that accuracies differ: digits of π and e, and of √2 and √3.
    let digits = |class: &str| match class == CLASSES[0] {
        true => ["31415926", "14142135"],
        false => ["27182818", "17320508"],
    };
    let features: String = nodes()
        .map(|(c, k)| (c, k, digits(c)))
        .map(|(c, k, [a, b])| format!("{c}-{k},{},{},1\n", &a[k..=k], &b[k..=k]))
        .collect();
    sandbox.write("folder/features.csv", &format!("id,legs,wings,one\n{features}"));
    sandbox
}

fn accuracy(report: &Value) -> f64 {
    report["results"][0]["accuracy"]["mean"].as_f64().unwrap()
}

#[test]
fn official_splits_are_all_run() {
    let sandbox = three_splits();
    let model = "--models features --lambda 0.001";
    let each = [0, 1, 2].map(|split| {
        accuracy(&sandbox.json(&format!("evaluate folder {model} --split {split}.csv")))
    });
    let report = sandbox.json(&format!("evaluate folder {model} --official-splits"));
    assert!(
        (accuracy(&report) - each.iter().sum::<f64>() / 3.0).abs() < 1e-9,
        "{each:?}: {report}"
    );
    assert!(each[1..].iter().any(|other| other != &each[0]), "nothing tells the splits apart");
    let protocol = &report["protocol"];
    assert_eq!((&protocol["split"], &protocol["splits"]), (&"official".into(), &3.into()));
    assert_eq!((&protocol["ratio"], &protocol["nodes"]), (&Value::Null, &"all nodes".into()));
    let text = sandbox.ok(&format!("evaluate folder {model} --official-splits"));
    assert!(text.contains("\n3 official splits; "), "{text}");
    let text = sandbox.ok(&format!("evaluate folder {model} --split folder/split.csv"));
    assert!(text.contains("\n3 given splits; "), "{text}");
    // The public split is the first.
    let public = sandbox.json(&format!("evaluate folder {model} --public-split"));
    assert_eq!(accuracy(&public), each[0]);
    let text = sandbox.ok("evaluate cora --models gfsgc --depths 2 --official-splits");
    assert!(text.contains("\n1 official split; "), "{text}");
}

#[test]
fn networks_run_once_on_each_official_split() {
    let sandbox = three_splits();
    let report = sandbox.json(
        "evaluate folder --models gcn --depths 2 --epochs 2 --official-splits --seed 4 --no-cache",
    );
    assert_eq!(report["results"][0]["trained"]["runs"], 3);
    assert_eq!(report["protocol"]["seed"], 4);
}

#[test]
fn conversions_keep_every_split() {
    let sandbox = three_splits();
    let parts = json!({"train": 4, "validation": 4, "test": 8});
    let original = sandbox.json("data info folder");
    assert_eq!(original["splits"], json!([parts, parts, parts]));
    assert_eq!(original["split"], parts);
    let text = sandbox.ok("data info folder");
    assert!(text.contains("3, each 4 train, 4 validation, 8 test"), "{text}");
    let evaluate = "--models features --lambda 0.001 --official-splits";
    let expected = sandbox.json(&format!("evaluate folder {evaluate}"));
    sandbox.ok("data convert folder a.npz");
    for format in ["csv", "tsv", "parquet"] {
        sandbox.ok(&format!("data convert a.npz {format} --format {format}"));
        sandbox.ok(&format!("data convert {format} {format}.npz"));
        for dataset in [format.to_owned(), format!("{format}.npz")] {
            let report = sandbox.json(&format!("evaluate {dataset} {evaluate}"));
            let (report, expected) = (without_seconds(report), without_seconds(expected.clone()));
            assert_eq!(report["results"], expected["results"], "{dataset}");
        }
    }
}

#[test]
fn one_split_is_needed_where_one_model_is_trained() {
    let sandbox = three_splits();
    let refused = |arguments: &str, status: i32, parts: &[&str]| {
        let run: Run = sandbox.run(arguments);
        assert_eq!(run.status, Some(status), "{arguments}: {run:?}");
        for part in parts {
            assert!(run.stderr.contains(part), "{arguments}: {part:?} is not in {}", run.stderr);
        }
    };
    for command in ["fit folder -o m --depth 2", "tune folder"] {
        refused(
            &format!("{command} --split folder/split.csv"),
            3,
            &["folder/split.csv", "has 3 splits, but one is needed"],
        );
    }
    sandbox.communities("bare", 5);
    refused("evaluate bare --official-splits", 3, &["bare comes without splits", "--split"]);
    for other in ["--public-split", "--split 0.csv", "--splits 3", "--ratio 1:1:1"] {
        let name = other.split(' ').next().unwrap();
        let arguments = format!("evaluate folder --official-splits {other}");
        refused(&arguments, 2, &["--official-splits", name, "cannot be used with"]);
    }
    refused("evaluate folder --official-splits --seed 1", 2, &["--seed", "--official-splits"]);
    refused(
        "evaluate folder --official-splits --models gcn --runs 2",
        2,
        &["--runs", "one run each"],
    );
}

/// The same as a split in which those nodes train and none validates.
#[test]
fn validation_parts_may_train() {
    let sandbox = three_splits();
    let joined = sandbox.read("folder/split.csv").replace("val", "train");
    sandbox.write("joined.csv", &joined);
    let model = "--models features --lambda 0.001";
    let report = |options: &str| sandbox.json(&format!("evaluate folder {model} {options}"));
    let expected = report("--split joined.csv");
    assert_eq!(expected["protocol"]["train_on"], "train");
    let joined = report("--official-splits --train-on train+validation");
    assert_eq!(joined["protocol"]["train_on"], "train+validation");
    assert_eq!(joined["results"][0]["accuracy"], expected["results"][0]["accuracy"]);
    let alone = report("--official-splits --train-on train");
    assert_ne!(joined["results"][0]["accuracy"], alone["results"][0]["accuracy"]);
    let text = sandbox.ok(&format!("evaluate folder {model} --train-on train+validation"));
    assert!(text.contains("; validation parts train too; "), "{text}");
    for (command, nodes) in [("fit folder -o m --depth 2 --force", 4), ("tune folder", 4)] {
        let trained = |options: &str| {
            sandbox.json(&format!("{command} --public-split {options}"))["training_nodes"].clone()
        };
        assert_eq!(
            (trained(""), trained("--train-on train+validation")),
            (nodes.into(), (2 * nodes).into())
        );
    }
    let run = sandbox.run("evaluate folder --split joined.csv --train-on train+validation");
    assert_eq!(run.status, Some(3), "{run:?}");
    assert!(run.stderr.contains("no validation part to train on"), "{run:?}");
}

/// Another implementation's accuracies (`tests/golden/official_splits.py`); one test node more or less is 0.27.
#[test]
fn the_splits_of_a_published_archive_give_the_accuracies_of_numpy() {
    let Some(texas) = crate::published::published("texas.npz") else { return };
    let sandbox = Sandbox::new();
    for (parts, expected) in [
        ("train", [78.1081081081081, 37.02702702702703]),
        ("train+validation", [80.8108108108108, 26.216216216216214]),
    ] {
        let arguments = "--official-splits --models features,gfssgc --depths 8 --lambda 10";
        let report =
            sandbox.json(&format!("evaluate {} {arguments} --train-on {parts}", texas.display()));
        assert_eq!((&report["nodes"], &report["edges"]), (&183.into(), &279.into()));
        assert_eq!(report["protocol"]["splits"], 10);
        for (row, expected) in report["results"].as_array().unwrap().iter().zip(expected) {
            let accuracy = row["accuracy"]["mean"].as_f64().unwrap();
            assert!((accuracy - expected).abs() < 0.3, "{parts}: {row}");
        }
    }
}
