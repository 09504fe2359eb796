//! `gfgcn data convert`: from any format that is read to one that is written.

use crate::columns::ColumnArguments;
use crate::output::{Output, count};
use crate::source::{Directed, check_output, is_read};
use crate::{Global, interrupt, shown};
use clap::Args;
use gfgcn::files::NewFolder;
use gfgcn::{Error, Result};
use gfgcn_data::{
    OutputFormat, ReadOptions, TableFiles, TableFormat, npz, write_folder, write_folder_memory,
};
use gfgcn_datasets::{has_extension, open_with};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Convert a dataset to an .npz file or to a folder of tables
///
/// A folder changes as a whole or not at all, whatever interrupts. Its gfgcn-manifest.json tells when files in it are
/// changed later; delete that if you edit them.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn data convert my-folder my.npz
  gfgcn data convert cora cora-tables/ --format parquet")]
pub(crate) struct Arguments {
    /// The dataset to read: a name, an .npz file or a folder
    from: PathBuf,
    /// The .npz file, or the folder, to write
    to: PathBuf,
    /// csv, tsv or parquet for the tables in a folder, or npz for an archive [default: npz where the name says so, or csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<OutputFormat>,
    /// Replace an archive or tables that are there; other files in a folder stay
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    direction: Directed,
    #[command(flatten)]
    columns: ColumnArguments,
}

#[derive(Serialize)]
struct Report {
    dataset: String,
    nodes: usize,
    edges: usize,
    output: String,
}

/// Notices before any work is done that the folder must not be written to.
fn check_folder(folder: &Path, force: bool, input: &Path) -> Result<()> {
    let refused = |why: &str| Err(Error::Data(why.into()).in_file(folder));
    if !folder.is_dir() {
        return if folder.extension().is_some() {
            refused("is neither an .npz file nor a folder; a folder's name has no ending")
        } else if folder.symlink_metadata().is_ok() {
            refused("is there and is not a folder; name another one")
        } else {
            Ok(())
        };
    }
    if is_read(folder, &[input.to_owned()]) {
        return refused("is the input too; write to another folder");
    }
    if !force && TableFiles::are_in(folder)? {
        return refused("holds tables already; use --force to replace them");
    }
    NewFolder::new(folder).map(drop)
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let named = has_extension(&arguments.to, "npz");
    let tables = match arguments.format {
        Some(OutputFormat::Npz) => None,
        Some(OutputFormat::Table { .. }) if named => {
            let problem =
                "is the name of an archive, but --format asks for tables, which are in a folder";
            return Err(Error::Data(problem.into()).in_file(&arguments.to).into());
        }
        Some(OutputFormat::Table { format, .. }) => Some(format),
        None => (!named).then(TableFormat::default),
    };
    if tables.is_none() {
        check_output(&arguments.to, arguments.force, std::slice::from_ref(&arguments.from))?;
    } else {
        check_folder(&arguments.to, arguments.force, &arguments.from)?;
    }
    let (directions, data_dir) = (arguments.direction.directions(), global.data_dir.as_deref());
    let options = ReadOptions { directions, columns: arguments.columns.columns() };
    let dataset = open_with(&arguments.from, data_dir, &options, &interrupt::context())?;
    dataset.notes().iter().for_each(|note| output.note(note));
    arguments.direction.note(&dataset, output);
    if let Some(format) = tables {
        let (needed, remedy) = (write_folder_memory(&dataset), "write an .npz archive instead");
        interrupt::context().memory().check("writing the tables", needed, remedy)?;
        write_folder(&dataset, &arguments.to, format, arguments.force)?;
    } else {
        npz::write(&dataset, &arguments.to, arguments.force)?;
    }
    let report = Report {
        dataset: dataset.name().to_owned(),
        nodes: dataset.nodes(),
        edges: dataset.graph().edges(),
        output: shown::path(&arguments.to),
    };
    output.report(&report, |r| {
        let (nodes, edges) = (count(r.nodes, "node", "nodes"), count(r.edges, "edge", "edges"));
        format!("{}: {nodes}, {edges} written to {}\n", r.dataset, r.output)
    })
}
