//! Explanations add up to the score, and every term is what taking its cause away changes.

use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, Labels, Targets, Values};
use gfgcn::explain::{Cause, Reasons, View};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::training::Recipe;
use gfgcn::tune::{Learner, Search};
use gfgcn::{Classifier, Design, Error, Model, Ridge};

const NODES: usize = 36;
const FEATURES: usize = 7;
const VIEWS: [View; 4] = [View::Channels, View::Features, View::Nodes, View::Labelled];

fn chance(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1u64 << 24) as f64
}

fn features() -> Matrix<f32> {
    Matrix::from_fn(NODES, FEATURES, |i, j| {
        let value = chance(i * FEATURES + j) as f32;
        if (i + j) % 3 == 0 { 0.0 } else { value - 0.3 + f32::from(u8::from(i % 3 == j)) }
    })
}

fn dataset(features: Matrix<f32>, targets: Targets) -> Dataset {
    let mut edges: Vec<(u32, u32)> =
        (0..NODES as u32).map(|k| (k, (k + 1) % NODES as u32)).collect();
    edges.extend((0..30).map(|k| {
        let end = |seed: usize| (chance(900 + seed) * NODES as f64) as u32 % NODES as u32;
        (end(2 * k), end(2 * k + 1))
    }));
    edges.retain(|(a, b)| a != b);
    let (graph, _) = Graph::from_arcs(NODES, &edges, None).unwrap();
    Dataset::new("small", graph, Features::dense(features).unwrap(), targets).unwrap()
}

fn all_targets() -> Vec<Targets> {
    let classes = |count: usize| -> Targets {
        let names: Vec<String> = (0..NODES).map(|i| format!("c{}", i % count)).collect();
        Labels::from_names(&names.iter().map(|n| Some(n.as_str())).collect::<Vec<_>>()).into()
    };
    let sets: Vec<Option<Vec<&str>>> = (0..NODES)
        .map(|i| {
            Some(
                ["x", "y", "z"]
                    .into_iter()
                    .filter(|l| (i + l.len()) % 2 == 0 || i % 3 == 0)
                    .collect(),
            )
        })
        .collect();
    let values = Matrix::from_fn(NODES, 2, |i, j| chance(7 * i + j) + (i % 3) as f64);
    vec![
        classes(2),
        classes(3),
        LabelSets::from_names(&sets).into(),
        Values::new(vec!["a".into(), "b".into()], values).unwrap().into(),
    ]
}

fn predict(model: &Model, data: &Dataset) -> Vec<Vec<f64>> {
    let predictions = model.predict(data, &Context::default()).unwrap();
    (0..data.nodes()).map(|node| predictions.scores(node)).collect()
}

fn assert_adds_up(reasons: &Reasons, scores: &[f64], what: &str) {
    for (class, &score) in scores.iter().enumerate() {
        assert!((reasons.score(class) - score).abs() <= 1e-9 * score.abs().max(0.01), "{what}");
        for view in VIEWS.into_iter().filter(|view| reasons.has(*view)) {
            let terms = reasons.terms(view, class);
            let sum: f64 = terms.iter().map(|(_, term)| term).sum();
            let off = (sum + reasons.constant(class) - score).abs();
            assert!(off <= 1e-9 * score.abs().max(0.01), "{what}, {view:?}: off by {off:e}");
            assert!(terms.windows(2).all(|pair| pair[0].1.abs() >= pair[1].1.abs()), "{what}");
        }
    }
}

const DESIGNS: [&str; 10] = [
    "sgc:depth=2",
    "ssgc:depth=8,tau=0.05@row",
    "ssgc:depth=4,tau=0.1 + 0.5*identity/unit",
    "sgc:depth=1@row:out + sgc:depth=1@row:in/sum",
    "sgc:depth=2 of structure",
    "identity + identity of degrees + sgc:depth=1 of structure",
    "highpass:depth=1",
    "dgc:depth=6,time=2.5 + ppr:alpha=0.2",
    "heat:time=2@row",
    "sgc:depth=1@row:out-in of structure + identity of degrees",
];

#[test]
fn every_view_adds_up_to_the_score() {
    let context = Context::default();
    for targets in all_targets() {
        let data = dataset(features(), targets);
        let split = Split::new(NODES, (0..NODES).step_by(2).collect(), vec![], vec![]).unwrap();
        for design in DESIGNS {
            for kernel in
                ["linear", "rbf", "cosine", "polynomial:degree=2", "laplacian", "arccosine"]
            {
                let ridge = Ridge { kernel: kernel.parse().unwrap(), ..Ridge::default() };
                let design: Design = design.parse().unwrap();
                let classifier = Classifier::new(design.clone()).with_ridge(ridge);
                let model = Recipe::from(classifier).fit(&data, &split, &context).unwrap();
                let scores = predict(&model, &data);
                for node in [0, 5, 17] {
                    let reasons = model.explain(&data, node, &context).unwrap();
                    assert!(reasons.has(View::Labelled));
                    let what =
                        format!("{design}, {kernel}, {}, node {node}", data.targets().kind());
                    assert_adds_up(&reasons, &scores[node], &what);
                }
                let reasons = model.explain_mean(&data, &[1, 2, 3, 30], &context).unwrap();
                let mean: Vec<f64> = (0..scores[0].len())
                    .map(|c| [1, 2, 3, 30].iter().map(|&i| scores[i][c]).sum::<f64>() / 4.0)
                    .collect();
                assert_adds_up(&reasons, &mean, &format!("{design}, {kernel}, the mean"));
            }
        }
    }
}

#[test]
fn a_stack_adds_up_too() {
    let context = Context::default();
    for targets in all_targets() {
        let data = dataset(features(), targets);
        let split = Split::new(NODES, (0..30).collect(), vec![], vec![]).unwrap();
        // Without the paper's default the stack is taken as it is.
        for intercept in [false, true] {
            let learners = stackable().into_iter().map(|learner| Learner { intercept, ..learner });
            let search = Search { learners: Some(learners.collect()), ..Search::default() };
            let tuned = search.run_keeping(&data, &split, &context).unwrap();
            let model = Model::from_bytes(&tuned.model.to_bytes()).unwrap();
            let scores = predict(&model, &data);
            let what = format!("{} members, {intercept}", model.members().len());
            for node in [3, 33] {
                let reasons = model.explain(&data, node, &context).unwrap();
                assert!(reasons.has(View::Labelled));
                assert_adds_up(&reasons, &scores[node], &what);
            }
            let reasons = model.explain_mean(&data, &[4, 5, 31], &context).unwrap();
            let mean: Vec<f64> = (0..scores[0].len())
                .map(|c| [4, 5, 31].iter().map(|&i| scores[i][c]).sum::<f64>() / 3.0)
                .collect();
            assert_adds_up(&reasons, &mean, &what);
            // Elsewhere the rows of the labelled nodes are not known.
            let elsewhere = data.without_nodes(&[35]).unwrap().dataset;
            let plain = search.run(&data, &split, &context).unwrap().model;
            assert!(!plain.explain(&data, 3, &context).unwrap().has(View::Labelled));
            if let Ok(reasons) = model.explain(&elsewhere, 3, &context) {
                assert!(!reasons.has(View::Labelled));
            }
        }
    }
}

/// A search over one learner adds up the learner and the sum of its kernel alone: both by elimination.
#[test]
fn labelled_nodes_of_a_search_have_the_terms_of_the_dual_solution() -> Result<(), Error> {
    let context = Context::default();
    let values = Matrix::from_fn(NODES, 1, |i, _| chance(77 * i) + 2.0 * chance(FEATURES * i + 1));
    let data = dataset(features(), Values::new(vec!["v".into()], values.clone())?.into());
    // More nodes than features, and fewer; a kernel by landmarks, which are all of the nodes.
    for (train, design, kernel) in [
        ((0..30).collect::<Vec<usize>>(), "sgc:depth=1@row", "linear"),
        ((0..5).collect(), "sgc:depth=1@row", "linear"),
        ((0..30).collect(), "identity", "rbf:gamma=0.5"),
    ] {
        let split = Split::new(NODES, train.clone(), vec![], vec![])?;
        let learner = Learner {
            name: design.into(),
            design: design.parse()?,
            kernel: kernel.parse()?,
            width: 1.0,
            intercept: true,
        };
        let search = Search { learners: Some(vec![learner.clone()]), ..Search::default() };
        let tuned = search.run_keeping(&data, &split, &context)?;
        let model = &tuned.model;
        // Both the learner and the sum of the only kernel solve (K + ξ I) α + b = y, 1ᵀα = 0, each at its own λ; their weights
        // are on the board.
        let around = |node: usize| -> Vec<usize> {
            data.graph().neighbours(node).iter().map(|&n| n as usize).chain([node]).collect()
        };
        let row = |node: usize| -> Vec<f64> {
            let of = if kernel == "linear" { around(node) } else { vec![node] };
            let mean = |j: usize| of.iter().map(|&n| f64::from(features()[(n, j)])).sum::<f64>();
            (0..FEATURES).map(|j| mean(j) / of.len() as f64).collect()
        };
        let rows: Vec<Vec<f64>> = (0..NODES).map(row).collect();
        let similar = |i: usize, j: usize| -> f64 {
            let pairs = || rows[i].iter().zip(&rows[j]);
            match kernel {
                "linear" => pairs().map(|(a, b)| a * b).sum(),
                _ => (-0.5 * pairs().map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp(),
            }
        };
        let n = train.len();
        let scale = train.iter().map(|&i| similar(i, i)).sum::<f64>() / n as f64;
        let alpha = |lambda: f64, scale: f64| {
            let mut system: Vec<Vec<f64>> = (0..n)
                .map(|i| {
                    let entry = |j: usize| {
                        similar(train[i], train[j]) / scale + f64::from(u8::from(i == j)) / lambda
                    };
                    (0..n).map(entry).chain([1.0]).collect()
                })
                .collect();
            system.push((0..n).map(|_| 1.0).chain([0.0]).collect());
            let right = train.iter().map(|&i| values[(i, 0)]).chain([0.0]).collect();
            solve(system, right)
        };
        let mut expected = vec![0.0; n];
        for contender in tuned.board.iter().filter(|contender| contender.weight > 0.0) {
            let of_sum = contender.design.is_none();
            let scale = if of_sum { scale } else { 1.0 };
            let alpha = alpha(contender.lambda, scale);
            let part = expected.iter_mut().zip(&alpha);
            part.for_each(|(sum, alpha)| *sum += contender.weight / scale * alpha);
        }
        let node = 33;
        let reasons = model.explain(&data, node, &context)?;
        let terms = reasons.terms(View::Labelled, 0);
        assert_eq!(terms.len(), n);
        for (cause, term) in terms {
            let Cause::Labelled(other) = cause else { panic!("{cause:?}") };
            let place = train.iter().position(|&n| n == other).unwrap();
            let expected = similar(node, other) * expected[place];
            let off = (term - expected).abs();
            assert!(off < 1e-4 * (1.0 + expected.abs()), "{kernel}, {cause:?}: {term} {expected}");
        }
    }
    Ok(())
}

/// What the mean scores of all classes lose without a labelled node's coefficient.
#[test]
fn influence_is_the_mean_size_of_terms() {
    let context = Context::default();
    let data = dataset(features(), all_targets().remove(1));
    let split = Split::new(NODES, (0..30).collect(), vec![], vec![]).unwrap();
    let described = Recipe::from(Classifier::new("sgc:depth=2".parse::<Design>().unwrap()));
    let stack = Recipe::from(Search { learners: Some(stackable()), ..Search::default() });
    for recipe in [described, stack] {
        let model = recipe.fit(&data, &split, &context).unwrap();
        let influence = model.influence(&data, &context).unwrap();
        assert_eq!(influence.len(), 30);
        assert!(influence.windows(2).all(|pair| pair[0].1 >= pair[1].1));
        let predictions = model.predict(&data, &context).unwrap();
        // Node by node: the mean over the nodes of a class of their own terms, in size.
        let mut expected = vec![0.0; NODES];
        for class in 0..3 {
            let mut sums = vec![0.0; NODES];
            for node in predictions.nodes_of(class) {
                let reasons = model.explain(&data, node, &context).unwrap();
                for (cause, term) in reasons.terms(View::Labelled, class) {
                    let Cause::Labelled(other) = cause else { panic!("{cause:?}") };
                    sums[other] += term / NODES as f64;
                }
            }
            expected.iter_mut().zip(&sums).for_each(|(sum, own)| *sum += own.abs());
        }
        for (node, size) in influence {
            assert!((size - expected[node]).abs() < 1e-9 * (1.0 + size), "{node}: {size}");
        }
    }
}

fn stackable() -> Vec<Learner> {
    let learner = |design: &str, kernel: &str| Learner {
        name: design.into(),
        design: design.parse().unwrap(),
        kernel: kernel.parse().unwrap(),
        width: 1.0,
        intercept: false,
    };
    vec![
        learner("sgc:depth=2", "linear"),
        learner("identity/unit", "linear"),
        learner("sgc:depth=1 of structure", "linear"),
        learner("sgc:depth=1", "rbf"),
    ]
}

/// Zeros in place of a feature, or of all features of a node, change the score by just that term.
#[test]
fn terms_are_what_taking_their_cause_away_changes() {
    let context = Context::default();
    for targets in all_targets() {
        let data = dataset(features(), targets.clone());
        let split = Split::new(NODES, (0..NODES).step_by(2).collect(), vec![], vec![]).unwrap();
        for design in
            ["sgc:depth=2", "ssgc:depth=8,tau=0.05@row + 0.25*identity", "sgc:depth=1@row:out"]
        {
            let design: Design = design.parse().unwrap();
            let model = Classifier::new(design.clone()).fit(&data, &split, &context).unwrap();
            let (node, scores) = (9, predict(&model, &data));
            let reasons = model.explain(&data, node, &context).unwrap();
            let changed = |zero: &dyn Fn(usize, usize) -> bool| {
                let old = features();
                let kept = |i, j| if zero(i, j) { 0.0 } else { old[(i, j)] };
                predict(&model, &dataset(Matrix::from_fn(NODES, FEATURES, kept), targets.clone()))
            };
            for (class, score) in scores[node].iter().enumerate() {
                let check = |cause: Cause, term: f64, without: f64| {
                    let change = score - without;
                    assert!((change - term).abs() < 1e-9, "{design}, {cause:?}: {change} {term}");
                };
                for (cause, term) in reasons.terms(View::Features, class) {
                    let Cause::Feature(feature) = cause else { panic!("{cause:?}") };
                    check(cause, term, changed(&|_, j| j == feature)[node][class]);
                }
                let terms = reasons.terms(View::Nodes, class);
                assert!(terms.len() >= 2);
                for (cause, term) in terms {
                    let Cause::Node(other) = cause else { panic!("{cause:?}") };
                    check(cause, term, changed(&|i, _| i == other)[node][class]);
                }
            }
        }
    }
}

/// The solution of a x = b by elimination, for matrices as rows.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            a[i].iter_mut().zip(row).for_each(|(entry, above)| *entry -= factor * above);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

/// α of (F Fᵀ + ξ I) α = Y by elimination, with more nodes than features and with fewer; and the terms F_i · F_j α_j.
#[test]
fn labelled_nodes_have_the_terms_of_the_dual_solution() {
    let context = Context::default();
    let names: Vec<Option<&str>> = (0..NODES).map(|i| Some(["a", "b", "c"][i % 3])).collect();
    let data = dataset(features(), Labels::from_names(&names).into());
    for (train, lambda) in [((0..5).collect::<Vec<usize>>(), 3.0), ((0..NODES).collect(), 40.0)] {
        let split = Split::new(NODES, train.clone(), vec![], vec![]).unwrap();
        let design: Design = "sgc:depth=1@row".parse().unwrap();
        let selection = Selection::fixed(lambda).unwrap();
        let ridge = Ridge { selection, ..Ridge::default() };
        let recipe = Recipe::from(Classifier::new(design.clone()).with_ridge(ridge));
        let model = recipe.fit(&data, &split, &context).unwrap();
        // The mean over a node and its neighbours, whichever way.
        let filtered = |node: usize| -> Vec<f64> {
            let around: Vec<usize> =
                data.graph().neighbours(node).iter().map(|&n| n as usize).chain([node]).collect();
            let mean =
                |j: usize| around.iter().map(|&n| f64::from(features()[(n, j)])).sum::<f64>();
            (0..FEATURES).map(|j| mean(j) / around.len() as f64).collect()
        };
        let rows: Vec<Vec<f64>> = (0..NODES).map(filtered).collect();
        let similar =
            |i: usize, j: usize| -> f64 { rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum() };
        let system: Vec<Vec<f64>> = train
            .iter()
            .map(|&i| {
                let entry = |&j: &usize| similar(i, j) + f64::from(u8::from(i == j)) / lambda;
                train.iter().map(entry).collect()
            })
            .collect();
        for class in 0..3 {
            let alpha = |j: usize| f64::from(u8::from(train[j] % 3 == class));
            let alpha = solve(system.clone(), (0..train.len()).map(alpha).collect());
            let node = 20;
            let reasons = model.explain(&data, node, &context).unwrap();
            let terms = reasons.terms(View::Labelled, class);
            assert_eq!(terms.len(), train.len());
            for (cause, term) in terms {
                let Cause::Labelled(other) = cause else { panic!("{cause:?}") };
                let place = train.iter().position(|&n| n == other).unwrap();
                let expected = similar(node, other) * alpha[place];
                assert!((term - expected).abs() < 2e-5, "{cause:?}: {term} {expected}");
            }
        }
    }
}

#[test]
fn a_node_that_is_not_there_is_named() {
    let data = dataset(features(), all_targets().remove(1));
    let split = Split::new(NODES, (0..NODES).collect(), vec![], vec![]).unwrap();
    let context = Context::default();
    let design: Design = "sgc:depth=2".parse().unwrap();
    let model = Classifier::new(design).fit(&data, &split, &context).unwrap();
    let message = model.explain(&data, NODES, &context).unwrap_err().to_string();
    assert!(message.contains("36") && message.contains("number of nodes"), "{message}");
    assert!(model.explain_mean(&data, &[], &context).is_err());
}
