//! The messages of an Arrow file or stream: metadata, and the bytes that they are about.

use super::array::read_at;
use super::flatbuffer::Flat;
use crate::reading::Reading;
use gfgcn::{Error, Result};
use std::fs::File;
use std::ops::Range;

const MAGIC: &[u8; 6] = b"ARROW1";
/// The magic number, padded.
const BEGIN: u64 = 8;
/// The length of the footer and the magic number.
const END: u64 = 10;
/// Stands before the length of a message; it had nothing before it until version 0.15.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Messages that are yet to be read.
pub(super) enum Messages {
    /// Those that the footer of a file lists, in their order.
    Listed(std::vec::IntoIter<u64>),
    /// Those of a stream, from here on.
    Stream(u64),
}

/// A message, and where in the file its body is.
pub(super) struct Message {
    metadata: Vec<u8>,
    pub(super) body: Range<u64>,
}

/// What a message is about.
pub(super) enum Header<'a> {
    Schema,
    Dictionary(Flat<'a>),
    Batch(Flat<'a>),
}

/// What a file begins with: the metadata of the columns, and the messages that follow.
pub(super) struct Opening {
    pub(super) schema: Vec<u8>,
    pub(super) is_footer: bool,
    pub(super) messages: Messages,
}

fn damaged(problem: String) -> Error {
    Error::Format(format!("the Arrow file {problem}"))
}

impl Opening {
    /// Finds out whether this is a file or a stream.
    pub(super) fn of(file: &File, length: u64, reading: &Reading) -> Result<Opening> {
        let mut first = [0; BEGIN as usize];
        if length < BEGIN + END {
            return Err(Error::Format(format!(
                "{length} bytes are too few for an Arrow file; it is cut off or something else"
            )));
        }
        read_at(file, 0, &mut first).map_err(damaged)?;
        if first.starts_with(b"FEA1") {
            let problem =
                "is of the first version of Feather; write it again with pyarrow or pandas";
            return Err(Error::Format(problem.into()));
        }
        if first.starts_with(MAGIC) {
            return Opening::of_file(file, length, reading);
        }
        let mut messages = Messages::Stream(0);
        match messages.next(file, length, reading) {
            Ok(Some(message)) if matches!(message.header(), Ok(Header::Schema)) => {
                Ok(Opening { schema: message.metadata, is_footer: false, messages })
            }
            Err(error) if first.starts_with(&CONTINUATION) || error.is_machine_failure() => {
                Err(error)
            }
            _ => Err(Error::Format(
                "begins neither with ARROW1 nor as an Arrow stream; it is something else".into(),
            )),
        }
    }

    fn of_file(file: &File, length: u64, reading: &Reading) -> Result<Opening> {
        let mut last = [0; END as usize];
        read_at(file, length - END, &mut last).map_err(damaged)?;
        if &last[4..] != MAGIC {
            return Err(Error::Format("does not end with ARROW1; it is cut off".into()));
        }
        let footer = u64::from(u32::from_le_bytes([last[0], last[1], last[2], last[3]]));
        if footer > length - BEGIN - END {
            return Err(damaged(format!("claims a footer of {footer} bytes, but has {length}")));
        }
        let schema = bytes(file, length - END - footer, footer, reading)?;
        let blocks = blocks(&schema).map_err(damaged)?;
        Ok(Opening { schema, is_footer: true, messages: Messages::Listed(blocks.into_iter()) })
    }

    /// The table of columns, and the version of the format.
    pub(super) fn schema(&self) -> Result<(Flat<'_>, i16), String> {
        let root = Flat::root(&self.schema)?;
        let field = if self.is_footer { 1 } else { 2 };
        Ok((root.table(field)?.ok_or("is damaged: it has no columns")?, root.short(0)?))
    }
}

/// Where the messages of a file are: dictionaries first.
fn blocks(footer: &[u8]) -> Result<Vec<u64>, String> {
    let footer = Flat::root(footer)?;
    let mut places = Vec::new();
    for field in [2, 3] {
        for block in footer.list(field, 24)?.pairs(16) {
            let (place, _) = block?;
            places.push(u64::try_from(place).map_err(|_| "is damaged: a block is before it")?);
        }
    }
    Ok(places)
}

fn bytes(file: &File, at: u64, length: u64, reading: &Reading) -> Result<Vec<u8>> {
    let mut bytes = reading.array(length as usize)?;
    bytes.resize(length as usize, 0);
    read_at(file, at, &mut bytes).map_err(damaged)?;
    Ok(bytes)
}

impl Messages {
    /// The next message; `None` at the end.
    pub(super) fn next(
        &mut self,
        file: &File,
        length: u64,
        reading: &Reading,
    ) -> Result<Option<Message>> {
        let at = match self {
            Messages::Listed(places) => match places.next() {
                Some(place) => place,
                None => return Ok(None),
            },
            Messages::Stream(at) => *at,
        };
        let cut = || damaged(format!("is cut off: a message is missing at byte {at} of {length}"));
        let left = |at: u64| length.checked_sub(at).ok_or_else(cut);
        let mut prefix = [0; 8];
        // A length alone, before version 0.15, may end the file.
        let there = left(at)?.min(8) as usize;
        read_at(file, at, &mut prefix[..there]).map_err(damaged)?;
        let [a, b, c, d, size @ ..] = prefix;
        let (size, begin) = match [a, b, c, d] == CONTINUATION {
            true if there == 8 => (size, at + 8),
            false if there >= 4 => ([a, b, c, d], at + 4),
            _ => return Err(cut()),
        };
        let size = u64::from(u32::from_le_bytes(size));
        if size == 0 && matches!(self, Messages::Stream(_)) {
            return Ok(None);
        }
        if size > left(begin)? {
            return Err(cut());
        }
        let metadata = bytes(file, begin, size, reading)?;
        let claimed = Flat::root(&metadata).and_then(|root| root.long(3)).map_err(damaged)?;
        let body = begin + size;
        let claimed = u64::try_from(claimed).ok().filter(|&claimed| claimed <= length - body);
        let end = body + claimed.ok_or_else(cut)?;
        if let Messages::Stream(at) = self {
            *at = end;
        }
        Ok(Some(Message { metadata, body: body..end }))
    }
}

impl Message {
    /// Bytes of the metadata, which are held.
    pub(super) fn size(&self) -> u64 {
        self.metadata.len() as u64
    }

    pub(super) fn header(&self) -> Result<Header<'_>, String> {
        let root = Flat::root(&self.metadata)?;
        let table = root.table(2)?.ok_or("is damaged: a message is about nothing")?;
        match root.byte(1)? {
            1 => Ok(Header::Schema),
            2 => Ok(Header::Dictionary(table)),
            3 => Ok(Header::Batch(table)),
            _ => Err("holds tensors, not a table".into()),
        }
    }
}
