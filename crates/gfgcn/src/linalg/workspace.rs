//! How many threads have what matrix products are computed in.
//!
//! The library for them sets twice the last-level cache aside for every thread that multiplies, and keeps it as long
//! as the thread lives. Where the address space is limited, that much has to be left for threads that have not multiplied
//! yet, and must not be left once more for those that have.

use std::sync::atomic::{AtomicUsize, Ordering};

static THREADS: AtomicUsize = AtomicUsize::new(0);

struct Workspace;

impl Drop for Workspace {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: Workspace = {
        THREADS.fetch_add(1, Ordering::Relaxed);
        Workspace
    };
}

/// This thread is about to compute a product of that shape.
pub(super) fn note(rows: usize, cols: usize, depth: usize) {
    /// Small products need none.
    const SMALL: usize = 1 << 16;
    if rows > 1 && cols > 1 && depth > 1 && rows * cols * depth > SMALL {
        // Ignored while the thread ends.
        let _ = OWN.try_with(|_| ());
    }
}

/// How many threads have computed products.
pub(crate) fn threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}
