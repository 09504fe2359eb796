//! See the function of the same name.
#![no_main]

#[path = "../entries/typed_tables.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::arrow(input));
