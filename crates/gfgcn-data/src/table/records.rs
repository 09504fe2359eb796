//! Tables that a reader of documents has put together: what a graph file says of its nodes, or of its edges.
//!
//! Documents say something of each node, and not the same of all; here that is a table like any other, with empty
//! cells where nothing is said. So what columns mean is written once.

use super::{Cell, Place};
use crate::reading::Reading;
use gfgcn::{Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The most columns: a document that invents a name for every value is no table.
const MOST_COLUMNS: usize = 1 << 16;

/// Rows of named cells.
#[derive(Debug)]
pub(crate) struct Records {
    path: PathBuf,
    /// What a row is, for messages: `node`.
    what: &'static str,
    names: Vec<String>,
    places: HashMap<String, u32>,
    /// The row, from 1, in which each column was filled last.
    filled: Vec<usize>,
    text: String,
    cells: Vec<(u32, Stored)>,
    /// Where the cells of each row end.
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Stored {
    Text { start: usize, length: u32 },
    Integer(i64),
    Float(f64),
    Bool(bool),
}

impl Records {
    /// No rows yet; the first columns are there in any case.
    pub(crate) fn new(path: &Path, what: &'static str, first: &[&str]) -> Records {
        let names: Vec<String> = first.iter().map(|name| (*name).to_owned()).collect();
        let places = names.iter().zip(0..).map(|(name, k)| (name.clone(), k)).collect();
        let (path, filled) = (path.to_owned(), vec![0; names.len()]);
        let (text, cells, ends) = (String::new(), Vec::new(), Vec::new());
        Records { path, what, names, places, filled, text, cells, ends }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a column has the same text wherever it has some.
    pub(crate) fn is_constant(&self, name: &str) -> bool {
        let Some(&column) = self.places.get(name) else { return true };
        let mut values =
            self.cells.iter().filter(|(of, _)| *of == column).map(|(_, stored)| self.cell(*stored));
        let first = values.next();
        values.all(|value| Some(value) == first)
    }

    /// The file it comes from.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The place of a column, which is new if it was not there.
    pub(crate) fn column(&mut self, name: &str, reading: &Reading) -> Result<u32> {
        if let Some(&place) = self.places.get(name) {
            return Ok(place);
        }
        if self.names.len() == MOST_COLUMNS {
            return Err(self.error(format!(
                "has the attribute {name:?}, one more than the {MOST_COLUMNS} different ones that are read"
            )));
        }
        reading.grow(2 * name.len() + 64)?;
        let place = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.filled.push(0);
        self.places.insert(name.to_owned(), place);
        Ok(place)
    }

    /// Fills a cell of the row that is being put together.
    pub(crate) fn set(&mut self, column: u32, cell: Cell, reading: &Reading) -> Result<()> {
        let row = self.len() + 1;
        if std::mem::replace(&mut self.filled[column as usize], row) == row {
            let name = &self.names[column as usize];
            return Err(self.error(format!("has two values of {name:?}")));
        }
        let stored = match cell {
            Cell::Empty => return Ok(()),
            Cell::Text(text) => {
                let (start, length) = (self.text.len(), text.len());
                let length = u32::try_from(length)
                    .map_err(|_| self.error("has a text of more than 4 GiB".into()))?;
                self.text.push_str(text);
                reading.grow(text.len())?;
                Stored::Text { start, length }
            }
            Cell::Integer(value) => match i64::try_from(value) {
                Ok(value) => Stored::Integer(value),
                Err(_) => Stored::Float(value as f64),
            },
            Cell::Float(value) => Stored::Float(value),
            Cell::Bool(value) => Stored::Bool(value),
        };
        reading.grow(size_of::<(u32, Stored)>())?;
        self.cells.push((column, stored));
        Ok(())
    }

    /// Ends the row that is being put together.
    pub(crate) fn finish_row(&mut self, reading: &Reading) -> Result<()> {
        self.ends.push(self.cells.len());
        reading.grow(size_of::<usize>())
    }

    /// An error in the row that is being put together.
    pub(crate) fn error(&self, problem: String) -> Error {
        let place = Place::Item(self.what, self.len() as u64 + 1);
        Error::Data(problem).at(&self.path, place)
    }

    fn cell(&self, stored: Stored) -> Cell<'_> {
        match stored {
            Stored::Text { start, length } => {
                Cell::Text(&self.text[start..start + length as usize])
            }
            Stored::Integer(value) => Cell::Integer(value.into()),
            Stored::Float(value) => Cell::Float(value),
            Stored::Bool(value) => Cell::Bool(value),
        }
    }
}

/// A cursor over the rows.
pub(super) struct RecordsReader {
    records: Rc<Records>,
    row: usize,
    /// The cell of each column in the current row.
    current: Vec<Option<Stored>>,
}

impl RecordsReader {
    pub(super) fn new(records: Rc<Records>) -> Self {
        let current = vec![None; records.names.len()];
        RecordsReader { records, row: 0, current }
    }

    pub(super) fn advance(&mut self) -> bool {
        let Some(&end) = self.records.ends.get(self.row) else { return false };
        let begin = self.row.checked_sub(1).map_or(0, |before| self.records.ends[before]);
        self.current.fill(None);
        for &(column, stored) in &self.records.cells[begin..end] {
            self.current[column as usize] = Some(stored);
        }
        self.row += 1;
        true
    }

    pub(super) fn columns(&self) -> usize {
        self.current.len()
    }

    pub(super) fn place(&self) -> Place {
        Place::Item(self.records.what, self.row as u64)
    }

    pub(super) fn cell(&self, column: usize) -> Cell<'_> {
        self.current[column].map_or(Cell::Empty, |stored| self.records.cell(stored))
    }
}
