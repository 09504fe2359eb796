//! Numbered lines of a text file, plain or gzipped: what every text format here is read through.
//!
//! The checks that do not depend on the format are made once: UTF-8, no NUL, a byte-order mark
//! taken off, a cap on what compressed data may expand to and on the length of a line.

use crate::limits::{RATIO, justified};
use crate::reading::Reading;
use flate2::bufread::MultiGzDecoder;
use gfgcn::files;
use gfgcn::{Error, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest line or quoted cell that is read: far more than a row of a million numbers has. Without
/// a limit, compressed data could fill the memory before the first line end.
pub(crate) const LONGEST: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of a file, one at a time.
pub(crate) struct Lines {
    path: PathBuf,
    input: Box<dyn BufRead>,
    number: u64,
    line: Vec<u8>,
    reading: Reading,
    /// Bytes that were asked for because of a long line.
    held: u64,
}

/// Lines up to this length need not be asked for, and are read in one go.
const SHORT: u64 = 1 << 20;
/// How often the reading looks whether it is still wanted.
const LINES_BETWEEN_CHECKS: u64 = 1 << 12;

impl Lines {
    /// Opens a file; one whose name ends in `.gz` is expanded while it is read.
    pub(crate) fn open(path: &Path, reading: &Reading) -> Result<Self> {
        let input = Box::new(BufReader::with_capacity(1 << 16, open_bytes(path)?));
        let (path, reading) = (path.to_owned(), reading.clone());
        Ok(Lines { path, input, number: 0, line: Vec::new(), reading, held: 0 })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its line feed (a carriage return before it is kept), or `None` at the
    /// end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<&str>> {
        self.line.clear();
        let number = self.number + 1;
        let place = |error: Error| error.at(&self.path, format_args!("line {number}"));
        if number.is_multiple_of(LINES_BETWEEN_CHECKS) {
            self.reading.check()?;
        }
        loop {
            let read = (&mut self.input)
                .take(SHORT)
                .read_until(b'\n', &mut self.line)
                .map_err(|e| place(read_error(e)))?;
            if (read as u64) < SHORT || self.line.last() == Some(&b'\n') {
                break;
            }
            // The line, which doubles, and what is made of it.
            let needed = 4 * self.line.len() as u64;
            if needed > self.held {
                self.reading.hold(needed - self.held).map_err(place)?;
                self.held = needed;
            }
            if self.line.len() > LONGEST {
                break;
            }
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number = number;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        }
        let wrong = |problem: String| place(Error::Format(problem));
        if self.line.len() > LONGEST {
            return Err(wrong(format!("is longer than {} MiB", LONGEST >> 20)));
        }
        let start = if number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let line = std::str::from_utf8(&self.line[start..]).map_err(|e| {
            let at = start + e.valid_up_to();
            wrong(format!(
                "byte {} of the line, 0x{:02x}, is not UTF-8; save the file as UTF-8 text",
                at + 1,
                self.line[at]
            ))
        })?;
        match line.bytes().position(|byte| byte == 0) {
            Some(at) => Err(wrong(format!(
                "byte {} of the line is NUL; this is not a text file",
                start + at + 1
            ))),
            None => Ok(Some(line)),
        }
    }
}

/// The bytes of a file; one whose name ends in `.gz` is expanded while it is read.
pub(crate) fn open_bytes(path: &Path) -> Result<Box<dyn Read>> {
    let file = files::open(path)?;
    let gzipped = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    Ok(if gzipped { Box::new(Expanded::new(file)) } else { Box::new(file) })
}

/// Damage in the data is the input's fault, anything else the machine's.
pub(crate) fn read_error(error: io::Error) -> Error {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | UnexpectedEof => Error::Format(format!(
            "the gzip data are damaged, cut off or followed by something else: {error}"
        )),
        _ => Error::Read(error),
    }
}

/// Gzip data, all members of the file, expanded with a cap on the ratio.
struct Expanded {
    decoder: MultiGzDecoder<BufReader<Counted>>,
    expanded: u64,
}

impl Expanded {
    fn new(file: File) -> Self {
        let input = BufReader::with_capacity(1 << 16, Counted { file, count: 0 });
        Expanded { decoder: MultiGzDecoder::new(input), expanded: 0 }
    }
}

impl Read for Expanded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.expanded += read as u64;
        let compressed = self.decoder.get_ref().get_ref().count;
        if justified(self.expanded, compressed) {
            Ok(read)
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "{compressed} bytes expand to more than {RATIO} times their size; \
                     if that is meant, expand the file first"
                ),
            ))
        }
    }
}

/// A file that knows how much of it was read.
struct Counted {
    file: File,
    count: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}
