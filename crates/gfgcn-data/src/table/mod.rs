//! Tables: rows of cells with a place that errors can name, in text, Parquet or Arrow.
//!
//! A [`Table`] is a cursor over the rows of any format, so that what the columns *mean* is
//! written once. Text has no types and may lack a header; the others have both. The difference ends
//! here: a header is a list of names or it is not there, and a cell converts itself.

mod arrow;
mod cell;
mod expand;
mod format;
mod frame;
pub(crate) mod names;
mod parquet;
mod records;
mod source;
mod text;
mod write;

pub(crate) use cell::{Cell, is_number, parse_number};
pub(crate) use format::FileFormat;
pub use format::{OutputFormat, TableFormat, check_table_name};
pub use frame::{Frame, FrameColumn};
pub(crate) use records::Records;
pub(crate) use source::{Place, TableSource};
pub(crate) use text::{Dialect, RowKind};
pub use write::{Column, ColumnData, write_columns, write_table};
pub(crate) use write::{ROWS_AT_A_TIME, write_table_in_parts};

use crate::reading::Reading;
use arrow::ArrowReader;
use frame::FrameReader;
use gfgcn::{Error, Result};
use parquet::ParquetReader;
use records::RecordsReader;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use text::TextReader;

/// A table being read, at one of its rows.
pub(crate) struct Table {
    path: PathBuf,
    rows: Rows,
    names: Option<Vec<String>>,
    /// Which columns of the file these are.
    view: Vec<usize>,
    /// Columns that stand before the first that counts and have no name: the index of a data frame.
    index: usize,
    /// The current row was looked at to find out whether it is a header, and is not one.
    pending: bool,
    reading: Reading,
}

enum Rows {
    Text(TextReader),
    Parquet(ParquetReader),
    Arrow(ArrowReader),
    Records(RecordsReader),
    Frame(FrameReader),
}

impl Table {
    /// Opens a table by the extension of its name. Spaces belong to its cells.
    ///
    /// `is_header` decides from the cells of the first row of a text table whether they are names;
    /// other columns always have names. Where one that is the `key` of its row for sure comes after
    /// columns without a name, those are left out.
    pub(crate) fn open(
        source: &TableSource,
        is_key: impl Fn(&str) -> bool,
        is_header: impl Fn(&[String]) -> bool,
        reading: &Reading,
    ) -> Result<Self> {
        Table::open_with(source, RowKind::Any, is_key, is_header, reading)
    }

    /// As [`Table::open`], of a table of edges, or of any other that has two columns or more.
    pub(crate) fn open_with(
        source: &TableSource,
        rows: RowKind,
        is_key: impl Fn(&str) -> bool,
        is_header: impl Fn(&[String]) -> bool,
        reading: &Reading,
    ) -> Result<Self> {
        let path = source.path();
        let open = |rows: Rows, names: Option<Vec<String>>, index, pending| {
            let names = names.map(|mut names| names.split_off(index));
            let (path, reading) = (path.to_owned(), reading.clone());
            let view = (index..rows.columns()).collect();
            Table { path, rows, names, view, index, pending, reading }
        };
        let index_of = |names: &[String]| {
            let unnamed = names.iter().take_while(|name| names::is_unnamed(name)).count();
            if names.get(unnamed).is_some_and(|name| is_key(name)) { unnamed } else { 0 }
        };
        let (path, given) = match source {
            TableSource::File { path, separator } => (path, *separator),
            TableSource::Records(records) => {
                let reader = RecordsReader::new(Rc::clone(records));
                return Ok(open(Rows::Records(reader), Some(records.names().to_vec()), 0, false));
            }
            TableSource::Frame(frame) => {
                let reader = FrameReader::new(Rc::clone(frame));
                let names = reader.names();
                return Ok(open(Rows::Frame(reader), Some(names), 0, false));
            }
        };
        let usual = match FileFormat::of(path)? {
            FileFormat::Text { separator } => separator,
            FileFormat::Parquet => {
                let reader = ParquetReader::open(path, reading)?;
                let names = names::checked(reader.names()).map_err(|e| e.in_file(path))?;
                let index = index_of(&names);
                return Ok(open(Rows::Parquet(reader), Some(names), index, false));
            }
            FileFormat::Arrow => {
                let reader = ArrowReader::open(path, reading)?;
                let names = names::checked(reader.names()).map_err(|e| e.in_file(path))?;
                let index = index_of(&names);
                return Ok(open(Rows::Arrow(reader), Some(names), index, false));
            }
            FileFormat::MatrixMarket | FileFormat::Npy | FileFormat::Json => {
                return Err(Error::Data(format!(
                    "is no table, but one is needed here: {}",
                    FileFormat::TABLES
                ))
                .in_file(path));
            }
        };
        let mut reader = TextReader::open(path, Dialect { given, usual, rows }, reading)?;
        if !reader.advance()? {
            let problem = match reader.skipped() {
                0 => "is empty".to_owned(),
                skipped => format!(
                    "is empty but for {skipped} lines that begin with # or %, which are comments; put ids that \
                     begin so into quotes"
                ),
            };
            return Err(Error::Format(problem).in_file(path));
        }
        let first: Vec<String> = (0..reader.columns()).map(|k| reader.cell(k).into()).collect();
        let index = Some(index_of(&first)).filter(|&index| is_header(&first[index..]));
        let header = index.is_some() || is_header(&first);
        if header {
            reader.has_header();
        }
        let (names, index) = (header.then_some(first), index.unwrap_or(0));
        Ok(open(Rows::Text(reader), names, index, !header))
    }

    /// Goes on with some of the columns, in that order.
    pub(crate) fn keep(&mut self, columns: &[usize]) {
        self.view = columns.iter().map(|&column| self.view[column]).collect();
        if let Some(names) = &mut self.names {
            *names = columns.iter().map(|&column| names[column].clone()).collect();
        }
    }

    /// The place of a column that a person has named.
    pub(crate) fn find(&self, wanted: &str) -> Result<usize> {
        if let Some(found) = self.find_if_there(wanted) {
            return Ok(found);
        }
        const SHOWN: usize = 8;
        let there = match &self.names {
            Some(names) => {
                let shown: Vec<String> =
                    names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
                let more = names.len().saturating_sub(SHOWN);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("there are {}{more}", shown.join(", "))
            }
            None => format!("it has no header, so columns are the numbers 1 to {}", self.columns()),
        };
        Err(self.header_error(format!("there is no column {wanted:?}; {there}")))
    }

    /// The place of a column that a person has named, or `None`.
    pub(crate) fn find_if_there(&self, wanted: &str) -> Option<usize> {
        match &self.names {
            Some(names) => crate::columns::find(names, wanted),
            None => crate::columns::find(&vec![""; self.columns()], wanted),
        }
    }

    /// A note where comments were skipped.
    pub(crate) fn note_of_comments(&self) -> Option<String> {
        let Rows::Text(reader) = &self.rows else { return None };
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        match reader.skipped() {
            0 => None,
            1 => Some(format!("{file}: 1 line that begins with # or % is a comment")),
            some => Some(format!("{file}: {some} lines that begin with # or % are comments")),
        }
    }

    /// A note where an index was left out.
    pub(crate) fn note_of_index(&self) -> Option<String> {
        (self.index > 0).then(|| {
            let file = self.path.file_name().unwrap_or_default().to_string_lossy();
            let what = match self.index {
                1 => "the first column has no name and is".to_owned(),
                several => format!("the first {several} columns have no names and are"),
            };
            format!("{file}: {what} left out, as the index of a data frame")
        })
    }

    /// Refuses a first column without a name, where none of these options says which column counts; `remedy` says which
    /// columns there should be.
    pub(crate) fn check_key_is_named(&self, options: &str, remedy: &str) -> Result<()> {
        match self.names() {
            Some([first, ..]) if names::is_unnamed(first) => Err(self.header_error(format!(
                "the first column has no name, which looks like the index of a data frame; say which columns count with \
                 {options}, or write the table with index=False and {remedy}"
            ))),
            _ => Ok(()),
        }
    }

    /// Moves to the next row; `false` at the end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.pending) {
            return Ok(true);
        }
        match &mut self.rows {
            Rows::Text(reader) => reader.advance(),
            Rows::Parquet(reader) => reader.advance(),
            Rows::Arrow(reader) => reader.advance(),
            Rows::Records(reader) => {
                self.reading.check()?;
                Ok(reader.advance())
            }
            Rows::Frame(reader) => {
                self.reading.check()?;
                Ok(reader.advance())
            }
        }
    }

    /// Notes that what is kept of the table has grown by so many bytes.
    pub(crate) fn grow(&self, bytes: usize) -> Result<()> {
        self.reading.grow(bytes).map_err(|e| e.in_file(&self.path))
    }

    /// Asks for memory for what is made of the table.
    pub(crate) fn hold(&self, bytes: usize) -> Result<()> {
        self.reading.hold(bytes as u64).map_err(|e| e.in_file(&self.path))
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the columns, where there is a header.
    pub(crate) fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.view.len()
    }

    /// Where a column stands in the file, from 1.
    pub(crate) fn position(&self, column: usize) -> usize {
        self.view[column] + 1
    }

    /// Where the current row stands.
    pub(crate) fn place(&self) -> Place {
        match &self.rows {
            Rows::Text(reader) => Place::Line(reader.line()),
            Rows::Parquet(reader) => Place::Row(reader.row()),
            Rows::Arrow(reader) => Place::Row(reader.row()),
            Rows::Records(reader) => reader.place(),
            Rows::Frame(reader) => reader.place(),
        }
    }

    /// A cell of the current row.
    pub(crate) fn cell(&self, column: usize) -> Result<Cell<'_>> {
        match &self.rows {
            Rows::Text(reader) => Ok(Cell::Text(reader.cell(self.view[column]))),
            Rows::Parquet(reader) => {
                let cell = reader.cell(self.view[column]);
                cell.map_err(|problem| self.cell_error(column, problem))
            }
            Rows::Arrow(reader) => {
                let cell = reader.cell(self.view[column]);
                cell.map_err(|problem| self.cell_error(column, problem))
            }
            Rows::Records(reader) => Ok(reader.cell(self.view[column])),
            Rows::Frame(reader) => Ok(reader.cell(self.view[column])),
        }
    }

    /// Whether a column holds categories even where they are called by numbers.
    pub(crate) fn is_category(&self, column: usize) -> bool {
        match &self.rows {
            Rows::Frame(reader) => reader.is_category(self.view[column]),
            _ => false,
        }
    }

    /// How a person leaves columns out.
    pub(crate) fn leaving_out(&self, columns: &[&str]) -> String {
        match &self.rows {
            Rows::Frame(_) => "out of X".to_owned(),
            _ if columns.is_empty() => "out with --drop-columns".to_owned(),
            _ => format!("out with --drop-columns {}", columns.join(",")),
        }
    }

    /// An error in the current row.
    pub(crate) fn error(&self, problem: impl Into<String>) -> Error {
        Error::Data(problem.into()).at(&self.path, self.place())
    }

    /// An error in a cell of the current row.
    pub(crate) fn cell_error(&self, column: usize, problem: impl fmt::Display) -> Error {
        let name = match &self.names {
            Some(names) if !names[column].is_empty() => format!("{:?}", names[column]),
            _ => self.position(column).to_string(),
        };
        self.error(format!("column {name} {problem}"))
    }

    /// An error in the columns themselves, before any row has been asked for.
    pub(crate) fn header_error(&self, problem: impl Into<String>) -> Error {
        match &self.rows {
            Rows::Text(_) => self.error(problem),
            Rows::Parquet(_) | Rows::Arrow(_) | Rows::Records(_) | Rows::Frame(_) => {
                Error::Data(problem.into()).in_file(&self.path)
            }
        }
    }
}

impl Rows {
    fn columns(&self) -> usize {
        match self {
            Rows::Text(reader) => reader.columns(),
            Rows::Parquet(reader) => reader.columns(),
            Rows::Arrow(reader) => reader.columns(),
            Rows::Records(reader) => reader.columns(),
            Rows::Frame(reader) => reader.columns(),
        }
    }
}
