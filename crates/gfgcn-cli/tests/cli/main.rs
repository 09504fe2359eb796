//! The real binary in temporary folders: what it prints, what it writes, how it ends.

mod data;
mod evaluate;
mod everyday;
#[cfg(unix)]
mod faults;
mod paper;
#[cfg(unix)]
mod refusals;
#[cfg(unix)]
mod running;
mod sandbox;
mod synth;
mod trained;
mod tune;
