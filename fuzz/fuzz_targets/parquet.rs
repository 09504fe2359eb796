//! Parquet files, in the place of every table.
#![no_main]

#[path = "../entries/parquet.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| entry::run(input));
