//! Names what computes the results: a hash of the sources of this crate and of the library under it.
//!
//! Finished runs are kept under this name (`src/cache.rs`). Whatever else changes in a program, such as its command
//! line or its reports, leaves them valid.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Crates of others whose version decides about bits: dense products and random numbers.
const OTHERS: [&str; 3] = ["faer", "private-gemm-x86", "rand_chacha"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by Cargo"));
    let mut hash = Sha256::new();
    hash.update(env::var("CARGO_PKG_VERSION").expect("set by Cargo"));
    // Times are kept, too.
    hash.update(env::var("OPT_LEVEL").expect("set by Cargo"));
    for folder in [here.join("src"), here.join("../gfgcn/src")] {
        // The crate by itself, outside of its repository: the version stands for the other one.
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            add_folder(&folder, Path::new(""), &mut hash)?;
        }
    }
    let lock = here.join("../../Cargo.lock");
    if let Ok(text) = fs::read_to_string(&lock) {
        println!("cargo::rerun-if-changed={}", lock.display());
        let packages = text.split("[[package]]").filter(|package| {
            OTHERS.iter().any(|name| package.contains(&format!("name = \"{name}\"\n")))
        });
        packages.for_each(|package| hash.update(package));
    }
    let name: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=GFGCN_SOURCES={name}");
    Ok(())
}

/// Adds all files of a folder, by their names.
fn add_folder(folder: &Path, name: &Path, hash: &mut Sha256) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        if path.is_dir() {
            add_folder(&path, &name, hash)?;
        } else {
            let content = fs::read(&path)?;
            hash.update(name.to_string_lossy().replace('\\', "/"));
            hash.update([0]);
            hash.update((content.len() as u64).to_le_bytes());
            hash.update(content);
        }
    }
    Ok(())
}
