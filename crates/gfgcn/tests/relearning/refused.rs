//! Changes that make no sense, and what is said about them.

use crate::world::{Kind, World};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::training::{Recipe, Removal};
use gfgcn::{Classifier, Design};

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
