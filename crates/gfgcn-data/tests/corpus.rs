//! Replays the seeds of every fuzz target, so that what fuzzing found stays fixed without it.

// Every entry is a part of a program of its own, with the modules it needs.
#![allow(clippy::duplicate_mod)]

#[path = "../../../fuzz/entries/layouts.rs"]
mod layouts;
#[path = "../../../fuzz/entries/matrix_market.rs"]
mod matrix_market;
#[path = "../../../fuzz/entries/model.rs"]
mod model;
#[path = "../../../fuzz/entries/npz.rs"]
mod npz;
#[path = "../../../fuzz/entries/planetoid.rs"]
mod planetoid;
#[path = "../../../fuzz/entries/split.rs"]
mod split;
#[path = "../../../fuzz/entries/tables.rs"]
mod tables;
#[path = "../../../fuzz/entries/typed_tables.rs"]
mod typed_tables;

use std::path::Path;

/// A fuzz target's name and what it runs.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("arrow", typed_tables::arrow),
    ("collections", layouts::collections),
    ("documents", layouts::documents),
    ("edge_lists", layouts::edge_lists),
    ("matlab", layouts::matlab),
    ("matrix_market", matrix_market::run),
    ("model", model::run),
    ("npz", npz::run),
    ("parquet", typed_tables::parquet),
    ("planetoid", planetoid::run),
    ("split", split::run),
    ("tables", tables::run),
];

#[test]
fn every_seed_is_read_or_refused_without_a_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (target, run) in TARGETS {
        let folder = corpus.join(target);
        let mut seeds = 0;
        for entry in folder.read_dir().unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            run(&std::fs::read(entry.unwrap().path()).unwrap());
            seeds += 1;
        }
        assert!(seeds > 0, "{} holds no seeds", folder.display());
    }
}
