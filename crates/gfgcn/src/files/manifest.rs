//! What proves that the files of a folder belong together: their sizes and hashes, in a file beside them.
//!
//! Folders that people make have none, and are read as they are.

use super::{open, read_file, write_atomically};
use crate::error::{Error, Result};
use crate::hex::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Component, Path};

/// The name of the manifest in a folder.
pub const MANIFEST: &str = "gfgcn-manifest.json";
/// No folder of ours has a longer one.
const LONGEST: u64 = 16 << 20;

#[derive(Serialize, Deserialize)]
struct Manifest {
    program: String,
    files: BTreeMap<String, Part>,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct Part {
    bytes: u64,
    sha256: String,
}

impl Part {
    fn of(path: &Path) -> Result<Self> {
        let mut hash = Sha256::new();
        let bytes = io::copy(&mut open(path)?, &mut Hashing(&mut hash))
            .map_err(|e| Error::Read(e).in_file(path))?;
        Ok(Part { bytes, sha256: hex(&hash.finalize()) })
    }
}

struct Hashing<'a>(&'a mut Sha256);

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the manifest of a folder with these files, by their paths in it.
pub(super) fn write(folder: &Path, parts: &[String]) -> Result<()> {
    let of = |name: &String| Ok((name.clone(), Part::of(&folder.join(name))?));
    let manifest = Manifest {
        program: concat!("gfgcn ", env!("CARGO_PKG_VERSION")).into(),
        files: parts.iter().map(of).collect::<Result<_>>()?,
    };
    let text = serde_json::to_string_pretty(&manifest).expect("plain text and numbers");
    write_atomically(&folder.join(MANIFEST), true, |file| writeln!(file, "{text}"))
}

fn read(folder: &Path) -> Result<Option<Manifest>> {
    let path = folder.join(MANIFEST);
    let length = match path.symlink_metadata() {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::Read(error).in_file(path)),
    };
    let damaged = |why: &str| {
        let remedy = "delete it if the files beside it are as you want them";
        Error::Format(format!("{why}; {remedy}")).in_file(&path)
    };
    if length > LONGEST {
        return Err(damaged("is too long for a manifest"));
    }
    let manifest: Manifest = serde_json::from_slice(&read_file(&path)?)
        .map_err(|error| damaged(&format!("is no manifest ({error})")))?;
    let is_plain = |name: &String| {
        let mut components = Path::new(name).components();
        !name.is_empty() && components.all(|component| matches!(component, Component::Normal(_)))
    };
    match manifest.files.keys().find(|name| !is_plain(name)) {
        Some(name) => Err(damaged(&format!("lists {name:?}, which is not in the folder"))),
        None => Ok(Some(manifest)),
    }
}

/// The files that a folder's manifest lists, by their paths in the folder; none where there is no sound manifest.
pub fn listed_parts(folder: &Path) -> Vec<String> {
    let manifest = read(folder).ok().flatten();
    manifest.map_or_else(Vec::new, |manifest| manifest.files.into_keys().collect())
}

/// Checks that the files of a folder are those that were written together, and that those which are `used` are
/// among them. A folder without a manifest has nothing to prove.
///
/// # Errors
/// A file that is missing, another than the one that was written, or not one of them, with what to do about it.
pub fn check_parts(folder: &Path, used: &[&Path]) -> Result<()> {
    let Some(manifest) = read(folder)? else { return Ok(()) };
    let refused = |path: &Path, what: &str| {
        Error::Data(format!(
            "{what}: {MANIFEST} says so. If it was changed on purpose, delete {MANIFEST}; if not, write \
             the folder again (gfgcn data convert)"
        ))
        .in_file(path)
    };
    for (name, part) in &manifest.files {
        let path = folder.join(name);
        match path.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refused(&path, "is missing from the files that were written together"));
            }
            Err(error) => return Err(Error::Read(error).in_file(path)),
            Ok(metadata) if metadata.len() == part.bytes && Part::of(&path)? == *part => {}
            Ok(_) => {
                return Err(refused(&path, "is not the file that belongs to the others here"));
            }
        }
    }
    let listed = |path: &&&Path| manifest.files.keys().any(|name| folder.join(name) == **path);
    match used.iter().find(|path| !listed(path)) {
        Some(path) => Err(refused(path, "was not written together with the other files here")),
        None => Ok(()),
    }
}
