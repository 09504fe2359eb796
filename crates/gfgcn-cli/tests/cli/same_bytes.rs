//! The same bytes from every command, whatever the number of threads, the memory that is free, and the company.

use crate::evaluate::without_seconds;
use crate::running::{for_products, run_after};
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Every command that computes or writes, each with what the ones before it made.
const COMMANDS: [&str; 10] = [
    "evaluate cora --splits 2 --depths 2,32",
    "evaluate cora --splits 1 --depths 2 --models gcn,sgc --epochs 3 --no-cache",
    "tune cora --public-split",
    "fit cora --public-split -o searched.model",
    "fit citeseer --public-split --model gfsgc --depth 64 --kernel rbf -o rbf.model",
    "predict searched.model cora -o labels.csv",
    "predict rbf.model citeseer -o labels.npz",
    "inspect searched.model",
    "data convert cora tables",
    "data synth -o synth.npz --nodes 3000 --edges 9000 --classes 3 --features 20",
];

/// What all commands print and write, run after some words to the shell.
fn everything(before: &str, threads: usize) -> (Vec<Value>, BTreeMap<PathBuf, Option<Vec<u8>>>) {
    let sandbox = Sandbox::new();
    let printed = COMMANDS.map(|command| {
        let run = run_after(&sandbox, before, &format!("{command} --json --threads {threads}"));
        assert_eq!(run.status, Some(0), "{command}, {threads} threads, {before:?}: {run:?}");
        without_seconds(serde_json::from_str(&run.stdout).unwrap())
    });
    let root = sandbox.path("");
    let relative = |path: PathBuf| path.strip_prefix(&root).unwrap().to_owned();
    let files = sandbox.snapshot().into_iter().map(|(path, content)| (relative(path), content));
    (printed.to_vec(), files.collect())
}

#[test]
fn threads_and_memory_change_no_byte() {
    let (printed, written) = everything("true", 1);
    assert!(written.len() > 7, "{:?}", written.keys());
    // The address space is what can be limited without being root.
    let limited = format!("ulimit -v {}", 1_000_000 + 1024 * for_products(2));
    for (before, threads) in [("true", 2), ("true", 3), ("true", 5), (limited.as_str(), 2)] {
        let (other_printed, other_written) = everything(before, threads);
        for (k, command) in COMMANDS.iter().enumerate() {
            assert_eq!(printed[k], other_printed[k], "{command}, {threads} threads, {before}");
        }
        for (path, content) in &written {
            assert!(other_written[path] == *content, "{path:?}, {threads} threads, {before}");
        }
    }
}

/// The row of a model is the same whether it is evaluated alone or among others.
#[test]
fn company_changes_no_byte() {
    let sandbox = Sandbox::new();
    let rows = |arguments: &str| {
        let report =
            without_seconds(sandbox.json(&format!("evaluate cora --splits 2 {arguments}")));
        report["results"].as_array().unwrap().clone()
    };
    let together = rows("--depths 2,8,64");
    for row in &together {
        let (model, depth) = (row["model"].as_str().unwrap().to_lowercase(), &row["depth"]);
        let alone = rows(&format!("--models {model} --depths {depth}"));
        assert_eq!(alone, std::slice::from_ref(row));
    }
    assert_eq!(together.len(), 9);
}
