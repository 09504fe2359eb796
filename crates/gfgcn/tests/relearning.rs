//! Learning more and forgetting give what training from scratch on the rest gives, over random graphs, designs, targets
//! and changes; and nothing of what was forgotten is left in the file.

mod synthetic;

use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, Labels, Targets, Values};
use gfgcn::features::Features;
use gfgcn::graph::{EdgeSet, Graph};
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::training::{Recipe, Relearnt, Removal};
use gfgcn::{Classifier, Design, Error, Model, Ridge};
use std::collections::HashSet;
use synthetic::Random;

/// Data as lists, from which every dataset is built anew: what is left after a change is computed here and not by the library.
#[derive(Clone)]
struct World {
    kind: Kind,
    directed: bool,
    /// Numbers that nodes keep, whatever happens to others.
    nodes: Vec<usize>,
    edges: Vec<(usize, usize, f32)>,
    features: Vec<Vec<f32>>,
    /// A class, a bit per label, or a value: of every node that ever was.
    truth: Vec<usize>,
    /// Nodes of which it is known.
    known: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Classes,
    Sets,
    Values,
}

const FEATURES: usize = 7;

impl World {
    /// A ring whose nodes know two others on either side, or a random graph; a third of the nodes have labels.
    fn new(seed: u64, count: usize, ring: bool) -> Self {
        let mut random = Random::new(seed);
        let kind = [Kind::Classes, Kind::Sets, Kind::Values][seed as usize % 3];
        let weighted = random.below(2) == 0;
        let mut edges = Vec::new();
        for node in 0..count {
            for step in 1..3 {
                let other = if ring { (node + step) % count } else { random.below(count) };
                let weight = if weighted { 0.5 + random.unit() as f32 } else { 1.0 };
                if other != node {
                    edges.push((node, other, weight));
                }
            }
        }
        let classes = 3;
        let truth: Vec<usize> = (0..count).map(|_| random.below(classes)).collect();
        let features = truth.iter().map(|&class| {
            let value = |j: usize| (random.unit() + f64::from(u8::from(j % 3 == class))) as f32;
            (0..FEATURES).map(value).collect()
        });
        let features = features.collect();
        let known = (0..count).filter(|_| random.below(3) == 0).collect();
        let directed = seed % 4 == 3;
        World { kind, directed, nodes: (0..count).collect(), edges, features, truth, known }
    }

    fn place(&self, node: usize) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    fn targets(&self, of: &[usize]) -> Targets {
        let truth = |node: &usize| of.contains(node).then_some(self.truth[*node]);
        match self.kind {
            Kind::Classes => {
                let names =
                    self.nodes.iter().map(|node| truth(node).map(|class| format!("c{class}")));
                Labels::from_names(&names.collect::<Vec<_>>()).into()
            }
            Kind::Sets => {
                let set = |bits: usize| {
                    (0..2)
                        .filter(|bit| (bits + 1) >> bit & 1 == 1)
                        .map(|b| format!("l{b}"))
                        .collect()
                };
                let sets: Vec<Option<Vec<String>>> =
                    self.nodes.iter().map(|node| truth(node).map(set)).collect();
                LabelSets::from_names(&sets).into()
            }
            Kind::Values => {
                let values = self
                    .nodes
                    .iter()
                    .map(|node| truth(node).map_or(f64::NAN, |v| v as f64 + 0.125));
                let matrix = Matrix::from_rows(self.nodes.len(), 1, values.collect()).unwrap();
                Values::new(vec!["height".into()], matrix).unwrap().into()
            }
        }
    }

    fn build(&self) -> Dataset {
        let place = |node: usize| self.place(node).unwrap() as u32;
        let ends: Vec<(u32, u32)> =
            self.edges.iter().map(|&(a, b, _)| (place(a), place(b))).collect();
        let weights: Vec<f32> = self.edges.iter().map(|&(_, _, weight)| weight).collect();
        let build = if self.directed { Graph::from_arcs } else { Graph::from_edges };
        let (graph, _) = build(self.nodes.len(), &ends, Some(&weights)).unwrap();
        let rows = self.nodes.iter().flat_map(|&node| self.features[node].clone()).collect();
        let features =
            Features::dense(Matrix::from_rows(self.nodes.len(), FEATURES, rows).unwrap()).unwrap();
        let data = Dataset::new("world", graph, features, self.targets(&self.known)).unwrap();
        data.with_node_ids(self.nodes.iter().map(|&node| id(node)).collect()).unwrap()
    }

    fn split(&self, validates: bool) -> Split {
        let places: Vec<usize> = self.known.iter().map(|&node| self.place(node).unwrap()).collect();
        let is_validation = |k: &usize| validates && self.nodes[*k].is_multiple_of(4);
        let (validation, train) = places.into_iter().partition(is_validation);
        Split::new(self.nodes.len(), train, validation, Vec::new()).unwrap()
    }

    fn without_labels(&self, gone: &[usize]) -> Self {
        let known = self.known.iter().copied().filter(|node| !gone.contains(node)).collect();
        World { known, ..self.clone() }
    }

    fn without_nodes(&self, gone: &[usize]) -> Self {
        let stays = |node: &usize| !gone.contains(node);
        World {
            nodes: self.nodes.iter().copied().filter(stays).collect(),
            known: self.known.iter().copied().filter(stays).collect(),
            edges: self.edges.iter().copied().filter(|(a, b, _)| stays(a) && stays(b)).collect(),
            ..self.clone()
        }
    }
}

fn id(node: usize) -> String {
    format!("person-{:05}", 7919 * node % 100_000)
}

/// Ids must be in order, so that a dataset built without some nodes has the others in the same order; any order will do.
fn designs() -> Vec<(&'static str, Kernel)> {
    let rbf = "rbf".parse::<Kernel>().unwrap();
    vec![
        ("sgc:depth=2", Kernel::Linear),
        ("ssgc:depth=3", Kernel::Linear),
        ("ppr:alpha=0.5", Kernel::Linear),
        ("sgc:depth=1@row/unit + 0.5*identity", Kernel::Linear),
        ("identity + sgc:depth=1@row:out,loops=0", Kernel::Linear),
        ("sgc:depth=1@row:in-out", Kernel::Linear),
        ("sgc:depth=1 of structure", Kernel::Linear),
        ("sgc:depth=2 + identity of degrees", Kernel::Linear),
        ("sgc:depth=1", rbf),
    ]
}

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

/// The only node of a class, a label or a height goes: by its label, as a whole, and by becoming something else.
#[test]
fn the_last_of_a_class_may_go() {
    let context = Context::default();
    for kind in [Kind::Classes, Kind::Sets, Kind::Values] {
        let mut world = World { kind, directed: false, ..World::new(9, 60, true) };
        let last = world.known[4];
        world.truth.iter_mut().for_each(|truth| *truth %= 2);
        // The third class, both labels, and a height of its own. Without it no node has the second label.
        if kind == Kind::Sets {
            world.truth.iter_mut().for_each(|truth| *truth = 0);
        }
        world.truth[last] = 2;
        let recipe = Recipe::from(Classifier::new("sgc:depth=2".parse::<Design>().unwrap()));
        let data = world.build();
        let model = recipe.fit(&data, &world.split(false), &context).unwrap();
        let names = |model: &Model| model.classes().len();
        let mut corrected = world.clone();
        corrected.truth[last] = 0;
        let labels = corrected.targets(&[last]);
        for (relearnt, after) in [
            (
                model.forget(&data, &Removal::Labels(vec![last]), &context),
                world.without_labels(&[last]),
            ),
            (
                model.forget(&data, &Removal::Nodes(vec![last]), &context),
                world.without_nodes(&[last]),
            ),
            (model.update(&data, Some(&labels), &context), corrected),
        ] {
            let relearnt = relearnt.unwrap().model;
            let scratch = recipe.fit(&after.build(), &after.split(false), &context).unwrap();
            assert!(relearnt.to_bytes() == scratch.to_bytes(), "{kind:?}");
            let gone = usize::from(kind != Kind::Values);
            assert_eq!(names(&relearnt) + gone, names(&model), "{kind:?}");
        }
    }
}

/// Whether some bytes are in others.
fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

fn bytes_of(row: &[f32]) -> Vec<u8> {
    row.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The filtered row of a node, computed here: the mean over itself and its neighbours, as `sgc:depth=1@row` has it.
fn filtered(world: &World, node: usize) -> Vec<f64> {
    let around = world.edges.iter().filter_map(|&(a, b, weight)| {
        if a == node { Some((b, weight)) } else { (b == node).then_some((a, weight)) }
    });
    let around: Vec<(usize, f32)> = around.chain([(node, 1.0)]).collect();
    let total: f64 = around.iter().map(|(_, weight)| f64::from(*weight)).sum();
    let value = |j: usize| {
        let values =
            around.iter().map(|&(other, w)| f64::from(w) * f64::from(world.features[other][j]));
        values.sum::<f64>() / total
    };
    (0..FEATURES).map(value).collect()
}

/// The row of a matrix of single-precision numbers in a file that is nearest to a wanted one.
fn distance(bytes: &[u8], wanted: &[f64]) -> f64 {
    let floats: Vec<f64> = bytes
        .chunks_exact(4)
        .map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])))
        .collect();
    let far = |row: &[f64]| {
        let differences = row.iter().zip(wanted).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, |most: f64, d| if d.is_nan() { f64::INFINITY } else { most.max(d) })
    };
    floats.windows(wanted.len()).map(far).fold(f64::INFINITY, f64::min)
}

/// How often a row of single-precision numbers is in a file.
fn times_of(bytes: &[u8], wanted: &[f64]) -> usize {
    let size = 4 * wanted.len();
    let windows = (0..=bytes.len().saturating_sub(size)).step_by(4);
    windows.filter(|&at| distance(&bytes[at..at + size], wanted) < 1e-5).count()
}

#[test]
fn nothing_of_what_was_forgotten_is_left_in_the_file() {
    let context = Context::default();
    // Undirected, of classes, with weights that are 1 or not.
    let world = World { directed: false, ..World::new(6, 90, true) };
    let data = world.build();
    let recipe = Recipe::from(Classifier::new("sgc:depth=1@row".parse::<Design>().unwrap()));
    let model = recipe.fit(&data, &world.split(false), &context).unwrap();
    let before = model.to_bytes();
    let gone = [world.known[2], world.known[5]];
    for &node in &gone {
        assert!(
            has(&before, id(node).as_bytes()) && distance(&before, &filtered(&world, node)) < 1e-5
        );
    }
    // A file without their labels is the one that never had them.
    let labels = model.forget(&data, &Removal::Labels(gone.to_vec()), &context).unwrap();
    let unlabelled = world.without_labels(&gone);
    let never = recipe.fit(&unlabelled.build(), &unlabelled.split(false), &context).unwrap();
    assert!(labels.model.to_bytes() == never.to_bytes());
    // A kernel that is not linear has the rows of labelled nodes beside its coefficients.
    let ridge = Ridge { kernel: "rbf".parse().unwrap(), ..Ridge::default() };
    let classifier = Classifier::new("sgc:depth=1@row".parse::<Design>().unwrap());
    let plain = Recipe::from(classifier.with_ridge(ridge));
    let kernel = plain.fit(&data, &world.split(false), &context).unwrap();
    let less = kernel.forget(&data, &Removal::Labels(gone.to_vec()), &context).unwrap().model;
    let rows = |model: &Model| {
        let bytes = model.to_bytes();
        gone.map(|node| times_of(&bytes, &filtered(&world, node)))
    };
    assert_eq!((rows(&kernel), rows(&less)), ([2, 2], [1, 1]), "only those of the graph are left");
    let stays = world.known[3];
    let nodes = model.forget(&data, &Removal::Nodes(gone.to_vec()), &context).unwrap();
    let after = nodes.model.to_bytes();
    for &node in &gone {
        assert!(!has(&after, id(node).as_bytes()), "the id of {node} is still there");
        assert!(!has(&after, &bytes_of(&world.features[node])));
        assert!(
            distance(&after, &filtered(&world, node)) > 1e-4,
            "the row of {node} is still there"
        );
    }
    assert!(has(&after, id(stays).as_bytes()));
}

/// What is computed along directions is computed otherwise where there are none.
#[test]
fn directions_may_even_out() {
    let context = Context::default();
    let mut seen = 0;
    for (design, kernel) in designs() {
        let mut world = World { kind: Kind::Classes, directed: true, ..World::new(12, 80, true) };
        let back: Vec<(usize, usize, f32)> =
            world.edges.iter().map(|&(a, b, weight)| (b, a, weight)).collect();
        world.edges.extend(back);
        let even = world.clone();
        world.edges.push((3, 40, 1.0));
        let ridge = Ridge { kernel, ..Ridge::default() };
        let classifier = Classifier::new(design.parse::<Design>().unwrap()).with_ridge(ridge);
        let recipe = Recipe::from(classifier);
        let (data, split) = (world.build(), world.split(false));
        let model = recipe.fit(&data, &split, &context).unwrap();
        let edge = Removal::Edges(vec![(None, [(3, 40)].into())]);
        let node = Removal::Nodes(vec![40]);
        for (removal, after) in [(edge, even.clone()), (node, even.without_nodes(&[40]))] {
            let relearnt = model.forget(&data, &removal, &context);
            let data = after.build();
            assert!(!data.graph().is_directed());
            let scratch = recipe.fit(&data, &after.split(false), &context);
            match (relearnt, scratch) {
                (Ok(relearnt), Ok(scratch)) => {
                    assert!(relearnt.model.to_bytes() == scratch.to_bytes(), "{design}");
                    relearnt.verify(&context).unwrap();
                    // And back again, on data as they are then.
                    let again = relearnt.model.update(&world.build(), None, &context).unwrap();
                    if after.nodes.len() == world.nodes.len() {
                        assert!(again.model.to_bytes() == model.to_bytes(), "{design}");
                    }
                    seen += 1;
                }
                (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
                (one, other) => panic!("{design}: {one:?} {other:?}"),
            }
        }
    }
    assert!(seen >= 12, "{seen}");
}

fn reversed(split: &Split, nodes: usize) -> Split {
    let train = split.train().iter().map(|node| nodes - 1 - node).collect();
    Split::new(nodes, train, vec![], vec![]).unwrap()
}

/// Nodes are those of their ids, in whatever order they come.
#[test]
fn nodes_in_another_order_are_the_same_nodes() {
    let context = Context::default();
    let world = World { kind: Kind::Classes, ..World::new(6, 60, true) };
    let (data, split) = (world.build(), world.split(false));
    let recipe = Recipe::from(Classifier::new("ssgc:depth=2".parse::<Design>().unwrap()));
    let model = recipe.fit(&data, &split, &context).unwrap();
    let turned: Vec<usize> = (0..60).rev().collect();
    let other = data.select(&turned);
    let place = |node: usize| 59 - node;
    let gone = world.known[1];
    for (removal, after) in [
        (Removal::Labels(vec![place(gone)]), world.without_labels(&[gone])),
        (Removal::Nodes(vec![place(gone)]), world.without_nodes(&[gone])),
    ] {
        let relearnt = model.forget(&other, &removal, &context).unwrap();
        let nodes = after.nodes.len();
        let turned: Vec<usize> = (0..nodes).rev().collect();
        let split = reversed(&after.split(false), nodes);
        let scratch = recipe.fit(&after.build().select(&turned), &split, &context).unwrap();
        assert!(relearnt.model.to_bytes() == scratch.to_bytes());
    }
    let moved = model.update(&other, None, &context).unwrap();
    assert_eq!(moved.changes.nodes_changed, 0);
    let scratch = recipe.fit(&other, &reversed(&split, 60), &context).unwrap();
    assert!(moved.model.to_bytes() == scratch.to_bytes());
}

/// The weight of a class goes with the last of its nodes.
#[test]
fn weights_of_forgotten_classes_are_forgotten() {
    let context = Context::default();
    let world = World { kind: Kind::Classes, ..World::new(6, 90, true) };
    let (data, split) = (world.build(), world.split(false));
    let weighted = |weights: &str| {
        let classifier = Classifier::new("sgc:depth=2".parse::<Design>().unwrap());
        let objective = gfgcn::head::Objective {
            class_weights: weights.parse().unwrap(),
            ..Default::default()
        };
        Recipe::from(classifier.with_objective(objective))
    };
    let model = weighted("c0=2,c1=3").fit(&data, &split, &context).unwrap();
    let of_class = |node: &usize| world.truth[*node] == 1;
    let gone: Vec<usize> = world.known.iter().copied().filter(of_class).collect();
    let relearnt = model.forget(&data, &Removal::Labels(gone.clone()), &context).unwrap();
    let rest = world.without_labels(&gone);
    let scratch = weighted("c0=2").fit(&rest.build(), &rest.split(false), &context).unwrap();
    assert!(relearnt.model.to_bytes() == scratch.to_bytes());
    let named = |model: &Model| has(&model.to_bytes(), br#"\"c1\""#);
    assert!(named(&model) && !named(&relearnt.model));
}

/// Nodes count as much as before, also from a file; those whose labels are new count once.
#[test]
fn nodes_keep_their_weights() {
    let context = Context::default();
    let world = World { kind: Kind::Classes, ..World::new(6, 60, true) };
    let data = world.build();
    let recipe = Recipe::from(Classifier::new("sgc:depth=2".parse::<Design>().unwrap()));
    let fresh = *world.known.last().unwrap();
    let before = world.without_labels(&[fresh]);
    let weighted = |world: &World| {
        let split = world.split(false);
        let weight = |&node: &usize| if node == fresh { 1.0 } else { 0.5 + (node % 4) as f64 };
        let weights = split.train().iter().map(weight).collect();
        split.with_weights(Some(weights)).unwrap()
    };
    let scratch = |world: &World| recipe.fit(&world.build(), &weighted(world), &context).unwrap();
    let model = scratch(&before);
    assert_ne!(model, recipe.fit(&before.build(), &before.split(false), &context).unwrap());
    let model = Model::from_bytes(&model.to_bytes()).unwrap();
    let gone = world.known[1];
    let forgotten = model.forget(&data, &Removal::Labels(vec![gone]), &context).unwrap();
    let expected = scratch(&before.without_labels(&[gone]));
    assert!(forgotten.model.to_bytes() == expected.to_bytes());
    forgotten.verify(&context).unwrap();
    let new = data.targets().only(&[fresh]);
    let learnt = model.update(&data, Some(&new), &context).unwrap();
    assert!(learnt.model.to_bytes() == scratch(&world).to_bytes());
}

#[test]
fn a_searched_model_is_searched_for_again() {
    let context = Context::default();
    let world = World { kind: Kind::Classes, directed: false, ..World::new(8, 60, false) };
    let (data, split) = (world.build(), world.split(false));
    let search = gfgcn::tune::Search::default();
    let recipe = Recipe::from(search.clone());
    let model = recipe.fit(&data, &split, &context).unwrap();
    assert_eq!(search.run_keeping(&data, &split, &context).unwrap().model, model);
    let gone = world.known[4];
    let relearnt = model.forget(&data, &Removal::Nodes(vec![gone]), &context).unwrap();
    let rest = world.without_nodes(&[gone]);
    let scratch = recipe.fit(&rest.build(), &rest.split(false), &context).unwrap();
    assert_eq!(relearnt.model.to_bytes(), scratch.to_bytes());
    assert_eq!(relearnt.changes.rows_computed, None);
}

#[test]
fn what_cannot_be_changed_is_refused_in_words() {
    let context = Context::default();
    let world = World { kind: Kind::Classes, ..World::new(4, 60, true) };
    let (data, split) = (world.build(), world.split(false));
    let classifier = Classifier::new("sgc:depth=1".parse::<Design>().unwrap());
    let plain = classifier.fit(&data, &split, &context).unwrap();
    let model = Recipe::from(classifier).fit(&data, &split, &context).unwrap();
    let labels = |nodes: &[usize]| Removal::Labels(nodes.to_vec());
    let unlabelled = (0..60).find(|node| !world.known.contains(node)).unwrap();
    let other = world.without_nodes(&[unlabelled]).build();
    let values = World { kind: Kind::Values, ..world.clone() }.targets(&[unlabelled]);
    let edge = |from: u32, to: u32| Removal::Edges(vec![(None, [(from, to)].into())]);
    let typed = Removal::Edges(vec![(Some("cites".into()), [(0, 1)].into())]);
    let unnamed = Dataset::new(
        "world",
        data.graph().clone(),
        data.features().clone(),
        data.targets().clone(),
    );
    for (found, expected) in [
        (plain.forget(&data, &labels(&[world.known[0]]), &context), "--keep-training"),
        (plain.update(&data, None, &context), "--keep-training"),
        (model.forget(&data, &labels(&[unlabelled]), &context), "was not trained on a label of"),
        (model.forget(&data, &labels(&world.known), &context), "no label would be left"),
        (model.forget(&data, &labels(&[999]), &context), "below 60"),
        (model.forget(&data, &Removal::Nodes(vec![60]), &context), "below 60"),
        (
            model.forget(&data, &Removal::Nodes((0..60).collect()), &context),
            "no node would be left",
        ),
        (model.forget(&data, &edge(0, 30), &context), "no edge from node 0 to node 30"),
        (model.forget(&data, &typed, &context), "all of one kind"),
        (model.forget(&other, &labels(&[0]), &context), "not those that the model was trained on"),
        (model.update(&data, Some(&values), &context), "values cannot take the place of classes"),
        (model.update(&unnamed.unwrap(), None, &context), "cannot be matched"),
    ] {
        let message = found.unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    // Nothing to do is no mistake.
    let same = model.update(&data, None, &context).unwrap();
    assert_eq!(same.model, model);
}
