//! Tables as files on disk: what is accepted, what is refused and how, and what survives writing.

mod accepted;
#[path = "../allocation/mod.rs"]
mod allocation;
mod arrays;
mod arrow;
mod damaged;
mod directed;
mod featureless;
mod matrix_market;
#[path = "../npy/mod.rs"]
mod npy;
mod parquet;
mod refused;
#[path = "../../../gfgcn/tests/repeatable/mod.rs"]
mod repeatable;
mod round_trip;
mod targets;
mod typed;

use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn_data::{Directions, TableFiles};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What `--directed` asks for.
const KEPT: Directions = Directions::Kept { by: "--directed" };
/// A small dataset in its plainest form; `tests/golden/small.py` has the same one.
const SMALL: [(&str, &str); 4] = [
    ("edges.csv", "source,target,weight\na,b,0.5\nb,c,2\na,c,1\nd,a,1\n"),
    ("features.csv", "id,x,y\na,1,0.25\nb,0.1,2\nc,-3,1e-30\nd,0,5\ne,7,8\n"),
    ("labels.csv", "id,label\na,yes\nb,no\ne,yes\n"),
    ("split.csv", "id,split\na,train\nb,val\ne,test\n"),
];

/// A folder with the given files.
fn folder<C: AsRef<[u8]>>(files: &[(&str, C)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// [`SMALL`] with some of its tables replaced: a file named `edges.tsv` takes the place of
/// `edges.csv`.
fn small_with<C: AsRef<[u8]>>(files: &[(&str, C)]) -> TempDir {
    let folder = folder(files);
    let stem = |name: &str| name.split('.').next().unwrap().to_owned();
    for (name, content) in SMALL {
        if !files.iter().any(|(other, _)| stem(other) == stem(name)) {
            fs::write(folder.path().join(name), content).unwrap();
        }
    }
    folder
}

/// Reads a folder, or says what is wrong with it.
fn read(folder: &Path) -> Result<Dataset, String> {
    read_as(folder, Directions::AsSaid)
}

fn read_as(folder: &Path, directions: Directions) -> Result<Dataset, String> {
    let files = TableFiles::in_folder(folder).map_err(|e| e.to_string())?.expect("edges are there");
    let files = TableFiles { directions, ..files };
    files.read("test", &Context::default()).map_err(|e| e.to_string())
}

fn small() -> Dataset {
    read(small_with::<&str>(&[]).path()).unwrap()
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Asserts that the message has all fragments.
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
