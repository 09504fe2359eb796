//! Work that machines share: what the driver of a cluster plans, and what its workers compute.

use crate::errors::raise;
use crate::work::{self, Workers};
use gfgcn::Error;
use gfgcn::context::{Memory, Scratch};
use gfgcn::shares::{self, Cut, Share};
use gfgcn_cli::cluster::{Refused, Shared, shared};
use gfgcn_data::store;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use std::path::PathBuf;

/// A command in shares, with its data.
#[pyclass(frozen, module = "gfgcn._gfgcn")]
pub(crate) struct Job {
    job: shares::Job,
    dataset: gfgcn::data::Dataset,
    store: PathBuf,
    output: Option<PathBuf>,
    work: Option<PathBuf>,
    memory: Option<u64>,
}

/// A share, and the names of its files.
type Planned = (String, Vec<String>);

/// The name of a file, and its bytes.
type Piece<'py> = (String, Bound<'py, PyArray1<u8>>);

#[pymethods]
impl Job {
    /// Of a command `fit`, `predict` or `evaluate`, with the program's name first. What is refused is a ValueError of an exit
    /// status and a message.
    #[staticmethod]
    fn of_command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Self> {
        let outcome = work::run(py, Workers::default(), |_| Ok(shared(arguments)))?;
        let refused = |Refused { status, message }| PyValueError::new_err((status, message));
        let Shared { job, dataset, store, output, work, memory } = outcome.map_err(refused)?;
        Ok(Job { job, dataset, store, output, work, memory })
    }

    /// On a worker: a job of another machine, whose store is read here.
    #[staticmethod]
    #[pyo3(signature = (bytes, store, workers=Workers::default()))]
    fn open(py: Python<'_>, bytes: &[u8], store: PathBuf, workers: Workers) -> PyResult<Self> {
        let job = shares::Job::from_bytes(bytes).map_err(raise)?;
        let dataset =
            work::run(py, workers, |context| Ok(job.data(store::read(&store, "store", context)?)))?;
        Ok(Job { job, dataset, store, output: None, work: None, memory: None })
    }

    /// For `open`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.job.to_bytes())
    }

    /// Where the data are.
    #[getter]
    fn store(&self) -> PathBuf {
        self.store.clone()
    }

    /// The file that the command writes, if it does.
    #[getter]
    fn output(&self) -> Option<PathBuf> {
        self.output.clone()
    }

    /// The work folder that was asked for.
    #[getter]
    fn work(&self) -> Option<PathBuf> {
        self.work.clone()
    }

    /// Bytes that each machine may take, if that was said.
    #[getter]
    fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// So many shares or more, of so many bytes of memory each: those that are not finished in a work folder, each with the names
    /// of its files, and how many there are in all.
    fn plan(
        &self,
        py: Python<'_>,
        shares: usize,
        memory: u64,
        work: PathBuf,
    ) -> PyResult<(Vec<Planned>, usize)> {
        let planned = work::run(py, Workers::default(), |context| {
            self.job.plan(&self.dataset, Cut { shares, memory }, context)
        })?;
        let (all, scratch) = (planned.len(), Scratch::at(&work, ""));
        let left = planned.into_iter().filter(|planned| !planned.is_finished(&scratch));
        let text = |share: &Share| serde_json::to_string(share).expect("a share can be written");
        Ok((left.map(|planned| (text(&planned.share), planned.files)).collect(), all))
    }

    /// Computes a share in so much memory, if a limit is given.
    #[pyo3(signature = (share, memory=None, workers=Workers::default()))]
    fn compute<'py>(
        &self,
        py: Python<'py>,
        share: &str,
        memory: Option<u64>,
        workers: Workers,
    ) -> PyResult<Vec<Piece<'py>>> {
        let share: Share = serde_json::from_str(share)
            .map_err(|error| raise(Error::Format(format!("is no share: {error}"))))?;
        let pieces = work::run(py, workers, |context| {
            let memory = memory.map_or_else(|| context.memory().clone(), Memory::limited);
            self.job.compute(&self.dataset, &share, &context.clone().with_memory(memory))
        })?;
        Ok(pieces.into_iter().map(|piece| (piece.name, piece.bytes.into_pyarray(py))).collect())
    }
}

/// Puts what a worker has computed into a work folder, whole or not at all.
#[pyfunction]
pub(crate) fn accept(
    work: PathBuf,
    name: &str,
    bytes: numpy::PyReadonlyArray1<'_, u8>,
) -> PyResult<()> {
    Scratch::at(&work, "").accept(name, bytes.as_slice()?).map_err(raise)
}
