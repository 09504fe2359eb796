//! The joint search: its numbers against really leaving nodes out, and its choice where the right one
//! is known.

mod synthetic;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::filter::Filter;
use gfgcn::graph::Graph;
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::split::{Ratio, Split};
use gfgcn::tune::{Contender, Search, Tuned};
use gfgcn::{Classifier, Design, Ridge, RowScaling};
use synthetic::{Random, Recipe};

const RECIPE: Recipe = Recipe {
    nodes: 60,
    features: 20,
    classes: 3,
    weighted: false,
    sparse: true,
    directed: false,
    seed: 11,
};

/// Features around the mean of the class, `noise` times a random number away from it; edges between
/// random nodes, or within classes only.
fn dataset(nodes: usize, noise: f64, within_classes: bool, labels: &[Option<&str>]) -> Dataset {
    let mut random = Random::new(7);
    let class = |node: usize| node % 2;
    let mut edges = Vec::new();
    while edges.len() < 4 * nodes {
        let (a, b) = (random.below(nodes), random.below(nodes));
        if a != b && (!within_classes || class(a) == class(b)) {
            edges.push((a as u32, b as u32));
        }
    }
    let features = Matrix::from_fn(nodes, 8, |i, j| {
        let own = f64::from(u8::from(j % 2 == class(i)));
        (own + noise * (random.unit() - 0.5)) as f32
    });
    let (graph, _) = Graph::from_edges(nodes, &edges, None).unwrap();
    let features = Features::dense(features).unwrap();
    Dataset::new("made", graph, features, Labels::from_names(labels)).unwrap()
}

fn by_parity(nodes: usize) -> Vec<Option<&'static str>> {
    (0..nodes).map(|node| Some(["even", "odd"][node % 2])).collect()
}

/// Trains without each node in turn and asks about it.
fn left_out_accuracy(dataset: &Dataset, train: &[usize], contender: &Contender) -> f64 {
    let selection = Selection::fixed(contender.lambda).unwrap();
    let ridge = Ridge { kernel: contender.kernel, selection, intercept: false };
    let (classifier, context) =
        (Classifier::new(contender.design.clone()).with_ridge(ridge), Context::default());
    let labels = dataset.labels();
    let right = |&&left_out: &&usize| {
        let rest = train.iter().copied().filter(|&node| node != left_out).collect();
        let split = Split::new(dataset.nodes(), rest, vec![], vec![]).unwrap();
        let model = classifier.fit(dataset, &split, &context).unwrap();
        let predictions = model.predict(dataset, &context).unwrap();
        Some(predictions.name(left_out)) == labels.name(left_out)
    };
    train.iter().filter(right).count() as f64 / train.len() as f64
}

fn run(search: &Search, dataset: &Dataset, split: &Split) -> Tuned {
    search.run(dataset, split, &Context::default()).unwrap()
}

#[test]
fn accuracies_on_the_board_equal_leaving_each_node_out() {
    let dataset = RECIPE.make();
    let split = Split::stratified(dataset.labels(), Ratio::new(1.0, 0.0, 1.0).unwrap(), 0).unwrap();
    let designs = [Filter::sgc(2).unwrap(), Filter::dgc(16, 3.0).unwrap()].map(Design::from);
    let scaled = designs.clone().map(|design| design.with_rows(RowScaling::Sum));
    let search = Search {
        designs: [designs, scaled].concat(),
        // A given width: one that depends on the training nodes would change with each left out.
        kernels: ["linear", "rbf:gamma=0.5", "cosine"].map(|k| k.parse().unwrap()).to_vec(),
        ..Search::default()
    };
    let tuned = run(&search, &dataset, &split);
    assert_eq!((tuned.tried, tuned.board.len(), tuned.sample), (12, 12, None));
    for contender in &tuned.board {
        let expected = left_out_accuracy(&dataset, split.train(), contender);
        assert!((contender.accuracy - expected).abs() < 1e-12, "{contender:?}: {expected}");
    }
    assert!(tuned.board.is_sorted_by(|a, b| a.accuracy >= b.accuracy));
}

#[test]
fn the_incumbent_gives_way_where_the_graph_misleads_and_stays_where_it_does_not() {
    let incumbent = Search::default().designs[0].filter();
    let chosen = |dataset: &Dataset| {
        let split = Split::all_labelled(dataset.labels()).unwrap();
        let tuned = run(&Search::default(), dataset, &split);
        tuned.board[tuned.chosen].clone()
    };
    // Random edges mix the classes: the less is filtered, the better.
    let misled = chosen(&dataset(200, 1.0, false, &by_parity(200)));
    assert!(misled.design.filter().evaluate(0.0) > incumbent.evaluate(0.0) + 0.1, "{misled:?}");
    assert!(misled.accuracy > 0.95, "{misled:?}");
    // Edges within classes: everything is right, nothing is better than the incumbent.
    let helped = chosen(&dataset(200, 3.0, true, &by_parity(200)));
    assert_eq!((helped.design.filter(), helped.kernel), (incumbent, Kernel::Linear));
}

/// Enough features to make a search of all candidates on all training nodes expensive.
fn expensive(order: &[usize]) -> (Dataset, Split) {
    let dataset = Recipe { nodes: 1300, features: 900, seed: 5, ..RECIPE }.make().select(order);
    let split = Split::all_labelled(dataset.labels()).unwrap();
    (dataset, split)
}

#[test]
fn with_many_training_nodes_the_best_of_a_sample_are_compared_on_all() {
    let (dataset, split) = expensive(&(0..1300).collect::<Vec<_>>());
    let search = Search::default();
    let tuned = run(&search, &dataset, &split);
    assert!(tuned.sample.is_some_and(|nodes| (400..=600).contains(&nodes)), "{:?}", tuned.sample);
    assert!(tuned.board.len() < tuned.tried);
    let incumbent = &search.designs[0];
    assert!(tuned.board.iter().any(|c| c.design == *incumbent && c.kernel == Kernel::Linear));
    check_training_gives_the_same(&tuned, &dataset, &split);
}

/// Where the systems are small, no sample decides.
#[test]
fn a_search_that_costs_little_meets_every_training_node() {
    let dataset = dataset(5000, 4.0, true, &by_parity(5000));
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let tuned = run(&Search::default(), &dataset, &split);
    assert_eq!((tuned.sample, tuned.board.len()), (None, tuned.tried));
}

/// The same nodes are in the sample, and the same are drawn to judge the choice, wherever they stand.
#[test]
fn the_order_of_nodes_does_not_decide() {
    let order: Vec<usize> = (0..1300).map(|k| k * 701 % 1300).collect();
    let [(here, here_split), (there, there_split)] =
        [expensive(&(0..1300).collect::<Vec<_>>()), expensive(&order)];
    let (a, b) = (
        run(&Search::default(), &here, &here_split),
        run(&Search::default(), &there, &there_split),
    );
    let names = |tuned: &Tuned| {
        let names = tuned.board.iter().map(|c| format!("{} {}", c.design, c.kernel));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    assert_eq!(names(&a), names(&b), "the finalists");
    let (chosen, other) = (&a.board[a.chosen], &b.board[b.chosen]);
    assert_eq!((&chosen.design, chosen.kernel), (&other.design, other.kernel));
    assert!((chosen.lambda / other.lambda - 1.0).abs() < 1e-6, "{chosen:?} {other:?}");
    assert!((a.expected.accuracy - b.expected.accuracy).abs() < 1e-12);
}

/// The search and the training of its choice agree to the last bit.
fn check_training_gives_the_same(tuned: &Tuned, dataset: &Dataset, split: &Split) {
    let model = tuned.classifier().fit(dataset, split, &Context::default()).unwrap();
    let contender = &tuned.board[tuned.chosen];
    assert_eq!(model.members()[0].lambda(), contender.lambda);
    assert_eq!(model.provenance().selection_accuracy, Some(contender.accuracy));
}

/// Whatever side and company the search computed the winner in: more features than training nodes and fewer, deep
/// and shallow filters together.
#[test]
fn the_choice_is_trained_with_the_lambda_of_the_board() {
    for (features, seed) in [(5, 1), (20, 2), (90, 3), (400, 4)] {
        let dataset = Recipe { nodes: 120, features, seed, ..RECIPE }.make();
        let ratio = Ratio::new(1.0, 0.0, 1.0).unwrap();
        let split = Split::stratified(dataset.labels(), ratio, seed).unwrap();
        for kernels in [vec![Kernel::Linear], Search::default().kernels] {
            let search = Search { kernels, ..Search::default() };
            check_training_gives_the_same(&run(&search, &dataset, &split), &dataset, &split);
        }
    }
}

#[test]
fn labels_without_meaning_are_not_expected_to_be_predicted() {
    let mut random = Random::new(3);
    let labels: Vec<Option<&str>> = (0..200).map(|_| Some(["a", "b"][random.below(2)])).collect();
    let dataset = dataset(200, 1.0, true, &labels);
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let tuned = run(&Search::default(), &dataset, &split);
    let best = tuned.board[0].accuracy;
    assert!(best > 0.52, "the luckiest of many looks better than chance: {best}");
    let expected = tuned.expected;
    assert!(
        (expected.accuracy - 0.5).abs() < 3.0 * expected.std_error,
        "but is not expected to be: {expected:?}"
    );
}

#[test]
fn an_empty_search_is_an_error() {
    let dataset = RECIPE.make();
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let nothing = Search { designs: vec![], ..Search::default() };
    assert!(nothing.run(&dataset, &split, &Context::default()).is_err());
}
