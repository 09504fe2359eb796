//! Writes a report of made-up numbers to a folder, to see how reports look:
//!
//! ```sh
//! cargo run -p gfgcn-paper --example sample_report -- target/sample-report
//! ```

#[path = "../tests/sample/mod.rs"]
mod sample;

fn main() -> gfgcn::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "sample-report".into());
    gfgcn_paper::report::write::write(&sample::report(), folder.as_ref())
}
