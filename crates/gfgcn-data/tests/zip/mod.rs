//! A zip writer of the tests' own: it shares nothing with the library and can write what is wrong.

#![allow(dead_code)] // each user needs its part

pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;

/// A member as its headers describe it, which need not be the truth.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    /// The length that is claimed for the bytes once decompressed.
    pub(crate) size: u32,
    /// The length that is claimed for `content`.
    pub(crate) compressed_size: u32,
    /// What stands in the archive, compressed already.
    pub(crate) content: Vec<u8>,
}

impl Member {
    /// A member that is not compressed.
    pub(crate) fn stored(name: &str, content: Vec<u8>) -> Self {
        let (crc, size) = (crc32(&content), content.len() as u32);
        Self::compressed(name, STORED, crc, size, content)
    }

    /// A member whose bytes, `size` of them, were compressed into `content`.
    pub(crate) fn compressed(
        name: &str,
        method: u16,
        crc: u32,
        size: u32,
        content: Vec<u8>,
    ) -> Self {
        let compressed_size = content.len() as u32;
        Member { name: name.to_owned(), flags: 0, method, crc, size, compressed_size, content }
    }

    /// What the local header and the directory have in common.
    fn description(&self) -> Vec<u8> {
        const VERSION: u16 = 20;
        const TIME_AND_DATE: u32 = 0x21 << 16;
        let mut out = Vec::new();
        for short in [VERSION, self.flags, self.method] {
            out.extend(short.to_le_bytes());
        }
        for long in [TIME_AND_DATE, self.crc, self.compressed_size, self.size] {
            out.extend(long.to_le_bytes());
        }
        out.extend((self.name.len() as u16).to_le_bytes());
        out.extend([0; 2]);
        out
    }
}

/// The bytes of an archive.
pub(crate) fn archive(members: &[Member]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let offset = out.len() as u32;
        out.extend(b"PK\x03\x04");
        out.extend(member.description());
        out.extend(member.name.as_bytes());
        out.extend(&member.content);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(member.description());
        // No comment, the first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(member.name.as_bytes());
    }
    let start = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([(members.len() as u16).to_le_bytes(); 2].concat());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0; 2]);
    out
}

/// The checksum that zip asks for, bit by bit.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }
        })
    })
}
