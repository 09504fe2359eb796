//! Progress on a terminal, for what takes longer than a second.

use crate::interrupt;
use crate::output::{Output, seconds};
use gfgcn::context::{self, Context, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(100);

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Steps,
    Bytes,
    /// Nothing: the work cannot say how far it is, only that it goes on.
    Time,
}

/// What a bar follows.
struct Progress {
    message: Mutex<Cow<'static, str>>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    fn new(message: &'static str) -> Self {
        Progress { message: Mutex::new(message.into()), done: 0.into(), total: 0.into() }
    }
}

impl Observer for Progress {
    fn begin(&self, what: &str, steps: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(steps, Ordering::Relaxed);
        *self.message.lock().unwrap_or_else(PoisonError::into_inner) = what.to_owned().into();
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}

/// Where there is no bar, long work in many parts says in lines what it is at.
struct Lines {
    output: Output,
    start: Instant,
}

impl Observer for Lines {
    fn begin(&self, what: &str, _: u64) {
        self.output.note(format!("[{}] {what}", seconds(self.start.elapsed())));
    }

    fn advance(&self, _: u64) {}
}

/// Runs work under a context that Ctrl-C cancels, while a bar follows its progress.
pub(crate) fn show<T>(
    output: &Output,
    message: &'static str,
    unit: Unit,
    work: impl FnOnce(&Context) -> T,
) -> T {
    if !output.shows_progress() {
        return work(&interrupt::context());
    }
    let progress = Arc::new(Progress::new(message));
    let context = interrupt::context().with_progress(context::Progress::told(progress.clone()));
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&progress, &finished, unit));
        let result = work(&context);
        finished.store(true, Ordering::Release);
        watcher.thread().unpark();
        result
    })
}

/// As [`show`], for long work in many parts: without a terminal there is a line for each.
pub(crate) fn show_parts<T>(
    output: &Output,
    message: &'static str,
    work: impl FnOnce(&Context) -> T,
) -> T {
    if output.shows_progress() {
        return show(output, message, Unit::Steps, work);
    }
    let lines = Arc::new(Lines { output: *output, start: Instant::now() });
    work(&interrupt::context().with_progress(context::Progress::told(lines)))
}

fn watch(progress: &Progress, finished: &AtomicBool, unit: Unit) {
    let start = Instant::now();
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let template = match unit {
        Unit::Steps => "{msg} {wide_bar} {pos}/{len} ({eta} left)",
        Unit::Time => "{spinner} {msg} for {elapsed}",
        Unit::Bytes => "{msg} {wide_bar} {bytes}/{total_bytes} ({bytes_per_sec}, {eta} left)",
    };
    bar.set_style(ProgressStyle::with_template(template).expect("the template is well formed"));
    let mut shown = false;
    while !finished.load(Ordering::Acquire) {
        thread::park_timeout(if shown { REFRESH } else { PATIENCE });
        if start.elapsed() < PATIENCE {
            continue;
        }
        if !shown {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            shown = true;
        }
        bar.set_message(progress.message.lock().unwrap_or_else(PoisonError::into_inner).clone());
        bar.set_length(progress.total.load(Ordering::Relaxed));
        bar.set_position(progress.done.load(Ordering::Relaxed));
        bar.tick();
    }
    bar.finish_and_clear();
}
