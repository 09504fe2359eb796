//! Stopping work that another thread waits for.
//!
//! Work looks now and then whether it is still wanted, and unwinds if it is not. So no signature has to
//! speak of it, and nothing half done is ever seen: whatever was computed is a value that unwinding drops.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// What the work on this thread is stopped by, if it can be.
    static CURRENT: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// What unwinds.
struct Stopped;

/// Asks work to stop, from another thread than the one it runs on.
///
/// ```
/// use gfgcn::Stop;
/// let stop = Stop::default();
/// assert_eq!(stop.run(2, || 6 * 7), Some(42));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the work to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Runs work on threads of its own: `threads` of them, or as many as the machine has cores for 0.
    /// `None` if it was stopped. Only work of this library looks whether it is; a factorisation that has
    /// begun is finished first.
    ///
    /// # Panics
    /// If the work does.
    pub fn run<R: Send>(&self, threads: usize, work: impl FnOnce() -> R + Send) -> Option<R> {
        let mine = self.clone();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .start_handler(move |_| CURRENT.set(Some(mine.clone())))
            .build();
        let result = catch_unwind(AssertUnwindSafe(|| match pool {
            Ok(pool) => pool.install(work),
            // No more threads to be had: the work is done all the same.
            Err(_) => work(),
        }));
        match result {
            Ok(result) => Some(result),
            Err(payload) if payload.is::<Stopped>() => None,
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Ends the work on this thread here if it was asked to stop.
pub(crate) fn checkpoint() {
    let asked = CURRENT
        .with_borrow(|stop| stop.as_ref().is_some_and(|Stop(asked)| asked.load(Ordering::Relaxed)));
    if asked {
        // Not a panic: nobody is told, and whoever called `run` takes it from here.
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn work_that_is_asked_to_stop_ends_early() {
        let (stop, steps) = (Stop::default(), AtomicUsize::new(0));
        let result = stop.run(2, || {
            (0..1_000_000).into_par_iter().for_each(|_| {
                checkpoint();
                if steps.fetch_add(1, Ordering::Relaxed) == 10 {
                    stop.request();
                }
            });
        });
        assert_eq!(result, None);
        assert!(steps.into_inner() < 1000);
    }

    #[test]
    fn other_work_goes_on() {
        let stop = Stop::default();
        stop.request();
        checkpoint();
        assert_eq!(
            Stop::default().run(1, || {
                checkpoint();
                1
            }),
            Some(1)
        );
    }

    #[test]
    #[should_panic(expected = "a mistake")]
    fn panics_are_passed_on() {
        Stop::default().run(1, || panic!("a mistake"));
    }
}
