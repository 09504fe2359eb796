//! The real binary in temporary folders: what it prints, what it writes, how it ends.

mod collections;
mod data;
mod device;
#[cfg(target_os = "linux")]
mod drivers;
#[cfg(unix)]
mod edges;
mod evaluate;
mod everyday;
#[cfg(unix)]
mod faults;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod limits;
mod living;
mod order;
mod paper;
#[path = "../../../gfgcn/tests/published/mod.rs"]
mod published;
mod questions;
#[cfg(unix)]
mod refusals;
mod relearn;
#[cfg(unix)]
mod reports;
#[cfg(unix)]
mod running;
#[cfg(unix)]
mod same_bytes;
mod sandbox;
mod shell;
mod splits;
#[cfg(unix)]
mod stores;
mod synth;
mod targets;
mod trained;
mod tune;
