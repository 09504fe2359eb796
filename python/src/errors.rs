//! Errors of the library as Python's exceptions, with the same message.

use gfgcn::Error;
use pyo3::PyErr;
use pyo3::exceptions::{
    PyConnectionError, PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyMemoryError,
    PyNotADirectoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use std::io::ErrorKind;

/// The exception that says the same.
pub(crate) fn raise(error: Error) -> PyErr {
    let message = error.to_string();
    match innermost(&error) {
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Device { .. } => PyRuntimeError::new_err(message),
        Error::Threads { .. } => PyOSError::new_err(message),
        Error::Download { .. } => PyConnectionError::new_err(message),
        Error::Read(source) | Error::Write { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            ErrorKind::AlreadyExists => PyFileExistsError::new_err(message),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(message),
            ErrorKind::NotADirectory => PyNotADirectoryError::new_err(message),
            _ => PyOSError::new_err(message),
        },
        _ => PyValueError::new_err(message),
    }
}

/// The same error about a parameter that Python has another name for.
pub(crate) fn called(name: &'static str, error: Error) -> Error {
    match error {
        Error::Parameter { value, expected, .. } => Error::Parameter { name, value, expected },
        other => other,
    }
}

fn innermost(error: &Error) -> &Error {
    match error {
        Error::InFile { source, .. } => innermost(source),
        other => other,
    }
}
