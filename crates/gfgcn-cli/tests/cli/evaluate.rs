//! `evaluate`: the report's shape, and numbers that hold whatever the circumstances.

use crate::sandbox::Sandbox;
use serde_json::Value;

const PUBLIC: &str = "cora --public-split --row-normalize --select validation";

/// A report without what differs from run to run.
pub(crate) fn without_seconds(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.remove("seconds");
            fields.values_mut().for_each(|field| *field = without_seconds(field.take()));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| *item = without_seconds(item.take()));
        }
        _ => {}
    }
    value
}

#[test]
fn the_report_has_the_documented_shape() {
    let report = Sandbox::new().json("evaluate cora --models gfsgc --depths 2 --splits 2");
    assert_eq!(report["dataset"], "cora");
    assert_eq!((&report["nodes"], &report["edges"]), (&2485.into(), &5069.into()));
    let protocol = &report["protocol"];
    assert_eq!(protocol["splits"], 2);
    assert_eq!(protocol["ratio"], "1:1:8");
    let [row] = report["results"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&row["model"], &row["depth"]), (&"gfSGC".into(), &2.into()));
    let accuracy = |field: &str| row["accuracy"][field].as_f64().unwrap();
    assert!((70.0..95.0).contains(&accuracy("mean")), "in percent: {row}");
    // Of two values, the standard error is the standard deviation over √2.
    assert!((accuracy("std") / 2f64.sqrt() - accuracy("std_error")).abs() < 1e-9, "{row}");
    assert!(row["lambda_median"].as_f64().unwrap() > 0.0);
    for stage in ["propagate", "fit", "predict"] {
        assert!(row["seconds"][stage].as_f64().unwrap() >= 0.0, "{row}");
    }
}

#[test]
fn the_table_marks_the_best() {
    let sandbox = Sandbox::new();
    let arguments = "evaluate cora --models gfsgc,gfdgc --depths 2,4 --splits 2";
    let text = sandbox.ok(arguments);
    assert_eq!(text.matches('*').count(), 2, "one in the table, one in the legend: {text}");
    assert!(!text.contains('\x1b'), "colours without a terminal: {text}");
    let report = sandbox.json(arguments);
    let means = report["results"].as_array().unwrap().iter();
    let best = means.map(|row| row["accuracy"]["mean"].as_f64().unwrap()).fold(0.0, f64::max);
    assert!(text.contains(&format!("*{best:.1}±")), "{best} in {text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "{text:?}");
}

#[test]
fn neither_a_home_nor_files_are_needed() {
    let sandbox = Sandbox::new();
    let arguments = "evaluate cora --models gfsgc --depths 2 --splits 1";
    for home in [None, Some("")] {
        let mut command = sandbox.gfgcn(arguments);
        match home {
            Some(home) => command.env("HOME", home),
            None => command.env_remove("HOME"),
        };
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    assert!(sandbox.snapshot().is_empty());
}

#[test]
fn the_public_split_gives_the_published_accuracy() {
    let arguments = format!("evaluate {PUBLIC} --all-nodes --models gfsgc --depths 2");
    let report = Sandbox::new().json(&arguments);
    let accuracy = report["results"][0]["accuracy"]["mean"].as_f64().unwrap();
    assert!((accuracy - 79.8).abs() <= 1.0, "{accuracy}");
}

#[test]
fn other_kernels_work() {
    let sandbox = Sandbox::new();
    for kernel in ["rbf", "polynomial:degree=2", "laplacian", "cosine", "arccosine"] {
        let report = sandbox.json(&format!(
            "evaluate cora --public-split --models gfsgc --depths 2 --kernel {kernel}"
        ));
        let accuracy = report["results"][0]["accuracy"]["mean"].as_f64().unwrap();
        assert!(accuracy > 70.0, "{kernel}: {accuracy}");
    }
}

#[test]
fn predict_gives_the_labels_that_evaluate_scored() {
    let sandbox = Sandbox::new();
    for (model, depth) in [("gfsgc", 2), ("gfssgc", 8), ("gfdgc", 16)] {
        sandbox.ok(&format!("fit {PUBLIC} --model {model} --depth {depth} -o m --force"));
        let predicted = sandbox.json("predict m cora --public-split -o out.csv --force");
        let evaluated = sandbox
            .json(&format!("evaluate {PUBLIC} --all-nodes --models {model} --depths {depth}"));
        let predicted = predicted["agreement"]["accuracy"].as_f64().unwrap();
        let evaluated = evaluated["results"][0]["accuracy"]["mean"].as_f64().unwrap();
        assert!((predicted - evaluated).abs() < 1e-9, "{model}: {predicted}, {evaluated}");
    }
}

/// SSGC with τ = 1 keeps nothing but a node's own features, whatever its depth.
#[test]
fn features_are_a_model_without_graph_and_depth() {
    let sandbox = Sandbox::new();
    let common = "evaluate cora --splits 2 --seed 3";
    let arguments = format!("{common} --models gfsgc,features --depths 2,4");
    let report = without_seconds(sandbox.json(&arguments));
    let rows = report["results"].as_array().unwrap();
    let models: Vec<_> = rows.iter().map(|row| (&row["model"], &row["depth"])).collect();
    let (gfsgc, features) = ("gfSGC".into(), "features".into());
    assert_eq!(models, [(&gfsgc, &2.into()), (&gfsgc, &4.into()), (&features, &Value::Null)]);
    let own = sandbox.json(&format!("{common} --models gfssgc --depths 7 --tau 1"));
    assert_eq!(rows[2]["accuracy"], own["results"][0]["accuracy"]);
    assert_eq!(rows[2]["lambda_median"], own["results"][0]["lambda_median"]);
    let text = sandbox.ok(&arguments);
    let columns = |start: &str| {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(columns("model"), ["model", "–", "K=2", "K=4"]);
    let mean = rows[2]["accuracy"]["mean"].as_f64().unwrap();
    let [_, cell] = &columns("features")[..] else { panic!("one value: {text}") };
    assert!(cell.starts_with(&format!("{mean:.1}±")), "{mean}: {text}");
    assert!(text.contains("6 models fitted"), "{text}");
}
