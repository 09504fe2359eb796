//! Every layout in which graphs come: what other programs write is what they read, and nothing else gets through.

#[path = "../allocation/mod.rs"]
mod allocation;
mod columns;
mod damage;
mod golden;
mod refused;
mod variations;

use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn_data::{Layout, ReadOptions};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/layouts").join(name)
}

/// Reads a path, or says what is wrong with it.
fn read(path: &Path) -> Result<Dataset, String> {
    read_with(path, &ReadOptions::default())
}

fn read_with(path: &Path, options: &ReadOptions) -> Result<Dataset, String> {
    let layout = Layout::of(path).map_err(|e| e.to_string())?;
    layout.read("test", options, &Context::default()).map_err(|e| e.to_string())
}

/// A folder with the given files, which may be in folders of their own.
fn folder<C: AsRef<[u8]>>(files: &[(&str, C)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// Reads a single file of that name.
fn read_file(name: &str, content: impl AsRef<[u8]>) -> Result<Dataset, String> {
    let folder = folder(&[(name, content)]);
    read(&folder.path().join(name))
}

/// Everything that a dataset says, by names: nodes in the order of their ids.
fn same(a: Dataset, b: Dataset) -> bool {
    let (a, b) = (a.ordered_by_names(), b.ordered_by_names());
    a.fingerprint() == b.fingerprint()
        && a.node_ids() == b.node_ids()
        && a.feature_names() == b.feature_names()
        && a.splits() == b.splits()
}

fn assert_says(name: &str, result: Result<Dataset, String>, fragments: &[&str]) {
    match result {
        Ok(_) => panic!("{name}: was accepted"),
        Err(message) => {
            for fragment in fragments {
                assert!(message.contains(fragment), "{name}: {fragment:?} is not in {message:?}");
            }
        }
    }
}
