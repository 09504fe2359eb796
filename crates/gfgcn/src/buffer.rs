//! Arrays that are owned, lent by whoever made them, mapped from a file, or on a device.
//!
//! Graphs and matrices only read most of what they hold, so it need not be theirs: an array of Python's is
//! read where it is, and an array on disk is paged in as it is used. Whoever reads in a loop takes the slice once
//! before it, so that no loop asks where the numbers are. An array on a device stays there; whoever reads it here has it
//! fetched, once.

pub use crate::pages::zeros;

use crate::device::ResidentArray;
use crate::error::{Error, Result};
use crate::pages::Lines;
use memmap2::{Mmap, MmapOptions};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};

/// Entries that belong to someone else, such as an array of Python's; they stay as they are for as long as
/// this is held.
pub type SharedEntries<T> = Arc<dyn AsRef<[T]> + Send + Sync>;

/// An array that is owned, shared, mapped from a file or on a device.
///
/// Read as a slice; written only through [`Buffer::to_mut`], which copies what is not owned. A clone of an
/// array that is not owned refers to the same memory.
///
/// ```
/// use gfgcn::buffer::Buffer;
/// use std::sync::Arc;
///
/// let lent = Arc::new(vec![1.0_f32, 2.0]);
/// let mut buffer = Buffer::shared(lent.clone());
/// assert_eq!(buffer.as_ptr(), lent.as_ptr());
/// buffer.to_mut()[0] = 3.0;
/// assert_eq!((&buffer[..], &lent[..]), (&[3.0, 2.0][..], &[1.0, 2.0][..]));
/// ```
pub struct Buffer<T>(Storage<T>);

enum Storage<T> {
    Own(Vec<T>),
    /// Owned as well; boxed, so that a buffer is no larger for it.
    Lines(Box<Lines<T>>),
    /// Mapped arrays are among these.
    Shared(SharedEntries<T>),
    OnDevice(Arc<OnDevice<T>>),
}

/// An array on a device, and a copy of it once somebody has read it here.
struct OnDevice<T> {
    array: Arc<dyn ResidentArray<T>>,
    here: OnceLock<Vec<T>>,
}

impl<T> OnDevice<T> {
    /// The copy. A device that is lost by now ends the work like a panic, because reading an array returns no errors; but quietly,
    /// and with the error: whoever waits for the work finds it in place of a message.
    fn here(&self) -> &[T] {
        self.here.get_or_init(|| match self.array.fetch() {
            Ok(entries) => entries,
            Err(error) => resume_unwind(Box::new(error)),
        })
    }
}

impl<T> Buffer<T> {
    /// An array that is read where it is.
    pub fn shared(entries: SharedEntries<T>) -> Self {
        Buffer(Storage::Shared(entries))
    }

    /// An array that stays on its device until it is read.
    ///
    /// Reading it fetches a copy, once. If the device is lost by then, that unwinds with the [`Error`] as its payload.
    pub fn on_device(array: Arc<dyn ResidentArray<T>>) -> Self {
        Buffer(Storage::OnDevice(Arc::new(OnDevice { array, here: OnceLock::new() })))
    }

    /// The array on a device that this stands for, if it does.
    pub fn resident(&self) -> Option<&Arc<dyn ResidentArray<T>>> {
        match &self.0 {
            Storage::OnDevice(there) => Some(&there.array),
            Storage::Own(_) | Storage::Lines(_) | Storage::Shared(_) => None,
        }
    }

    /// The number of entries, without reading any.
    #[allow(clippy::len_without_is_empty)] // a slice has it
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::OnDevice(there) => there.array.len(),
            Storage::Own(own) => own.len(),
            Storage::Lines(own) => own.len(),
            Storage::Shared(shared) => (**shared).as_ref().len(),
        }
    }
}

impl<T: Plain> Buffer<T> {
    /// `len` little-endian numbers of a file, from the byte `offset` on, without reading them: the system
    /// fetches the pages that are used, and drops them again where memory is short.
    ///
    /// The file must not be truncated or written to for as long as this or a clone of it is held. Numbers
    /// that were checked could become others, and reading past a new end would kill the process. A
    /// file that is replaced by renaming another over it, or deleted, does no harm.
    ///
    /// # Errors
    /// Numbers that do not lie within the file or are not aligned to their size there; a file that
    /// cannot be mapped; a machine that is not little-endian.
    pub fn map(file: &File, offset: u64, len: usize) -> Result<Self> {
        if cfg!(target_endian = "big") && size_of::<T>() > 1 {
            return Err(Error::Data(
                "arrays cannot be mapped: they are little-endian, this machine is not".into(),
            ));
        }
        let size = file.metadata().map_err(Error::Read)?.len();
        let bytes = len.checked_mul(size_of::<T>());
        let end = bytes.and_then(|bytes| offset.checked_add(bytes as u64));
        let (Some(bytes), Some(_)) = (bytes, end.filter(|&end| end <= size)) else {
            return Err(Error::Data(format!(
                "{len} numbers of {} bytes from byte {offset} on do not fit into a file of {size} bytes",
                size_of::<T>()
            )));
        };
        if bytes == 0 {
            return Ok(Buffer::default());
        }
        // SAFETY: the caller was told not to change the file.
        let map = unsafe { MmapOptions::new().offset(offset).len(bytes).map(file) };
        let map = map.map_err(Error::Read)?;
        // Mappings begin at a page, so the offset decides.
        if !map.as_ptr().cast::<T>().is_aligned() {
            return Err(Error::Data(format!(
                "an array begins at byte {offset}, but numbers of {} bytes must begin at a multiple of that",
                size_of::<T>()
            )));
        }
        Ok(Buffer::shared(Arc::new(Mapped { map, numbers: PhantomData })))
    }
}

impl Buffer<u8> {
    /// The little-endian numbers that some of these bytes are, read where they are and without a copy.
    ///
    /// `None` where that is not possible: the bytes are owned, not whole numbers, or not aligned for them, or this machine is
    /// not little-endian.
    ///
    /// # Panics
    /// If the bytes are out of range.
    pub fn numbers<T: Plain>(&self, bytes: Range<usize>) -> Option<Buffer<T>> {
        let Storage::Shared(whole) = &self.0 else { return None };
        let part = &self[bytes.clone()];
        let fits =
            part.len().is_multiple_of(size_of::<T>()) && part.as_ptr().cast::<T>().is_aligned();
        let readable = cfg!(target_endian = "little") || size_of::<T>() == 1;
        let view = View { whole: whole.clone(), bytes, numbers: PhantomData };
        (fits && readable).then(|| Buffer::shared(Arc::new(view)))
    }
}

/// Some bytes of an array that are aligned for `T`, and whole numbers.
struct View<T> {
    whole: SharedEntries<u8>,
    bytes: Range<usize>,
    numbers: PhantomData<T>,
}

impl<T: Plain> AsRef<[T]> for View<T> {
    fn as_ref(&self) -> &[T] {
        let bytes = &(*self.whole).as_ref()[self.bytes.clone()];
        let len = bytes.len() / size_of::<T>();
        // SAFETY: the bytes live as long as `self` and stay as they are, `Buffer::numbers` checked their alignment, and
        // any bytes are a `T`.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), len) }
    }
}

/// Numbers of which any bytes are a value: what files can be mapped as.
pub trait Plain: sealed::Sealed + Copy + Send + Sync + 'static {}

impl Plain for u8 {}
impl Plain for i32 {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for f32 {}
impl Plain for f64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for i32 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The bytes of numbers as they are written to files, little-endian; of most machines their own.
pub fn little_endian<T: Plain>(numbers: &[T]) -> Cow<'_, [u8]> {
    // SAFETY: any number is plain bytes, of which the slice has so many.
    let bytes =
        unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), size_of_val(numbers)) };
    if cfg!(target_endian = "little") || size_of::<T>() == 1 {
        return Cow::Borrowed(bytes);
    }
    let turned = bytes.chunks_exact(size_of::<T>()).flat_map(|number| number.iter().rev());
    Cow::Owned(turned.copied().collect())
}

/// A mapping that is aligned for `T`, of whole numbers.
struct Mapped<T> {
    map: Mmap,
    numbers: PhantomData<T>,
}

impl<T: Plain> AsRef<[T]> for Mapped<T> {
    fn as_ref(&self) -> &[T] {
        let len = self.map.len() / size_of::<T>();
        // SAFETY: the mapping lives as long as `self` and is not written to, `Buffer::map` checked its
        // alignment, and any bytes are a `T`.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), len) }
    }
}

impl<T> Buffer<T> {
    /// Bytes of entries that are owned; those of others, and of files, are none of ours.
    pub fn held_memory(&self) -> u64 {
        match &self.0 {
            Storage::Own(own) => size_of_val(own.as_slice()) as u64,
            Storage::Lines(own) => size_of_val::<[T]>(own) as u64,
            Storage::Shared(_) | Storage::OnDevice(_) => 0,
        }
    }
}

impl<T: Clone> Buffer<T> {
    /// The entries, to be written; copied first if they are not owned.
    pub fn to_mut(&mut self) -> &mut [T] {
        if matches!(self.0, Storage::Shared(_) | Storage::OnDevice(_)) {
            *self = self.to_vec().into();
        }
        match &mut self.0 {
            Storage::Own(own) => own,
            Storage::Lines(own) => own,
            Storage::Shared(_) | Storage::OnDevice(_) => unreachable!("copied above"),
        }
    }

    /// The entries as a vector; copied if they are not owned.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Storage::Own(own) => own,
            Storage::Lines(own) => own.into_vec(),
            Storage::Shared(shared) => (*shared).as_ref().to_vec(),
            Storage::OnDevice(there) => match Arc::try_unwrap(there) {
                Ok(mut there) => {
                    there.here();
                    there.here.take().unwrap_or_default()
                }
                Err(there) => there.here().to_vec(),
            },
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Storage::Own(own) => own,
            Storage::Lines(own) => own,
            Storage::Shared(shared) => (**shared).as_ref(),
            Storage::OnDevice(there) => there.here(),
        }
    }
}

impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Buffer(match &self.0 {
            Storage::Own(own) => Storage::Own(own.clone()),
            Storage::Lines(own) => Storage::Own(own.to_vec()),
            Storage::Shared(shared) => Storage::Shared(shared.clone()),
            Storage::OnDevice(there) => Storage::OnDevice(there.clone()),
        })
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.resident() {
            Some(array) => array.fmt(f),
            None => (**self).fmt(f),
        }
    }
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Send + Sync + 'static> Buffer<T> {
    /// The same entries, whose clones refer to the same memory.
    #[must_use]
    pub fn into_shared(self) -> Self {
        match self.0 {
            Storage::Own(own) => Buffer::shared(Arc::new(own)),
            Storage::Lines(own) => Buffer::shared(Arc::new(*own)),
            Storage::Shared(_) | Storage::OnDevice(_) => self,
        }
    }
}

impl<T: Copy + Default> Buffer<T> {
    /// Zeros; if they are many, nothing has touched them yet, and the first begins a cache line.
    pub fn zeros(len: usize) -> Self {
        /// Bytes that are worth it.
        const MANY: usize = 1 << 12;
        match len * size_of::<T>() < MANY {
            true => Buffer(Storage::Own(vec![T::default(); len])),
            false => Buffer(Storage::Lines(Box::new(Lines::zeros(len)))),
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(own: Vec<T>) -> Self {
        Buffer(Storage::Own(own))
    }
}

impl<T> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        Vec::from_iter(entries).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A file with four bytes of something else, then 1 to 5 in 32 bits.
    fn file() -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"head").unwrap();
        for number in 1..=5u32 {
            file.write_all(&number.to_le_bytes()).unwrap();
        }
        file
    }

    #[test]
    fn numbers_are_read_from_any_aligned_place() {
        let file = file();
        let all = Buffer::<u32>::map(&file, 4, 5).unwrap();
        assert_eq!(&all[..], [1, 2, 3, 4, 5]);
        assert_eq!(&Buffer::<u32>::map(&file, 12, 2).unwrap()[..], [3, 4]);
        let wide = Buffer::<u64>::map(&file, 8, 2).unwrap();
        assert_eq!(&wide[..], [2 | 3 << 32, 4 | 5 << 32]);
        assert_eq!(Buffer::<f64>::map(&file, 24, 0).unwrap().len(), 0);
        assert_eq!(all.clone().as_ptr(), all.as_ptr());
        drop(file);
        assert_eq!(all.into_vec(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn writing_to_a_mapped_array_leaves_the_file_alone() {
        let file = file();
        let mut buffer = Buffer::<u32>::map(&file, 4, 5).unwrap();
        buffer.to_mut()[0] = 9;
        assert_eq!(&buffer[..], [9, 2, 3, 4, 5]);
        assert_eq!(&Buffer::<u32>::map(&file, 4, 5).unwrap()[..], [1, 2, 3, 4, 5]);
    }

    #[test]
    fn bytes_of_a_file_are_read_as_the_numbers_that_they_are() {
        let bytes = Buffer::<u8>::map(&file(), 0, 24).unwrap();
        let numbers = bytes.numbers::<u32>(4..24).unwrap();
        assert_eq!(numbers.as_ptr().cast(), bytes[4..].as_ptr(), "no copy");
        assert_eq!(&bytes.numbers::<u64>(8..16).unwrap()[..], [2 | 3 << 32]);
        drop(bytes.clone());
        assert!(bytes.numbers::<u32>(5..9).is_none(), "not aligned");
        assert!(bytes.numbers::<u32>(4..9).is_none(), "not whole numbers");
        assert!(Buffer::from(bytes.to_vec()).numbers::<u32>(4..8).is_none(), "owned");
        drop(bytes);
        assert_eq!(&numbers[..], [1, 2, 3, 4, 5]);
    }

    /// An array elsewhere that counts how often it is fetched, and may be lost.
    #[derive(Debug)]
    struct Elsewhere {
        fetched: std::sync::atomic::AtomicUsize,
        is_lost: bool,
    }

    impl ResidentArray<u32> for Elsewhere {
        fn len(&self) -> usize {
            3
        }
        fn survey(&self) -> crate::device::Survey<u32> {
            crate::device::Survey { nonzeros: 3, not_finite: None }
        }
        fn fetch(&self) -> Result<Vec<u32>> {
            self.fetched.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            match self.is_lost {
                false => Ok(vec![4, 5, 6]),
                true => Err(Error::Device { device: "there".into(), problem: "lost".into() }),
            }
        }
        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    #[test]
    fn an_array_on_a_device_is_fetched_once_and_only_if_it_is_read() {
        let there = Arc::new(Elsewhere { fetched: 0.into(), is_lost: false });
        let fetched = || there.fetched.load(std::sync::atomic::Ordering::Relaxed);
        let mut buffer = Buffer::on_device(there.clone());
        let clone = buffer.clone();
        assert_eq!((buffer.len(), buffer.resident().is_some(), fetched()), (3, true, 0));
        assert_eq!((&buffer[..], clone[2], fetched()), (&[4, 5, 6][..], 6, 1));
        buffer.to_mut()[0] = 9;
        assert_eq!((buffer.into_vec(), clone.into_vec()), (vec![9, 5, 6], vec![4, 5, 6]));
        assert_eq!(fetched(), 1);
    }

    #[test]
    fn an_array_that_is_lost_ends_the_work_with_its_error() {
        let lost = Buffer::on_device(Arc::new(Elsewhere { fetched: 0.into(), is_lost: true }));
        let read = || rayon::join(|| lost[0], || 0).0;
        let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).unwrap_err();
        assert!(matches!(*payload.downcast::<Error>().unwrap(), Error::Device { .. }));
    }

    #[test]
    fn what_is_not_there_or_not_aligned_is_refused() {
        let file = file();
        for (offset, len) in
            [(8, 5), (25, 0), (28, 1), (u64::MAX, 1), (4, usize::MAX), (4, usize::MAX / 4)]
        {
            let error = Buffer::<u32>::map(&file, offset, len).unwrap_err().to_string();
            assert!(error.contains("24 bytes"), "{error}");
        }
        for offset in [5, 6, 7] {
            let error = Buffer::<u32>::map(&file, offset, 2).unwrap_err().to_string();
            assert!(error.contains(&format!("byte {offset},")), "{error}");
        }
        assert!(Buffer::<u64>::map(&file, 4, 1).is_err());
    }
}
