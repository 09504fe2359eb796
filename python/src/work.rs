//! Long work: without the interpreter's lock, and ended by Ctrl-C.
//!
//! A call returns after its work has ended, never before, whatever happens: the work borrows from the caller, down
//! to the numbers of arrays of Python's, and nobody wants to pay for a result that nobody waits for.

use crate::errors::raise;
use crate::panics;
use gfgcn::Result;
use gfgcn::context::{Cancel, Context, Engine, Memory, no_threads};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often Python is asked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs work on so many threads (0: as many as there are cores) while other threads of Python go on.
///
/// What a signal's handler raises, such as the `KeyboardInterrupt` of Ctrl-C, cancels the work and is raised here
/// once the work has given up, which it does at its next step.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&Context) -> Result<R> + Send,
) -> PyResult<R> {
    let cancel = Cancel::default();
    let context = Context::default()
        .with_cancel(cancel.clone())
        .with_memory(Memory::of_machine())
        .with_engine(Engine::with_threads(threads).map_err(raise)?);
    let (working, end) = channel();
    thread::scope(|scope| {
        let worker = thread::Builder::new().name("gfgcn".into()).spawn_scoped(scope, || {
            let _until_here = working;
            context.run(|| work(&context))
        });
        let worker = worker.map_err(|error| raise(no_threads(1, &error)))?;
        let interrupted = wait(py, end).inspect_err(|_| cancel.cancel());
        let ended = py.detach(|| worker.join()).map_err(|payload| {
            let text = panics::message(&*payload);
            let place = "where it is was printed to standard error";
            PyRuntimeError::new_err(format!("a mistake in gfgcn: {text} ({place})"))
        });
        match (interrupted, ended) {
            (Ok(()), ended) => ended?.map_err(raise),
            (Err(exception), Ok(_)) => Err(exception),
            (Err(exception), Err(panic)) => {
                exception.set_cause(py, Some(panic));
                Err(exception)
            }
        }
    })
}

/// Waits until the other side is gone; the error is what a signal's handler raised in the meantime.
fn wait(py: Python<'_>, mut end: Receiver<()>) -> PyResult<()> {
    loop {
        let end = &mut end;
        match py.detach(move || end.recv_timeout(PATIENCE)) {
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
