//! The raw Planetoid folder, and with it the pickle reader.
#![no_main]

#[path = "../entries/planetoid.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::run(input));
