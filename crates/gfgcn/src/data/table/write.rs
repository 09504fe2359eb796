//! Writing a table: named columns to CSV, TSV or Parquet, as the name of the file says.

use super::TableFormat;
use super::format::of_output;
use crate::data::files::write_atomically;
use crate::error::{Error, Result};
use flate2::Compression as Gzip;
use flate2::write::GzEncoder;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Rows of a Parquet row group: what a reader has to decode at once.
const ROW_GROUP: usize = 1 << 20;

/// A named column to be written.
#[derive(Clone, Debug)]
pub struct Column<'a> {
    name: Cow<'a, str>,
    data: ColumnData<'a>,
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
/// Another extension, columns of different lengths or none, a NUL in a text (text tables cannot
/// hold it), a file that is already there, or a disk that refuses.
///
/// ```
/// use gfgcn::data::{Column, write_table};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("predictions.csv");
/// let columns = [Column::text("id", ["a", "b,c"]), Column::numbers("score", vec![0.5, 1.0])];
/// write_table(&path, false, &columns)?;
/// assert_eq!(std::fs::read_to_string(&path)?, "id,score\na,0.5\n\"b,c\",1\n");
/// assert!(write_table(&path, false, &columns).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_table(path: &Path, overwrite: bool, columns: &[Column]) -> Result<()> {
    let (format, gzipped) = of_output(path)?;
    let rows = columns.first().map_or(0, Column::rows);
    if columns.is_empty() {
        return Err(Error::Data("a table needs at least one column".into()).in_file(path));
    }
    for column in columns {
        Error::check_size(format!("rows of column {:?}", column.name), rows, column.rows())
            .map_err(|e| e.in_file(path))?;
        check_text(column).map_err(|e| e.in_file(path))?;
    }
    write_atomically(path, overwrite, |output| match format {
        TableFormat::Parquet => write_parquet(output, rows, columns).map_err(system_error),
        TableFormat::Csv | TableFormat::Tsv if gzipped => {
            let mut output = GzEncoder::new(output, Gzip::default());
            write_text(&mut output, format, rows, columns)?;
            output.finish().map(drop)
        }
        TableFormat::Csv | TableFormat::Tsv => write_text(output, format, rows, columns),
    })
}

/// The system's own error where there is one.
fn system_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
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
    output: &mut impl Write,
    format: TableFormat,
    rows: usize,
    columns: &[Column],
) -> io::Result<()> {
    let separator = if format == TableFormat::Tsv { '\t' } else { ',' };
    let mut line = String::new();
    for (k, column) in columns.iter().enumerate() {
        push_separator(&mut line, separator, k);
        push_text(&mut line, separator, &column.name);
    }
    line.push('\n');
    output.write_all(line.as_bytes())?;
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

fn write_parquet(
    output: &mut (impl Write + Send),
    rows: usize,
    columns: &[Column],
) -> Result<(), ParquetError> {
    let fields = (columns.iter())
        .map(|column| {
            let (physical, logical) = match &column.data {
                ColumnData::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                ColumnData::Number(_) => (Physical::DOUBLE, None),
                ColumnData::Float(_) => (Physical::FLOAT, None),
            };
            let field = Type::primitive_type_builder(&column.name, physical)
                .with_logical_type(logical)
                .with_repetition(Repetition::REQUIRED);
            field.build().map(Arc::new)
        })
        .collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))?;
    for start in (0..rows).step_by(ROW_GROUP) {
        let part = start..rows.min(start + ROW_GROUP);
        let mut group = writer.next_row_group()?;
        for column in columns {
            if let Some(mut output) = group.next_column()? {
                write_part(&mut output, &column.data, part.clone())?;
                output.close()?;
            }
        }
        group.close()?;
    }
    writer.close().map(drop)
}

fn write_part(
    output: &mut SerializedColumnWriter,
    data: &ColumnData,
    rows: Range<usize>,
) -> Result<usize, ParquetError> {
    match data {
        ColumnData::Text(values) => {
            let bytes: Vec<ByteArray> = values[rows].iter().map(|v| (&**v).into()).collect();
            output.typed::<ByteArrayType>().write_batch(&bytes, None, None)
        }
        ColumnData::Number(values) => {
            output.typed::<DoubleType>().write_batch(&values[rows], None, None)
        }
        ColumnData::Float(values) => {
            output.typed::<FloatType>().write_batch(&values[rows], None, None)
        }
    }
}
