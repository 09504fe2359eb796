//! Files with a split.
#![no_main]

#[path = "../entries/split.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::run(input));
