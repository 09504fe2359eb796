//! Computing for requests: on threads of its own, so many at a time, each within a time.

use crate::problem::Problem;
use gfgcn::context::{Cancel, Context};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Requests that may wait for others.
const WAITING: usize = 256;

/// Who computes.
#[derive(Debug)]
pub(crate) struct Work {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    limit: Duration,
    context: Context,
}

/// One who waits.
struct Waiting<'w>(&'w AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ends the work when nobody waits for it any more.
pub(crate) struct Abandoned(pub(crate) Cancel);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Work {
    pub(crate) fn new(at_once: usize, limit: Duration, context: Context) -> Self {
        let permits = Arc::new(Semaphore::new(at_once));
        Work { permits, waiting: AtomicUsize::new(0), limit, context }
    }

    /// The most that a request may take.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Computes something. When the time is over, or the client has gone, the work is told to give up.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Context) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&self.waiting);
        if before >= WAITING {
            return Err(Problem::busy("too many requests are waiting; try again"));
        }
        let context = self.context.child();
        let _abandoned = Abandoned(context.cancel().clone());
        let done = tokio::time::timeout(self.limit, async {
            let permit = self.permits.clone().acquire_owned().await;
            drop(waiting);
            tokio::task::spawn_blocking(move || {
                let _permit = permit;
                work(&context)
            })
            .await
        });
        match done.await {
            Ok(Ok(result)) => result,
            Ok(Err(failed)) => {
                tracing::error!(%failed, "a request panicked");
                Err(Problem::internal())
            }
            Err(_) => Err(gfgcn::Error::Cancelled.into()),
        }
    }
}
