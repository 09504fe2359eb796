//! When the machine, the shell or the user stands in the way.

use crate::sandbox::{PROGRAM, Run, Sandbox};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs the program in a shell that first does something to its circumstances.
fn run_after(sandbox: &Sandbox, preparation: &str, arguments: &str) -> Run {
    let script = format!("{preparation}; exec \"$0\" {arguments}");
    sandbox.command("sh").args(["-c", &script, PROGRAM]).output().unwrap().into()
}

#[expect(clippy::print_stderr, reason = "a test that did not test anything says so")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

#[test]
fn a_closed_standard_output_is_no_error() {
    let sandbox = Sandbox::new();
    for arguments in ["data list", "data info cora --json", "evaluate cora --splits 1 --depths 2"] {
        let mut command = sandbox.gfgcn(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::from(child.wait_with_output().unwrap());
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

#[test]
fn an_interrupt_ends_the_program_at_once() {
    let sandbox = Sandbox::new();
    let jobs = [
        "evaluate pubmed --depths 10000",
        "fit pubmed --depth 10000 -o m.model",
        "data synth --nodes 1000000 --edges 100000000 --classes 9 --features 999 -o x.npz",
    ];
    for arguments in jobs {
        let mut command = sandbox.gfgcn(arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        let start = Instant::now();
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "{arguments} ended by itself");
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.status, Some(130), "{arguments}: {run:?}");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert!(run.stdout.is_empty() && !run.stderr.contains("panic"), "{run:?}");
        assert!(sandbox.snapshot().is_empty(), "{arguments}");
    }
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
    sandbox.ok("fit cora -o cora.model");
    let jobs = [
        ("fit cora -o", "out.model"),
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
    let run = run_after(&sandbox, "ulimit -v 100000", "evaluate pubmed --threads 2");
    assert_eq!(run.status, Some(4), "{run:?}");
    for part in ["the evaluation needs about", "MiB are available", "--threads"] {
        assert!(run.stderr.contains(part), "{part:?} is missing in {run:?}");
    }
    let job = "data synth -o x.npz --nodes 2000000000 --edges 5 --classes 2 --features 1";
    let run = run_after(&sandbox, "ulimit -v 1000000", job);
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("drawing the graph needs about"), "{run:?}");
    // Wherever the limit lies, an allocation that fails would be a crash.
    for kilobytes in [200_000, 400_000, 800_000] {
        for job in ["evaluate cora --splits 2 --depths 2", "fit cora -o m.model --force"] {
            let arguments = format!("{job} --threads 2");
            let run = run_after(&sandbox, &format!("ulimit -v {kilobytes}"), &arguments);
            assert!(matches!(run.status, Some(0 | 4)), "{kilobytes}: {run:?}");
            assert_eq!(run.status == Some(4), run.stderr.contains("of memory, but only"));
        }
    }
}

#[test]
fn a_killed_program_leaves_the_old_file_or_the_new_one() {
    let sandbox = Sandbox::new();
    sandbox.ok("data convert cora new.npz");
    let new = fs::read(sandbox.path("new.npz")).unwrap();
    for milliseconds in (0..120).step_by(6) {
        sandbox.write("out.npz", "old");
        let mut command = sandbox.gfgcn("data convert cora out.npz --force");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read(sandbox.path("out.npz")).unwrap();
        assert!(found == b"old" || found == new, "{} bytes, neither old nor new", found.len());
    }
}
