//! `gfgcn cache`: the runs that `evaluate` and `paper` keep.

use crate::output::{Output, count};
use crate::run_cache;
use crate::shown;
use gfgcn_baselines::{Cache, Merged};
use serde::Serialize;
use std::path::PathBuf;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Delete all kept runs of evaluate and paper
    ///
    /// They are in the user's cache folder, or in the folder that GFGCN_CACHE names. Other files there
    /// stay.
    Clear,
    /// Import runs from other folders, such as those of other machines
    ///
    /// So that several machines can share the work of a long comparison: each does a part of it (paper --graphs cora),
    /// then one merges the folders of the others (GFGCN_CACHE names a machine's) and writes the report. Runs count
    /// only for the program whose code computed them. What is there already stays.
    Merge {
        /// Folders of kept runs
        #[arg(required = true, value_name = "FOLDER")]
        folders: Vec<PathBuf>,
    },
}

#[derive(Serialize)]
struct Cleared {
    folder: String,
    deleted: usize,
}

#[derive(Serialize)]
struct TakenOver {
    folder: String,
    #[serde(flatten)]
    runs: Merged,
}

pub(crate) fn run(command: &Command, output: &Output) -> anyhow::Result<()> {
    let folder = run_cache::folder()?;
    match command {
        Command::Clear => {
            let deleted = Cache::clear(&folder)?;
            let report = Cleared { folder: shown::path(&folder), deleted };
            output.report(&report, |report| {
                format!("Deleted {} from {}.", count(report.deleted, "run", "runs"), report.folder)
            })
        }
        Command::Merge { folders } => {
            let mut runs = Merged::default();
            for other in folders {
                let Merged { added, known, unsound } = Cache::merge(other, &folder)?;
                runs.added += added;
                runs.known += known;
                runs.unsound += unsound;
            }
            if runs.unsound > 0 {
                let files = count(runs.unsound, "file was", "files were");
                output.warn(format!("{files} damaged and left behind"));
            }
            output.report(&TakenOver { folder: shown::path(&folder), runs }, |report| {
                format!(
                    "Added {} to {}; {} there already.",
                    count(report.runs.added, "run", "runs"),
                    report.folder,
                    count(report.runs.known, "was", "were")
                )
            })
        }
    }
}
