//! When the machine, the shell or the user stands in the way.

use crate::running::{Running, run_after};
use crate::sandbox::{PROGRAM, Run, Sandbox};
use std::fs;

#[expect(clippy::print_stderr, reason = "a test that did not test anything says so")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

#[test]
fn a_closed_standard_output_is_no_error() {
    let sandbox = Sandbox::new();
    for arguments in ["data list", "data info cora --json", "evaluate cora --splits 1 --depths 2"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = Run::from(sandbox.gfgcn(arguments).stdout(writer).output().unwrap());
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{arguments}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_one() {
    let run = run_after(&Sandbox::new(), "exec > /dev/full", "data list");
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("cannot write to standard output"), "{run:?}");
}

/// Work that would go on for much longer than a test waits for the end.
#[test]
fn an_interrupt_ends_the_program_at_once() {
    let (sandbox, inputs) = (Sandbox::new(), Sandbox::new());
    let train: String = (0..10_000).map(|id| format!("{id},train\n")).collect();
    inputs.write("split.csv", &format!("id,split\n{train}"));
    let split = inputs.path("split.csv").display().to_string();
    let interrupted = |arguments: &str, began: &dyn Fn(&Running) -> bool| {
        let mut running = Running::start(&sandbox, arguments);
        running.until("it begins", began);
        running.until_busy();
        let run = running.interrupt();
        assert_eq!(run.status, Some(130), "{arguments}: {run:?}");
        assert!(run.stdout.is_empty() && !run.stderr.contains("panic"), "{run:?}");
        assert!(sandbox.snapshot().is_empty(), "{arguments}");
    };
    let said_the_plan = |running: &Running| running.said().contains("of memory");
    let slow = "--kernel laplacian --explain";
    let evaluate = format!("evaluate pubmed --splits 1000 --models gfsgc --depths 2 {slow}");
    interrupted(&evaluate, &said_the_plan);
    interrupted(&format!("fit pubmed --split {split} {slow} -o m.model"), &said_the_plan);
    let synth = "data synth --nodes 1000000 --edges 100000000 --classes 9 --features 999 -o x.npz";
    interrupted(synth, &|_| sandbox.files().iter().any(|(_, file)| file.len() > 0));
}

#[test]
fn a_read_only_folder_is_noticed_before_computing() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("locked/old.csv", "old");
    let locked = sandbox.path("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(locked.join("probe"), "").is_ok() {
        skipped("the superuser may write anywhere");
        return;
    }
    for output in ["new.model", "old.csv --force"] {
        // Computing would take minutes.
        let run = sandbox.run(&format!("fit pubmed --depth 10000 -o locked/{output}"));
        assert_eq!(run.status, Some(4), "{run:?}");
        assert!(run.stderr.contains("cannot write: Permission denied"), "{run:?}");
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A disk that is full, as far as the program can tell: no file may grow beyond a block.
#[test]
fn a_full_disk_keeps_the_old_file() {
    let sandbox = Sandbox::new();
    sandbox.ok("fit cora --depth 8 -o cora.model");
    let jobs = [
        ("fit cora --depth 8 -o", "out.model"),
        ("predict cora.model cora -o", "out.csv"),
        ("predict cora.model cora -o", "out.parquet"),
        ("predict cora.model cora -o", "out.npz"),
        ("data convert cora", "cora.npz"),
        ("data synth --nodes 99 --edges 200 --classes 2 --features 9 -o", "synth.npz"),
    ];
    for (command, output) in jobs {
        for old in [None, Some("old")] {
            old.iter().for_each(|old| sandbox.write(output, old));
            let before = sandbox.snapshot();
            let arguments = format!("{command} {output} --force");
            let run = run_after(&sandbox, "trap '' XFSZ; ulimit -f 1", &arguments);
            assert_eq!(run.status, Some(4), "{arguments}: {run:?}");
            let message = format!("error: {output}: cannot write: File too large");
            assert!(run.stderr.starts_with(&message), "{run:?}");
            assert_eq!(run.stderr.matches("too large").count(), 1, "said once: {run:?}");
            assert_eq!(sandbox.snapshot(), before, "{arguments}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_job_that_does_not_fit_is_refused_with_the_estimate() {
    let sandbox = Sandbox::new();
    let run = run_after(&sandbox, "ulimit -v 300000", "evaluate pubmed --threads 2");
    assert_eq!(run.status, Some(4), "{run:?}");
    for part in ["the evaluation needs about", "MiB are available", "fewer threads"] {
        assert!(run.stderr.contains(part), "{part:?} is missing in {run:?}");
    }
    let job = "data synth -o x.npz --nodes 2000000000 --edges 5 --classes 2 --features 1";
    let run = run_after(&sandbox, "ulimit -v 1000000", job);
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("drawing the graph needs about"), "{run:?}");
    // Wherever the limit lies, an allocation that fails would be a crash.
    for kilobytes in [200_000, 400_000, 800_000] {
        for job in
            ["evaluate cora --splits 2 --depths 2", "fit cora --public-split -o m.model --force"]
        {
            let arguments = format!("{job} --threads 2");
            let run = run_after(&sandbox, &format!("ulimit -v {kilobytes}"), &arguments);
            assert!(matches!(run.status, Some(0 | 4)), "{kilobytes}: {run:?}");
            assert_eq!(run.status == Some(4), run.stderr.contains("of memory, but only"));
        }
    }
}

/// Wherever the limit lies, data that do not fit are refused as too large, not as bad, and never by a crash.
#[cfg(target_os = "linux")]
#[test]
fn data_that_do_not_fit_are_refused_with_the_estimate() {
    let sandbox = Sandbox::new();
    let shape = "--nodes 60000 --edges 300000 --classes 3 --features 100";
    sandbox.ok(&format!("data synth -o big.npz {shape}"));
    sandbox.ok("data convert big.npz tables");
    for data in ["big.npz", "tables"] {
        let mut ended = Vec::new();
        for kilobytes in (80_000..=400_000).step_by(40_000) {
            let preparation = format!("ulimit -v {kilobytes}");
            let run = run_after(&sandbox, &preparation, &format!("data info {data} --threads 1"));
            assert!(matches!(run.status, Some(0 | 4)), "{data}, {kilobytes}: {run:?}");
            let refused = run.stderr.contains("needs about") && run.stderr.contains("of memory");
            assert_eq!(run.status == Some(4), refused, "{data}, {kilobytes}: {run:?}");
            ended.push(run.status);
        }
        assert!(ended.contains(&Some(0)) && ended.contains(&Some(4)), "{data}: {ended:?}");
        assert!(ended.is_sorted_by_key(|status| status != &Some(4)), "{data}: {ended:?}");
    }
}

/// A line of 60 million commas, which is 61 KB when it is compressed.
#[cfg(target_os = "linux")]
#[test]
fn a_line_of_separators_is_refused_in_little_memory() {
    let sandbox = Sandbox::new();
    sandbox.communities("commas", 3);
    std::fs::remove_file(sandbox.path("commas/features.csv")).unwrap();
    let make = "head -c 60000000 /dev/zero | tr '\\0' , | gzip -9 > commas/features.csv.gz";
    assert!(sandbox.command("sh").args(["-c", make]).status().unwrap().success());
    assert!(fs::metadata(sandbox.path("commas/features.csv.gz")).unwrap().len() < 70_000);
    let run = run_after(&sandbox, "ulimit -v 700000", "data info commas");
    assert_eq!(run.status, Some(3), "{run:?}");
    for part in ["features.csv.gz: line 1", "more than 1048576 cells", "id,feature,value"] {
        assert!(run.stderr.contains(part), "{part:?} is missing in {run:?}");
    }
}

/// The system ends the program in the middle of writing, after so many blocks; a file that is there is replaced
/// as a whole, never written to.
#[test]
fn a_killed_program_leaves_the_old_file_or_the_new_one() {
    use std::os::unix::process::ExitStatusExt;
    let sandbox = Sandbox::new();
    let convert = "data convert cora out.npz --force";
    sandbox.write("out.npz", "old");
    fs::hard_link(sandbox.path("out.npz"), sandbox.path("link")).unwrap();
    sandbox.ok(convert);
    assert_eq!(sandbox.read("link"), "old");
    let blocks = fs::metadata(sandbox.path("out.npz")).unwrap().len() / 512;
    for blocks in [0, 1, blocks / 2, blocks - 1] {
        sandbox.write("out.npz", "old");
        let script = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" {convert}");
        let status = sandbox.command("sh").args(["-c", &script, PROGRAM]).output().unwrap().status;
        assert!(status.signal().is_some(), "after {blocks} blocks: {status}");
        assert_eq!(sandbox.read("out.npz"), "old", "after {blocks} blocks");
    }
}
