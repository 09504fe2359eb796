//! Published datasets that are not in the repository: beside the checkout or in `GFGCN_DATA`. Tests that need one are skipped
//! without it, and say so.

use std::io::Write;
use std::path::{Path, PathBuf};

/// An archive or a folder of tables.
pub(crate) fn published(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("GFGCN_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/local"),
        PathBuf::from,
    );
    let path = folder.join(file);
    if path.exists() {
        return Some(path);
    }
    let _ = writeln!(std::io::stderr(), "skipped: there is no {file} in GFGCN_DATA");
    None
}
