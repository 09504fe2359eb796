//! The program while it runs: what it has said and done so far, and signals in the middle of its work.

use crate::sandbox::{PROGRAM, Run, Sandbox};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing takes as long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(300);
/// Nor does ending, which is nearly no work; what is interrupted in tests would go on for longer.
const PATIENCE_WITH_AN_END: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Runs the program in a shell that first does something to its circumstances.
pub(crate) fn run_after(sandbox: &Sandbox, preparation: &str, arguments: &str) -> Run {
    let script = format!("{preparation}; exec \"$0\" {arguments}");
    sandbox.command("sh").args(["-c", &script, PROGRAM]).output().unwrap().into()
}

/// Ended when the test is over, however that ends.
pub(crate) struct Running {
    arguments: String,
    child: Child,
    // Files, because nobody has to empty them while the program runs.
    stdout: File,
    stderr: File,
}

impl Running {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &str) -> Self {
        let [stdout, stderr] = [(); 2].map(|()| tempfile::tempfile().unwrap());
        let child = sandbox
            .gfgcn(arguments)
            .stdin(Stdio::null())
            .stdout(stdout.try_clone().unwrap())
            .stderr(stderr.try_clone().unwrap())
            .spawn()
            .unwrap();
        Running { arguments: arguments.to_owned(), child, stdout, stderr }
    }

    /// Waits for something to happen while the program runs.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, happened: impl Fn(&Running) -> bool) {
        let start = Instant::now();
        while !happened(self) {
            if self.child.try_wait().unwrap().is_some() {
                let run = self.ended(PATIENCE);
                panic!("gfgcn {} ended before {what}: {run:?}", self.arguments);
            }
            assert!(start.elapsed() < PATIENCE, "gfgcn {}: never {what}", self.arguments);
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Waits until the program has computed for a while from now on.
    #[track_caller]
    pub(crate) fn until_busy(&mut self) {
        if let Some(before) = self.ticks() {
            // A tick is a hundredth of a second of processor time.
            self.until("it is busy", |running| running.ticks() >= Some(before + 50));
        }
    }

    /// Processor time so far, where the system tells it.
    fn ticks(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name in brackets may contain anything; of what follows it, the 12th and 13th field count.
        let mut fields = status.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<u64>().ok();
        Some(next()? + next()?)
    }

    /// What it has written to standard error so far.
    pub(crate) fn said(&self) -> String {
        content(&self.stderr)
    }

    /// Ctrl-C; it must end by itself, and how it did.
    #[track_caller]
    pub(crate) fn interrupt(mut self) -> Run {
        assert!(self.send("INT"), "gfgcn {} ended by itself", self.arguments);
        self.ended(PATIENCE_WITH_AN_END)
    }

    /// A signal by its name, whether it has ended by itself or not; and how it ended.
    #[track_caller]
    pub(crate) fn signal(mut self, name: &str) -> Run {
        self.send(name);
        self.ended(PATIENCE_WITH_AN_END)
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        status.is_ok_and(|status| status.contains(") Z "))
    }

    fn send(&self, signal: &str) -> bool {
        let process = self.child.id().to_string();
        Command::new("kill").args([&format!("-{signal}"), &process]).status().unwrap().success()
    }

    /// Ends it without asking.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// How it ends by itself.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Run {
        self.ended(PATIENCE)
    }

    #[track_caller]
    fn ended(&mut self, patience: Duration) -> Run {
        let start = Instant::now();
        let status: ExitStatus = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < patience, "gfgcn {} does not end", self.arguments);
            thread::sleep(LOOK_AGAIN);
        };
        Run { status: status.code(), stdout: content(&self.stdout), stderr: self.said() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All of a file, wherever its writer is.
fn content(file: &File) -> String {
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    String::from_utf8(bytes).expect("the program prints UTF-8")
}

/// Megabytes of address space that matrix products set aside on this machine: twice its last-level caches for each of so many
/// threads, and for the one that calls.
pub(crate) fn for_products(threads: usize) -> usize {
    let processors = std::fs::read_dir("/sys/devices/system/cpu").into_iter().flatten().flatten();
    let caches: std::collections::BTreeMap<String, usize> = processors
        .filter_map(|processor| {
            let read =
                |file| std::fs::read_to_string(processor.path().join("cache/index3").join(file));
            let kilobytes = read("size").ok()?.trim().strip_suffix('K')?.parse().ok()?;
            Some((read("shared_cpu_list").ok()?, kilobytes))
        })
        .collect();
    2 * caches.values().sum::<usize>() * (threads + 1) / 1024
}
