//! Model files.
#![no_main]

#[path = "../entries/model.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::run(input));
