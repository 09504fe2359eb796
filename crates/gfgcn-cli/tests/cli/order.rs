//! The order of rows in tables changes nothing.

use crate::sandbox::Sandbox;
use serde_json::Value;
use std::collections::BTreeSet;

/// Shuffles all lines but the first.
fn shuffled(table: &str, seed: u64) -> String {
    let mut lines: Vec<&str> = table.lines().collect();
    let mut state = seed;
    for k in (2..lines.len()).rev() {
        // Knuth's MMIX generator.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lines.swap(k, 1 + (state >> 33) as usize % k);
    }
    lines.join("\n") + "\n"
}

/// What the default `fit` chooses and predicts on tables whose rows are in some order.
fn fitted(sandbox: &Sandbox, split: &str) -> (Value, BTreeSet<String>) {
    let mut report = sandbox.json(&format!("fit tables {split} -o m.model --force"));
    report["seconds"] = Value::Null;
    report["search"]["seconds"] = Value::Null;
    sandbox.ok("predict m.model tables -o labels.csv --force");
    // In the order in which they first come.
    let ids = |table: &str| -> Vec<String> {
        let ids = table.lines().map(|line| line.split(',').next().unwrap().to_owned());
        let mut seen = BTreeSet::new();
        ids.filter(|id| seen.insert(id.clone())).collect()
    };
    let predictions = sandbox.read("labels.csv");
    assert_eq!(
        ids(&predictions),
        ids(&sandbox.read("tables/features.csv")),
        "as the table lists them"
    );
    (report, predictions.lines().map(str::to_owned).collect())
}

fn check(dataset: &str, split: &str, shuffles: u64) {
    let sandbox = Sandbox::new();
    sandbox.ok(&format!("data convert {dataset} tables"));
    let names = ["edges.csv", "features.csv", "labels.csv", "split.csv"];
    let tables = names.map(|name| sandbox.read(&format!("tables/{name}")));
    // The tables below are changed by hand, and no longer what was written together.
    let manifest = sandbox.path("tables/gfgcn-manifest.json");
    if manifest.exists() {
        std::fs::remove_file(manifest).unwrap();
    }
    let expected = fitted(&sandbox, split);
    for seed in 1..=shuffles {
        for (name, table) in names.iter().zip(&tables) {
            sandbox.write(&format!("tables/{name}"), &shuffled(table, seed));
        }
        assert!(fitted(&sandbox, split) == expected, "{dataset} {split}, shuffle {seed}");
    }
}

#[test]
fn the_default_fit_does_not_depend_on_the_order_of_rows() {
    check("cora", "--public-split", 2);
}

/// Minutes, even of an optimised program.
#[test]
#[ignore = "make test-full"]
fn the_default_fit_does_not_depend_on_the_order_of_rows_of_any_graph() {
    for dataset in ["cora", "citeseer", "pubmed"] {
        for split in ["", "--public-split"] {
            check(dataset, split, 10);
        }
    }
}
