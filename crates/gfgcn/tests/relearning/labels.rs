//! The last node of a class, the weights of classes, and models that were searched for.

use crate::world::{Kind, World, has};
use gfgcn::context::Context;
use gfgcn::training::{Recipe, Removal};
use gfgcn::{Classifier, Design, Model};

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
