//! Temporary files and folders beside what they will become.
//!
//! They are called `.NAME.XXXXXX.partial` and locked by the process that makes them, as long as it lives. So
//! whoever writes to NAME next can tell what a killed process left from what another one is working on: a lock ends with its
//! process, whatever ended that, also in another container, and no process number is mistaken for another.

use super::{parent, pending, sync_folder};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

const ENDING: &str = "partial";
const SUFFIX: &str = ".partial";
/// Letters and digits that tell temporary names apart.
const RANDOM: usize = 6;

/// A hidden file in its target's folder, deleted when dropped: to be filled and then renamed to the
/// target, so that the target is never half written.
#[derive(Debug)]
pub struct Temporary {
    file: NamedTempFile,
    entry: pending::Entry,
}

impl Temporary {
    /// The open file.
    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// The open file.
    pub fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Puts the file in its place. One that is there is replaced with `overwrite`, and an error without.
    ///
    /// # Errors
    /// The system's; nothing is left of the temporary file then.
    pub fn persist(self, path: &Path, overwrite: bool) -> io::Result<()> {
        let Temporary { file, entry } = self;
        let persisted = {
            let _held = pending::hold();
            if overwrite { file.persist(path) } else { file.persist_noclobber(path) }
        };
        // Deleted before it leaves the list.
        let persisted = persisted.map(drop).map_err(|failed| failed.error);
        drop(entry);
        sync_folder(parent(path));
        persisted
    }
}

/// A temporary file for a target, after removing those that killed processes have left for it.
///
/// # Errors
/// The system's, and a path that is no file's name.
pub fn temporary_beside(path: &Path) -> io::Result<Temporary> {
    let name = path.file_name().ok_or_else(no_name)?;
    remove_abandoned(parent(path), Some(name));
    loop {
        let make = || builder(&prefix(name), 0o666).tempfile_in(parent(path));
        let (file, entry) =
            pending::made(make, |file: &NamedTempFile| file.path()).map_err(without_path)?;
        if claim(file.as_file(), file.path()) {
            return Ok(Temporary { file, entry });
        }
    }
}

/// A temporary folder, deleted when dropped.
#[derive(Debug)]
pub(super) struct TemporaryFolder {
    path: PathBuf,
    /// Held for its lock, where folders can be opened.
    _lock: Option<File>,
    _entry: pending::Entry,
}

impl TemporaryFolder {
    /// In a folder, for a target of that name.
    pub(super) fn new(folder: &Path, name: &OsStr) -> io::Result<Self> {
        remove_abandoned(folder, Some(name));
        loop {
            let make = || builder(&prefix(name), 0o777).tempdir_in(folder).map(|made| made.keep());
            let (path, entry) =
                pending::made(make, |path: &PathBuf| path.as_path()).map_err(without_path)?;
            let lock = if cfg!(unix) { File::open(&path).ok() } else { None };
            if lock.as_ref().is_none_or(|lock| claim(lock, &path)) {
                return Ok(TemporaryFolder { path, _lock: lock, _entry: entry });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        pending::remove(&self.path);
    }
}

/// Removes from a folder what killed processes were writing there: for one target, or for any. What a
/// process still works on stays, and so does what cannot be told from that.
pub fn remove_abandoned(folder: &Path, target: Option<&OsStr>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = match target {
            Some(target) => is_made_for(&name, target, ENDING),
            None => is_made(&name, ENDING).is_some(),
        };
        let kind = entry.file_type();
        if ours && kind.is_ok_and(|kind| kind.is_file() || kind.is_dir()) {
            // Still locked while it is removed: whoever has just made it will notice that it has gone.
            if let Some(_lock) = abandoned(&entry.path()) {
                pending::remove(&entry.path());
            }
        }
    }
}

/// The lock on something that no process holds.
fn abandoned(path: &Path) -> Option<File> {
    File::open(path).ok().filter(|file| file.try_lock().is_ok())
}

/// Whether no process holds a file or folder.
pub(super) fn is_abandoned(path: &Path) -> bool {
    abandoned(path).is_some()
}

/// Whether something is called `.TARGET.XXXXXX.ENDING`, as what we make for a target.
pub(super) fn is_made_for(name: &OsStr, target: &OsStr, ending: &str) -> bool {
    is_made(name, ending).is_some_and(|found| found == target.as_encoded_bytes())
}

/// The target of something that is called `.TARGET.XXXXXX.ENDING`.
fn is_made<'n>(name: &'n OsStr, ending: &str) -> Option<&'n [u8]> {
    let name = name.as_encoded_bytes().strip_prefix(b".")?;
    let name = name.strip_suffix(ending.as_bytes())?.strip_suffix(b".")?;
    let (target, random) = name.split_at_checked(name.len().checked_sub(RANDOM)?)?;
    let target = target.strip_suffix(b".").filter(|target| !target.is_empty())?;
    random.iter().all(u8::is_ascii_alphanumeric).then_some(target)
}

/// Locks what was just made; false if somebody took it for abandoned in between.
fn claim(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => is_at(file, path),
        Err(TryLockError::WouldBlock) => false,
        // Without locks nothing is ever taken for abandoned.
        Err(TryLockError::Error(_)) => true,
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, there) = (file.metadata().map(identity), fs::symlink_metadata(path).map(identity));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// `.NAME.`
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

fn builder<'a>(prefix: &'a OsStr, mode: u32) -> Builder<'a, 'static> {
    let mut builder: Builder<'a, 'static> = Builder::new();
    builder.prefix(prefix).suffix(SUFFIX).rand_bytes(RANDOM);
    // Temporary files are for their owner only by default; a result is a plain file.
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

fn no_name() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a file name")
}

/// The system's own error: the name of a temporary file tells nobody anything.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.rsplit_once(" at path \"") {
        Some((problem, _)) => io::Error::new(error.kind(), problem),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_names_of_the_target_are_recognised() {
        let of = |name: &str, target: Option<&str>| match target {
            Some(target) => is_made_for(name.as_ref(), target.as_ref(), ENDING),
            None => is_made(name.as_ref(), ENDING).is_some(),
        };
        assert!(of(".x.npz.aB3dE9.partial", Some("x.npz")));
        assert!(of(".x.npz.aB3dE9.partial", None));
        for other in ["x.npz.aB3dE9.partial", ".x.npz.aB3dE9", ".x.npz.aB3-E9.partial", ".partial"]
        {
            assert!(!of(other, Some("x.npz")) && !of(other, None), "{other}");
        }
        assert!(!of(".ax.npz.aB3dE9.partial", Some("x.npz")));
        assert!(!of(".x.npz.extra.aB3dE9.partial", Some("x.npz")));
    }

    #[cfg(unix)]
    #[test]
    fn what_nobody_holds_is_removed_and_what_somebody_does_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.npz");
        let leftovers = [".x.npz.AAAAAA.partial", ".x.npz.BBBBBB.partial/part"];
        fs::create_dir(folder.path().join(".x.npz.BBBBBB.partial")).unwrap();
        leftovers.iter().for_each(|name| fs::write(folder.path().join(name), "left").unwrap());
        fs::write(folder.path().join(".y.npz.AAAAAA.partial"), "another's").unwrap();
        let count = || fs::read_dir(folder.path()).unwrap().count();
        let first = temporary_beside(&target).unwrap();
        assert_eq!(count(), 2, "the new one, and that of another target");
        let second = temporary_beside(&target).unwrap();
        assert_eq!(count(), 3, "the first is still at work");
        drop(first);
        second.persist(&target, false).unwrap();
        assert_eq!(count(), 2);
        remove_abandoned(folder.path(), None);
        assert_eq!(count(), 1);
    }
}
