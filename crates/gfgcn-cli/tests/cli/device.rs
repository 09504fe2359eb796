//! `--device` and `gfgcn devices`, with a GPU and without.

use crate::sandbox::{Run, Sandbox};

/// The reason why there is no GPU here, if there is none.
fn no_gpu(sandbox: &Sandbox) -> Option<String> {
    sandbox.json("devices")["problem"].as_str().map(str::to_owned)
}

#[test]
fn devices_are_listed_or_it_is_said_why_there_are_none() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok("devices");
    assert!(text.contains("cpu") && text.contains("threads"), "{text}");
    match no_gpu(&sandbox) {
        Some(problem) => assert!(text.contains(&format!("No GPU: {problem}")), "{text}"),
        None => assert!(text.contains("cuda:0") && text.contains("GiB free"), "{text}"),
    }
}

#[test]
fn a_gpu_that_is_asked_for_must_be_there_and_nothing_is_written_without_it() {
    let sandbox = Sandbox::new();
    let fails = |device: &str| -> Run {
        sandbox.run(&format!("fit cora --public-split --depth 2 --device {device} -o a.model"))
    };
    let run = fails("cuda:99");
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("cuda"), "{run:?}");
    if let Some(problem) = no_gpu(&sandbox) {
        let run = fails("cuda");
        assert_eq!(run.status, Some(4), "{run:?}");
        assert!(run.stderr.contains(&problem), "{run:?}");
    }
    assert!(!sandbox.path("a.model").exists());
}

#[test]
fn what_is_no_device_is_wrong_usage_on_the_command_line_and_in_the_environment() {
    let sandbox = Sandbox::new();
    for device in ["gpu", "cuda:", "cuda:-1", "''"] {
        let run = sandbox.run(&format!("evaluate cora --device {device}"));
        assert_eq!(run.status, Some(2), "{device}: {run:?}");
    }
    let mut command = sandbox.gfgcn("evaluate cora --splits 1 --depths 2");
    let run: Run = command.env("GFGCN_DEVICE", "fast").output().unwrap().into();
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("device is fast"), "{run:?}");
    // What is said counts more.
    let mut command = sandbox.gfgcn("evaluate cora --splits 1 --depths 2 --device cpu");
    let run: Run = command.env("GFGCN_DEVICE", "fast").output().unwrap().into();
    assert_eq!(run.status, Some(0), "{run:?}");
}

#[test]
fn small_graphs_stay_on_the_processor_and_the_plan_says_so() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("evaluate cora --splits 1 --depths 2,64 --explain");
    assert!(run.stderr.contains("place      everything on the processor"), "{run:?}");
    let auto = sandbox.ok("evaluate cora --splits 2 --depths 2,64 --json");
    let cpu = sandbox.ok("evaluate cora --splits 2 --depths 2,64 --json --device cpu");
    let scores = |text: &str| -> Vec<String> {
        let report: serde_json::Value = serde_json::from_str(text).unwrap();
        report["results"].as_array().unwrap().iter().map(|row| row["scores"].to_string()).collect()
    };
    assert_eq!(scores(&auto), scores(&cpu));
}

/// Large work finds no GPU on most machines, and is done all the same, without a word.
#[test]
fn without_a_gpu_large_work_is_done_by_the_processor() {
    let sandbox = Sandbox::new();
    if no_gpu(&sandbox).is_none() {
        return; // the work is done elsewhere
    }
    let run = sandbox.run("evaluate pubmed --splits 1 --depths 64,512 --models gfsgc --explain");
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(!run.stderr.contains("too little work"), "it is worth a GPU: {run:?}");
    assert!(!run.stderr.contains("warning"), "{run:?}");
}
