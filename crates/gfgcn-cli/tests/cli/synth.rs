//! `data synth`: what is asked for is what the file holds.

use crate::sandbox::Sandbox;
use std::fs;

const SMALL: &str = "--nodes 2000 --edges 10000 --classes 5 --features 32";

#[test]
fn the_file_holds_what_was_asked_for() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&format!("data synth -o x.npz {SMALL} --homophily 0.6 --seed 3"));
    for (field, value) in [("nodes", 2000), ("edges", 10_000), ("classes", 5), ("features", 32)] {
        assert_eq!(report[field], value, "{field}");
    }
    assert_eq!((&report["seed"], &report["output"]), (&3.into(), &"x.npz".into()));
    assert_eq!(report["bytes"], fs::metadata(sandbox.path("x.npz")).unwrap().len());

    let run = sandbox.run("data info x.npz --json");
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "nothing to note");
    let info: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    for (field, value) in [("nodes", 2000), ("edges", 10_000), ("features", 32)] {
        assert_eq!(info[field], value, "{field}");
    }
    assert_eq!(info["classes"].as_array().unwrap().len(), 5);
    assert_eq!(info["edge_homophily"], 0.6);
    assert_eq!(info["weighted"], false);

    let text = sandbox.ok(&format!("data synth -o y.npz {SMALL}"));
    for part in ["2000", "10000 (homophily 0.8)", "seed", "y.npz (", " bytes)"] {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let sandbox = Sandbox::new();
    let bytes = |options: &str| {
        sandbox.ok(&format!("data synth -o x.npz --force {SMALL} {options}"));
        fs::read(sandbox.path("x.npz")).unwrap()
    };
    let first = bytes("--threads 1");
    assert!(bytes("--threads 2 --seed 0 --homophily 0.8") == first);
    assert!(bytes("--seed 1") != first);
}

#[test]
fn the_file_can_be_learnt_from() {
    let sandbox = Sandbox::new();
    sandbox.ok(&format!("data synth -o x.npz {SMALL}"));
    sandbox.ok("fit x.npz --depth 8 -o x.model");
    sandbox.ok("predict x.model x.npz -o x.csv");
    assert_eq!(sandbox.read("x.csv").lines().count(), 2001);
    sandbox.ok("data convert x.npz copy.npz");
    let fingerprint =
        |name: &str| sandbox.json(&format!("data info {name}"))["fingerprint"].clone();
    assert_eq!(fingerprint("copy.npz"), fingerprint("x.npz"));
}
