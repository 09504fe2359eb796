//! Metrics, class weights, sets of labels and values on the command line.

use crate::sandbox::Sandbox;

const SIZE: usize = 20;

/// Communities in which all nodes are labelled.
fn labelled(sandbox: &Sandbox) {
    sandbox.communities("labelled", SIZE);
    let mut labels = "id,label\n".to_owned();
    for i in 0..SIZE {
        // A few stripes too many, so that not all is easy.
        labels += &format!("ants-{i},{}\n", if i % 7 == 0 { "bees" } else { "ants" });
        labels += &format!("bees-{i},bees\n");
    }
    sandbox.write("labelled/labels.csv", &labels);
}

/// The same nodes with values: bees are taller, and all differ a little.
fn valued(sandbox: &Sandbox) {
    sandbox.communities("valued", SIZE);
    std::fs::remove_file(sandbox.path("valued/labels.csv")).unwrap();
    let mut values = "id,height\n".to_owned();
    for i in 0..SIZE {
        values += &format!("ants-{i},10{}\nbees-{i},20{}\n", i % 3, i % 4);
    }
    sandbox.write("valued/values.csv", &values);
}

/// Bees fly and sting, ants crawl, and some of either live here.
fn tagged(sandbox: &Sandbox) {
    sandbox.communities("tagged", SIZE);
    let mut labels = "id,label\n".to_owned();
    for i in 0..SIZE - 2 {
        labels += &format!("ants-{i},crawls\nbees-{i},flies\nbees-{i},stings\n");
        if i % 2 == 0 {
            labels += &format!("ants-{i},here\nbees-{i},here\n");
        }
    }
    sandbox.write("tagged/labels.csv", &labels);
}

#[test]
fn a_metric_is_reported_beside_the_accuracy() {
    let sandbox = Sandbox::new();
    labelled(&sandbox);
    let base = "evaluate labelled --models gfssgc --depths 2 --splits 3 --ratio 1:0:1";
    for metric in ["accuracy", "balanced-accuracy", "macro-f1", "auc", "average-precision"] {
        let report = sandbox.json(&format!("{base} --metric {metric}"));
        let row = &report["results"][0];
        assert_eq!((&report["metric"], &row["metric"]), (&metric.into(), &metric.into()));
        let mean = |field: &str| row[field]["mean"].as_f64().unwrap();
        assert!((50.0..=100.0).contains(&mean("score")), "{metric}: {row}");
        assert!(row["score"]["std_error"].is_number() && row["score"]["std"].is_number());
        assert_eq!(mean("score") == mean("accuracy"), metric == "accuracy", "{metric}: {row}");
    }
    let text = sandbox.ok(&format!("{base} --metric auc --class-weights balanced"));
    assert!(
        text.contains("Test ROC AUC in %") && text.contains("class weights balanced"),
        "{text}"
    );
}

#[test]
fn class_weights_change_the_model_and_are_kept_with_it() {
    let sandbox = Sandbox::new();
    labelled(&sandbox);
    for (name, option) in [("plain", ""), ("weighted", "--class-weights ants=9,bees=0.1")] {
        sandbox.ok(&format!("fit labelled --depth 2 {option} --lambda 10 -o {name}.model"));
        sandbox.ok(&format!("predict {name}.model labelled -o {name}.csv"));
    }
    // The scores of ants on all nodes together.
    let ants = |name: &str| -> f64 {
        let table = sandbox.read(name);
        let scores = table.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().to_owned());
        scores.map(|score| score.parse::<f64>().unwrap()).sum()
    };
    assert!(ants("weighted.csv") > ants("plain.csv") + 1.0);
    let text = sandbox.ok("inspect weighted.model");
    assert!(text.contains("class weights") && text.contains("ants=9,bees=0.1"), "{text}");
    let report = sandbox.json("fit labelled --depth 2 --metric macro-f1 -o f1.model");
    assert_eq!(report["metric"], "macro-f1");
    assert!(report["selection_score"].as_f64().unwrap() > 50.0);
}

#[test]
fn values_are_learnt_from_a_folder_or_a_file() {
    let sandbox = Sandbox::new();
    valued(&sandbox);
    let report = sandbox.json("evaluate valued --models gfsgc --depths 1 --splits 3 --ratio 1:0:1");
    assert_eq!((&report["metric"], &report["targets"]), (&"r2".into(), &"values".into()));
    let row = &report["results"][0];
    assert!(row["score"]["mean"].as_f64().unwrap() > 0.9, "{row}");
    assert!(row.get("accuracy").is_none() && report["protocol"]["split"] == "random");
    let text = sandbox.ok("evaluate valued --models gfsgc --depths 1 --splits 3 --metric mae");
    assert!(text.contains("1 value") && text.contains("Test mean absolute error,"), "{text}");
    // The same values beside labels, named.
    sandbox.communities("beside", SIZE);
    let values = sandbox.read("valued/values.csv");
    sandbox.write("heights.csv", &values);
    let fit = sandbox.ok("fit beside --values heights.csv -o m.model");
    assert!(fit.contains("left-out R²") && fit.contains("1 value"), "{fit}");
    let other = sandbox.ok("fit valued -o other.model");
    assert!(other.contains("left-out R²"));
    let report = sandbox.json("predict m.model valued -o out.csv");
    assert!(report["agreement"]["r2"].as_f64().unwrap() > 0.9, "{report}");
    let out = sandbox.read("out.csv");
    assert!(out.starts_with("id,height\n") && out.lines().count() == 2 * SIZE + 1, "{out}");
    let ant = out.lines().find_map(|line| line.strip_prefix("ants-9,")).unwrap();
    assert!((90.0..115.0).contains(&ant.parse::<f64>().unwrap()), "an ant of {ant}");
    sandbox.ok("predict m.model valued -o out.npz");
    let refused = sandbox.run("predict m.model valued --labels-only -o labels.csv");
    assert!(refused.status == Some(3) && refused.stderr.contains("values"), "{refused:?}");
    let info = sandbox.json("data info valued");
    assert_eq!((&info["targets"], &info["values"][0]), (&"values".into(), &"height".into()));
}

#[test]
fn sets_of_labels_are_learnt_and_predicted() {
    let sandbox = Sandbox::new();
    tagged(&sandbox);
    let base = "evaluate tagged --models gfssgc --depths 1 --splits 3 --ratio 1:0:1";
    for (option, metric) in [("", "micro-f1"), ("--metric macro-f1", "macro-f1")] {
        let report = sandbox.json(&format!("{base} {option}"));
        assert_eq!((&report["metric"], &report["targets"]), (&metric.into(), &"sets".into()));
        assert!(report["results"][0]["score"]["mean"].as_f64().unwrap() > 60.0, "{report}");
    }
    let fit = sandbox.run("fit tagged -o m.model");
    assert!(fit.stdout.contains("4 labels") && fit.stdout.contains("left-out micro-F1"), "{fit:?}");
    assert!(fit.stderr.contains("nodes have several labels"), "{fit:?}");
    let report = sandbox.json("predict m.model tagged -o out.csv");
    assert!(report["agreement"]["micro_f1"].as_f64().unwrap() > 60.0, "{report}");
    let out = sandbox.read("out.csv");
    let header = "id,label,score_crawls,score_flies,score_here,score_stings\n";
    assert!(out.starts_with(header), "{out}");
    assert!(out.contains("flies;") && out.contains(";stings,"), "{out}");
    let new = sandbox.json("predict m.model tagged --only-unlabelled -o new.csv");
    assert_eq!(new["nodes"], 4);
    sandbox.ok("predict m.model tagged -o out.npz");
}

#[test]
fn what_does_not_fit_is_refused() {
    let sandbox = Sandbox::new();
    labelled(&sandbox);
    valued(&sandbox);
    tagged(&sandbox);
    sandbox.write("bad.csv", "id,height\nants-0,1\nants-1,tall\n");
    let evaluate = "--models gfssgc --depths 2 --splits 2 --ratio 1:0:1";
    for (arguments, status, words) in [
        (format!("evaluate labelled {evaluate} --metric r2"), 3, &["r2", "accuracy", "auc"][..]),
        (format!("evaluate valued {evaluate} --metric auc"), 3, &["auc", "r2 or mae"]),
        (format!("evaluate tagged {evaluate} --metric accuracy"), 3, &["micro-f1"]),
        (format!("evaluate labelled {evaluate} --metric best"), 2, &["--metric", "macro-f1"]),
        (format!("evaluate labelled {evaluate} --class-weights wasps=2"), 3, &["wasps", "ants"]),
        (format!("evaluate labelled {evaluate} --class-weights ants=-1"), 2, &["ants=-1"]),
        (format!("evaluate labelled {evaluate} --class-weights ants=nan"), 2, &["ants=NaN"]),
        (format!("evaluate valued {evaluate} --class-weights balanced"), 3, &["values"]),
        (format!("evaluate labelled {evaluate} --values bad.csv"), 3, &["line 3", "\"tall\""]),
        (format!("evaluate labelled {evaluate} --values no.csv"), 3, &["no.csv"]),
        ("evaluate valued --models gcn --depths 2".into(), 3, &["GCN", "values"]),
        ("evaluate labelled --models gcn --depths 2 --metric accuracy".into(), 2, &["--metric"]),
        ("evaluate labelled --models gcn,gfsgc --depths 2 --metric auc".into(), 2, &["auc", "GCN"]),
        ("tune valued --metric auc".into(), 3, &["auc", "r2 or mae"]),
        ("fit valued --values bad.csv -o m.model".into(), 3, &["bad.csv", "line 3"]),
    ] {
        let run = sandbox.run(&arguments);
        assert_eq!(run.status, Some(status), "{arguments}: {run:?}");
        for word in words {
            assert!(run.stderr.contains(word), "{arguments}: {word:?} is not in {}", run.stderr);
        }
    }
    assert!(!sandbox.path("m.model").exists());
}
