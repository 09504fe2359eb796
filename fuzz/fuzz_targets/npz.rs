//! Archives of arrays, and with them the array reader.
#![no_main]

#[path = "../entries/npz.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::run(input));
