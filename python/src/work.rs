//! Long work: without the interpreter's lock, and ended by Ctrl-C.
//!
//! A call returns after its work has ended, never before, whatever happens: the work borrows from the caller, down
//! to the numbers of arrays of Python's, and nobody wants to pay for a result that nobody waits for.

use crate::errors::raise;
use crate::panics;
use gfgcn::context::{Cancel, Context, Engine, Memory, Placement, no_threads};
use gfgcn::data::Dataset;
use gfgcn::features::Features;
use gfgcn::{Error, Result};
use gfgcn_cuda::{Choice, Lent, devices, release_memory};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often Python is asked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(50);

/// What work runs on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Workers {
    /// 0: as many as there are cores.
    threads: usize,
    device: Choice,
    /// The GPU that the data are on.
    data_on: Option<usize>,
}

impl<'py> FromPyObject<'_, 'py> for Workers {
    type Error = PyErr;
    /// The number of threads, and the device as [`settled`] writes it.
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (threads, device): (usize, String) = given.extract()?;
        Ok(Workers { threads, device: device.parse().map_err(raise)?, data_on: None })
    }
}

impl Workers {
    /// For work on these data, where they are on a GPU already.
    pub(crate) fn on(self, data: &Dataset) -> Self {
        let lent = match data.features() {
            Features::Dense(matrix) => matrix.resident(),
            Features::Sparse(_) | Features::Blocks(_) => None,
        };
        let lent = lent.and_then(|array| array.as_any().downcast_ref::<Lent>());
        Workers { data_on: lent.map(Lent::device), ..self }
    }

    /// Whether the data are on a GPU, and may be used there.
    pub(crate) fn has_data_on_gpu(self) -> bool {
        self.data_on.is_some() && self.device != Choice::Cpu
    }

    /// The same for work that must not depend on a GPU.
    pub(crate) fn only_processor(self, why: &str) -> PyResult<Self> {
        self.device.only_processor(why).map_err(raise)?;
        Ok(Workers { device: Choice::Cpu, ..self })
    }
}

/// A device that was asked for, else that of `GFGCN_DEVICE`, else `auto`; what is none is refused.
#[pyfunction]
#[pyo3(signature = (device=None))]
pub(crate) fn settled(device: Option<&str>) -> PyResult<String> {
    let asked = device.map(str::parse).transpose().map_err(raise)?;
    Ok(Choice::or_environment(asked).map_err(raise)?.to_string())
}

/// Runs work while other threads of Python go on.
///
/// What a signal's handler raises, such as the `KeyboardInterrupt` of Ctrl-C, cancels the work and is raised here
/// once the work has given up, which it does at its next step.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    workers: Workers,
    work: impl FnOnce(&Context) -> Result<R> + Send,
) -> PyResult<R> {
    let cancel = Cancel::default();
    let Workers { threads, device, data_on } = workers;
    let placement = py.detach(|| device.placement(data_on)).map_err(raise)?;
    let context = Context::default()
        .with_cancel(cancel.clone())
        .with_memory(Memory::of_machine())
        .with_engine(Engine::with_threads(threads).map_err(raise)?)
        .with_placement(placement.clone());
    let (working, end) = channel();
    let outcome = thread::scope(|scope| {
        let worker = thread::Builder::new().name("gfgcn".into()).spawn_scoped(scope, || {
            let _until_here = working;
            let outcome = context.run(|| work(&context));
            release_memory(); // other libraries of this process use the GPU as well
            outcome
        });
        let worker = worker.map_err(|error| raise(no_threads(1, &error)))?;
        let interrupted = wait(py, end).inspect_err(|_| cancel.cancel());
        let ended =
            py.detach(|| worker.join()).map_err(|payload| match payload.downcast::<Error>() {
                Ok(error) => raise(*error), // an array on a GPU that is lost
                Err(payload) => {
                    let text = panics::message(&*payload);
                    let place = "where it is was printed to standard error";
                    PyRuntimeError::new_err(format!("a mistake in gfgcn: {text} ({place})"))
                }
            });
        match (interrupted, ended) {
            (Ok(()), ended) => ended?.map_err(raise),
            (Err(exception), Ok(_)) => Err(exception),
            (Err(exception), Err(panic)) => {
                exception.set_cause(py, Some(panic));
                Err(exception)
            }
        }
    })?;
    warn_of_trouble(py, &placement)?;
    Ok(outcome)
}

/// Says why work that was worth a GPU did not run there; not that there is none, which most machines have not.
fn warn_of_trouble(py: Python<'_>, placement: &Placement) -> PyResult<()> {
    if let Some(trouble) = placement.trouble()
        && devices().is_ok_and(|found| !found.is_empty())
    {
        let warn = py.import("gfgcn._estimator")?.getattr("warn")?;
        warn.call1((format!("computed on the processor: {trouble}"),))?;
    }
    Ok(())
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
