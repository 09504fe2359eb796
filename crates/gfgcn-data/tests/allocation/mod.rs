//! An allocator that remembers its largest request, and how much each thread asked for: damaged files
//! must not ask for the world.

#![allow(dead_code)] // each test binary uses its part

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Remembering;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Bytes that this thread has asked for so far.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

fn remember(size: usize) {
    LARGEST.fetch_max(size, Ordering::Relaxed);
    ASKED.set(ASKED.get() + size);
}

#[global_allocator]
static ALLOCATOR: Remembering = Remembering;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Remembering {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        remember(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        remember(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        remember(size);
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Asserts that nothing in this process ever asked for more than a reader may hold for a small
/// file.
pub(crate) fn assert_modest() {
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest <= 256 << 20, "something asked for {largest} bytes at once");
}

/// How many bytes this thread asked for while it did something.
pub(crate) fn bytes_asked_for(work: impl FnOnce()) -> usize {
    let before = ASKED.get();
    work();
    ASKED.get() - before
}
