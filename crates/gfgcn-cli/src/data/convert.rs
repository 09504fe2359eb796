//! `gfgcn data convert`: from any format that is read to one that is written.

use crate::columns::ColumnArguments;
use crate::output::{Output, count};
use crate::progress::{self, Unit};
use crate::source::{Directed, check_output, is_read};
use crate::{Global, interrupt, shown};
use clap::{Args, ValueEnum};
use gfgcn::files::NewFolder;
use gfgcn::{Error, Result};
use gfgcn_data::{
    ReadOptions, TableFiles, TableFormat, npz, store, write_folder, write_folder_memory,
};
use gfgcn_datasets::{has_extension, open_with, recognise};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Convert a dataset to an .npz file, to a folder of tables or to a store
///
/// A store is a folder of arrays that are mapped into memory and not read, so that graphs of any size can be used. It is
/// written where the folder's name ends in "store", or with --format store.
///
/// A folder changes as a whole or not at all, whatever interrupts. Its gfgcn-manifest.json tells when files in it are
/// changed later; delete that if you edit them.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn data convert my-folder my.npz
  gfgcn data convert cora cora-tables/ --format parquet
  gfgcn data convert my-folder my.store")]
pub(crate) struct Arguments {
    /// The dataset to read: a name, an .npz file or a folder
    from: PathBuf,
    /// The .npz file, or the folder, to write
    to: PathBuf,
    /// Format of the tables in a folder, or store [default: store where the folder's name ends in that word, else csv]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Replace an archive or tables that are there; other files in a folder stay
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    direction: Directed,
    #[command(flatten)]
    columns: ColumnArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Csv,
    Tsv,
    Parquet,
    Store,
}

impl Format {
    /// That of the tables, if they are tables.
    fn of_tables(self) -> Option<TableFormat> {
        match self {
            Format::Csv => Some(TableFormat::Csv),
            Format::Tsv => Some(TableFormat::Tsv),
            Format::Parquet => Some(TableFormat::Parquet),
            Format::Store => None,
        }
    }
}

/// Whether a folder is called a store: `store`, `my.store`, `my-store`.
pub(crate) fn is_store_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let before = name.strip_suffix("store");
    before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

#[derive(Serialize)]
struct Report {
    dataset: String,
    nodes: usize,
    edges: usize,
    output: String,
}

/// Notices before any work is done that the folder must not be written to.
fn check_folder(folder: &Path, force: bool, input: &Path, store: bool) -> Result<()> {
    let refused = |why: &str| Err(Error::Data(why.into()).in_file(folder));
    if !folder.is_dir() {
        return if folder.extension().is_some() && !is_store_name(folder) {
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
    if !force && !store && folder.join("meta.json").exists() {
        return refused("holds a store already; use --force to replace it");
    }
    NewFolder::new(folder).map(drop)
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let to_archive = has_extension(&arguments.to, "npz");
    let usual = if is_store_name(&arguments.to) { Format::Store } else { Format::Csv };
    let format = arguments.format.unwrap_or(usual).of_tables();
    if to_archive {
        check_output(&arguments.to, arguments.force, std::slice::from_ref(&arguments.from))?;
    } else {
        check_folder(&arguments.to, arguments.force, &arguments.from, format.is_none())?;
    }
    let (directions, data_dir) = (arguments.direction.directions(), global.data_dir.as_deref());
    let options = ReadOptions { directions, columns: arguments.columns.columns() };
    let dataset = open_with(&arguments.from, data_dir, &options, &interrupt::context())?;
    dataset.notes().iter().for_each(|note| output.note(note));
    arguments.direction.note(&dataset, output);
    if to_archive {
        npz::write(&dataset, &arguments.to, arguments.force)?;
    } else if format.is_none() {
        let by_place =
            recognise(&arguments.from, data_dir)?.is_none_or(|layout| layout.is_by_place());
        // A store is used as it is: what other formats are ordered by when they are read is ordered now.
        let dataset = if by_place { dataset.clone() } else { dataset.clone().ordered_by_names() };
        progress::show(output, "writing", Unit::Bytes, |context| {
            store::write(&dataset, &arguments.to, arguments.force, context)
        })?;
    } else if let Some(format) = format {
        let (needed, remedy) = (write_folder_memory(&dataset), "write an .npz archive instead");
        interrupt::context().memory().check("writing the tables", needed, remedy)?;
        write_folder(&dataset, &arguments.to, format, arguments.force)?;
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
