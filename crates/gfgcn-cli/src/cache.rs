//! `gfgcn cache`: the runs that `evaluate` and `paper` keep.

use crate::output::{Output, count};
use crate::run_cache;
use crate::shown;
use gfgcn_baselines::Cache;
use serde::Serialize;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Delete all kept runs of evaluate and paper
    ///
    /// They are in the user's cache folder, or in the folder that GFGCN_CACHE names. Other files there
    /// stay.
    Clear,
}

#[derive(Serialize)]
struct Cleared {
    folder: String,
    deleted: usize,
}

pub(crate) fn run(command: &Command, output: &Output) -> anyhow::Result<()> {
    let Command::Clear = command;
    let folder = run_cache::folder()?;
    let deleted = Cache::clear(&folder)?;
    let report = Cleared { folder: shown::path(&folder), deleted };
    output.report(&report, |report| {
        format!("Deleted {} from {}.", count(report.deleted, "run", "runs"), report.folder)
    })
}
