//! When memory runs out in spite of all estimates: a message and the exit status for it, not an abort.
//!
//! Large work says what it needs before it begins, and is refused with the estimate. What is left are the many small
//! things that nobody counts. Rust ends a program at the first allocation that fails, with a signal and whatever was being
//! written left behind; here it ends as the user expects of a failure of the machine.

use crate::MACHINE_FAILURE;
use gfgcn::files::try_discard_pending;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The system's allocator, with an end of the program in place of failure.
#[derive(Debug)]
pub struct LastResort;

// SAFETY: every call is passed on to the system's allocator unchanged, and what it returns is passed back.
unsafe impl GlobalAlloc for LastResort {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        checked(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn checked(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(size);
    }
    memory
}

/// Ends the program because so many bytes could not be had. Allocates as little as possible.
#[cold]
fn end(size: usize) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    thread_local! {
        static HERE: Cell<bool> = const { Cell::new(false) };
    }
    if HERE.replace(true) {
        // Not even enough to clean up.
        exit();
    }
    if ENDING.swap(true, Ordering::SeqCst) {
        // Another thread is at it.
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
    let mut message = Cursor::new([0; 256]);
    let _ = writeln!(
        message,
        "error: not enough memory: another {} could not be had; use fewer threads, smaller data or a machine with \
         more memory",
        Size(size)
    );
    let length = message.position() as usize;
    let _ = std::io::stderr().write_all(&message.get_ref()[..length]);
    // Whoever holds the list lets go of it soon, unless it is this very thread.
    for _ in 0..100 {
        if let Some(_ending) = try_discard_pending() {
            exit();
        }
        thread::sleep(Duration::from_millis(1));
    }
    exit()
}

/// At once: what runs at a normal exit may want memory.
fn exit() -> ! {
    #[cfg(unix)]
    // SAFETY: ends the process.
    unsafe {
        libc::_exit(MACHINE_FAILURE.into())
    }
    #[cfg(not(unix))]
    std::process::exit(MACHINE_FAILURE.into())
}

struct Size(usize);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            bytes if bytes < 1 << 20 => write!(f, "{bytes} bytes"),
            bytes => write!(f, "{} MiB", bytes >> 20),
        }
    }
}
