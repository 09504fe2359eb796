//! MATLAB's version 5 files (`save -v7` and before): numeric arrays, dense and sparse, by name.
//!
//! A file is a list of elements, each with a type and a length; a matrix is an element of elements. Every length is checked
//! against the bytes that are there. The format: *MAT-File Format*, The MathWorks.

use crate::limits::{RATIO, justified};
use crate::reading::Reading;
use flate2::read::ZlibDecoder;
use gfgcn::{Error, Result};
use std::io::Read;

/// An array of a file.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) values: Values,
}

#[derive(Debug)]
pub(super) enum Values {
    /// Column by column.
    Dense(Vec<f64>),
    /// The row of each entry, where the entries of each column begin, and their values.
    Sparse { rows: Vec<u32>, begins: Vec<usize>, values: Vec<f64> },
    /// Text, cells, structures, complex numbers: known by name only.
    Other(&'static str),
}

const HEADER: usize = 128;

/// Types of elements.
const COMPRESSED: u32 = 15;
const MATRIX: u32 = 14;

/// Reads the variables of a file whose names are wanted; of others, only the names.
pub(super) fn read(
    bytes: &[u8],
    is_wanted: impl Fn(&str) -> bool,
    reading: &Reading,
) -> Result<Vec<Variable>> {
    let big_endian = check_header(bytes)?;
    let mut at = HEADER;
    let mut variables = Vec::new();
    while at < bytes.len() {
        reading.check()?;
        let file = Elements { bytes, big_endian };
        let element = file.element(at, false)?;
        at = element.next;
        match element.kind {
            COMPRESSED => {
                let expanded = expand(element.data, bytes.len() as u64, reading)?;
                let inner = Elements { bytes: &expanded, big_endian };
                let matrix = inner.element(0, false)?;
                if matrix.kind == MATRIX {
                    variables.push(variable(matrix.data, big_endian, &is_wanted, reading)?);
                }
                let length = expanded.len() as u64;
                drop(expanded);
                reading.release(length);
            }
            MATRIX => variables.push(variable(element.data, big_endian, &is_wanted, reading)?),
            _ => {}
        }
    }
    Ok(variables)
}

/// Whether numbers are big-endian; refuses what is no such file.
fn check_header(bytes: &[u8]) -> Result<bool> {
    const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
    let wrong = |problem: &str| Err(Error::Format(problem.into()));
    let is_hdf5 = bytes.starts_with(HDF5) || bytes.get(512..520) == Some(HDF5);
    if is_hdf5 || bytes.starts_with(b"MATLAB 7.3") {
        return wrong("is of MATLAB's version 7.3, which is HDF5; in MATLAB, save it with -v7");
    }
    match bytes.get(..HEADER) {
        None => wrong("is shorter than the header of a MATLAB file"),
        Some(header) => match (&header[126..128], header[124], header[125]) {
            (b"IM", 0, 1) => Ok(false),
            (b"MI", 1, 0) => Ok(true),
            (b"IM" | b"MI", ..) => {
                wrong("is of an unknown version of MATLAB's files; save it with -v7")
            }
            _ => {
                wrong("does not begin like a MATLAB file of version 5; in MATLAB, save it with -v7")
            }
        },
    }
}

/// The bytes of a compressed element.
fn expand(compressed: &[u8], file: u64, reading: &Reading) -> Result<Vec<u8>> {
    const PIECE: u64 = 1 << 20;
    let mut decoder = ZlibDecoder::new(compressed);
    let mut bytes = Vec::new();
    loop {
        reading.hold(0)?;
        let read = (&mut decoder).take(PIECE).read_to_end(&mut bytes);
        let read = read.map_err(|e| Error::Format(format!("compressed data are damaged: {e}")))?;
        reading.grow(read)?;
        if !justified(bytes.len() as u64, file) {
            return Err(Error::Format(format!(
                "compressed data expand to more than {RATIO} times the size of the file"
            )));
        }
        if read == 0 {
            return Ok(bytes);
        }
    }
}

/// Bytes that are elements one after the other.
#[derive(Clone, Copy)]
struct Elements<'b> {
    bytes: &'b [u8],
    big_endian: bool,
}

struct Element<'b> {
    kind: u32,
    data: &'b [u8],
    /// Where the next one begins.
    next: usize,
}

impl Element<'_> {
    /// How many numbers it holds.
    fn count(&self) -> Result<usize> {
        Ok(self.data.len() / width(self.kind)?)
    }
}

impl<'b> Elements<'b> {
    fn number(&self, at: usize) -> Option<u32> {
        let bytes: [u8; 4] = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// The element at a place; elements inside a matrix begin at multiples of eight.
    fn element(&self, at: usize, padded: bool) -> Result<Element<'b>> {
        let cut = || {
            Error::Format(format!(
                "ends inside an element that begins at byte {at}; is it cut off?"
            ))
        };
        let first = self.number(at).ok_or_else(cut)?;
        // Up to four bytes stand in the tag itself.
        if first >> 16 != 0 {
            let (kind, length) = (first & 0xffff, (first >> 16) as usize);
            let data = (length <= 4).then(|| self.bytes.get(at + 4..at + 4 + length)).flatten();
            let data = data.ok_or_else(cut)?;
            return Ok(Element { kind, data, next: at + 8 });
        }
        let length = self.number(at + 4).ok_or_else(cut)? as usize;
        let begin = at + 8;
        let end = begin.checked_add(length).ok_or_else(cut)?;
        let data = self.bytes.get(begin..end).ok_or_else(cut)?;
        let next = if padded { end.next_multiple_of(8) } else { end };
        Ok(Element { kind: first, data, next })
    }
}

/// A matrix, of which everything is an element.
fn variable(
    bytes: &[u8],
    big_endian: bool,
    is_wanted: &impl Fn(&str) -> bool,
    reading: &Reading,
) -> Result<Variable> {
    let parts = Elements { bytes, big_endian };
    let flags = parts.element(0, true)?;
    let words = Elements { bytes: flags.data, big_endian };
    let Some(word) = words.number(0).filter(|_| flags.data.len() == 8) else {
        return Err(Error::Format("the flags of an array are not eight bytes".into()));
    };
    let dimensions = parts.element(flags.next, true)?;
    let name = parts.element(dimensions.next, true)?;
    let at = name.next;
    let name = String::from_utf8_lossy(name.data).trim_end_matches('\0').to_owned();
    let named = |error: Error| Error::Format(format!("array {name:?}: {error}"));
    let (class, complex) = (word & 0xff, word & 0x800 != 0);
    let read = || {
        if !is_wanted(&name) {
            return Ok((0, 0, Values::Other("of another name")));
        }
        let sizes = integers(&dimensions, big_endian)?;
        let &[rows, columns] = sizes.as_slice() else {
            return Err(Error::Format(format!("has {} dimensions, but two are read", sizes.len())));
        };
        let size = |size: i64| usize::try_from(size).ok().filter(|&size| size <= u32::MAX as usize);
        let (Some(rows), Some(columns)) = (size(rows), size(columns)) else {
            return Err(Error::Format(format!("has the shape {rows} × {columns}")));
        };
        let values = match class {
            _ if complex => Values::Other("complex numbers"),
            5 => sparse(&parts, at, rows, columns, reading)?,
            6..=15 => {
                let element = parts.element(at, true)?;
                let values = numbers(&element, big_endian, reading)?;
                if Some(values.len()) != rows.checked_mul(columns) {
                    let problem =
                        format!("has {} values, but the shape {rows} × {columns}", values.len());
                    return Err(Error::Format(problem));
                }
                Values::Dense(values)
            }
            1 => Values::Other("a cell array"),
            2 => Values::Other("a structure"),
            4 => Values::Other("text"),
            _ => Values::Other("an object"),
        };
        Ok((rows, columns, values))
    };
    let (rows, columns, values) = read().map_err(named)?;
    Ok(Variable { name, rows, columns, values })
}

fn sparse(
    parts: &Elements,
    at: usize,
    rows: usize,
    columns: usize,
    reading: &Reading,
) -> Result<Values> {
    let wrong = |problem: String| Err(Error::Format(problem));
    let places = parts.element(at, true)?;
    let begins = parts.element(places.next, true)?;
    let values = parts.element(begins.next, true)?;
    reading.hold(4 * begins.data.len() as u64)?;
    let begins = integers(&begins, parts.big_endian)?;
    if begins.len() != columns + 1 || begins.first() != Some(&0) || !begins.is_sorted() {
        return wrong(format!(
            "the beginnings of its {columns} columns are no increasing list from 0"
        ));
    }
    let entries = begins[columns] as usize;
    let there = places.count()?.min(values.count()?);
    if entries > there {
        return wrong(format!("claims {entries} entries, but has {there}"));
    }
    reading.hold((size_of::<u32>() * entries) as u64)?;
    let mut of_entries = Vec::with_capacity(entries);
    for place in whole(&places, parts.big_endian)?.take(entries) {
        let place = place?;
        if place < 0 || place >= rows as i64 {
            return wrong(format!("has an entry in row {place}, but {rows} rows"));
        }
        of_entries.push(place as u32);
    }
    let begins = begins.into_iter().map(|begin| begin as usize).collect();
    let mut values = numbers(&values, parts.big_endian, reading)?;
    values.truncate(entries);
    Ok(Values::Sparse { rows: of_entries, begins, values })
}

fn integers(element: &Element, big_endian: bool) -> Result<Vec<i64>> {
    whole(element, big_endian)?.collect()
}

/// The numbers of an element, which have no fraction.
fn whole<'b>(
    element: &Element<'b>,
    big_endian: bool,
) -> Result<impl Iterator<Item = Result<i64>> + use<'b>> {
    let (kind, size) = (element.kind, width(element.kind)?);
    let each = move |bytes: &[u8]| match value(kind, bytes, big_endian) {
        value if value.fract() == 0.0 && value.abs() < 9e15 => Ok(value as i64),
        value => Err(Error::Format(format!("has the number {value} where a whole one is needed"))),
    };
    Ok(element.data.chunks_exact(size).map(each))
}

fn numbers(element: &Element, big_endian: bool, reading: &Reading) -> Result<Vec<f64>> {
    let size = width(element.kind)?;
    reading.hold((element.data.len() / size * size_of::<f64>()) as u64)?;
    let each = |bytes: &[u8]| value(element.kind, bytes, big_endian);
    Ok(element.data.chunks_exact(size).map(each).collect())
}

/// Bytes of a number.
fn width(kind: u32) -> Result<usize> {
    match kind {
        1 | 2 => Ok(1),
        3 | 4 => Ok(2),
        5..=7 => Ok(4),
        9 | 12 | 13 => Ok(8),
        other => Err(Error::Format(format!("has data of type {other}, which are no numbers"))),
    }
}

fn value(kind: u32, bytes: &[u8], big_endian: bool) -> f64 {
    let mut little = [0; 8];
    little[..bytes.len()].copy_from_slice(bytes);
    if big_endian {
        little[..bytes.len()].reverse();
    }
    let [a, b, c, d, ..] = little;
    match kind {
        1 => f64::from(a as i8),
        2 => f64::from(a),
        3 => f64::from(i16::from_le_bytes([a, b])),
        4 => f64::from(u16::from_le_bytes([a, b])),
        5 => f64::from(i32::from_le_bytes([a, b, c, d])),
        6 => f64::from(u32::from_le_bytes([a, b, c, d])),
        7 => f64::from(f32::from_le_bytes([a, b, c, d])),
        9 => f64::from_le_bytes(little),
        12 => i64::from_le_bytes(little) as f64,
        _ => u64::from_le_bytes(little) as f64,
    }
}
