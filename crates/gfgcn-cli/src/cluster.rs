//! Commands that machines share: what the Python package asks before it hands out shares to others.
//!
//! A command is parsed and its data are read as ever; then its [`Job`] is cut into shares. What comes of these goes to a folder, and the
//! command itself, with `--work` and that folder, finds everything finished but what it solves.

use crate::output::{Output, message};
use crate::{Cli, Command, WRONG_USAGE, status};
use clap::Parser;
use gfgcn::data::Dataset;
use gfgcn::shares::Job;
use std::ffi::OsString;
use std::path::PathBuf;

/// Why machines that share work do not use their GPUs.
pub(crate) const SHARED_ON_PROCESSOR: &str =
    "what machines share must be the same bits whoever computes it";

/// A command that machines can share.
pub struct Shared {
    /// What they compute.
    pub job: Job,
    /// The data that it is about.
    pub dataset: Dataset,
    /// The store that they come from.
    pub store: PathBuf,
    /// The file that will be written, if the work folder is to be beside it.
    pub output: Option<PathBuf>,
    /// The work folder that was asked for.
    pub work: Option<PathBuf>,
    /// Bytes that each machine may take, if that was said.
    pub memory: Option<u64>,
}

/// Why a command is not run.
#[derive(Debug)]
pub struct Refused {
    /// The exit status: 0 where help was asked for.
    pub status: u8,
    /// What to tell a person.
    pub message: String,
}

/// Reads a command `fit`, `predict` or `evaluate`, the name of the program first, and its data.
///
/// # Errors
/// What the command itself would be refused for, or what machines do not share.
pub fn shared(arguments: Vec<OsString>) -> Result<Shared, Refused> {
    let cli = Cli::try_parse_from(arguments)
        .map_err(|error| Refused { status: error.exit_code() as u8, message: error.to_string() })?;
    // What there is to note is said when the command itself is run.
    let (global, output) = (&cli.global, &Output::new(false, true, false));
    let shared = match &cli.command {
        Command::Fit(arguments) => arguments.shared(global, output),
        Command::Predict(arguments) => arguments.shared(global, output),
        Command::Evaluate(arguments) => arguments.shared(global, output),
        _ => {
            let message = "machines share fit, predict and evaluate".to_owned();
            return Err(Refused { status: WRONG_USAGE, message });
        }
    };
    shared.map_err(|error| Refused { status: status(&error), message: message(&error) })
}
