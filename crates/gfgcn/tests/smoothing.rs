//! Sets that are smoothed over neighbours are those of training without each node in turn.

mod synthetic;

use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::head::{ClassWeights, Objective};
use gfgcn::model::Predictions;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::training::Recipe;
use gfgcn::{Classifier, Design, Model, Ridge};

fn data(classes: usize) -> Dataset {
    let recipe = synthetic::Recipe {
        nodes: 60,
        features: 9,
        classes,
        weighted: false,
        sparse: false,
        directed: false,
        seed: 11,
    };
    recipe.make()
}

/// p̃ of a node, by the link of a model and the scores of predictions.
fn smoothed(
    model: &Model,
    data: &Dataset,
    scores: &Predictions,
    node: usize,
    share: f64,
) -> Vec<f64> {
    let of =
        |node: usize| model.calibration().link().probabilities(model.head(), scores.values(node));
    let neighbours = data.graph().neighbours(node);
    let mut own = of(node);
    if neighbours.is_empty() {
        return own;
    }
    for (class, p) in own.iter_mut().enumerate() {
        let sum: f64 = neighbours.iter().map(|&other| of(other as usize)[class]).sum();
        *p = (1.0 - share) * *p + share * sum / neighbours.len() as f64;
    }
    own
}

#[test]
fn misfits_are_those_of_training_without_each_node() {
    let context = Context::default();
    for (classes, intercept, weights, share, coverage) in [
        (3, false, ClassWeights::Equal, 0.5, 0.8),
        (3, true, ClassWeights::Equal, 0.3, 0.9),
        (2, true, ClassWeights::Balanced, 1.0, 0.7),
        (3, false, ClassWeights::Balanced, 0.0, 0.8),
    ] {
        let data = data(classes);
        let train: Vec<usize> = (0..60).filter(|node| node % 5 < 2).collect();
        let split = |train: Vec<usize>| Split::new(60, train, vec![], vec![]).unwrap();
        let design: Design = "ssgc:depth=3".parse().unwrap();
        let ridge =
            Ridge { selection: Selection::fixed(2.0).unwrap(), intercept, ..Ridge::default() };
        let objective = Objective { class_weights: weights.clone(), ..Objective::default() };
        let recipe = Recipe::from(Classifier { design, ridge, objective });
        let model = recipe.fit(&data, &split(train.clone()), &context).unwrap();
        let predictions = model.predict(&data, &context).unwrap();
        let mut misfits: Vec<f64> = Vec::new();
        for &node in &train {
            let rest: Vec<usize> = train.iter().copied().filter(|&other| other != node).collect();
            // Balanced weights follow the counts of the classes, which the node's absence changes a little.
            if weights != ClassWeights::Equal {
                continue;
            }
            let without = recipe.fit(&data, &split(rest), &context).unwrap();
            let scores = without.predict(&data, &context).unwrap();
            let p = smoothed(&model, &data, &scores, node, share);
            misfits.push(1.0 - p[data.labels().get(node).unwrap() as usize]);
        }
        let sets = model.smoothed_sets(&data, &predictions, coverage, share, &context).unwrap();
        let mut sizes = 0;
        for node in 0..60 {
            let p = smoothed(&model, &data, &predictions, node, share);
            let set = sets.set(node);
            sizes += set.len();
            let best = (0..p.len()).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap();
            assert!(set.contains(&(best as u32)));
            if share == 0.0 {
                let plain = predictions.regions(coverage).unwrap();
                assert_eq!(set, predictions.plausible(node, &plain), "node {node}");
            }
            if weights == ClassWeights::Equal {
                misfits.sort_unstable_by(f64::total_cmp);
                let place = ((misfits.len() + 1) as f64 * coverage).ceil() as usize;
                let limit = misfits[place - 1];
                let near = p.iter().any(|p| (1.0 - p - limit).abs() < 1e-6);
                let expected: Vec<u32> =
                    (0..p.len() as u32).filter(|&k| 1.0 - p[k as usize] <= limit).collect();
                assert!(near || expected.is_empty() || set == expected, "node {node}");
            }
        }
        assert!((60..60 * classes).contains(&sizes), "{sizes}");
    }
}

#[test]
fn what_cannot_be_smoothed_is_refused() {
    let (data, context) = (data(3), Context::default());
    let split = Split::new(60, (0..60).step_by(2).collect(), vec![], vec![]).unwrap();
    let classifier = Classifier::new("sgc:depth=1".parse::<Design>().unwrap());
    let plain = classifier.fit(&data, &split, &context).unwrap();
    let predictions = plain.predict(&data, &context).unwrap();
    let error = |model: &Model, coverage: f64, share: f64| {
        let sets = model.smoothed_sets(&data, &predictions, coverage, share, &context);
        sets.unwrap_err().to_string()
    };
    assert!(error(&plain, 0.9, 0.5).contains("--keep-training"));
    let kept = Recipe::from(classifier.clone()).fit(&data, &split, &context).unwrap();
    assert!(error(&kept, 0.9, 1.5).contains("from 0 to 1"));
    assert!(error(&kept, 1.5, 0.5).contains("coverage"));
    let ridge = Ridge { kernel: "rbf".parse().unwrap(), ..Ridge::default() };
    let rbf = Recipe::from(classifier.with_ridge(ridge)).fit(&data, &split, &context).unwrap();
    assert!(error(&rbf, 0.9, 0.5).contains("linear kernel"));
}
