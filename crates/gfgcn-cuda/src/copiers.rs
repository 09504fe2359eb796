//! Threads that do nothing but copy.
//!
//! Not those of the pool that all other work shares: a thread of the pool that waits for others is given other work meanwhile,
//! which may wait in turn for what the first one holds, a lane of the GPU or an array that is being sent.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;

/// As many as the memory of a large machine keeps busy.
const THREADS: usize = 6;
/// Bytes that a thread copies at a time.
const SHARE: usize = 512 << 10;

/// Copies as many bytes as there are, by several threads.
///
/// # Panics
/// If they are not as many on both sides.
pub(crate) fn copy(from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "as many bytes on both sides");
    let mut shares = from.chunks(SHARE).zip(to.chunks_mut(SHARE));
    let own = shares.next();
    let left = Arc::new(Left::default());
    for (from, to) in shares {
        left.add();
        let share =
            Share { from: from.as_ptr(), to: to.as_mut_ptr(), len: to.len(), left: left.clone() };
        if let Err(unsent) = copiers().send(share) {
            unsent.0.copy(); // no thread could be started
        }
    }
    if let Some((from, to)) = own {
        to.copy_from_slice(from);
    }
    left.wait();
}

/// Where shares are sent to.
fn copiers() -> &'static Sender<Share> {
    static COPIERS: OnceLock<Sender<Share>> = OnceLock::new();
    COPIERS.get_or_init(|| {
        let (sender, shares) = channel();
        let shares = Arc::new(Mutex::new(shares));
        for _ in 0..THREADS {
            let shares = shares.clone();
            // Where none can be started, nobody receives, and whoever sends copies by himself.
            let _ = thread::Builder::new().name("gfgcn-copy".into()).spawn(move || work(&shares));
        }
        sender
    })
}

fn work(shares: &Mutex<Receiver<Share>>) {
    loop {
        let share = shares.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(share) = share else { return };
        share.copy();
    }
}

/// A part of a copy.
struct Share {
    from: *const u8,
    to: *mut u8,
    len: usize,
    left: Arc<Left>,
}

// SAFETY: `copy` above waits until all shares are done, and they are parts of its slices that do not overlap.
unsafe impl Send for Share {}

impl Share {
    fn copy(self) {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(self.from, self.to, self.len) };
        self.left.done();
    }
}

/// How many shares are under way.
#[derive(Default)]
struct Left {
    count: Mutex<usize>,
    none: Condvar,
}

impl Left {
    fn add(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn done(&self) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        if *count == 0 {
            self.none.notify_all();
        }
    }

    fn wait(&self) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        while *count > 0 {
            count = self.none.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_arrives_whoever_copies_beside_it() {
        thread::scope(|scope| {
            for k in 0..8usize {
                scope.spawn(move || {
                    for len in [0, 1, SHARE - 1, SHARE, SHARE + 1, 5 * SHARE + 77] {
                        let from: Vec<u8> = (0..len).map(|i| (i * 31 + k) as u8).collect();
                        let mut to = vec![0; len];
                        copy(&from, &mut to);
                        assert!(from == to, "{len} bytes");
                    }
                });
            }
        });
    }
}
