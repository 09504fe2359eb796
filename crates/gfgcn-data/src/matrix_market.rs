//! MatrixMarket files: a matrix as text, without ids.
//!
//! Read are the coordinate and the array format with real, integer or pattern values, general or
//! symmetric, also gzipped. As an adjacency the matrix is square and its row numbers are those of
//! the features; as features it has a row per node. Repeated entries of features are added up, as
//! the format asks; those of an adjacency are merged like any edges.
//!
//! The format: Boisvert, Pozo and Remington, *The Matrix Market Exchange Formats: Initial Design*,
//! NIST IR 5935 (1996).

use crate::density;
use crate::directions::Said;
use crate::edges::EdgeList;
use crate::limits::justify_nodes;
use crate::lines::Lines;
use crate::reading::Reading;
use crate::table::parse_number;
use crate::triplets::{self, Entry};
use gfgcn::features::Features;
use gfgcn::graph::MAX_NODES;
use gfgcn::matrix::SparseMatrix;
use gfgcn::{Error, Result};
use std::path::Path;

/// Reads an adjacency, row i for the edges that start at node i; and what the file says of directions. `check` says what
/// is wrong with a number of nodes.
pub(crate) fn read_graph(
    path: &Path,
    check: impl FnOnce(usize) -> Result<(), String>,
    reading: &Reading,
) -> Result<(EdgeList, Option<Said>)> {
    let mut reader = Reader::open(path, reading)?;
    let (rows, columns) = (reader.rows, reader.columns);
    if rows != columns {
        return Err(reader.wrong(format!(
            "the matrix has {rows} rows and {columns} columns, but an adjacency is square"
        )));
    }
    reader.check_rows(path)?;
    check(rows)
        .map_err(|problem| reader.wrong(format!("the matrix has {rows} rows, but {problem}")))?;
    let entries = reader.read(|weight| {
        if weight < 0.0 {
            return Err(format!("is {weight}, but weights must not be negative"));
        }
        Ok(())
    })?;
    let list = size_of::<(u32, u32)>() + size_of::<f32>();
    reading.hold((list * entries.len()) as u64).map_err(|e| e.in_file(path))?;
    let ends = entries.iter().map(|entry| (entry.row, entry.column)).collect();
    let weights = entries.iter().map(|entry| entry.value).collect();
    // A general matrix may well be of an undirected graph.
    let by = format!(
        "the word symmetric on line 1 of {}",
        path.file_name().unwrap_or_default().display()
    );
    let said = reader.symmetric.then_some(Said { directed: false, by });
    Ok((EdgeList { ends, weights: Some(weights), is_matrix: true }, said))
}

/// Reads features, one row per node, and says how many entries were repeated and added up.
pub(crate) fn read_features(path: &Path, reading: &Reading) -> Result<(Features, usize)> {
    let mut reader = Reader::open(path, reading)?;
    let (rows, columns) = (reader.rows, reader.columns);
    reader.check_rows(path)?;
    let layout = reader.layout;
    let mut values = reader.read(|_| Ok(()))?;
    triplets::sort(&mut values);
    let repeats = triplets::repeats(&values);
    let memory = triplets::memory(rows, values.len()) as u64;
    reading.hold(memory).map_err(|e| e.in_file(path))?;
    let matrix = triplets::compress(rows, &values);
    drop(values);
    SparseMatrix::from_csr(columns, &matrix.offsets, &matrix.columns, &matrix.values)
        .and_then(|matrix| match layout {
            Layout::Coordinate => Features::sparse(matrix),
            Layout::Array => density::by_density(matrix, reading),
        })
        .map(|features| (features, repeats))
        .map_err(|e| e.in_file(path))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Coordinate,
    Array,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Real,
    Integer,
    Pattern,
}

/// A file whose header has been read and whose entries are next.
struct Reader {
    lines: Lines,
    layout: Layout,
    values: Values,
    symmetric: bool,
    rows: usize,
    columns: usize,
    /// How many entries the file promises.
    count: u64,
    reading: Reading,
}

impl Reader {
    fn open(path: &Path, reading: &Reading) -> Result<Reader> {
        let mut reader = Reader {
            lines: Lines::open(path, reading)?,
            reading: reading.clone(),
            layout: Layout::Coordinate,
            values: Values::Real,
            symmetric: false,
            rows: 0,
            columns: 0,
            count: 0,
        };
        reader.read_banner()?;
        reader.read_size()?;
        Ok(reader)
    }

    /// Checks that there are nodes, and not more than the file can be about.
    fn check_rows(&self, path: &Path) -> Result<()> {
        let (rows, file) = (self.rows, path.metadata());
        let length = file.map_err(|e| Error::Read(e).in_file(path))?.len();
        if rows == 0 {
            return Err(self.wrong("the matrix has no rows, so there are no nodes".into()));
        }
        if !justify_nodes(length, rows as u64) {
            return Err(self.wrong(format!(
                "{rows} rows are far more than the {length} bytes of the file are about; leave out rows \
                 without entries"
            )));
        }
        Ok(())
    }

    /// `%%MatrixMarket matrix coordinate real general`
    fn read_banner(&mut self) -> Result<()> {
        let banner = match self.lines.next()? {
            Some(line) => line.trim().to_lowercase(),
            None => return Err(Error::Format("is empty".into()).in_file(self.lines.path())),
        };
        let words: Vec<&str> = banner.split_ascii_whitespace().collect();
        let &["%%matrixmarket", "matrix", layout, values, symmetry] = words.as_slice() else {
            return Err(self.wrong(
                "a MatrixMarket file begins with a line such as \
                 \"%%MatrixMarket matrix coordinate real general\""
                    .into(),
            ));
        };
        let refuse = |word: &str, known: &str| self.wrong(format!("{word:?} is not read; {known}"));
        let layout = match layout {
            "coordinate" => Layout::Coordinate,
            "array" => Layout::Array,
            other => return Err(refuse(other, "the format is coordinate or array")),
        };
        let values = match values {
            "real" | "double" => Values::Real,
            "integer" => Values::Integer,
            "pattern" if layout == Layout::Coordinate => Values::Pattern,
            other => return Err(refuse(other, "values are real, integer or (coordinate) pattern")),
        };
        let symmetric = match symmetry {
            "general" => false,
            "symmetric" => true,
            other => return Err(refuse(other, "matrices are general or symmetric")),
        };
        (self.layout, self.values, self.symmetric) = (layout, values, symmetric);
        Ok(())
    }

    /// Rows, columns and, in the coordinate format, the number of entries.
    fn read_size(&mut self) -> Result<()> {
        let Some(line) = self.next_line()? else {
            return Err(self.wrong("the file ends before the size of the matrix".into()));
        };
        let sizes: Option<Vec<u64>> =
            line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let (rows, columns, count) = match (self.layout, sizes.as_deref()) {
            (Layout::Coordinate, Some(&[rows, columns, count])) => (rows, columns, Some(count)),
            (Layout::Array, Some(&[rows, columns])) => (rows, columns, None),
            (Layout::Coordinate, _) => {
                return Err(self.wrong(format!(
                    "{line:?} should be the numbers of rows, columns and entries"
                )));
            }
            (Layout::Array, _) => {
                return Err(
                    self.wrong(format!("{line:?} should be the numbers of rows and columns"))
                );
            }
        };
        if rows.max(columns) > MAX_NODES as u64 {
            return Err(self.wrong(format!(
                "a matrix of {rows} × {columns} is larger than 32 bits can number"
            )));
        }
        if self.symmetric && rows != columns {
            return Err(self.wrong(format!(
                "the matrix is symmetric, but has {rows} rows and {columns} columns"
            )));
        }
        let stored = if self.symmetric { rows * (rows + 1) / 2 } else { rows * columns };
        self.count = count.unwrap_or(stored);
        (self.rows, self.columns) = (rows as usize, columns as usize);
        Ok(())
    }

    /// The next line that is neither blank nor a comment.
    fn next_line(&mut self) -> Result<Option<String>> {
        while let Some(line) = self.lines.next()? {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('%') {
                return Ok(Some(line.to_owned()));
            }
        }
        Ok(None)
    }

    /// Reads the entries, mirrored if the matrix is symmetric. Zeros of the array format are left
    /// out. `check` says what is wrong with a value.
    fn read(&mut self, check: impl Fn(f32) -> Result<(), String>) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut read = 0;
        let mut next = (0, 0);
        while let Some(line) = self.next_line()? {
            if read == self.count {
                return Err(self.wrong(format!(
                    "there are more entries than the {} that were promised",
                    self.count
                )));
            }
            read += 1;
            let entry = match self.layout {
                Layout::Coordinate => self.coordinate(&line)?,
                Layout::Array => self.array(&line, &mut next)?,
            };
            check(entry.value).map_err(|problem| self.wrong(format!("the value {problem}")))?;
            if self.layout == Layout::Array && entry.value == 0.0 {
                continue;
            }
            let mirrored = self.symmetric && entry.row != entry.column;
            let grown = size_of::<Entry>() * (1 + usize::from(mirrored));
            self.reading.grow(grown).map_err(|e| e.in_file(self.lines.path()))?;
            entries.push(entry);
            if mirrored {
                entries.push(Entry { row: entry.column, column: entry.row, ..entry });
            }
        }
        if read < self.count {
            return Err(self.wrong(format!(
                "the file ends after {read} entries, but {} were promised; it is cut off",
                self.count
            )));
        }
        Ok(entries)
    }

    fn coordinate(&self, line: &str) -> Result<Entry> {
        let mut words = line.split_ascii_whitespace();
        let row = self.index("row", words.next(), self.rows)?;
        let column = self.index("column", words.next(), self.columns)?;
        let value = match (self.values, words.next()) {
            (Values::Pattern, None) => 1.0,
            (Values::Pattern, Some(more)) => {
                return Err(self.wrong(format!("{more:?} follows an entry without a value")));
            }
            (_, Some(word)) => self.value(word)?,
            (_, None) => return Err(self.wrong("the entry has no value".into())),
        };
        self.nothing_after(words.next())?;
        Ok(Entry { row, column, value, at: self.lines.number() })
    }

    /// Arrays list their values column by column; symmetric ones from the diagonal downwards.
    fn array(&self, line: &str, next: &mut (u32, u32)) -> Result<Entry> {
        let mut words = line.split_ascii_whitespace();
        let value = self.value(words.next().unwrap_or_default())?;
        self.nothing_after(words.next())?;
        let (row, column) = *next;
        *next = if (row as usize) + 1 < self.rows {
            (row + 1, column)
        } else {
            (if self.symmetric { column + 1 } else { 0 }, column + 1)
        };
        Ok(Entry { row, column, value, at: self.lines.number() })
    }

    fn index(&self, what: &str, word: Option<&str>, size: usize) -> Result<u32> {
        let word = word.ok_or_else(|| self.wrong(format!("the entry has no {what} number")))?;
        match word.parse::<usize>() {
            Ok(index) if (1..=size).contains(&index) => Ok((index - 1) as u32),
            _ => Err(self.wrong(format!("the {what} number is {word}, but must be 1 to {size}"))),
        }
    }

    fn value(&self, word: &str) -> Result<f32> {
        if self.values == Values::Integer && word.parse::<i128>().is_err() {
            return Err(self.wrong(format!("the value is {word:?}, which is not an integer")));
        }
        parse_number(word).map_err(|problem| self.wrong(format!("the value {problem}")))
    }

    fn nothing_after(&self, word: Option<&str>) -> Result<()> {
        match word {
            Some(word) => Err(self.wrong(format!("{word:?} follows a complete entry"))),
            None => Ok(()),
        }
    }

    fn wrong(&self, problem: String) -> Error {
        Error::Format(problem)
            .at(self.lines.path(), format_args!("line {}", self.lines.number().max(1)))
    }
}
