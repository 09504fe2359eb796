//! Threads that do the parts of many short rounds together.
//!
//! A tridiagonal reduction hands out work once or twice per column, thousands of times, and a round is over in
//! microseconds: waking a thread for each would take as long as the round itself. So helpers look for the next
//! round without pause, for as long as rounds keep coming.
//!
//! Nobody ever waits for a thread that may not come. Whoever leads takes every part that no helper has taken, and
//! waits only for parts that are being done at this moment. So a crew makes progress on one thread, and on threads
//! that are busy elsewhere, and which thread does a part changes no result.

use rayon::Scope;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The parts of each round, and what is done for one.
pub(super) struct Crew<'w> {
    parts: usize,
    work: &'w (dyn Fn(usize) + Sync),
    /// The number of the round times `parts + 1`, plus the number of parts that are taken.
    taken: AtomicUsize,
    /// Parts of the round that are done.
    done: AtomicUsize,
    /// Helpers that were asked to come and have not left.
    helpers: AtomicUsize,
    over: AtomicBool,
}

/// How whoever leads starts rounds.
pub(super) struct Lead<'c, 'scope, 'w> {
    crew: &'scope Crew<'w>,
    scope: &'c Scope<'scope>,
}

impl<'w> Crew<'w> {
    /// A crew for rounds of so many parts; `work` is called with the number of the part.
    pub(super) fn new(parts: usize, work: &'w (dyn Fn(usize) + Sync)) -> Self {
        let zero = || AtomicUsize::new(0);
        // Round 0 is one that is over.
        let taken = AtomicUsize::new(parts);
        Crew { parts, work, taken, done: zero(), helpers: zero(), over: AtomicBool::new(false) }
    }

    /// Leads the crew through its rounds.
    pub(super) fn led_by<R: Send>(&self, lead: impl FnOnce(&Lead<'_, '_, 'w>) -> R + Send) -> R {
        rayon::scope(|scope| {
            // Also when the lead panics: the scope waits for the helpers.
            let _over = Finally(|| self.over.store(true, Ordering::Release));
            lead(&Lead { crew: self, scope })
        })
    }

    /// Takes a part of the current round, if one is left, and does it.
    fn take_one(&self) -> bool {
        let taken = self.taken.load(Ordering::Acquire);
        if taken % (self.parts + 1) == self.parts {
            return false;
        }
        // The number of the round is part of the value, so nobody takes a part of a round that is over.
        let mine =
            self.taken.compare_exchange(taken, taken + 1, Ordering::AcqRel, Ordering::Relaxed);
        if mine.is_ok() {
            // Also when the work panics, or the lead would wait for ever.
            let _done = Finally(|| {
                self.done.fetch_add(1, Ordering::Release);
            });
            (self.work)(taken % (self.parts + 1));
        }
        true
    }

    fn help(&self) {
        /// Longer than the pause between two rounds, unless whoever leads lost its core.
        const PATIENCE: Duration = Duration::from_millis(2);
        let _left = Finally(|| {
            self.helpers.fetch_sub(1, Ordering::Release);
        });
        let mut pause = Pause::default();
        let mut last = Instant::now();
        while !self.over.load(Ordering::Acquire) && last.elapsed() < PATIENCE {
            if self.take_one() {
                pause = Pause::default();
                last = Instant::now();
            } else {
                pause.wait();
            }
        }
    }
}

impl<'scope, 'w> Lead<'_, 'scope, 'w>
where
    'w: 'scope,
{
    /// Asks for the helpers that are missing, now that there is something to do for a while.
    pub(super) fn recruit(&self) {
        let crew = self.crew;
        while crew.helpers.load(Ordering::Acquire) + 1 < crew.parts {
            crew.helpers.fetch_add(1, Ordering::AcqRel);
            self.scope.spawn(move |_| crew.help());
        }
    }

    /// Does all parts of a round.
    pub(super) fn round(&self) {
        let Crew { parts, work, .. } = *self.crew;
        if parts == 1 {
            return work(0);
        }
        let crew = self.crew;
        crew.done.store(0, Ordering::Relaxed);
        let last = crew.taken.load(Ordering::Relaxed);
        crew.taken.store(last.wrapping_add(1), Ordering::Release);
        while crew.take_one() {}
        let mut pause = Pause::default();
        while crew.done.load(Ordering::Acquire) < parts {
            pause.wait();
        }
    }
}

/// Waiting for another thread: without giving up the core at first, since it takes a moment at most, then giving it
/// up, since the other thread may be waiting for this very core.
#[derive(Default)]
struct Pause(u32);

impl Pause {
    fn wait(&mut self) {
        const SPINS: u32 = 2000;
        if self.0 < SPINS {
            self.0 += 1;
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

/// Does something at the end of a scope, however it ends.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
