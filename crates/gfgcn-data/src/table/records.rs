//! Tables that a reader of documents has put together: what a graph file says of its nodes, or of its edges.
//!
//! Documents say something of each node, and not the same of all; here that is a table like any other, with empty
//! cells where nothing is said. So what columns mean is written once.
//!
//! Cells are kept as they would be written, in as few bytes as that takes: a document is held twice otherwise.

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
    /// Row by row: the place of a column plus one, what its cell is, and the cell; then a zero.
    cells: Vec<u8>,
    rows: usize,
}

/// A cell, where texts are places among the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stored {
    Text { start: usize, length: usize },
    Integer(i64),
    Float(f64),
    Bool(bool),
}

/// What cells are, in their bytes.
mod kind {
    pub(super) const TEXT: u8 = 0;
    pub(super) const INTEGER: u8 = 1;
    pub(super) const FLOAT: u8 = 2;
    pub(super) const FALSE: u8 = 3;
    pub(super) const TRUE: u8 = 4;
}

/// Adds a number, seven bits at a time, the least first.
fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes such a number from a place, which moves on.
fn take_number(bytes: &[u8], at: &mut usize) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

impl Records {
    /// No rows yet; the first columns are there in any case.
    pub(crate) fn new(path: &Path, what: &'static str, first: &[&str]) -> Records {
        let names: Vec<String> = first.iter().map(|name| (*name).to_owned()).collect();
        let places = names.iter().zip(0..).map(|(name, k)| (name.clone(), k)).collect();
        let (path, filled) = (path.to_owned(), vec![0; names.len()]);
        Records { path, what, names, places, filled, cells: Vec::new(), rows: 0 }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a column has the same text wherever it has some.
    pub(crate) fn is_constant(&self, name: &str) -> bool {
        let Some(&column) = self.places.get(name) else { return true };
        let (mut at, mut first) = (0, None);
        while at < self.cells.len() {
            let Some((of, stored)) = self.take(&mut at) else { continue };
            let cell = (of == column).then(|| self.cell(stored));
            match (first, cell) {
                (None, Some(_)) => first = cell,
                (Some(first), Some(other)) if first != other => return false,
                _ => {}
            }
        }
        true
    }

    /// The column and the cell at a place among the bytes, which moves on; `None` at the end of a row.
    fn take(&self, at: &mut usize) -> Option<(u32, Stored)> {
        let column = take_number(&self.cells, at).checked_sub(1)? as u32;
        let what = self.cells[*at];
        *at += 1;
        let stored = match what {
            kind::TEXT => {
                let length = take_number(&self.cells, at) as usize;
                let start = *at;
                *at += length;
                Stored::Text { start, length }
            }
            kind::INTEGER => {
                let number = take_number(&self.cells, at);
                Stored::Integer((number >> 1) as i64 ^ -((number & 1) as i64))
            }
            kind::FLOAT => {
                let start = *at;
                *at += 8;
                let bytes = self.cells[start..*at].try_into().expect("eight bytes");
                Stored::Float(f64::from_le_bytes(bytes))
            }
            truth => Stored::Bool(truth == kind::TRUE),
        };
        Some((column, stored))
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
        if cell == Cell::Empty {
            return Ok(());
        }
        let before = self.cells.len();
        push_number(&mut self.cells, u64::from(column) + 1);
        match cell {
            Cell::Empty => {}
            Cell::Text(text) => {
                self.cells.push(kind::TEXT);
                push_number(&mut self.cells, text.len() as u64);
                self.cells.extend_from_slice(text.as_bytes());
            }
            Cell::Integer(value) => match i64::try_from(value) {
                Ok(value) => {
                    self.cells.push(kind::INTEGER);
                    push_number(&mut self.cells, (value << 1 ^ value >> 63) as u64);
                }
                Err(_) => self.push_float(value as f64),
            },
            Cell::Float(value) => self.push_float(value),
            Cell::Bool(truth) => self.cells.push(if truth { kind::TRUE } else { kind::FALSE }),
        }
        reading.grow(self.cells.len() - before)
    }

    fn push_float(&mut self, value: f64) {
        self.cells.push(kind::FLOAT);
        self.cells.extend(value.to_le_bytes());
    }

    /// Ends the row that is being put together.
    pub(crate) fn finish_row(&mut self, reading: &Reading) -> Result<()> {
        self.cells.push(0);
        self.rows += 1;
        reading.grow(1)
    }

    /// Gives back what was kept for more rows.
    pub(crate) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
    }

    /// An error in the row that is being put together.
    pub(crate) fn error(&self, problem: String) -> Error {
        let place = Place::Item(self.what, self.len() as u64 + 1);
        Error::Data(problem).at(&self.path, place)
    }

    fn cell(&self, stored: Stored) -> Cell<'_> {
        match stored {
            Stored::Text { start, length } => {
                let text = std::str::from_utf8(&self.cells[start..start + length]);
                Cell::Text(text.expect("it was text"))
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
    /// Where the next row begins.
    at: usize,
    /// The cell of each column in the current row.
    current: Vec<Option<Stored>>,
}

impl RecordsReader {
    pub(super) fn new(records: Rc<Records>) -> Self {
        let current = vec![None; records.names.len()];
        RecordsReader { records, row: 0, at: 0, current }
    }

    pub(super) fn advance(&mut self) -> bool {
        if self.row == self.records.rows {
            return false;
        }
        self.current.fill(None);
        while let Some((column, stored)) = self.records.take(&mut self.at) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use gfgcn::context::Context;

    #[test]
    fn cells_come_back_as_they_were() {
        let reading = Reading::under(&Context::default()).unwrap();
        let mut records = Records::new(Path::new("x"), "node", &["id"]);
        let column = records.column("other", &reading).unwrap();
        let long = "ü".repeat(200);
        let cells = [
            Cell::Integer(0),
            Cell::Integer(-1),
            Cell::Integer(i64::MIN.into()),
            Cell::Integer(i64::MAX.into()),
            Cell::Float(-0.1),
            Cell::Bool(true),
            Cell::Bool(false),
            Cell::Text(""),
            Cell::Text(&long),
            Cell::Empty,
        ];
        for cell in cells {
            records.set(column, cell, &reading).unwrap();
            records.finish_row(&reading).unwrap();
        }
        assert!(!records.is_constant("other") && records.is_constant("id"));
        let mut reader = RecordsReader::new(Rc::new(records));
        for cell in cells {
            assert!(reader.advance());
            assert_eq!((reader.cell(0), reader.cell(1)), (Cell::Empty, cell));
        }
        assert!(!reader.advance());
    }
}
