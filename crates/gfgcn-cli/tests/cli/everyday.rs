//! From tables to labels: what most people will do.

use crate::sandbox::{CLASSES, Sandbox};
use parquet::file::reader::SerializedFileReader;
use parquet::record::{Row, RowAccessor};
use std::collections::BTreeMap;
use std::io::Read;

/// Two communities of seven and a model of them.
fn trained() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.communities("folder", 7);
    sandbox.ok("fit folder -o m.model");
    sandbox
}

/// Id and label of each row.
fn labels(table: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let mut cells = line.split(',').map(str::to_owned);
        (cells.next().unwrap(), cells.next().unwrap())
    };
    table.lines().skip(1).map(row).collect()
}

fn expected(size: usize) -> Vec<(String, String)> {
    let of_class =
        |class: &'static str| (0..size).map(move |i| (format!("{class}-{i}"), class.to_owned()));
    CLASSES.into_iter().flat_map(of_class).collect()
}

#[test]
fn every_node_gets_its_label_under_its_own_id() {
    let sandbox = trained();
    let report = sandbox.ok("predict m.model folder -o out.csv");
    assert!(report.contains("14 nodes (7 ants, 7 bees)"), "{report}");
    let table = sandbox.read("out.csv");
    assert!(table.starts_with("id,label,score_ants,score_bees\n"), "{table}");
    assert_eq!(labels(&table), expected(7));
}

/// Training and labelling in one command, with or without a model that is kept.
#[test]
fn one_command_trains_and_labels() {
    let sandbox = trained();
    sandbox.ok("predict m.model folder -o two-steps.csv");
    let report = sandbox.ok("fit folder --predictions out.csv");
    assert!(
        report.contains("trained on") && report.contains("14 nodes (7 ants, 7 bees)"),
        "{report}"
    );
    assert_eq!(sandbox.read("out.csv"), sandbox.read("two-steps.csv"));
    sandbox.ok("fit folder -o again.model --predictions out.json");
    assert_eq!(
        std::fs::read(sandbox.path("again.model")).unwrap(),
        std::fs::read(sandbox.path("m.model")).unwrap()
    );
    let json: serde_json::Value = serde_json::from_str(&sandbox.read("out.json")).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 14);
    let printed = sandbox.run("fit folder --predictions -");
    assert_eq!(printed.stdout, sandbox.read("two-steps.csv"));
    assert!(
        printed.stderr.contains("trained on") && !printed.stderr.contains("saved"),
        "{}",
        printed.stderr
    );

    let before = sandbox.snapshot();
    for (arguments, status, fragment) in [
        ("fit folder", 2, "--output"),
        ("fit folder --predictions out.csv", 3, "--force"),
        ("fit folder --predictions out.xlsx", 3, ".parquet"),
        ("fit folder -o same.csv --predictions same.csv", 3, "two files"),
        ("fit folder --predictions folder/labels.csv --force", 3, "input"),
        ("fit folder --predictions new.csv --keep-training", 2, "--output"),
    ] {
        let run = sandbox.run(arguments);
        assert_eq!(run.status, Some(status), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(fragment), "{arguments}: {}", run.stderr);
    }
    assert_eq!(sandbox.snapshot(), before, "nothing is written");
}

/// The README's two commands on the folder that the repository ships. A paper's id begins with its
/// topic; 12 of the 48 have a label.
#[test]
fn the_example_of_the_readme_is_labelled_right() {
    let sandbox = Sandbox::new();
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/papers");
    sandbox.ok(&format!("fit {papers} -o papers.model"));
    let report = sandbox.ok(&format!("predict papers.model {papers} -o labels.csv"));
    assert!(report.contains("48 nodes (16 astronomy, 16 botany, 16 chess)"), "{report}");
    let labels = labels(&sandbox.read("labels.csv"));
    assert_eq!(labels.len(), 48);
    for (id, label) in labels {
        assert!(label.starts_with(id.split('-').next().unwrap()), "{id} is labelled {label}");
    }
}

#[test]
fn only_unlabelled_nodes_where_asked_for() {
    let sandbox = trained();
    sandbox.ok("predict m.model folder --only-unlabelled -o out.csv");
    let unlabelled = |(id, _): &(String, String)| !id.ends_with("-0") && !id.ends_with("-1");
    let expected: Vec<_> = expected(7).into_iter().filter(unlabelled).collect();
    assert_eq!(labels(&sandbox.read("out.csv")), expected);
}

#[test]
fn labels_without_scores_are_the_same_labels() {
    let sandbox = trained();
    sandbox.ok("predict m.model folder -o out.csv");
    let report = sandbox.ok("predict m.model folder --labels-only -o labels.csv");
    assert!(report.contains("14 nodes (7 ants, 7 bees)"), "{report}");
    assert!(report.contains("Agreement with 4 labelled nodes"), "{report}");
    let first_two = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(",");
    let expected: Vec<String> = sandbox.read("out.csv").lines().map(first_two).collect();
    assert_eq!(sandbox.read("labels.csv").lines().collect::<Vec<_>>(), expected);
    std::fs::write(sandbox.path("ids.txt"), "bees-3\nants-4\n").unwrap();
    sandbox.ok("predict m.model folder --labels-only --nodes ids.txt -o few.csv");
    assert_eq!(labels(&sandbox.read("few.csv")).len(), 2);
    sandbox.ok("predict m.model folder --labels-only -o labels.npz");
    let file = std::fs::File::open(sandbox.path("labels.npz")).unwrap();
    let members = zip::ZipArchive::new(file).unwrap();
    let mut names: Vec<_> = members.file_names().map(|name| name.unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["class_names.npy", "id.npy", "label.npy", "label_id.npy"]);
    for option in ["--probabilities", "--sets 0.9"] {
        let refused = sandbox.run(&format!("predict m.model folder --labels-only {option} -o x"));
        assert_eq!(refused.status, Some(2), "{option}: {}", refused.stderr);
    }
}

#[test]
fn every_format_holds_the_same_labels() {
    let sandbox = trained();
    for name in ["out.csv", "out.tsv", "out.parquet", "out.npz"] {
        sandbox.ok(&format!("predict m.model folder -o {name}"));
    }
    assert_eq!(labels(&sandbox.read("out.csv")), expected(7));
    assert_eq!(sandbox.read("out.tsv").replace('\t', ","), sandbox.read("out.csv"));
    let file = std::fs::File::open(sandbox.path("out.parquet")).unwrap();
    let text = |row: &Row, k| row.get_string(k).unwrap().clone();
    let found: Vec<_> = SerializedFileReader::new(file)
        .unwrap()
        .into_iter()
        .map(|row| row.map(|row| (text(&row, 0), text(&row, 1))).unwrap())
        .collect();
    assert_eq!(found, expected(7));
    let file = std::fs::File::open(sandbox.path("out.npz")).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut text_array = |name: &str| {
        let mut bytes = Vec::new();
        archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8_lossy(&bytes[..start]).into_owned();
        let width = header.split("<U").nth(1).unwrap().split('\'').next().unwrap();
        let width: usize = width.parse().unwrap();
        let cell = |cell: &[u8]| {
            cell.iter().step_by(4).filter(|&&c| c != 0).map(|&c| c as char).collect::<String>()
        };
        bytes[start..].chunks(4 * width).map(cell).collect::<Vec<_>>()
    };
    let found: Vec<_> = text_array("id.npy").into_iter().zip(text_array("label.npy")).collect();
    assert_eq!(found, expected(7));
}

#[test]
fn separate_tables_are_the_same_as_a_folder() {
    let sandbox = trained();
    let tables =
        "--edges folder/edges.csv --features folder/features.csv --labels folder/labels.csv";
    sandbox.ok("predict m.model folder -o folder.csv");
    sandbox.ok(&format!("fit {tables} -o tables.model"));
    sandbox.ok(&format!("predict tables.model {tables} -o tables.csv"));
    assert_eq!(sandbox.read("tables.csv"), sandbox.read("folder.csv"));
}

#[test]
fn new_nodes_are_predicted() {
    let sandbox = trained();
    sandbox.communities("larger", 9);
    sandbox.ok("predict m.model larger -o out.csv");
    assert_eq!(labels(&sandbox.read("out.csv")), expected(9));
}

#[test]
fn features_are_matched_by_name() {
    let sandbox = trained();
    sandbox.communities("permuted", 7);
    let permuted = sandbox.read("folder/features.csv").lines().fold(String::new(), |text, line| {
        let cells: Vec<&str> = line.split(',').collect();
        text + &format!("{},{},{},{}\n", cells[0], cells[3], cells[1], cells[2])
    });
    sandbox.write("permuted/features.csv", &permuted);
    sandbox.ok("predict m.model folder -o a.csv");
    sandbox.ok("predict m.model permuted -o b.csv");
    assert_eq!(sandbox.read("a.csv"), sandbox.read("b.csv"));

    sandbox.write("permuted/features.csv", &permuted.replace("legs", "eyes"));
    let run = sandbox.run("predict m.model permuted -o c.csv");
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stderr.contains("1 features of the model are not in the data"), "{run:?}");
}

#[test]
fn inspect_tells_what_fit_told() {
    let sandbox = trained();
    let fitted = sandbox.json("fit folder --model gfsgc --depth 3 --kernel rbf -o other.model");
    let inspected = sandbox.json("inspect other.model");
    for field in ["members", "head", "nodes"] {
        assert_eq!(inspected[field], fitted[field], "{field}");
    }
    let training = &inspected["provenance"];
    for field in ["training_nodes", "selection_accuracy"] {
        assert_eq!(training[field], fitted[field], "{field}");
    }
    assert_eq!(inspected["feature_names"], serde_json::json!(["wings", "legs", "stripes"]));
    let text = sandbox.ok("inspect m.model");
    for part in ["SSGC, K = 8", "2 (ants, bees)", "folder: 4 of 14 nodes"] {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
}

/// A number that comes back from the file in its last digit other than it went in would make the
/// model look damaged.
#[test]
fn a_model_keeps_every_digit() {
    let sandbox = trained();
    for k in 1..=40 {
        let lambda = f64::from(k).sqrt() * 1e-3;
        sandbox.ok(&format!("fit folder --lambda {lambda} -o m.model --force"));
        let inspected = sandbox.json("inspect m.model");
        assert_eq!(inspected["members"][0]["lambda"].as_f64(), Some(lambda));
    }
}

#[test]
fn nothing_but_the_report_where_quiet() {
    let sandbox = trained();
    let edges = sandbox.read("folder/edges.csv") + "ants-0,ants-1\n";
    sandbox.write("folder/edges.csv", &edges);
    let run = sandbox.run("data info folder");
    assert!(run.stderr.starts_with("note: "), "{run:?}");
    let quiet = sandbox.run("data info folder --quiet");
    assert_eq!((quiet.stdout, quiet.stderr), (run.stdout, String::new()));
}

#[test]
fn the_program_is_repeatable_to_the_byte() {
    let sandbox = trained();
    let mut seen = BTreeMap::new();
    for threads in [1, 2, 3] {
        sandbox.ok(&format!("fit cora --public-split -o m.model --force --threads {threads}"));
        *seen.entry(std::fs::read(sandbox.path("m.model")).unwrap()).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 1, "the number of threads changes the model");
}
