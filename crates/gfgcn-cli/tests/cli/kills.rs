//! Commands that are ended at any moment: what they write is the old or the new as a whole, what is asked to end
//! leaves nothing behind, and the next run removes what a killed one left.

use crate::running::Running;
use crate::sandbox::Sandbox;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// A command, and what it writes, in a folder of its own.
struct Job {
    /// Run once in the folder above.
    prepare: &'static [&'static str],
    /// Makes what is replaced.
    old: &'static str,
    new: &'static str,
}

const JOBS: &[Job] = &[
    Job {
        prepare: &[],
        old: "data convert citeseer out/tables",
        new: "data convert cora out/tables --force",
    },
    Job {
        prepare: &[],
        old: "data convert citeseer out/tables --format tsv",
        new: "data convert cora out/tables --force --format parquet",
    },
    Job {
        prepare: &[],
        old: "paper --finished --only depth --out out/report",
        new: "paper --finished --only overall,gradients --out out/report",
    },
    Job {
        prepare: &[],
        old: "data synth -o out/x.npz --nodes 9 --edges 8 --classes 2 --features 2",
        new: "data synth -o out/x.npz --nodes 20000 --edges 90000 --classes 5 --features 32 --force",
    },
    Job {
        prepare: &[
            "fit cora --public-split --depth 2 -o a.model",
            "fit cora --public-split --depth 4 -o b.model",
        ],
        old: "predict a.model cora -o out/labels.csv",
        new: "predict b.model cora -o out/labels.csv --force",
    },
    Job {
        prepare: &[],
        old: "fit citeseer --public-split --depth 2 -o out/x.model",
        new: "fit cora --public-split --depth 2 -o out/x.model --force",
    },
    Job {
        prepare: &["data convert cora tables"],
        old: "fit tables --public-split --depth 2 --keep-training -o out/x.model",
        new: "update out/x.model tables --labels tables/labels.csv -o out/x.model --force",
    },
    Job {
        prepare: &[
            "data convert cora tables",
            "fit tables --public-split --depth 2 --keep-training -o m.model",
        ],
        old: "fit tables --public-split --depth 2 -o out/x.model",
        new: "forget m.model tables --edges tables/edges.csv -o out/x.model --force --receipt receipt.json",
    },
];

type Content = BTreeMap<PathBuf, Vec<u8>>;

/// Every file below a folder.
fn content(folder: &Path) -> Content {
    let mut found = Content::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(
                    path.strip_prefix(folder).unwrap().to_owned(),
                    fs::read(&path).unwrap(),
                );
            }
        }
    }
    found
}

fn put(content: &Content, folder: &Path) {
    if folder.exists() {
        fs::remove_dir_all(folder).unwrap();
    }
    fs::create_dir(folder).unwrap();
    for (path, bytes) in content {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// What is directly in a folder.
fn names(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A number between 0 and 1 that looks like chance.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

/// How often what was found afterwards.
#[derive(Debug, Default)]
struct Counts {
    old: usize,
    new: usize,
    leftovers: usize,
}

#[expect(clippy::print_stderr, reason = "numbers for whoever runs it by hand")]
fn run_job(job: &Job, moments: usize) {
    let sandbox = Sandbox::new();
    let out = sandbox.path("out");
    job.prepare.iter().for_each(|command| drop(sandbox.ok(command)));
    fs::create_dir(&out).unwrap();
    sandbox.ok(job.old);
    let old = content(&out);
    let places = names(&out);
    let start = Instant::now();
    sandbox.ok(job.new);
    let duration = start.elapsed();
    let new = content(&out);
    assert!(old != new && names(&out) == places);
    let mut chance = Chance(1);
    for signal in ["KILL", "TERM", "INT"] {
        let mut counts = Counts::default();
        for k in 0..moments {
            let what = format!("{}: {signal} number {k}", job.new);
            put(&old, &out);
            let running = Running::start(&sandbox, job.new);
            thread::sleep(duration.mul_f64(1.1 * chance.next()));
            let run = running.signal(signal);
            let found = content_of(&places, &out);
            assert!(found == old || found == new, "{what}: a mix, {:?}", found.keys());
            let leftovers = names(&out) != places;
            counts.leftovers += usize::from(leftovers);
            *(if found == old { &mut counts.old } else { &mut counts.new }) += 1;
            if signal == "KILL" {
                sandbox.ok(job.new);
                assert_eq!(names(&out), places, "{what}: still there after the next run");
                assert!(content(&out) == new, "{what}");
            } else {
                assert!(!leftovers, "{what}: {:?}", names(&out));
                // Before anything is set up the system ends it.
                assert!(matches!(run.status, None | Some(0 | 130)), "{what}: {run:?}");
            }
        }
        eprintln!("{}: {signal}: {counts:?} of {moments} in {duration:.1?}", job.new);
    }
}

/// What is in a folder at those places, temporary things beside them left out.
fn content_of(places: &BTreeSet<PathBuf>, folder: &Path) -> Content {
    let place = |path: &PathBuf| places.contains(&folder.join(path.components().next().unwrap()));
    content(folder).into_iter().filter(|(path, _)| place(path)).collect()
}

#[test]
fn what_is_written_is_old_or_new_whenever_it_is_ended() {
    JOBS.iter().for_each(|job| run_job(job, 10));
}

#[test]
#[ignore = "takes half an hour; part of make test-full"]
fn what_is_written_is_old_or_new_at_any_of_200_moments() {
    JOBS.iter().for_each(|job| run_job(job, 200));
}

/// A receipt and its model are two files; whichever model is there has its receipt, and no receipt is taken for one of another
/// model.
#[test]
fn a_model_has_its_receipt_whenever_forgetting_is_ended() {
    let sandbox = Sandbox::new();
    sandbox.ok("data convert cora tables");
    sandbox.ok("fit tables --public-split --depth 2 --keep-training -o m.model");
    let ids = |k: usize| {
        let labels = sandbox.read("tables/split.csv");
        let mut train = labels.lines().filter(|line| line.ends_with(",train"));
        train.nth(k).unwrap().split(',').next().unwrap().to_owned()
    };
    // Something was forgotten before, with a receipt of its own.
    sandbox.write("first.txt", &ids(0));
    sandbox.ok("forget m.model tables --labels-of first.txt -o m.model --force");
    let first = content(&sandbox.path("."));
    let first: Content =
        first.into_iter().filter(|(path, _)| path.to_string_lossy().contains("m.model")).collect();
    let job = "forget m.model tables --labels-of second.txt -o m.model --force --no-verify";
    sandbox.write("second.txt", &ids(1));
    let start = Instant::now();
    sandbox.ok(job);
    let duration = start.elapsed();
    let new = fs::read(sandbox.path("m.model")).unwrap();
    let old = &first[Path::new("m.model")];
    let mut chance = Chance(3);
    for k in 0..30 {
        for (path, bytes) in &first {
            fs::write(sandbox.path(path.to_str().unwrap()), bytes).unwrap();
        }
        let running = Running::start(&sandbox, job);
        // Most of the time goes by before anything is written.
        thread::sleep(duration.mul_f64(0.5 + 0.7 * chance.next()));
        running.kill();
        let model = fs::read(sandbox.path("m.model")).unwrap();
        let forgot = sandbox.json("inspect m.model")["forgot"].as_array().unwrap().len();
        match model == new {
            true => assert_eq!(forgot, 2, "number {k}"),
            false => assert!(model == *old && forgot == 1, "number {k}: {forgot}"),
        }
        // The next run sets everything right.
        if model != new {
            sandbox.ok(job);
            assert!(fs::read(sandbox.path("m.model")).unwrap() == new);
            assert_eq!(sandbox.json("inspect m.model")["forgot"].as_array().unwrap().len(), 2);
        }
    }
    // As if ended between the two: a receipt of a model that is not there says nothing about the one that is.
    fs::write(sandbox.path("m.model"), old).unwrap();
    let report = sandbox.json("inspect m.model");
    assert_eq!(report["forgot"].as_array().unwrap().len(), 1);
    assert_eq!(report["forgot"][0]["removed"]["labels_of"][0], ids(0));
    sandbox.ok("fit tables --public-split --depth 2 -o m.model --force");
    let run = sandbox.run("inspect m.model");
    assert!(run.stderr.contains("does not belong to this model"), "{run:?}");
}

/// Runs that are kept in the cache: each is there as a whole or not at all.
#[test]
fn a_cache_has_no_leftovers() {
    let sandbox = Sandbox::new();
    let job = "evaluate cora --models sgc --depths 2 --splits 12 --epochs 20 --threads 2";
    let mut chance = Chance(2);
    for signal in ["KILL", "TERM", "INT"] {
        for _ in 0..5 {
            let mut running = Running::start(&sandbox, job);
            let kept = sandbox.kept().len();
            running.until("a run is kept", |running| {
                running.is_over() || sandbox.kept().len() > kept || kept >= 12
            });
            thread::sleep(Duration::from_secs_f64(0.05 * chance.next()));
            running.signal(signal);
            if signal == "KILL" {
                sandbox.ok(job);
            }
            let files = sandbox.files();
            let runs =
                files.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "run"));
            assert_eq!(runs.count(), files.len(), "{signal}: {files:?}");
            sandbox.ok("cache clear");
        }
    }
}

/// A folder that was changed later is refused, with what to do about it; one without a manifest is read as it is.
#[test]
fn tables_that_do_not_belong_together_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.ok("data convert cora cora-tables");
    sandbox.ok("data convert citeseer mixed");
    sandbox.write("mixed/notes.txt", "mine");
    sandbox.ok("data info mixed");
    let edges = sandbox.read("cora-tables/edges.csv");
    sandbox.write("mixed/edges.csv", &edges);
    let run = sandbox.run("data info mixed");
    assert_eq!(run.status, Some(3), "{run:?}");
    let message = "mixed/edges.csv: is not the file that belongs to the others here";
    assert!(run.stderr.contains(message), "{run:?}");
    assert!(run.stderr.contains("delete gfgcn-manifest.json"), "{run:?}");
    // Written again as a whole; what is not gfgcn's stays.
    sandbox.ok("data convert cora mixed --force --format tsv");
    assert_eq!(sandbox.read("mixed/notes.txt"), "mine");
    assert!(!sandbox.path("mixed/edges.csv").exists());
    sandbox.ok("data info mixed");
    fs::remove_file(sandbox.path("mixed/split.tsv")).unwrap();
    assert!(sandbox.run("data info mixed").stderr.contains("mixed/split.tsv: is missing"));
    fs::remove_file(sandbox.path("mixed/gfgcn-manifest.json")).unwrap();
    sandbox.ok("data info mixed");
}
