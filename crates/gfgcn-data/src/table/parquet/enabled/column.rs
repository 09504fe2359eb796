//! Columns of a Parquet file, read a batch of rows at a time into cells.

use crate::table::Cell;
use crate::table::cell::unread;
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

/// A column of the current row group.
pub(super) trait Cells {
    /// Reads the next `rows` rows; fewer in the file are an error.
    fn fill(&mut self, rows: usize) -> Result<(), ParquetError>;
    /// A cell of the rows that were read last.
    fn cell(&self, row: usize) -> Result<Cell<'_>, String>;
}

/// How the values of a column are to be understood, or why they cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int32,
    Unsigned32,
    Int64,
    Unsigned64,
    Float,
    Double,
    Text,
}

impl Kind {
    /// The kind of a column; `Err` says what it is instead of a plain value.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Kind, String> {
        use ConvertedType as C;
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err(
                "is nested; make plain columns of it, or leave it out with --drop-columns".into()
            );
        }
        let logical = column.logical_type_ref();
        let converted = column.converted_type();
        let other = || {
            // Only the name of the type, such as Timestamp: its details are of no help here.
            let kind = logical.map_or_else(|| format!("{converted}"), |kind| format!("{kind:?}"));
            let kind = kind.split(['(', '{', ' ']).next().unwrap_or_default().to_owned();
            unread(&kind)
        };
        let unsigned = match logical {
            Some(LogicalType::Integer(integer)) => !integer.is_signed,
            // An all-null column: there is nothing to misunderstand.
            Some(LogicalType::Unknown) => false,
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => false,
            Some(_) => return Err(other()),
            None => match converted {
                C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64 => true,
                C::NONE | C::UTF8 | C::ENUM | C::JSON => false,
                C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64 => false,
                _ => return Err(other()),
            },
        };
        match (column.physical_type(), unsigned) {
            (Physical::BOOLEAN, _) => Ok(Kind::Bool),
            (Physical::INT32, false) => Ok(Kind::Int32),
            (Physical::INT32, true) => Ok(Kind::Unsigned32),
            (Physical::INT64, false) => Ok(Kind::Int64),
            (Physical::INT64, true) => Ok(Kind::Unsigned64),
            (Physical::FLOAT, _) => Ok(Kind::Float),
            (Physical::DOUBLE, _) => Ok(Kind::Double),
            (Physical::BYTE_ARRAY, _) => Ok(Kind::Text),
            (physical, _) => Err(unread(&physical.to_string())),
        }
    }

    /// Opens a column of this kind.
    pub(super) fn open(self, column: ColumnDescPtr, pages: Box<dyn PageReader>) -> Box<dyn Cells> {
        match self {
            Kind::Bool => typed::<BoolType>(column, pages, |&v| Ok(Cell::Bool(v))),
            Kind::Int32 => typed::<Int32Type>(column, pages, |&v| Ok(Cell::Integer(v.into()))),
            Kind::Unsigned32 => {
                typed::<Int32Type>(column, pages, |&v| Ok(Cell::Integer((v as u32).into())))
            }
            Kind::Int64 => typed::<Int64Type>(column, pages, |&v| Ok(Cell::Integer(v.into()))),
            Kind::Unsigned64 => {
                typed::<Int64Type>(column, pages, |&v| Ok(Cell::Integer((v as u64).into())))
            }
            Kind::Float => typed::<FloatType>(column, pages, |&v| Ok(Cell::Float(v.into()))),
            Kind::Double => typed::<DoubleType>(column, pages, |&v| Ok(Cell::Float(v))),
            Kind::Text => typed::<ByteArrayType>(column, pages, |v| Cell::of_utf8(v.data())),
        }
    }
}

/// A column that no cell can be had of.
pub(super) struct Unread(pub(super) String);

impl Cells for Unread {
    fn fill(&mut self, _: usize) -> Result<(), ParquetError> {
        Ok(())
    }

    fn cell(&self, _: usize) -> Result<Cell<'_>, String> {
        Err(self.0.clone())
    }
}

type ToCell<T> = fn(&<T as DataType>::T) -> Result<Cell<'_>, String>;

struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    optional: bool,
    to_cell: ToCell<T>,
    values: Vec<T::T>,
    levels: Vec<i16>,
    /// Where the value of each row is, or `None` for a null; only for optional columns.
    positions: Vec<Option<usize>>,
}

fn typed<T: DataType>(
    column: ColumnDescPtr,
    pages: Box<dyn PageReader>,
    to_cell: ToCell<T>,
) -> Box<dyn Cells> {
    let optional = column.max_def_level() > 0;
    Box::new(Typed::<T> {
        reader: ColumnReaderImpl::new(column, pages),
        optional,
        to_cell,
        values: Vec::new(),
        levels: Vec::new(),
        positions: Vec::new(),
    })
}

impl<T: DataType> Cells for Typed<T> {
    fn fill(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.values.clear();
        self.levels.clear();
        let (read, _, _) =
            self.reader.read_records(rows, Some(&mut self.levels), None, &mut self.values)?;
        if read != rows {
            return Err(ParquetError::General(format!("{read} rows where {rows} are promised")));
        }
        if self.optional {
            let mut next = 0..;
            self.positions.clear();
            self.positions.extend(
                self.levels.iter().map(|&level| if level > 0 { next.next() } else { None }),
            );
        }
        Ok(())
    }

    fn cell(&self, row: usize) -> Result<Cell<'_>, String> {
        let position = if self.optional { self.positions[row] } else { Some(row) };
        match position {
            Some(position) => (self.to_cell)(&self.values[position]),
            None => Ok(Cell::Empty),
        }
    }
}
