//! Columns that a program holds in memory: a data frame.

use super::{Cell, Place};
use gfgcn::{Error, Result};
use std::rc::Rc;

/// A column of a [`Frame`].
#[derive(Clone, Debug, PartialEq)]
pub enum FrameColumn {
    /// Numbers; NaN for a missing one.
    Numbers(Vec<f64>),
    /// Text, which may spell numbers.
    Texts(Vec<Option<String>>),
    /// Categories by name, whatever they are called.
    Categories(Vec<Option<String>>),
}

impl FrameColumn {
    fn rows(&self) -> usize {
        match self {
            FrameColumn::Numbers(values) => values.len(),
            FrameColumn::Texts(texts) | FrameColumn::Categories(texts) => texts.len(),
        }
    }
}

/// Named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// What the rows are called: each by its number. The column that every table begins with.
    names: Vec<String>,
    columns: Vec<FrameColumn>,
}

impl Frame {
    /// # Errors
    /// Columns of different lengths.
    pub fn new(columns: Vec<(String, FrameColumn)>) -> Result<Frame> {
        let rows = columns.first().map_or(0, |(_, column)| column.rows());
        for (name, column) in &columns {
            Error::check_size(format!("rows of column {name:?}"), rows, column.rows())?;
        }
        let (names, columns) = columns.into_iter().unzip();
        Ok(Frame { names, columns })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, FrameColumn::rows)
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// A cursor over the rows; the number of the row is the first column.
pub(super) struct FrameReader {
    frame: Rc<Frame>,
    /// From 1.
    row: usize,
}

impl FrameReader {
    pub(super) fn new(frame: Rc<Frame>) -> Self {
        FrameReader { frame, row: 0 }
    }

    pub(super) fn names(&self) -> Vec<String> {
        [&["row".to_owned()][..], &self.frame.names].concat()
    }

    pub(super) fn columns(&self) -> usize {
        1 + self.frame.columns.len()
    }

    pub(super) fn advance(&mut self) -> bool {
        self.row += 1;
        self.row <= self.frame.rows()
    }

    /// As programs count rows.
    pub(super) fn place(&self) -> Place {
        Place::Row(self.row.saturating_sub(1) as u64)
    }

    pub(super) fn is_category(&self, column: usize) -> bool {
        column > 0 && matches!(self.frame.columns[column - 1], FrameColumn::Categories(_))
    }

    pub(super) fn cell(&self, column: usize) -> Cell<'_> {
        let row = self.row - 1;
        let Some(column) = column.checked_sub(1) else { return Cell::Integer(row as i128) };
        match &self.frame.columns[column] {
            FrameColumn::Numbers(values) if values[row].is_nan() => Cell::Empty,
            FrameColumn::Numbers(values) => Cell::Float(values[row]),
            FrameColumn::Texts(texts) | FrameColumn::Categories(texts) => {
                texts[row].as_deref().map_or(Cell::Empty, Cell::Text)
            }
        }
    }
}
