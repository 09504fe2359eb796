//! Large arrays, on large pages where the system has them, and arrays that begin with a cache line.
//!
//! Propagation reads rows all over a large array. On pages of 4 KiB nearly every row needs a page
//! of its own to be looked up; on pages of 2 MiB few do. And an allocator begins large arrays 16 bytes behind a cache line, where a row
//! as long as two lines touches three.

use std::ops::{Deref, DerefMut};

/// Arrays from this size on ask for large pages.
const LARGE: usize = 4 << 20;

/// An array of zeros that nothing has touched yet; a large one is on large pages, if the system has them.
pub fn zeros<T: Copy + Default>(len: usize) -> Vec<T> {
    let array = vec![T::default(); len];
    if size_of_val(array.as_slice()) >= LARGE {
        ask_for_large_pages(&array);
    }
    array
}

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Entries the first of which begins a cache line.
#[derive(Debug, Default)]
pub(crate) struct Lines<T> {
    memory: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Lines<T> {
    /// Zeros that nothing has touched yet.
    pub(crate) fn zeros(len: usize) -> Self {
        let spare = LINE / size_of::<T>();
        let memory = zeros::<T>(len + spare);
        let start = memory.as_ptr().align_offset(LINE).min(spare);
        Lines { memory, start, len }
    }

    /// So many entries in the same memory, whatever is in them; zeros where it does not suffice.
    pub(crate) fn resize(&mut self, len: usize) {
        match self.has_room(len) {
            true => self.len = len,
            false => *self = Lines::zeros(len),
        }
    }

    /// So many zeros, in the same memory where it suffices.
    pub(crate) fn reset(&mut self, len: usize) {
        let reused = self.has_room(len);
        self.resize(len);
        if reused {
            self.fill(T::default());
        }
    }

    fn has_room(&self, len: usize) -> bool {
        self.start + len <= self.memory.len()
    }
}

impl<T> Lines<T> {
    /// The entries as a vector, in the same memory.
    pub(crate) fn into_vec(mut self) -> Vec<T> {
        self.memory.truncate(self.start + self.len);
        self.memory.drain(..self.start);
        self.memory
    }
}

impl<T> AsRef<[T]> for Lines<T> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T> Deref for Lines<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Lines<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[cfg(target_os = "linux")]
fn ask_for_large_pages<T>(array: &[T]) {
    const PAGE: usize = 4096;
    let start = array.as_ptr().addr().next_multiple_of(PAGE);
    let end = array.as_ptr_range().end.addr() / PAGE * PAGE;
    if start < end {
        // SAFETY: whole pages within memory that is ours, and the advice changes no content. It may
        // be refused, which is as good as nothing.
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages<T>(_: &[T]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_any_size_are_zero_and_can_be_written() {
        for len in [0, 1, 1000, LARGE / 4, LARGE + 12345] {
            let mut array = zeros::<f32>(len);
            assert_eq!(array.len(), len);
            assert!(array.iter().all(|&v| v == 0.0));
            array.iter_mut().for_each(|v| *v = 1.0);
            assert_eq!(array.iter().sum::<f32>(), len as f32);
        }
    }

    #[test]
    fn lines_begin_where_cache_lines_do_and_are_zero_where_they_should() {
        let mut lines = Lines::<f64>::default();
        for len in [5, 1000, 3, LARGE, 17, 0, 2 * LARGE] {
            lines.reset(len);
            assert_eq!((lines.len(), lines.as_ptr().addr() % LINE), (len, 0));
            assert!(lines.iter().all(|&v| v == 0.0), "{len} entries");
            lines.fill(7.0);
        }
        lines.resize(9);
        assert!(lines.iter().all(|&v| v == 7.0));
        lines[8] = 1.0;
        assert_eq!(lines.into_vec(), [7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 1.0]);
    }
}
