//! Downloads against a real server on the loopback address, mostly a misbehaving one. After every
//! failure the folder must be as it was. No other address is ever contacted.

mod answers;
#[path = "../../../gfgcn/tests/published/mod.rs"]
mod files;
mod published;
mod server;
mod stopping;
mod target;
mod toy;
