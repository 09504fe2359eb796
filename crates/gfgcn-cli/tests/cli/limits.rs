//! Every command under limits of its memory: done, or refused with exit status 4; never an abort, never blamed on the file,
//! and never refused with more memory than was enough before.

use crate::running::{for_products, run_after};
use crate::sandbox::Sandbox;
use std::collections::BTreeMap;

/// Commands that read `DATA`, which is one of [`DATASETS`]; `OUT` is made anew each time.
const COMMANDS: &[&str] = &[
    "fit DATA -o OUT.model --force",
    "fit DATA --depth 4 --kernel rbf -o OUT.model --force",
    "predict DATA.model DATA -o OUT.csv --force",
    "predict DATA-rbf.model DATA -o OUT.npz --force",
    "tune DATA",
    "evaluate DATA --splits 3 --depths 2,8 --ratio 1:1:1 --all-nodes",
    "evaluate DATA --splits 2 --depths 2 --ratio 1:1:1 --kernel rbf",
    "inspect DATA-rbf.model",
    "data info DATA",
    "data convert DATA OUT.npz --force",
    "data convert DATA OUT --force",
    "data synth -o OUT.npz --nodes 9000 --edges 20000 --classes 4 --features 64 --force",
];

/// Cora with its public training nodes (by a table that has no other labels), and a small folder of tables.
const DATASETS: [&str; 2] = ["citations", "tables"];

fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("data convert cora citations");
    let split = sandbox.read("citations/split.csv");
    let train: Vec<&str> = split.lines().filter_map(|line| line.strip_suffix(",train")).collect();
    let labels = sandbox.read("citations/labels.csv");
    let is_kept = |line: &&str| {
        let id = line.split(',').next().unwrap();
        id == "id" || train.contains(&id)
    };
    let labels: Vec<&str> = labels.lines().filter(is_kept).collect();
    sandbox.write("citations/labels.csv", &(labels.join("\n") + "\n"));
    for file in ["split.csv", "gfgcn-manifest.json"] {
        std::fs::remove_file(sandbox.path(&format!("citations/{file}"))).unwrap();
    }
    sandbox.communities("tables", 40);
    for data in DATASETS {
        sandbox.ok(&format!("fit {data} --depth 4 -o {data}.model"));
        sandbox.ok(&format!("fit {data} --depth 4 --kernel rbf -o {data}-rbf.model"));
    }
    sandbox
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Done,
    Estimate,
    LastResort,
    NotStarted,
}

/// Under each of some limits, and at last under one that must be enough on a machine with caches of any size.
#[expect(clippy::print_stderr, reason = "numbers for whoever runs it by hand")]
fn sweep(megabytes: &[usize], threads: &[usize]) {
    let sandbox = prepared();
    let mut ends: BTreeMap<End, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for command in COMMANDS {
        for data in DATASETS {
            for threads in threads {
                let job = command.replace("DATA", data).replace("OUT", "out");
                let job = format!("{job} --threads {threads}");
                let mut line = String::new();
                let mut enough = None;
                let enough_anywhere = 800 + for_products(*threads);
                for limit in megabytes.iter().chain([&enough_anywhere]) {
                    let run = run_after(
                        &sandbox,
                        &format!("ulimit -c 0; ulimit -v {}", limit * 1024),
                        &job,
                    );
                    let end = match run.status {
                        Some(0) => End::Done,
                        Some(4) if run.stderr.contains("MiB of memory, but only") => End::Estimate,
                        Some(4) if run.stderr.contains("memory") => End::LastResort,
                        // The system's loader, before any of the program is there.
                        Some(127) | None if run.stderr.contains("shared object") => End::NotStarted,
                        _ => {
                            failures.push(format!("{limit} MB: {job}: {run:?}"));
                            continue;
                        }
                    };
                    *ends.entry(end).or_default() += 1;
                    line.push(match end {
                        End::Done => '.',
                        End::Estimate => 'e',
                        End::LastResort => 'r',
                        End::NotStarted => '-',
                    });
                    if end == End::Done {
                        enough = enough.or(Some(*limit));
                    } else if let Some(enough) = enough {
                        failures.push(format!(
                            "{enough} MB was enough, {limit} MB not: {job}: {run:?}"
                        ));
                    }
                }
                eprintln!("{line}  {job}");
                if enough.is_none() {
                    failures.push(format!("never enough: {job}"));
                }
            }
        }
    }
    eprintln!("{ends:?}");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn any_limit_is_enough_or_refused() {
    sweep(&[60, 120, 180, 260, 400], &[2]);
}

#[test]
#[ignore = "takes long; part of make test-full"]
fn any_limit_from_40_to_800_megabytes_is_enough_or_refused() {
    sweep(&(40..800).step_by(20).collect::<Vec<_>>(), &[1, 2]);
}

/// An id column that is used as labels.
#[test]
fn as_many_classes_as_nodes_are_asked_about() {
    let sandbox = Sandbox::new();
    let rows = |row: &dyn Fn(usize) -> String| (0..12_000).map(row).collect::<String>();
    sandbox.write("x/edges.csv", &rows(&|k| format!("{k},{}\n", (k + 1) % 12_000)));
    sandbox.write("x/features.csv", &rows(&|k| format!("{k},{},{}\n", k % 7, k % 11)));
    sandbox.write("x/labels.csv", &rows(&|k| format!("{k},paper-{k}\n")));
    for job in ["fit x -o x.model", "fit x --depth 2 -o x.model", "tune x"] {
        let run = sandbox.run(job);
        assert_eq!(run.status, Some(3), "{run:?}");
        assert!(
            run.stderr.contains("12000 different ones") && run.stderr.contains("ids"),
            "{run:?}"
        );
        assert!(run.stderr.len() < 1000, "{} bytes of messages", run.stderr.len());
    }
    let run = sandbox.run("evaluate x");
    assert_eq!(run.status, Some(3), "{run:?}");
    // Two nodes each: an answer, or a refusal with the estimate.
    sandbox.write("x/labels.csv", &rows(&|k| format!("{k},paper-{}\n", k / 2)));
    let run = run_after(&sandbox, "ulimit -v 2000000", "fit x --depth 2 -o x.model");
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("training needs about"), "{run:?}");
    let run = run_after(&sandbox, "ulimit -v 2000000", "evaluate x --ratio 1:0:1 --depths 2");
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("the evaluation needs about"), "{run:?}");
}
