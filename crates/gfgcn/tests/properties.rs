//! What must hold whatever the data: invariances, determinism, agreement between paths.

mod repeatable;
mod synthetic;

use gfgcn::data::{Dataset, Labels};
use gfgcn::evaluation::Evaluation;
use gfgcn::features::Features;
use gfgcn::filter::{Filter, FilterBank, Tolerance, propagate};
use gfgcn::graph::{Graph, Normalization, Propagator};
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Classifier, Model, Options};
use gfgcn_data::npz;
use proptest::prelude::*;
use repeatable::repeatable;
use synthetic::{Random, Recipe};

const RECIPE: Recipe =
    Recipe { nodes: 60, features: 20, classes: 4, weighted: false, sparse: true, seed: 5 };

fn cora() -> Dataset {
    let bytes = include_bytes!("../../../datasets/cora.npz");
    npz::from_bytes(bytes, "cora").unwrap()
}

fn scores(model: &Model, dataset: &Dataset) -> Vec<Vec<f64>> {
    let predictions = model.predict(dataset).unwrap();
    (0..dataset.nodes()).map(|node| predictions.scores(node)).collect()
}

fn bits(scores: &[Vec<f64>]) -> Vec<u64> {
    scores.iter().flatten().map(|s| s.to_bits()).collect()
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
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut all = Vec::new();
            // Many training nodes: large enough for the factorisations that run in parallel.
            let train: Vec<usize> = (0..1500).collect();
            let large = Split::new(dataset.nodes(), train, vec![], vec![]).unwrap();
            for (filter, split) in
                [(Filter::sgc(64).unwrap(), &splits[0]), (Filter::ssgc(8, 0.05).unwrap(), &large)]
            {
                let model = Classifier::new(filter).fit(&dataset, split).unwrap();
                all.extend(bits(&scores(&model, &dataset)));
                all.push(model.lambda().to_bits());
            }
            let evaluation = Evaluation {
                filters: vec![Filter::dgc(8, 5.27).unwrap(), Filter::sgc(2).unwrap()],
                splits: splits.clone(),
                options: Options { kernel: "rbf".parse().unwrap(), ..Options::default() },
                memory: 1 << 30,
            };
            for outcome in evaluation.run(&dataset, &|| ()).unwrap() {
                all.extend(outcome.accuracies.iter().map(|a| a.to_bits()));
                all.extend(outcome.lambdas.iter().map(|l| l.to_bits()));
            }
            all
        })
    };
    let one = run(1);
    for threads in [2, 3, 8] {
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
            let options = Options { kernel, selection, ..Options::default() };
            let classifier = Classifier::new(Filter::sgc(4).unwrap()).options(options);
            let model = classifier.fit(&dataset, &split).unwrap();
            let original = scores(&model, &dataset);
            for power in [-20, -3, 5, 20] {
                // A power of two scales without rounding.
                let beta = 2f32.powi(power);
                let scaled = dataset.clone().map_features(|_| dense(&dataset, |_, _, v| beta * v));
                let scaled_model = classifier.fit(&scaled, &split).unwrap();
                let scaled_scores = scores(&scaled_model, &scaled);
                let difference = original.iter().flatten().zip(scaled_scores.iter().flatten());
                let largest = difference.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
                assert!(largest < 1e-6, "{name}, β = {beta}: {largest:e}");
                if name == "linear" {
                    let ratio = scaled_model.lambda() * f64::from(beta).powi(2) / model.lambda();
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
            .options(Options { selection: Selection::fixed(2.0).unwrap(), ..Options::default() });
        let model = classifier.fit(&dataset, &Split::new(n, train, vec![], vec![]).unwrap()).unwrap();
        let other = classifier.fit(&shuffled, &Split::new(n, of_shuffled, vec![], vec![]).unwrap()).unwrap();
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
        let propagator = Propagator::new(dataset.graph(), Normalization::Row);
        let filters = [Filter::sgc(depth), Filter::ssgc(depth, 0.2), Filter::dgc(depth.max(6), 5.27)];
        let filters = filters.map(Result::unwrap);
        let bank = FilterBank::new(&filters, Tolerance::default());
        let mut random = Random::new(seed);
        let mut column = |_, _| random.unit() - 0.5;
        let x = Matrix::from_fn(dataset.nodes(), 1, &mut column);
        let y = Matrix::from_fn(dataset.nodes(), 1, &mut column);
        let sum = Matrix::from_fn(dataset.nodes(), 1, |i, _| 2.0 * x[(i, 0)] - 3.0 * y[(i, 0)]);
        // p(1) = 1 for every filter, and constants are the walk's fixed vectors.
        let constant = Matrix::from_fn(dataset.nodes(), 1, |_, _| 1.0);
        let apply = |m: &Matrix<f64>| propagate::<f64>(&propagator, &bank, m, None);
        let (px, py, ps, pc) = (apply(&x), apply(&y), apply(&sum), apply(&constant));
        for k in 0..bank.len() {
            let (px, py) = (px[k].to_matrix(), py[k].to_matrix());
            let (ps, pc) = (ps[k].to_matrix(), pc[k].to_matrix());
            for i in 0..dataset.nodes() {
                let expected = 2.0 * px[(i, 0)] - 3.0 * py[(i, 0)];
                prop_assert!((ps[(i, 0)] - expected).abs() < 1e-10);
                prop_assert!((pc[(i, 0)] - 1.0).abs() < 2e-7);
            }
        }
    }
}

#[test]
fn a_filter_gives_the_same_bits_alone_and_in_company() {
    let dataset = cora();
    let propagator = Propagator::new(dataset.graph(), Normalization::Symmetric);
    let filters = [
        Filter::dgc(64, 5.27).unwrap(),
        Filter::sgc(16).unwrap(),
        Filter::ssgc(128, 0.05).unwrap(),
    ];
    let company = FilterBank::new(&filters, Tolerance::default());
    let rows = [5, 0, 2707, 5];
    let a = propagate::<f32>(&propagator, &company.only(1), dataset.features(), Some(&rows));
    let b = propagate::<f32>(&propagator, &company, dataset.features(), None);
    assert_eq!(a[0].to_matrix(), b[1].select(rows.into_iter()));
}

#[test]
fn fit_then_predict_gives_the_labels_that_evaluate_scored() {
    let dataset = cora().largest_component();
    let splits: Vec<Split> = (0..2)
        .map(|seed| Split::stratified(dataset.labels(), Ratio::PAPER, seed).unwrap())
        .collect();
    let filters =
        vec![Filter::sgc(2).unwrap(), Filter::sgc(128).unwrap(), Filter::ssgc(8, 0.05).unwrap()];
    for name in ["linear", "rbf"] {
        for selection in [Selection::LeaveOneOut, Selection::Validation] {
            let options =
                Options { kernel: name.parse().unwrap(), selection, ..Options::default() };
            let evaluate = |splits: &[Split], memory: u64| {
                let (filters, splits) = (filters.clone(), splits.to_vec());
                Evaluation { filters, splits, options, memory }.run(&dataset, &|| ()).unwrap()
            };
            let together = evaluate(&splits, u64::MAX);
            for (k, split) in splits.iter().enumerate() {
                // One filter at a time on one split is what a fit does: the same bits with a linear
                // kernel; with others evaluate filters the features of all nodes anyway.
                let alone = evaluate(std::slice::from_ref(split), 1);
                for (alone, together) in alone.iter().zip(&together) {
                    let classifier = Classifier::new(alone.filter).options(options);
                    let model = classifier.fit(&dataset, split).unwrap();
                    let predictions = model.predict(&dataset).unwrap();
                    let classes: Vec<u32> =
                        split.test().iter().map(|&node| predictions.class(node)).collect();
                    if name == "linear" {
                        assert_eq!(model.lambda(), alone.lambdas[0]);
                        assert_eq!(classes, alone.predictions[0], "{} {name}", alone.filter);
                    }
                    // In company another side or basis may be cheaper: the same up to single
                    // precision, which a deep filter magnifies on nodes that are nearly tied.
                    for (lambda, labels) in [
                        (alone.lambdas[0], &alone.predictions[0]),
                        (together.lambdas[k], &together.predictions[k]),
                    ] {
                        assert!((model.lambda() / lambda - 1.0).abs() < 1e-4);
                        let same = classes.iter().zip(labels).filter(|(a, b)| a == b).count();
                        assert!(same * 100 >= classes.len() * 98, "{} {name}", alone.filter);
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
    let model = Classifier::new(Filter::ssgc(8, 0.05).unwrap()).fit(&small, &split).unwrap();
    let predictions = model.predict(&whole).unwrap();
    let new: Vec<usize> = (2000..whole.nodes()).collect();
    let hits = new.iter().filter(|&&n| Some(predictions.name(n)) == whole.labels().name(n)).count();
    let accuracy = hits as f64 / new.len() as f64;
    assert!(accuracy > 0.8, "{accuracy} on nodes the model has never seen");
}

#[test]
fn two_classes_share_one_target_and_one_class_is_always_predicted() {
    let dataset = Recipe { classes: 2, ..RECIPE }.make();
    let split = Split::stratified(dataset.labels(), Ratio::new(1.0, 0.0, 1.0).unwrap(), 1).unwrap();
    let model = Classifier::new(Filter::sgc(2).unwrap()).fit(&dataset, &split).unwrap();
    for row in scores(&model, &dataset) {
        assert_eq!(row.len(), 2);
        assert_eq!(row[0], -row[1]);
    }
    let one = Labels::from_names(&vec![Some("only"); dataset.nodes()]);
    let one =
        Dataset::new("one", dataset.graph().clone(), dataset.features().clone(), one).unwrap();
    let split = Split::all_labelled(one.labels()).unwrap();
    let model = Classifier::new(Filter::sgc(2).unwrap()).fit(&one, &split).unwrap();
    let predictions = model.predict(&one).unwrap();
    assert!((0..one.nodes()).all(|node| predictions.name(node) == "only"));
}

#[test]
fn features_that_overflow_are_refused_by_every_kernel() {
    let base = RECIPE.make();
    let data = base.clone().map_features(|_| dense(&base, |_, _, _| 3e38));
    let split = Split::all_labelled(data.labels()).unwrap();
    for kernel in ["linear", "rbf", "laplacian", "polynomial", "cosine", "arccosine"] {
        let options = Options { kernel: kernel.parse().unwrap(), ..Options::default() };
        let classifier = Classifier::new(Filter::sgc(3).unwrap()).options(options);
        let error = classifier.fit(&data, &split).unwrap_err().to_string();
        assert!(error.contains("overflow single precision"), "{kernel}: {error}");
    }
}

#[test]
fn what_cannot_be_evaluated_is_an_error() {
    let dataset = RECIPE.make();
    let evaluation = Evaluation {
        filters: vec![Filter::sgc(2).unwrap()],
        splits: Vec::new(),
        options: Options::default(),
        memory: 1 << 20,
    };
    assert!(evaluation.run(&dataset, &|| ()).is_err());
    // Steps that overshoot are the paper's own at K = 2; those that blow up noise are not.
    assert!(Filter::dgc(2, 5.27).is_ok());
    assert!(Filter::dgc(20, 50.0).is_err());
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
                    let options = Options {
                        kernel: kernel.parse().unwrap(),
                        intercept,
                        ..Options::default()
                    };
                    let classifier = Classifier::new(Filter::sgc(3).unwrap()).options(options);
                    let model = classifier.fit(&data, &split).unwrap();
                    let finite = scores(&model, &data).iter().flatten().all(|s| s.is_finite());
                    assert!(finite, "{name}, {kernel}, intercept {intercept}");
                }
            }
        }
    }
}
