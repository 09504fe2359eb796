//! What a user does with a server: predict, ask why, teach, forget, go back, restart. Everything is compared with the library.

use crate::client::Server;
use crate::sandbox::Sandbox;
use gfgcn::Model;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels, NewNode};
use gfgcn::explain::View;
use gfgcn::graph::NewEdge;
use gfgcn::training::Removal;
use serde_json::{Value, json};

const PAPERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/papers");

/// A sandbox with a model of the example that can change, the data as the server reads them, and the model.
fn papers() -> (Sandbox, Dataset, Model) {
    let sandbox = Sandbox::new();
    sandbox.ok(&format!("fit {PAPERS} --depth 4 --keep-training -o m.model"));
    let context = Context::default();
    let data = gfgcn_datasets::open(PAPERS.as_ref(), None, &context).unwrap().ordered_by_names();
    let model = Model::load(&sandbox.path("m.model")).unwrap();
    (sandbox, data, model)
}

fn serve(sandbox: &Sandbox) -> Server {
    Server::start(sandbox, &format!("serve m.model {PAPERS}"))
}

fn node(data: &Dataset, id: &str) -> usize {
    (0..data.nodes()).find(|&node| data.node_id(node) == id).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The server's answer for every node, bit for bit.
#[track_caller]
fn predicts_as(server: &Server, model: &Model, data: &Dataset) {
    let expected = model.predict(data, &Context::default()).unwrap();
    let regions = expected.regions(0.9).unwrap();
    let ids: Vec<String> = (0..data.nodes()).map(|node| data.node_id(node).into_owned()).collect();
    let answer = server.posted("/v1/predict", &json!({ "nodes": ids, "coverage": 0.9 }));
    for (node, found) in answer["predictions"].as_array().unwrap().iter().enumerate() {
        assert_eq!(found["node"], ids[node]);
        assert_eq!(found["label"], expected.name(node));
        assert_eq!(numbers(&found["scores"]), expected.scores(node));
        assert_eq!(numbers(&found["probabilities"]), expected.probabilities(node));
        let set = expected.plausible(node, &regions);
        let set: Vec<&str> = set.iter().map(|&c| expected.classes()[c as usize].as_str()).collect();
        assert_eq!(found["set"], json!(set));
    }
}

#[test]
fn predictions_are_those_of_the_library() {
    let (sandbox, data, model) = papers();
    let server = serve(&sandbox);
    let info = server.got("/v1/info");
    assert_eq!((&info["nodes"], &info["version"]), (&json!(48), &json!(1)));
    assert_eq!(info["classes"], json!(["astronomy", "botany", "chess"]));
    predicts_as(&server, &model, &data);
    let one = server.got("/v1/nodes/bot-02");
    assert_eq!((&one["label"], &one["trained_on"]), (&json!("botany"), &json!(true)));
    let text = String::from_utf8(server.bytes("/metrics")).unwrap();
    let counted = "gfgcn_requests_total{method=\"POST\",route=\"/v1/predict\",status=\"200\"} 1";
    assert!(text.contains(counted) && text.ends_with("# EOF\n"), "{text}");
}

/// New nodes are predicted as if they had always been there, and nothing changes.
#[test]
fn new_nodes_are_predicted_as_though_they_were_in_the_graph() {
    let (sandbox, data, model) = papers();
    let server = serve(&sandbox);
    let names = data.feature_names().unwrap();
    let column = |name: &str| names.iter().position(|other| other == name).unwrap();
    let answer = server.posted(
        "/v1/predict",
        &json!({
            "nodes": ["ast-05"],
            "new": [
                { "id": "new-1", "features": { "forest": 2.0, "root": 1.5 }, "edges": ["bot-02", { "to": "bot-11", "weight": 1 }] },
                { "id": "new-2", "edges": ["new-1"] },
            ],
            "edges": [["new-2", "ast-05"]],
            "coverage": 0.8,
        }),
    );
    let first = NewNode {
        id: Some("new-1".into()),
        features: vec![(column("forest"), 2.0), (column("root"), 1.5)],
    };
    let second = NewNode { id: Some("new-2".into()), features: vec![] };
    let edge = |from, to| NewEdge { from, to, weight: 1.0, relation: None };
    let (a, b) = (data.nodes(), data.nodes() + 1);
    let edges = [
        edge(a, node(&data, "bot-02")),
        edge(a, node(&data, "bot-11")),
        edge(b, a),
        edge(b, node(&data, "ast-05")),
    ];
    let grown = data.grown(&[first, second], &edges).unwrap();
    let context = Context::default();
    let expected = model.predict_nodes(&grown, &[a, b], &context).unwrap();
    let whole = model.predict(&grown, &context).unwrap();
    let found = answer["predictions"].as_array().unwrap();
    for (k, new) in [a, b].into_iter().enumerate() {
        assert_eq!(numbers(&found[k + 1]["scores"]), expected.scores(new));
        let close = |(x, y): (f64, f64)| (x - y).abs() < 1e-5;
        assert!(expected.scores(new).into_iter().zip(whole.scores(new)).all(close));
    }
    let before = model.predict(&data, &context).unwrap();
    assert_eq!(numbers(&found[0]["scores"]), before.scores(node(&data, "ast-05")));
    assert_eq!(server.got("/v1/info")["version"], 1);
    predicts_as(&server, &model, &data);
}

#[test]
fn explanations_add_up_and_are_those_of_the_library() {
    let (sandbox, data, model) = papers();
    let server = serve(&sandbox);
    let why = server.posted("/v1/explain", &json!({ "node": "bot-02", "top": 3 }));
    let reasons = model.explain(&data, node(&data, "bot-02"), &Context::default()).unwrap();
    let class = reasons.predicted();
    assert_eq!(why["score"], reasons.score(class));
    let views = [
        ("channels", View::Channels),
        ("features", View::Features),
        ("nodes", View::Nodes),
        ("labelled", View::Labelled),
    ];
    for (name, view) in views {
        let list = &why[name];
        let terms = list["terms"].as_array().unwrap();
        let values: Vec<f64> = terms.iter().map(|term| term["value"].as_f64().unwrap()).collect();
        let expected: Vec<f64> =
            reasons.terms(view, class).iter().take(3).map(|(_, value)| *value).collect();
        assert_eq!(values, expected, "{name}");
        let sum = values.iter().sum::<f64>() + list["sum_of_others"].as_f64().unwrap();
        assert!((sum + reasons.constant(class) - reasons.score(class)).abs() < 1e-9, "{name}");
    }
    assert_eq!(why["labelled"]["terms"][0]["label"], "botany");
}

/// Every change gives the model that the library gives, to the last bit, before and after the server is stopped and started again.
#[test]
fn what_is_learnt_and_forgotten_is_exact_and_stays() {
    let (sandbox, data, model) = papers();
    let server = serve(&sandbox);
    let context = Context::default();

    let label = |data: &Dataset, id: &str, class: &str| {
        let names: Vec<Option<&str>> =
            (0..data.nodes()).map(|k| (data.node_id(k) == id).then_some(class)).collect();
        Labels::from_names(&names).into()
    };
    let changed = server.posted("/v1/update", &json!({ "labels": { "bot-02": "zoology" } }));
    assert_eq!(changed["classes"], json!(["astronomy", "botany", "chess", "zoology"]));
    let second = model.update(&data, Some(&label(&data, "bot-02", "zoology")), &context).unwrap();
    predicts_as(&server, &second.model, &data);

    server
        .posted("/v1/forget", &json!({ "labels_of": ["bot-11"], "edges": [["bot-02", "bot-11"]] }));
    let labels = Removal::Labels(vec![node(&data, "bot-11")]);
    let third = second.model.forget(&data, &labels, &context).unwrap();
    let ends = (node(&data, "bot-02") as u32, node(&data, "bot-11") as u32);
    let edges = Removal::Edges(vec![(None, [ends].into())]);
    let third = third.model.forget(&data, &edges, &context).unwrap();
    predicts_as(&server, &third.model, &third.dataset);

    let new = json!({ "id": "zoo-1", "features": { "root": 1.0 }, "edges": ["bot-02"], "label": "zoology" });
    server.posted("/v1/update", &json!({ "nodes": [new], "edges": [["bot-02", "bot-11"]] }));
    let column = data.feature_names().unwrap().iter().position(|name| name == "root").unwrap();
    let zoo = NewNode { id: Some("zoo-1".into()), features: vec![(column, 1.0)] };
    let link = |from, to: u32| NewEdge { from, to: to as usize, weight: 1.0, relation: None };
    let grown = third
        .dataset
        .grown(&[zoo], &[link(data.nodes(), ends.0), link(ends.0 as usize, ends.1)])
        .unwrap();
    let fourth =
        third.model.update(&grown, Some(&label(&grown, "zoo-1", "zoology")), &context).unwrap();
    predicts_as(&server, &fourth.model, &fourth.dataset);

    server.posted("/v1/forget", &json!({ "nodes": ["zoo-1", "ast-05"] }));
    let gone = ["zoo-1", "ast-05"].map(|id| node(&fourth.dataset, id)).to_vec();
    let fifth = fourth.model.forget(&fourth.dataset, &Removal::Nodes(gone), &context).unwrap();
    predicts_as(&server, &fifth.model, &fifth.dataset);
    assert_eq!(server.get("/v1/nodes/zoo-1").0, 404);

    server.posted("/v1/rollback", &json!({ "to": 2 }));
    predicts_as(&server, &second.model, &data);
    server.posted("/v1/update", &json!({ "labels": { "bot-02": "botany" } }));
    predicts_as(&server, &model, &data);

    #[cfg(unix)]
    assert_eq!(server.signal("TERM"), Some(130));
    #[cfg(not(unix))]
    drop(server);
    let server = serve(&sandbox);
    let versions = server.got("/v1/versions");
    assert_eq!(versions["current"], 7, "{versions}");
    assert_eq!(versions["versions"][4]["changes"], json!(["forgot 2 nodes"]));
    predicts_as(&server, &model, &data);
    server.posted("/v1/rollback", &json!({ "to": 4 }));
    predicts_as(&server, &fourth.model, &fourth.dataset);
    server.posted("/v1/rollback", &json!({ "to": 3 }));
    let saved = Model::from_bytes(&server.bytes("/v1/model")).unwrap();
    assert_eq!(saved, third.model);
    let labels = String::from_utf8(server.bytes("/v1/labels")).unwrap();
    assert!(labels.starts_with("id,label\n") && labels.contains("bot-02,zoology\n"), "{labels}");
    assert!(!labels.contains("bot-11"), "{labels}");
}

#[test]
fn a_journal_is_one_servers_and_one_models() {
    let (sandbox, ..) = papers();
    let server = serve(&sandbox);
    server.posted("/v1/update", &json!({ "labels": { "bot-02": "zoology" } }));
    let refused = |why: &str| {
        let run = sandbox.run(&format!("serve m.model {PAPERS} --port 0"));
        assert_eq!(run.status, Some(3), "{run:?}");
        assert!(run.stderr.contains(why) && run.stderr.contains("m.model.journal"), "{run:?}");
    };
    refused("in use by another server");
    drop(server);
    sandbox.ok(&format!("fit {PAPERS} --depth 2 --keep-training -o m.model --force"));
    refused("another model");
}

#[test]
fn what_is_not_safe_is_refused_before_anything_listens() {
    let (sandbox, ..) = papers();
    sandbox.write("short", "tooshort\n");
    sandbox.write("spaces", "a token with spaces in it\n");
    for (options, status, why) in [
        ("--host 0.0.0.0", 2, "--token-file"),
        ("--host 0.0.0.0 --token-file short", 2, "16 characters"),
        ("--token-file spaces", 3, "one token"),
        ("--token-file absent", 3, "absent"),
        ("--allow-origin example.org", 2, "https://example.org"),
        ("--host 192.0.2.1 --token-file long", 3, "cannot listen"),
        ("--journal m.model", 3, "m.model"),
        ("--journal .", 3, "regular file"),
        ("--body-limit 0", 2, "0 is not in 1..=1024"),
    ] {
        sandbox.write("long", "0123456789abcdef0123456789abcdef\n");
        let run = sandbox.run(&format!("serve m.model {PAPERS} --port 0 {options}"));
        assert_eq!(run.status, Some(status), "{options}: {run:?}");
        assert!(run.stderr.contains(why), "{options}: {run:?}");
    }
    let before = std::fs::read(sandbox.path("m.model")).unwrap();
    assert!(Model::from_bytes(&before).is_ok(), "the model is as it was");
}

/// A model that keeps nothing is served, but cannot change; the data are those of its name.
#[test]
fn a_plain_model_is_served_on_the_data_of_its_name() {
    let sandbox = Sandbox::new();
    sandbox.ok("fit cora --public-split --depth 2 -o m.model");
    let server = Server::start(&sandbox, "serve m.model");
    let info = server.got("/v1/info");
    assert_eq!((&info["nodes"], &info["can_change"]), (&json!(2708), &json!(false)));
    let (status, answer) = server.post("/v1/update", &json!({ "labels": { "1": "x" } }));
    assert_eq!(status, 409, "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("--keep-training"), "{answer}");
    assert_eq!(
        server.posted("/v1/predict", &json!({ "nodes": [7] }))["predictions"][0]["node"],
        "7"
    );
    assert!(!sandbox.path("m.model.journal").exists());
}
