//! Classes, sets of labels and values: what is learnt, how λ is chosen and how test nodes are judged, against formulas
//! written out here and models that are really refitted without each node.

mod naive;
mod synthetic;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, Labels, TargetKind, Targets, Values};
use gfgcn::evaluation::Evaluation;
use gfgcn::head::{ClassWeights, Head, Objective};
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::metrics::Metric;
use gfgcn::ridge::Selection;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Classifier, Design, Model, Ridge, RowScaling};
use naive::Dense;
use synthetic::{Random, Recipe};

const NODES: usize = 40;

/// The features as they are, so that the formulas need no filter.
fn no_filter() -> Design {
    "ssgc:depth=1,tau=1".parse().unwrap()
}

fn base() -> Dataset {
    Recipe {
        nodes: NODES,
        features: 8,
        classes: 4,
        weighted: false,
        sparse: false,
        directed: false,
        seed: 3,
    }
    .make()
}

/// What depends on the features, with noise.
fn signal(column: usize) -> Vec<f64> {
    let f = naive::features(&base(), RowScaling::Plain);
    let mut random = Random::new(column as u64 + 20);
    f.iter().map(|row| row[column] - row[(column + 1) % 8] + random.unit() - 0.5).collect()
}

fn classes(count: usize) -> Dataset {
    let (a, b) = (signal(0), signal(1));
    let class = |i: usize| usize::from(a[i] > 0.0) + usize::from(b[i] > 0.0) * 2;
    let labels: Vec<Option<String>> =
        (0..NODES).map(|i| Some(format!("c{}", class(i) % count))).collect();
    base().with_targets(Labels::from_names(&labels)).unwrap()
}

fn sets() -> Dataset {
    let signals: Vec<Vec<f64>> = (0..4).map(signal).collect();
    let set = |i: usize| (0..4).filter(|&k| signals[k][i] > 0.1).map(|k| format!("l{k}")).collect();
    let sets: Vec<Option<Vec<String>>> = (0..NODES).map(|i| Some(set(i))).collect();
    base().with_targets(LabelSets::from_names(&sets)).unwrap()
}

/// Far from zero, and of different units.
fn values() -> Dataset {
    let (a, b) = (signal(0), signal(2));
    let matrix =
        Matrix::from_fn(NODES, 2, |i, j| if j == 0 { 500.0 + a[i] } else { 1e-3 * b[i] - 7.0 });
    let values = Values::new(vec!["height".into(), "age".into()], matrix).unwrap();
    base().with_targets(values).unwrap()
}

/// Y by the definition of each kind, and how many labels each node has.
fn encoded(data: &Dataset) -> (Dense, Vec<usize>) {
    let rows = |row: &dyn Fn(usize) -> Vec<f64>| (0..NODES).map(row).collect::<Dense>();
    match data.targets() {
        Targets::Classes(labels) => {
            let ids: Vec<u32> = labels.as_slice().iter().flatten().copied().collect();
            (naive::targets(&ids, labels.classes().len()), vec![1; NODES])
        }
        Targets::Sets(sets) => {
            let count = sets.names().len() as u32;
            let has = |i: usize, k: u32| f64::from(sets.get(i).unwrap().contains(&k));
            let y = rows(&|i| (0..count).map(|k| has(i, k)).collect());
            (y, (0..NODES).map(|i| sets.get(i).unwrap().len()).collect())
        }
        Targets::Values(values) => (rows(&|i| values.get(i).unwrap().to_vec()), vec![0; NODES]),
    }
}

/// Every metric by its textbook formula, from the columns of scores and of Y of some nodes.
fn textbook(metric: Metric, kind: TargetKind, scores: &Dense, y: &Dense, sizes: &[usize]) -> f64 {
    let n = scores.len();
    // Nodes without features are tied but for the last digits, and in single precision they are.
    let single = |row: &Vec<f64>| row.iter().map(|&score| f64::from(score as f32)).collect();
    let ranked: Dense = scores.iter().map(single).collect();
    let columns = y[0].len();
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    // What is predicted, as a 0/1 matrix with a column per class or label.
    let two = kind == TargetKind::Classes && columns == 1;
    let indicator = |row: &Vec<f64>, size: usize| -> Vec<f64> {
        if two {
            return if row[0] > 0.0 { vec![0.0, 1.0] } else { vec![1.0, 0.0] };
        }
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        (0..row.len()).map(|k| f64::from(order[..size].contains(&k))).collect()
    };
    let predicted: Dense = scores.iter().zip(sizes).map(|(row, &s)| indicator(row, s)).collect();
    let truth: Dense = y.iter().zip(sizes).map(|(row, &s)| indicator(row, s)).collect();
    let names = truth[0].len();
    let count = |a: &dyn Fn(usize) -> bool| (0..n).filter(|&i| a(i)).count() as f64;
    let right = |k: usize| count(&|i| predicted[i][k] > 0.0 && truth[i][k] > 0.0);
    let guessed = |k: usize| count(&|i| predicted[i][k] > 0.0);
    let there = |k: usize| count(&|i| truth[i][k] > 0.0);
    let positive = |i: usize, k: usize| y[i][k] > 0.0;
    let mixed = |k: &usize| {
        let positives = count(&|i| positive(i, *k));
        positives > 0.0 && positives < n as f64
    };
    match metric {
        Metric::Accuracy => count(&|i| predicted[i] == truth[i]) / n as f64,
        Metric::BalancedAccuracy => {
            mean((0..names).filter(|&k| there(k) > 0.0).map(|k| right(k) / there(k)).collect())
        }
        Metric::MacroF1 => mean(
            (0..names)
                .filter(|&k| there(k) + guessed(k) > 0.0)
                .map(|k| 2.0 * right(k) / (there(k) + guessed(k)))
                .collect(),
        ),
        Metric::MicroF1 => {
            let all: f64 = (0..names).map(|k| there(k) + guessed(k)).sum();
            2.0 * (0..names).map(right).sum::<f64>() / all
        }
        Metric::Auc => mean(
            (0..columns)
                .filter(mixed)
                .map(|k| {
                    let (mut sum, mut pairs) = (0.0, 0.0);
                    for i in (0..n).filter(|&i| positive(i, k)) {
                        for j in (0..n).filter(|&j| !positive(j, k)) {
                            let (a, b) = (ranked[i][k], ranked[j][k]);
                            sum += if a > b {
                                1.0
                            } else if a == b {
                                0.5
                            } else {
                                0.0
                            };
                            pairs += 1.0;
                        }
                    }
                    sum / pairs
                })
                .collect(),
        ),
        Metric::AveragePrecision => mean(
            (0..columns)
                .filter(mixed)
                .map(|k| {
                    // Among those that score no less.
                    let precision = |i: usize| {
                        let above = |j: usize| ranked[j][k] >= ranked[i][k];
                        count(&|j| above(j) && positive(j, k)) / count(&above)
                    };
                    let precisions = (0..n).filter(|&i| positive(i, k)).map(precision).collect();
                    mean(precisions)
                })
                .collect(),
        ),
        Metric::R2 => mean(
            (0..columns)
                .map(|k| {
                    let middle = y.iter().map(|row| row[k]).sum::<f64>() / n as f64;
                    let error: f64 = (0..n).map(|i| (y[i][k] - scores[i][k]).powi(2)).sum();
                    1.0 - error / y.iter().map(|row| (row[k] - middle).powi(2)).sum::<f64>()
                })
                .collect(),
        ),
        Metric::Mae => mean(
            (0..columns)
                .map(|k| (0..n).map(|i| (y[i][k] - scores[i][k]).abs()).sum::<f64>() / n as f64)
                .collect(),
        ),
    }
}

/// Scores of one node by a model that some nodes trained: (M + ξ diag(w)⁻¹) α + b = Y, Σ α = 0.
fn refit(
    f: &Dense,
    train: &[usize],
    y: &Dense,
    weights: &[f64],
    (kernel, xi, intercept): (Kernel, f64, bool),
    node: usize,
) -> Vec<f64> {
    let rows: Dense = train.iter().map(|&i| f[i].clone()).collect();
    let mut system = naive::gram(kernel, &rows, &rows);
    (0..train.len()).for_each(|k| system[k][k] += xi / weights[train[k]]);
    let mut right: Dense = train.iter().map(|&i| y[i].clone()).collect();
    if intercept {
        system.iter_mut().for_each(|row| row.push(1.0));
        system.push([vec![1.0; train.len()], vec![0.0]].concat());
        right.push(vec![0.0; y[0].len()]);
    }
    let mut alpha = naive::solve(&system, &right);
    let b = if intercept { alpha.pop().unwrap() } else { vec![0.0; y[0].len()] };
    let own = naive::gram(kernel, &f[node..=node], &rows);
    naive::multiply(&own, &alpha).remove(0).iter().zip(b).map(|(s, b)| s + b).collect()
}

fn cases() -> Vec<(Dataset, Objective)> {
    let mut cases = Vec::new();
    for data in [classes(2), classes(4), sets(), values()] {
        let kind = data.targets().kind();
        for metric in Metric::ALL.into_iter().filter(|metric| metric.fits(kind)) {
            cases.push((data.clone(), Objective::by(metric)));
        }
        if kind == TargetKind::Classes {
            let given = ClassWeights::Given(vec![("c1".into(), 3.0), ("c0".into(), 0.5)]);
            for class_weights in [ClassWeights::Balanced, given] {
                let objective = Objective { metric: Some(Metric::MacroF1), class_weights };
                cases.push((data.clone(), objective));
            }
        }
    }
    cases
}

/// The weights by their definition.
fn weights(data: &Dataset, objective: &Objective) -> Vec<f64> {
    let labels = data.labels();
    let (n, names, counts) = (NODES as f64, labels.classes(), labels.counts());
    let weight = |i: usize| match &objective.class_weights {
        ClassWeights::Equal => 1.0,
        ClassWeights::Balanced => {
            n / (names.len() * counts[labels.get(i).unwrap() as usize]) as f64
        }
        ClassWeights::Given(given) => given
            .iter()
            .find(|(name, _)| Some(name.as_str()) == labels.name(i))
            .map_or(1.0, |g| g.1),
    };
    (0..NODES).map(weight).collect()
}

fn fit(data: &Dataset, objective: &Objective, ridge: Ridge, split: &Split) -> Model {
    let classifier = Classifier::new(no_filter()).with_ridge(ridge);
    classifier.with_objective(objective.clone()).fit(data, split, &Context::default()).unwrap()
}

/// What a model says λ was chosen by is the metric of models that are refitted without each node.
#[test]
fn the_score_by_which_lambda_is_chosen_is_that_of_leaving_out() {
    let everyone: Vec<usize> = (0..NODES).collect();
    for (data, objective) in cases() {
        let f = naive::features(&data, RowScaling::Plain);
        let ((y, sizes), weights) = (encoded(&data), weights(&data, &objective));
        let split = Split::all_known(data.targets()).unwrap();
        for (kernel, intercept) in [("linear", false), ("linear", true), ("rbf:gamma=0.2", false)] {
            let kernel: Kernel = kernel.parse().unwrap();
            let ridge = Ridge { kernel, intercept, ..Ridge::default() };
            let model = fit(&data, &objective, ridge, &split);
            let kind = data.targets().kind();
            let intercept = intercept || kind == TargetKind::Values;
            assert_eq!(model.members()[0].ridge().intercept, intercept, "values always have one");
            let problem = (kernel, model.members()[0].lambda().recip(), intercept);
            let left_out: Dense = (0..NODES)
                .map(|node| {
                    let rest: Vec<usize> =
                        everyone.iter().copied().filter(|&i| i != node).collect();
                    refit(&f, &rest, &y, &weights, problem, node)
                })
                .collect();
            let metric = objective.metric.unwrap();
            let expected = textbook(metric, kind, &left_out, &y, &sizes);
            let (chosen_by, found) = model.selection_score().unwrap();
            let what = format!("{objective:?}, {problem:?}: {expected} {found}");
            assert_eq!(chosen_by, metric);
            assert!((expected - found).abs() < 1e-4 * expected.abs().max(1e-3), "{what}");
        }
    }
}

/// Test nodes are judged by the same formulas, and fitting and predicting gives the same scores.
#[test]
fn evaluations_judge_test_nodes_by_the_metric() {
    for (data, objective) in cases() {
        let (y, sizes) = encoded(&data);
        let split = Split::random(data.targets(), Ratio::new(1.0, 0.0, 1.0).unwrap(), 2).unwrap();
        let ridge = Ridge { selection: Selection::fixed(2.0).unwrap(), ..Ridge::default() };
        let evaluation = Evaluation {
            designs: vec![no_filter()],
            splits: vec![split.clone()],
            ridge,
            objective: objective.clone(),
            ..Evaluation::default()
        };
        let result = evaluation.run(&data, &Context::default()).unwrap().remove(0);
        let model = fit(&data, &objective, ridge, &split);
        let predictions = model.predict(&data, &Context::default()).unwrap();
        let scores: Dense = split
            .test()
            .iter()
            .map(|&node| match (data.targets().kind(), y[0].len()) {
                (TargetKind::Classes, 1) => vec![predictions.scores(node)[1]],
                _ => predictions.scores(node),
            })
            .collect();
        let of_test = |all: &Dense| split.test().iter().map(|&i| all[i].clone()).collect::<Dense>();
        let test_sizes: Vec<usize> = split.test().iter().map(|&i| sizes[i]).collect();
        let (metric, kind) = (objective.metric.unwrap(), data.targets().kind());
        let expected = textbook(metric, kind, &scores, &of_test(&y), &test_sizes);
        let expected = if metric.is_share() { 100.0 * expected } else { expected };
        assert_eq!(result.metric, metric);
        assert!((result.scores[0] - expected).abs() < 1e-4 * expected.abs().max(1e-3), "{metric}");
        assert_eq!(result.accuracy().is_some(), kind == TargetKind::Classes);
    }
}

#[test]
fn every_kind_of_model_is_saved_and_loaded() {
    for (data, objective) in cases() {
        let split = Split::all_known(data.targets()).unwrap();
        for kernel in ["linear", "rbf"] {
            let ridge = Ridge { kernel: kernel.parse().unwrap(), ..Ridge::default() };
            let model = fit(&data, &objective, ridge, &split);
            let loaded = Model::from_bytes(&model.to_bytes()).unwrap();
            assert_eq!(loaded, model);
            assert_eq!(loaded.provenance().objective, objective);
            assert_eq!(loaded.head().kind(), data.targets().kind());
        }
    }
}

/// Labels above the threshold are predicted, and no other threshold is better on left-out nodes.
#[test]
fn sets_are_predicted_by_the_threshold_that_is_best_on_left_out_nodes() {
    let data = sets();
    let (y, _) = encoded(&data);
    let f = naive::features(&data, RowScaling::Plain);
    let split = Split::all_known(data.targets()).unwrap();
    let everyone: Vec<usize> = (0..NODES).collect();
    for selection in [Selection::LeaveOneOut, Selection::fixed(0.3).unwrap()] {
        let ridge = Ridge { selection, ..Ridge::default() };
        let model = fit(&data, &Objective::default(), ridge, &split);
        let Head::Sets { threshold, .. } = model.head() else { panic!("sets") };
        let problem = (Kernel::Linear, model.members()[0].lambda().recip(), false);
        let left_out: Dense = (0..NODES)
            .map(|node| {
                let rest: Vec<usize> = everyone.iter().copied().filter(|&i| i != node).collect();
                refit(&f, &rest, &y, &[1.0; NODES], problem, node)
            })
            .collect();
        let f1 = |threshold: f64| {
            let pairs = || left_out.iter().flatten().zip(y.iter().flatten());
            let chosen = pairs().filter(|(score, _)| **score > threshold);
            let right = chosen.clone().filter(|(_, y)| **y > 0.0).count();
            let there = pairs().filter(|(_, y)| **y > 0.0).count();
            2.0 * right as f64 / (chosen.count() + there) as f64
        };
        let best = left_out.iter().flatten().map(|&score| f1(score - 1e-9)).fold(0.0, f64::max);
        assert!((f1(*threshold) - best).abs() < 1e-9, "{} {best}", f1(*threshold));
        let predictions = model.predict(&data, &Context::default()).unwrap();
        for node in 0..NODES {
            let scores = predictions.scores(node);
            let above: Vec<u32> = (0..4).filter(|&k| scores[k as usize] > *threshold).collect();
            assert_eq!(predictions.labels(node), above);
        }
    }
}

/// Values in other units, from another zero: the same predictions in those units, and the same λ.
#[test]
fn the_units_of_values_do_not_matter() {
    let data = values();
    let Targets::Values(original) = data.targets() else { panic!("values") };
    let (factor, shift) = ([1024.0, 0.125], [-3e5, 40.0]);
    let moved =
        Matrix::from_fn(NODES, 2, |i, j| factor[j] * original.get(i).unwrap()[j] + shift[j]);
    let moved = data.clone().with_targets(Values::new(original.names().to_vec(), moved).unwrap());
    let (moved, split) = (moved.unwrap(), Split::all_known(data.targets()).unwrap());
    let [a, b] = [&data, &moved].map(|data| {
        let model = fit(data, &Objective::default(), Ridge::default(), &split);
        (model.members()[0].lambda(), model.predict(data, &Context::default()).unwrap())
    });
    assert_eq!(a.0, b.0);
    for node in 0..NODES {
        for j in 0..2 {
            let expected = factor[j] * a.1.values(node)[j] + shift[j];
            let found = b.1.values(node)[j];
            assert!((expected - found).abs() < 1e-6 * expected.abs(), "{expected} {found}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let error = |data: &Dataset, objective: Objective, split: &Split| {
        let classifier = Classifier::new(no_filter()).with_objective(objective);
        classifier.fit(data, split, &Context::default()).unwrap_err().to_string()
    };
    let all = |data: &Dataset| Split::all_known(data.targets()).unwrap();
    for (data, metric, fitting) in [
        (classes(4), Metric::R2, "average-precision"),
        (sets(), Metric::Accuracy, "micro-f1"),
        (values(), Metric::Auc, "r2 or mae"),
    ] {
        let message = error(&data, Objective::by(metric), &all(&data));
        assert!(message.contains(&metric.to_string()) && message.contains(fitting), "{message}");
    }
    let weights = |text: &str| Objective { class_weights: text.parse().unwrap(), metric: None };
    let message = error(&classes(4), weights("c9=2"), &all(&classes(4)));
    assert!(message.contains("\"c9\"") && message.contains("\"c0\""), "{message}");
    let message = error(&values(), weights("balanced"), &all(&values()));
    assert!(message.contains("values"), "{message}");
    // Nothing to compare: one class only.
    let data = classes(4);
    let train = (0..NODES).filter(|&node| data.labels().get(node) == Some(1)).collect();
    let one = Split::new(NODES, train, vec![], vec![]).unwrap();
    let message = error(&data, Objective::by(Metric::Auc), &one);
    assert!(message.contains("auc") && message.contains("training part"), "{message}");
    // A node of which nothing is known.
    let mut column = Matrix::from_fn(NODES, 1, |i, _| i as f64);
    column[(3, 0)] = f64::NAN;
    let data = base().with_targets(Values::new(vec!["x".into()], column).unwrap()).unwrap();
    let split = Split::new(NODES, (0..9).collect(), vec![], vec![]).unwrap();
    let message = error(&data, Objective::default(), &split);
    assert!(message.contains("node 3") && message.contains("value"), "{message}");
    let none = vec![Some(Vec::<String>::new()); NODES];
    let data = base().with_targets(LabelSets::from_names(&none)).unwrap();
    assert!(error(&data, Objective::default(), &all(&data)).contains("label"));
}
