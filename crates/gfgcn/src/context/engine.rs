//! Where work runs.

use super::memory::address_space;
use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt;
use std::sync::Arc;

/// Bytes of a thread's stack.
const STACK: usize = 2 << 20;

/// The processor's threads: those of the caller's pool, or a pool of its own.
///
/// The number of threads changes no bit of any result.
#[derive(Clone, Default)]
pub struct Engine {
    pool: Option<Arc<ThreadPool>>,
}

impl Engine {
    /// An engine with so many threads of its own, or one per core for 0.
    ///
    /// # Errors
    /// If the system has no more threads to give.
    pub fn with_threads(threads: usize) -> Result<Self> {
        let pool = builder(threads).build().map_err(|error| no_threads(threads, &error))?;
        Ok(Engine { pool: Some(Arc::new(pool)) })
    }

    pub(super) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// Starts the threads that work runs on which has no engine of its own: so many, or one per core for 0. To be called
/// once, before any work.
///
/// # Errors
/// If the system has no more threads to give, or they have been started before.
pub fn start_threads(threads: usize) -> Result<()> {
    builder(threads).build_global().map_err(|error| no_threads(threads, &error))
}

fn builder(threads: usize) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK)
}

/// Why threads could not be started: where memory is limited, for want of memory for their stacks.
pub fn no_threads(threads: usize, error: &dyn fmt::Display) -> Error {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    /// What comes with a stack.
    const MARGIN: u64 = 1 << 20;
    let needed = (threads * STACK) as u64;
    match address_space() {
        // Threads that were started before the one that was not have taken theirs.
        Some(available) if available < needed + MARGIN => Error::Memory {
            what: format!("starting {threads} threads"),
            needed,
            available,
            remedy: "use fewer threads, or allow the program more memory",
        },
        _ => Error::Threads { threads, problem: error.to_string() },
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.pool.as_ref().map(|pool| pool.current_num_threads());
        f.debug_struct("Engine").field("threads", &threads).finish()
    }
}
