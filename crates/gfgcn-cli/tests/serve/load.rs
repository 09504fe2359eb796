//! Many at once: nothing is lost, nothing is wrong, and what was acknowledged survives being killed.

use crate::client::{Server, post};
use crate::sandbox::Sandbox;
use gfgcn::Model;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels, Targets};
use gfgcn::model::Predictions;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CLASSES: [&str; 3] = ["Theory", "Neural_Networks", "a new one"];

struct Load {
    predictions: usize,
    updates: usize,
    connections: usize,
}

fn cora() -> (Sandbox, Dataset, Model) {
    let sandbox = Sandbox::new();
    sandbox.ok("fit cora --public-split --depth 2 --keep-training -o m.model");
    let data = gfgcn_datasets::open("cora".as_ref(), None, &Context::default()).unwrap();
    let model = Model::load(&sandbox.path("m.model")).unwrap();
    (sandbox, data, model)
}

/// The node and class of the k-th update: each of another node.
fn update(k: usize) -> (usize, &'static str) {
    (1000 + 7 * k, CLASSES[k % CLASSES.len()])
}

fn targets(data: &Dataset, updates: impl Iterator<Item = usize>) -> Targets {
    let mut names = vec![None; data.nodes()];
    updates.map(update).for_each(|(node, class)| names[node] = Some(class));
    Labels::from_names(&names).into()
}

/// What the library says after some updates.
fn expected(model: &Model, data: &Dataset, updates: &[usize]) -> (Model, Predictions) {
    let context = Context::default();
    let model = match updates {
        [] => model.clone(),
        updates => {
            let targets = targets(data, updates.iter().copied());
            model.update(data, Some(&targets), &context).unwrap().model
        }
    };
    let predictions = model.predict(data, &context).unwrap();
    (model, predictions)
}

fn run(load: &Load) {
    let (sandbox, data, model) = cora();
    let server = Server::start(&sandbox, "serve m.model cora --log none");
    let next = AtomicUsize::new(0);
    let total = load.predictions + load.updates;
    let every = total / load.updates;
    let acknowledged: Mutex<Vec<(u64, usize)>> = Mutex::default();
    let seen: Mutex<Vec<(u64, usize, Value)>> = Mutex::default();
    let times: Mutex<[Vec<Duration>; 2]> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..load.connections {
            scope.spawn(|| {
                let (agent, address) = (server.agent(), &server.address);
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    if k >= total {
                        return;
                    }
                    let start = Instant::now();
                    if k.is_multiple_of(every) && k / every < load.updates {
                        let (node, class) = update(k / every);
                        let body = json!({ "labels": { node.to_string(): class } });
                        let (status, answer) = post(&agent, address, "/v1/update", &body);
                        assert_eq!(status, 200, "{answer}");
                        times.lock().unwrap()[1].push(start.elapsed());
                        let version = answer["version"].as_u64().unwrap();
                        acknowledged.lock().unwrap().push((version, k / every));
                    } else {
                        let node = (k * 31) % 2708;
                        let body = json!({ "nodes": [node] });
                        let (status, answer) = post(&agent, address, "/v1/predict", &body);
                        assert_eq!(status, 200, "{answer}");
                        times.lock().unwrap()[0].push(start.elapsed());
                        let version = answer["version"].as_u64().unwrap();
                        seen.lock().unwrap().push((
                            version,
                            node,
                            answer["predictions"][0].clone(),
                        ));
                    }
                }
            });
        }
    });
    let mut acknowledged = acknowledged.into_inner().unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(
        (acknowledged.len(), seen.len()),
        (load.updates, total - load.updates),
        "none is lost"
    );
    acknowledged.sort_unstable();
    let mut library: HashMap<u64, Predictions> = HashMap::new();
    for (version, node, found) in &seen {
        let predictions = library.entry(*version).or_insert_with(|| {
            let earlier = acknowledged.iter().filter(|(other, _)| other <= version);
            let updates: Vec<usize> = earlier.map(|(_, update)| *update).collect();
            expected(&model, &data, &updates).1
        });
        let scores: Vec<f64> =
            found["scores"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect();
        assert_eq!(scores, predictions.scores(*node), "node {node} in version {version}");
        assert_eq!(found["label"], predictions.name(*node));
    }
    let updates: Vec<usize> = acknowledged.iter().map(|(_, update)| *update).collect();
    let saved = Model::from_bytes(&server.bytes("/v1/model")).unwrap();
    assert_eq!(saved, expected(&model, &data, &updates).0);
    let versions = acknowledged.last().unwrap().0 - 1;
    for (what, mut times) in ["predictions", "updates"].into_iter().zip(times.into_inner().unwrap())
    {
        times.sort_unstable();
        let at =
            |share: f64| 1e3 * times[((times.len() - 1) as f64 * share) as usize].as_secs_f64();
        let _ = writeln!(
            std::io::stderr(),
            "{} {what} on {} connections, {versions} versions: median {:.1} ms, p99 {:.1} ms",
            times.len(),
            load.connections,
            at(0.5),
            at(0.99)
        );
    }
}

#[test]
fn many_at_once() {
    run(&Load { predictions: 1500, updates: 20, connections: 16 });
}

#[test]
#[ignore = "takes long; run by make test-full"]
fn ten_thousand_predictions_and_a_hundred_updates_on_32_connections() {
    run(&Load { predictions: 10_000, updates: 100, connections: 32 });
}

/// Killed at some moment of many updates; what was acknowledged is there, and nothing that was not begun.
fn killed(after: usize) {
    let (sandbox, data, model) = cora();
    let server = Server::start(&sandbox, "serve m.model cora --log none");
    let (agent, address, pid) = (server.agent(), server.address.clone(), server.pid());
    let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let acknowledged: Mutex<Vec<usize>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::SeqCst);
                    let (node, class) = update(k);
                    let body = json!({ "labels": { node.to_string(): class } }).to_string();
                    let request = agent.post(format!("{address}/v1/update"));
                    let request = request.header("Content-Type", "application/json");
                    let Ok(mut response) = request.send(&body) else { return };
                    if response.status() != 200 || response.body_mut().read_to_string().is_err() {
                        return;
                    }
                    acknowledged.lock().unwrap().push(k);
                    if count.fetch_add(1, Ordering::SeqCst) + 1 == after {
                        let pid = pid.to_string();
                        std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap();
                    }
                }
            });
        }
    });
    drop(server);
    let begun = next.load(Ordering::SeqCst);
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= after);
    let server = Server::start(&sandbox, "serve m.model cora --log none");
    let labels = String::from_utf8(server.bytes("/v1/labels")).unwrap();
    let there: BTreeMap<usize, &str> = labels
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap())
        .map(|(node, class)| (node.parse().unwrap(), class))
        .collect();
    let found: Vec<usize> =
        (0..begun).filter(|&k| there.get(&update(k).0).copied() == Some(update(k).1)).collect();
    for k in &acknowledged {
        assert!(found.contains(k), "update {k} was acknowledged");
    }
    let mut expected_nodes: BTreeSet<usize> =
        data.split().unwrap().train().iter().copied().collect();
    expected_nodes.extend(found.iter().map(|&k| update(k).0));
    assert!(there.keys().eq(&expected_nodes), "nothing that was not begun");
    let saved = Model::from_bytes(&server.bytes("/v1/model")).unwrap();
    assert_eq!(saved, expected(&model, &data, &found).0);
}

#[test]
fn what_was_acknowledged_survives_being_killed() {
    killed(5);
}

#[test]
#[ignore = "takes long; run by make test-full"]
fn what_was_acknowledged_survives_being_killed_at_many_moments() {
    [1, 2, 3, 10, 20, 40, 80].into_iter().for_each(killed);
}
