//! What a model makes of data that are not those it was trained on: other nodes, another order, other directions.

mod published;
mod synthetic;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};

use gfgcn::features::Features;
use gfgcn::filter::Filter;
use gfgcn::graph::{Direction, Normalization, Operator};
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::tune::{Learner, Search};
use gfgcn::{Channel, Classifier, Design, Input, Model, Ridge};
use gfgcn_data::{Directions, npz};
use published::published;
use synthetic::{Random, Recipe};

const RECIPE: Recipe = Recipe {
    nodes: 40,
    features: 5,
    classes: 3,
    weighted: true,
    sparse: false,
    directed: true,
    seed: 5,
};

fn named(prefix: &str, nodes: usize) -> Vec<String> {
    (0..nodes).map(|node| format!("{prefix}{node}")).collect()
}

/// The features as they are, and who is linked to whom.
fn both() -> Design {
    let plain = Operator::default().with_loops(0.0).unwrap();
    let linked =
        Channel { operator: plain, input: Input::Structure, ..Filter::sgc(2).unwrap().into() };
    Design::new(vec![Filter::Identity.into(), linked]).unwrap()
}

fn fit(design: Design, dataset: &Dataset) -> Model {
    let split = Split::all_labelled(dataset.labels()).unwrap();
    Classifier::new(design).fit(dataset, &split, &Context::default()).unwrap()
}

fn scores(model: &Model, dataset: &Dataset) -> Vec<Vec<f64>> {
    let predictions = model.predict(dataset, &Context::default()).unwrap();
    (0..dataset.nodes()).map(|node| predictions.scores(node)).collect()
}

fn refusal(model: &Model, dataset: &Dataset) -> String {
    model.predict(dataset, &Context::default()).unwrap_err().to_string()
}

fn assert_close(one: &[f64], other: &[f64]) {
    let far = one.iter().zip(other).any(|(a, b)| (a - b).abs() > 1e-5 * a.abs().max(1.0));
    assert!(!far, "{one:?} {other:?}");
}

#[test]
fn nodes_are_found_by_their_ids_in_any_order() {
    let dataset = RECIPE.make().with_node_ids(named("n", 40)).unwrap();
    let model = fit(both(), &dataset);
    let mut order: Vec<usize> = (0..40).collect();
    let mut random = Random::new(1);
    (1..40).rev().for_each(|i| order.swap(i, random.below(i + 1)));
    let here = scores(&model, &dataset);
    let there = scores(&model, &dataset.select(&order));
    for (place, &node) in order.iter().enumerate() {
        assert_close(&there[place], &here[node]);
    }
    let read = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(scores(&read, &dataset.select(&order)), there, "a file keeps the ids");
}

/// A graph with nodes that the model has never seen: links to them say nothing, so their columns of P² have no weight.
#[test]
fn new_nodes_are_predicted_by_their_links_to_known_ones() {
    let whole = RECIPE.make().with_node_ids(named("n", 40)).unwrap();
    let known: Vec<usize> = (0..40).filter(|node| node % 5 != 3).collect();
    let model = fit(both(), &whole.select(&known));
    let predictions = model.predict(&whole, &Context::default()).unwrap();
    let notes = predictions.notes();
    assert!(notes.len() == 1 && notes[0].starts_with("8 nodes are new to the model"), "{notes:?}");
    let (weights, intercept) = model.members()[0].weights().unwrap();
    // P = D^-½ A D^-½ of the whole graph, and its square, densely.
    let graph = whole.graph();
    let mut p = Matrix::<f64>::zeros(40, 40);
    for (a, b, weight) in graph.edge_list() {
        (p[(a, b)], p[(b, a)]) = (f64::from(weight), f64::from(weight));
    }
    let degree: Vec<f64> = (0..40).map(|i| p.row(i).iter().sum()).collect();
    let normalized = Matrix::from_fn(40, 40, |i, j| match p[(i, j)] {
        0.0 => 0.0,
        weight => weight / (degree[i] * degree[j]).sqrt(),
    });
    for node in 0..40 {
        let mut expected = intercept.to_vec();
        let mut x = [0.0; 5];
        whole.features().for_each_in_row(node, |j, value| x[j] = f64::from(value));
        for (t, sum) in expected.iter_mut().enumerate() {
            *sum += (0..5).map(|j| x[j] * weights[(j, t)]).sum::<f64>();
            for (place, &other) in known.iter().enumerate() {
                let squared: f64 =
                    (0..40).map(|k| normalized[(node, k)] * normalized[(k, other)]).sum();
                *sum += squared * weights[(5 + place, t)];
            }
        }
        assert_close(&predictions.scores(node), &expected);
    }
}

#[test]
fn nodes_without_ids_must_be_as_many_and_strangers_are_refused() {
    let dataset = RECIPE.make();
    let model = fit(both(), &dataset);
    let fewer = dataset.select(&(0..39).collect::<Vec<_>>());
    assert!(refusal(&model, &fewer).contains("expected 40, found 39"));
    let features_alone = fit(Filter::Identity.into(), &dataset);
    assert_eq!(scores(&features_alone, &fewer).len(), 39, "who needs no nodes takes any");
    let named_model = fit(both(), &dataset.clone().with_node_ids(named("n", 40)).unwrap());
    let strangers = dataset.clone().with_node_ids(named("x", 40)).unwrap();
    let message = refusal(&named_model, &strangers);
    assert!(message.contains("no node of the data is one it was trained on"), "{message}");
    let rows = Ridge { kernel: "rbf".parse().unwrap(), ..Ridge::default() };
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let known = dataset.clone().with_node_ids(named("n", 40)).unwrap();
    let compares =
        Classifier::new(both()).with_ridge(rows).fit(&known, &split, &Context::default()).unwrap();
    let message = refusal(&compares, &known.select(&(0..30).collect::<Vec<_>>()));
    assert!(message.contains("in their order"), "{message}");
}

#[test]
fn directions_are_those_of_the_training() {
    let directed = RECIPE.make();
    let labels = directed.labels().clone();
    let undirected = Dataset::new(
        "undirected",
        directed.graph().clone().undirected(),
        directed.features().clone(),
        labels,
    )
    .unwrap();
    let degrees = Channel { input: Input::Degrees, ..Filter::Identity.into() };
    let design = Design::new(vec![Filter::sgc(1).unwrap().into(), degrees]).unwrap();
    // Trained without, used without.
    let model = fit(design.clone(), &undirected);
    assert!(!model.is_directed());
    assert_eq!(scores(&model, &directed), scores(&model, &undirected));
    let notes = model.predict(&directed, &Context::default()).unwrap().notes().to_vec();
    assert_eq!(notes, ["edges are used either way, as when the model was trained"]);
    // Trained with, used with.
    let model = fit(design, &directed);
    assert!(model.is_directed() && Model::from_bytes(&model.to_bytes()).unwrap().is_directed());
    let message = refusal(&model, &undirected);
    assert!(message.contains("learnt from the directions of edges"), "{message}");
    // Who looks at neighbours alone does not mind.
    let neighbours = fit(Filter::sgc(1).unwrap().into(), &directed);
    assert_eq!(scores(&neighbours, &undirected), scores(&neighbours, &directed));
}

/// α is large where rows depend on each other. A stack of one learner is that learner: at its λ, the classifier finds the
/// same, times the weight.
#[test]
fn a_stack_of_one_predicts_what_its_only_learner_does() {
    let Some(path) = published("chameleon_directed.npz") else { return };
    let context = Context::default();
    let kept = Directions::Kept { by: "the test" };
    let read = npz::read_with(&path, "chameleon", kept, &context).unwrap();
    let dataset = Dataset::new(
        "chameleon",
        read.graph().clone(),
        Features::none(read.nodes()),
        Labels::clone(read.labels()),
    )
    .unwrap();
    let split = read.split().unwrap();
    let operator =
        Operator::from(Normalization::Unit).with_loops(0.0).unwrap().with_direction(Direction::Out);
    let channel = Channel { operator, input: Input::Structure, ..Filter::sgc(1).unwrap().into() };
    let learner = Learner {
        name: "whom it points to".into(),
        design: channel.into(),
        kernel: "linear".parse().unwrap(),
        width: 1.0,
        intercept: false,
    };
    let design = learner.design.clone();
    let search = Search { learners: Some(vec![learner]), ..Search::default() };
    let tuned = search.run(&dataset, split, &context).unwrap();
    let found = &tuned.board[0];
    let ridge = Ridge { selection: Selection::fixed(found.lambda).unwrap(), ..Ridge::default() };
    let alone = Classifier::new(design).with_ridge(ridge).fit(&dataset, split, &context).unwrap();
    let (stack, alone) = (scores(&tuned.model, &dataset), scores(&alone, &dataset));
    for &node in split.test() {
        let scaled: Vec<f64> = alone[node].iter().map(|score| found.weight * score).collect();
        let far = stack[node].iter().zip(&scaled).any(|(a, b)| (a - b).abs() > 1e-3);
        assert!(!far, "node {node}: {:?} {scaled:?}", stack[node]);
    }
}

#[test]
fn a_type_of_edges_that_is_missing_is_named() {
    let plain = RECIPE.make();
    let typed = plain
        .graph()
        .clone()
        .undirected()
        .with_relations(vec![("cites".to_owned(), plain.graph().clone().undirected())])
        .unwrap();
    let labels = Labels::clone(plain.labels());
    let typed = Dataset::new("typed", typed, plain.features().clone(), labels).unwrap();
    let cites = Operator::default().with_relation("cites");
    let model = fit(Design::from(Filter::sgc(1).unwrap()).with_operator(cites), &typed);
    let message = refusal(&model, &plain);
    assert!(message.contains("edges of type \"cites\", and the data have none"), "{message}");
}

/// Arcs of two types that even out: each relation has directions, the graph of all has none.
#[test]
fn a_model_of_directions_that_even_out_is_read_again() {
    let arcs = [(0u32, 1u32), (1, 2), (2, 3), (3, 4), (4, 5)];
    let back: Vec<(u32, u32)> = arcs.iter().map(|&(a, b)| (b, a)).collect();
    let graph = |arcs: &[(u32, u32)]| gfgcn::graph::Graph::from_arcs(6, arcs, None).unwrap().0;
    let all = graph(&[&arcs[..], &back].concat());
    let relations = vec![("on".to_owned(), graph(&arcs)), ("back".to_owned(), graph(&back))];
    let all = all.with_relations(relations).unwrap();
    assert!(all.has_directions() && !all.is_directed());
    let labels = Labels::from_names(&["a", "b", "a", "b", "a", "b"].map(Some));
    let dataset = Dataset::new("even", all, Features::none(6), labels).unwrap();
    let degrees = Channel { input: Input::Degrees, ..Filter::Identity.into() };
    let model = fit(degrees.into(), &dataset);
    let read = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(scores(&read, &dataset), scores(&model, &dataset));
}
