//! Progress on a terminal, for what takes longer than a second.

use crate::output::Output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
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
pub(crate) struct Progress {
    message: Mutex<Cow<'static, str>>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    fn new(message: &'static str) -> Self {
        Progress { message: Mutex::new(message.into()), done: 0.into(), total: 0.into() }
    }

    /// Goes on to other work, counted from 0.
    pub(crate) fn begin(&self, message: String, total: u64) {
        self.set(0);
        self.set_total(total);
        *self.message.lock().unwrap_or_else(PoisonError::into_inner) = message.into();
    }

    pub(crate) fn set_total(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs work while a bar follows its progress.
pub(crate) fn show<T>(
    output: &Output,
    message: &'static str,
    unit: Unit,
    work: impl FnOnce(&Progress) -> T,
) -> T {
    let progress = Progress::new(message);
    if !output.shows_progress() {
        return work(&progress);
    }
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&progress, &finished, unit));
        let result = work(&progress);
        finished.store(true, Ordering::Release);
        watcher.thread().unpark();
        result
    })
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
