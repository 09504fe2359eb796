//! How much memory there is: a job that does not fit is refused before it starts.

mod pages;

pub(crate) use pages::zeros;

use crate::error::{Error, Result};
use std::fs;

/// Refuses work that needs more memory than there is.
///
/// # Errors
/// [`Error::Memory`], with what is needed, what there is, and the remedy.
pub fn check(what: &str, needed: u64, remedy: &'static str) -> Result<()> {
    for (available, needed) in
        [(memory(), needed), (address_space(), needed.saturating_add(reserved()))]
    {
        if let Some(available) = available.filter(|&available| needed > available) {
            return Err(Error::Memory { what: what.to_owned(), needed, available, remedy });
        }
    }
    Ok(())
}

/// Bytes that can still be had: the least of what the machine, the control group and the process's
/// own limit leave; `None` where the system does not say.
fn available() -> Option<u64> {
    let address_space = address_space().map(|space| space.saturating_sub(reserved()));
    [memory(), address_space].into_iter().flatten().min()
}

/// A limit on what is taken at a time, lowered to half of what can still be had.
pub fn budget(limit: u64) -> u64 {
    available().map_or(limit, |free| limit.min(free / 2))
}

fn memory() -> Option<u64> {
    [machine(), control_group()].into_iter().flatten().min()
}

fn machine() -> Option<u64> {
    kilobytes_after(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

fn control_group() -> Option<u64> {
    let read = |file: &str| -> Option<u64> {
        fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse().ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current")?))
}

/// What `ulimit -v` leaves.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max address space"))?;
    let limit: u64 = line["Max address space".len()..].split_whitespace().next()?.parse().ok()?;
    let used = kilobytes_after(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(used))
}

/// Address space that is set aside for matrix products and hardly touched, which counts only where
/// the address space itself is limited: each thread reserves twice the last-level cache.
fn reserved() -> u64 {
    2 * last_level_cache() * rayon::current_num_threads() as u64
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
