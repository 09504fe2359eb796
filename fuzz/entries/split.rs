//! What the fuzz target and the replay of its corpus both run.

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn_data::{npz, read_split};
use tempfile::TempDir;

/// Nodes that the seeds speak of, by these names or by their numbers.
const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Reads a split of a small dataset: as an archive or as Parquet if it begins like one, as text otherwise.
///
/// What is read must be a split of the dataset.
pub(crate) fn run(input: &[u8]) {
    let folder = TempDir::new().expect("a folder");
    let extension = match input {
        [b'P', b'K', ..] => "npz",
        [b'P', b'A', b'R', b'1', ..] => "parquet",
        _ => "csv",
    };
    let path = folder.path().join(format!("split.{extension}"));
    std::fs::write(&path, input).expect("a file");
    let context = Context::default();
    let numbered = dataset();
    let named = dataset().with_node_ids(NODES.map(str::to_owned).to_vec()).expect("five names");
    for dataset in [numbered, named] {
        let split = match extension {
            "npz" => npz::read_split(&path, dataset.nodes(), &context),
            _ => read_split(&path, &dataset, &context),
        };
        if let Ok(split) = split {
            let parts = [split.train(), split.validation(), split.test()];
            let mut nodes: Vec<usize> = parts.concat();
            nodes.sort_unstable();
            assert!(nodes.windows(2).all(|pair| pair[0] < pair[1]), "in one part each");
            dataset.with_split(split).expect("a split of its nodes");
        }
    }
}

fn dataset() -> Dataset {
    let (graph, _) = Graph::from_edges(NODES.len(), &[(0, 1)], None).expect("a graph");
    let features = Matrix::from_fn(NODES.len(), 1, |i, _| i as f32);
    let features = Features::dense(features).expect("finite features");
    Dataset::new("fuzz", graph, features, Labels::none(NODES.len())).expect("equal sizes")
}
