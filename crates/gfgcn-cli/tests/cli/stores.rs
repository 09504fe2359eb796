//! Stores on the command line, and work that does not fit into memory.

use crate::running::{Running, run_after};
use crate::sandbox::Sandbox;
use std::fs;

/// A store whose features are some slabs wide.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    let shape = "--nodes 12000 --edges 60000 --classes 6 --features 300";
    sandbox.ok(&format!("data synth -o x.store {shape} --split 1:1:8"));
    sandbox
}

const FIT: &str = "fit x.store --public-split --model gfsgc --depth 4";

#[test]
fn every_command_takes_a_store_and_says_the_same_as_of_the_data() {
    let sandbox = Sandbox::new();
    sandbox.ok("data convert cora cora.store");
    sandbox.communities("tables", 40);
    sandbox.ok("data convert tables tables-store");
    for (data, store) in [("cora", "cora.store"), ("tables", "tables-store")] {
        for (command, output) in [
            ("fit DATA --depth 4 -o OUT", "a.model"),
            ("fit DATA -o OUT", "b.model"),
            ("predict a.model DATA -o OUT", "a.csv"),
            ("audit DATA --depth 4 -o OUT", "audit.csv"),
        ] {
            let bytes = |data: &str| {
                let command = command.replace("DATA", data).replace("OUT", output);
                sandbox.ok(&format!("{command} --force"));
                let bytes = fs::read(sandbox.path(output)).unwrap();
                // The dataset's name is a part of a model.
                if output.ends_with("model") { Vec::new() } else { bytes }
            };
            assert!(bytes(data) == bytes(store), "{command} of {data}");
        }
        let scores = |data: &str| {
            let command = format!("evaluate {data} --splits 2 --depths 2,4 --ratio 1:1:1");
            let report = sandbox.json(&command);
            let results = report["results"].as_array().unwrap().iter();
            results.map(|result| result["scores"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(scores(data), scores(store), "{data}");
        let info = |data: &str| sandbox.json(&format!("data info {data}"))["fingerprint"].clone();
        assert_eq!(info(data), info(store), "{data}");
    }
    let verified = sandbox.run("data info cora.store --verify");
    assert_eq!(verified.status, Some(0), "{verified:?}");
    assert!(verified.stderr.contains("as they were written"), "{verified:?}");
    let refused = sandbox.run("data info cora --verify");
    assert!(refused.status == Some(3) && refused.stderr.contains("for stores"), "{refused:?}");
    let refused = sandbox.run("data convert cora cora.store");
    assert!(refused.status == Some(3) && refused.stderr.contains("--force"), "{refused:?}");
    let refused = sandbox.run("data convert cora.store cora.store --force");
    assert!(
        refused.status == Some(3) && refused.stderr.contains("is the input too"),
        "{refused:?}"
    );
}

#[test]
fn any_limit_of_memory_gives_the_same_bytes_or_a_refusal() {
    let sandbox = prepared();
    sandbox.ok(&format!("{FIT} -o whole.model"));
    sandbox.ok("predict whole.model x.store -o whole.csv");
    sandbox.ok("predict whole.model x.store -o whole.npz");
    let read = |name: &str| fs::read(sandbox.path(name)).unwrap();
    let mut done = 0;
    for memory in ["1KB", "2MB", "4MB", "6MB", "8MB", "12MB", "16MB", "32MB", "64MB", "1GiB"] {
        let run = sandbox.run(&format!("{FIT} --memory {memory} -o part.model --force"));
        match run.status {
            Some(0) => {
                done += 1;
                assert!(read("part.model") == read("whole.model"), "{memory}");
                assert!(!sandbox.path("part.model.work").exists());
            }
            Some(4) if done == 0 => {
                assert!(run.stderr.contains("MiB of memory, but only"), "{run:?}")
            }
            _ => panic!("{memory}: {run:?}"),
        }
    }
    assert!(done >= 4, "only {done} limits are enough");
    let mut done = 0;
    for memory in ["1KB", "2MB", "4MB", "8MB", "16MB", "64MB", "1GB"] {
        let outputs = ["part.csv", "part.npz"];
        let runs = outputs.map(|output| {
            sandbox
                .run(&format!("predict whole.model x.store --memory {memory} -o {output} --force"))
        });
        assert_eq!(runs[0].status, runs[1].status);
        match runs[0].status {
            Some(0) => {
                done += 1;
                assert!(read("part.csv") == read("whole.csv"), "{memory}");
                assert!(read("part.npz") == read("whole.npz"), "{memory}");
                assert!(!sandbox.path("part.csv.work").exists());
            }
            Some(4) if done == 0 => {}
            _ => panic!("{memory}: {runs:?}"),
        }
    }
    assert!(done >= 3, "only {done} limits are enough");
    for command in ["evaluate x.store --splits 2 --depths 2", "tune x.store --public-split"] {
        assert_eq!(sandbox.run(&format!("{command} --memory 4GB")).status, Some(0));
        let refused = sandbox.run(&format!("{command} --memory 1MB"));
        assert!(refused.status == Some(4) && refused.stderr.contains("MiB"), "{refused:?}");
    }
    for size in ["0", "-1GB", "much", "1e30GB"] {
        assert_eq!(
            sandbox.run(&format!("{FIT} -o y.model --memory={size}")).status,
            Some(2),
            "{size}"
        );
    }
}

/// More classes than features: filtered features are kept in place of scores, and without those, next to nothing.
#[test]
fn many_classes_are_predicted_in_little_memory() {
    let sandbox = Sandbox::new();
    let shape = "--nodes 12000 --edges 60000 --classes 60 --features 20";
    sandbox.ok(&format!("data synth -o x.store {shape} --split 1:1:8"));
    sandbox.ok(&format!("{FIT} -o x.model"));
    sandbox.ok("predict x.model x.store --public-split -o whole.csv");
    let labels = |name: &str| -> Vec<String> {
        let table = sandbox.read(name);
        table.lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",")).collect()
    };
    // Scores alone take 5.8 MB.
    let limit = "--memory 5MB --threads 1";
    let refused = sandbox.run(&format!("predict x.model x.store {limit} -o part.csv"));
    assert_eq!(refused.status, Some(4), "{refused:?}");
    let only = sandbox.ok(&format!("predict x.model x.store {limit} --labels-only -o part.csv"));
    assert!(only.contains("12000 nodes"), "{only}");
    assert_eq!(sandbox.read("part.csv").lines().collect::<Vec<_>>(), labels("whole.csv"));
    assert!(!sandbox.path("part.csv.work").exists());
    // An evaluation on the same split scores the same labels.
    let report = sandbox.json("predict x.model x.store --public-split -o again.csv");
    let evaluated = "evaluate x.store --public-split --all-nodes --models gfsgc --depths 4";
    let evaluated = sandbox.json(evaluated);
    let accuracy = &evaluated["results"][0]["accuracy"]["mean"];
    assert_eq!(report["agreement"]["accuracy"], *accuracy, "{evaluated}");
}

/// The files of a work folder that are finished.
fn finished(sandbox: &Sandbox) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(sandbox.path("part.model.work")).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut paths: Vec<_> =
        paths.filter(|path| !path.to_string_lossy().ends_with("partial")).collect();
    paths.sort();
    paths
}

#[test]
fn finished_slabs_are_not_computed_again() {
    let sandbox = prepared();
    let fit = "fit x.store --public-split --model gfsgc --depth 40 --memory 12MB --threads 1 -o part.model --force";
    sandbox.ok(&fit.replace("--memory 12MB", ""));
    let whole = fs::read(sandbox.path("part.model")).unwrap();
    let killed = || {
        let mut running = Running::start(&sandbox, fit);
        running.until("a slab is finished", |_| !finished(&sandbox).is_empty());
        running.signal("KILL");
        finished(&sandbox)
    };
    // Killed and started again: the same bytes.
    assert!(!killed().is_empty());
    sandbox.ok(fit);
    assert!(fs::read(sandbox.path("part.model")).unwrap() == whole);
    assert!(!sandbox.path("part.model.work").exists());
    // That a slab is taken as it is found shows where it is another one.
    let slab = killed().remove(0);
    let mut bytes = fs::read(&slab).unwrap();
    bytes.chunks_exact_mut(4).for_each(|value| value.copy_from_slice(&1f32.to_le_bytes()));
    fs::write(&slab, &bytes).unwrap();
    sandbox.ok(fit);
    assert!(fs::read(sandbox.path("part.model")).unwrap() != whole);
    // Of other data, or with another filter, it is none of these.
    let slab = killed().remove(0);
    fs::write(&slab, &bytes).unwrap();
    let deeper = fit.replace("--depth 40", "--depth 41");
    sandbox.ok(&deeper);
    let found = fs::read(sandbox.path("part.model")).unwrap();
    sandbox.ok(&deeper.replace("--memory 12MB", ""));
    assert!(fs::read(sandbox.path("part.model")).unwrap() == found);
}

/// A disk that is full, as far as the program can tell: no file may grow beyond some blocks.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_the_old_store_and_the_finished_slabs() {
    let sandbox = prepared();
    let before = sandbox.snapshot();
    let full = "trap '' XFSZ; ulimit -f 600";
    for command in [
        "data convert x.store y.store",
        "data convert cora x.store --force",
        "data synth -o x.store --force --nodes 30000 --edges 90000 --classes 3 --features 40",
    ] {
        let full = if command.contains("cora") { "trap '' XFSZ; ulimit -f 100" } else { full };
        let run = run_after(&sandbox, full, command);
        assert_eq!(run.status, Some(4), "{command}: {run:?}");
        assert!(run.stderr.contains("cannot write"), "{command}: {run:?}");
        assert_eq!(sandbox.snapshot(), before, "{command}");
    }
    let run = run_after(
        &sandbox,
        "trap '' XFSZ; ulimit -f 20",
        &format!("{FIT} --memory 12MB -o part.model"),
    );
    assert!(run.status == Some(4) && run.stderr.contains("part.model"), "{run:?}");
    assert!(!sandbox.path("part.model").exists());
    sandbox.ok(&format!("{FIT} --memory 12MB -o part.model"));
}

#[test]
fn changed_and_foreign_stores_are_refused_by_every_command() {
    let sandbox = prepared();
    sandbox.ok(&format!("{FIT} -o x.model"));
    let meta = sandbox.read("x.store/meta.json");
    let commands = [
        FIT.to_owned() + " -o y.model",
        "predict x.model x.store -o y.csv".into(),
        "data info x.store".into(),
    ];
    let refused = |part: &str| {
        for command in &commands {
            let run = sandbox.run(command);
            assert!(run.status == Some(3) && run.stderr.contains(part), "{command}: {run:?}");
            assert!(!sandbox.path("y.model").exists() && !sandbox.path("y.csv").exists());
        }
    };
    sandbox.write("x.store/meta.json", &meta.replace("\"version\": 1", "\"version\": 9"));
    refused("version 9");
    sandbox.write("x.store/meta.json", &meta);
    for file in fs::read_dir(sandbox.path("x.store/features")).unwrap() {
        let path = file.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        bytes[5000] ^= 4;
        fs::write(&path, &bytes).unwrap();
        refused("has changed since the store was made");
        bytes[5000] ^= 4;
        fs::write(&path, &bytes).unwrap();
    }
    fs::remove_file(sandbox.path("x.store/labels.npy")).unwrap();
    refused("labels.npy: is missing");
}

#[test]
fn a_work_folder_that_is_named_is_used_and_leaves_nothing() {
    let sandbox = prepared();
    let read = |name: &str| fs::read(sandbox.path(name)).unwrap();
    sandbox.ok(&format!("{FIT} -o whole.model"));
    sandbox.ok("predict whole.model x.store -o whole.csv");
    // Somebody else's files in it are left alone.
    fs::create_dir(sandbox.path("work")).unwrap();
    sandbox.write("work/notes", "mine");
    sandbox.ok(&format!("{FIT} --work work -o part.model"));
    sandbox.ok("predict whole.model x.store --work work -o part.csv");
    assert!(read("part.model") == read("whole.model") && read("part.csv") == read("whole.csv"));
    let evaluate = "evaluate x.store --models gfsgc,gfssgc --depths 2,4 --splits 3 --calibration";
    sandbox.ok(&format!("{evaluate} -o whole-scores.csv"));
    sandbox.ok(&format!("{evaluate} -o scores.csv --work work"));
    assert!(read("scores.csv") == read("whole-scores.csv"));
    assert_eq!(fs::read_dir(sandbox.path("work")).unwrap().count(), 1);
    assert_eq!(sandbox.read("work/notes"), "mine");
    for (command, why) in [
        ("fit x.store --public-split -o y.model", "a model is described"),
        ("fit x.store --depth 2 --keep-training -o y.model", "keeps no training"),
        ("evaluate x.store --models auto --splits 2", "in closed form"),
    ] {
        let run = sandbox.run(&format!("{command} --work work"));
        assert!(run.status == Some(2) && run.stderr.contains(why), "{command}: {run:?}");
    }
}
