//! Text tables: features, edges, labels and a split.
#![no_main]

#[path = "../entries/tables.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::run(input));
