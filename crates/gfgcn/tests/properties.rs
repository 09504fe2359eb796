//! What must hold whatever the data: invariances, determinism, agreement between paths.

mod repeatable;
mod synthetic;

use gfgcn::context::{Context, Engine, Memory};
use gfgcn::data::{Dataset, Labels};
use gfgcn::driver::{Driver, Rows};
use gfgcn::evaluation::Evaluation;
use gfgcn::features::Features;
use gfgcn::filter::Filter;
use gfgcn::graph::{Graph, Operator};
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Classifier, Design, Model, Ridge};
use gfgcn_data::npz;
use proptest::prelude::*;
use repeatable::repeatable;
use synthetic::{Random, Recipe};

const RECIPE: Recipe = Recipe {
    nodes: 60,
    features: 20,
    classes: 4,
    weighted: false,
    sparse: true,
    directed: false,
    seed: 5,
};

fn cora() -> Dataset {
    let bytes = include_bytes!("../../../datasets/cora.npz");
    npz::from_bytes(bytes, "cora", &Context::default()).unwrap()
}

fn scores(model: &Model, dataset: &Dataset) -> Vec<Vec<f64>> {
    let predictions = model.predict(dataset, &Context::default()).unwrap();
    (0..dataset.nodes()).map(|node| predictions.scores(node)).collect()
}

fn designs(texts: &[&str]) -> Vec<Design> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn ridge(kernel: &str) -> Ridge {
    Ridge { kernel: kernel.parse().unwrap(), ..Ridge::default() }
}

fn fit(classifier: &Classifier, dataset: &Dataset, split: &Split) -> Model {
    classifier.fit(dataset, split, &Context::default()).unwrap()
}

fn dense(dataset: &Dataset, change: impl Fn(usize, usize, f32) -> f32) -> Features {
    let features = dataset.features();
    let mut m = Matrix::zeros(features.rows(), features.cols());
    for i in 0..features.rows() {
        features.for_each_in_row(i, |j, value| m[(i, j)] = change(i, j, value));
    }
    Features::dense(m).unwrap()
}

#[test]
fn threads_change_no_bit() {
    let dataset = cora().largest_component();
    let splits: Vec<Split> = (0..2)
        .map(|seed| Split::stratified(dataset.labels(), Ratio::PAPER, seed).unwrap())
        .collect();
    let run = |threads: usize| {
        let context = Context::default().with_engine(Engine::with_threads(threads).unwrap());
        {
            let mut all = Vec::new();
            // Many training nodes: large enough for the factorisations that run in parallel.
            let train: Vec<usize> = (0..1500).collect();
            let large = Split::new(dataset.nodes(), train, vec![], vec![]).unwrap();
            for (filter, split) in
                [(Filter::sgc(64).unwrap(), &splits[0]), (Filter::ssgc(8, 0.05).unwrap(), &large)]
            {
                let model = Classifier::new(filter).fit(&dataset, split, &context).unwrap();
                let predictions = model.predict(&dataset, &context).unwrap();
                all.extend(predictions.into_targets().as_slice().iter().map(|s| s.to_bits()));
                all.push(model.members()[0].lambda().to_bits());
            }
            let evaluation = Evaluation {
                designs: designs(&["dgc:depth=8", "sgc:depth=2"]),
                splits: splits.clone(),
                ridge: ridge("rbf"),
                ..Evaluation::default()
            };
            for result in evaluation.run(&dataset, &context).unwrap() {
                all.extend(result.accuracies.iter().map(|a| a.to_bits()));
                all.extend(result.lambdas.iter().map(|l| l.to_bits()));
            }
            all
        }
    };
    let one = run(1);
    for threads in [2, 3, 5] {
        assert!(run(threads) == one, "{threads} threads give other bits than one");
    }
}

/// Ŷ(F, ξ) = Ŷ(βF, β²ξ): multiplying all features changes no prediction, and λ by β⁻².
#[test]
fn the_scale_of_the_features_does_not_matter() {
    let dataset = RECIPE.make();
    let split = Split::stratified(dataset.labels(), Ratio::new(1.0, 1.0, 1.0).unwrap(), 3).unwrap();
    for name in ["linear", "rbf", "laplacian", "polynomial", "cosine"] {
        for selection in [Selection::LeaveOneOut, Selection::Validation] {
            let kernel: Kernel = name.parse().unwrap();
            let ridge = Ridge { kernel, selection, intercept: false };
            let classifier = Classifier::new(Filter::sgc(4).unwrap()).with_ridge(ridge);
            let model = fit(&classifier, &dataset, &split);
            let original = scores(&model, &dataset);
            for power in [-20, -3, 5, 20] {
                // A power of two scales without rounding.
                let beta = 2f32.powi(power);
                let scaled = dataset.clone().map_features(|_| dense(&dataset, |_, _, v| beta * v));
                let scaled_model = fit(&classifier, &scaled, &split);
                let scaled_scores = scores(&scaled_model, &scaled);
                let difference = original.iter().flatten().zip(scaled_scores.iter().flatten());
                let largest = difference.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
                assert!(largest < 1e-6, "{name}, β = {beta}: {largest:e}");
                if name == "linear" {
                    let ratio = scaled_model.members()[0].lambda() * f64::from(beta).powi(2)
                        / model.members()[0].lambda();
                    assert!((ratio - 1.0).abs() < 1e-9, "λ ratio {ratio}");
                }
            }
        }
    }
}

fn permuted(dataset: &Dataset, order: &[usize]) -> Dataset {
    dataset.select(order)
}

proptest! {
    #![proptest_config(repeatable("properties", 24))]

    #[test]
    fn permuting_the_nodes_permutes_the_predictions(seed in 0u64..10_000, depth in 1usize..20) {
        let dataset = Recipe { seed, weighted: seed % 2 == 0, ..RECIPE }.make();
        let n = dataset.nodes();
        let mut order: Vec<usize> = (0..n).collect();
        let mut random = Random::new(seed);
        for i in (1..n).rev() {
            order.swap(i, random.below(i + 1));
        }
        let shuffled = permuted(&dataset, &order);
        let train: Vec<usize> = (0..n / 2).collect();
        let of_shuffled = (0..n).filter(|&k| order[k] < n / 2).collect();
        let classifier = Classifier::new(Filter::ssgc(depth, 0.05).unwrap())
            .with_ridge(Ridge { selection: Selection::fixed(2.0).unwrap(), ..Ridge::default() });
        let model = fit(&classifier, &dataset, &Split::new(n, train, vec![], vec![]).unwrap());
        let other = fit(&classifier, &shuffled, &Split::new(n, of_shuffled, vec![], vec![]).unwrap());
        let (a, b) = (scores(&model, &dataset), scores(&other, &shuffled));
        for k in 0..n {
            for (x, y) in a[order[k]].iter().zip(&b[k]) {
                prop_assert!((x - y).abs() < 1e-5, "{x} {y}");
            }
        }
    }

    #[test]
    fn filters_are_linear_and_fix_what_the_walk_fixes(seed in 0u64..10_000, depth in 1usize..60) {
        let dataset = Recipe { seed, ..RECIPE }.make();
        let filters = [Filter::sgc(depth), Filter::ssgc(depth, 0.2), Filter::dgc(depth.max(6), 5.27)];
        let row: Operator = "row".parse().unwrap();
        let designs = filters.map(|filter| Design::from(filter.unwrap()).with_operator(row.clone()));
        // Features X = I, so that the scores of W are p(Â) W.
        let n = dataset.nodes();
        let identity = Features::dense(Matrix::from_fn(n, n, |i, j| f32::from(i == j))).unwrap();
        let dataset =
            Dataset::new("identity", dataset.graph().clone(), identity, Labels::none(n)).unwrap();
        let mut random = Random::new(seed);
        let mut column = |_, _| random.unit() - 0.5;
        let x = Matrix::from_fn(n, 1, &mut column);
        let y = Matrix::from_fn(n, 1, &mut column);
        let sum = Matrix::from_fn(n, 1, |i, _| 2.0 * x[(i, 0)] - 3.0 * y[(i, 0)]);
        // p(1) = 1 for every filter, and constants are the walk's fixed vectors.
        let constant = Matrix::from_fn(n, 1, |_, _| 1.0);
        let driver = Driver::new(&dataset, &designs, Rows::of(vec![], n), 4).unwrap();
        for k in 0..designs.len() {
            let p = driver.scores(k, &[&x, &y, &sum, &constant], &Context::default()).unwrap();
            for i in 0..n {
                let expected = 2.0 * p[(i, 0)] - 3.0 * p[(i, 1)];
                prop_assert!((p[(i, 2)] - expected).abs() < 1e-10);
                prop_assert!((p[(i, 3)] - 1.0).abs() < 2e-7);
            }
        }
    }
}

/// What an evaluation found, to the last bit.
fn found(
    evaluation: &Evaluation,
    dataset: &Dataset,
    memory: u64,
) -> Vec<(Vec<u64>, Vec<Vec<u32>>)> {
    let context = Context::default().with_memory(Memory::limited(memory));
    let results = evaluation.run(dataset, &context).unwrap().into_iter();
    let bits = |lambdas: Vec<f64>| lambdas.into_iter().map(f64::to_bits).collect();
    results.map(|result| (bits(result.lambdas), result.predictions)).collect()
}

/// A hub with an edge to every node, a ring, and features that say the class only weakly.
fn with_a_hub(nodes: u32) -> Dataset {
    let ring = (1..nodes).map(|node| (node, node % (nodes - 1) + 1));
    let edges: Vec<(u32, u32)> = (1..nodes).map(|node| (0, node)).chain(ring).collect();
    let (graph, _) = Graph::from_edges(nodes as usize, &edges, None).unwrap();
    let mut random = Random::new(1);
    let features = Matrix::from_fn(nodes as usize, 12, |i, j| {
        (f64::from(u8::from(i % 4 == j % 4)) + 20.0 * random.unit()) as f32
    });
    let ids: Vec<i64> = (0..i64::from(nodes)).map(|node| node % 4).collect();
    let labels = Labels::from_ids(&ids, None).unwrap();
    Dataset::new("hub", graph, Features::dense(features).unwrap(), labels).unwrap()
}

/// Each design alone, all together, and all together with so little memory that they go one by one.
#[test]
fn company_and_memory_change_no_bit() {
    let all = [
        "sgc:depth=2",
        "sgc:depth=8",
        "sgc:depth=64",
        "ssgc:depth=8",
        "ssgc:depth=32,tau=0.2",
        "dgc:depth=4",
        "dgc:depth=64",
        "sgc:depth=3@row",
        "ssgc:depth=8/sum",
        "sgc:depth=2 + ssgc:depth=8@row/sum",
    ];
    // Few training nodes and many features take the side of the selectors, the others that of the features.
    let citations = cora().largest_component();
    let few = Split::new(citations.nodes(), (0..150).collect(), vec![], (150..2000).collect());
    let hub = with_a_hub(20_000);
    let many = Split::stratified(hub.labels(), Ratio::PAPER, 0);
    for (dataset, split) in [(citations, few.unwrap()), (hub, many.unwrap())] {
        let evaluation = |texts: &[&str]| Evaluation {
            designs: designs(texts),
            splits: vec![split.clone()],
            ridge: Ridge::default(),
            ..Evaluation::default()
        };
        let together = found(&evaluation(&all), &dataset, u64::MAX);
        let alone: Vec<_> =
            all.iter().flat_map(|text| found(&evaluation(&[text]), &dataset, u64::MAX)).collect();
        assert!(together == alone, "{}: company changes bits", dataset.name());
        // The least that is accepted: one design at a time.
        let refused = |memory: u64| {
            let context = Context::default().with_memory(Memory::limited(memory));
            evaluation(&all).run(&dataset, &context).is_err()
        };
        let (mut little, mut enough) = (0, 1 << 36);
        while enough - little > 1 << 20 {
            let middle = (little + enough) / 2;
            if refused(middle) { little = middle } else { enough = middle }
        }
        let one_by_one = found(&evaluation(&all), &dataset, enough);
        assert!(together == one_by_one, "{}: memory changes bits", dataset.name());
    }
}

#[test]
fn fit_then_predict_gives_the_labels_that_evaluate_scored() {
    let dataset = cora().largest_component();
    let splits: Vec<Split> = (0..2)
        .map(|seed| Split::stratified(dataset.labels(), Ratio::PAPER, seed).unwrap())
        .collect();
    let context = Context::default();
    for name in ["linear", "rbf"] {
        for selection in [Selection::LeaveOneOut, Selection::Validation] {
            let ridge = Ridge { selection, ..ridge(name) };
            let designs = designs(&["sgc:depth=2", "sgc:depth=128", "ssgc:depth=8"]);
            let evaluate = |splits: &[Split]| {
                let (designs, splits) = (designs.clone(), splits.to_vec());
                Evaluation { designs, splits, ridge, ..Evaluation::default() }
                    .run(&dataset, &context)
                    .unwrap()
            };
            let all_splits = evaluate(&splits);
            for (k, split) in splits.iter().enumerate() {
                // On one split evaluate does what a fit does: the same bits with a linear kernel; with others it
                // filters the features of all nodes anyway.
                let one_split = evaluate(std::slice::from_ref(split));
                for (one, all) in one_split.iter().zip(&all_splits) {
                    let classifier = Classifier::new(one.design.clone()).with_ridge(ridge);
                    let model = fit(&classifier, &dataset, split);
                    let predictions = model.predict(&dataset, &context).unwrap();
                    let classes: Vec<u32> =
                        split.test().iter().map(|&node| predictions.class(node)).collect();
                    if name == "linear" {
                        assert_eq!(model.members()[0].lambda(), one.lambdas[0]);
                        assert_eq!(classes, one.predictions[0], "{} {name}", one.design);
                    }
                    // With the rows of more splits the other side may be cheaper: the same up to single
                    // precision, which a deep filter magnifies on nodes that are nearly tied.
                    for (lambda, labels) in [
                        (one.lambdas[0], &one.predictions[0]),
                        (all.lambdas[k], &all.predictions[k]),
                    ] {
                        assert!((model.members()[0].lambda() / lambda - 1.0).abs() < 1e-4);
                        let same = classes.iter().zip(labels).filter(|(a, b)| a == b).count();
                        assert!(same * 100 >= classes.len() * 98, "{} {name}", one.design);
                    }
                }
            }
        }
    }
}

#[test]
fn a_model_predicts_a_larger_graph_that_contains_its_own() {
    let whole = cora();
    let part: Vec<usize> = (0..2000).collect();
    let small = whole.select(&part);
    let split = Split::all_labelled(small.labels()).unwrap();
    let model = fit(&Classifier::new(Filter::ssgc(8, 0.05).unwrap()), &small, &split);
    let predictions = model.predict(&whole, &Context::default()).unwrap();
    let new: Vec<usize> = (2000..whole.nodes()).collect();
    let hits = new.iter().filter(|&&n| Some(predictions.name(n)) == whole.labels().name(n)).count();
    let accuracy = hits as f64 / new.len() as f64;
    assert!(accuracy > 0.8, "{accuracy} on nodes the model has never seen");
}

#[test]
fn two_classes_share_one_target_and_one_class_is_always_predicted() {
    let dataset = Recipe { classes: 2, ..RECIPE }.make();
    let split = Split::stratified(dataset.labels(), Ratio::new(1.0, 0.0, 1.0).unwrap(), 1).unwrap();
    let model = fit(&Classifier::new(Filter::sgc(2).unwrap()), &dataset, &split);
    for row in scores(&model, &dataset) {
        assert_eq!(row.len(), 2);
        assert_eq!(row[0], -row[1]);
    }
    let one = Labels::from_names(&vec![Some("only"); dataset.nodes()]);
    let one =
        Dataset::new("one", dataset.graph().clone(), dataset.features().clone(), one).unwrap();
    let split = Split::all_labelled(one.labels()).unwrap();
    let model = fit(&Classifier::new(Filter::sgc(2).unwrap()), &one, &split);
    let predictions = model.predict(&one, &Context::default()).unwrap();
    assert!((0..one.nodes()).all(|node| predictions.name(node) == "only"));
}

#[test]
fn features_that_overflow_are_refused_by_every_kernel() {
    let base = RECIPE.make();
    let data = base.clone().map_features(|_| dense(&base, |_, _, _| 3e38));
    let split = Split::all_labelled(data.labels()).unwrap();
    for kernel in ["linear", "rbf", "laplacian", "polynomial", "cosine", "arccosine"] {
        let classifier = Classifier::new(Filter::sgc(3).unwrap()).with_ridge(ridge(kernel));
        let error = classifier.fit(&data, &split, &Context::default()).unwrap_err().to_string();
        assert!(error.contains("overflow single precision"), "{kernel}: {error}");
    }
}

#[test]
fn what_cannot_be_evaluated_is_an_error() {
    let dataset = RECIPE.make();
    let evaluation = Evaluation {
        designs: designs(&["sgc:depth=2"]),
        splits: Vec::new(),
        ridge: Ridge::default(),
        ..Evaluation::default()
    };
    assert!(evaluation.run(&dataset, &Context::default()).is_err());
    // Steps that overshoot are the paper's own at K = 2; those that blow up noise are not.
    assert!(Filter::dgc(2, 5.27).is_ok());
    assert!(Filter::dgc(20, 50.0).is_err());
}

/// A few test nodes with features so large that their scores overflow: never a silent accuracy.
#[test]
fn scores_that_overflow_are_an_error_of_the_evaluation() {
    let base = RECIPE.make();
    let large = |i: usize, _, value: f32| if i < 5 { 3e38 } else { 1e-30 * value };
    let data = base.clone().map_features(|_| dense(&base, large));
    let split = Split::new(60, (30..60).collect(), vec![], (0..30).collect()).unwrap();
    let (designs, ridge) = (designs(&["ssgc:depth=1,tau=1"]), ridge("polynomial:degree=20"));
    let evaluation = Evaluation { designs, splits: vec![split], ridge, ..Evaluation::default() };
    let error = evaluation.run(&data, &Context::default()).unwrap_err().to_string();
    assert!(error.contains("scores overflow"), "{error}");
}

#[test]
fn degenerate_features_still_give_finite_scores() {
    let base = RECIPE.make();
    let cases: [(&str, Features); 4] = [
        ("all zero", dense(&base, |_, _, _| 0.0)),
        ("constant", Features::dense(Matrix::from_fn(60, 3, |_, _| 1.0)).unwrap()),
        (
            "duplicate columns",
            Features::dense(Matrix::from_fn(60, 80, |i, _| (i % 7) as f32)).unwrap(),
        ),
        ("one column", Features::dense(Matrix::from_fn(60, 1, |i, _| i as f32)).unwrap()),
    ];
    let hub: Vec<(u32, u32)> = (1..60).map(|node| (0, node)).collect();
    let graphs =
        [Graph::from_edges(60, &[], None).unwrap().0, Graph::from_edges(60, &hub, None).unwrap().0];
    for graph in graphs {
        for (name, features) in &cases {
            let data = Dataset::new(*name, graph.clone(), features.clone(), base.labels().clone())
                .unwrap();
            let split = Split::all_labelled(data.labels()).unwrap();
            for kernel in ["linear", "rbf", "laplacian", "polynomial", "cosine", "arccosine"] {
                for intercept in [false, true] {
                    let ridge = Ridge { intercept, ..ridge(kernel) };
                    let classifier = Classifier::new(Filter::sgc(3).unwrap()).with_ridge(ridge);
                    let model = fit(&classifier, &data, &split);
                    let finite = scores(&model, &data).iter().flatten().all(|s| s.is_finite());
                    assert!(finite, "{name}, {kernel}, intercept {intercept}");
                }
            }
        }
    }
}
