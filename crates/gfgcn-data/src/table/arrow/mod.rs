//! Tables as Arrow files and streams (Feather, version 2, is the former): typed columns, nulls for empty cells.
//!
//! Read here and not by Arrow's own library, which trusts the sizes that a file claims, expands Zstandard with a C
//! library only, and is larger than everything else in this crate: a table needs little of the format. Batches are passed
//! over some rows at a time; only what is compressed is held as a whole.

mod array;
mod flatbuffer;
mod messages;
mod schema;

use super::Cell;
use super::expand;
use super::names::in_order_of_pandas;
use crate::limits::{justified, justify_cells};
use crate::reading::Reading;
use array::{Array, Buffer, Window, read_at};
use flatbuffer::Flat;
use gfgcn::{Error, Result, files};
use messages::{Header, Messages, Opening};
use schema::{Field, Kind, Parts, Schema};
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Rows that are looked at together.
const ROWS: u64 = 1024;

/// An Arrow table, read row by row.
pub(super) struct ArrowReader {
    path: PathBuf,
    file: File,
    length: u64,
    fields: Vec<Field>,
    /// Which fields are the columns of the table.
    columns: Vec<usize>,
    messages: Messages,
    /// The values of dictionaries, by their numbers.
    dictionaries: HashMap<i64, Window>,
    batch: Vec<Array>,
    batch_rows: u64,
    /// Where in the batch the rows begin that come next.
    next: u64,
    /// Some rows of each field.
    windows: Vec<Window>,
    window_rows: usize,
    at: usize,
    row: u64,
    /// Cells that the batches so far have claimed.
    cells: u64,
    reading: Reading,
    /// Bytes that the current batch takes.
    held: u64,
}

/// What went wrong in a column, or with the whole.
struct Problem(Option<usize>, String);

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Problem(None, problem)
    }
}

impl ArrowReader {
    /// Opens a table.
    pub(super) fn open(path: &Path, reading: &Reading) -> Result<Self> {
        let file = files::open(path)?;
        Self::start(path, file, reading).map_err(|e| e.in_file(path))
    }

    fn start(path: &Path, file: File, reading: &Reading) -> Result<Self> {
        let length = file.metadata().map_err(Error::Read)?.len();
        let opening = Opening::of(&file, length, reading)?;
        let schema = opening
            .schema()
            .and_then(|(schema, version)| Schema::read(schema, version, opening.schema.len()));
        let Schema { fields, pandas } =
            schema.map_err(|problem| Error::Format(format!("the Arrow file {problem}")))?;
        if fields.is_empty() {
            return Err(Error::Format("has no columns".into()));
        }
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let columns = in_order_of_pandas(&names, pandas.as_deref());
        let windows = fields.iter().map(|field| Window::new(field.stored())).collect();
        Ok(ArrowReader {
            path: path.to_owned(),
            file,
            length,
            columns,
            messages: opening.messages,
            dictionaries: HashMap::new(),
            batch: Vec::new(),
            batch_rows: 0,
            next: 0,
            windows,
            fields,
            window_rows: 0,
            at: 0,
            row: 0,
            cells: 0,
            reading: reading.clone(),
            held: 0,
        })
    }

    /// The names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|&column| self.fields[column].name.clone()).collect()
    }

    /// The number of columns.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The number of the current row, from 1.
    pub(super) fn row(&self) -> u64 {
        self.row
    }

    /// A cell of the current row.
    pub(super) fn cell(&self, column: usize) -> Result<Cell<'_>, String> {
        let column = self.columns[column];
        let field = &self.fields[column];
        if let Some(problem) = field.unread() {
            return Err(problem);
        }
        let own = self.windows[column].cell(self.at)?;
        let (Some((number, _)), Cell::Integer(place)) = (field.dictionary, own) else {
            return Ok(own);
        };
        let dictionary = self.dictionaries.get(&number);
        let dictionary = dictionary.ok_or("is damaged: its dictionary is missing")?;
        match usize::try_from(place) {
            Ok(place) if place < dictionary.rows() => dictionary.cell(place),
            _ => Err(format!(
                "is damaged: it refers to entry {place} of a dictionary of {}",
                dictionary.rows()
            )),
        }
    }

    /// Moves to the next row; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.at += 1;
        while self.at >= self.window_rows {
            self.reading.check()?;
            if self.next == self.batch_rows {
                match self.open_batch()? {
                    true => continue,
                    false => return Ok(false),
                }
            }
            let rows = self.next..self.batch_rows.min(self.next + ROWS);
            for column in 0..self.fields.len() {
                let window = &mut self.windows[column];
                if let Err(problem) = window.fill(&self.batch[column], rows.clone(), &self.file) {
                    return Err(self.error(Problem(Some(column), problem)));
                }
            }
            self.window_rows = (rows.end - rows.start) as usize;
            (self.next, self.at) = (rows.end, 0);
        }
        self.row += 1;
        Ok(true)
    }

    /// Goes on to the next batch, past dictionaries; `false` at the end.
    fn open_batch(&mut self) -> Result<bool> {
        self.batch.clear();
        (self.next, self.batch_rows) = (0, 0);
        self.reading.release(std::mem::take(&mut self.held));
        loop {
            let next = self.messages.next(&self.file, self.length, &self.reading);
            let Some(message) = next.map_err(|e| e.in_file(&self.path))? else { return Ok(false) };
            let done = match message.header() {
                Ok(Header::Schema) => Err("has columns of two kinds".to_owned().into()),
                Ok(Header::Dictionary(header)) => {
                    self.read_dictionary(header, message.body.clone())
                }
                Ok(Header::Batch(header)) => {
                    let fields: Vec<(Kind, Parts)> =
                        self.fields.iter().map(|field| (field.stored(), field.parts)).collect();
                    self.read_batch(header, message.body.clone(), &fields).map(|(arrays, rows)| {
                        (self.batch, self.batch_rows) = (arrays, rows);
                        true
                    })
                }
                Err(problem) => Err(problem.into()),
            };
            self.reading.release(message.size());
            match done {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(Failure::Here(problem)) => return Err(self.error(problem)),
                Err(Failure::Machine(error)) => return Err(error.in_file(&self.path)),
            }
        }
    }

    fn read_dictionary(&mut self, header: Flat, body: Range<u64>) -> Result<bool, Failure> {
        let number = header.long(0)?;
        let uses = |field: &Field| field.dictionary.is_some_and(|(own, _)| own == number);
        let Some(column) = self.fields.iter().position(uses) else { return Ok(false) };
        let field = &self.fields[column];
        if field.unread().is_some() {
            return Ok(false);
        }
        if header.flag(2)? {
            let problem = "has a dictionary that comes in parts; write it without deltas";
            return Err(Problem(Some(column), problem.into()).into());
        }
        let batch =
            header.table(1)?.ok_or_else(|| "is damaged: a dictionary is empty".to_owned())?;
        let kind = field.kind;
        let counts = usize::from(kind == Kind::View);
        let buffers = match kind {
            Kind::Null => 0,
            Kind::Text { .. } => 3,
            _ => 2,
        };
        let before = self.held;
        let parts = Parts { nodes: 1, buffers, counts };
        let (arrays, rows) = self.read_batch(batch, body, &[(kind, parts)])?;
        let mut values = Window::new(kind);
        // At most what its buffers have, twice while it grows.
        self.reading.hold(2 * arrays[0].memory()).map_err(Failure::Machine)?;
        values.fill(&arrays[0], 0..rows, &self.file).map_err(|p| Problem(Some(column), p))?;
        drop(arrays);
        self.reading.release(std::mem::replace(&mut self.held, before) - before);
        self.dictionaries.insert(number, values);
        Ok(false)
    }

    /// The arrays of a batch that has these parts, and how many rows it has.
    fn read_batch(
        &mut self,
        batch: Flat,
        body: Range<u64>,
        fields: &[(Kind, Parts)],
    ) -> Result<(Vec<Array>, u64), Failure> {
        let rows = u64::try_from(batch.long(0)?)
            .map_err(|_| "is damaged: a batch has less than no rows".to_owned())?;
        self.cells = self.cells.saturating_add(rows.saturating_mul(fields.len() as u64));
        if !justify_cells(self.length, self.cells) {
            let problem = format!(
                "claims {} columns of {rows} rows, far more than {} bytes are about",
                fields.len(),
                self.length
            );
            return Err(problem.into());
        }
        let nodes = batch.list(1, 16)?;
        let mut buffers = batch.list(2, 16)?.pairs(8);
        let mut counts = batch.list(4, 8)?.longs();
        let expected = fields.iter().map(|(_, parts)| parts.nodes).sum::<usize>();
        if nodes.len() != expected {
            return Err("is damaged: a batch has other columns than the table".to_owned().into());
        }
        let codec = match batch.table(3)? {
            None => None,
            Some(compression) => Some(match compression.byte(0)? {
                0 => Codec::Lz4,
                1 => Codec::Zstd,
                _ => return Err("is compressed in a way that is not known here".to_owned().into()),
            }),
        };
        let mut lengths = nodes.pairs(8);
        let mut arrays = Vec::with_capacity(fields.len());
        for (column, (kind, parts)) in fields.iter().enumerate() {
            let own = lengths.next().transpose()?.map(|(length, _)| length);
            lengths.by_ref().take(parts.nodes - 1).for_each(drop);
            if own != Some(rows as i64) {
                let problem = format!("is damaged: it has {own:?} of {rows} rows");
                return Err(Problem(Some(column), problem).into());
            }
            let more = counts.by_ref().take(parts.counts).try_fold(0usize, |sum, count| {
                let count = usize::try_from(count?).ok().and_then(|count| sum.checked_add(count));
                count.ok_or_else(|| "is damaged: it has too many buffers".to_owned())
            })?;
            let mut array = Array { kind: *kind, rows, buffers: Vec::new() };
            for _ in 0..parts.buffers + more {
                let buffer = buffers.next().transpose()?;
                let buffer = buffer.ok_or_else(|| "is damaged: a buffer is missing".to_owned())?;
                if matches!(kind, Kind::Other(_)) {
                    continue;
                }
                array.buffers.push(self.buffer(buffer, body.clone(), codec, column)?);
            }
            arrays.push(array);
        }
        Ok((arrays, rows))
    }

    /// A buffer at a place of a message's body; expanded, if it is compressed.
    fn buffer(
        &mut self,
        (offset, length): (i64, i64),
        body: Range<u64>,
        codec: Option<Codec>,
        column: usize,
    ) -> Result<Buffer, Failure> {
        let wrong = |problem: String| Failure::from(Problem(Some(column), problem));
        let at = u64::try_from(offset).ok().and_then(|offset| body.start.checked_add(offset));
        let end =
            at.zip(u64::try_from(length).ok()).and_then(|(at, length)| at.checked_add(length));
        let Some((at, end)) = at.zip(end).filter(|&(_, end)| end <= body.end) else {
            let size = body.end - body.start;
            return Err(wrong(format!("claims {length} bytes at {offset} of {size}")));
        };
        let (Some(codec), true) = (codec, end > at) else {
            return Ok(Buffer::Stored { at, length: end - at });
        };
        let mut size = [0; 8];
        if end - at < 8 {
            return Err(wrong("is damaged: a compressed buffer has no size".into()));
        }
        read_at(&self.file, at, &mut size).map_err(wrong)?;
        let at = at + 8;
        let size = match i64::from_le_bytes(size) {
            -1 => return Ok(Buffer::Stored { at, length: end - at }),
            size => u64::try_from(size).ok(),
        };
        let held = size.map_or(u64::MAX, |size| self.held.saturating_add(size));
        let Some(size) =
            size.filter(|&size| justified(size, end - at) && justified(held, self.length))
        else {
            let from = end - at;
            return Err(wrong(format!("claims to expand from {from} to {size:?} bytes")));
        };
        let mut compressed = self.reading.array((end - at) as usize).map_err(Failure::Machine)?;
        compressed.resize((end - at) as usize, 0);
        read_at(&self.file, at, &mut compressed).map_err(wrong)?;
        let mut out = self.reading.array(size as usize).map_err(Failure::Machine)?;
        self.held += size;
        let expanded = match codec {
            Codec::Lz4 => expand::lz4(&compressed, size as usize, &mut out),
            Codec::Zstd => expand::zstd(&compressed, size as usize, &mut out),
        };
        expanded.map_err(|problem| wrong(format!("is damaged: {problem}")))?;
        self.reading.release(compressed.len() as u64);
        Ok(Buffer::Held(out))
    }

    fn error(&self, Problem(column, problem): Problem) -> Error {
        let error = Error::Format(match column {
            Some(column) => format!("column {:?} {problem}", self.fields[column].name),
            None => format!("the Arrow file {problem}"),
        });
        match self.row {
            0 => error.in_file(&self.path),
            row => error.at(&self.path, format_args!("after row {row}")),
        }
    }
}

/// How the buffers of a batch are compressed.
#[derive(Clone, Copy)]
enum Codec {
    Lz4,
    Zstd,
}

/// Why a batch could not be read.
enum Failure {
    Here(Problem),
    /// Too little memory, or it is not wanted any more.
    Machine(Error),
}

impl<T: Into<Problem>> From<T> for Failure {
    fn from(problem: T) -> Self {
        Failure::Here(problem.into())
    }
}

impl Field {
    /// How what stands in a batch is stored: positions, where there is a dictionary.
    fn stored(&self) -> Kind {
        match (self.kind, self.dictionary) {
            (other @ Kind::Other(_), _) => other,
            (_, Some((_, index))) => index,
            (kind, None) => kind,
        }
    }
}
