//! Learning more and forgetting give what training from scratch on the rest gives; nothing of what was forgotten is left.

mod forgotten;
mod graph;
mod labels;
mod random;
mod refused;
#[path = "../synthetic/mod.rs"]
mod synthetic;
mod world;
