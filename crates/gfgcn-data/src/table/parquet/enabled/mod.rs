//! Tables as Parquet files: typed columns, nulls for empty cells.
//!
//! Columns are read side by side in batches of rows, so that a table larger than the memory can be
//! passed over. The Parquet library can panic on damaged files; it is only entered through
//! [`guarded`], after [`guard`] has checked what it would allocate.

mod column;
mod guard;
mod thrift;
mod write;
mod zstd;

pub(in crate::table) use write::write;

use crate::limits::{justified, justify_cells};
use crate::reading::Reading;
use crate::table::Cell;
use crate::table::names::in_order_of_pandas;
use column::{Cells, Kind, Unread};
use gfgcn::files;
use gfgcn::{Error, Result};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows that are decoded at a time.
const BATCH: usize = 1024;

/// A Parquet table, read row by row.
pub(in crate::table) struct ParquetReader {
    path: PathBuf,
    file: File,
    length: u64,
    reader: SerializedFileReader<File>,
    /// Which columns of the file are the columns of the table, and how to read them, or why they cannot be.
    columns: Vec<(usize, Result<Kind, String>)>,
    /// The columns of the current row group.
    open: Vec<Box<dyn Cells>>,
    next_group: usize,
    left_in_group: usize,
    batch: usize,
    at: usize,
    row: u64,
    reading: Reading,
    /// Bytes that the pages of the current row group take.
    held: u64,
}

impl ParquetReader {
    /// Opens a table.
    pub(in crate::table) fn open(path: &Path, reading: &Reading) -> Result<Self> {
        let file = files::open(path)?;
        Self::start(path, file, reading).map_err(|e| e.in_file(path))
    }

    fn start(path: &Path, file: File, reading: &Reading) -> Result<Self> {
        let length = guard::check_footer(&file)?;
        let copy = file.try_clone().map_err(Error::Read)?;
        let reader = guarded(|| SerializedFileReader::new(copy)).map_err(damaged)?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        if schema.num_columns() == 0 {
            return Err(Error::Format("has no columns".into()));
        }
        let kinds: Vec<_> = schema.columns().iter().map(|column| Kind::of(column)).collect();
        let rows = metadata.row_groups().iter().try_fold(0u64, |sum, group| {
            u64::try_from(group.num_rows()).ok().and_then(|rows| sum.checked_add(rows))
        });
        let cells = rows.and_then(|rows| rows.checked_mul(schema.num_columns() as u64));
        if !cells.is_some_and(|cells| justify_cells(length, cells)) {
            return Err(Error::Format(format!(
                "claims {} columns of {} rows, far more than {length} bytes are about",
                schema.num_columns(),
                rows.map_or("more than 2^64".into(), |rows| rows.to_string()),
            )));
        }
        let columns = column_order(&reader).into_iter().map(|c| (c, kinds[c].clone())).collect();
        Ok(ParquetReader {
            path: path.to_owned(),
            file,
            length,
            reader,
            columns,
            open: Vec::new(),
            next_group: 0,
            left_in_group: 0,
            batch: 0,
            at: 0,
            row: 0,
            reading: reading.clone(),
            held: 0,
        })
    }

    /// The names of the columns.
    pub(in crate::table) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(column, _)| self.name(*column)).collect()
    }

    fn name(&self, column: usize) -> String {
        self.reader.metadata().file_metadata().schema_descr().column(column).path().string()
    }

    /// The number of columns.
    pub(in crate::table) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The number of the current row, from 1.
    pub(in crate::table) fn row(&self) -> u64 {
        self.row
    }

    /// A cell of the current row.
    pub(in crate::table) fn cell(&self, column: usize) -> Result<Cell<'_>, String> {
        self.open[column].cell(self.at)
    }

    /// Moves to the next row; `false` at the end.
    pub(in crate::table) fn advance(&mut self) -> Result<bool> {
        self.at += 1;
        while self.at >= self.batch {
            if self.left_in_group == 0 {
                if self.next_group == self.reader.num_row_groups() {
                    return Ok(false);
                }
                self.open_group()?;
                continue;
            }
            self.reading.check()?;
            self.batch = self.left_in_group.min(BATCH);
            for (k, column) in self.open.iter_mut().enumerate() {
                let batch = self.batch;
                if let Err(problem) = guarded(|| column.fill(batch)) {
                    return Err(self.column_error(self.columns[k].0, &problem));
                }
            }
            self.left_in_group -= self.batch;
            self.at = 0;
        }
        self.row += 1;
        Ok(true)
    }

    fn open_group(&mut self) -> Result<()> {
        let group = self.next_group;
        self.open.clear();
        self.reading.release(std::mem::take(&mut self.held));
        let mut held = 0u64;
        for (column, kind) in &self.columns {
            let (column, kind) = match kind {
                Ok(kind) => (*column, *kind),
                Err(problem) => {
                    self.open.push(Box::new(Unread(problem.clone())));
                    continue;
                }
            };
            let chunk = self.reader.metadata().row_group(group).column(column);
            let pages = check_compression(chunk.compression())
                .and_then(|()| guard::check_column(&self.file, self.length, chunk))
                .map_err(|problem| self.column_error(column, &problem))?;
            // A page of every column is held at a time.
            held = held.saturating_add(pages.held);
            if !justified(held, self.length) {
                let problem = format!(
                    "and those before it unfold to {held} bytes at a time, far more than the {} \
                     bytes of the file are about",
                    self.length
                );
                return Err(self.column_error(column, &problem));
            }
            // As it is in the file, expanded, and decoded.
            self.reading.hold(3 * pages.held).map_err(|e| e.in_file(&self.path))?;
            self.held += 3 * pages.held;
            let descriptor = chunk.column_descr_ptr();
            let opened = guarded(|| {
                let pages = match chunk.compression() {
                    Compression::ZSTD(_) => zstd::pages(&self.file, chunk, pages.sizes)?,
                    _ => self.reader.get_row_group(group)?.get_column_page_reader(column)?,
                };
                Ok(kind.open(descriptor, pages))
            });
            self.open.push(opened.map_err(|problem| self.column_error(column, &problem))?);
        }
        let rows = self.reader.metadata().row_group(group).num_rows();
        self.left_in_group = usize::try_from(rows).unwrap_or(0);
        self.batch = 0;
        self.next_group += 1;
        Ok(())
    }

    fn column_error(&self, column: usize, problem: &str) -> Error {
        let error = Error::Format(format!("column {:?} {problem}", self.name(column)));
        match self.row {
            0 => error.in_file(&self.path),
            row => error.at(&self.path, format_args!("after row {row}")),
        }
    }
}

/// This build can write Parquet files.
pub(in crate::table) fn check_writable() -> Result<()> {
    Ok(())
}

/// The columns in the order they are meant.
fn column_order(reader: &SerializedFileReader<File>) -> Vec<usize> {
    let metadata = reader.metadata().file_metadata();
    let names: Vec<&str> = metadata.schema_descr().columns().iter().map(|c| c.name()).collect();
    let pandas = (metadata.key_value_metadata().into_iter().flatten())
        .find(|entry| entry.key == "pandas")
        .and_then(|entry| entry.value.as_deref());
    in_order_of_pandas(&names, pandas)
}

fn check_compression(compression: Compression) -> Result<(), String> {
    match compression {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::ZSTD(_) => Ok(()),
        other => {
            let name = other.to_string();
            let name = name.split('(').next().unwrap_or_default();
            Err(format!("is compressed with {name}; write it with zstd, snappy, gzip or none"))
        }
    }
}

fn damaged(problem: String) -> Error {
    Error::Format(format!("the Parquet file {problem}"))
}

/// Calls into the Parquet library, which can panic on damaged files.
fn guarded<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(format!("is damaged: {error}")),
        Err(_) => Err("is damaged: its parts contradict each other".into()),
    }
}
