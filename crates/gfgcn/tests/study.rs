//! A problem that stays factorised gives the model of every λ that training gives.

mod synthetic;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::{Classifier, Design, Ridge};
use synthetic::Random;

const NODES: usize = 60;

/// A random graph; a node in three has a label but for one that is left out.
fn data(columns: usize, without: Option<usize>) -> Dataset {
    let mut random = Random::new(7);
    let edges: Vec<(u32, u32)> = (0..3 * NODES)
        .map(|_| (random.below(NODES) as u32, random.below(NODES) as u32))
        .filter(|(a, b)| a != b)
        .collect();
    let (graph, _) = Graph::from_edges(NODES, &edges, None).unwrap();
    let value = |i: usize, j: usize| (random.unit() + f64::from(u8::from(i % 3 == j % 3))) as f32;
    let mut value = value;
    let features = Features::dense(Matrix::from_fn(NODES, columns, &mut value)).unwrap();
    let name = |node: usize| {
        let known = node % 7 < 3 && Some(node) != without;
        known.then(|| ["ants", "bees", "cats"][node % 3])
    };
    let labels = Labels::from_names(&(0..NODES).map(name).collect::<Vec<_>>());
    Dataset::new("random", graph, features, labels).unwrap()
}

/// Both sides of the linear kernel, and another kernel.
fn cases() -> Vec<(Classifier, usize)> {
    let classifier = |kernel: &str, intercept: bool| {
        let kernel = kernel.parse().unwrap();
        Classifier::new("ssgc:depth=3".parse::<Design>().unwrap()).with_ridge(Ridge {
            kernel,
            intercept,
            ..Ridge::default()
        })
    };
    vec![
        (classifier("linear", false), 5),
        (classifier("linear", true), 40),
        (classifier("rbf:gamma=0.5", false), 5),
    ]
}

#[test]
fn every_model_is_the_one_that_training_gives() {
    let context = Context::default();
    for (classifier, columns) in cases() {
        let data = data(columns, None);
        let split = Split::all_labelled(data.labels()).unwrap();
        let study = classifier.study(&data, &split, &context).unwrap();
        assert!(study.memory() > 0 && study.is_of(&classifier));
        let trained = classifier.fit(&data, &split, &context).unwrap();
        assert_eq!(study.fit(None, &context).unwrap().0.to_bytes(), trained.to_bytes());
        for lambda in [0.01, 1.0, 300.0] {
            let selection = Selection::fixed(lambda).unwrap();
            let given =
                Classifier { ridge: Ridge { selection, ..classifier.ridge }, ..classifier.clone() };
            assert!(study.is_of(&given), "only λ is another one");
            let (model, _) = study.fit(Some(lambda), &context).unwrap();
            let scores = model.predict(&data, &context).unwrap().into_targets();
            let expected = given.fit(&data, &split, &context).unwrap();
            let expected = expected.predict(&data, &context).unwrap().into_targets();
            for (a, b) in scores.as_slice().iter().zip(expected.as_slice()) {
                assert!((a - b).abs() < 1e-8, "λ = {lambda}: {a} {b}");
            }
        }
        // What was asked for before changes nothing.
        assert_eq!(study.fit(None, &context).unwrap().0.to_bytes(), trained.to_bytes());
        let deeper = Classifier { design: "ssgc:depth=4".parse().unwrap(), ..classifier.clone() };
        assert!(!study.is_of(&deeper));
        assert!(study.fit(Some(-1.0), &context).is_err());
    }
}

#[test]
fn left_out_scores_are_those_of_training_without_the_node() {
    let context = Context::default();
    for (classifier, columns) in cases() {
        let data_of_all = data(columns, None);
        let split = Split::all_labelled(data_of_all.labels()).unwrap();
        let study = classifier.study(&data_of_all, &split, &context).unwrap();
        let (model, left_out) = study.fit(Some(2.0), &context).unwrap();
        assert_eq!(left_out.nodes, split.train());
        for (row, &node) in left_out.nodes.iter().enumerate().step_by(5) {
            let rest = data(columns, Some(node));
            let split = Split::all_labelled(rest.labels()).unwrap();
            let study = classifier.study(&rest, &split, &context).unwrap();
            let (without, _) = study.fit(Some(2.0), &context).unwrap();
            assert_eq!(without.classes(), model.classes());
            let expected = without.predict(&rest, &context).unwrap();
            for (a, b) in left_out.targets.row(row).iter().zip(expected.values(node)) {
                assert!((a - b).abs() < 1e-5, "node {node}: {a} {b}");
            }
        }
    }
}
