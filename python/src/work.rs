//! Long work: without the interpreter's lock, and ended by Ctrl-C.

use crate::errors::raise;
use gfgcn::{Result, Stop};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often Python is asked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs work on so many threads (0: as many as there are cores) while other threads of Python go on.
///
/// After Ctrl-C this returns at once; what the work is busy with ends at its next step.
pub(crate) fn run<R: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> Result<R> + Send + 'static,
) -> PyResult<R> {
    let stop = Stop::default();
    let (sender, mut receiver) = channel();
    let worker = {
        let stop = stop.clone();
        thread::Builder::new().spawn(move || {
            // Nobody listens any more after Ctrl-C.
            let _ = sender.send(stop.run(threads, work));
        })?
    };
    loop {
        let answers = &mut receiver;
        match py.detach(move || answers.recv_timeout(PATIENCE)) {
            Ok(Some(result)) => return result.map_err(raise),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| stop.request())?;
            }
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                let panic = py.detach(|| worker.join()).err();
                let text = panic.as_ref().and_then(|panic| panic.downcast_ref::<String>());
                let text = text.map_or("the work ended without a result", String::as_str);
                return Err(PyRuntimeError::new_err(format!("a mistake in gfgcn: {text}")));
            }
        }
    }
}
