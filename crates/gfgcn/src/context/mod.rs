//! What a call works under, passed down to everything that takes long.
//!
//! A [`Context`] says whether the work is still wanted, whom it tells how far it is, how much memory it may
//! take and on which threads it runs. There is no global state behind it: two calls with two contexts do not
//! disturb each other, whatever threads they share.

mod cancel;
mod engine;
mod memory;
mod progress;

pub use cancel::Cancel;
pub use engine::{Engine, no_threads, start_threads};
pub use memory::{Lease, Memory};
pub use progress::{Observer, Progress};

use crate::error::{Error, Result};

/// Cancellation, progress, memory and engine of one call.
///
/// The default is never cancelled, tells nobody, may take what the machine has free and runs on the threads of
/// whoever calls.
///
/// ```
/// use gfgcn::context::{Cancel, Context};
/// let cancel = Cancel::default();
/// let context = Context::default().with_cancel(cancel.clone());
/// assert!(context.check().is_ok());
/// cancel.cancel(); // from any thread
/// assert!(context.check().is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Context {
    cancel: Cancel,
    progress: Progress,
    memory: Memory,
    engine: Engine,
}

impl Context {
    /// Can be cancelled by the given flag.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Self {
        Context { cancel, ..self }
    }

    /// A context for a part of the work, which can also be cancelled by itself.
    #[must_use]
    pub fn child(&self) -> Self {
        self.clone().with_cancel(self.cancel.child())
    }

    /// The flag that asks the work to give up.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Tells an observer how far it is.
    #[must_use]
    pub fn with_progress(self, progress: Progress) -> Self {
        Context { progress, ..self }
    }

    /// Takes memory from the given account.
    #[must_use]
    pub fn with_memory(self, memory: Memory) -> Self {
        Context { memory, ..self }
    }

    /// Runs on the given engine.
    #[must_use]
    pub fn with_engine(self, engine: Engine) -> Self {
        Context { engine, ..self }
    }

    /// Long work asks this between its steps and gives up where it fails.
    ///
    /// # Errors
    /// [`Error::Cancelled`] once the work is not wanted any more.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Whom the work tells how far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The account that large arrays are taken from.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Runs work on the engine's threads.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.engine.run(work)
    }
}
