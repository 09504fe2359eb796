//! The arrays of a store: written piece by piece, mapped when they are read.

use super::meta::{FileMeta, Meta};
use crate::checksum::crc32;
use crate::npy::{self, Header, Kind};
use crc32fast::Hasher;
use gfgcn::buffer::{Buffer, Plain, little_endian};
use gfgcn::context::Context;
use gfgcn::{Error, Result, files};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes before the items of every array: whatever the shape turns out to be, its header fits.
const HEADER: usize = 128;
/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 20;

/// The numbers that arrays hold, as NumPy calls them.
pub(super) trait Item: Plain {
    const DESCR: &'static str;
    const KIND: Kind;
}

macro_rules! items {
    ($($number:ty: $descr:literal, $kind:expr;)*) => {
        $(impl Item for $number {
            const DESCR: &'static str = $descr;
            const KIND: Kind = $kind;
        })*
    };
}

items! {
    u8: "|u1", Kind::Unsigned;
    i32: "<i4", Kind::Signed;
    u32: "<u4", Kind::Unsigned;
    u64: "<u8", Kind::Unsigned;
    f32: "<f4", Kind::Float;
    f64: "<f8", Kind::Float;
}

/// An array on its way to the disk.
#[derive(Debug)]
pub(super) struct ArrayWriter {
    pub(super) name: String,
    path: PathBuf,
    file: BufWriter<File>,
    descr: &'static str,
    items: u64,
    crc: Hasher,
    context: Context,
}

impl ArrayWriter {
    /// Begins an array of so many bytes an item.
    pub(super) fn new<T: Item>(name: &str, path: PathBuf, context: &Context) -> Result<Self> {
        let begin = || {
            let mut file = File::create(&path)?;
            file.write_all(&[0; HEADER])?;
            Ok(BufWriter::with_capacity(BUFFER, file))
        };
        let (name, context) = (name.to_owned(), context.clone());
        let file = begin().map_err(|source| Error::Write { path: path.clone(), source })?;
        Ok(ArrayWriter { name, path, file, descr: T::DESCR, items: 0, crc: Hasher::new(), context })
    }

    /// Appends items.
    pub(super) fn put<T: Item>(&mut self, items: &[T]) -> Result<()> {
        debug_assert_eq!(self.descr, T::DESCR);
        self.context.check()?;
        let bytes = little_endian(items);
        self.crc.update(&bytes);
        self.items += items.len() as u64;
        let written = self.file.write_all(&bytes);
        written.map_err(|source| Error::Write { path: self.path.clone(), source })?;
        self.context.progress().advance_by(bytes.len() as u64);
        Ok(())
    }

    /// Ends the array, in rows of so many columns, or in one dimension.
    pub(super) fn finish(self, columns: Option<usize>) -> Result<FileMeta> {
        let ArrayWriter { path, file, descr, items, crc, .. } = self;
        let items = items as usize;
        let shape = match columns {
            Some(columns) => vec![items / columns.max(1), columns],
            None => vec![items],
        };
        let header = npy::header_of_length(descr, &shape, HEADER);
        let end = || {
            let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)?;
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        let bytes = end().map_err(|source| Error::Write { path: path.clone(), source })?;
        let mut whole = Hasher::new();
        whole.update(&header);
        whole.combine(&crc);
        Ok(FileMeta { bytes, crc32: format!("{:08x}", whole.finalize()) })
    }
}

/// The files of a store that is read.
pub(super) struct Files<'m> {
    pub(super) folder: &'m Path,
    pub(super) meta: &'m Meta,
}

impl Files<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.meta.files.contains_key(name)
    }

    /// Checks that every file is there, with the length that it had when it was written.
    pub(super) fn check(&self) -> Result<()> {
        for (name, listed) in &self.meta.files {
            let path = self.folder.join(name);
            let file = path.metadata().map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    let problem =
                        "is missing from the store; make the store again (gfgcn data convert)";
                    Error::Data(problem.into()).in_file(&path)
                }
                _ => Error::Read(error).in_file(&path),
            })?;
            if file.len() != listed.bytes {
                return Err(Error::Data(format!(
                    "has {} bytes, but had {} when the store was made; make the store again (gfgcn data convert)",
                    file.len(),
                    listed.bytes
                ))
                .in_file(&path));
            }
        }
        Ok(())
    }

    /// Maps an array of the given shape; a dimension that is `None` may be of any length. Its contents are checked later.
    pub(super) fn map<T: Item>(
        &self,
        name: &str,
        shape: &[Option<usize>],
    ) -> Result<(Buffer<T>, Vec<usize>)> {
        let path = self.folder.join(name);
        if !self.has(name) {
            let problem =
                "is not listed in meta.json, but the store needs it; make the store again";
            return Err(Error::Format(problem.into()).in_file(&path));
        }
        map_array(&path, shape).map_err(|error| error.in_file(&path))
    }

    /// As [`Files::map`], with its contents checked.
    pub(super) fn checked<T: Item>(
        &self,
        name: &str,
        shape: &[Option<usize>],
    ) -> Result<(Buffer<T>, Vec<usize>)> {
        let mapped = self.map(name, shape)?;
        check_contents(&self.folder.join(name), &self.meta.files[name])?;
        Ok(mapped)
    }

    /// The items of an array of one dimension, which are checked.
    pub(super) fn list<T: Item>(&self, name: &str, length: Option<usize>) -> Result<Buffer<T>> {
        Ok(self.checked(name, &[length])?.0)
    }

    /// Text, one after the other.
    pub(super) fn texts(&self, stem: &str) -> Result<Vec<String>> {
        let name = format!("{stem}/offsets.npy");
        let (offsets, text) =
            (self.list::<u64>(&name, None)?, self.list::<u8>(&format!("{stem}/text.npy"), None)?);
        let text_of = |ends: &[u64]| {
            let bytes = text.get(usize::try_from(ends[0]).ok()?..usize::try_from(ends[1]).ok()?)?;
            std::str::from_utf8(bytes).ok().map(str::to_owned)
        };
        let all: Option<Vec<String>> = offsets.windows(2).map(text_of).collect();
        all.ok_or_else(|| {
            let problem = "does not fit the text beside it, or that is not UTF-8";
            Error::Format(problem.into()).in_file(self.folder.join(name))
        })
    }
}

fn map_array<T: Item>(path: &Path, shape: &[Option<usize>]) -> Result<(Buffer<T>, Vec<usize>)> {
    let mut file = files::open(path)?;
    let mut beginning = [0; HEADER];
    let length = {
        let mut read = 0;
        loop {
            match file.read(&mut beginning[read..]).map_err(Error::Read)? {
                0 => break read,
                more => read += more,
            }
        }
    };
    let header = Header::parse(&beginning[..length])?;
    let Header { kind, size, big_endian, fortran, shape: found, start } = header;
    if (kind, size) != (T::KIND, size_of::<T>()) || (big_endian && size > 1) || fortran {
        return Err(Error::Format(format!("is not an array of {} in C order", T::DESCR)));
    }
    let fits = shape.len() == found.len()
        && shape.iter().zip(&found).all(|(wanted, found)| wanted.is_none_or(|w| w == *found));
    if !fits {
        let wanted: Vec<String> =
            shape.iter().map(|l| l.map_or("any".into(), |l| l.to_string())).collect();
        return Err(Error::Format(format!(
            "has the shape {found:?}, but the store needs [{}]",
            wanted.join(", ")
        )));
    }
    let items = found.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
    let items = items.ok_or_else(|| Error::Format(format!("the shape {found:?} is too large")))?;
    let bytes = file.metadata().map_err(Error::Read)?.len();
    let needed = (items as u64).checked_mul(size as u64).and_then(|n| n.checked_add(start as u64));
    if needed != Some(bytes) {
        let problem = format!("an array of shape {found:?} does not take the {bytes} bytes there");
        return Err(Error::Format(problem));
    }
    Ok((Buffer::map(&file, start as u64, items)?, found))
}

/// Checks that a file is the one that was written.
pub(super) fn check_contents(path: &Path, listed: &FileMeta) -> Result<()> {
    let check = || {
        let file = files::open(path)?;
        let bytes = Buffer::<u8>::map(&file, 0, listed.bytes as usize)?;
        let found = format!("{:08x}", crc32(&bytes));
        if found == listed.crc32 {
            return Ok(());
        }
        Err(Error::Data(format!(
            "has changed since the store was made: its checksum is {found}, not {}; make the store again (gfgcn data \
             convert)",
            listed.crc32
        )))
    };
    check().map_err(|error: Error| error.in_file(path))
}
