//! What a model says beyond labels: probabilities, prediction sets, intervals.

use crate::sandbox::Sandbox;
use std::collections::HashMap;

/// The columns of a table without quotes, by name.
fn columns(table: &str) -> HashMap<String, Vec<String>> {
    let mut lines = table.lines().map(|line| line.split(',').map(str::to_owned));
    let names: Vec<String> = lines.next().unwrap().collect();
    let mut columns: HashMap<String, Vec<String>> =
        names.iter().map(|name| (name.clone(), Vec::new())).collect();
    for line in lines {
        for (name, cell) in names.iter().zip(line) {
            columns.get_mut(name).unwrap().push(cell);
        }
    }
    columns
}

fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().unwrap()).collect()
}

#[test]
fn probabilities_and_sets_are_columns() {
    let sandbox = Sandbox::new();
    sandbox.ok("fit cora --depth 8 --public-split -o m.model");
    let text = sandbox.ok("predict m.model cora --probabilities --sets 0.9 -o all.csv");
    assert!(text.contains("coverage 0.9, 1."), "{text}");
    let table = columns(&sandbox.read("all.csv"));
    let probabilities: HashMap<&str, Vec<f64>> = table
        .iter()
        .filter_map(|(name, cells)| Some((name.strip_prefix("probability_")?, numbers(cells))))
        .collect();
    assert_eq!(probabilities.len(), 7);
    for (k, label) in table["label"].iter().enumerate() {
        let total: f64 = probabilities.values().map(|column| column[k]).sum();
        assert!((total - 1.0).abs() < 1e-9);
        let own = probabilities[label.as_str()][k];
        assert!(probabilities.values().all(|column| column[k] <= own), "row {k}");
        assert!(table["set"][k].split(';').any(|name| name == label), "row {k}");
    }
    let report = sandbox.json("predict m.model cora --sets 0.9 -o all.npz");
    let sizes = table["set"].iter().map(|set| set.split(';').count() as f64);
    let mean = sizes.sum::<f64>() / table["set"].len() as f64;
    assert!((report["regions"]["mean_size"].as_f64().unwrap() - mean).abs() < 1e-9);
}

#[test]
fn intervals_lie_around_values() {
    let sandbox = Sandbox::new();
    let nodes = 40;
    let edges: String = (0..nodes).map(|k| format!("n{k},n{}\n", (k + 1) % nodes)).collect();
    sandbox.write("data/edges.csv", &format!("source,target\n{edges}"));
    let rows: String = (0..nodes).map(|k| format!("n{k},{},{}\n", k % 7, (k * 5) % 11)).collect();
    sandbox.write("data/features.csv", &format!("id,a,b\n{rows}"));
    let values: String = (0..nodes - 4)
        .map(|k| format!("n{k},{}\n", 3.0 * f64::from(k % 7) + f64::from(k * 13 % 5) / 10.0))
        .collect();
    sandbox.write("data/values.csv", &format!("id,height\n{values}"));
    sandbox.ok("fit data --depth 2 -o m.model");
    sandbox.ok("predict m.model data --intervals 0.8 -o x.csv");
    let table = columns(&sandbox.read("x.csv"));
    let [values, from, to] =
        ["height", "height_from", "height_to"].map(|name| numbers(&table[name]));
    let width = to[0] - from[0];
    assert!(width > 0.0);
    for k in 0..nodes as usize {
        assert!((values[k] - (from[k] + to[k]) / 2.0).abs() < 1e-9);
        assert!((to[k] - from[k] - width).abs() < 1e-9, "row {k}");
    }
    let run = sandbox.run("predict m.model data --probabilities -o y.csv");
    assert_eq!(run.status, Some(3));
    assert!(run.stderr.contains("--intervals"), "{}", run.stderr);
    let run = sandbox.run("predict m.model data --sets 0.999 -o y.csv");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("too few nodes"), "{}", run.stderr);
    assert!(run.stdout.contains("without bounds"), "{}", run.stdout);
}

#[test]
fn a_coverage_is_between_0_and_1() {
    let sandbox = Sandbox::new();
    sandbox.ok("fit cora --depth 2 -o m.model");
    for coverage in ["0", "1", "-0.5", "90", "nan", "inf"] {
        let run = sandbox.run(&format!("predict m.model cora --sets {coverage} -o x.csv"));
        assert_ne!(run.status, Some(0), "{coverage}");
        assert!(run.stderr.contains("between 0 and 1"), "{coverage}: {}", run.stderr);
        assert!(!sandbox.path("x.csv").exists());
    }
}

#[test]
fn evaluate_judges_calibration_where_it_is_asked_to() {
    let sandbox = Sandbox::new();
    let arguments =
        "evaluate cora --models gfssgc,sgc,auto --depths 8 --splits 2 --epochs 2 --no-cache";
    let report = sandbox.json(&format!("{arguments} --calibration"));
    let of = |row: usize| &report["results"][row]["calibration"];
    for row in [0, 2] {
        assert_eq!(of(row)["expected_errors"].as_array().unwrap().len(), 2);
        let bins = of(row)["reliability"]["bins"].as_array().unwrap();
        let counted: u64 = bins.iter().map(|bin| bin["count"].as_u64().unwrap()).sum();
        let tested = report["nodes"].as_u64().unwrap() as f64 * 2.0 * 0.8;
        assert!((counted as f64 - tested).abs() < 20.0, "{counted}");
        assert_eq!(of(row)["covered"][1]["coverage"], 0.95);
    }
    assert!(of(1).is_null(), "a network has no left-out scores");
    let text = sandbox.ok(&format!("{arguments} --calibration"));
    assert!(text.contains("90 % sets cover") && text.contains("Reliability of"), "{text}");
    let without = sandbox.json("evaluate cora --models gfssgc --depths 8 --splits 2");
    assert!(without["results"][0]["calibration"].is_null());
    let with = &report["results"][0]["scores"];
    assert_eq!(&without["results"][0]["scores"], with, "judging changes nothing");
}

#[test]
fn audit_lists_labels_that_look_wrong() {
    let sandbox = Sandbox::new();
    sandbox.communities("data", 12);
    let labels = sandbox.read("data/labels.csv");
    let all: String =
        (2..12).flat_map(|k| ["ants", "bees"].map(|name| format!("{name}-{k},{name}\n"))).collect();
    // One bee was taken for an ant.
    let labels = format!("{labels}{all}").replace("bees-7,bees", "bees-7,ants");
    sandbox.write("data/labels.csv", &labels);
    for arguments in ["audit data", "audit data --model gfsgc --depth 2 --top 1"] {
        let report = sandbox.json(arguments);
        let first = &report["suspects"][0];
        assert_eq!(first["id"], "bees-7", "{report}");
        assert_eq!((&first["given"], &first["expected"]), (&"ants".into(), &"bees".into()));
        assert!(first["probability"].as_f64().unwrap() < 0.5);
    }
    let text = sandbox.ok("audit data --depth 2 -o wrong.csv");
    assert!(text.contains("bees-7") && text.contains("wrong.csv"), "{text}");
    assert!(
        sandbox
            .read("wrong.csv")
            .starts_with("id,given,expected,probability,surprise\nbees-7,ants,bees,")
    );
    let run = sandbox.run("audit data --depth 2 -o wrong.csv");
    assert_eq!(run.status, Some(3), "{}", run.stderr);
    let run = sandbox.run("audit data -o wrong.txt");
    assert!(run.status == Some(3) && run.stderr.contains(".csv"), "{}", run.stderr);
}

#[test]
fn audit_knows_sets_and_values() {
    let sandbox = Sandbox::new();
    let edges: String = (0..30).map(|k| format!("n{k},n{}\n", (k + 1) % 30)).collect();
    let features: String = (0..30).map(|k| format!("n{k},{},{}\n", k % 2, k % 3)).collect();
    for kind in ["sets", "values"] {
        sandbox.write(&format!("{kind}/edges.csv"), &format!("source,target\n{edges}"));
        sandbox.write(&format!("{kind}/features.csv"), &format!("id,a,b\n{features}"));
    }
    let sets: String = (0..30)
        .map(|k| match (k % 2 == 0) != (k == 14) {
            true => format!("n{k},even\n"),
            false => format!("n{k},odd\nn{k},all\n"),
        })
        .collect();
    sandbox.write("sets/labels.csv", &format!("id,label\n{sets}"));
    let values: String = (0..30)
        .map(|k| format!("n{k},{}\n", if k == 9 { 55.0 } else { f64::from(k % 3) }))
        .collect();
    sandbox.write("values/values.csv", &format!("id,size\n{values}"));
    let design = "--design identity";
    let report = sandbox.json(&format!("audit values {design}"));
    assert_eq!((&report["suspects"][0]["id"], &report["audited"]), (&"n9".into(), &30.into()));
    assert_eq!(report["suspects"][0]["given"], "55");
    let report = sandbox.json(&format!("audit sets {design}"));
    assert_eq!((&report["suspects"][0]["id"], &report["audited"]), (&"n14".into(), &90.into()));
    let text = sandbox.ok(&format!("audit sets {design}"));
    assert!(text.contains("not even") || text.contains("not odd"), "{text}");
}

/// The numbers of the lists of an explanation, list by list.
fn lists(text: &str) -> Vec<Vec<f64>> {
    let mut lists = Vec::new();
    for line in text.lines() {
        if line.starts_with("By ") {
            lists.push(Vec::new());
        } else if let Some(list) = lists.last_mut().filter(|_| line.starts_with("  ")) {
            list.push(line.split_whitespace().next().unwrap().parse().unwrap());
        }
    }
    lists
}

#[test]
fn explanations_add_up_in_what_is_printed() {
    let sandbox = Sandbox::new();
    sandbox.communities("data", 8);
    let design = "ssgc:depth=4 + identity/unit + identity of degrees";
    let mut fit = sandbox.gfgcn("fit data --intercept -o m.model --design");
    assert!(fit.arg(design).output().unwrap().status.success());
    sandbox.ok("predict m.model data -o labels.csv");
    let table = columns(&sandbox.read("labels.csv"));
    for (k, id) in table["id"].iter().enumerate() {
        for class in ["ants", "bees"] {
            let score = numbers(&table[&format!("score_{class}")])[k];
            for top in [1, 3, 1000] {
                let arguments =
                    format!("explain m.model data --node {id} --class {class} --top {top}");
                let text = sandbox.ok(&arguments);
                let printed = format!("score {:.4}", score + 0.0);
                assert!(
                    text.contains(&printed) || score.abs() < 1e-4,
                    "{printed} is not in {text}"
                );
                let lists = lists(&text);
                assert_eq!(lists.len(), 3);
                for list in lists {
                    let sum: f64 = list.iter().sum();
                    assert!((sum - score).abs() < 0.51e-4, "{sum} {score}: {text}");
                }
            }
            let explain = format!("explain m.model data --node {id} --class {class}");
            let report = &sandbox.json(&explain)["scores"][0];
            for view in ["channels", "features", "nodes_of_the_graph"] {
                let terms = report[view]["terms"].as_array().unwrap().iter();
                let sum: f64 = terms.map(|term| term["value"].as_f64().unwrap()).sum();
                let rest = report[view]["sum_of_others"].as_f64().unwrap();
                let sum = sum + rest + report["constant"].as_f64().unwrap();
                assert!(
                    (sum - score).abs() < 1e-9 * score.abs().max(0.01),
                    "{view}: {sum} {score}"
                );
            }
        }
    }
}

#[test]
fn a_model_is_explained_class_by_class() {
    let sandbox = Sandbox::new();
    sandbox.ok("fit cora --public-split --depth 8 -o m.model");
    let report = sandbox.json("explain m.model cora");
    assert!(report.get("influence").is_none(), "nothing is kept of the training");
    let classes = report["scores"].as_array().unwrap();
    assert_eq!(classes.len(), 7);
    let nodes: u64 = classes.iter().map(|class| class["nodes"].as_u64().unwrap()).sum();
    assert_eq!(nodes, 2708);
    let one = sandbox.ok("explain m.model cora --class Theory");
    assert!(one.starts_with("Theory: the mean of ") && one.matches("By feature").count() == 1);
    sandbox.ok("fit cora --public-split --depth 8 --keep-training -o kept.model");
    let report = sandbox.json("explain kept.model cora --top 5");
    let influence = &report["influence"];
    assert_eq!(influence["nodes"].as_array().unwrap().len(), 5);
    assert_eq!(influence["others"], 135);
    for (arguments, fragment) in [
        ("--node 99999", "id of a node"),
        ("--node 1 --class Chess", "Case_Based"),
        ("--node 1 --top 0", "--top"),
    ] {
        let run = sandbox.run(&format!("explain m.model cora {arguments}"));
        assert_eq!(run.status, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(fragment), "{}", run.stderr);
    }
}
