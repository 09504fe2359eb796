//! The receipt of what was forgotten, as a file.

use gfgcn::Result;
use gfgcn::files::write_atomically;
use gfgcn::training::Receipt;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

#[derive(Serialize)]
struct Dated<'a> {
    gfgcn: &'static str,
    time: String,
    #[serde(flatten)]
    receipt: &'a Receipt,
}

/// Writes a receipt with the time and the version of this program.
pub(super) fn save(receipt: &Receipt, path: &Path, overwrite: bool) -> Result<()> {
    let dated = Dated {
        gfgcn: env!("CARGO_PKG_VERSION"),
        time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        receipt,
    };
    let mut json = serde_json::to_vec_pretty(&dated).expect("a receipt has string keys");
    json.push(b'\n');
    write_atomically(path, overwrite, |file| file.write_all(&json))
}
