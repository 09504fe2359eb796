//! The checksums of zip archives and stores, computed on all threads.

use crc32fast::Hasher;
use rayon::prelude::*;

/// Bytes that are checked in one go.
const PIECE: usize = 8 << 20;

/// CRC-32, as `zlib.crc32` computes it.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let of_piece = |piece: &[u8]| {
        let mut crc = Hasher::new();
        crc.update(piece);
        crc
    };
    let pieces: Vec<Hasher> = bytes.par_chunks(PIECE).map(of_piece).collect();
    let mut whole = Hasher::new();
    pieces.iter().for_each(|piece| whole.combine(piece));
    whole.finalize()
}
