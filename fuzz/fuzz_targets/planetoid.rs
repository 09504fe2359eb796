//! The raw Planetoid folder, and with it the pickle reader.
//!
//! New inputs go to the first corpus folder named, so `cargo +nightly fuzz run planetoid FOUND
//! fuzz/corpus/planetoid` keeps the committed seeds few.
#![no_main]

#[path = "../entries/planetoid.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::run(input));
