//! What the fuzz targets of typed tables and the replay of their corpora run.

// Each target is a program of its own, and uses one of these.
#![allow(dead_code)]

mod written;

use gfgcn::context::Context;
use gfgcn_data::{TableFiles, TableFormat};
use std::fs;
use tempfile::TempDir;

/// The nodes of the other tables, called as in the seeds.
const FEATURES: &str = "id,x\na,1\nb,2\nc,3\nd,4\ne,5\n0,0\n1,0\n2,0\n3,0\n4,0\n";

/// A Parquet file.
pub(crate) fn parquet(input: &[u8]) {
    run("table.parquet", input);
}

/// An Arrow file or stream.
pub(crate) fn arrow(input: &[u8]) {
    run("table.arrow", input);
}

/// Reads a file as each table of a dataset, the others being text.
///
/// What is read must survive being written.
fn run(name: &str, input: &[u8]) {
    let folder = TempDir::new().expect("a folder");
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file");
        path
    };
    let table = file(name, input);
    let features = file("features.csv", FEATURES.as_bytes());
    let edges = file("edges.csv", b"source,target\n");
    let plain = TableFiles::new(edges, features);
    for files in [
        TableFiles { features: Some(table.clone()), ..plain.clone() },
        TableFiles { edges: vec![table.clone().into()], ..plain.clone() },
        TableFiles { edges: vec![table.clone().into()], features: None, ..plain.clone() },
        TableFiles { nodes: Some(table.clone()), features: None, ..plain.clone() },
        TableFiles { labels: Some(table.clone()), ..plain.clone() },
        TableFiles { split: Some(table), ..plain },
    ] {
        if let Ok(dataset) = files.read("fuzz", &Context::default()) {
            written::assert_survives(&dataset, TableFormat::Parquet);
        }
    }
}
