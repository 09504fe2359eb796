//! Tables that commands write beside their reports: where to, and in which format.

use crate::output::Output;
use crate::source::check_output;
use crate::{interrupt, shown, stdio};
use clap::Args;
use gfgcn::Result;
use gfgcn_data::{Column, OutputFormat, write_columns};
use std::path::{Path, PathBuf};

/// The format of a file that is written.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FormatOption {
    /// csv, tsv, json, parquet or npz [default: as the name of the output says; csv on standard output]
    #[arg(long, value_name = "FORMAT", requires = "output")]
    format: Option<OutputFormat>,
}

impl FormatOption {
    /// The format that is asked for, or that the output's name says.
    pub(crate) fn of(&self, path: &Path) -> Result<OutputFormat> {
        match self.format {
            Some(format) => Ok(format),
            None if stdio::is_standard(path) => "csv".parse(),
            None => OutputFormat::of(path),
        }
    }
}

/// A table that a command writes if it is asked to.
#[derive(Args, Clone, Debug)]
pub(crate) struct TableTarget {
    /// Write the list to a table, or to - for standard output: .csv, .tsv, .json (each also .gz), .parquet or .npz
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: FormatOption,
}

impl TableTarget {
    /// Notices before any work is done that the table could not or must not be written, and says where the report goes.
    pub(crate) fn check(&self, force: bool, inputs: &[PathBuf], output: &Output) -> Result<Output> {
        let Some(path) = &self.output else { return Ok(*output) };
        self.format.of(path)?;
        if stdio::is_standard(path) {
            return Ok(output.with_data_on_stdout());
        }
        check_output(path, force, inputs)?;
        Ok(*output)
    }

    /// Writes the table, if one is asked for.
    pub(crate) fn write<'c>(
        &self,
        force: bool,
        columns: impl FnOnce() -> Vec<Column<'c>>,
    ) -> anyhow::Result<()> {
        let Some(path) = &self.output else { return Ok(()) };
        let format = self.format.of(path)?;
        write_to(path, |path| write_columns((path, format), force, &columns()))
    }

    /// Whether a table is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.output.is_some()
    }

    /// The file, for reports.
    pub(crate) fn shown(&self) -> Option<String> {
        self.output.as_deref().map(shown::path)
    }
}

/// Writes a file in one go; on its way to standard output it is made whole first.
pub(crate) fn write_to(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> anyhow::Result<()> {
    let _uninterrupted = interrupt::writing();
    if !stdio::is_standard(path) {
        return Ok(write(path)?);
    }
    let folder = stdio::Folder::new()?;
    let kept = folder.path("output");
    write(&kept)?;
    stdio::print_file(&kept)
}
