//! Stores: everything survives, whatever is damaged is refused, and nothing but the nodes takes memory.

#[path = "../../../gfgcn/tests/counting/mod.rs"]
mod counting;
mod damage;
mod round_trip;
mod streamed;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, Labels, Values};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::split::Split;
use gfgcn_data::store::{self, StoreWriter};
use std::path::Path;

const NODES: usize = 50;

/// Directed edges with weights and relations, dense features, names, splits.
fn full() -> Dataset {
    let arcs: Vec<(u32, u32)> = (0..120).map(|k| (k * 7 % 50, k * k % 50)).collect();
    let weights: Vec<f32> = (0..120).map(|k| 0.5 + (k % 7) as f32).collect();
    let graph = Graph::from_arcs(NODES, &arcs, Some(&weights)).unwrap().0;
    let cites = Graph::from_arcs(NODES, &arcs[..70], None).unwrap().0;
    let likes = Graph::from_edges(NODES, &arcs[70..], None).unwrap().0;
    let relations = vec![("cites".to_owned(), cites), ("mag es".to_owned(), likes)];
    let graph = graph.with_relations(relations).unwrap();
    let value = |i: usize, j: usize| ((i * 13 + j * 5) % 17) as f32 / 3.0 - 2.0;
    let features = Features::dense(Matrix::from_fn(NODES, 37, value)).unwrap();
    let class = |node: usize| (!node.is_multiple_of(3)).then(|| ["ä", "b;c", ""][node % 4 % 3]);
    let labels = Labels::from_names(&(0..NODES).map(class).collect::<Vec<_>>());
    let split = |k: usize| Split::new(NODES, vec![k, 7], vec![3], vec![20, 9]).unwrap();
    Dataset::new("full", graph, features, labels)
        .unwrap()
        .with_node_ids((0..NODES).map(|node| format!("nöde {}", (node * 31) % NODES)).collect())
        .unwrap()
        .with_feature_names((0..37).map(|column| format!("{}\n", 100 - column)).collect())
        .unwrap()
        .with_splits(vec![split(1), split(2)])
        .unwrap()
        .with_features_as_they_came()
}

/// Every kind of targets, with and without features.
fn varied() -> Vec<Dataset> {
    let full = full();
    let set = |node: usize| (!node.is_multiple_of(5)).then(|| vec!["x"; node % 2]);
    let sets = LabelSets::from_names(&(0..NODES).map(set).collect::<Vec<_>>());
    let value =
        |i: usize, j: usize| if i.is_multiple_of(4) { f64::NAN } else { (i * j) as f64 - 0.1 };
    let values = Matrix::from_fn(NODES, 2, value);
    let values = Values::new(vec!["height".into(), "größe".into()], values).unwrap();
    let plain = Graph::from_edges(NODES, &[(0, 1), (4, 9)], None).unwrap().0;
    let none = Labels::none(NODES);
    vec![
        full.clone(),
        full.clone().ordered_by_names(),
        full.clone().with_targets(sets).unwrap(),
        full.with_targets(values).unwrap(),
        Dataset::new("bare", plain, Features::none(NODES), none).unwrap(),
    ]
}

/// Writes a store whose blocks have so many columns.
fn write_in_blocks(dataset: &Dataset, path: &Path, columns: usize) {
    let context = Context::default();
    let writer = StoreWriter::new(path, dataset.nodes(), false, &context).unwrap();
    let mut writer = writer.with_block_columns(columns);
    writer.graph(dataset.graph()).unwrap();
    writer.features(dataset.features()).unwrap();
    writer.targets(dataset.targets()).unwrap();
    writer.splits(dataset.splits()).unwrap();
    writer.finish().unwrap();
}

fn read(path: &Path) -> gfgcn::Result<Dataset> {
    store::read(path, "store", &Context::default())
}
