//! Items of plain arrays, which most files hold: converted in bulk and on all threads, or read where they are.

use super::{Array, Kind};
use gfgcn::Result;
use gfgcn::buffer::{Buffer, Plain, zeros};
use rayon::prelude::*;

/// Items that a thread takes at a time.
const PART: usize = 1 << 16;

/// Arrays from so many bytes on are left in the file that they are mapped from. Smaller ones are copied: that takes no time, and
/// the file may then be overwritten while the data are in use.
const LARGE: usize = 16 << 20;

impl Array<'_> {
    /// Whether items follow each other as they are meant, in the byte order of most machines.
    pub(super) fn is_plain(&self) -> bool {
        !self.big_endian && !self.fortran
    }

    /// The items of a plain array, of which nothing can be wrong.
    pub(super) fn bulk<const SIZE: usize, T: Copy + Default + Send>(
        &self,
        read: impl Fn([u8; SIZE]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let mut items = zeros::<T>(self.check_count::<T>()?);
        let parts = items.par_chunks_mut(PART).zip(self.payload.par_chunks(SIZE * PART));
        parts.for_each(|(items, bytes)| {
            let bytes = bytes.chunks_exact(SIZE).map(|item| item.try_into().expect("whole items"));
            items.iter_mut().zip(bytes).for_each(|(item, bytes)| *item = read(bytes));
        });
        Ok(items)
    }

    /// Whether [`Array::lent`] gives the items as numbers of a type.
    pub(crate) fn is_lent<T: Plain>(&self) -> bool {
        self.lent::<T>().is_some()
    }

    /// The items where they are, if that is in a mapped file, they are many, and have the bytes of a `T`.
    fn lent<T: Plain>(&self) -> Option<Buffer<T>> {
        let fits = self.is_plain() && self.size == size_of::<T>() && self.payload.len() >= LARGE;
        let file = self.file.filter(|_| fits)?;
        let start = self.payload.as_ptr().addr().checked_sub(file.as_ptr().addr())?;
        let end = start.checked_add(self.payload.len()).filter(|&end| end <= file.len())?;
        file.numbers(start..end)
    }

    /// The items in C order as single-precision numbers, where they are if possible; what overflows becomes infinite.
    pub(crate) fn float_buffer(&self) -> Result<Buffer<f32>> {
        match (self.kind, self.lent()) {
            (Kind::Float, Some(lent)) => Ok(lent),
            _ => self.floats().map(Into::into),
        }
    }

    /// The items as integers from 0 to `largest`, where they are if possible. `None` where that takes a closer look: the array is no
    /// plain one of common integers, or has others.
    pub(crate) fn naturals<T: Natural>(&self, largest: T) -> Result<Option<Buffer<T>>> {
        let largest = largest.into();
        match (self.is_plain(), self.kind, self.size) {
            (true, Kind::Signed, 4) => {
                self.naturals_of(|bytes| i64::from(i32::from_le_bytes(bytes)) as u64, largest)
            }
            (true, Kind::Unsigned, 4) => {
                self.naturals_of(|bytes| u64::from(u32::from_le_bytes(bytes)), largest)
            }
            // The largest is below 2⁶³, and negative ones are above it here.
            (true, Kind::Signed | Kind::Unsigned, 8) => {
                self.naturals_of(u64::from_le_bytes, largest.min(i64::MAX as u64))
            }
            _ => Ok(None),
        }
    }

    fn naturals_of<const SIZE: usize, T: Natural>(
        &self,
        read: impl Fn([u8; SIZE]) -> u64 + Sync,
        largest: u64,
    ) -> Result<Option<Buffer<T>>> {
        let number = |item: &[u8]| read(item.try_into().expect("whole items"));
        let fits = |part: &[u8]| {
            // Not `all`, which stops at the first: this is done many at a time.
            !part.chunks_exact(SIZE).fold(false, |beyond, item| beyond | (number(item) > largest))
        };
        if !self.payload.par_chunks(SIZE * PART).all(fits) {
            return Ok(None);
        }
        match self.lent() {
            Some(lent) => Ok(Some(lent)),
            None => self.bulk(|bytes| T::truncated(read(bytes))).map(|items| Some(items.into())),
        }
    }
}

/// Integers without a sign.
pub(crate) trait Natural: Plain + Default + Into<u64> {
    /// The lowest bits.
    fn truncated(number: u64) -> Self;
}

impl Natural for u32 {
    fn truncated(number: u64) -> Self {
        number as u32
    }
}

impl Natural for u64 {
    fn truncated(number: u64) -> Self {
        number
    }
}
