//! The fingerprint: equal for equal data however they are stored, different after any change.

mod synthetic;

use gfgcn::data::{Dataset, LabelSets, Labels, Targets, Values};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use std::collections::HashSet;
use synthetic::Recipe;

/// Enough nodes for several chunks.
const NODES: usize = 700;

fn recipe(sparse: bool) -> Recipe {
    Recipe {
        nodes: NODES,
        features: 9,
        classes: 3,
        weighted: true,
        sparse,
        directed: false,
        seed: 4,
    }
}

/// A dataset as lists that can be changed.
#[derive(Clone)]
struct Parts {
    edges: Vec<(u32, u32)>,
    weights: Vec<f32>,
    features: Matrix<f32>,
    labels: Vec<Option<String>>,
}

impl Parts {
    fn of(dataset: &Dataset) -> Self {
        let graph = dataset.graph();
        let mut features = Matrix::zeros(dataset.nodes(), dataset.features().cols());
        for node in 0..dataset.nodes() {
            dataset.features().for_each_in_row(node, |j, value| features[(node, j)] = value);
        }
        let label = |node| dataset.labels().name(node).map(str::to_owned);
        Parts {
            edges: graph.edge_list().map(|(a, b, _)| (a as u32, b as u32)).collect(),
            weights: graph.edge_list().map(|(_, _, weight)| weight).collect(),
            features,
            labels: (0..dataset.nodes()).map(label).collect(),
        }
    }

    fn join(&self) -> Dataset {
        let nodes = self.features.rows();
        let (graph, _) = Graph::from_edges(nodes, &self.edges, Some(&self.weights)).unwrap();
        let features = Features::dense(self.features.clone()).unwrap();
        Dataset::new("joined", graph, features, Labels::from_names(&self.labels)).unwrap()
    }
}

#[test]
fn equal_data_have_equal_fingerprints() {
    let (dense, sparse) = (recipe(false).make(), recipe(true).make());
    assert!(matches!(dense.features(), Features::Dense(_)));
    assert!(matches!(sparse.features(), Features::Sparse(_)));
    assert_eq!(dense.fingerprint(), sparse.fingerprint());
    assert_eq!(Parts::of(&sparse).join().fingerprint(), dense.fingerprint());
    // What is not data: names, notes, and the order in which the edges came.
    let mut turned = Parts::of(&dense);
    turned.edges.reverse();
    turned.weights.reverse();
    turned.edges.iter_mut().for_each(|(a, b)| std::mem::swap(a, b));
    let ids = (0..NODES).map(|node| format!("n{node}")).collect();
    let turned = turned.join().with_node_ids(ids).unwrap().with_note("turned");
    assert_eq!(turned.fingerprint(), dense.fingerprint());
}

/// In the first, a middle and the last chunk.
#[test]
fn every_change_changes_it() {
    let original = Parts::of(&recipe(true).make());
    let mut seen = HashSet::from([original.join().fingerprint()]);
    let mut changed = |what: &str, change: &dyn Fn(&mut Parts)| {
        let mut parts = original.clone();
        change(&mut parts);
        assert!(seen.insert(parts.join().fingerprint()), "{what}");
    };
    let edges = original.edges.len();
    for edge in [0, edges / 2, edges - 1] {
        changed("an edge less", &|parts| {
            parts.edges.remove(edge);
            parts.weights.remove(edge);
        });
        changed("another weight", &|parts| {
            parts.weights[edge] = f32::from_bits(parts.weights[edge].to_bits() + 1);
        });
    }
    changed("an edge more", &|parts| {
        parts.edges.push((0, NODES as u32 - 1)); // the last node had none
        parts.weights.push(1.0);
    });
    for node in [0, NODES / 2, NODES - 1] {
        changed("another value", &|parts| parts.features[(node, 0)] += 0.5);
        changed("exchanged columns", &|parts| {
            let row = parts.features.row_mut(node);
            row[..2].copy_from_slice(&[7.0, 8.0]);
        });
        changed("exchanged columns, the other way", &|parts| {
            let row = parts.features.row_mut(node);
            row[..2].copy_from_slice(&[8.0, 7.0]);
        });
        changed("no label", &|parts| parts.labels[node] = None);
        changed("an empty label", &|parts| parts.labels[node] = Some(String::new()));
        changed("another label", &|parts| parts.labels[node] = Some("new".into()));
    }
    changed("one more column", &|parts| {
        let old = parts.features.clone();
        let cols = old.cols();
        let value = |i: usize, j: usize| if j < cols { old[(i, j)] } else { 0.0 };
        parts.features = Matrix::from_fn(NODES, cols + 1, value);
    });
    changed("a row less", &|parts| {
        let old = parts.features.clone();
        parts.features = Matrix::from_fn(NODES - 1, old.cols(), |i, j| old[(i, j)]);
        parts.labels.pop();
    });
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let fingerprints: HashSet<String> = [1, 2, 7]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let dataset = recipe(false).make();
            pool.install(|| dataset.fingerprint())
        })
        .collect();
    assert_eq!(fingerprints.len(), 1);
}

#[test]
fn it_is_kept_but_not_past_a_change() {
    let (asked, fresh) = (recipe(true).make(), recipe(true).make());
    let before = asked.fingerprint();
    assert_eq!(asked, fresh, "whether it was computed is not part of the data");
    assert_eq!(asked.clone().fingerprint(), before);
    let changed = asked.clone().map_features(Features::row_normalized);
    assert_eq!(changed.fingerprint(), fresh.map_features(Features::row_normalized).fingerprint());
    assert_ne!(changed.fingerprint(), before);
    let all: Vec<usize> = (0..NODES).collect();
    assert_ne!(asked.select(&all[1..]).fingerprint(), before);
    assert_eq!(asked.select(&all).fingerprint(), before);
}

/// Threads that wait for the chunks take up work that asks for the same fingerprint.
#[test]
fn many_may_ask_at_once() {
    use rayon::prelude::*;
    let dataset = recipe(true).make();
    let asked: HashSet<String> = (0..64).into_par_iter().map(|_| dataset.fingerprint()).collect();
    assert_eq!(asked.len(), 1);
}

/// Another direction, another relation, or none of either: other data.
#[test]
fn directions_and_relations_are_part_of_it() {
    let directed = Recipe { directed: true, ..recipe(false) }.make();
    let with = |graph| {
        let (features, labels) = (directed.features().clone(), directed.labels().clone());
        Dataset::new("same", graph, features, labels).unwrap().fingerprint()
    };
    let graph = directed.graph();
    let parts = |names: [&str; 2]| -> Vec<(String, Graph)> {
        let relations = graph.relations().iter().zip(names);
        relations.map(|(relation, name)| (name.to_owned(), relation.graph().clone())).collect()
    };
    let without = graph.clone().with_relations(Vec::new()).unwrap();
    let all: HashSet<String> = [
        graph.clone(),
        graph.clone().transposed(),
        graph.clone().undirected(),
        without.clone(),
        without.clone().undirected(),
        without.clone().with_relations(parts(["odd", "even"])).unwrap(),
    ]
    .into_iter()
    .map(with)
    .collect();
    assert_eq!(all.len(), 6);
    let same = without.with_relations(parts(["even", "odd"])).unwrap();
    assert_eq!(with(same), with(graph.clone()));
}

/// By what they mean: neither the numbers of labels nor the sign of a zero is data.
#[test]
fn sets_and_values_have_fingerprints_of_their_own() {
    let data = Parts::of(&recipe(true).make()).join();
    let fingerprint = |targets: Targets| data.clone().with_targets(targets).unwrap().fingerprint();
    let sets = |change: &dyn Fn(usize) -> Option<Vec<&'static str>>| {
        fingerprint(LabelSets::from_names(&(0..NODES).map(change).collect::<Vec<_>>()).into())
    };
    let values = |name: &str, change: &dyn Fn(usize) -> f64| {
        let column = Matrix::from_fn(NODES, 1, |i, _| change(i));
        fingerprint(Values::new(vec![name.into()], column).unwrap().into())
    };
    let mut seen = HashSet::from([data.fingerprint()]);
    for changed in [
        sets(&|i| (i > 0).then(|| vec!["a", "b"])),
        sets(&|_| Some(vec!["a", "b"])),
        sets(&|i| Some(if i == 600 { vec!["a"] } else { vec!["a", "b"] })),
        sets(&|i| Some(if i == 600 { vec![] } else { vec!["a", "b"] })),
        sets(&|i| (i != 600).then(|| vec!["a", "b"])),
        sets(&|_| Some(vec!["ab"])),
        values("x", &|i| i as f64),
        values("y", &|i| i as f64),
        values("x", &|i| if i == 600 { f64::NAN } else { i as f64 }),
        values("x", &|i| if i == 600 { 0.0 } else { i as f64 }),
    ] {
        assert!(seen.insert(changed.clone()), "{changed}");
    }
    assert_eq!(sets(&|_| Some(vec!["b", "a", "b"])), sets(&|_| Some(vec!["a", "b"])));
    assert_eq!(values("x", &|i| -(i as f64) * 0.0), values("x", &|_| 0.0));
    // Class data are what they were before there were other kinds.
    assert_eq!(fingerprint(data.labels().clone().into()), data.fingerprint());
}
