//! Edges of several types, and nodes without features, in archives.

use super::{Arrays, assert_says, npy, read};
use gfgcn::context::Context;
use gfgcn_data::npz;

const NO_FEATURES: &str = "there are no features; only the graph tells nodes apart";

/// The small dataset with one edge of type `b` and one arc of type `a`.
fn typed() -> Arrays {
    let relation = |arrays: Arrays, k: usize, indices: &[f64], offsets: &[f64]| {
        arrays
            .with(&format!("relation_{k}_data"), npy::vector("<f4", &vec![1.0; indices.len()]))
            .with(&format!("relation_{k}_indices"), npy::vector("<i8", indices))
            .with(&format!("relation_{k}_indptr"), npy::vector("<i8", offsets))
            .with(&format!("relation_{k}_shape"), npy::vector("<i8", &[5.0, 5.0]))
    };
    let both = relation(Arrays::small(), 0, &[1.0, 0.0], &[0.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
    relation(both, 1, &[3.0], &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
        .with("relation_names", npy::texts('<', &["b", "a"]))
}

#[test]
fn relations_stand_beside_the_graph_in_the_order_of_their_names() {
    let directed = typed().with("directed", npy::array("'|b1'", "", &[1]));
    for (name, arrays, is_directed) in [("plain", typed(), false), ("directed", directed, true)] {
        let dataset = read(&arrays.stored()).unwrap();
        let graph = dataset.graph();
        let names: Vec<&str> = graph.relations().iter().map(|r| r.name()).collect();
        assert_eq!(names, ["a", "b"], "{name}");
        assert_eq!(graph.relation("a").unwrap().neighbours(3), [2], "{name}");
        assert_eq!(graph.relation("a").unwrap().is_directed(), is_directed, "{name}");
        assert_eq!(graph.relation("b").unwrap().edges(), 1, "{name}");
        assert!(!graph.is_directed(), "{name}: every edge of all goes both ways");
        let bytes = npz::to_bytes(&dataset);
        let again = npz::from_bytes(&bytes, "test", &Context::default()).unwrap();
        assert_eq!(again, dataset, "{name}");
        assert_eq!(again.fingerprint(), dataset.fingerprint(), "{name}");
    }
}

#[test]
fn bad_relations_are_refused() {
    let names = |names: &[&str]| typed().with("relation_names", npy::texts('<', names)).stored();
    assert_says("one without edges", &names(&["a", "b", "c"]), &["\"c\"", "relation_2"]);
    assert_says("twice", &names(&["a", "a"]), &["relation_names", "\"a\"", "twice"]);
    assert_says("no name", &names(&["a", ""]), &["relation_names", "no name"]);
    let many: Vec<String> = (0..65).map(|k| k.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_says("65", &names(&many), &["relation_names", "65 types", "64"]);
    let other = typed()
        .with("relation_0_shape", npy::vector("<i8", &[4.0, 4.0]))
        .with("relation_0_indptr", npy::vector("<i8", &[0.0, 1.0, 2.0, 2.0, 2.0]));
    assert_says("other nodes", &other.stored(), &["relation", "expected 5, found 4"]);
    let negative = typed().with("relation_1_data", npy::vector("<f4", &[-1.0]));
    assert_says("negative", &negative.stored(), &["type \"a\"", "weight -1"]);
}

#[test]
fn nodes_may_have_no_features() {
    let list = Arrays(Vec::new())
        .with("edges", npy::array("'<i8'", "1, 2", &[0u64, 2].map(u64::to_le_bytes).concat()))
        .with("node_labels", npy::vector("<i8", &[0.0, 1.0, 0.0]));
    for (name, arrays, nodes) in
        [("rows", Arrays::small().without("attr"), 5), ("list", list.clone(), 3)]
    {
        let dataset = read(&arrays.stored()).unwrap();
        assert_eq!((dataset.nodes(), dataset.features().cols()), (nodes, 0), "{name}");
        assert_eq!(dataset.notes(), [NO_FEATURES], "{name}");
        let bytes = npz::to_bytes(&dataset);
        let again = npz::from_bytes(&bytes, "test", &Context::default()).unwrap();
        assert_eq!(again, dataset, "{name}");
        assert_eq!(again.fingerprint(), dataset.fingerprint(), "{name}");
    }
    let named = Arrays::small().without("attr").with("attr_names", npy::texts('<', &["x"]));
    let notes = read(&named.stored()).unwrap().notes().join("; ");
    assert!(notes.contains("attr_names") && notes.contains(NO_FEATURES), "{notes}");
    let partly = Arrays::small().without("attr_indptr");
    assert_says("partly there", &partly.stored(), &["the features", "attr_indptr"]);
    let nobody = list.with("node_labels", npy::vector("<i8", &[]));
    assert_says("no nodes", &nobody.stored(), &["node_labels", "no nodes"]);
}
