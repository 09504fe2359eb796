//! Ctrl-C: stop at once, but never in the middle of writing a file.

use gfgcn::context::{Cancel, Context, Memory};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Raised by Ctrl-C; what takes long to write looks at it and cleans up after itself.
static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);
/// Whether something is under way that looks at [`CANCEL`].
static STOPS_BY_ITSELF: AtomicBool = AtomicBool::new(false);
/// Held while a file is written, which is short: the bytes are in memory already.
pub(crate) static WRITING: Mutex<()> = Mutex::new(());

/// What shells expect of a program that Ctrl-C ended.
pub(crate) const STATUS: i32 = 130;

pub(crate) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        CANCEL.cancel();
        if !STOPS_BY_ITSELF.load(Ordering::SeqCst) {
            let _written = writing();
            std::process::exit(STATUS);
        }
    })?;
    Ok(())
}

/// A context that Ctrl-C cancels. All work of the program shares one account of memory.
pub(crate) fn context() -> Context {
    static MEMORY: LazyLock<Memory> = LazyLock::new(Memory::of_machine);
    Context::default().with_cancel(CANCEL.clone()).with_memory(MEMORY.clone())
}

/// While this is held, Ctrl-C waits.
pub(crate) fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs work that looks at its context; Ctrl-C then exits after it has cleaned up.
pub(crate) fn cancellable<T>(work: impl FnOnce() -> T) -> T {
    STOPS_BY_ITSELF.store(true, Ordering::SeqCst);
    let result = work();
    STOPS_BY_ITSELF.store(false, Ordering::SeqCst);
    if CANCEL.is_cancelled() {
        std::process::exit(STATUS);
    }
    result
}
