//! What work can run on.

use gfgcn::Error;
use gfgcn_cuda::look_for_libraries_in;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::thread;

/// The processor and every GPU, one mapping each; or one that says why there is no GPU.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = PyList::empty(py);
    let add = |device: &str, name: Option<String>, memory: Option<(u64, u64)>, problem| {
        let row = PyDict::new(py);
        row.set_item("device", device)?;
        row.set_item("name", name)?;
        row.set_item("free_bytes", memory.map(|(free, _)| free))?;
        row.set_item("total_bytes", memory.map(|(_, total)| total))?;
        row.set_item("problem", problem)?;
        rows.append(row)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    add("cpu", Some(format!("{threads} threads")), None, None::<String>)?;
    match py.detach(gfgcn_cuda::devices) {
        Ok(found) => {
            for gpu in found {
                let device = format!("cuda:{}", gpu.number);
                add(&device, Some(gpu.name), Some(gpu.memory), gpu.unusable)?;
            }
        }
        Err(Error::Device { problem, .. }) => add("cuda", None, None, Some(problem))?,
        Err(error) => return Err(crate::errors::raise(error)),
    }
    Ok(rows)
}

/// Looks for NVIDIA's libraries among the packages of some folders, too.
#[pyfunction]
pub(crate) fn look_for_libraries(packages: Vec<PathBuf>) {
    look_for_libraries_in(packages);
}
