//! The one error type of the library.
//!
//! Everything about data, files, parameters and numerics is an [`Error`] that carries the numbers
//! a person needs to act on it. A shape bug *inside* the library is a programmer's mistake and
//! panics instead.

use std::io;
use std::path::{Path, PathBuf};

/// What the fallible functions of this library return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong. The message names the place and the value and says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("{name} is {value}, but must be {expected}")]
    Parameter {
        /// The parameter's name as the user writes it.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The range that is accepted.
        expected: String,
    },

    /// Two sizes that must agree do not.
    #[error("{what}: expected {expected}, found {found}")]
    Size {
        /// What was measured.
        what: String,
        /// The size it must have.
        expected: usize,
        /// The size it has.
        found: usize,
    },

    /// The data contradict themselves or cannot be used.
    #[error("{0}")]
    Data(String),

    /// A file's bytes do not follow the format.
    #[error("{0}")]
    Format(String),

    /// The linear system could not be factorised.
    #[error(
        "the ridge system is not positive definite at pivot {pivot} for λ = {lambda:e}; use a smaller λ"
    )]
    NotPositiveDefinite {
        /// The pivot that was not positive.
        pivot: usize,
        /// The λ for which the factorisation failed.
        lambda: f64,
    },

    /// The work needs more memory than there is.
    #[error("{what} needs about {} MiB of memory, but only {} MiB are available; {remedy}", needed.div_ceil(1 << 20), available >> 20)]
    Memory {
        /// The work.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
        /// What to do about it.
        remedy: &'static str,
    },

    /// The system gives no more threads.
    #[error(
        "cannot start {threads} threads: {problem}; use fewer, or allow the program more threads or memory"
    )]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system says.
        problem: String,
    },

    /// An accelerator cannot be used, or failed at its work.
    #[error("{device}: {problem}")]
    Device {
        /// The device as it was asked for.
        device: String,
        /// What is wrong with it, and what to do about it.
        problem: String,
    },

    /// The work was asked to give up before it was done.
    #[error("cancelled")]
    Cancelled,

    /// A file could not be opened or read.
    #[error("cannot read: {0}")]
    Read(#[source] io::Error),

    /// A file could not be written.
    #[error("{}: cannot write: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// A file could not be fetched, or what was fetched is not what was asked for.
    #[error("{url}: {problem}")]
    Download {
        /// The address.
        url: String,
        /// What went wrong there, and what to do about it.
        problem: String,
    },

    /// Another error, with the file and the place in it.
    #[error("{}: {place}{source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The place in the file with a trailing `": "`, or empty.
        place: String,
        /// What is wrong there.
        source: Box<Error>,
    },
}

impl Error {
    /// A [`Error::Parameter`].
    pub fn parameter(
        name: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Error::Parameter { name, value: readable(value.to_string()), expected: expected.into() }
    }

    /// Checks that two sizes agree.
    pub fn check_size(what: impl Into<String>, expected: usize, found: usize) -> Result<()> {
        if expected == found {
            Ok(())
        } else {
            Err(Error::Size { what: what.into(), expected, found })
        }
    }

    /// Names the file in which the error was found.
    #[must_use]
    pub fn in_file(self, path: impl AsRef<Path>) -> Self {
        match self {
            Error::InFile { .. } | Error::Write { .. } | Error::Download { .. } => self,
            // Nothing is wrong there.
            Error::Cancelled => self,
            other => Error::InFile {
                path: path.as_ref().to_owned(),
                place: String::new(),
                source: Box::new(other),
            },
        }
    }

    /// Names the file and the place in it (`line 3`, `array labels`) where the error was found.
    #[must_use]
    pub fn at(self, path: impl AsRef<Path>, place: impl std::fmt::Display) -> Self {
        match self {
            Error::InFile { .. } | Error::Write { .. } | Error::Download { .. } => self,
            // Nothing is wrong there.
            Error::Cancelled => self,
            other => Error::InFile {
                path: path.as_ref().to_owned(),
                place: format!("{place}: "),
                source: Box::new(other),
            },
        }
    }

    /// Whether the machine failed (a full disk, a read error, too little memory, no network)
    /// rather than the input being wrong.
    pub fn is_machine_failure(&self) -> bool {
        match self {
            Error::Read(source) => !matches!(
                source.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::IsADirectory
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::InvalidData
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::UnexpectedEof
            ),
            Error::Write { .. }
            | Error::Memory { .. }
            | Error::Threads { .. }
            | Error::Device { .. }
            | Error::Download { .. } => true,
            Error::InFile { source, .. } => source.is_machine_failure(),
            _ => false,
        }
    }
}

/// A value as a person would write it: 1e300 rather than 301 digits, and the start of a text that never ends.
fn readable(value: String) -> String {
    const LONG: usize = 40;
    if value.len() <= LONG {
        return value;
    }
    match value.parse::<f64>() {
        Ok(number) => format!("{number:e}"),
        Err(_) if value.chars().count() <= LONG => value,
        Err(_) => value.chars().take(LONG).chain("…".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_a_person_would_write_them() {
        let shown =
            |value: &dyn ToString| Error::parameter("λ", value.to_string(), "less").to_string();
        assert_eq!(shown(&1e300), "λ is 1e300, but must be less");
        assert_eq!(shown(&-0.25), "λ is -0.25, but must be less");
        assert_eq!(shown(&"x".repeat(100)), format!("λ is {}…, but must be less", "x".repeat(40)));
    }
}
