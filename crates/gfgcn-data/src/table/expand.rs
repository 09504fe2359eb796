//! Bytes that were compressed, where the size that they expand to is known.

use lz4_flex::frame::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// The window that every decoder should have, by the format; the compressor needs a larger one only at
/// levels that are called ultra. What is expanded is kept for as long as it is in the window.
const WINDOW: usize = 8 << 20;

/// Adds to `out` what frames of Zstandard stand for, until it has `size` bytes.
pub(super) fn zstd(mut frames: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let wrong = |problem: String| format!("Zstandard: {problem}");
    // One frame, as a rule; the format allows several. Where there are no values, there may be none.
    while !frames.is_empty() && size > out.len() {
        let window = size.max(WINDOW) as u64;
        let decoder = StreamingDecoder::new_with_max_window_size(&mut frames, window);
        let decoder = decoder.map_err(|e| wrong(e.to_string()))?;
        take(decoder, size, out).map_err(wrong)?;
    }
    check(size, out).map_err(wrong)
}

/// Adds to `out` what a frame of LZ4 stands for, until it has `size` bytes.
pub(super) fn lz4(frame: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let wrong = |problem: String| format!("LZ4: {problem}");
    take(FrameDecoder::new(frame), size, out).and_then(|()| check(size, out)).map_err(wrong)
}

fn take(decoder: impl Read, size: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let left = (size - out.len()) as u64;
    decoder.take(left + 1).read_to_end(out).map_err(|e| e.to_string())?;
    match out.len() > size {
        true => Err(format!("it expands to more than the {size} bytes it claims")),
        false => Ok(()),
    }
}

fn check(size: usize, out: &[u8]) -> Result<(), String> {
    match out.len() == size {
        true => Ok(()),
        false => Err(format!("{size} bytes are claimed, and it expands to {}", out.len())),
    }
}
