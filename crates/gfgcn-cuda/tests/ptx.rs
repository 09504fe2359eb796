//! The PTX that is committed belongs to the sources beside it.

#![allow(clippy::print_stdout)] // why a test is skipped

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn kernels() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

#[test]
fn every_ptx_names_the_source_it_was_made_from() {
    for source in kernels() {
        let digest = gfgcn::hex(&Sha256::digest(fs::read(&source).unwrap()));
        for ptx in made_from(&source) {
            let named = ptx.lines().nth(1).unwrap().trim_start_matches("// ");
            assert_eq!(named, digest, "{}: run kernels/make_ptx.py", source.display());
        }
    }
}

/// The PTX of a source, for one architecture or several.
fn made_from(source: &Path) -> Vec<String> {
    let stem = source.file_stem().unwrap().to_str().unwrap();
    let path = |target: &str| source.with_file_name(format!("{stem}_{target}.ptx"));
    let of = |target: &str| fs::read_to_string(path(target)).ok();
    let made: Vec<String> = ["70", "80"].into_iter().filter_map(of).collect();
    assert!(!made.is_empty(), "{}: run kernels/make_ptx.py", source.display());
    made
}

/// What a kernel is called, and the types and order of its parameters.
fn entries(ptx: &str) -> BTreeSet<String> {
    let parts = ptx.split(".entry ").skip(1);
    parts.map(|part| part.split(')').next().unwrap().split_whitespace().collect()).collect()
}

#[test]
fn a_compiler_makes_the_same_kernels_of_the_sources() {
    let compiles = Command::new("nvcc").arg("--version").output().is_ok_and(|o| o.status.success());
    if !compiles {
        println!("skipped: nvcc is not installed");
        return;
    }
    let folder = std::env::temp_dir().join(format!("gfgcn-ptx-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for source in kernels() {
        let out = folder.join("made.ptx");
        let made = Command::new("nvcc").arg("-ptx").arg(&source).arg("-o").arg(&out).status();
        assert!(made.unwrap().success(), "{}", source.display());
        let made = fs::read_to_string(&out).unwrap();
        for committed in made_from(&source) {
            assert_eq!(entries(&made), entries(&committed), "{}", source.display());
        }
    }
    fs::remove_dir_all(folder).unwrap();
}
