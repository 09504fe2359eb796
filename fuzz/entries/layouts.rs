//! What the fuzz targets of whole layouts and the replay of their corpora run.

// Each target is a program of its own, and uses one of these.
#![allow(dead_code)]

mod written;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Targets};
use gfgcn_data::{Layout, ReadOptions, TableFormat};
use std::path::Path;
use tempfile::TempDir;

/// Stands between parts, where a fuzzer that inserts and deletes does not shift it.
const FORM_FEED: u8 = 0x0c;

/// A graph in one document: `json`, `graphml` or `gexf`, then the text.
pub(crate) fn documents(input: &[u8]) {
    single(input, &["json", "graphml", "gexf"]);
}

/// A MATLAB file.
pub(crate) fn matlab(input: &[u8]) {
    let folder = TempDir::new().expect("a folder");
    read_file(folder.path(), "graph.mat", input);
}

/// A file of edges: its ending, then its bytes.
pub(crate) fn edge_lists(input: &[u8]) {
    single(input, &["edges", "csv", "tsv", "txt", "npy"]);
}

/// Files of a collection: `name`, its bytes, `name`, its bytes, ….
pub(crate) fn collections(input: &[u8]) {
    const NAMES: [&str; 12] = [
        "x_edges.csv",
        "x_features.json",
        "x_features.csv",
        "x_target.csv",
        "n.csv",
        "m.csv",
        "r.csv",
        "raw/edge.csv",
        "raw/node-feat.csv",
        "raw/node-label.csv",
        "raw/num-node-list.csv",
        "split/s/train.csv",
    ];
    let folder = TempDir::new().expect("a folder");
    let mut parts = input.split(|&byte| byte == FORM_FEED);
    while let (Some(name), Some(content)) = (parts.next(), parts.next()) {
        if let Some(name) = NAMES.iter().find(|known| known.as_bytes() == name) {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, content).expect("a file");
        }
    }
    read(folder.path());
}

fn single(input: &[u8], endings: &[&str]) {
    let Some(at) = input.iter().position(|&byte| byte == FORM_FEED) else { return };
    let (ending, content) = (&input[..at], &input[at + 1..]);
    let ending = endings.iter().find(|known| known.as_bytes() == ending).unwrap_or(&endings[0]);
    let folder = TempDir::new().expect("a folder");
    read_file(folder.path(), &format!("graph.{ending}"), content);
}

fn read_file(folder: &Path, name: &str, content: &[u8]) {
    std::fs::write(folder.join(name), content).expect("a file");
    read(&folder.join(name));
}

/// A table cannot tell a set of no labels from an unknown one.
fn has_empty_sets(dataset: &Dataset) -> bool {
    match dataset.targets() {
        Targets::Sets(sets) => {
            (0..sets.len()).any(|node| sets.get(node).is_some_and(|set| set.is_empty()))
        }
        _ => false,
    }
}

/// What is read must survive being written.
fn read(path: &Path) {
    let options = ReadOptions::default();
    let read =
        Layout::of(path).and_then(|layout| layout.read("fuzz", &options, &Context::default()));
    if let Ok(dataset) = read
        && !has_empty_sets(&dataset)
    {
        written::assert_survives(&dataset, TableFormat::Csv);
    }
}
