//! `evaluate` with models that are trained, and the runs that it keeps.

use crate::sandbox::{Run, Sandbox};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const ALL: &str = "gcn,gat,jknet,jknet-max,appnp,gcnii,sgc,ssgc,dgc,gfsgc,gfssgc,gfdgc";
const SHORT: &str = "evaluate cora --models gcn,sgc --depths 2 --splits 2 --epochs 5";

/// Model, depth and mean accuracy of each row.
fn rows(report: &Value) -> Vec<(String, u64, f64)> {
    let row = |row: &Value| {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        (text("model"), row["depth"].as_u64().unwrap(), row["accuracy"]["mean"].as_f64().unwrap())
    };
    report["results"].as_array().unwrap().iter().map(row).collect()
}

fn from_cache(report: &Value) -> u64 {
    let rows = report["results"].as_array().unwrap().iter();
    rows.map(|row| row["trained"]["from_cache"].as_u64().unwrap()).sum()
}

#[test]
fn all_models_stand_side_by_side_in_the_order_asked_for() {
    let sandbox = Sandbox::new();
    let arguments = format!("evaluate cora --models {ALL} --depths 4,2 --splits 2 --no-cache");
    let report = sandbox.json(&format!("{arguments} --epochs 30"));
    let names = [
        "GCN",
        "GAT",
        "JKNet",
        "JKNet-max",
        "APPNP",
        "GCNII",
        "SGC",
        "SSGC",
        "DGC",
        "gfSGC",
        "gfSSGC",
        "gfDGC",
    ];
    let expected: Vec<(&str, u64)> =
        names.iter().flat_map(|&name| [(name, 4), (name, 2)]).collect();
    let rows = rows(&report);
    let found: Vec<(&str, u64)> = rows.iter().map(|(name, k, _)| (name.as_str(), *k)).collect();
    assert_eq!(found, expected);
    for (model, depth, accuracy) in &rows {
        // Steps of a diffusion to T = 5.27 overshoot at K = 2, and deep networks take longer.
        if *depth == 2 && !model.ends_with("DGC") {
            assert!(*accuracy > 65.0, "{model}: {accuracy}");
        }
    }
    let training = &report["protocol"]["training"];
    assert_eq!((&training["epochs"], &training["learning_rate"]), (&30.into(), &Value::Null));
    let gat = &report["results"][2]["trained"]["model"];
    assert_eq!(
        (&gat["kind"], &gat["heads"], &gat["hidden"]),
        (&"gat".into(), &8.into(), &8.into())
    );
    assert!(sandbox.snapshot().is_empty(), "--no-cache keeps nothing");
    let text = sandbox.ok(&format!("{arguments} --epochs 3"));
    for part in [
        "Adam for 3 epochs at 0.01 and 0.2",
        "12 models fitted, 36 models trained in",
        "K=2",
        "K=4",
    ] {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
    assert!(text.contains("Steps of DGC and gfDGC overshoot where K < T."), "{text}");
}

#[test]
fn finished_runs_are_kept_and_found_again() {
    let sandbox = Sandbox::new();
    let first = sandbox.json(SHORT);
    assert_eq!((from_cache(&first), sandbox.kept().len()), (0, 4));
    let second = sandbox.json(SHORT);
    assert_eq!((from_cache(&second), rows(&second)), (4, rows(&first)));
    assert!(sandbox.ok(SHORT).contains("4 known from before in"));
    let anew = sandbox.json(&format!("{SHORT} --no-cache"));
    assert_eq!((from_cache(&anew), rows(&anew)), (0, rows(&first)));
    let more = sandbox.json(&SHORT.replace("--splits 2", "--splits 3"));
    assert_eq!((from_cache(&more), sandbox.kept().len()), (4, 6));
    assert_eq!(from_cache(&sandbox.json(&format!("{SHORT} --threads 1"))), 4);
    assert_eq!(from_cache(&sandbox.json(&format!("{SHORT} --seed 9"))), 0);
}

#[test]
fn damaged_files_are_replaced() {
    let sandbox = Sandbox::new();
    let first = sandbox.json(SHORT);
    for (k, file) in sandbox.kept().keys().enumerate() {
        let sound = fs::read_to_string(file).unwrap();
        // Still JSON, with another accuracy in it.
        let damaged = match k {
            0 => String::new(),
            1 => sound.replacen("accuracy\\\":", "accuracy\\\":1", 1),
            2 => sound[..sound.len() / 2].to_owned(),
            _ => sound.replacen("GCN", "gcn", 1).replacen("sha256\":\"", "sha256\":\"0", 1),
        };
        assert_ne!(sound, damaged);
        fs::write(file, damaged).unwrap();
    }
    let again = sandbox.run(&format!("{SHORT} --json"));
    assert_eq!((again.status, again.stderr.as_str()), (Some(0), ""));
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((from_cache(&again), rows(&again)), (0, rows(&first)));
    assert_eq!(from_cache(&sandbox.json(SHORT)), 4);
}

#[test]
fn the_cache_can_be_named_and_cleared() {
    let sandbox = Sandbox::new();
    let with_cache = |arguments: &str| -> Run {
        sandbox.gfgcn(arguments).env("GFGCN_CACHE", "mine").output().unwrap().into()
    };
    assert_eq!(with_cache(SHORT).status, Some(0));
    assert_eq!(fs::read_dir(sandbox.path("mine")).unwrap().count(), 4);
    fs::write(sandbox.path("mine/letter.txt"), "dear").unwrap();
    let cleared = with_cache("cache clear --json");
    let cleared: Value = serde_json::from_str(&cleared.stdout).unwrap();
    assert_eq!((&cleared["deleted"], &cleared["folder"]), (&4.into(), &"mine".into()));
    assert_eq!(sandbox.read("mine/letter.txt"), "dear");
    assert_eq!(with_cache("cache clear").stdout, "Deleted 0 runs from mine.\n");
}

/// Two machines share the work; a third has nothing left to do.
#[test]
fn kept_runs_are_merged() {
    let sandbox = Sandbox::new();
    let with_cache = |folder: &str, arguments: &str| -> Run {
        sandbox.gfgcn(arguments).env("GFGCN_CACHE", folder).output().unwrap().into()
    };
    let of =
        |model: &str| format!("evaluate cora --models {model} --depths 2 --splits 2 --epochs 3");
    assert_eq!(with_cache("one", &of("gcn")).status, Some(0));
    assert_eq!(with_cache("two", &of("gcn,sgc")).status, Some(0));
    // Of what does not add up, and of what is no run, nothing is taken.
    let hash = "a".repeat(64);
    fs::write(sandbox.path(&format!("two/{hash}.run")), "{}").unwrap();
    fs::write(sandbox.path("two/letter.txt"), "dear").unwrap();
    let merged = with_cache("three", "cache merge one two --json");
    let counts: Value = serde_json::from_str(&merged.stdout).unwrap();
    assert_eq!(
        counts,
        serde_json::json!({"folder": "three", "added": 4, "known": 2, "unsound": 1})
    );
    assert!(merged.stderr.contains("warning: 1 file was damaged and left behind"), "{merged:?}");
    assert_eq!(fs::read_dir(sandbox.path("three")).unwrap().count(), 4);
    let report: Value =
        serde_json::from_str(&with_cache("three", &format!("{} --json", of("gcn,sgc"))).stdout)
            .unwrap();
    assert_eq!(from_cache(&report), 4);
    let again = with_cache("three", "cache merge one");
    assert_eq!(again.stdout, "Added 0 runs to three; 2 were there already.\n");
    let nowhere = with_cache("three", "cache merge nowhere");
    assert_eq!(nowhere.status, Some(3), "{nowhere:?}");
    assert!(nowhere.stderr.contains("nowhere"), "{nowhere:?}");
}

#[test]
fn without_a_place_for_a_cache_training_goes_on() {
    let sandbox = Sandbox::new();
    let homeless: Run = sandbox.gfgcn(SHORT).env("HOME", "").output().unwrap().into();
    assert_eq!(homeless.status, Some(0), "{homeless:?}");
    sandbox.write("file", "");
    let blocked: Run =
        sandbox.gfgcn(SHORT).env("GFGCN_CACHE", "file/runs").output().unwrap().into();
    assert_eq!(blocked.status, Some(0), "{blocked:?}");
    assert!(blocked.stderr.contains("warning: finished runs could not be kept: file/runs"));
}

#[test]
fn a_given_split_is_run_with_many_seeds() {
    let sandbox = Sandbox::new();
    let arguments = "evaluate cora --models gcn,gfsgc --depths 2 --public-split --epochs 5";
    let report = sandbox.json(&format!("{arguments} --runs 3"));
    let [gcn, gfsgc] = report["results"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(gcn["trained"]["runs"], 3);
    assert!(gcn["accuracy"]["std"].as_f64().unwrap() > 0.0, "seeds differ: {gcn}");
    assert!(gfsgc["accuracy"]["std"].is_null());
    assert_eq!(sandbox.json(arguments)["results"][0]["trained"]["runs"], 20);
    let other = sandbox.json(&format!("{arguments} --runs 3 --seed 100"));
    assert_eq!(other["results"][0]["trained"]["from_cache"], 0);
    let text = sandbox.ok(&format!("{arguments} --runs 3"));
    assert!(text.contains("Adam for 5 epochs at 0.01; 3 runs with different seeds"), "{text}");
}

/// Every option that says how to train changes what comes out.
#[test]
fn options_reach_the_training() {
    let sandbox = Sandbox::new();
    let report = |options: &str| {
        sandbox.json(&format!(
            "evaluate cora --models gcn --depths 2 --splits 2 --epochs 8 --no-cache {options}"
        ))
    };
    let plain = rows(&report(""));
    for options in [
        "--hidden 3",
        "--dropout 0.9",
        "--weight-decay 0.5",
        "--learning-rate 0.1",
        "--row-normalize",
        "--normalization row",
        "--seed 7",
    ] {
        assert_ne!(rows(&report(options)), plain, "{options} does nothing");
    }
    let model = &report("--hidden 3 --dropout 0.25")["results"][0]["trained"]["model"];
    assert_eq!((&model["hidden"], &model["dropout"]), (&3.into(), &0.25.into()));
}

#[test]
fn patience_looks_at_the_validation_part() {
    let sandbox = Sandbox::new();
    let arguments = "evaluate cora --models gcn --depths 2 --splits 2";
    let report = sandbox.json(&format!("{arguments} --patience 20"));
    assert_eq!(report["protocol"]["training"]["patience"], 20);
    assert!(rows(&report)[0].2 > 75.0);
    let text = sandbox.ok(&format!("{arguments} --patience 20"));
    assert!(text.contains("up to 200 epochs at 0.01, until the validation part has not"), "{text}");
    let run = sandbox.run(&format!("{arguments} --ratio 1:0:9 --patience 20"));
    assert_eq!(run.status, Some(3), "{run:?}");
    assert!(run.stderr.contains("validation part, but the split has none"), "{run:?}");
}

/// What takes over a minute is announced, and what was finished when it is stopped is kept.
#[cfg(unix)]
#[test]
fn an_interrupted_training_is_taken_up_again() {
    use crate::running::Running;
    let sandbox = Sandbox::new();
    // On one thread the first splits come first.
    let arguments = "evaluate cora --models gcn --depths 2 --splits 3000 --threads 1";
    let mut running = Running::start(&sandbox, arguments);
    running.until("three runs are finished", |_| sandbox.kept().len() >= 3);
    let run = running.interrupt();
    assert_eq!(run.status, Some(130), "{run:?}");
    let half_written = |path: &PathBuf| path.extension().is_some_and(|end| end == "partial");
    assert!(!sandbox.snapshot().keys().any(half_written));
    assert!(run.stderr.contains("note: 3000 models are to train, which takes about"), "{run:?}");
    assert!(run.stderr.contains("interrupted and resumed"), "{run:?}");
    let report = sandbox.json("evaluate cora --models gcn --depths 2 --splits 3");
    assert_eq!(from_cache(&report), 3, "{report}");
}

#[test]
fn a_run_that_diverges_counts_and_is_named() {
    let sandbox = Sandbox::new();
    let arguments =
        "evaluate cora --models sgc,gfsgc --depths 2 --splits 2 --no-cache --learning-rate 1e36";
    let run = sandbox.run(&format!("{arguments} --json"));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let expected = "training SGC at depth 2 diverged in 2 of 2 runs, first in epoch 3";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(run.stderr.contains("the same class for all nodes"), "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["results"][0]["trained"]["diverged"], 2);
    // The share of the first class among the test nodes, which are of the same shares as all nodes: 285 of 2485.
    let accuracies = report["results"][0]["scores"].as_array().unwrap();
    for accuracy in accuracies {
        assert!((accuracy.as_f64().unwrap() - 100.0 * 285.0 / 2485.0).abs() < 0.1, "{accuracy}");
    }
    assert!(report["results"][1]["score"]["mean"].as_f64().unwrap() > 80.0);

    let patient = sandbox.run(&format!("{arguments} --patience 200"));
    assert!(patient.stderr.contains("what was best before counts"), "{}", patient.stderr);
}
