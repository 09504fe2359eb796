//! Directions that even out, and nodes in another order.

use crate::world::{Kind, World, designs};
use gfgcn::context::Context;
use gfgcn::split::Split;
use gfgcn::training::{Recipe, Removal};
use gfgcn::{Classifier, Design, Ridge};

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
