//! A search for what was forgotten, byte by byte.

use crate::world::{FEATURES, World, has, id};
use gfgcn::context::Context;
use gfgcn::training::{Recipe, Removal};
use gfgcn::{Classifier, Design, Model, Ridge};

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
