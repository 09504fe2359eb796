//! What the fuzz target and the replay of its corpus both run.

mod written;

use gfgcn::context::Context;
use gfgcn_data::{TableFiles, TableFormat};
use std::fs;
use tempfile::TempDir;

/// Reads a matrix as features, and as features and edges at once, which fit each other where it is square.
///
/// What is read must survive being written.
pub(crate) fn run(input: &[u8]) {
    let folder = TempDir::new().expect("a folder");
    let [features, edges] = ["matrix.mtx", "edges.csv"].map(|name| folder.path().join(name));
    fs::write(&features, input).expect("a file");
    fs::write(&edges, "source,target\n").expect("a file");
    for edges in [edges, features.clone()] {
        let files = TableFiles::new(edges, &features);
        match files.read("fuzz", &Context::default()) {
            // A few bytes may ask for many nodes, which would be slow to write, not wrong.
            Ok(dataset) if dataset.nodes() < 10_000 && dataset.features().cols() < 10_000 => {
                written::assert_survives(&dataset, TableFormat::Csv);
            }
            _ => {}
        }
    }
}
