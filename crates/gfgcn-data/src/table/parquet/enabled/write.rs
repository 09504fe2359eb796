//! Writing a table as a Parquet file.

use crate::table::{Column, ColumnData};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a Parquet row group: what a reader has to decode at once.
const ROW_GROUP: usize = 1 << 20;

/// Writes columns of `rows` rows each.
pub(in crate::table) fn write(
    output: &mut (impl Write + Send),
    rows: usize,
    columns: &[Column],
) -> io::Result<()> {
    write_groups(output, rows, columns).map_err(system_error)
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

fn write_groups(
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
