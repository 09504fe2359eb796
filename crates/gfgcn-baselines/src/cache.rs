//! Finished work on disk: training takes long, and its result never changes.
//!
//! The file of a result is named by the hash of everything that it depends on: the program, by the sources that compute
//! (see [`crate::SOURCES`]), and a key, such as data, model, training, split and seed. The file repeats them, with a checksum over the whole.
//! Whatever cannot be read, or does not add up, counts as not there.

use gfgcn::files::{read_file, write_atomically};
use gfgcn::{Error, Result, hex};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A folder of finished results.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    program: String,
    /// Why the last result could not be stored.
    problem: Mutex<Option<Error>>,
    /// Held while a result is written.
    lock: Option<&'static Mutex<()>>,
}

/// The content of a file. Key and result are kept as text, so that the checksum is over what was written.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    result: String,
    sha256: String,
}

impl Cache {
    /// The results of a program in a folder, which need not exist yet. `program` names the program and its
    /// version: another one does not see them.
    pub fn new(folder: impl Into<PathBuf>, program: impl Into<String>) -> Self {
        let (folder, program) = (folder.into(), program.into());
        Cache { folder, program, problem: Mutex::new(None), lock: None }
    }

    /// Holds a lock whenever a result is written: whoever ends the program can take it first, so that no
    /// file is left half written.
    #[must_use]
    pub fn holding(self, lock: &'static Mutex<()>) -> Self {
        Cache { lock: Some(lock), ..self }
    }

    /// The result that was stored under a key, if its file is sound.
    pub fn get<V: DeserializeOwned>(&self, key: &impl Serialize) -> Option<V> {
        let key = self.text(key);
        let entry = Entry::parse(&read_file(&self.path(&key)).ok()?).filter(|e| e.key == key)?;
        serde_json::from_str(&entry.result).ok()
    }

    /// Stores a result. A failure is no reason to lose it: it is kept for [`Cache::take_problem`].
    ///
    /// # Panics
    /// If the key or the result cannot be written as JSON.
    pub fn put(&self, key: &impl Serialize, result: &impl Serialize) {
        let result = serde_json::to_string(result).expect("plain numbers and text");
        if let Err(error) = self.try_put(self.text(key), result) {
            *self.problem.lock().expect("no panic while it is held") = Some(error);
        }
    }

    fn try_put(&self, key: String, result: String) -> Result<()> {
        let _held = self.lock.map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner));
        let folder = &self.folder;
        fs::create_dir_all(folder)
            .map_err(|source| Error::Write { path: folder.clone(), source })?;
        let (path, sha256) = (self.path(&key), checksum(&key, &result));
        let bytes = serde_json::to_vec(&Entry { key, result, sha256 }).expect("plain text");
        write_atomically(&path, true, |file| file.write_all(&bytes))
    }

    /// What a result depends on, the program too.
    fn text(&self, key: &impl Serialize) -> String {
        serde_json::to_string(&(&self.program, key)).expect("plain numbers and text")
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(file_name(key))
    }

    /// Why a result could not be stored, if one could not; it is said once.
    pub fn take_problem(&self) -> Option<Error> {
        self.problem.lock().expect("no panic while it is held").take()
    }

    /// Deletes all results in a folder, of whatever program; other files stay. Returns how many they were.
    ///
    /// # Errors
    /// If the folder cannot be listed or a file in it not be deleted.
    pub fn clear(folder: &Path) -> Result<usize> {
        let failed = |path: &Path, source| Error::Write { path: path.to_owned(), source };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(Error::Read(error).in_file(folder)),
        };
        let mut deleted = 0;
        for entry in entries {
            let path = entry.map_err(|error| Error::Read(error).in_file(folder))?.path();
            let Some(kind) = Kind::of(&path).filter(|_| path.is_file()) else { continue };
            match fs::remove_file(&path) {
                Ok(()) => deleted += usize::from(kind == Kind::Run),
                // Somebody else was faster.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Ok(deleted)
    }

    /// Copies the results of another folder, of whatever program, into one that need not exist yet: several machines can
    /// share the work. What is there stays; files that are not sound, and other files, are left behind.
    ///
    /// # Errors
    /// If the other folder cannot be listed, or a result not be read or written.
    pub fn merge(from: &Path, folder: &Path) -> Result<Merged> {
        let entries = fs::read_dir(from).map_err(|error| Error::Read(error).in_file(from))?;
        fs::create_dir_all(folder)
            .map_err(|source| Error::Write { path: folder.to_owned(), source })?;
        let mut merged = Merged::default();
        for entry in entries {
            let path = entry.map_err(|error| Error::Read(error).in_file(from))?.path();
            if Kind::of(&path) != Some(Kind::Run) || !path.is_file() {
                continue;
            }
            let bytes = read_file(&path)?;
            let named = |entry: &Entry| path.ends_with(file_name(&entry.key));
            let place = folder.join(path.file_name().expect("it is a file"));
            if Entry::parse(&bytes).filter(named).is_none() {
                merged.unsound += 1;
            } else if read_file(&place).is_ok_and(|own| Entry::parse(&own).is_some()) {
                merged.known += 1;
            } else {
                write_atomically(&place, true, |file| file.write_all(&bytes))?;
                merged.added += 1;
            }
        }
        Ok(merged)
    }
}

/// What became of the results of another folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// Those that are new.
    pub added: usize,
    /// Those that were there already.
    pub known: usize,
    /// Those that are damaged, and were left behind.
    pub unsound: usize,
}

impl Entry {
    /// The content of a file, if its checksum agrees.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let entry: Entry = serde_json::from_slice(bytes).ok()?;
        (entry.sha256 == checksum(&entry.key, &entry.result)).then_some(entry)
    }
}

fn file_name(key: &str) -> String {
    format!("{}.{EXTENSION}", hex(&Sha256::digest(key)))
}

const EXTENSION: &str = "run";

/// The files that a cache makes, by their names.
#[derive(Debug, PartialEq)]
enum Kind {
    Run,
    /// What a run was being written to when the power went off.
    Leftover,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (kind, name) = match name.strip_prefix('.').and_then(|n| n.strip_suffix(".partial")) {
            Some(target) => (Kind::Leftover, target),
            None => (Kind::Run, name),
        };
        let (hash, rest) = name.split_once('.')?;
        let is_hash =
            hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        // A leftover has something random after the name of its target.
        let is_ours = rest.strip_prefix(EXTENSION)?.is_empty() || kind == Kind::Leftover;
        (is_hash && is_ours).then_some(kind)
    }
}

fn checksum(key: &str, result: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(key);
    hash.update([0]);
    hash.update(result);
    hex(&hash.finalize())
}
