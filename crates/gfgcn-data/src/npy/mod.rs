//! Arrays in NumPy's `.npy` format.
//!
//! Written by hand because hostile headers must be survived: only the three keys of a header are
//! parsed, without recursion, and the claimed shape is checked against the bytes that are there
//! before anything is allocated. Arrays of Python objects are refused, never unpickled.

mod bulk;

pub(crate) use bulk::Natural;

use gfgcn::buffer::Buffer;
use gfgcn::{Error, Result};

/// What stands before the items of an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// Bytes per item.
    pub(crate) size: usize,
    pub(crate) big_endian: bool,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// The byte at which the items begin.
    pub(crate) start: usize,
}

/// An array inside a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Array<'a> {
    kind: Kind,
    /// Bytes per item.
    size: usize,
    big_endian: bool,
    fortran: bool,
    shape: Vec<usize>,
    payload: &'a [u8],
    /// Bytes that the items may take once converted.
    limit: u64,
    /// The file that the payload is a part of, if it is mapped.
    file: Option<&'a Buffer<u8>>,
}

/// The kinds of items that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Fixed-width, four bytes a character.
    Unicode,
    /// Fixed-width, one byte a character.
    Bytes,
    /// Python objects: recognised, so that they can be skipped by name, but never read.
    Object,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Bool => "truth values",
            Kind::Signed | Kind::Unsigned => "integers",
            Kind::Float => "floating-point numbers",
            Kind::Unicode | Kind::Bytes => "text",
            Kind::Object => "Python objects",
        })
    }
}

const MAGIC: &[u8] = b"\x93NUMPY";

impl Header {
    /// Parses the beginning of an `.npy` file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(MAGIC) {
            return Err(Error::Format("does not start like a NumPy array (.npy)".into()));
        }
        let length_bytes = match bytes.get(6) {
            Some(1) => 2,
            Some(2 | 3) => 4,
            Some(version) => {
                return Err(Error::Format(format!("NumPy format version {version} is not known")));
            }
            None => return Err(truncated(bytes.len())),
        };
        let start = 8 + length_bytes;
        let length = bytes
            .get(8..start)
            .ok_or_else(|| truncated(bytes.len()))?
            .iter()
            .rev()
            .fold(0usize, |sum, &byte| sum << 8 | usize::from(byte));
        let header = start
            .checked_add(length)
            .and_then(|end| bytes.get(start..end))
            .ok_or_else(|| truncated(bytes.len()))?;
        let header = std::str::from_utf8(header)
            .map_err(|_| Error::Format("the array's header is not text".into()))?;
        Self::from_text(header, start + length)
    }

    fn from_text(header: &str, start: usize) -> Result<Self> {
        let bad = |key: &str| Error::Format(format!("the array's header has no readable '{key}'"));
        let descr = value_of(header, "descr").ok_or_else(|| bad("descr"))?;
        let (kind, size, big_endian) = parse_descr(descr)?;
        let order = value_of(header, "fortran_order").ok_or_else(|| bad("fortran_order"))?;
        let shape = value_of(header, "shape").and_then(parse_shape).ok_or_else(|| bad("shape"))?;
        let fortran = match order {
            order if order.starts_with("False") => false,
            order if order.starts_with("True") => true,
            _ => return Err(bad("fortran_order")),
        };
        Ok(Header { kind, size, big_endian, fortran, shape, start })
    }
}

impl<'a> Array<'a> {
    /// Parses the bytes of an `.npy` file.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let Header { kind, size, big_endian, fortran, shape, start } = Header::parse(bytes)?;
        let payload = &bytes[start..];
        let (limit, file) = (u64::MAX, None);
        let array = Array { kind, size, big_endian, fortran, shape, payload, limit, file };
        if kind != Kind::Object {
            array.check_payload()?;
        }
        Ok(array)
    }

    fn check_payload(&self) -> Result<()> {
        let needed =
            self.shape.iter().try_fold(self.size, |product, &length| product.checked_mul(length));
        match needed {
            Some(needed) if needed == self.payload.len() => Ok(()),
            Some(needed) => Err(Error::Format(format!(
                "an array of shape {:?} needs {needed} bytes, but {} are there",
                self.shape,
                self.payload.len()
            ))),
            None => Err(Error::Format(format!("the shape {:?} is too large", self.shape))),
        }
    }

    /// Refuses to convert the items to more than `limit` bytes. An array that was compressed needs
    /// this: its bytes are no witnesses of the file's size, and a byte can become a `String`.
    pub(crate) fn with_limit(self, limit: u64) -> Self {
        Array { limit, ..self }
    }

    /// Says that the bytes may be a part of a mapped file, so that large arrays need not be copied.
    pub(crate) fn with_file(self, file: Option<&'a Buffer<u8>>) -> Self {
        Array { file, ..self }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The items in C order as integers. Whole-numbered floats are accepted, NaN becomes `nan`.
    pub(crate) fn integers(&self, nan: Option<i64>) -> Result<Vec<i64>> {
        match (self.is_plain(), self.kind, self.size) {
            (true, Kind::Signed, 4) => return self.bulk(|b| i64::from(i32::from_le_bytes(b))),
            (true, Kind::Signed, 8) => return self.bulk(i64::from_le_bytes),
            _ => {}
        }
        self.convert("whole numbers", |array, item| match array.kind {
            Kind::Bool | Kind::Unsigned => i64::try_from(array.unsigned(item)).ok(),
            Kind::Signed => Some(array.signed(item)),
            Kind::Float => {
                let value = array.float(item);
                if value.is_nan() {
                    nan
                } else {
                    (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
                }
            }
            _ => None,
        })
    }

    /// The items in C order as single-precision numbers; what overflows becomes infinite.
    pub(crate) fn floats(&self) -> Result<Vec<f32>> {
        match (self.is_plain(), self.kind, self.size) {
            (true, Kind::Float, 4) => return self.bulk(f32::from_le_bytes),
            (true, Kind::Float, 8) => return self.bulk(|b| f64::from_le_bytes(b) as f32),
            _ => {}
        }
        self.convert("numbers", |array, item| match array.kind {
            Kind::Bool | Kind::Unsigned => Some(array.unsigned(item) as f32),
            Kind::Signed => Some(array.signed(item) as f32),
            Kind::Float => Some(array.float(item) as f32),
            _ => None,
        })
    }

    /// The items in C order as double-precision numbers.
    pub(crate) fn doubles(&self) -> Result<Vec<f64>> {
        self.convert("numbers", |array, item| match array.kind {
            Kind::Bool | Kind::Unsigned => Some(array.unsigned(item) as f64),
            Kind::Signed => Some(array.signed(item) as f64),
            Kind::Float => Some(array.float(item)),
            _ => None,
        })
    }

    /// The items as text, trailing NULs removed; numbers are printed.
    pub(crate) fn texts(&self) -> Result<Vec<String>> {
        self.convert("text", |array, item| match array.kind {
            Kind::Unicode => {
                let characters: Option<String> = item
                    .chunks_exact(4)
                    .map(|c| char::from_u32(array.unsigned(c) as u32))
                    .collect();
                characters.map(|text| text.trim_end_matches('\0').to_owned())
            }
            Kind::Bytes => {
                std::str::from_utf8(item).ok().map(|text| text.trim_end_matches('\0').to_owned())
            }
            Kind::Bool | Kind::Unsigned => Some(array.unsigned(item).to_string()),
            Kind::Signed => Some(array.signed(item).to_string()),
            _ => None,
        })
    }

    /// The number of items; 0 of Python objects, which nobody counts.
    pub(crate) fn len(&self) -> usize {
        if self.kind == Kind::Object { 0 } else { self.shape.iter().product() }
    }

    /// Refuses Python objects.
    pub(crate) fn check_plain(&self) -> Result<()> {
        match (self.kind, self.shape.as_slice()) {
            (Kind::Object, []) => Err(Error::Format(
                "is a pickled Python object, which is never read, because that could run code. Save \
                 its arrays by themselves: of a SciPy matrix data, indices, indptr and shape"
                    .into(),
            )),
            (Kind::Object, _) => Err(Error::Format(
                "is an array of pickled Python objects; those are never read, because that could \
                 run code. Save it with a plain dtype, such as array.astype(str) or \
                 array.astype(float)"
                    .into(),
            )),
            _ => Ok(()),
        }
    }

    /// Refuses more items than a file of this size holds.
    fn check_count<T>(&self) -> Result<usize> {
        let count = self.len();
        if count.saturating_mul(size_of::<T>()) as u64 > self.limit {
            return Err(Error::Format(format!(
                "has {count} entries, far more than a file of this size holds, which looks like a \
                 zip bomb; if it is not, save it uncompressed"
            )));
        }
        Ok(count)
    }

    fn convert<T>(&self, wanted: &str, read: impl Fn(&Self, &[u8]) -> Option<T>) -> Result<Vec<T>> {
        self.check_plain()?;
        let count = self.check_count::<T>()?;
        let item = |k: usize| &self.payload[k * self.size..(k + 1) * self.size];
        // Not collected: an array that doubles would take twice the memory.
        let mut items = Vec::with_capacity(count);
        for k in 0..count {
            let k = if self.fortran { self.fortran_position(k) } else { k };
            items.push(read(self, item(k)).ok_or_else(|| {
                Error::Format(format!(
                    "entry {k} cannot be read as {wanted}; the array holds {}",
                    self.kind
                ))
            })?);
        }
        Ok(items)
    }

    /// Where the item stands, in Fortran order, that is the k-th in C order.
    fn fortran_position(&self, mut k: usize) -> usize {
        let mut stride: usize = self.shape.iter().product();
        let mut position = 0;
        for &length in self.shape.iter().rev() {
            stride /= length;
            position += k % length * stride;
            k /= length;
        }
        position
    }

    fn unsigned(&self, item: &[u8]) -> u64 {
        let fold = |sum: u64, &byte: &u8| sum << 8 | u64::from(byte);
        if self.big_endian { item.iter().fold(0, fold) } else { item.iter().rev().fold(0, fold) }
    }

    fn signed(&self, item: &[u8]) -> i64 {
        let unused = 64 - 8 * self.size as u32;
        ((self.unsigned(item) << unused) as i64) >> unused
    }

    fn float(&self, item: &[u8]) -> f64 {
        match self.size {
            4 => f64::from(f32::from_bits(self.unsigned(item) as u32)),
            _ => f64::from_bits(self.unsigned(item)),
        }
    }
}

fn truncated(length: usize) -> Error {
    Error::Format(format!("the array's header is cut off after {length} bytes"))
}

/// The text after `'key':` in the header's dictionary.
fn value_of<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let position = header.find(&format!("'{key}'"))?;
    let rest = header[position + key.len() + 2..].trim_start();
    Some(rest.strip_prefix(':')?.trim_start())
}

/// `(3, 4)`, `(3,)` or `()`, with what follows.
fn parse_shape(text: &str) -> Option<Vec<usize>> {
    /// NumPy's own limit.
    const MAX_DIMENSIONS: usize = 64;
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let mut parts: Vec<&str> = inside.split(',').map(str::trim).collect();
    if parts.last() == Some(&"") {
        parts.pop();
    }
    if parts.len() > MAX_DIMENSIONS {
        return None;
    }
    parts.into_iter().map(|part| part.trim_end_matches('L').parse().ok()).collect()
}

/// The longest fixed-width text, in characters.
const MAX_WIDTH: usize = 1 << 24;

/// `'<f4'` as kind, size in bytes and byte order.
fn parse_descr(text: &str) -> Result<(Kind, usize, bool)> {
    let unreadable = |descr: &str| {
        Error::Format(format!(
            "the array has type {descr}; readable are booleans, integers, 32- and 64-bit floats \
             and fixed-width text"
        ))
    };
    let quoted = |text: &'_ str| -> Option<String> {
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        text[1..].split_once(quote).map(|(inside, _)| inside.to_owned())
    };
    let Some(descr) = quoted(text) else {
        return Err(unreadable("with named fields or unknown"));
    };
    let mut rest = descr.chars();
    let (big_endian, code) = match rest.next() {
        Some('>') => (true, rest.next()),
        Some('<' | '|' | '=') => (false, rest.next()),
        first => (false, first),
    };
    let length: Option<usize> = rest.as_str().parse().ok();
    match (code, length) {
        (Some('O'), _) => Ok((Kind::Object, 8, false)),
        (Some('b'), Some(1)) | (Some('?'), None) => Ok((Kind::Bool, 1, false)),
        (Some('i'), Some(size @ (1 | 2 | 4 | 8))) => Ok((Kind::Signed, size, big_endian)),
        (Some('u'), Some(size @ (1 | 2 | 4 | 8))) => Ok((Kind::Unsigned, size, big_endian)),
        (Some('f'), Some(size @ (4 | 8))) => Ok((Kind::Float, size, big_endian)),
        (Some('U'), Some(length @ 1..=MAX_WIDTH)) => Ok((Kind::Unicode, 4 * length, big_endian)),
        (Some('S' | 'a'), Some(length @ 1..=MAX_WIDTH)) => Ok((Kind::Bytes, length, false)),
        (Some('c'), _) => Err(Error::Format(format!(
            "the array has type {descr}, complex numbers, which are not read; save their real parts \
             or absolute values if those are meant"
        ))),
        _ => Err(unreadable(&descr)),
    }
}

/// The bytes of an `.npy` file before the payload, which is little-endian and in C order.
pub(crate) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    header_of_length(descr, shape, 0)
}

/// As [`header`], of so many bytes at least.
pub(crate) fn header_of_length(descr: &str, shape: &[usize], least: usize) -> Vec<u8> {
    let lengths: String = shape.iter().map(|length| format!("{length},")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
    // The payload starts at a multiple of 64 bytes, as NumPy wants it.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    let length = least.max(unpadded).next_multiple_of(64);
    header.push_str(&" ".repeat(length - unpadded));
    header.push('\n');
    [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat()
}

/// The bytes of an `.npy` file with the given type, shape and little-endian payload in C order.
pub(crate) fn encode(descr: &str, shape: &[usize], payload: &[u8]) -> Vec<u8> {
    [&header(descr, shape), payload].concat()
}

/// The bytes of a text of so many characters.
pub(crate) fn push_text(bytes: &mut Vec<u8>, text: &str, width: usize) {
    let padded = text.chars().chain(std::iter::repeat('\0')).take(width);
    bytes.extend(padded.flat_map(|c| (c as u32).to_le_bytes()));
}

/// An array of fixed-width Unicode text.
pub(crate) fn encode_texts<S: AsRef<str>>(texts: &[S]) -> Vec<u8> {
    let width = texts.iter().map(|text| text.as_ref().chars().count()).max().unwrap_or(0).max(1);
    let mut payload = Vec::with_capacity(4 * width * texts.len());
    texts.iter().for_each(|text| push_text(&mut payload, text.as_ref(), width));
    encode(&format!("<U{width}"), &[texts.len()], &payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_and_byte_order_do_not_matter() {
        let plain = encode("<i2", &[2, 3], &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
        assert_eq!(Array::parse(&plain).unwrap().integers(None).unwrap(), [0, 1, 2, 3, 4, 5]);
        // Column-major big-endian: (0,0) (1,0) (0,1) (1,1) (0,2) (1,2).
        let mut other = encode(">i2", &[2, 3], &[0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5]);
        let position = other.windows(5).position(|w| w == b"False").unwrap();
        other[position..position + 5].copy_from_slice(b"True ");
        assert_eq!(Array::parse(&other).unwrap().integers(None).unwrap(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn text_survives_the_way_there_and_back() {
        let texts = vec!["a".to_owned(), "Größe".to_owned(), String::new()];
        let bytes = encode_texts(&texts);
        assert_eq!(Array::parse(&bytes).unwrap().texts().unwrap(), texts);
    }

    #[test]
    fn hostile_headers_are_refused() {
        let cases: &[(&str, &[usize], &[u8], &str)] = &[
            ("<f4", &[usize::MAX, 2], &[], "too large"),
            ("<f4", &[1 << 30], &[0; 8], "needs 4294967296 bytes, but 8"),
            ("<c8", &[1], &[0; 8], "type <c8"),
            ("<f2", &[1], &[0; 2], "type <f2"),
        ];
        for (descr, shape, payload, message) in cases {
            let bytes = encode(descr, shape, payload);
            let error = Array::parse(&bytes).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let object = encode("|O", &[1], b"cos\nsystem\n");
        let error = Array::parse(&object).unwrap().integers(None).unwrap_err().to_string();
        assert!(error.contains("could run code"), "{error}");
        let whole = encode("<f4", &[2], &[0; 8]);
        for length in 0..whole.len() {
            assert!(Array::parse(&whole[..length]).is_err(), "cut at {length}");
        }
    }
}
