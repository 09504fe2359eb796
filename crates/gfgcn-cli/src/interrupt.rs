//! Ctrl-C: stop at once, but never in the middle of writing a file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Set by Ctrl-C; what takes long to write looks at it and cleans up after itself.
pub(crate) static CANCELLED: AtomicBool = AtomicBool::new(false);
/// Whether something is under way that looks at [`CANCELLED`].
static STOPS_BY_ITSELF: AtomicBool = AtomicBool::new(false);
/// Held while a file is written, which is short: the bytes are in memory already.
pub(crate) static WRITING: Mutex<()> = Mutex::new(());

/// What shells expect of a program that Ctrl-C ended.
pub(crate) const STATUS: i32 = 130;

pub(crate) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        CANCELLED.store(true, Ordering::SeqCst);
        if !STOPS_BY_ITSELF.load(Ordering::SeqCst) {
            let _written = writing();
            std::process::exit(STATUS);
        }
    })?;
    Ok(())
}

/// While this is held, Ctrl-C waits.
pub(crate) fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs work that watches [`CANCELLED`]; Ctrl-C then exits after it has cleaned up.
pub(crate) fn cancellable<T>(work: impl FnOnce(&'static AtomicBool) -> T) -> T {
    STOPS_BY_ITSELF.store(true, Ordering::SeqCst);
    let result = work(&CANCELLED);
    STOPS_BY_ITSELF.store(false, Ordering::SeqCst);
    if CANCELLED.load(Ordering::SeqCst) {
        std::process::exit(STATUS);
    }
    result
}
