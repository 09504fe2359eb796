//! See the function of the same name.
#![no_main]

#[path = "../entries/layouts.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::edge_lists(input));
