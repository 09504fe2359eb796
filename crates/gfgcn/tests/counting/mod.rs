//! An allocator that counts what is held.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the bytes that are held, and the most there ever were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What matrix products are computed in, of which every thread keeps one, is in pages, and is not counted.
const PAGE: usize = 4096;

fn taken(layout: Layout) {
    if layout.align() < PAGE {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
    }
}

fn given_back(layout: Layout) {
    if layout.align() < PAGE {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        given_back(layout);
        // SAFETY: whoever asks for it has checked that it is a layout.
        taken(unsafe { Layout::from_size_align_unchecked(size, layout.align()) });
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        given_back(layout);
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What work gave, and the bytes that it took at its peak.
pub(crate) fn measured<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (result, (PEAK.load(Ordering::Relaxed) - before) as f64)
}
