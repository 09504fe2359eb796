//! Pipes and shells: standard input and output, formats, completions, the manual, logs.

use crate::sandbox::{PROGRAM, Sandbox};
use std::io::Write;
use std::process::{Command, Stdio};

fn trained() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.communities("folder", 7);
    sandbox.ok("fit folder --depth 2 -o m.model");
    sandbox
}

/// Runs the program with something on standard input.
fn piped(sandbox: &Sandbox, arguments: &str, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let mut command: Command = sandbox.command(PROGRAM);
    command
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn predictions_go_to_standard_output_in_every_format() {
    let sandbox = trained();
    for format in ["csv", "tsv", "json", "parquet", "npz"] {
        sandbox.ok(&format!("predict m.model folder -o out.{format}"));
        let (status, stdout, stderr) =
            piped(&sandbox, &format!("predict m.model folder -o - --format {format}"), b"");
        assert_eq!(status, Some(0), "{stderr}");
        assert_eq!(
            stdout,
            std::fs::read(sandbox.path(&format!("out.{format}"))).unwrap(),
            "{format}"
        );
        assert!(stderr.contains("14 nodes"), "the report is on standard error: {stderr}");
    }
    let json: serde_json::Value = serde_json::from_str(&sandbox.read("out.json")).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 14);
    assert_eq!(json[0]["id"], "ants-0");
    assert_eq!(json[0]["label"], "ants");
    // A name without an ending is fine if the format is said.
    sandbox.ok("predict m.model folder -o labels --format tsv");
    assert_eq!(sandbox.read("labels"), sandbox.read("out.tsv"));
    let refused = sandbox.run("predict m.model folder -o x.csv --format xml");
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
}

/// Every command that writes a table writes it in every format, to a file and to standard output.
#[test]
fn tables_are_written_in_every_format() {
    let sandbox = trained();
    for (command, header) in [
        ("audit folder --depth 2 --top 5", "id,given,expected,probability,surprise"),
        ("explain m.model folder --node ants-0", "id,class,part,name,value"),
        ("explain m.model folder", "id,class,part,name,value"),
        ("tune folder", "learner,design,kernel,lambda,score,squared_error,weight"),
        ("evaluate folder --ratio 1:0:1 --splits 3 --depths 2,4", "model,depth,split,metric,score"),
    ] {
        for format in ["csv", "tsv", "json", "parquet", "npz"] {
            sandbox.ok(&format!("{command} -o out.{format} --force"));
            let (status, stdout, stderr) =
                piped(&sandbox, &format!("{command} -o - --format {format}"), b"");
            assert_eq!(status, Some(0), "{stderr}");
            let file = std::fs::read(sandbox.path(&format!("out.{format}"))).unwrap();
            assert!(stdout == file && !file.is_empty(), "{command} as {format}");
            assert!(!stderr.is_empty(), "the report is on standard error");
        }
        let rows = sandbox.read("out.csv");
        assert_eq!(rows.lines().next(), Some(header), "{command}");
        let json: serde_json::Value = serde_json::from_str(&sandbox.read("out.json")).unwrap();
        assert_eq!(json.as_array().unwrap().len(), rows.lines().count() - 1, "{command}");
        let refused = sandbox.run(&format!("{command} -o out.csv"));
        assert_eq!(refused.status, Some(3), "{}", refused.stderr);
        let idle = sandbox.run(&format!("{command} --format csv"));
        assert_eq!(idle.status, Some(2), "{}", idle.stderr);
    }
    // The terms of a score add up to it, and the scores of the splits to what is reported.
    let rows = sandbox.ok("explain m.model folder --node ants-0 --top 1000 -o -");
    let part = |name: &str| -> f64 {
        let terms = rows.lines().filter(|line| line.split(',').nth(2) == Some(name));
        terms.map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    assert!((part("feature") - part("node")).abs() < 1e-6, "{rows}");
    sandbox.ok("data convert folder archive --format npz");
    sandbox.ok("data convert folder folder.npz");
    assert_eq!(
        std::fs::read(sandbox.path("archive")).unwrap(),
        std::fs::read(sandbox.path("folder.npz")).unwrap()
    );
    for (wrong, status, part) in [
        ("data convert folder other.npz --format csv", 3, "--format asks for a folder"),
        ("data convert folder other --format json", 2, "csv, tsv, parquet, npz or store"),
    ] {
        let refused = sandbox.run(wrong);
        assert_eq!(refused.status, Some(status), "{}", refused.stderr);
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}

#[test]
fn one_table_may_come_from_standard_input() {
    let sandbox = trained();
    let edges = sandbox.read("folder/edges.csv");
    let others = "--features folder/features.csv --labels folder/labels.csv";
    let (status, stdout, stderr) =
        piped(&sandbox, &format!("predict m.model --edges - {others} -o -"), edges.as_bytes());
    assert_eq!(status, Some(0), "{stderr}");
    sandbox.ok("predict m.model folder -o out.csv");
    assert_eq!(String::from_utf8(stdout).unwrap(), sandbox.read("out.csv"));
    sandbox.ok("data convert folder folder.npz");
    let archive = std::fs::read(sandbox.path("folder.npz")).unwrap();
    let (status, stdout, stderr) = piped(&sandbox, "data info - --json", &archive);
    assert_eq!(status, Some(0), "{stderr}");
    let report: serde_json::Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(report["nodes"], 14);
    let (status, _, stderr) = piped(&sandbox, "data info --edges - --features -", b"");
    assert_eq!(status, Some(2), "{stderr}");
    let (status, _, stderr) = piped(&sandbox, "data info -", b"");
    assert_eq!(status, Some(3), "{stderr}");
    let (status, _, stderr) = piped(&sandbox, "fit folder --depth 2 -o -", b"");
    assert_eq!(status, Some(3), "{stderr}");
    assert!(!sandbox.path("-").exists());
}

#[test]
fn shells_and_manuals_know_every_command() {
    let sandbox = Sandbox::new();
    for (shell, begin) in
        [("bash", "_gfgcn()"), ("zsh", "#compdef gfgcn"), ("fish", "complete -c gfgcn")]
    {
        let script = sandbox.ok(&format!("completions {shell}"));
        assert!(
            script.contains(begin)
                && script.contains("evaluate")
                && script.contains("label-column"),
            "{shell}"
        );
    }
    let syntax = sandbox
        .command("bash")
        .args(["-n", "-c", &sandbox.ok("completions bash")])
        .status()
        .unwrap();
    assert!(syntax.success());
    let page = sandbox.ok("man");
    assert!(page.contains(".TH gfgcn 1") && page.contains("predict"), "{page}");
    std::fs::create_dir(sandbox.path("man1")).unwrap();
    sandbox.ok("man --folder man1");
    assert!(sandbox.read("man1/gfgcn-predict.1").contains("probabilities"));
}

#[test]
fn logs_say_what_is_done_where_asked_for() {
    let sandbox = trained();
    let run = sandbox.run("-v predict m.model folder -o out.csv");
    for part in [
        "reading a folder of tables: edges.csv",
        "14 nodes, 15 edges, 3 features",
        "predicting: done",
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    let plain = sandbox.run("predict m.model folder -o out.csv --force");
    assert!(!plain.stderr.contains("reading"), "{}", plain.stderr);
}
