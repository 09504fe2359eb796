//! Writing a table: named columns to CSV, TSV or Parquet, as the name of the file says.

use super::format::of_output;
use super::parquet;
use super::{OutputFormat, TableFormat};
use crate::{npy, npz};
use flate2::Compression;
use flate2::write::GzEncoder;
use gfgcn::files::write_atomically;
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// A named column to be written.
#[derive(Clone, Debug)]
pub struct Column<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) data: ColumnData<'a>,
}

/// The values of a column, one per row.
#[derive(Clone, Debug)]
pub enum ColumnData<'a> {
    /// Text.
    Text(Vec<Cow<'a, str>>),
    /// Numbers, written so that they read back as the same 64 bits.
    Number(Vec<f64>),
    /// Numbers, written so that they read back as the same 32 bits.
    Float(Vec<f32>),
}

impl<'a> Column<'a> {
    /// A column of the given values.
    pub fn new(name: impl Into<Cow<'a, str>>, data: ColumnData<'a>) -> Self {
        Column { name: name.into(), data }
    }

    /// A column of text.
    pub fn text<T: Into<Cow<'a, str>>>(
        name: impl Into<Cow<'a, str>>,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        Column::new(name, ColumnData::Text(values.into_iter().map(Into::into).collect()))
    }

    /// A column of numbers.
    pub fn numbers(name: impl Into<Cow<'a, str>>, values: Vec<f64>) -> Self {
        Column::new(name, ColumnData::Number(values))
    }

    /// The values as an array of NumPy's.
    fn array(&self) -> Vec<u8> {
        let shape = [self.rows()];
        match &self.data {
            ColumnData::Text(texts) => npy::encode_texts(texts),
            ColumnData::Number(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                npy::encode("<f8", &shape, &bytes)
            }
            ColumnData::Float(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                npy::encode("<f4", &shape, &bytes)
            }
        }
    }

    fn rows(&self) -> usize {
        match &self.data {
            ColumnData::Text(values) => values.len(),
            ColumnData::Number(values) => values.len(),
            ColumnData::Float(values) => values.len(),
        }
    }
}

/// Writes columns of equal length with a header of their names.
///
/// The extension of `path` chooses the format: `.csv` or `.tsv` (each also with `.gz`), or
/// `.parquet`. An existing file is only replaced with `overwrite`, and only by a complete one.
///
/// # Errors
/// Another extension, Parquet in a build without it, columns of different lengths or none, a NUL in a text (text tables cannot
/// hold it), a file that is already there, or a disk that refuses.
///
/// ```
/// use gfgcn_data::{Column, write_table};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("predictions.csv");
/// let columns = [Column::text("id", ["a", "b,c"]), Column::numbers("score", vec![0.5, 1.0])];
/// write_table(&path, false, &columns)?;
/// assert_eq!(std::fs::read_to_string(&path)?, "id,score\na,0.5\n\"b,c\",1\n");
/// assert!(write_table(&path, false, &columns).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_table(path: &Path, overwrite: bool, columns: &[Column]) -> Result<()> {
    write_table_as(path, of_output(path)?, overwrite, columns)
}

/// As [`write_table`], in any format: an archive has an array for each column, of its name.
///
/// # Errors
/// As [`write_table`].
pub fn write_columns(
    (path, format): (&Path, OutputFormat),
    overwrite: bool,
    columns: &[Column],
) -> Result<()> {
    let OutputFormat::Table { format, gzipped } = format else {
        let members = columns.iter().map(|column| (&*column.name, column.array()));
        return npz::write_members(path, overwrite, &members.collect::<Vec<_>>());
    };
    write_table_as(path, (format, gzipped), overwrite, columns)
}

/// As [`write_table`], in a format, and gzipped or not.
fn write_table_as(
    path: &Path,
    (format, gzipped): (TableFormat, bool),
    overwrite: bool,
    columns: &[Column],
) -> Result<()> {
    format.check_writable().map_err(|e| e.in_file(path))?;
    let rows = check_columns(path, columns)?;
    write_atomically(path, overwrite, |output| match format {
        TableFormat::Parquet => parquet::write(output, rows, columns),
        _ if gzipped => {
            let mut output = GzEncoder::new(output, Compression::default());
            write_text(&mut output, format, columns, Place::WHOLE)?;
            output.finish().map(drop)
        }
        _ => write_text(output, format, columns, Place::WHOLE),
    })
}

/// Rows of a table that are made and written together.
pub(crate) const ROWS_AT_A_TIME: usize = 1 << 16;

/// As [`write_table_as`], of a table of so many rows whose columns `part` gives for some rows at a time. Text is never held as a
/// whole; Parquet is.
pub(crate) fn write_table_in_parts<'a>(
    path: &Path,
    (format, gzipped): (TableFormat, bool),
    overwrite: bool,
    rows: usize,
    part: &dyn Fn(Range<usize>) -> Vec<Column<'a>>,
) -> Result<()> {
    if format == TableFormat::Parquet || rows <= ROWS_AT_A_TIME {
        return write_table_as(path, (format, gzipped), overwrite, &part(0..rows));
    }
    let write = |output: &mut dyn Write| {
        for first in (0..rows).step_by(ROWS_AT_A_TIME) {
            let end = rows.min(first + ROWS_AT_A_TIME);
            let columns = part(first..end);
            check_columns(path, &columns).map_err(io::Error::other)?;
            write_text(output, format, &columns, Place { first, last: end == rows })?;
        }
        Ok(())
    };
    write_atomically(path, overwrite, |output| {
        if !gzipped {
            return write(output);
        }
        let mut output = GzEncoder::new(output, Compression::default());
        write(&mut output)?;
        output.finish().map(drop)
    })
}

/// The rows of some columns, if they can be written.
fn check_columns(path: &Path, columns: &[Column]) -> Result<usize> {
    let rows = columns.first().map_or(0, Column::rows);
    if columns.is_empty() {
        return Err(Error::Data("a table needs at least one column".into()).in_file(path));
    }
    for column in columns {
        Error::check_size(format!("rows of column {:?}", column.name), rows, column.rows())
            .map_err(|e| e.in_file(path))?;
        check_text(column).map_err(|e| e.in_file(path))?;
    }
    Ok(rows)
}

/// Where some rows stand in a table.
#[derive(Clone, Copy)]
struct Place {
    /// The number of the first.
    first: usize,
    /// Whether no others follow.
    last: bool,
}

impl Place {
    /// All rows.
    const WHOLE: Place = Place { first: 0, last: true };
}

fn check_text(column: &Column) -> Result<()> {
    let values = match &column.data {
        ColumnData::Text(values) => values.as_slice(),
        _ => &[],
    };
    match std::iter::once(&column.name).chain(values).find(|text| text.contains('\0')) {
        Some(text) => Err(Error::Data(format!(
            "{text:?} in column {:?} has a NUL character, which a table cannot hold",
            column.name
        ))),
        None => Ok(()),
    }
}

fn write_text(
    output: &mut (impl Write + ?Sized),
    format: TableFormat,
    columns: &[Column],
    place: Place,
) -> io::Result<()> {
    let rows = columns.first().map_or(0, Column::rows);
    if format == TableFormat::Json {
        return write_json(output, rows, columns, place);
    }
    let separator = if format == TableFormat::Tsv { '\t' } else { ',' };
    let mut line = String::new();
    if place.first == 0 {
        for (k, column) in columns.iter().enumerate() {
            push_separator(&mut line, separator, k);
            push_text(&mut line, separator, &column.name);
        }
        line.push('\n');
        output.write_all(line.as_bytes())?;
    }
    for row in 0..rows {
        line.clear();
        for (k, column) in columns.iter().enumerate() {
            push_separator(&mut line, separator, k);
            match &column.data {
                ColumnData::Text(values) => push_text(&mut line, separator, &values[row]),
                ColumnData::Number(values) => {
                    let value = values[row];
                    push_number(&mut line, value, value.abs());
                }
                ColumnData::Float(values) => {
                    let value = values[row];
                    push_number(&mut line, value, value.abs().into());
                }
            }
        }
        line.push('\n');
        output.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// A list of objects. Numbers that are not finite, which JSON cannot say, are null.
fn write_json(
    output: &mut (impl Write + ?Sized),
    rows: usize,
    columns: &[Column],
    place: Place,
) -> io::Result<()> {
    if place.first == 0 {
        output.write_all(b"[")?;
    }
    for row in 0..rows {
        output.write_all(if place.first + row == 0 { b"\n{" } else { b",\n{" })?;
        for (k, column) in columns.iter().enumerate() {
            output.write_all(if k == 0 { b"" } else { b", " })?;
            serde_json::to_writer(&mut *output, &column.name)?;
            output.write_all(b": ")?;
            match &column.data {
                ColumnData::Text(values) => serde_json::to_writer(&mut *output, &values[row])?,
                ColumnData::Number(values) => serde_json::to_writer(&mut *output, &values[row])?,
                ColumnData::Float(values) => serde_json::to_writer(&mut *output, &values[row])?,
            }
        }
        output.write_all(b"}")?;
    }
    if place.last { output.write_all(b"\n]\n") } else { Ok(()) }
}

fn push_separator(line: &mut String, separator: char, column: usize) {
    if column > 0 {
        line.push(separator);
    }
}

/// Quotes what would otherwise be cut, trimmed or taken for a quote.
fn push_text(line: &mut String, separator: char, text: &str) {
    let blank = [' ', '\t'];
    let special = |c: char| c == separator || matches!(c, '"' | '\n' | '\r');
    if text.contains(special) || text.starts_with(blank) || text.ends_with(blank) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}

/// The shortest digits that read back as the same bits; an exponent where there would be a long
/// row of zeros.
fn push_number<T: std::fmt::Display + std::fmt::LowerExp>(line: &mut String, value: T, size: f64) {
    use std::fmt::Write as _;
    let plain = size == 0.0 || !size.is_finite() || (1e-5..1e16).contains(&size);
    // Writing to a string cannot fail.
    let _ = if plain { write!(line, "{value}") } else { write!(line, "{value:e}") };
}
