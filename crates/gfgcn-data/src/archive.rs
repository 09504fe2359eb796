//! Members of a zip archive, read with care.
//!
//! Nothing is ever extracted to disk. A member is decompressed only when asked for, and refused when
//! it expands further than an archive of this size can mean. The whole archive is the measure, not
//! the member: the weights of a large graph are all 1 and compress a thousandfold, but the edges
//! beside them do not. A member that was stored as it is, is read where it stands.

use crate::checksum::crc32;
use crate::reading::Reading;
use crate::{limits, npy};
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Cursor, Read, Seek, Write};
use std::mem::ManuallyDrop;
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, ZipArchive};

/// Beyond [`limits::FREE`], a member may expand to this multiple of the archive's size.
const MAX_RATIO: u64 = 200;

/// An open archive of arrays.
pub(crate) struct Archive<'a> {
    bytes: &'a [u8],
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Member names without the `.npy` ending, by position.
    names: Vec<String>,
    /// Bytes that a member may expand to.
    limit: u64,
}

impl<'a> Archive<'a> {
    /// Opens an archive and checks its list of members.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|e| unreadable("is not a readable .npz (zip) archive", e))?;
        let mut names = Vec::with_capacity(zip.len());
        let mut seen = HashSet::new();
        for name in zip.file_names() {
            let name = name.map_err(|e| Error::Format(format!("a member's name is bad ({e})")))?;
            if name.contains("..") || name.starts_with('/') || name.contains('\\') {
                return Err(Error::Format(format!(
                    "member {name:?} has a name that leads outside"
                )));
            }
            let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
            if !seen.insert(name.clone()) {
                return Err(Error::Format(format!("member {name:?} is there twice")));
            }
            names.push(name);
        }
        if let Some(listed) = listed_members(bytes)
            && listed != names.len()
        {
            return Err(Error::Format(format!(
                "the archive lists {listed} members, but {} different ones; one is there twice",
                names.len()
            )));
        }
        let limit = limits::FREE + MAX_RATIO.saturating_mul(bytes.len() as u64);
        Ok(Archive { bytes, zip, names, limit })
    }

    /// The names of all members, without the `.npy` ending.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Bytes of the whole archive.
    pub(crate) fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Bytes that a member may take, decompressed or converted.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The bytes of a member, if it is there; those that had to be decompressed are held by the reading.
    pub(crate) fn read(&mut self, name: &str, reading: &Reading) -> Result<Option<Cow<'a, [u8]>>> {
        let Some(position) = self.names.iter().position(|member| member == name) else {
            return Ok(None);
        };
        self.read_at(position, reading).map(Some)
    }

    fn read_at(&mut self, position: usize, reading: &Reading) -> Result<Cow<'a, [u8]>> {
        /// Bytes that are decompressed between two looks at whether they are still wanted: many of those that were
        /// announced, few of any others.
        const PIECES: [u64; 2] = [64 << 10, 4 << 20];
        let mut member =
            self.zip.by_index(position).map_err(|e| unreadable("cannot be opened", e))?;
        if member.size() > self.limit {
            return Err(too_large(member.size(), member.compressed_size()));
        }
        if let Some(bytes) = stored(self.bytes, &member) {
            reading.check()?;
            let (found, listed) = (crc32(bytes), member.crc32());
            return match found == listed {
                true => Ok(Cow::Borrowed(bytes)),
                false => Err(Error::Format(format!(
                    "is damaged: its checksum is {found:08x}, not {listed:08x}"
                ))),
            };
        }
        // What is claimed is not too much for the archive, but need not be true.
        let mut bytes = reading.array(member.size() as usize)?;
        loop {
            reading.check()?;
            let left = member.size().saturating_sub(bytes.len() as u64);
            let piece = left.clamp(PIECES[0], PIECES[1]);
            if left == 0 {
                reading.grow(piece as usize)?;
            }
            let read = (&mut member)
                .take(piece)
                .read_to_end(&mut bytes)
                .map_err(|e| unreadable("cannot be decompressed", e.into()))?;
            if bytes.len() as u64 > self.limit {
                return Err(too_large(bytes.len() as u64, member.compressed_size()));
            }
            if read == 0 {
                return Ok(Cow::Owned(bytes));
            }
        }
    }
}

/// The bytes of a member that is not compressed, if all of them are there.
fn stored<'a>(archive: &'a [u8], member: &ZipFile<'_, Cursor<&[u8]>>) -> Option<&'a [u8]> {
    let as_is = member.compression() == CompressionMethod::Stored
        && !member.encrypted()
        && member.size() == member.compressed_size();
    let start = usize::try_from(member.data_start().filter(|_| as_is)?).ok()?;
    archive.get(start..start.checked_add(usize::try_from(member.size()).ok()?)?)
}

fn too_large(size: u64, compressed: u64) -> Error {
    Error::Format(format!(
        "expands from {compressed} to {size} bytes or more, which looks like a zip bomb; \
         if it is not, save the archive uncompressed"
    ))
}

fn unreadable(what: &str, error: ZipError) -> Error {
    Error::Format(format!("{what} ({error})"))
}

/// The number of members that the end of the archive claims, unless it is in the 64-bit record.
fn listed_members(archive: &[u8]) -> Option<usize> {
    const END: &[u8] = b"PK\x05\x06";
    // The end record has 22 bytes, and a comment of 16-bit length.
    let tail = &archive[archive.len().saturating_sub(22 + usize::from(u16::MAX))..];
    let start = tail.windows(END.len()).rposition(|window| window == END)?;
    let count = tail.get(start + 10..start + 12)?;
    let count = u16::from_le_bytes([count[0], count[1]]);
    (count != u16::MAX).then_some(usize::from(count))
}

/// An archive of members in order, deflated, with a fixed date so that the same data give the same
/// bytes.
pub(crate) fn to_bytes(members: &[(impl AsRef<str>, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(members.iter().any(|(_, bytes)| bytes.len() >= u32::MAX as usize));
    let mut write = || -> zip::result::ZipResult<()> {
        for (name, bytes) in members {
            zip.start_file(format!("{}.npy", name.as_ref()), options)?;
            zip.write_all(bytes)?;
        }
        Ok(())
    };
    write().expect("writing to memory does not fail");
    zip.finish().expect("writing to memory does not fail").into_inner()
}

/// Members that are stored as they are begin at a multiple of so many bytes, and so do their items: they can be read where
/// they are.
const ALIGNMENT: u16 = 64;

/// An archive of arrays that is written piece by piece and never held in memory;
/// with a fixed date and system, so that the same data give the same bytes everywhere.
///
/// One that is not finished is abandoned: left to itself, the inner writer would finish it when
/// dropped and print to standard error that a full disk is full.
pub(crate) struct Writer<W: Write + Seek>(ManuallyDrop<ZipWriter<W>>, CompressionMethod);

impl<W: Write + Seek> Writer<W> {
    pub(crate) fn new(target: W) -> Self {
        Writer(ManuallyDrop::new(ZipWriter::new(target)), CompressionMethod::Stored)
    }

    /// One whose arrays are compressed.
    pub(crate) fn deflated(target: W) -> Self {
        Writer(ManuallyDrop::new(ZipWriter::new(target)), CompressionMethod::Deflated)
    }

    /// A whole array, with its header.
    pub(crate) fn member(&mut self, name: &str, array: &[u8]) -> io::Result<()> {
        let large = array.len() >= u32::MAX as usize;
        self.begin(name, large)?;
        self.0.write_all(array)
    }

    fn begin(&mut self, name: &str, large: bool) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(self.1)
            .with_alignment(ALIGNMENT)
            .system(zip::System::Unix)
            .large_file(large);
        self.0.start_file(format!("{name}.npy"), options).map_err(system_error)
    }

    /// Begins the next array; its items follow, written in little-endian order.
    pub(crate) fn start(&mut self, name: &str, descr: &str, shape: &[usize]) -> io::Result<()> {
        /// Items from which an array may be too large for the 32-bit fields of an archive.
        const LARGE: usize = 1 << 28;
        self.begin(name, shape.iter().product::<usize>() >= LARGE)?;
        self.0.write_all(&npy::header(descr, shape))
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        ManuallyDrop::into_inner(self.0).finish().map(drop).map_err(system_error)
    }
}

impl<W: Write + Seek> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The system's own error where there is one.
fn system_error(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => other.into(),
    }
}
