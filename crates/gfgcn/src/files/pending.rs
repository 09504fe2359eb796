//! What is on its way to its place at this moment, so that a program that has to end can leave nothing behind.
//!
//! A signal or an allocation that fails ends the process from outside of whatever is writing, and nothing is dropped
//! then. So temporary files and folders are listed here, in the one list of the process, for as long as they exist.
//! Making them and moving them to their places holds the list: whoever has taken it sees no step half done.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

type List = MutexGuard<'static, Vec<PathBuf>>;

/// A temporary file or folder in the list, until it is dropped.
#[derive(Debug)]
pub(super) struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        let mut list = hold();
        if let Some(position) = list.iter().position(|path| *path == self.0) {
            list.swap_remove(position);
        }
    }
}

/// Makes something temporary and lists it, in one step.
pub(super) fn made<T, E>(
    make: impl FnOnce() -> Result<T, E>,
    path: impl FnOnce(&T) -> &Path,
) -> Result<(T, Entry), E> {
    let mut list = hold();
    let made = make()?;
    let path = path(&made).to_owned();
    list.push(path.clone());
    Ok((made, Entry(path)))
}

/// While this is held, nobody discards what is pending.
pub(super) fn hold() -> List {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held to the end of the process: nothing temporary is made any more, and nothing put in its place.
#[must_use = "to be held until the process ends"]
#[derive(Debug)]
pub struct Ending(#[expect(dead_code, reason = "held, not read")] List);

/// Removes every temporary file and folder of this process, because it is about to end. Waits for a file that is just
/// being renamed to its place.
pub fn discard_pending() -> Ending {
    discard(hold())
}

/// As [`discard_pending`], for a thread that may be in the middle of making something itself: `None` where the
/// list cannot be had.
pub fn try_discard_pending() -> Option<Ending> {
    match PENDING.try_lock() {
        Ok(list) => Some(discard(list)),
        Err(TryLockError::Poisoned(list)) => Some(discard(list.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn discard(list: List) -> Ending {
    list.iter().for_each(|path| remove(path));
    Ending(list)
}

/// Removes a file or a folder with all that is in it, if it is there.
pub(super) fn remove(path: &Path) {
    if path.is_dir() {
        let _ = fs::remove_dir_all(path);
    } else {
        let _ = fs::remove_file(path);
    }
}
