//! Large copies between the machine's memory and the GPU's.
//!
//! Plain memory may be moved by the system at any time, so the driver copies it piece by piece through memory of its own,
//! at a fraction of what the bus can do. Here two pieces take turns: one is on the bus while some threads copy the other.

use crate::copiers::copy;
use crate::device::Gpu;
use cudarc::driver::{CudaEvent, CudaStream, PinnedHostSlice, result};
use std::sync::Arc;

type Outcome<T = ()> = std::result::Result<T, result::DriverError>;

/// Bytes of a piece.
const PIECE: usize = 4 << 20;
/// Fewer bytes are left to the driver.
const FEW: usize = 256 << 10;

/// Two pieces of memory that stay where they are.
pub(crate) struct Staging([(PinnedHostSlice<u8>, CudaEvent); 2]);

impl Staging {
    pub(crate) fn new(gpu: &Gpu) -> Outcome<Self> {
        let piece = || {
            // SAFETY: written before it is read, by a copy from either side.
            let memory = unsafe { gpu.context().alloc_pinned_with_flags::<u8>(PIECE, 0)? };
            Ok::<_, result::DriverError>((memory, gpu.context().new_event(None)?))
        };
        Ok(Staging([piece()?, piece()?]))
    }

    /// Copies from an address of the GPU; all of it is there when this returns.
    pub(crate) fn download<T: Copy>(
        &mut self,
        stream: &Arc<CudaStream>,
        from: u64,
        to: &mut [T],
    ) -> Outcome {
        let to = bytes_mut(to);
        let pieces = to.len().div_ceil(PIECE);
        for k in 0..=pieces {
            if k < pieces {
                let count = PIECE.min(to.len() - k * PIECE);
                let (memory, done) = &mut self.0[k % 2];
                let target = &mut memory.as_mut_slice()?[..count];
                let source = from + (k * PIECE) as u64;
                // SAFETY: the piece is as long, and is not touched until the event.
                unsafe { result::memcpy_dtoh_async(target, source, stream.cu_stream())? };
                done.record(stream)?;
            }
            if let Some(before) = k.checked_sub(1) {
                let (memory, done) = &mut self.0[before % 2];
                done.synchronize()?;
                let end = to.len().min((before + 1) * PIECE);
                let to = &mut to[before * PIECE..end];
                copy(&memory.as_slice()?[..to.len()], to);
            }
        }
        Ok(())
    }

    /// Copies to an address of the GPU; the source is not needed any more when this returns.
    pub(crate) fn upload<T: Copy>(
        &mut self,
        stream: &Arc<CudaStream>,
        from: &[T],
        to: u64,
    ) -> Outcome {
        for (k, piece) in bytes(from).chunks(PIECE).enumerate() {
            let (memory, done) = &mut self.0[k % 2];
            // What was sent from here before has left; an event that was never recorded is complete.
            done.synchronize()?;
            let staged = &mut memory.as_mut_slice()?[..piece.len()];
            copy(piece, staged);
            // SAFETY: there is room for it, and the piece is not touched until the event.
            unsafe {
                result::memcpy_htod_async(to + (k * PIECE) as u64, staged, stream.cu_stream())?;
            }
            done.record(stream)?;
        }
        Ok(())
    }
}

/// Whether a copy is worth two pieces of memory.
pub(crate) fn is_large<T>(values: &[T]) -> bool {
    size_of_val(values) > FEW
}

fn bytes<T: Copy>(values: &[T]) -> &[u8] {
    // SAFETY: numbers, read as the bytes they are.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_mut<T: Copy>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: numbers, for which all bytes mean something.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
