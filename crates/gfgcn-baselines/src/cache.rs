//! Finished runs on disk: training takes long, and its result never changes.
//!
//! A run's file is named by the hash of everything that its result depends on: the program, the data,
//! the model, the training, the split and the seed. The file repeats them, with a checksum over the
//! whole. Whatever cannot be read, or does not add up, counts as not there.

use crate::compare::Run;
use crate::model::Baseline;
use crate::train::Training;
use gfgcn::data::{Dataset, read_file, write_atomically};
use gfgcn::features::Features;
use gfgcn::split::Split;
use gfgcn::{Error, Result, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A folder of finished runs.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    program: String,
    /// Why the last run could not be stored.
    problem: Mutex<Option<Error>>,
    /// Held while a run is written.
    lock: Option<&'static Mutex<()>>,
}

/// What a result depends on of the data.
///
/// More than their fingerprint, which is the same for data that mean the same: the order of the classes
/// decides which column of the first weights is whose, and how the features are stored, which of them are
/// dropped.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DataKey {
    fingerprint: String,
    classes: Vec<String>,
    sparse: bool,
}

impl DataKey {
    pub(crate) fn new(dataset: &Dataset) -> Self {
        DataKey {
            fingerprint: dataset.fingerprint(),
            classes: dataset.labels().classes().to_vec(),
            sparse: matches!(dataset.features(), Features::Sparse(_)),
        }
    }
}

/// What the result of a run depends on.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Key<'a> {
    program: &'a str,
    data: &'a DataKey,
    model: Baseline,
    training: Training,
    split: String,
    seed: u64,
}

/// The content of a file. Key and run are kept as text, so that the checksum is over what was written.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    run: String,
    sha256: String,
}

impl Cache {
    /// The runs of a program in a folder, which need not exist yet. `program` names the program and its
    /// version: another one does not see them.
    pub fn new(folder: impl Into<PathBuf>, program: impl Into<String>) -> Self {
        let (folder, program) = (folder.into(), program.into());
        Cache { folder, program, problem: Mutex::new(None), lock: None }
    }

    /// Holds a lock whenever a run is written: whoever ends the program can take it first, so that no
    /// file is left half written.
    #[must_use]
    pub fn holding(self, lock: &'static Mutex<()>) -> Self {
        Cache { lock: Some(lock), ..self }
    }

    pub(crate) fn key<'a>(
        &'a self,
        data: &'a DataKey,
        model: Baseline,
        training: Training,
        split: &Split,
        seed: u64,
    ) -> Key<'a> {
        let mut hash = Sha256::new();
        for (_, part) in split.parts() {
            hash.update((part.len() as u64).to_le_bytes());
            part.iter().for_each(|&node| hash.update((node as u64).to_le_bytes()));
        }
        let split = hex(&hash.finalize());
        Key { program: &self.program, data, model, training, split, seed }
    }

    /// The run, if it was stored and its file is sound.
    pub(crate) fn get(&self, key: &Key<'_>) -> Option<Run> {
        let key = key.text();
        let bytes = read_file(&self.path(&key)).ok()?;
        let entry: Entry = serde_json::from_slice(&bytes).ok()?;
        let sound = entry.key == key && entry.sha256 == checksum(&key, &entry.run);
        sound.then(|| serde_json::from_str(&entry.run).ok()).flatten()
    }

    /// Stores a run. A failure is no reason to lose the result: it is kept for [`Cache::take_problem`].
    pub(crate) fn put(&self, key: &Key<'_>, run: &Run) {
        if let Err(error) = self.try_put(key, run) {
            *self.problem.lock().expect("no panic while it is held") = Some(error);
        }
    }

    fn try_put(&self, key: &Key<'_>, run: &Run) -> Result<()> {
        let _held = self.lock.map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner));
        let folder = &self.folder;
        fs::create_dir_all(folder)
            .map_err(|source| Error::Write { path: folder.clone(), source })?;
        let key = key.text();
        let run = serde_json::to_string(run).expect("plain numbers");
        let (path, sha256) = (self.path(&key), checksum(&key, &run));
        let bytes = serde_json::to_vec(&Entry { key, run, sha256 }).expect("plain text");
        write_atomically(&path, true, |file| file.write_all(&bytes))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{}.{EXTENSION}", hex(&Sha256::digest(key))))
    }

    /// Why a run could not be stored, if one could not; it is said once.
    pub fn take_problem(&self) -> Option<Error> {
        self.problem.lock().expect("no panic while it is held").take()
    }

    /// Deletes all runs in a folder, of whatever program; other files stay. Returns how many they were.
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
            if !path.is_file() {
                continue;
            }
            let Some(kind) = Kind::of(&path) else { continue };
            match fs::remove_file(&path) {
                Ok(()) => deleted += usize::from(kind == Kind::Run),
                // Somebody else was faster.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Ok(deleted)
    }
}

const EXTENSION: &str = "run";

/// The files that a cache makes, by their names.
#[derive(PartialEq)]
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

impl Key<'_> {
    fn text(&self) -> String {
        serde_json::to_string(self).expect("plain numbers and text")
    }
}

fn checksum(key: &str, run: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(key);
    hash.update([0]);
    hash.update(run);
    hex(&hash.finalize())
}
