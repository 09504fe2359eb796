//! Random changes of random graphs, designs and targets, one after the other.

use crate::synthetic::Random;
use crate::world::{FEATURES, World, designs};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::graph::EdgeSet;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::training::{Recipe, Relearnt, Removal};
use gfgcn::{Classifier, Design, Error, Model, Ridge};
use std::collections::HashSet;

fn recipe(random: &mut Random) -> (Recipe, bool) {
    let designs = designs();
    let (design, kernel) = designs[random.below(designs.len())];
    let selections =
        [Selection::LeaveOneOut, Selection::fixed(3.0).unwrap(), Selection::Validation];
    let selection = selections[random.below(3)];
    let ridge = Ridge { kernel, selection, intercept: random.below(2) == 0 };
    let design: Design = design.parse().unwrap();
    (Classifier::new(design).with_ridge(ridge).into(), selection == Selection::Validation)
}

fn some(random: &mut Random, from: &[usize], count: usize) -> Vec<usize> {
    let mut from = from.to_vec();
    (0..count.min(from.len())).map(|_| from.swap_remove(random.below(from.len()))).collect()
}

/// What happens to a model, and the world after it.
struct Event {
    what: &'static str,
    relearnt: Result<Relearnt, Error>,
    after: World,
}

fn happen(world: &World, model: &Model, random: &mut Random) -> Event {
    let context = Context::default();
    let data = world.build();
    let places = |nodes: &[usize]| -> Vec<usize> {
        nodes.iter().map(|&node| world.place(node).unwrap()).collect()
    };
    let batch = [1, 1 + random.below(4), world.known.len() / 2][random.below(3)];
    let few = batch.min(6);
    match random.below(6) {
        0 => {
            let gone = some(random, &world.known, batch);
            let relearnt = model.forget(&data, &Removal::Labels(places(&gone)), &context);
            Event { what: "labels", relearnt, after: world.without_labels(&gone) }
        }
        1 => {
            // A whole class, to its last node; of values those of one height.
            let class = world.truth[world.known[random.below(world.known.len())]];
            let of_class = |node: &usize| world.truth[*node] == class;
            let gone: Vec<usize> = world.known.iter().copied().filter(of_class).collect();
            let relearnt = model.forget(&data, &Removal::Labels(places(&gone)), &context);
            Event { what: "labels of a class", relearnt, after: world.without_labels(&gone) }
        }
        2 => {
            let unknown = world.nodes.iter().copied().filter(|node| !world.known.contains(node));
            let mut new = some(random, &unknown.collect::<Vec<_>>(), batch);
            let mut after = world.clone();
            let corrected = some(random, &world.known, few);
            corrected.iter().for_each(|&node| after.truth[node] = (after.truth[node] + 1) % 3);
            after.known.extend(&new);
            after.known.sort_unstable();
            new.extend(corrected);
            let relearnt = model.update(&data, Some(&after.targets(&new)), &context);
            Event { what: "new and corrected labels", relearnt, after }
        }
        3 => {
            let gone = some(random, &world.nodes, [few, few, world.nodes.len() / 2][batch % 3]);
            let relearnt = model.forget(&data, &Removal::Nodes(places(&gone)), &context);
            Event { what: "nodes", relearnt, after: world.without_nodes(&gone) }
        }
        4 => {
            let all: Vec<usize> = (0..world.edges.len()).collect();
            let gone = some(random, &all, few);
            let ends = |k: usize| (world.edges[k].0, world.edges[k].1);
            let is_gone = |a: usize, b: usize| {
                gone.iter().any(|&k| ends(k) == (a, b) || (!world.directed && ends(k) == (b, a)))
            };
            let edges = world.edges.iter().copied().filter(|&(a, b, _)| !is_gone(a, b)).collect();
            let place = |node: usize| world.place(node).unwrap() as u32;
            let set: EdgeSet = gone.iter().map(|&k| (place(ends(k).0), place(ends(k).1))).collect();
            let relearnt = model.forget(&data, &Removal::Edges(vec![(None, set)]), &context);
            Event { what: "edges", relearnt, after: World { edges, ..world.clone() } }
        }
        _ => {
            // Some with labels; and perhaps one that is gone meanwhile.
            let gone = random.below(2);
            let mut after = world.without_nodes(&some(random, &world.nodes, gone));
            let mut labelled = Vec::new();
            for _ in 0..few {
                let node = after.truth.len();
                let other = after.nodes[random.below(after.nodes.len())];
                after.truth.push(random.below(3));
                after.features.push((0..FEATURES).map(|_| random.unit() as f32).collect());
                after.nodes.push(node);
                after.edges.push((node, other, 1.0));
                if random.below(2) == 0 {
                    labelled.push(node);
                }
            }
            after.known.extend(&labelled);
            let labels = after.targets(&labelled);
            let relearnt = model.update(&after.build(), Some(&labels), &context);
            Event { what: "new nodes", relearnt, after }
        }
    }
}

#[test]
fn a_changed_model_is_the_one_trained_from_scratch() {
    let context = Context::default();
    let (mut cases, mut local, mut seen) = (0, 0, HashSet::new());
    for seed in 0..60 {
        let mut random = Random::new(1000 + seed);
        let ring = seed % 2 == 0;
        let mut world = World::new(seed, if ring { 150 } else { 60 }, ring);
        let (recipe, validates) = recipe(&mut random);
        let mut model = recipe.fit(&world.build(), &world.split(validates), &context).unwrap();
        // Changes follow each other, each on what the last one left.
        for _ in 0..3 {
            let Event { what, relearnt, after } = happen(&world, &model, &mut random);
            let described = format!("seed {seed}: {what} of {:?}, {recipe:?}", world.kind);
            let Ok(relearnt) = relearnt else {
                assert!(
                    after.known.len() < 3 || validates,
                    "{described}: {}",
                    relearnt.unwrap_err()
                );
                break;
            };
            let (data, training) = (after.build(), relearnt.model.training().unwrap());
            // New labels train, even where others choose λ.
            let (train, validation) = (training.training_nodes(), training.validation_nodes());
            let split = Split::new(data.nodes(), train, validation.to_vec(), vec![]).unwrap();
            assert_eq!(split.train().len() + split.validation().len(), after.known.len());
            let scratch = recipe.fit(&data, &split, &context).unwrap();
            assert!(relearnt.model.to_bytes() == scratch.to_bytes(), "{described}");
            assert_eq!(relearnt.dataset.fingerprint(), data.fingerprint(), "{described}");
            let read = Model::from_bytes(&relearnt.model.to_bytes()).unwrap();
            assert_eq!(read, relearnt.model, "{described}");
            check_plain(&recipe, &relearnt.model, &data, &split, &described);
            let computed = relearnt.changes.rows_computed.unwrap();
            if what.contains("labels") {
                assert_eq!(computed, 0, "nothing is propagated: {described}");
            } else {
                local += usize::from(computed > 0 && computed < data.nodes());
            }
            seen.insert((what, format!("{:?}", world.kind)));
            cases += 1;
            (world, model) = (after, relearnt.model);
        }
    }
    assert!(cases >= 100, "{cases} cases");
    assert!(local >= 10, "{local} changes of a part of the rows");
    assert!(seen.len() >= 15, "{seen:?}");
}

/// Training without keeping anything filters from whichever side is cheaper, so scores agree up to single precision.
fn check_plain(recipe: &Recipe, model: &Model, data: &Dataset, split: &Split, described: &str) {
    let context = Context::default();
    let Recipe::Described(classifier) = recipe else { return };
    let plain = classifier.fit(data, split, &context).unwrap().predict(data, &context).unwrap();
    let kept = model.predict(data, &context).unwrap();
    let (plain, kept) = (plain.into_targets(), kept.into_targets());
    let largest = plain.as_slice().iter().fold(0.0f64, |most, score| most.max(score.abs()));
    for (a, b) in plain.as_slice().iter().zip(kept.as_slice()) {
        assert!((a - b).abs() <= 1e-4 * largest, "{described}: {a} {b}");
    }
}
