//! How slow a download may be.
//!
//! A timeout for the next bytes is not enough: a byte now and then keeps a connection open for ever.

use super::problem::OTHER_WAY;
use std::time::{Duration, Instant};

/// The least a server has to do.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// So many bytes have to come…
    pub least: u64,
    /// …in each span of time as long as this.
    pub span: Duration,
    /// The time that any download may take.
    pub grace: Duration,
    /// Bytes per second that the whole has to come with beyond that time.
    pub average: u64,
}

impl Default for Pace {
    /// A kilobyte a second for every half minute; in all, eight beyond five minutes.
    fn default() -> Self {
        let (span, grace) = (Duration::from_secs(30), Duration::from_secs(300));
        Pace { least: 30 << 10, span, grace, average: 8 << 10 }
    }
}

/// Watches a download that has begun.
pub(super) struct Watch {
    pace: Pace,
    longest: Duration,
    start: Instant,
    received: u64,
    /// When the current span began, and what had come by then.
    span: (Instant, u64),
}

impl Watch {
    /// Begins to watch a download of `length` bytes, or of at most so many.
    pub(super) fn new(pace: Pace, length: u64) -> Self {
        let now = Instant::now();
        let more = Duration::from_secs(length / pace.average.max(1));
        let longest = pace.grace.saturating_add(more);
        Watch { pace, longest, start: now, received: 0, span: (now, 0) }
    }

    /// Notes bytes that have come.
    pub(super) fn receive(&mut self, bytes: u64) {
        self.received += bytes;
    }

    /// Says what is wrong if the download is too slow.
    pub(super) fn check(&mut self) -> Result<(), String> {
        let now = Instant::now();
        let received = self.received;
        if now - self.start > self.longest {
            return Err(format!(
                "only {received} bytes came in {:?}, which is too slow; try again later, {OTHER_WAY}",
                self.longest
            ));
        }
        let (begun, before) = self.span;
        if now - begun > self.pace.span {
            let came = received - before;
            if came < self.pace.least {
                return Err(format!(
                    "only {came} bytes came in {:?} after the first {before}, which is too slow; try \
                     again later, {OTHER_WAY}",
                    self.pace.span
                ));
            }
            self.span = (now, received);
        }
        Ok(())
    }
}
