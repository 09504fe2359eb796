//! `gfgcn data convert`: from any format that is read to one that is written.

use crate::columns::ColumnArguments;
use crate::output::{Output, count};
use crate::progress::{self, Unit};
use crate::source::{Directed, check_output, is_read};
use crate::{Global, interrupt, shown};
use clap::Args;
use gfgcn::files::NewFolder;
use gfgcn::{Error, Result};
use gfgcn_data::{
    OutputFormat, ReadOptions, TableFiles, TableFormat, npz, store, write_folder,
    write_folder_memory,
};
use gfgcn_datasets::{has_extension, open_with, recognise};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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
    /// csv, tsv or parquet for the tables in a folder, npz for an archive, or store for a folder of arrays [default: what the
    /// name ends in, npz or store, or csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Written>,
    /// Replace an archive or tables that are there; other files in a folder stay
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    direction: Directed,
    #[command(flatten)]
    columns: ColumnArguments,
}

/// What a dataset is written as.
#[derive(Clone, Copy, Debug)]
enum Written {
    Archive,
    Store,
    Tables(TableFormat),
}

impl FromStr for Written {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "store" => Ok(Written::Store),
            _ => match text.parse() {
                Ok(OutputFormat::Npz) => Ok(Written::Archive),
                Ok(OutputFormat::Table { format, .. }) if format != TableFormat::Json => {
                    Ok(Written::Tables(format))
                }
                _ => Err(Error::parameter("format", text, "csv, tsv, parquet, npz or store")),
            },
        }
    }
}

impl Arguments {
    /// What is asked for, or what the output's name says.
    fn written(&self) -> Result<Written> {
        let is_archive = has_extension(&self.to, "npz");
        match self.format {
            Some(Written::Tables(_) | Written::Store) if is_archive => {
                let problem = "is the name of an archive, but --format asks for a folder";
                Err(Error::Data(problem.into()).in_file(&self.to))
            }
            Some(written) => Ok(written),
            None if is_archive => Ok(Written::Archive),
            None if is_store_name(&self.to) => Ok(Written::Store),
            None => Ok(Written::Tables(TableFormat::default())),
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
    let written = arguments.written()?;
    if matches!(written, Written::Archive) {
        check_output(&arguments.to, arguments.force, std::slice::from_ref(&arguments.from))?;
    } else {
        let is_store = matches!(written, Written::Store);
        check_folder(&arguments.to, arguments.force, &arguments.from, is_store)?;
    }
    let (directions, data_dir) = (arguments.direction.directions(), global.data_dir.as_deref());
    let options = ReadOptions { directions, columns: arguments.columns.columns() };
    let dataset = open_with(&arguments.from, data_dir, &options, &interrupt::context())?;
    dataset.notes().iter().for_each(|note| output.note(note));
    arguments.direction.note(&dataset, output);
    match written {
        Written::Archive => npz::write(&dataset, &arguments.to, arguments.force)?,
        Written::Store => {
            let by_place =
                recognise(&arguments.from, data_dir)?.is_none_or(|layout| layout.is_by_place());
            // A store is used as it is: what other formats are ordered by when they are read is ordered now.
            let dataset =
                if by_place { dataset.clone() } else { dataset.clone().ordered_by_names() };
            progress::show(output, "writing", Unit::Bytes, |context| {
                store::write(&dataset, &arguments.to, arguments.force, context)
            })?;
        }
        Written::Tables(format) => {
            let (needed, remedy) = (write_folder_memory(&dataset), "write an .npz archive instead");
            interrupt::context().memory().check("writing the tables", needed, remedy)?;
            write_folder(&dataset, &arguments.to, format, arguments.force)?;
        }
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
