//! Large arrays, on large pages where the system has them.
//!
//! Propagation reads rows all over a large array. On pages of 4 KiB nearly every row needs a page
//! of its own to be looked up; on pages of 2 MiB few do.

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
}
