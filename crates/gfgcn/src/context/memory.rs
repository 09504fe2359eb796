//! The memory that work may take: asked for before it is used, given back when it is done.
//!
//! Work says what it needs before it allocates, so that a job that does not fit is refused up front, with the
//! estimate. How much is left decides how work is cut into pieces, never what comes out of it.

use super::control_group;
use crate::error::{Error, Result};
use crate::linalg::threads_with_workspace;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An account of memory; clones are the same account.
///
/// ```
/// use gfgcn::context::Memory;
/// let memory = Memory::limited(1 << 20);
/// let lease = memory.reserve("a table", 1 << 19, "use a smaller one")?;
/// assert_eq!(memory.free(), 1 << 19);
/// assert!(memory.reserve("another", 1 << 20, "use a smaller one").is_err());
/// drop(lease);
/// assert_eq!((memory.free(), memory.peak()), (1 << 20, 1 << 19));
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Account>);

#[derive(Debug, Default)]
struct Account {
    /// Where the limit comes from.
    limit: Limit,
    state: Mutex<State>,
}

/// Where the limit of an account comes from.
#[derive(Clone, Copy, Debug, Default)]
enum Limit {
    /// A share of what the machine has free, less what matrix products set aside.
    #[default]
    Machine,
    /// What the machine has free.
    Present,
    /// So many bytes.
    Given(u64),
}

#[derive(Debug, Default)]
struct State {
    /// Bytes that could be had when the first of the present leases was taken, or the account was last asked while
    /// there were none. Not asked for again in between: some of what is reserved is in use by then.
    limit: Option<u64>,
    reserved: u64,
    /// The most that was reserved at the same time.
    peak: u64,
}

impl State {
    fn free(&self) -> u64 {
        self.limit.unwrap_or(u64::MAX).saturating_sub(self.reserved)
    }

    fn take(&mut self, bytes: u64) {
        self.reserved += bytes;
        self.peak = self.peak.max(self.reserved);
    }
}

/// Memory that was reserved; dropping it gives it back.
#[derive(Debug)]
#[must_use = "memory is given back when the lease is dropped"]
pub struct Lease {
    account: Arc<Account>,
    bytes: u64,
}

impl Memory {
    /// Nine tenths of what the machine and the control group leave, within the limits of the process, when the first lease is taken, and again
    /// when there is none any more: data that are read in between count as used.
    pub fn of_machine() -> Self {
        Memory::default()
    }

    /// No more than so many bytes, whatever the machine has.
    pub fn limited(bytes: u64) -> Self {
        Memory::with(Limit::Given(bytes))
    }

    /// The account of what comes before the work, such as reading the data: what the machine has free at this moment,
    /// or this very account where its limit is given. What was read is then gone from what the machine has free when
    /// the work first asks for memory.
    #[must_use]
    pub fn at_present(&self) -> Self {
        match self.0.limit {
            Limit::Given(_) => self.clone(),
            Limit::Machine | Limit::Present => Memory::with(Limit::Present),
        }
    }

    fn with(limit: Limit) -> Self {
        Memory(Arc::new(Account { limit, state: Mutex::default() }))
    }

    /// Has the process use its address space sparingly where that is limited (`ulimit -v`): to be called before the
    /// first threads are started, which is when the allocator takes the most of it.
    pub fn prepare(&self) {
        if !matches!(self.0.limit, Limit::Given(_)) && limit_of_address_space().is_some() {
            heap::be_frugal();
        }
    }

    /// Bytes that can still be reserved.
    pub fn free(&self) -> u64 {
        self.0.state().free()
    }

    /// The most bytes that were ever reserved at the same time.
    pub fn peak(&self) -> u64 {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).peak
    }

    /// Refuses work that does not fit, without reserving anything for it: work that copies or writes something, and
    /// computes no matrix products, for which [`Memory::reserve`] sets more aside. Small work is not worth asking the
    /// system for.
    ///
    /// # Errors
    /// As [`Memory::reserve`].
    pub fn check(&self, what: &str, bytes: u64, remedy: &'static str) -> Result<()> {
        const SMALL: u64 = 1 << 20;
        if bytes <= SMALL {
            return Ok(());
        }
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let available = match (self.0.limit, state.reserved) {
            (Limit::Given(bytes), reserved) => bytes.saturating_sub(reserved),
            (_, 0) => available(SMALL).unwrap_or(u64::MAX),
            (_, reserved) => state.limit.unwrap_or(u64::MAX).saturating_sub(reserved),
        };
        if bytes > available {
            let what = what.to_owned();
            return Err(Error::Memory { what, needed: bytes, available, remedy });
        }
        Ok(())
    }

    /// Reserves memory for some work until the lease is dropped.
    ///
    /// # Errors
    /// [`Error::Memory`] with what is needed, what there is, and the remedy.
    pub fn reserve(&self, what: &str, bytes: u64, remedy: &'static str) -> Result<Lease> {
        let mut state = self.0.state();
        let available = state.free();
        if bytes > available {
            let what = what.to_owned();
            return Err(Error::Memory { what, needed: bytes, available, remedy });
        }
        state.take(bytes);
        Ok(Lease { account: self.0.clone(), bytes })
    }
}

impl Account {
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.limit.is_none() || state.reserved == 0 {
            let limit = match self.limit {
                Limit::Machine => available(SMALL_THINGS + for_products()),
                Limit::Present => available(SMALL_THINGS),
                Limit::Given(bytes) => Some(bytes),
            };
            state.limit = Some(limit.unwrap_or(u64::MAX));
        }
        state
    }
}

impl Lease {
    /// What is reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves more, for work whose needs show as it goes.
    ///
    /// # Errors
    /// [`Error::Memory`] with what is needed in all, what there is, and the remedy; the lease stays as it was.
    pub fn extend(&mut self, what: &str, bytes: u64, remedy: &'static str) -> Result<()> {
        let mut state = self.account.state();
        let free = state.free();
        if bytes > free {
            let (needed, available) = (self.bytes.saturating_add(bytes), self.bytes + free);
            return Err(Error::Memory { what: what.to_owned(), needed, available, remedy });
        }
        state.take(bytes);
        self.bytes += bytes;
        Ok(())
    }

    /// Gives some of it back, or all if that is less.
    pub fn shrink(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.account.state().reserved -= bytes;
        self.bytes -= bytes;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.account.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.reserved -= self.bytes;
    }
}

/// Bytes that can still be had: the least of what the machine, the control group and the process's
/// own limit leave; `None` where the system does not say. `aside` counts only where the address space is limited. Memory
/// that the allocator holds in stock is free too.
fn available(aside: u64) -> Option<u64> {
    let in_memory = [machine(), control_group::free()].into_iter().flatten().min();
    // The rest is for what is not counted here, such as the pages of files that are mapped.
    let in_memory = in_memory.map(|bytes| bytes / 10 * SHARE_IN_TEN + heap::in_stock());
    let address_space = address_space().map(|space| space.saturating_sub(aside));
    [in_memory, address_space].into_iter().flatten().min()
}

/// How much of the memory that is free is taken, in tenths.
const SHARE_IN_TEN: u64 = 9;

fn machine() -> Option<u64> {
    kilobytes_after(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// What `ulimit -v` says.
fn limit_of_address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max address space"))?;
    line["Max address space".len()..].split_whitespace().next()?.parse().ok()
}

/// What `ulimit -v` leaves.
///
/// What is used must not depend on the limit, or more of it could leave less: so the allocator is told first not to take
/// address space that it does not need, which it would do only where there is enough.
pub(super) fn address_space() -> Option<u64> {
    let limit = limit_of_address_space()?;
    heap::be_frugal();
    let used = kilobytes_after(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(used))
}

/// Address space for all that is not worth counting.
const SMALL_THINGS: u64 = 12 << 20;

/// Address space that matrix products will take and hardly touch: for each thread that has none yet, twice the
/// last-level cache.
fn for_products() -> u64 {
    // A caller who is not one of the threads multiplies, too.
    let caller = usize::from(rayon::current_thread_index().is_none());
    let threads = rayon::current_num_threads() + caller;
    2 * last_level_cache() * threads.saturating_sub(threads_with_workspace()) as u64
}

/// Bytes of last-level cache in the whole machine, as the library for matrix products counts them.
fn last_level_cache() -> u64 {
    let read = |cache: &str| {
        let file = format!("/sys/devices/system/cpu/cpu0/cache/{cache}");
        fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
    };
    let kilobytes =
        read("index3/size").and_then(|size| size.strip_suffix('K')?.parse::<u64>().ok());
    let sharing = read("index3/shared_cpu_list").map_or(1, |list| count_of(&list)).max(1);
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    kilobytes.unwrap_or(0) * 1024 * count_of(online.trim()).div_ceil(sharing).max(1)
}

/// How many numbers a list such as `0-3,8` has.
fn count_of(list: &str) -> u64 {
    let of_range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        Some(last.saturating_sub(first) + 1)
    };
    list.split(',').filter_map(of_range).sum()
}

/// The allocator's habits.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heap {
    use std::sync::Once;

    /// Arrays of this size are mappings of their own, which are given back when they are freed.
    const LARGE: libc::c_int = 1 << 20;

    /// No address space beyond what is asked for: not 64 MB for each thread, and nothing kept of large arrays.
    pub(super) fn be_frugal() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the calls change what the allocator does from now on, and nothing that it has done.
            unsafe {
                libc::mallopt(libc::M_ARENA_MAX, 1);
                libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
                libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE);
            }
        });
    }

    /// Bytes that were freed and not given back to the system.
    pub(super) fn in_stock() -> u64 {
        // SAFETY: the call only counts. Its numbers are of 32 bits, and wrap: less than there is, never more.
        let counted = unsafe { libc::mallinfo() };
        u64::from(counted.fordblks as u32)
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod heap {
    pub(super) fn be_frugal() {}

    pub(super) fn in_stock() -> u64 {
        0
    }
}

fn kilobytes_after(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    let number: u64 = line[name.len()..].split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pieces_of_work_share_one_account() {
        let memory = Memory::limited(100);
        let other = memory.clone();
        let first = memory.reserve("one", 60, "wait").unwrap();
        let error = other.reserve("two", 50, "wait for the first").unwrap_err().to_string();
        assert!(error.contains("two needs") && error.contains("wait for the first"), "{error}");
        let second = other.reserve("two", 40, "wait").unwrap();
        assert_eq!(memory.free(), 0);
        drop((first, second));
        assert_eq!((memory.free(), memory.peak()), (100, 100));
    }

    #[test]
    fn a_lease_grows_within_the_limit_and_is_given_back() {
        let memory = Memory::limited(100 << 20);
        let mut lease = memory.reserve("reading", 40 << 20, "stop").unwrap();
        lease.extend("reading", 30 << 20, "stop").unwrap();
        let error = lease.extend("reading", 50 << 20, "read less").unwrap_err().to_string();
        assert!(error.contains("about 120 MiB") && error.contains("only 100 MiB"), "{error}");
        lease.shrink(20 << 20);
        assert_eq!(memory.at_present().free(), 50 << 20, "a given limit is one account");
        drop(lease);
        assert_eq!(memory.free(), 100 << 20);
        assert!(Memory::of_machine().at_present().free() > 0);
    }

    #[test]
    fn lists_of_processors_are_counted() {
        assert_eq!(["0-1", "0", "0-3,8,10-11", ""].map(count_of), [2, 1, 7, 0]);
    }
}
