//! The memory that work may take: asked for before it is used, given back when it is done.
//!
//! Work says what it needs before it allocates, so that a job that does not fit is refused up front, with the
//! estimate. How much is left decides how work is cut into pieces, never what comes out of it.

use crate::error::{Error, Result};
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
/// assert_eq!(memory.free(), 1 << 20);
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Account>);

#[derive(Debug, Default)]
struct Account {
    /// Bytes, where the limit is given; otherwise what the machine has free.
    given: Option<u64>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes that could be had when the account was first asked. Not asked for again: what work has given back, the
    /// process may still hold.
    limit: Option<u64>,
    reserved: u64,
}

impl State {
    fn free(&self) -> u64 {
        self.limit.unwrap_or(u64::MAX).saturating_sub(self.reserved)
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
    /// What the machine, the control group and the limits of the process leave when it is first asked for.
    pub fn of_machine() -> Self {
        Memory::default()
    }

    /// No more than so many bytes, whatever the machine has.
    pub fn limited(bytes: u64) -> Self {
        Memory(Arc::new(Account { given: Some(bytes), state: Mutex::default() }))
    }

    /// Bytes that can still be reserved.
    pub fn free(&self) -> u64 {
        self.0.state().free()
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
        state.reserved += bytes;
        Ok(Lease { account: self.0.clone(), bytes })
    }
}

impl Account {
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.limit.get_or_insert_with(|| self.given.or_else(available).unwrap_or(u64::MAX));
        state
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.account.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.reserved -= self.bytes;
    }
}

/// Bytes that can still be had: the least of what the machine, the control group and the process's
/// own limit leave; `None` where the system does not say.
fn available() -> Option<u64> {
    let address_space = address_space().map(|space| space.saturating_sub(set_aside()));
    [machine(), control_group(), address_space].into_iter().flatten().min()
}

fn machine() -> Option<u64> {
    kilobytes_after(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

fn control_group() -> Option<u64> {
    let read = |file: &str| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok();
    let statistics = read("memory.stat").unwrap_or_default();
    left_in_control_group(&read("memory.max")?, &read("memory.current")?, &statistics)
}

/// What a limit leaves. Cached pages of files count as used there, but are given up when memory is short.
fn left_in_control_group(limit: &str, used: &str, statistics: &str) -> Option<u64> {
    let cached: u64 = ["inactive_file ", "active_file "]
        .iter()
        .filter_map(|name| {
            let line = statistics.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse::<u64>().ok()
        })
        .sum();
    let used: u64 = used.trim().parse().ok()?;
    Some(limit.trim().parse::<u64>().ok()?.saturating_sub(used.saturating_sub(cached)))
}

/// What `ulimit -v` leaves.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max address space"))?;
    let limit: u64 = line["Max address space".len()..].split_whitespace().next()?.parse().ok()?;
    let used = kilobytes_after(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(used))
}

/// Address space that is set aside and hardly touched, which counts only where the address space itself is limited:
/// for each thread twice the last-level cache for matrix products, and an arena of the allocator's.
fn set_aside() -> u64 {
    const ARENA: u64 = 64 << 20;
    (2 * last_level_cache() + ARENA) * rayon::current_num_threads() as u64
}

fn last_level_cache() -> u64 {
    let size = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size");
    let kilobytes = size.ok().and_then(|size| size.trim().strip_suffix('K')?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
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
        assert_eq!(memory.free(), 100);
    }

    #[test]
    fn cached_pages_of_files_are_not_used_memory() {
        let statistics = "anon 300\nfile 650\ninactive_file 600\nactive_file 50\n";
        assert_eq!(left_in_control_group("1000\n", "950\n", statistics), Some(700));
        assert_eq!(left_in_control_group("1000", "950", ""), Some(50));
        assert_eq!(left_in_control_group("max", "950", statistics), None, "no limit is set");
    }
}
