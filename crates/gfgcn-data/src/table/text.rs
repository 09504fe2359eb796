//! Tables as text: cells separated by commas, tabs, semicolons or spaces, one row per line.
//!
//! Read by hand rather than through a CSV library because errors have to name the line: the usual
//! libraries let an unclosed quote swallow the rest of the file, accept text after a closing quote
//! and count lines differently under CRLF.
//!
//! A cell that begins with `"` is quoted: it keeps its spaces and may hold the separator, line ends
//! and `""` for a quote. Every other cell loses the spaces and tabs around it. Lines with nothing
//! on them are skipped.
//!
//! Spreadsheets put semicolons between cells where the comma is the decimal point, so between semicolons `0,5` is read as
//! `0.5`.

use crate::columns::Separator;
use crate::lines::{LONGEST, Lines};
use crate::reading::Reading;
use gfgcn::{Error, Result};
use std::ops::Range;
use std::path::Path;

/// The most cells of a row. A compressed line of nothing but separators could fill the memory.
const MOST_CELLS: usize = 1 << 20;

/// How a text table is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// What a person says stands between cells.
    pub(crate) given: Option<Separator>,
    /// What the extension of the file says.
    pub(crate) usual: Option<u8>,
    /// What the rows are.
    pub(crate) rows: RowKind,
}

/// What the rows of a table are, which decides how they may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A single cell will do, so that spaces belong to it.
    #[default]
    Any,
    /// Two cells or more: if nothing else is between them, spaces are.
    Several,
    /// Edges: as [`RowKind::Several`], with comments on lines that begin with `#` or `%`, and perhaps what networkx writes
    /// of each edge at the end, `{'weight': 2}`.
    Edges,
}

impl Dialect {
    /// Whether a line has what the extension of the file says: a line of nothing but tabs has cells, too.
    fn is_usual_in(self, line: &str) -> bool {
        self.usual.is_some_and(|byte| line.as_bytes().contains(&byte))
    }

    /// What stands between the cells of a first line.
    fn separator(self, line: &str) -> Separator {
        if let Some(given) = self.given {
            return given;
        }
        let others: &[u8] = match (self.usual, self.rows) {
            (_, RowKind::Several | RowKind::Edges) => b"\t;,",
            (Some(b','), RowKind::Any) => b";",
            (Some(_), RowKind::Any) => b"",
            (None, RowKind::Any) => b"\t",
        };
        // What networkx writes of an edge has separators of its own.
        let line = match self.rows {
            RowKind::Edges => &line[..attributes_in(line).unwrap_or(line.len())],
            RowKind::Any | RowKind::Several => line,
        };
        let has = |byte: &u8| line.as_bytes().contains(byte);
        // Commas that are decimal points are no separators, even in a .csv file.
        if self.usual == Some(b',') && has(&b';') && has_only_decimal_commas(line) {
            return Separator::Character(b';');
        }
        let found = self.usual.filter(has).or_else(|| others.iter().copied().find(has));
        match found {
            Some(byte) => Separator::Character(byte),
            None if self.rows != RowKind::Any && line.trim_ascii().contains(' ') => {
                Separator::Blanks
            }
            None => Separator::Character(self.usual.unwrap_or(b',')),
        }
    }
}

/// Where the attributes of an edge begin at the end of a line, as Python writes a dict.
fn attributes_in(line: &str) -> Option<usize> {
    if !line.trim_ascii_end().ends_with('}') {
        return None;
    }
    let begins = |(at, _): &(usize, &str)| {
        line[..*at].ends_with([' ', '\t', ',', ';'])
            && ["{}", "{'", "{\""].iter().any(|begin| line[*at..].starts_with(begin))
    };
    line.match_indices('{').find(begins).map(|(at, _)| at)
}

/// Whether every comma in a line of cells between semicolons is a decimal point.
fn has_only_decimal_commas(line: &str) -> bool {
    let mut cells =
        line.trim_ascii().split(';').filter_map(|cell| cell.trim_ascii().split_once(','));
    cells.all(|(whole, fraction)| is_decimal(whole, fraction))
}

/// Whether two parts of a cell are a number with a comma for its decimal point.
fn is_decimal(whole: &str, fraction: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let exponent = match fraction.split_at(digits(fraction)) {
        ("", _) => return false,
        (_, rest) => rest,
    };
    let exponent = exponent.strip_prefix(['e', 'E']);
    let exponent = exponent.map(|power| power.strip_prefix(['-', '+']).unwrap_or(power));
    let is_number = |text: &str| !text.is_empty() && digits(text) == text.len();
    is_number(whole) && (fraction.len() == digits(fraction) || exponent.is_some_and(is_number))
}

/// A text table, read record by record.
pub(super) struct TextReader {
    lines: Lines,
    dialect: Dialect,
    /// `None` until the first line shows it.
    separator: Option<Separator>,
    /// Whether lines that begin with `#` or `%` are skipped.
    comments: bool,
    skipped: u64,
    /// The current record as it stands in the file.
    record: String,
    /// The line on which the current record begins.
    line: u64,
    /// The contents of the current record's cells, one after another.
    text: String,
    cells: Vec<Range<usize>>,
    /// The line and number of cells of the first record: every other must have as many.
    shape: Option<(u64, usize)>,
}

impl TextReader {
    /// Opens a table.
    pub(super) fn open(path: &Path, dialect: Dialect, reading: &Reading) -> Result<Self> {
        Ok(TextReader {
            lines: Lines::open(path, reading)?,
            dialect,
            separator: None,
            comments: dialect.rows == RowKind::Edges,
            skipped: 0,
            record: String::new(),
            line: 0,
            text: String::new(),
            cells: Vec::new(),
            shape: None,
        })
    }

    /// Moves to the next record; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        loop {
            let Some(line) = self.lines.next()? else { return Ok(false) };
            self.record.clear();
            self.record.push_str(line);
            self.line = self.lines.number();
            if self.comments && self.record.starts_with(['#', '%']) {
                self.skipped += 1;
                continue;
            }
            let blank = self.record.trim_ascii().is_empty();
            let separator = match self.separator {
                Some(separator) => separator,
                None if blank && !self.dialect.is_usual_in(&self.record) => continue,
                None => self.dialect.separator(&self.record),
            };
            self.separator = Some(separator);
            match separator {
                Separator::Character(byte) => self.split(byte)?,
                Separator::Blanks if blank => continue,
                Separator::Blanks => self.split_at_blanks()?,
            }
            if !(blank && self.cells.len() == 1) {
                break;
            }
        }
        match self.shape {
            None => self.shape = Some((self.line, self.cells.len())),
            Some((line, cells)) if cells != self.cells.len() => {
                return Err(self.wrong(
                    self.line,
                    match self.cells.len() {
                        1 => format!(
                            "1 cell, but line {line} has {cells}; every row needs the same number"
                        ),
                        here => format!(
                            "{here} cells, but line {line} has {cells}; every row needs the same number"
                        ),
                    },
                ));
            }
            Some(_) => {}
        }
        Ok(true)
    }

    /// Cuts the record into cells, taking in further lines while a quote is open.
    fn split(&mut self, separator: u8) -> Result<()> {
        self.text.clear();
        self.cells.clear();
        let is_blank = |byte: u8| byte == b' ' || (byte == b'\t' && separator != b'\t');
        let mut at = 0;
        loop {
            at += self.record[at..].bytes().take_while(|&byte| is_blank(byte)).count();
            let begin = self.text.len();
            if self.record[at..].starts_with('"') {
                at = self.unquote(at + 1)?;
                at += self.record[at..].bytes().take_while(|&byte| is_blank(byte)).count();
                if &self.record[at..] == "\r" {
                    at += 1;
                }
                if self.record[at..].bytes().next().is_some_and(|byte| byte != separator) {
                    let rest: String = self.record[at..].trim_end().chars().take(20).collect();
                    return Err(self.wrong(
                        self.lines.number(),
                        format!(
                            "{rest:?} follows a closing quote; double a quote that belongs to \
                             the text"
                        ),
                    ));
                }
            } else {
                let rest = &self.record[at..];
                let length = match self.is_attributes(rest) {
                    true => rest.len(),
                    false => rest.bytes().position(|b| b == separator).unwrap_or(rest.len()),
                };
                let mut cell = &rest[..length];
                if length == rest.len() {
                    cell = cell.strip_suffix('\r').unwrap_or(cell);
                }
                if cell.contains('\r') {
                    return Err(self.wrong(
                        self.line,
                        "a carriage return stands in the middle of the line; save the file with \
                         LF or CRLF line ends"
                            .into(),
                    ));
                }
                let cell = cell.trim_end_matches([' ', '\t']);
                match cell.split_once(',').filter(|_| separator == b';') {
                    Some((whole, fraction)) if is_decimal(whole, fraction) => {
                        self.text.extend([whole, ".", fraction]);
                    }
                    _ => self.text.push_str(cell),
                }
                at += length;
            }
            if self.cells.len() == MOST_CELLS {
                return Err(self.too_many_cells());
            }
            self.cells.push(begin..self.text.len());
            if at >= self.record.len() {
                return Ok(());
            }
            at += 1;
        }
    }

    /// Cuts the record at runs of spaces and tabs; no cell is empty or quoted.
    fn split_at_blanks(&mut self) -> Result<()> {
        self.text.clear();
        self.cells.clear();
        self.text.push_str(&self.record);
        let mut at = 0;
        while let Some(begin) = self.text[at..].find(|c: char| !c.is_ascii_whitespace()) {
            let rest = &self.text[at + begin..];
            let length = match self.is_attributes(rest) {
                true => rest.trim_ascii_end().len(),
                false => rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len()),
            };
            if self.cells.len() == MOST_CELLS {
                return Err(self.too_many_cells());
            }
            self.cells.push(at + begin..at + begin + length);
            at += begin + length;
        }
        Ok(())
    }

    /// Whether the rest of a record is what networkx writes of an edge.
    fn is_attributes(&self, rest: &str) -> bool {
        self.dialect.rows == RowKind::Edges
            && self.cells.len() == 2
            && rest.starts_with('{')
            && rest.trim_ascii_end().ends_with('}')
    }

    fn too_many_cells(&self) -> Error {
        self.wrong(
            self.line,
            format!(
                "more than {MOST_CELLS} cells; features as wide as that are read from the layout \
                 id,feature,value, from .npy or from MatrixMarket files"
            ),
        )
    }

    /// Says that the table has a header: what begins with `#` after it is a cell.
    pub(super) fn has_header(&mut self) {
        self.comments = false;
    }

    /// How many comments were skipped so far.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Copies a quoted cell that begins at `at`; returns the place after its closing quote.
    fn unquote(&mut self, mut at: usize) -> Result<usize> {
        let opened = self.lines.number();
        loop {
            match self.record[at..].find('"') {
                Some(length) => {
                    self.text.push_str(&self.record[at..at + length]);
                    at += length + 1;
                    if !self.record[at..].starts_with('"') {
                        return Ok(at);
                    }
                    self.text.push('"');
                    at += 1;
                }
                None => {
                    self.text.push_str(&self.record[at..]);
                    at = self.record.len() + 1;
                    match self.lines.next()? {
                        Some(line) if self.record.len() + line.len() < LONGEST => {
                            self.text.push('\n');
                            self.record.push('\n');
                            self.record.push_str(line);
                        }
                        _ => {
                            return Err(self.wrong(
                                opened,
                                "the quote that opens here is never closed".into(),
                            ));
                        }
                    }
                }
            }
        }
    }

    fn wrong(&self, line: u64, problem: String) -> Error {
        Error::Format(problem).at(self.lines.path(), format_args!("line {line}"))
    }

    /// The line on which the current record begins.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The number of cells of every record; 0 before the first.
    pub(super) fn columns(&self) -> usize {
        self.shape.map_or(0, |(_, cells)| cells)
    }

    /// A cell of the current record.
    pub(super) fn cell(&self, column: usize) -> &str {
        &self.text[self.cells[column].clone()]
    }
}
