//! What the fuzz target and the replay of its corpus both run.

mod written;

use gfgcn::context::Context;
use gfgcn_data::{Directions, EdgeFile, TableFiles, TableFormat};
use tempfile::TempDir;

/// Stands between tables, where a fuzzer that inserts and deletes does not shift it.
const FORM_FEED: u8 = 0x0c;

/// Reads a dataset from text tables: their extension, then features (empty for none), edges and perhaps labels, a split, a
/// list of nodes and the edges of a type, with directions as they are said and as they are asked for.
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
        let content = parts.next().filter(|content| !content.is_empty())?;
        std::fs::write(&path, content).expect("a file");
        Some(path)
    };
    let (features, edges) = (table("features"), table("edges"));
    let (labels, split, nodes) = (table("labels"), table("split"), table("nodes"));
    let mut edges: Vec<EdgeFile> = edges.into_iter().map(EdgeFile::from).collect();
    if let Some(path) = table("others") {
        edges.iter_mut().for_each(|file| file.relation = Some("edges".into()));
        edges.push(EdgeFile { path, relation: Some("others".into()) });
    }
    for directions in [Directions::AsSaid, Directions::Kept { by: "--directed" }] {
        let (features, labels) = (features.clone(), labels.clone());
        let (nodes, split, edges) = (nodes.clone(), split.clone(), edges.clone());
        let files = TableFiles {
            edges,
            features,
            nodes,
            labels,
            split,
            directions,
            ..TableFiles::default()
        };
        if let Ok(dataset) = files.read("fuzz", &Context::default()) {
            written::assert_survives(&dataset, TableFormat::Csv);
        }
    }
}
