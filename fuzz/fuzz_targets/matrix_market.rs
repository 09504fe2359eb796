//! MatrixMarket files, as features and as edges.
#![no_main]

#[path = "../entries/matrix_market.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::run(input));
