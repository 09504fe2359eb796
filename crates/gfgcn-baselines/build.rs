//! Names what computes the results: a hash of the sources of this crate and of the library under it.
//!
//! Finished runs are kept under this name (`src/cache.rs`). Whatever else changes in a program, such as its command
//! line or its reports, leaves them valid.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Crates of others whose versions, and those of what they depend on, decide about bits: dense products and random
/// numbers.
const OTHERS: [&str; 2] = ["faer", "rand_chacha"];

/// What else decides about bits, or about times, which are kept, too.
const BUILD: [&str; 5] =
    ["CARGO_PKG_VERSION", "TARGET", "PROFILE", "OPT_LEVEL", "CARGO_ENCODED_RUSTFLAGS"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by Cargo"));
    let mut hash = Sha256::new();
    for name in BUILD {
        hash.update(env::var(name).unwrap_or_default());
        hash.update([0]);
    }
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
        others(&text).iter().for_each(|package| hash.update(package));
    }
    let name: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=GFGCN_SOURCES={name}");
    Ok(())
}

/// The entries of a lock file that are about [`OTHERS`] and all that they depend on, in the order of the file.
fn others(lock: &str) -> Vec<&str> {
    let packages: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    let quoted = |line: &str| line.split('"').nth(1).map(str::to_owned);
    let name =
        |package: &str| package.lines().find(|line| line.starts_with("name = ")).and_then(quoted);
    let mut wanted: Vec<String> = OTHERS.map(str::to_owned).to_vec();
    let mut next = 0;
    while let Some(one) = wanted.get(next).cloned() {
        next += 1;
        let of_one = packages.iter().filter(|package| name(package).as_ref() == Some(&one));
        // Dependencies are lines of their own: a name, and a version where there are several.
        let lines =
            of_one.flat_map(|package| package.lines()).filter(|line| line.starts_with(" \""));
        for dependency in lines.filter_map(quoted) {
            let dependency = dependency.split(' ').next().unwrap_or_default().to_owned();
            if !wanted.contains(&dependency) {
                wanted.push(dependency);
            }
        }
    }
    let is_wanted = |package: &&str| name(package).is_some_and(|name| wanted.contains(&name));
    packages.into_iter().filter(is_wanted).collect()
}

/// Adds all sources of a folder, by their names.
fn add_folder(folder: &Path, name: &Path, hash: &mut Sha256) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        if path.is_dir() {
            add_folder(&path, &name, hash)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let content = fs::read(&path)?;
            hash.update(name.to_string_lossy().replace('\\', "/"));
            hash.update([0]);
            hash.update((content.len() as u64).to_le_bytes());
            hash.update(content);
        }
    }
    Ok(())
}
