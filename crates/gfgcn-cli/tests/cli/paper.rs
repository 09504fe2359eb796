//! `paper`: a report that is complete, repeatable, and taken up again where it was stopped.

use crate::sandbox::{Run, Sandbox};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

const SHORT: &str = "paper --only gradients,scale";

/// The kept results with the time at which each was written.
fn kept(sandbox: &Sandbox) -> Vec<(PathBuf, SystemTime)> {
    let is_run = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "run");
    let written = |path: PathBuf| {
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        (path, time)
    };
    sandbox.snapshot().into_keys().filter(is_run).map(written).collect()
}

#[test]
fn the_report_is_a_folder_of_files() {
    let sandbox = Sandbox::new();
    let done = sandbox.json(&format!("{SHORT} --out here"));
    assert_eq!((&done["tables"], &done["figures"]), (&0.into(), &3.into()));
    assert_eq!(done["remarks"].as_array().unwrap().len(), 1, "Cora-ML is not there: {done}");
    let page = sandbox.read("here/index.html");
    for title in ["First gradients and training losses", "Scale of the zero-centred features"] {
        assert!(page.contains(title), "{title}");
    }
    assert!(page.contains("Cora-ML was not found"));
    let report: Value = serde_json::from_str(&sandbox.read("here/report.json")).unwrap();
    assert_eq!(report["figures"].as_array().unwrap().len(), 3);
    for figure in ["gradients", "gradients-of-dgc", "scale"] {
        assert!(sandbox.read(&format!("here/figures/{figure}.svg")).starts_with("<svg"));
    }
    let text = sandbox.ok(&format!("{SHORT} --out here"));
    assert!(text.contains("0 tables and 3 figures in"), "{text}");
    assert!(text.trim_end().ends_with("open here/index.html"), "{text}");
}

#[test]
fn two_runs_give_the_same_numbers() {
    let sandbox = Sandbox::new();
    let report = |threads: usize| {
        sandbox.ok(&format!("{SHORT} --no-cache --threads {threads} --out r{threads}"));
        let mut report: Value =
            serde_json::from_str(&sandbox.read(&format!("r{threads}/report.json"))).unwrap();
        // It says how many threads there were, and when.
        report.as_object_mut().unwrap().remove("about");
        report
    };
    assert!(report(1) == report(2));
    assert!(kept(&sandbox).is_empty(), "--no-cache keeps nothing");
}

#[cfg(unix)]
#[test]
fn a_killed_run_recomputes_no_finished_cell() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let sandbox = Sandbox::new();
    let arguments = "paper --full --only accuracy";
    let mut child =
        sandbox.gfgcn(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    // The 21 closed forms of three graphs, and some trainings.
    while kept(&sandbox).len() < 3 * 21 + 3 {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing is finished");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let finished = kept(&sandbox);
    let mut child =
        sandbox.gfgcn(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while kept(&sandbox).len() < finished.len() + 4 {
        assert!(start.elapsed() < Duration::from_secs(240), "it does not go on");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let after = kept(&sandbox);
    for result in &finished {
        assert!(after.contains(result), "{result:?} was written again");
    }
    // What there is can be looked at.
    sandbox.ok("paper --full --only depth --finished --out partial");
    let report: Value = serde_json::from_str(&sandbox.read("partial/report.json")).unwrap();
    let row = |k: usize| &report["tables"][0]["rows"][k];
    assert_eq!(row(8)["name"], "gfSGC");
    assert!(row(8)["cells"][0]["ours"]["mean"].as_f64().unwrap() > 80.0);
    assert_eq!((&row(4)["name"], &row(4)["cells"][6]["ours"]), (&"GCNII".into(), &Value::Null));
    assert_eq!(kept(&sandbox), after, "nothing was run");
}

#[test]
fn a_folder_that_cannot_be_written_is_noticed_first() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "mine");
    let run: Run = sandbox.run("paper --full --out file");
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("file: cannot write"), "{run:?}");
    assert_eq!(sandbox.read("file"), "mine");
}
