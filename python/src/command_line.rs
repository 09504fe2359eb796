//! The command line, for `pip install` to give `gfgcn`, too.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command line with these arguments, the program's name first, and returns its exit status.
#[pyfunction]
pub(crate) fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| gfgcn_cli::run_with(arguments))
}
