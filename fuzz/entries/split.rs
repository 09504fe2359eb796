//! What the fuzz target and the replay of its corpus both run.

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn_data::{npz, read_splits};
use tempfile::TempDir;

/// Nodes that the seeds speak of, by these names or by their numbers.
const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Reads splits of a small dataset: as an archive or as Parquet if it begins like one, as text otherwise.
///
/// What is read must be splits of the dataset, one at least.
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
        let splits = match extension {
            "npz" => npz::read_splits(&path, dataset.nodes(), &context),
            _ => read_splits(&path, &dataset, &context),
        };
        if let Ok(splits) = splits {
            assert!(!splits.is_empty(), "a file of splits has one");
            for split in &splits {
                let parts = [split.train(), split.validation(), split.test()];
                let mut nodes: Vec<usize> = parts.concat();
                nodes.sort_unstable();
                assert!(nodes.windows(2).all(|pair| pair[0] < pair[1]), "in one part each");
            }
            dataset.with_splits(splits).expect("splits of its nodes");
        }
    }
}

fn dataset() -> Dataset {
    let (graph, _) = Graph::from_edges(NODES.len(), &[(0, 1)], None).expect("a graph");
    let features = Matrix::from_fn(NODES.len(), 1, |i, _| i as f32);
    let features = Features::dense(features).expect("finite features");
    Dataset::new("fuzz", graph, features, Labels::none(NODES.len())).expect("equal sizes")
}
