//! The joint search: its numbers against really leaving nodes out, and its choice where the right one
//! is known.

mod naive;
mod published;
mod synthetic;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, Labels, Values};
use gfgcn::features::Features;
use gfgcn::filter::Filter;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::metrics::Metric;
use gfgcn::ridge::Selection;
use gfgcn::split::{Ratio, Split};
use gfgcn::tune::{Contender, Learner, Search, Tuned};
use gfgcn::{Classifier, Model, Ridge};
use gfgcn_data::npz;
use naive::Dense;
use published::published;
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

fn run(search: &Search, dataset: &Dataset, split: &Split) -> Tuned {
    search.run(dataset, split, &Context::default()).unwrap()
}

fn half(dataset: &Dataset) -> Split {
    Split::random(dataset.targets(), Ratio::new(1.0, 0.0, 1.0).unwrap(), 0).unwrap()
}

fn learner(design: &str, kernel: &str, intercept: bool) -> Learner {
    Learner {
        name: design.to_owned(),
        design: design.parse().unwrap(),
        kernel: kernel.parse().unwrap(),
        width: 1.0,
        intercept,
    }
}

/// What every node's scores are by what was trained without it.
fn left_out_scores(dataset: &Dataset, train: &[usize], classifier: &Classifier) -> Dense {
    let context = Context::default();
    let without = |&left_out: &usize| {
        let rest = train.iter().copied().filter(|&node| node != left_out).collect();
        let split = Split::new(dataset.nodes(), rest, vec![], vec![]).unwrap();
        let model = classifier.fit(dataset, &split, &context).unwrap();
        model.predict(dataset, &context).unwrap().into_targets().row(left_out).to_vec()
    };
    train.iter().map(without).collect()
}

/// Every kind of learner on a directed graph with relations: what the board says is what training without each node in
/// turn gives.
#[test]
fn scores_on_the_board_equal_leaving_each_node_out() {
    let dataset = Recipe { directed: true, ..RECIPE }.make();
    let split = half(&dataset);
    let learners: Vec<Learner> = [
        "ssgc:depth=8",
        "identity",
        "identity/unit",
        "sgc:depth=2@sym:loops=0",
        "highpass:depth=1@sym:loops=0",
        "sgc:depth=1@row:out,loops=0",
        "sgc:depth=1@row:in-out,loops=0",
        "sgc:depth=1@sym:loops=0,relation=odd",
        "sgc:depth=2@sym:loops=0 of structure",
        "sgc:depth=1@unit:in,loops=0 of structure",
        "ppr:alpha=0.2 of structure",
    ]
    .map(|design| learner(design, "linear", design.contains("sgc:depth=2")))
    .into_iter()
    // A given width: one that depends on the training nodes would change with each left out.
    .chain([learner("identity of degrees", "rbf:gamma=1", false)])
    .collect();
    let search = Search { learners: Some(learners.clone()), ..Search::default() };
    let tuned = run(&search, &dataset, &split);
    assert_eq!((tuned.board.len(), tuned.sample), (learners.len() + 1, None));
    let of_name = |contender: &Contender| learners.iter().find(|l| l.name == contender.name);
    for (contender, learner) in tuned.board.iter().filter_map(|c| Some((c, of_name(c)?))) {
        let selection = Selection::fixed(contender.lambda).unwrap();
        let (kernel, intercept) = (learner.kernel, learner.intercept);
        let classifier = Classifier::new(learner.design.clone()).with_ridge(Ridge {
            kernel,
            selection,
            intercept,
        });
        let scores = left_out_scores(&dataset, split.train(), &classifier);
        let (mut right, mut nearly_tied) = (0.0, 0.0);
        for (row, &node) in scores.iter().zip(split.train()) {
            let best = (0..3).fold(0, |best, k| if row[k] > row[best] { k } else { best });
            right += f64::from(u8::from(dataset.labels().get(node) == Some(best as u32)));
            let close = |k: usize| k != best && row[best] - row[k] < 1e-6 && row[best] != row[k];
            nearly_tied += f64::from(u8::from((0..3).any(close)));
        }
        let off = (contender.score * scores.len() as f64 - right).abs();
        assert!(off <= nearly_tied + 1e-9, "{contender:?}: {right}, {nearly_tied} nearly tied");
        assert!(nearly_tied < 3.0, "{contender:?}");
    }
    assert!(tuned.board.is_sorted_by(|a, b| a.score >= b.score));
}

/// The model of a stack, put together from parts on either side of their systems, scores as its formula says: every
/// learner by itself and the sum of their kernels, solved densely, times their weights.
#[test]
fn a_stack_scores_as_the_sum_of_its_parts() {
    // More features than training nodes, and fewer than all learners together have.
    for (features, nodes) in [(20, 60), (70, 60), (4, 80)] {
        let dataset = Recipe { features, nodes, directed: true, ..RECIPE }.make();
        let split = half(&dataset);
        let learners = vec![
            learner("identity", "linear", false),
            learner("sgc:depth=1@row:out,loops=0", "linear", false),
            learner("sgc:depth=2@sym:loops=0 of structure", "linear", false),
            learner("identity of degrees", "rbf:gamma=1", false),
        ];
        // No incumbent: always a stack.
        let search = Search { learners: Some(learners.clone()), ..Search::default() };
        let tuned = run(&search, &dataset, &split);
        assert!(tuned.stacked);
        let classes: Vec<u32> =
            split.train().iter().map(|&node| dataset.labels().get(node).unwrap()).collect();
        let y = naive::targets(&classes, 3);
        let kernels: Vec<(Dense, f64)> = learners
            .iter()
            .map(|learner| {
                let f = naive::design(&dataset, &learner.design);
                let train: Dense = split.train().iter().map(|&node| f[node].clone()).collect();
                let k = naive::gram(learner.kernel, &f, &train);
                let diagonal = split.train().iter().enumerate().map(|(i, &node)| k[node][i]);
                let scale = diagonal.sum::<f64>() / train.len() as f64;
                (k, scale)
            })
            .collect();
        let scores = |k: &Dense, lambda: f64| {
            let m: Dense = split.train().iter().map(|&node| k[node].clone()).collect();
            naive::multiply(k, &naive::ridge(&m, &y, 1.0 / lambda, false).0)
        };
        let mut expected = naive::zeros(dataset.nodes(), 3);
        for contender in &tuned.board {
            let k = match learners.iter().position(|l| l.name == contender.name) {
                Some(k) => kernels[k].0.clone(),
                None => kernels
                    .iter()
                    .fold(naive::zeros(nodes, split.train().len()), |sum, (k, scale)| {
                        naive::add(&sum, 1.0 / scale, k)
                    }),
            };
            expected = naive::add(&expected, contender.weight, &scores(&k, contender.lambda));
        }
        let predicted = tuned.model.predict(&dataset, &Context::default()).unwrap().into_targets();
        let found: Dense = (0..nodes).map(|node| predicted.row(node).to_vec()).collect();
        let error = naive::distance(&expected, &found);
        assert!(error < 2e-4, "{features} features: {error:e}");
        assert!((tuned.shares.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9);
        let bytes = tuned.model.to_bytes();
        assert_eq!(Model::from_bytes(&bytes).unwrap(), tuned.model);
    }
}

#[test]
fn the_incumbent_gives_way_where_the_graph_misleads_and_stays_where_it_does_not() {
    let tuned = |dataset: &Dataset| {
        run(&Search::default(), dataset, &Split::all_labelled(dataset.labels()).unwrap())
    };
    // Random edges mix the classes: a node's own features say everything.
    let misled = tuned(&dataset(200, 1.0, false, &by_parity(200)));
    assert!(misled.stacked && misled.score > 0.95 && misled.own_features_suffice, "{misled:?}");
    // Edges within classes: everything is right, nothing is better than the incumbent.
    let helped = tuned(&dataset(200, 3.0, true, &by_parity(200)));
    assert!(!helped.stacked && !helped.own_features_suffice, "{helped:?}");
    assert_eq!(helped.model.members().len(), 1);
    assert_eq!(helped.shares, [("SSGC".to_owned(), 1.0)]);
}

/// Neighbours differ: what low-pass filters blur, others see.
#[test]
fn neighbours_of_the_other_class_are_as_good_as_those_of_ones_own() {
    let mut random = Random::new(5);
    let mut edges = Vec::new();
    while edges.len() < 1200 {
        let (a, b) = (random.below(300), random.below(300));
        if a % 2 != b % 2 {
            edges.push((a as u32, b as u32));
        }
    }
    let (graph, _) = Graph::from_edges(300, &edges, None).unwrap();
    let noisy = Matrix::from_fn(300, 8, |i, j| {
        (f64::from(u8::from(j % 2 == i % 2)) + 5.0 * (random.unit() - 0.5)) as f32
    });
    let features = Features::dense(noisy).unwrap();
    let data = Dataset::new("other", graph, features, Labels::from_names(&by_parity(300))).unwrap();
    let split = half(&data);
    let searched = Search::default()
        .evaluate(&data, std::slice::from_ref(&split), &Context::default())
        .unwrap();
    assert_eq!(searched.stacked, 1);
    assert!(searched.accuracies[0] > 90.0, "{searched:?}");
    let default = Classifier::new(gfgcn::filter::Filter::ssgc(8, 0.05).unwrap());
    let model = default.fit(&data, &split, &Context::default()).unwrap();
    let predictions = model.predict(&data, &Context::default()).unwrap();
    let right =
        split.test().iter().filter(|&&n| data.labels().name(n) == Some(predictions.name(n)));
    assert!(right.count() < 120, "the default is no better than features");
}

fn predictions(dataset: &Dataset, tuned: &Tuned) -> Matrix<f64> {
    tuned.model.predict(dataset, &Context::default()).unwrap().into_targets()
}

fn distance(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    let pairs = a.as_slice().iter().zip(b.as_slice());
    pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

/// Every arc turned round, and with it out and in: the same scores.
#[test]
fn a_graph_and_its_transpose_are_learnt_alike() {
    let dataset = Recipe { directed: true, nodes: 90, ..RECIPE }.make();
    let (features, labels) = (dataset.features().clone(), dataset.labels().clone());
    let turned = dataset.graph().clone().transposed();
    let turned = Dataset::new("turned", turned, features, labels).unwrap();
    let split = half(&dataset);
    let one = learner("sgc:depth=2@row:out,loops=0", "linear", false);
    let other = learner("sgc:depth=2@row:in,loops=0", "linear", false);
    let both = learner("sgc:depth=1@sym:in-out,loops=0 of structure", "linear", false);
    let back = learner("sgc:depth=1@sym:out-in,loops=0 of structure", "linear", false);
    let here = Search { learners: Some(vec![one, both]), ..Search::default() };
    let there = Search { learners: Some(vec![other, back]), ..Search::default() };
    let (a, b) = (run(&here, &dataset, &split), run(&there, &turned, &split));
    assert_eq!(distance(&predictions(&dataset, &a), &predictions(&turned, &b)), 0.0);
    // The whole search, in which learners stand in another order.
    let (a, b) =
        (run(&Search::default(), &dataset, &split), run(&Search::default(), &turned, &split));
    let error = distance(&predictions(&dataset, &a), &predictions(&turned, &b));
    assert!(error < 1e-5, "{error}");
}

#[test]
fn relations_in_another_order_have_the_same_weights() {
    let dataset = Recipe { directed: true, nodes: 90, ..RECIPE }.make();
    let graph = dataset.graph();
    let mut relations: Vec<(String, Graph)> =
        graph.relations().iter().map(|r| (r.name().to_owned(), r.graph().clone())).collect();
    relations.reverse();
    let permuted = graph.clone().with_relations(relations).unwrap();
    let (features, labels) = (dataset.features().clone(), dataset.labels().clone());
    let permuted = Dataset::new("permuted", permuted, features, labels).unwrap();
    let split = half(&dataset);
    let (a, b) =
        (run(&Search::default(), &dataset, &split), run(&Search::default(), &permuted, &split));
    assert!(a.board.iter().any(|c| c.name == "neighbours by odd"));
    for contender in &a.board {
        let same = b.board.iter().find(|c| c.name == contender.name).unwrap();
        assert!((contender.weight - same.weight).abs() < 1e-6, "{contender:?} {same:?}");
    }
}

/// Without features there is no default: structure and degrees are stacked.
#[test]
fn graphs_without_features_are_learnt_from_their_structure() {
    let with = dataset(200, 1.0, true, &by_parity(200));
    let labels = with.labels().clone();
    let data = Dataset::new("bare", with.graph().clone(), Features::none(200), labels).unwrap();
    let split = half(&data);
    let searched = Search::default().evaluate(&data, &[split], &Context::default()).unwrap();
    assert!(searched.accuracies[0] > 95.0, "{searched:?}");
}

/// A value that is the mean of the neighbours' first feature, and sets of labels: what is chosen predicts both.
#[test]
fn values_and_sets_are_searched_for_as_well() {
    let data = dataset(300, 2.0, false, &by_parity(300));
    let graph = data.graph();
    let first = |node: usize| {
        let mut value = 0.0;
        data.features().for_each_in_row(node, |j, v| {
            if j == 0 {
                value = f64::from(v)
            }
        });
        value
    };
    let mean = |node: usize| {
        let around = graph.neighbours(node);
        around.iter().map(|&n| first(n as usize)).sum::<f64>() / around.len().max(1) as f64
    };
    let column = Matrix::from_fn(300, 1, |i, _| 100.0 + 7.0 * mean(i));
    let values = Values::new(vec!["mean".into()], column).unwrap();
    let values = data.clone().with_targets(values).unwrap();
    let context = Context::default();
    let searched = Search::default().evaluate(&values, &[half(&values)], &context).unwrap();
    assert_eq!(searched.metric, Metric::R2);
    assert!(searched.scores[0] > 0.8 && searched.accuracies.is_empty(), "{searched:?}");
    let set = |node: usize| {
        let mut labels = vec![["even", "odd"][node % 2]];
        labels.extend((first(node) > 1.0).then_some("high"));
        Some(labels)
    };
    let sets = LabelSets::from_names(&(0..300).map(set).collect::<Vec<_>>());
    let sets = data.clone().with_targets(sets).unwrap();
    let searched = Search::default().evaluate(&sets, &[half(&sets)], &context).unwrap();
    assert_eq!(searched.metric, Metric::MicroF1);
    assert!(searched.scores[0] > 85.0, "{searched:?}");
}

/// Enough features to make a search of all learners on all training nodes expensive.
fn expensive(order: &[usize]) -> (Dataset, Split) {
    let dataset = Recipe { nodes: 1700, features: 1900, seed: 5, ..RECIPE }.make().select(order);
    let split = Split::all_labelled(dataset.labels()).unwrap();
    (dataset, split)
}

/// With many training nodes those that count on a sample go on; which ones does not depend on the order of the nodes.
#[test]
fn the_order_of_nodes_does_not_decide() {
    let order: Vec<usize> = (0..1700).map(|k| k * 701 % 1700).collect();
    let [(here, here_split), (there, there_split)] =
        [expensive(&(0..1700).collect::<Vec<_>>()), expensive(&order)];
    let (a, b) = (
        run(&Search::default(), &here, &here_split),
        run(&Search::default(), &there, &there_split),
    );
    assert!(a.sample.is_some_and(|nodes| (400..=1200).contains(&nodes)), "{:?}", a.sample);
    let names = |tuned: &Tuned| {
        let mut names: Vec<String> = tuned.board.iter().map(|c| c.name.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&a), names(&b), "those that went on");
    assert!(a.board.iter().any(|contender| contender.name == "SSGC"));
    assert_eq!(a.stacked, b.stacked);
    let expected = |tuned: &Tuned| tuned.expected.unwrap().score;
    assert!((expected(&a) - expected(&b)).abs() < 1e-9);
}

/// Where the systems are small, no sample decides.
#[test]
fn a_search_that_costs_little_meets_every_training_node() {
    let dataset = dataset(5000, 4.0, true, &by_parity(5000));
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let tuned = run(&Search::default(), &dataset, &split);
    assert_eq!(tuned.sample, None);
    assert!(!tuned.left_out.is_empty(), "structure of so many nodes takes too long");
}

/// Features that are too many for every learner are not too many for the default.
#[test]
fn the_default_is_tried_whatever_it_takes() {
    let wide = Recipe { nodes: 4400, features: 4100, classes: 2, ..RECIPE }.make();
    let split = Split::all_labelled(wide.labels()).unwrap();
    let tuned = run(&Search::default(), &wide, &split);
    let names: Vec<&str> = tuned.board.iter().map(|contender| contender.name.as_str()).collect();
    assert!(names.contains(&"SSGC") && names.contains(&"own features"), "{names:?}");
    assert!(tuned.left_out.contains(&"two hops".to_owned()), "{:?}", tuned.left_out);
    assert!(tuned.sample.is_some());
}

#[test]
fn labels_without_meaning_are_not_expected_to_be_predicted() {
    let mut random = Random::new(3);
    let labels: Vec<Option<&str>> = (0..200).map(|_| Some(["a", "b"][random.below(2)])).collect();
    let dataset = dataset(200, 1.0, true, &labels);
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let tuned = run(&Search::default(), &dataset, &split);
    let best = tuned.board[0].score;
    assert!(best > 0.52, "the luckiest of many looks better than chance: {best}");
    let expected = tuned.expected.unwrap();
    assert!(
        (expected.score - 0.5).abs() < 3.0 * expected.std_error,
        "but is not expected to be: {expected:?}"
    );
}

#[test]
fn an_empty_search_is_an_error() {
    let dataset = RECIPE.make();
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let nothing = Search { learners: Some(vec![]), ..Search::default() };
    assert!(nothing.run(&dataset, &split, &Context::default()).is_err());
}

/// On the first official splits of Minesweeper, where a search once threw away what is best.
fn minesweeper_is_searched(splits: usize) {
    let Some(path) = published("minesweeper.npz") else { return };
    let context = Context::default();
    let dataset = npz::read(&path, "minesweeper", &context).unwrap();
    assert_eq!(dataset.splits().len(), 10);
    for split in &dataset.splits()[..splits] {
        let tuned = run(&Search::default(), &dataset, split);
        let one_step = Classifier::new(Filter::sgc(1).unwrap());
        let one_step = one_step.fit(&dataset, split, &context).unwrap();
        let (metric, score) = one_step.selection_score().unwrap();
        assert_eq!((metric, tuned.metric), (Metric::Accuracy, Metric::Accuracy));
        assert!(tuned.score >= score, "{} {score}", tuned.score);
    }
}

#[test]
fn a_search_is_no_worse_than_one_step() {
    minesweeper_is_searched(1);
}

#[test]
#[ignore = "a minute; make test-full"]
fn a_search_is_no_worse_than_one_step_on_any_split() {
    minesweeper_is_searched(10);
}
