//! Progress: a bar on a terminal, for what takes longer than a second; a line now and then elsewhere.

use crate::interrupt;
use crate::output::{Output, seconds};
use gfgcn::context::{self, Context, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(100);
/// Where there is no terminal, a line tells this often that the work goes on.
const LINES: Duration = Duration::from_secs(10);

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
    progress: Arc<Progress>,
    output: Output,
    start: Instant,
}

impl Observer for Lines {
    fn begin(&self, what: &str, steps: u64) {
        self.progress.begin(what, steps);
        self.output.note(format!("[{}] {what}", seconds(self.start.elapsed())));
    }

    fn advance(&self, steps: u64) {
        self.progress.advance(steps);
    }
}

/// Runs work under a context that Ctrl-C cancels, while its progress is shown.
pub(crate) fn show<T>(
    output: &Output,
    message: &'static str,
    unit: Unit,
    work: impl FnOnce(&Context) -> T,
) -> T {
    let progress = Arc::new(Progress::new(message));
    output.log(message);
    let done = follow(output, unit, &progress, progress.clone(), work);
    output.log(format!("{message}: done"));
    done
}

/// As [`show`], for long work in many parts: without a terminal there is a line for each.
pub(crate) fn show_parts<T>(
    output: &Output,
    message: &'static str,
    work: impl FnOnce(&Context) -> T,
) -> T {
    let progress = Arc::new(Progress::new(message));
    if output.shows_progress() {
        return follow(output, Unit::Steps, &progress, progress.clone(), work);
    }
    let start = Instant::now();
    let lines = Lines { progress: progress.clone(), output: *output, start };
    follow(output, Unit::Steps, &progress, Arc::new(lines), work)
}

/// Runs work that tells an observer how far it is, while another thread shows it.
fn follow<T>(
    output: &Output,
    unit: Unit,
    progress: &Progress,
    observer: Arc<dyn Observer>,
    work: impl FnOnce(&Context) -> T,
) -> T {
    let context = interrupt::context().with_progress(context::Progress::told(observer));
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let show = || match output.shows_progress() {
            true => watch(progress, &finished, unit),
            false => tell(progress, &finished, unit, LINES, |line| output.note(line)),
        };
        // Where there is no thread to be had, the work goes on in silence.
        let watcher = thread::Builder::new().spawn_scoped(scope, show).ok();
        let _end =
            End { finished: &finished, watcher: watcher.as_ref().map(|w| w.thread().clone()) };
        work(&context)
    })
}

/// Tells whoever watches that the work has ended, even if it panicked: the scope waits for them.
struct End<'a> {
    finished: &'a AtomicBool,
    watcher: Option<thread::Thread>,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.finished.store(true, Ordering::Release);
        if let Some(watcher) = &self.watcher {
            watcher.unpark();
        }
    }
}

/// Says in a line now and then how far the work is.
fn tell(
    progress: &Progress,
    finished: &AtomicBool,
    unit: Unit,
    every: Duration,
    say: impl Fn(String),
) {
    let start = Instant::now();
    let mut next = every;
    while !finished.load(Ordering::Acquire) {
        thread::park_timeout(next.saturating_sub(start.elapsed()));
        if start.elapsed() < next || finished.load(Ordering::Acquire) {
            continue;
        }
        next += every;
        let (done, total) =
            (progress.done.load(Ordering::Relaxed), progress.total.load(Ordering::Relaxed));
        let message = progress.message.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let far = match unit {
            _ if total == 0 => String::new(),
            Unit::Time => String::new(),
            Unit::Steps => format!(", {done} of {total}{}", left(start.elapsed(), done, total)),
            Unit::Bytes => format!(
                ", {} of {} MB{}",
                done / 1_000_000,
                total / 1_000_000,
                left(start.elapsed(), done, total)
            ),
        };
        say(format!("[{}] {message}{far}", seconds(start.elapsed())));
    }
}

/// How long the rest will take at this pace.
fn left(elapsed: Duration, done: u64, total: u64) -> String {
    if done == 0 || done >= total {
        return String::new();
    }
    let rest = elapsed.mul_f64((total - done) as f64 / done as f64);
    format!(", about {} left", seconds(rest))
}

fn watch(progress: &Progress, finished: &AtomicBool, unit: Unit) {
    let start = Instant::now();
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let template = match unit {
        Unit::Steps => "{msg} {wide_bar} {pos}/{len}{left}",
        Unit::Time => "{spinner} {msg} for {elapsed}",
        Unit::Bytes => "{msg} {wide_bar} {bytes}/{total_bytes} ({bytes_per_sec}){left}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    bar.set_style(style.with_key("left", |state: &ProgressState, out: &mut dyn fmt::Write| {
        // Before the first step is done, nothing is known.
        if state.pos() > 0 {
            let _ = write!(out, ", {} left", seconds(state.eta()));
        }
    }));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Work that lasts until three lines have come.
    #[test]
    fn without_a_terminal_lines_say_that_the_work_goes_on() {
        let (progress, finished) = (Progress::new("searching"), AtomicBool::new(false));
        progress.begin("searching", 60);
        progress.advance(31);
        let said = Mutex::new(Vec::new());
        tell(&progress, &finished, Unit::Steps, Duration::from_millis(5), |line| {
            let mut said = said.lock().unwrap();
            said.push(line);
            finished.store(said.len() == 3, Ordering::Release);
        });
        let said = said.into_inner().unwrap();
        assert_eq!(said.len(), 3);
        assert!(said.iter().all(|line| line.contains("] searching, 31 of 60, about")), "{said:?}");
    }
}
