//! What networkx, SciPy and pandas read from the files under `tests/golden/layouts` (`make_layouts.py`).

use super::{golden_path, read};
use gfgcn::data::{Dataset, Targets};
use gfgcn::graph::Graph;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

type Edges = BTreeSet<(String, String, String)>;

/// Edges by the ids of their ends; undirected ones with the smaller id first.
fn edges(graph: &Graph, dataset: &Dataset, directed: bool) -> Edges {
    let id = |node: usize| dataset.node_id(node).into_owned();
    let list: Vec<(usize, usize, f32)> = match directed {
        true => graph.arc_list().collect(),
        false => graph.edge_list().collect(),
    };
    list.into_iter().map(|(a, b, weight)| edge(id(a), id(b), f64::from(weight), directed)).collect()
}

fn edge(a: String, b: String, weight: f64, directed: bool) -> (String, String, String) {
    let (a, b) = if directed || a <= b { (a, b) } else { (b, a) };
    (a, b, weight.to_string())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn labels(dataset: &Dataset) -> BTreeMap<String, BTreeSet<String>> {
    let of = |node: usize| -> Option<BTreeSet<String>> {
        match dataset.targets() {
            Targets::Classes(labels) => labels.name(node).map(|name| [name.to_owned()].into()),
            Targets::Sets(sets) => sets.of_node(node).map(|set| set.map(str::to_owned).collect()),
            Targets::Values(_) => None,
        }
    };
    let known = (0..dataset.nodes())
        .filter_map(|node| Some((dataset.node_id(node).into_owned(), of(node)?)));
    known.collect()
}

#[test]
fn reference_readers_say_the_same() {
    let expected = fs::read_to_string(golden_path("expected.json")).unwrap();
    let expected: BTreeMap<String, Value> = serde_json::from_str(&expected).unwrap();
    assert!(expected.len() > 20);
    for (name, expected) in expected {
        let dataset = read(&golden_path(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let ids: BTreeSet<String> =
            (0..dataset.nodes()).map(|n| dataset.node_id(n).into_owned()).collect();
        let wanted: BTreeSet<String> =
            expected["ids"].as_array().unwrap().iter().map(text).collect();
        assert_eq!(ids, wanted, "{name}");

        let directed = expected["directed"].as_bool().unwrap();
        assert_eq!(dataset.graph().is_directed(), directed, "{name}");
        let listed = expected["edges"].as_array().unwrap().iter();
        let wanted: Edges = listed
            .map(|e| edge(text(&e[0]), text(&e[1]), e[2].as_f64().unwrap(), directed))
            .collect();
        assert_eq!(edges(dataset.graph(), &dataset, directed), wanted, "{name}");

        for node in 0..dataset.nodes() {
            let mut row = BTreeMap::new();
            let numbered = |column: usize| column.to_string();
            dataset.features().for_each_in_row(node, |column, value| {
                let name = dataset
                    .feature_names()
                    .map_or_else(|| numbered(column), |names| names[column].clone());
                row.insert(name, value);
            });
            let id = dataset.node_id(node).into_owned();
            let wanted = expected["features"][&id].as_object().unwrap().iter();
            let wanted: BTreeMap<String, f32> = wanted
                .map(|(name, value)| (name.clone(), value.as_f64().unwrap() as f32))
                .collect();
            assert_eq!(row, wanted, "{name}: features of {id}");
        }

        let listed = expected["labels"].as_object().unwrap().iter();
        let wanted: BTreeMap<String, BTreeSet<String>> = listed
            .map(|(id, set)| (id.clone(), set.as_array().unwrap().iter().map(text).collect()))
            .collect();
        assert_eq!(labels(&dataset), wanted, "{name}");

        let relations = expected["relations"].as_object().unwrap();
        assert_eq!(dataset.graph().relations().len(), relations.len(), "{name}");
        for relation in dataset.graph().relations() {
            let wanted = relations[relation.name()].as_array().unwrap().iter();
            let wanted: Edges =
                wanted.map(|e| edge(text(&e[0]), text(&e[1]), 1.0, directed)).collect();
            assert_eq!(
                edges(relation.graph(), &dataset, directed),
                wanted,
                "{name}: {}",
                relation.name()
            );
        }

        let splits: Vec<[Vec<usize>; 3]> = dataset
            .splits()
            .iter()
            .map(|split| split.parts().map(|(_, part)| part.to_vec()))
            .collect();
        let wanted: Vec<[Vec<usize>; 3]> =
            serde_json::from_value(expected["splits"].clone()).unwrap();
        assert_eq!(splits, wanted, "{name}");
    }
}
