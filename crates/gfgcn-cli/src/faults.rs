//! Panics: kept quiet where a reader contains them, reported as a bug where they get out.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program; a panic that gets out becomes an error that asks to be reported.
pub(crate) fn contain(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    panic::set_hook(Box::new(|panic| {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic.to_string());
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(anyhow::anyhow!(
            "gfgcn has a bug, please report it: {}",
            last.unwrap_or_else(|| "no message".into())
        ))
    })
}
