//! What reports and errors look like: to programs, to people, and to a terminal.

use crate::sandbox::Sandbox;
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// With `--json`, whatever happens, standard output holds one JSON object.
#[test]
fn errors_are_json_where_that_was_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("broken/edges.csv", "source,target\na,b\n");
    sandbox.write("broken/features.csv", "id,x\na,one\nb,2\n");
    for (command, status, word) in [
        ("data info broken", 3, "features.csv"),
        ("data info nowhere", 3, "nowhere"),
        ("evaluate cora --splits many", 2, "many"),
        ("fit cora --public-split --time nan -o m --model gfdgc", 2, "time"),
        ("data synth -o missing/x.npz --nodes 9 --edges 9 --classes 2 --features 2", 3, "missing"),
    ] {
        let run = sandbox.run(&format!("{command} --json"));
        assert_eq!(run.status, Some(status), "{command}: {run:?}");
        let report: Value = serde_json::from_str(&run.stdout).expect(&run.stdout);
        assert_eq!(report["error"]["status"], status, "{command}: {report}");
        let message = report["error"]["message"].as_str().unwrap();
        assert!(message.contains(word) && !message.starts_with("error"), "{command}: {report}");
        assert!(run.stderr.contains(word), "people are told as before: {run:?}");
        assert_eq!(sandbox.run(command).stdout, "", "{command} without --json");
    }
}

/// Everything about accuracy is in percent.
#[test]
fn accuracies_in_json_are_in_percent() {
    let sandbox = Sandbox::new();
    let report = sandbox.json("tune cora --public-split");
    let accuracies = report["board"].as_array().unwrap().iter().map(|line| &line["score"]);
    let best = accuracies.map(|accuracy| accuracy.as_f64().unwrap()).fold(0.0, f64::max);
    assert!((50.0..=100.0).contains(&best), "{best}");
    let expected = &report["expected_score"];
    let (mean, low, high) = (&expected["mean"], &expected["interval"][0], &expected["interval"][1]);
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(50.0 < number(low) && number(low) < number(mean) && number(mean) < number(high));
}

/// Everything is predicted right, which does not make more than 100 % possible.
#[test]
fn an_interval_ends_at_100_percent() {
    let sandbox = Sandbox::new();
    sandbox.communities("folder", 12);
    let mut labels = "id,label\n".to_owned();
    for (class, k) in ["ants", "bees"].iter().flat_map(|class| (0..12).map(move |k| (class, k))) {
        labels += &format!("{class}-{k},{class}\n");
    }
    sandbox.write("folder/labels.csv", &labels);
    let text = sandbox.ok("tune folder");
    assert!(text.contains("100.0 % (95 % interval ") && text.contains("to 100.0)"), "{text}");
    assert!(!text.contains('±'), "{text}");
}

/// Features that give the class away, on edges that lead astray.
#[test]
fn a_model_that_ignores_the_graph_says_so() {
    let sandbox = Sandbox::new();
    let (mut edges, mut features, mut labels) =
        ("source,target\n".to_owned(), "id,x,y,z\n".to_owned(), "id,label\n".to_owned());
    let class = |node: usize| node % 2;
    for node in 0..120 {
        // To nodes of the other class only.
        for step in [1, 7, 31] {
            edges += &format!("{node},{}\n", (node + step) % 120);
        }
        let noise = (node * 37 % 101) as f64 / 101.0;
        let (x, y) = (class(node) as f64 + 0.8 * noise, 1.0 - class(node) as f64);
        features += &format!("{node},{x:.3},{y},{noise:.3}\n");
        labels += &format!("{node},{}\n", class(node));
    }
    sandbox.write("folder/edges.csv", &edges);
    sandbox.write("folder/features.csv", &features);
    sandbox.write("folder/labels.csv", &labels);
    let search = Sandbox::json(&sandbox, "fit folder -o m.model");
    assert_eq!(search["search"]["own_features_suffice"], true, "{search}");
    for command in ["tune folder", "fit folder -o m.model --force"] {
        let text = sandbox.ok(command);
        assert!(text.contains("a node's own features"), "{command}: {text}");
    }
    assert!(!sandbox.ok("tune cora --public-split").contains("a node's own features"));
}

/// What the model is made of, in percent, what it was chosen from, and where the time went.
#[test]
fn a_search_says_what_its_choice_is_made_of() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok("fit citeseer -o m.model");
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).expect(name);
    assert!(line("made of").contains(" % "), "{text}");
    assert!(line("chosen from").contains("learners and their sum, each at 25 λ"), "{text}");
    assert!(line("time").contains("learning"), "{text}");
    let report = sandbox.json("fit cora --public-split -o m.model --force");
    let shares = report["search"]["shares"].as_array().unwrap();
    let sum: f64 = shares.iter().map(|share| share["share"].as_f64().unwrap()).sum();
    assert!((sum - 100.0).abs() < 1e-6, "{report}");
    let given = sandbox.ok("fit cora --depth 2 -o other.model");
    let lambda = given.lines().find(|line| line.starts_with("lambda")).unwrap();
    assert!(!lambda.contains("e0") && !lambda.contains("e1"), "{lambda}");
}

/// The systems of the search are counted: cubes of their size.
#[test]
fn a_plan_counts_what_is_solved() {
    let sandbox = Sandbox::new();
    let report = sandbox.json("tune cora --explain");
    let solve = report["plan"]["solve"].as_array().unwrap();
    let count: u64 = solve.iter().map(|systems| systems["count"].as_u64().unwrap()).sum();
    assert!(count > 10, "every learner: {solve:?}");
    for systems in solve {
        let number = |key: &str| systems[key].as_f64().unwrap();
        let least = number("count") * number("size").powi(3);
        assert!(number("operations") > least, "{systems}");
    }
}

/// A class name that would turn the terminal red, ring its bell and forge a line.
#[test]
fn what_files_say_does_not_control_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.communities("folder", 6);
    let evil = "\u{1b}[31mred\u{7}\u{202e}\u{9b}2J";
    let labels =
        sandbox.read("folder/labels.csv").replace(",bees", &format!(",\"{evil}\nerror: x\""));
    sandbox.write("folder/labels.csv", &labels);
    sandbox.ok("fit folder --depth 2 -o m.model");
    for command in [
        "data info folder",
        "evaluate folder --splits 1 --ratio 1:0:1",
        "tune folder",
        "fit folder --depth 2 -o again.model",
        "inspect m.model",
        "predict m.model folder -o labels.csv --force",
    ] {
        let run = sandbox.run(command);
        let all = run.stdout + &run.stderr;
        let is_control = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!all.contains(is_control), "{command}: {all:?}");
        assert!(!all.contains("\nerror: x"), "{command}: {all:?}");
    }
    assert!(sandbox.read("labels.csv").contains(evil), "files keep names as they are");
    // A path, and an argument.
    for argument in ["nowhere\u{1b}[31m", "--oh\u{1b}[31m"] {
        let run =
            sandbox.command(crate::sandbox::PROGRAM).args(["data", "info", argument]).output();
        let stderr = String::from_utf8(run.unwrap().stderr).unwrap();
        assert!(!stderr.is_empty() && !stderr.contains('\u{1b}'), "{stderr:?}");
    }
}

#[test]
fn a_class_name_of_megabytes_is_shortened() {
    let sandbox = Sandbox::new();
    sandbox.communities("folder", 6);
    let long = "x".repeat(4_000_000);
    let labels = sandbox.read("folder/labels.csv").replace(",bees", &format!(",{long}"));
    sandbox.write("folder/labels.csv", &labels);
    for command in ["data info folder", "fit folder --depth 2 -o m.model", "inspect m.model"] {
        let text = sandbox.ok(command);
        assert!(text.len() < 5000, "{command}: {} bytes", text.len());
    }
    assert!(sandbox.ok("inspect m.model").contains("(4000000 characters)"));
}

#[test]
fn a_path_that_is_no_text_is_written_and_reported() {
    let sandbox = Sandbox::new();
    sandbox.communities("folder", 6);
    sandbox.ok("fit folder --depth 2 -o m.model");
    let name = OsStr::from_bytes(b"out-\xff");
    for (arguments, ending) in [
        (vec!["fit", "folder", "--depth", "2"], ".model"),
        (vec!["predict", "m.model", "folder"], ".csv"),
        (vec!["data", "convert", "cora"], ".npz"),
    ] {
        let mut file = name.to_owned();
        file.push(ending);
        let mut command = sandbox.command(crate::sandbox::PROGRAM);
        if arguments[1] != "convert" {
            command.args(&arguments).arg("-o");
        } else {
            command.args(&arguments);
        }
        command.arg(&file).arg("--json");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report.to_string().contains("out-\u{fffd}"), "{report}");
        assert!(sandbox.path("").join(&file).exists());
    }
}
