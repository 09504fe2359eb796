//! `paper`: a report that is complete, repeatable, and resumed where it was interrupted.

use crate::sandbox::{Run, Sandbox};
use serde_json::Value;

const SHORT: &str = "paper --only gradients,scale";

fn report(sandbox: &Sandbox, folder: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!("{folder}/report.json"))).unwrap()
}

/// Two runs, on other numbers of threads.
#[test]
fn the_report_is_a_folder_of_files_with_the_same_numbers_every_time() {
    let sandbox = Sandbox::new();
    let done = sandbox.json(&format!("{SHORT} --no-cache --threads 1 --out here"));
    assert!(sandbox.kept().is_empty(), "--no-cache keeps nothing");
    assert_eq!((&done["tables"], &done["figures"]), (&0.into(), &3.into()));
    assert_eq!(done["remarks"].as_array().unwrap().len(), 1, "Cora-ML is not there: {done}");
    let page = sandbox.read("here/index.html");
    for title in ["First gradients and training losses", "Scale of the zero-centred features"] {
        assert!(page.contains(title), "{title}");
    }
    assert!(page.contains("Cora-ML was not found"));
    for figure in ["gradients", "gradients-of-dgc", "scale"] {
        assert!(sandbox.read(&format!("here/figures/{figure}.svg")).starts_with("<svg"));
    }
    let mut first = report(&sandbox, "here");
    assert_eq!(first["figures"].as_array().unwrap().len(), 3);

    // In the same place.
    let text = sandbox.ok(&format!("{SHORT} --no-cache --threads 2 --out here"));
    assert!(text.contains("0 tables and 3 figures in"), "{text}");
    assert!(text.trim_end().ends_with("open here/index.html"), "{text}");
    let mut second = report(&sandbox, "here");
    for report in [&mut first, &mut second] {
        // It says how many threads there were, and when.
        report.as_object_mut().unwrap().remove("about").unwrap();
    }
    assert!(first == second);
}

#[cfg(unix)]
#[test]
fn a_killed_run_recomputes_no_finished_cell() {
    use crate::running::Running;
    let sandbox = Sandbox::new();
    let only = "paper --only gradients";
    let mut running = Running::start(&sandbox, only);
    running.until("some cells are finished", |_| sandbox.kept().len() >= 3);
    running.kill();
    let finished = sandbox.kept();
    // What there is can be looked at.
    sandbox.ok(&format!("{only} --finished --out partial"));
    sandbox.ok("paper --full --only depth --finished --out empty");
    assert_eq!(sandbox.kept(), finished, "nothing was run");
    let row = &report(&sandbox, "empty")["tables"][0]["rows"][4];
    assert_eq!((&row["name"], &row["cells"][6]["ours"]), (&"GCNII".into(), &Value::Null));
    let curves = |folder: &str| {
        let report = report(&sandbox, folder);
        let figures = report["figures"].as_array().unwrap().clone();
        let panels = figures.iter().flat_map(|figure| figure["panels"].as_array().unwrap());
        panels.map(|panel| panel["series"].as_array().unwrap().len()).sum::<usize>()
    };
    // A density and a loss of each; one of 26 is in both figures.
    assert!([2 * finished.len(), 2 * finished.len() + 2].contains(&curves("partial")));

    let run = sandbox.run(&format!("{only} --out whole"));
    assert_eq!(run.status, Some(0), "{run:?}");
    // A cell that is under way for long is named again, with how far it is.
    let begins = |line: &&str| {
        let end = line.rsplit(", ").next().unwrap_or_default();
        line.contains("gradients and losses of") && !end.contains(" of ")
    };
    let begun = run.stderr.lines().filter(begins).count();
    assert_eq!(begun, 26 - finished.len(), "{run:?}");
    let after = sandbox.kept();
    assert_eq!((after.len(), curves("whole")), (26, 2 * 27));
    for (path, written) in finished {
        assert_eq!(after[&path], written, "{} was written again", path.display());
    }
}

/// Nothing is run; a graph that is asked for must be there.
#[test]
fn the_report_can_be_of_some_graphs() {
    let sandbox = Sandbox::new();
    let done = sandbox.json("paper --finished --only depth --graphs pubmed,cora --out here");
    assert_eq!((&done["tables"], &done["remarks"].as_array().unwrap().len()), (&2.into(), &1));
    let report = report(&sandbox, "here");
    let titles: Vec<&str> =
        report["tables"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap()).collect();
    assert_eq!(titles, ["depth-cora", "depth-pubmed"]);
    assert!(sandbox.read("here/index.html").contains("Restricted to Cora, PubMed."));
    let missing = sandbox.run("paper --finished --graphs cora-ml --out there");
    assert_eq!(missing.status, Some(3), "{missing:?}");
    assert!(missing.stderr.contains("gfgcn data get cora-ml"), "{missing:?}");
    assert!(!sandbox.path("there").exists());
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
