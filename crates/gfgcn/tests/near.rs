//! Predicting a few nodes gives what predicting all gives, for every kind of channel and kernel.

mod synthetic;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::split::Split;
use gfgcn::tune::Search;
use gfgcn::{Classifier, Design, Model, Ridge};
use synthetic::Random;

/// A ring of directed arcs of two kinds with shortcuts: few steps reach few nodes.
fn ring(nodes: usize) -> Dataset {
    let mut random = Random::new(5);
    let arcs = |step: usize, random: &mut Random| {
        let ends: Vec<(u32, u32)> =
            (0..nodes).map(|k| (k as u32, ((k + step) % nodes) as u32)).collect();
        let weights: Vec<f32> = (0..nodes).map(|_| 0.5 + random.unit() as f32).collect();
        (ends, weights)
    };
    let (one, two) = (arcs(1, &mut random), arcs(3, &mut random));
    let graph = |ends: &[(u32, u32)], weights: &[f32]| {
        Graph::from_arcs(nodes, ends, Some(weights)).unwrap().0
    };
    let whole =
        graph(&[one.0.clone(), two.0.clone()].concat(), &[one.1.clone(), two.1.clone()].concat());
    let relations =
        vec![("one".into(), graph(&one.0, &one.1)), ("two".into(), graph(&two.0, &two.1))];
    let features = Matrix::from_fn(nodes, 6, |i, j| {
        random.unit() as f32 + f32::from(u8::from(i * 3 / nodes == j % 3))
    });
    let ids: Vec<i64> = (0..nodes).map(|k| (k * 3 / nodes) as i64).collect();
    let labels = Labels::from_ids(&ids, None).unwrap();
    let whole = whole.with_relations(relations).unwrap();
    Dataset::new("ring", whole, Features::dense(features).unwrap(), labels).unwrap()
}

fn check(model: &Model, data: &Dataset, nodes: &[usize], within: f64, what: &str) {
    let context = Context::default();
    let all = model.predict(data, &context).unwrap();
    let some = model.predict_nodes(data, nodes, &context).unwrap();
    assert_eq!(some.nodes(), nodes.len());
    let largest = (0..data.nodes())
        .flat_map(|node| all.scores(node))
        .fold(0.0f64, |most, score| most.max(score.abs()));
    for &node in nodes {
        assert_eq!(some.name(node), all.name(node), "{what}: node {node}");
        for (a, b) in some.scores(node).iter().zip(all.scores(node)) {
            assert!((a - b).abs() <= within * largest, "{what}: node {node}: {a} {b}");
        }
    }
    assert!(!some.has(nodes[0] + 1) && some.has(nodes[0]));
}

#[test]
fn a_few_nodes_are_predicted_as_in_company() {
    let data = ring(600);
    let split = Split::new(600, (0..600).step_by(7).collect(), vec![], vec![]).unwrap();
    for (design, kernel, within) in [
        ("sgc:depth=2", "linear", 1e-9),
        ("ssgc:depth=8", "linear", 1e-9),
        ("ppr:alpha=0.3", "linear", 1e-9),
        ("identity", "linear", 1e-9),
        ("sgc:depth=2@row:out/unit + 0.25*identity/sum", "linear", 1e-9),
        ("sgc:depth=2@row:in-out", "linear", 1e-9),
        ("sgc:depth=1@sym:out-in,loops=0 + identity", "linear", 1e-9),
        ("sgc:depth=2@sym:out,relation=two + identity", "linear", 1e-9),
        ("sgc:depth=2@unit:loops=0.5", "linear", 1e-9),
        ("sgc:depth=2 of structure + identity", "linear", 1e-9),
        ("sgc:depth=1@row of degrees + identity", "linear", 1e-9),
        ("sgc:depth=2", "rbf", 1e-4),
        // Steps that reach everything from anywhere.
        ("sgc:depth=128", "linear", 1e-9),
    ] {
        let ridge = Ridge { kernel: kernel.parse().unwrap(), ..Ridge::default() };
        let classifier = Classifier::new(design.parse::<Design>().unwrap()).with_ridge(ridge);
        let model = classifier.fit(&data, &split, &Context::default()).unwrap();
        check(&model, &data, &[0], within, design);
        check(&model, &data, &[401, 3, 599], within, design);
        let many: Vec<usize> = (0..600).step_by(2).collect();
        check(&model, &data, &many, within, design);
    }
}

#[test]
fn a_stack_predicts_a_few_nodes_too() {
    let data = ring(240);
    let split = Split::new(240, (0..240).step_by(3).collect(), vec![], vec![]).unwrap();
    let model = Search::default().run(&data, &split, &Context::default()).unwrap().model;
    check(&model, &data, &[17, 4], 1e-4, "a stack");
}

#[test]
fn nodes_that_are_not_there_are_refused() {
    let data = ring(60);
    let split = Split::new(60, (0..60).step_by(3).collect(), vec![], vec![]).unwrap();
    let classifier = Classifier::new("sgc:depth=1".parse::<Design>().unwrap());
    let model = classifier.fit(&data, &split, &Context::default()).unwrap();
    let error = |nodes: &[usize]| {
        model.predict_nodes(&data, nodes, &Context::default()).unwrap_err().to_string()
    };
    assert!(error(&[60]).contains("below 60"));
    assert!(error(&[2, 5, 2]).contains("twice"));
}
