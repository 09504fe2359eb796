//! What the fuzz target and the replay of its corpus both run.

mod written;

use gfgcn::context::Context;
use gfgcn_data::{TableFiles, TableFormat};
use tempfile::TempDir;

/// Stands between tables, where a fuzzer that inserts and deletes does not shift it.
const FORM_FEED: u8 = 0x0c;

/// Reads a dataset from text tables: their extension, then features, edges and perhaps labels and a split.
///
/// What is read must survive being written.
pub(crate) fn run(input: &[u8]) {
    let folder = TempDir::new().expect("a folder");
    let mut parts = input.split(|&byte| byte == FORM_FEED);
    let extension = match parts.next() {
        Some(b"tsv") => "tsv",
        Some(b"txt") => "txt",
        _ => "csv",
    };
    let mut table = |stem: &str| {
        let path = folder.path().join(format!("{stem}.{extension}"));
        let content = parts.next()?;
        std::fs::write(&path, content).expect("a file");
        Some(path)
    };
    let (Some(features), Some(edges)) = (table("features"), table("edges")) else { return };
    let files = TableFiles {
        labels: table("labels"),
        split: table("split"),
        ..TableFiles::new(edges, features)
    };
    if let Ok(dataset) = files.read("fuzz", &Context::default()) {
        written::assert_survives(&dataset, TableFormat::Csv);
    }
}
