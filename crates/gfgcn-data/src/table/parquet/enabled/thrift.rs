//! Just enough of Thrift's compact protocol to see the integers in Parquet's headers.
//!
//! The Parquet library allocates what a header claims before it looks at the data. To judge those
//! claims first, the headers have to be read here as well; only their integers matter.

use std::io::{self, Read};

/// The deepest nesting that is followed; Parquet's own headers stay below 8.
const DEEPEST: usize = 16;

/// A reader of compact Thrift that counts its bytes.
pub(super) struct Compact<R> {
    input: R,
    read: u64,
}

impl<R: Read> Compact<R> {
    pub(super) fn new(input: R) -> Self {
        Compact { input, read: 0 }
    }

    /// The number of bytes read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read
    }

    /// Reads a struct and calls `visit` with each integer in it and the field numbers that lead
    /// there; elements of a list share the field number of the list.
    pub(super) fn read_struct(&mut self, visit: &mut dyn FnMut(&[i16], i64)) -> io::Result<()> {
        self.fields(&mut Vec::with_capacity(DEEPEST), visit)
    }

    fn fields(
        &mut self,
        path: &mut Vec<i16>,
        visit: &mut dyn FnMut(&[i16], i64),
    ) -> io::Result<()> {
        if path.len() >= DEEPEST {
            return Err(damaged("nested too deeply"));
        }
        let mut field = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| damaged("field number"))?,
                step => field.wrapping_add(i16::from(step)),
            };
            path.push(field);
            // A boolean field has its value in its type and no bytes of its own.
            if !matches!(head & 15, 1 | 2) {
                self.value(head & 15, path, visit)?;
            }
            path.pop();
        }
    }

    fn value(
        &mut self,
        kind: u8,
        path: &mut Vec<i16>,
        visit: &mut dyn FnMut(&[i16], i64),
    ) -> io::Result<()> {
        match kind {
            1..=3 => self.byte().map(drop),
            4..=6 => self.zigzag().map(|value| visit(path, value)),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = match head >> 4 {
                    15 => self.varint()?,
                    short => u64::from(short),
                };
                (0..length).try_for_each(|_| self.value(head & 15, path, visit))
            }
            12 => self.fields(path, visit),
            _ => Err(damaged("unknown type")),
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
        self.read += skipped;
        if skipped == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(damaged("number of more than 64 bits"))
    }

    fn zigzag(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged header: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field 1 = 3, field 5 = { field 2 = -1, a list of two i32 in field 3, a string in field 4 },
    /// field 6 = true, by the compact protocol's definition.
    const STRUCT: &[u8] =
        &[0x15, 6, 0x4c, 0x25, 1, 0x19, 0x25, 2, 4, 0x18, 3, b'a', b'b', b'c', 0, 0x11, 0];

    fn integers(bytes: &[u8]) -> io::Result<Vec<(Vec<i16>, i64)>> {
        let mut found = Vec::new();
        let mut compact = Compact::new(bytes);
        compact.read_struct(&mut |path, value| found.push((path.to_vec(), value)))?;
        assert_eq!(compact.bytes_read(), bytes.len() as u64);
        Ok(found)
    }

    #[test]
    fn integers_come_with_the_fields_that_lead_to_them() {
        let expected = [(vec![1], 3), (vec![5, 2], -1), (vec![5, 3], 1), (vec![5, 3], 2)];
        assert_eq!(integers(STRUCT).unwrap(), expected);
    }

    #[test]
    fn every_cut_and_endless_nesting_are_errors() {
        for length in 0..STRUCT.len() {
            assert!(integers(&STRUCT[..length]).is_err(), "cut at {length}");
        }
        assert!(integers(&[0x1c; 100]).is_err());
    }
}
