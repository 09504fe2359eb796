//! What a Parquet file claims about itself, checked before the Parquet library acts on it.
//!
//! The library trusts sizes in headers: a flipped bit can make it allocate gigabytes, and a deep
//! schema can exhaust its stack. Both would end the process instead of giving an error.

use super::thrift::Compact;
use crate::limits::justified;
use gfgcn::{Error, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

const MAGIC: &[u8; 4] = b"PAR1";
/// Magic, footer length, magic.
const SMALLEST: u64 = 12;
/// More groups than any table this program could read, and few enough for the stack.
const MOST_GROUPS: usize = 100;

/// Checks the frame of the file: magic numbers, a footer that fits, a schema that is not deep.
/// Returns the file's length.
pub(super) fn check_footer(file: &File) -> Result<u64> {
    let length = file.metadata().map_err(Error::Read)?.len();
    if length < SMALLEST {
        return Err(Error::Format(format!(
            "{length} bytes are too few for a Parquet file; it is cut off or something else"
        )));
    }
    let mut tail = [0; 8];
    let mut head = [0; 4];
    read_at(file, 0, &mut head)?;
    read_at(file, length - 8, &mut tail)?;
    if &head != MAGIC || &tail[4..] != MAGIC {
        return Err(Error::Format(
            "does not begin and end with PAR1; it is cut off, encrypted or not a Parquet file"
                .into(),
        ));
    }
    let footer = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if footer > length - SMALLEST {
        return Err(Error::Format(format!(
            "the footer claims {footer} bytes, but the file has {length}"
        )));
    }
    let mut bytes = vec![0; footer as usize];
    read_at(file, length - 8 - footer, &mut bytes)?;
    let mut groups = 0;
    Compact::new(bytes.as_slice())
        .read_struct(&mut |path, value| groups += usize::from(path == [2, 5] && value > 0))
        .map_err(|e| Error::Format(format!("the footer cannot be read: {e}")))?;
    if groups > MOST_GROUPS {
        return Err(Error::Data(format!(
            "the schema has {groups} nested groups; a table has plain columns only"
        )));
    }
    Ok(length)
}

/// What the pages of a column unfold to.
pub(super) struct Pages {
    /// The size of each, in the order of the file.
    pub(super) sizes: Vec<usize>,
    /// The most that is held at a time: the dictionary and one page of values.
    pub(super) held: u64,
}

/// Checks that the pages of a column lie in the file and are not larger than it justifies.
pub(super) fn check_column(
    file: &File,
    length: u64,
    column: &ColumnChunkMetaData,
) -> Result<Pages, String> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let size = column.compressed_size();
    let (Ok(start), Ok(size)) = (u64::try_from(start), u64::try_from(size)) else {
        return Err(format!("claims {size} bytes at {start}"));
    };
    let end = start.saturating_add(size);
    if end > length {
        return Err(format!("claims {size} bytes at {start}, but the file has {length}"));
    }
    let mut at = start;
    let mut sizes = Vec::new();
    let (mut dictionary, mut values) = (0, 0);
    while at < end {
        let page = PageHeader::read(file, at).map_err(|e| format!("has a damaged page: {e}"))?;
        page.check((end - at).saturating_sub(page.length))?;
        at += page.length + page.compressed as u64;
        let largest = match page.kind {
            // The library passes over it.
            PageHeader::INDEX => continue,
            PageHeader::DICTIONARY => &mut dictionary,
            _ => &mut values,
        };
        *largest = page.uncompressed.max(*largest);
        sizes.push(page.uncompressed as usize);
    }
    Ok(Pages { sizes, held: (dictionary + values) as u64 })
}

/// The numbers of a page header that decide how much is allocated.
#[derive(Default)]
struct PageHeader {
    length: u64,
    kind: i64,
    uncompressed: i64,
    compressed: i64,
    encoding: i64,
    dictionary: i64,
}

impl PageHeader {
    const INDEX: i64 = 1;
    const DICTIONARY: i64 = 2;

    fn read(file: &File, at: u64) -> io::Result<PageHeader> {
        let mut input = file;
        input.seek(SeekFrom::Start(at))?;
        let mut page = PageHeader::default();
        let mut header = Compact::new(BufReader::with_capacity(512, input));
        header.read_struct(&mut |path, value| match path {
            [1] => page.kind = value,
            [2] => page.uncompressed = value,
            [3] => page.compressed = value,
            [5, 2] | [8, 4] => page.encoding = value,
            [7, 1] => page.dictionary = value,
            _ => {}
        })?;
        page.length = header.bytes_read();
        Ok(page)
    }

    fn check(&self, left: u64) -> Result<(), String> {
        let PageHeader { uncompressed, compressed, dictionary, .. } = *self;
        if compressed < 0 || uncompressed < 0 || compressed as u64 > left {
            return Err(format!("has a page of {compressed} bytes where {left} are left"));
        }
        if !justified(uncompressed as u64, compressed as u64) {
            return Err(format!(
                "has a page that claims to expand from {compressed} to {uncompressed} bytes"
            ));
        }
        // A dictionary holds numbers of 4 or 8 bytes, or strings with 4 bytes of length each.
        if !(0..=uncompressed / 4).contains(&dictionary) {
            return Err(format!(
                "has a dictionary that claims {dictionary} values in {uncompressed} bytes"
            ));
        }
        // The library allocates by a count inside these pages that nothing outside confirms.
        match self.encoding {
            6 => Err(unsupported("DELTA_LENGTH_BYTE_ARRAY")),
            7 => Err(unsupported("DELTA_BYTE_ARRAY")),
            _ => Ok(()),
        }
    }
}

fn unsupported(encoding: &str) -> String {
    format!("has the encoding {encoding}; write it with plain or dictionary encoding")
}

fn read_at(mut file: &File, at: u64, bytes: &mut [u8]) -> Result<()> {
    file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes)).map_err(Error::Read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_claim_too_much_are_refused() {
        let good = || PageHeader { compressed: 50, uncompressed: 100, ..PageHeader::default() };
        assert_eq!(good().check(50), Ok(()));
        let refused = |page: PageHeader, part: &str| {
            let problem = page.check(50).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        };
        refused(PageHeader { compressed: 51, ..good() }, "50 are left");
        refused(PageHeader { compressed: -1, ..good() }, "-1 bytes");
        refused(PageHeader { uncompressed: i64::from(i32::MAX), ..good() }, "expand from 50");
        refused(PageHeader { dictionary: 26, ..good() }, "26 values");
        refused(PageHeader { encoding: 6, ..good() }, "DELTA_LENGTH_BYTE_ARRAY");
    }
}
