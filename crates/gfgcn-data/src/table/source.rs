//! Where a table comes from, and how a person finds a row in it.

use super::{FileFormat, Frame, Records};
use crate::columns::Separator;
use gfgcn::Result;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Where a table is to be read from.
#[derive(Clone, Debug)]
pub(crate) enum TableSource {
    /// A file, in the format that its name says.
    File {
        /// The file.
        path: PathBuf,
        /// What stands between cells, where a person says so.
        separator: Option<Separator>,
    },
    /// What a document says.
    Records(Rc<Records>),
    /// What a program holds.
    Frame(Rc<Frame>),
}

impl TableSource {
    /// A file of the usual kind.
    pub(crate) fn file(path: &Path) -> TableSource {
        TableSource::File { path: path.to_owned(), separator: None }
    }

    /// The file, or the document.
    pub(crate) fn path(&self) -> &Path {
        match self {
            TableSource::File { path, .. } => path,
            TableSource::Records(records) => records.path(),
            TableSource::Frame(_) => Path::new("X"),
        }
    }

    /// What the file holds; `None` if it is a document.
    pub(crate) fn format(&self) -> Result<Option<FileFormat>> {
        match self {
            TableSource::File { path, .. } => FileFormat::of(path).map(Some),
            TableSource::Records(_) | TableSource::Frame(_) => Ok(None),
        }
    }

    /// Whether the cells have types, and the columns names.
    pub(crate) fn is_document(&self) -> bool {
        matches!(self, TableSource::Records(_))
    }
}

/// A row of a table, as a person finds it in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A line of a text file, from 1.
    Line(u64),
    /// A row of a file without lines, from 1.
    Row(u64),
    /// A part of a document, by what it is, from 1.
    Item(&'static str, u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(number) => write!(f, "line {number}"),
            Place::Row(number) => write!(f, "row {number}"),
            Place::Item(what, number) => write!(f, "{what} {number}"),
        }
    }
}
