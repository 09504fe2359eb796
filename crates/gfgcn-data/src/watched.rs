//! Bytes on their way to a parser that keeps a text or a tag in memory, however long: what that takes is watched here.

use crate::lines::LONGEST;
use crate::reading::Reading;
use gfgcn::Error;
use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

/// What a parser was ended for, where that was not the text: the work is not wanted, or there is no memory for it.
#[derive(Clone, Default)]
pub(crate) struct Stop(Rc<RefCell<Option<Error>>>);

impl Stop {
    /// Keeps an error, to be told instead of the parser's.
    pub(crate) fn keep(&self, error: Error) {
        *self.0.borrow_mut() = Some(error);
    }

    /// The error that was kept.
    pub(crate) fn take(&self) -> Option<Error> {
        self.0.borrow_mut().take()
    }
}

/// A reader that looks how long what is kept becomes, and whether the work is still wanted.
pub(crate) struct Watched<'r, F> {
    pub(crate) input: Box<dyn Read>,
    /// Whether a byte, which comes after all before it, is part of something that is kept.
    pub(crate) is_kept: F,
    length: usize,
    held: u64,
    reading: &'r Reading,
    stop: Stop,
}

/// Up to this length, nothing need be asked for.
const SHORT: usize = 1 << 20;

impl<'r, F: FnMut(u8) -> bool> Watched<'r, F> {
    pub(crate) fn new(input: Box<dyn Read>, is_kept: F, reading: &'r Reading, stop: &Stop) -> Self {
        Watched { input, is_kept, length: 0, held: 0, reading, stop: stop.clone() }
    }
}

impl<F: FnMut(u8) -> bool> Read for Watched<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let mut longest = 0;
        for &byte in &buffer[..read] {
            self.length = if (self.is_kept)(byte) { self.length + 1 } else { 0 };
            longest = longest.max(self.length);
        }
        if longest > LONGEST {
            let problem = format!("a text or tag is longer than {} MiB", LONGEST >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let needed = if longest > SHORT { 4 * longest as u64 } else { 0 };
        let asked = self.reading.hold(needed.saturating_sub(self.held));
        self.held = self.held.max(needed);
        asked.map_err(|error| {
            self.stop.keep(error);
            io::Error::other("stopped")
        })?;
        Ok(read)
    }
}
