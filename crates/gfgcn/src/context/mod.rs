//! What a call works under, passed down to everything that takes long.
//!
//! A [`Context`] says whether the work is still wanted, whom it tells how far it is, how much memory it may
//! take, on which threads it runs and on which device, if on any. There is no global state behind it: two calls with two contexts do not
//! disturb each other, whatever threads they share.

mod cancel;
mod control_group;
mod engine;
mod memory;
mod placement;
mod progress;
mod scratch;

pub use cancel::Cancel;
pub use engine::{Engine, no_threads, start_threads};
pub use memory::{Lease, Memory};
pub use placement::{OpenDevice, Placement, Work};
pub use progress::{Observer, Progress};
pub(crate) use scratch::BUFFER;
pub use scratch::Scratch;

use crate::device::Device;
use crate::error::{Error, Result};
use std::sync::Arc;

/// Cancellation, progress, memory, engine and device of one call.
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
    placement: Placement,
    scratch: Option<Scratch>,
    /// The device of the work at hand, once that is known.
    device: Option<Arc<dyn Device>>,
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

    /// Runs on a device, if the placement says so.
    #[must_use]
    pub fn with_placement(self, placement: Placement) -> Self {
        Context { placement, device: None, ..self }
    }

    /// Keeps what it finishes in a work folder, and takes up what is there.
    #[must_use]
    pub fn with_scratch(self, scratch: Scratch) -> Self {
        Context { scratch: Some(scratch), ..self }
    }

    /// Keeps nothing.
    #[must_use]
    pub(crate) fn without_scratch(self) -> Self {
        Context { scratch: None, ..self }
    }

    /// The work folder, if there is one.
    pub fn scratch(&self) -> Option<&Scratch> {
        self.scratch.as_ref()
    }

    /// Where work runs.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The same for work on the processor alone.
    #[must_use]
    pub fn on_processor(&self) -> Self {
        self.clone().with_placement(Placement::default())
    }

    /// The device that the work at hand runs on.
    pub fn device(&self) -> Option<&Arc<dyn Device>> {
        self.device.as_ref()
    }

    /// Does so much work with a context that knows its device; on the processor, from the start, if a device fails that was
    /// only used because it seemed to pay.
    ///
    /// # Errors
    /// What the work returns.
    pub fn place<R>(&self, work: Work, run: impl Fn(&Context) -> Result<R>) -> Result<R> {
        if self.device.is_some() {
            return run(self); // a part of work that has its place
        }
        let Some(device) = self.placement.device_for(work) else { return run(self) };
        match run(&Context { device: Some(device), ..self.clone() }) {
            Err(error) if self.placement.falls_back(&error) => run(&self.on_processor()),
            outcome => outcome,
        }
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
