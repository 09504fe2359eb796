//! Where work runs.

use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt;
use std::sync::Arc;

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
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| Error::Data(format!("cannot start {threads} threads: {e}")))?;
        Ok(Engine { pool: Some(Arc::new(pool)) })
    }

    pub(super) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.pool.as_ref().map(|pool| pool.current_num_threads());
        f.debug_struct("Engine").field("threads", &threads).finish()
    }
}
