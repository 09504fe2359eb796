//! Values of a column: where they are stored, and some rows of them as cells.
//!
//! What is not compressed is read where it is needed, some rows at a time, so that a batch may be larger than the memory.

use super::schema::Kind;
use crate::table::Cell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

/// Bytes of an array.
pub(super) enum Buffer {
    /// In the file.
    Stored { at: u64, length: u64 },
    /// In memory, because they were compressed.
    Held(Vec<u8>),
}

impl Buffer {
    fn len(&self) -> u64 {
        match self {
            Buffer::Stored { length, .. } => *length,
            Buffer::Held(bytes) => bytes.len() as u64,
        }
    }

    /// Adds some of the bytes to `out`.
    fn append(&self, file: &File, bytes: Range<u64>, out: &mut Vec<u8>) -> Result<(), String> {
        if bytes.start > bytes.end || bytes.end > self.len() {
            return Err(format!(
                "is damaged: bytes {} to {} are asked for where there are {}",
                bytes.start,
                bytes.end,
                self.len()
            ));
        }
        match self {
            Buffer::Held(all) => {
                out.extend_from_slice(&all[bytes.start as usize..bytes.end as usize]);
            }
            Buffer::Stored { at, .. } => {
                let start = out.len();
                out.resize(start + (bytes.end - bytes.start) as usize, 0);
                read_at(file, at + bytes.start, &mut out[start..])?;
            }
        }
        Ok(())
    }
}

/// Reads bytes of a file.
pub(super) fn read_at(mut file: &File, at: u64, bytes: &mut [u8]) -> Result<(), String> {
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes));
    read.map_err(|e| format!("cannot be read: {e}"))
}

/// The values of a column in one batch.
pub(super) struct Array {
    pub(super) kind: Kind,
    pub(super) rows: u64,
    /// Which values are there, unless all are; then what the kind asks for.
    pub(super) buffers: Vec<Buffer>,
}

impl Array {
    /// Bytes that all rows take together, about.
    pub(super) fn memory(&self) -> u64 {
        self.buffers.iter().map(Buffer::len).sum::<u64>() + 8 * self.rows
    }
}

/// Some rows of an array.
pub(super) struct Window {
    kind: Kind,
    rows: usize,
    /// A bit for each row from bit `shift` on; empty where nothing is missing.
    valid: Vec<u8>,
    shift: usize,
    /// Numbers, or text.
    values: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl Window {
    pub(super) fn new(kind: Kind) -> Self {
        let (valid, values, ends) = (Vec::new(), Vec::new(), Vec::new());
        Window { kind, rows: 0, valid, shift: 0, values, ends }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Goes on to other rows of the array.
    pub(super) fn fill(
        &mut self,
        array: &Array,
        rows: Range<u64>,
        file: &File,
    ) -> Result<(), String> {
        self.kind = array.kind;
        self.rows = (rows.end - rows.start) as usize;
        self.valid.clear();
        self.values.clear();
        self.ends.clear();
        let bits = rows.start / 8..rows.end.div_ceil(8);
        self.shift = (rows.start % 8) as usize;
        let of = |buffer: usize| array.buffers.get(buffer).ok_or("is damaged: it has no values");
        if let Some(valid) = array.buffers.first().filter(|valid| valid.len() > 0) {
            valid.append(file, bits.clone(), &mut self.valid)?;
        }
        let wide = |bytes: u64| rows.start * bytes..rows.end * bytes;
        match array.kind {
            Kind::Null | Kind::Other(_) => Ok(()),
            Kind::Bool => of(1)?.append(file, bits, &mut self.values),
            Kind::Integer { bytes, .. } => {
                of(1)?.append(file, wide(bytes as u64), &mut self.values)
            }
            Kind::Half => of(1)?.append(file, wide(2), &mut self.values),
            Kind::Single => of(1)?.append(file, wide(4), &mut self.values),
            Kind::Double => of(1)?.append(file, wide(8), &mut self.values),
            // There may be not even the first offset where there are no texts.
            Kind::Text { .. } | Kind::View if self.rows == 0 => Ok(()),
            Kind::Text { offset } => {
                let mut offsets = Vec::new();
                let range = rows.start * offset as u64..(rows.end + 1) * offset as u64;
                of(1)?.append(file, range, &mut offsets)?;
                self.texts(offset, &offsets, of(2)?, file)
            }
            Kind::View => {
                let mut views = Vec::new();
                of(1)?.append(file, wide(16), &mut views)?;
                self.views(&views, &array.buffers[2..], file)
            }
        }
    }

    /// Texts that stand side by side.
    fn texts(
        &mut self,
        width: usize,
        offsets: &[u8],
        text: &Buffer,
        file: &File,
    ) -> Result<(), String> {
        let number = |bytes: &[u8]| match width {
            4 => u64::from(u32::from_le_bytes(bytes.try_into().expect("four bytes"))),
            _ => u64::from_le_bytes(bytes.try_into().expect("eight bytes")),
        };
        let mut offsets = offsets.chunks_exact(width).map(number);
        let first = offsets.next().unwrap_or(0);
        let mut last = first;
        for end in offsets {
            if end < last {
                return Err("is damaged: a text ends before it begins".into());
            }
            last = end;
            self.ends.push((end - first) as usize);
        }
        text.append(file, first..last, &mut self.values)
    }

    /// Texts that are in their places up to twelve bytes, and anywhere else beyond that.
    fn views(&mut self, views: &[u8], others: &[Buffer], file: &File) -> Result<(), String> {
        for (row, view) in views.chunks_exact(16).enumerate() {
            let part =
                |k: usize| u32::from_le_bytes(view[k..k + 4].try_into().expect("four bytes"));
            let length = part(0);
            // What a null says is nothing.
            if self.is_valid(row) {
                if length <= 12 {
                    self.values.extend_from_slice(&view[4..4 + length as usize]);
                } else {
                    let other = others.get(part(8) as usize);
                    let other = other.ok_or("is damaged: a text is in no buffer")?;
                    let start = u64::from(part(12));
                    other.append(file, start..start + u64::from(length), &mut self.values)?;
                }
            }
            self.ends.push(self.values.len());
        }
        Ok(())
    }

    fn is_valid(&self, row: usize) -> bool {
        self.valid.is_empty() || bit(&self.valid, self.shift + row)
    }

    /// A cell of these rows.
    pub(super) fn cell(&self, row: usize) -> Result<Cell<'_>, String> {
        if !self.is_valid(row) {
            return Ok(Cell::Empty);
        }
        let bytes = |width: usize| &self.values[row * width..(row + 1) * width];
        Ok(match self.kind {
            Kind::Null | Kind::Other(_) => Cell::Empty,
            Kind::Bool => Cell::Bool(bit(&self.values, self.shift + row)),
            Kind::Integer { bytes: width, signed } => Cell::Integer(integer(bytes(width), signed)),
            Kind::Half => Cell::Float(half(u16::from_le_bytes(bytes(2).try_into().expect("two")))),
            Kind::Single => {
                Cell::Float(f32::from_le_bytes(bytes(4).try_into().expect("four")).into())
            }
            Kind::Double => Cell::Float(f64::from_le_bytes(bytes(8).try_into().expect("eight"))),
            Kind::Text { .. } | Kind::View => {
                let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
                Cell::of_utf8(&self.values[start..self.ends[row]])?
            }
        })
    }
}

fn bit(bytes: &[u8], at: usize) -> bool {
    bytes[at / 8] >> (at % 8) & 1 == 1
}

fn integer(bytes: &[u8], signed: bool) -> i128 {
    let negative = signed && bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut wide = if negative { [0xff; 16] } else { [0; 16] };
    wide[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(wide)
}

/// A float of one bit of sign, five of exponent and ten of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width() {
        assert_eq!(integer(&[0xff], true), -1);
        assert_eq!(integer(&[0xff], false), 255);
        assert_eq!(integer(&i64::MIN.to_le_bytes(), true), i128::from(i64::MIN));
        assert_eq!(integer(&u64::MAX.to_le_bytes(), false), i128::from(u64::MAX));
        let halves = [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 2f64.powi(-24))];
        halves.into_iter().for_each(|(bits, value)| assert_eq!(half(bits), value));
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
