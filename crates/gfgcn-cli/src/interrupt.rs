//! Ctrl-C, and being asked to end (SIGTERM, and SIGHUP unless it is ignored): stop at once and leave nothing behind.

use crate::device::placement;
use anyhow::Context as _;
use gfgcn::context::{Cancel, Context, Memory};
use gfgcn::files::discard_pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// Raised by Ctrl-C; long work looks at it and gives up.
static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);
/// Held while a result that took long to compute is written, which is short: the bytes are in memory already.
pub(crate) static WRITING: Mutex<()> = Mutex::new(());

/// What is asked to stop before anything is ended; set by what can finish in order.
static ORDERLY: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// What shells expect of a program that Ctrl-C ended.
pub(crate) const STATUS: i32 = 130;

pub(crate) fn install() -> anyhow::Result<()> {
    let hang_ups = HangUps::as_they_are();
    ctrlc::set_handler(|| {
        static ASKED: AtomicBool = AtomicBool::new(false);
        // Who asks a second time will not wait.
        if let Some(stop) = ORDERLY.get().filter(|_| !ASKED.swap(true, Ordering::SeqCst)) {
            return stop();
        }
        CANCEL.cancel();
        let _written = writing();
        crate::stdio::discard();
        let _ending = discard_pending();
        std::process::exit(STATUS);
    })
    .context("cannot wait for Ctrl-C, perhaps for want of memory")?;
    hang_ups.restore();
    Ok(())
}

/// Has Ctrl-C stop something that ends by itself when it is asked to; only a second one ends the program at once.
pub(crate) fn stop_orderly(stop: impl Fn() + Send + Sync + 'static) {
    let _ = ORDERLY.set(Box::new(stop));
}

/// The one account of memory.
static MEMORY: OnceLock<Memory> = OnceLock::new();

/// Has all work take no more than so many bytes; to be called before any.
pub(crate) fn limit_memory(bytes: u64) {
    let _ = MEMORY.set(Memory::limited(bytes));
}

/// A context that Ctrl-C cancels. All work of the program shares one account of memory and one place to run.
pub(crate) fn context() -> Context {
    Context::default()
        .with_cancel(CANCEL.clone())
        .with_memory(MEMORY.get_or_init(Memory::of_machine).clone())
        .with_placement(placement())
}

/// While this is held, Ctrl-C waits.
pub(crate) fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the end of the terminal's session is ignored, as `nohup` asks: it must stay so.
struct HangUps {
    ignored: bool,
}

#[cfg(unix)]
impl HangUps {
    fn as_they_are() -> Self {
        // SAFETY: a plain structure that the call fills in; nothing is changed.
        let ignored = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
        };
        HangUps { ignored }
    }

    fn restore(&self) {
        if self.ignored {
            // SAFETY: ignoring a signal has no handler that could do something wrong.
            unsafe {
                libc::signal(libc::SIGHUP, libc::SIG_IGN);
            }
        }
    }
}

#[cfg(not(unix))]
impl HangUps {
    fn as_they_are() -> Self {
        HangUps { ignored: false }
    }

    fn restore(&self) {
        let _ = self.ignored;
    }
}
