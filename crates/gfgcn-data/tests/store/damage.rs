//! Whatever is changed, missing or of another version: a clear error.

use super::{full, read, varied, write_in_blocks};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::filter::Filter;
use gfgcn::split::Split;
use gfgcn::{Classifier, Result};
use gfgcn_data::store;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Reads a store and all of its features.
fn used(path: &Path) -> Result<Dataset> {
    let data = read(path)?;
    data.features().ready(0..data.features().cols())?;
    Ok(data)
}

fn stores() -> (TempDir, Vec<PathBuf>) {
    let folder = TempDir::new().unwrap();
    let mut paths = Vec::new();
    for (k, data) in varied().iter().enumerate() {
        paths.push(folder.path().join(k.to_string()));
        store::write(data, &paths[k], false, &Context::default()).unwrap();
    }
    paths.push(folder.path().join("blocks"));
    write_in_blocks(&full(), &paths[paths.len() - 1], 10);
    (folder, paths)
}

#[test]
fn any_changed_byte_of_any_array_is_noticed_and_the_file_named() {
    let (_folder, stores) = stores();
    for path in stores.iter().flat_map(|store| files(store).into_iter().map(move |f| (store, f))) {
        let (store, file) = path;
        if file.ends_with("meta.json") {
            continue;
        }
        let whole = fs::read(&file).unwrap();
        for position in [0, 7, 60, 127, 128, whole.len() / 2 + 64, whole.len() - 1] {
            if position >= whole.len() {
                continue;
            }
            let mut changed = whole.clone();
            changed[position] ^= 0x41;
            fs::write(&file, changed).unwrap();
            let message = used(store).unwrap_err().to_string();
            let name = file.strip_prefix(store).unwrap().display().to_string();
            assert!(message.contains(&name), "{name} at {position}: {message}");
            assert!(store::verify(store, &Context::default()).is_err());
        }
        fs::write(&file, &whole).unwrap();
        used(store).unwrap();
    }
}

#[test]
fn files_that_are_cut_off_missing_or_something_else_are_refused() {
    let (_folder, stores) = stores();
    for (store, file) in
        stores.iter().flat_map(|store| files(store).into_iter().map(move |file| (store, file)))
    {
        let whole = fs::read(&file).unwrap();
        // The last character of meta.json is a line's end, without which it says the same.
        for length in [0, 1, 64, whole.len() - 2] {
            fs::write(&file, &whole[..length]).unwrap();
            let message = read(store).map(drop).unwrap_err().to_string();
            assert!(message.contains(file.file_name().unwrap().to_str().unwrap()), "{message}");
        }
        fs::remove_file(&file).unwrap();
        let message = read(store).unwrap_err().to_string();
        assert!(message.contains("missing") || message.contains("meta.json"), "{message}");
        fs::create_dir(&file).unwrap();
        read(store).map(drop).unwrap_err();
        fs::remove_dir(&file).unwrap();
        fs::write(&file, [&whole[..], b"x"].concat()).unwrap();
        read(store).map(drop).unwrap_err();
        fs::write(&file, &whole).unwrap();
    }
}

#[test]
fn what_a_store_says_of_itself_is_not_believed_blindly() {
    let (_folder, stores) = stores();
    let store = &stores[0];
    let meta = store.join("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    for (from, to, expected) in [
        ("\"version\": 1", "\"version\": 2", "version 2, but this program reads version 1"),
        ("\"version\": 1", "\"version\": \"x\"", "version none"),
        ("\"format\": \"gfgcn store\"", "\"format\": \"other\"", "does not say"),
        ("\"nodes\": 50", "\"nodes\": 51", "needs [51]"),
        ("\"nodes\": 50", "\"nodes\": 18446744073709551615", ""),
        ("\"nodes\": 50", "\"nodes\": -1", "does not describe"),
        ("\"splits\": 2", "\"splits\": 3", "splits/2/train.npy"),
        ("\"columns\": 37", "\"columns\": 36", "columns of all blocks"),
        ("\"targets\": \"classes\"", "\"targets\": \"values\"", "values.npy"),
        ("\"places.npy\"", "\"../places.npy\"", "not in the folder"),
        ("\"labels.npy\"", "\"/labels.npy\"", "not in the folder"),
        ("\"edges\":", "\"more\": 1, \"edges\":", "does not describe"),
    ] {
        if !text.contains(from) {
            assert!(from.contains("places"), "{from}");
            continue;
        }
        fs::write(&meta, text.replacen(from, to, 1)).unwrap();
        let message = read(store).unwrap_err().to_string();
        assert!(message.contains(expected), "{to}: {message}");
    }
    for junk in ["", "{", "[]", "null", "{\"format\": \"gfgcn store\"}"] {
        fs::write(&meta, junk).unwrap();
        read(store).unwrap_err();
    }
    fs::write(&meta, text).unwrap();
    read(store).unwrap();
}

#[test]
fn a_block_that_changed_is_noticed_when_it_is_used() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("blocks");
    write_in_blocks(&full(), &path, 10);
    let block = path.join("features/00020-00029.npy");
    let mut bytes = fs::read(&block).unwrap();
    bytes[400] ^= 1;
    fs::write(&block, bytes).unwrap();
    // Other blocks can be used.
    let data = read(&path).unwrap();
    data.features().ready(0..20).unwrap();
    let split = Split::all_labelled(data.labels()).unwrap();
    let classifier = Classifier::new(Filter::sgc(2).unwrap());
    let message = classifier.fit(&data, &split, &Context::default()).unwrap_err().to_string();
    assert!(message.contains("00020-00029.npy") && message.contains("has changed"), "{message}");
}
