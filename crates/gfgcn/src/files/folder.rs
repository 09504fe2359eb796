//! A folder of files that belong together, replaced as a whole.
//!
//! The new folder is filled beside the old one, and the two change places in one step. Where the system cannot do that,
//! the old one is moved aside first; a process that is killed between the two steps leaves it there, and
//! the next one that writes to the same place puts it back.
//!
//! A folder that cannot be moved (the current one, a mount, one with folders of others in it) stays, and its
//! files are replaced one by one. The manifest goes first: should the process be killed in between, what is there does
//! not match it and is refused when read, so that it is never taken for a dataset.

use super::manifest::{self, MANIFEST, listed_parts};
use super::temporary::{TemporaryFolder, is_abandoned, is_made_for};
use super::{parent, pending, sync_folder};
use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Files of others that are taken over into a new folder; where there are more, the old folder stays.
const MOST_OF_OTHERS: usize = 256;

/// A folder that is being written.
///
/// Files in it that gfgcn has written before, by its manifest, and those of the same names are replaced; all others
/// stay. Dropped without [`NewFolder::finish`], it leaves everything as it was.
///
/// ```
/// # let outer = tempfile::tempdir()?;
/// # let path = outer.path().join("tables");
/// use gfgcn::files::{NewFolder, check_parts, write_atomically};
/// let mut folder = NewFolder::new(&path)?;
/// folder.put("edges.csv", |path| write_atomically(path, false, |file| file.write_all(b"0,1\n")))?;
/// assert!(!path.exists());
/// folder.finish()?;
/// assert!(path.join("edges.csv").exists() && check_parts(&path, &[]).is_ok());
/// # use std::io::Write;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NewFolder {
    /// As its user calls it.
    target: PathBuf,
    /// Where it is, links followed.
    place: PathBuf,
    staging: TemporaryFolder,
    /// Whether the staging folder is in the target and not beside it.
    inside: bool,
    parts: Vec<String>,
}

impl NewFolder {
    /// Prepares to write a folder. One that is there already stays as it is until [`NewFolder::finish`].
    ///
    /// # Errors
    /// If neither the folder nor the one that it is in can be written to.
    pub fn new(target: &Path) -> Result<Self> {
        NewFolder::prepare(target)
            .map_err(|source| Error::Write { path: target.to_owned(), source })
    }

    fn prepare(target: &Path) -> io::Result<Self> {
        let place = match target.canonicalize() {
            Ok(place) if place.is_dir() => place,
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(_) => {
                let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
                fs::create_dir_all(parent(target))?;
                parent(target).canonicalize()?.join(name)
            }
        };
        put_back(&place);
        if place.is_dir() {
            // A folder that must not be written to is not to be replaced either.
            drop(TemporaryFolder::new(&place, OsStr::new("gfgcn"))?);
        }
        let beside = match place.file_name() {
            Some(name) if may_be_moved(&place) => TemporaryFolder::new(parent(&place), name),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        };
        let (staging, inside) = match beside {
            Ok(staging) => (staging, false),
            Err(error) if !place.is_dir() => return Err(error),
            Err(_) => (TemporaryFolder::new(&place, OsStr::new("gfgcn"))?, true),
        };
        let target = target.to_owned();
        Ok(NewFolder { target, place, staging, inside, parts: Vec::new() })
    }

    /// Adds a file: `write` gets the path to write to. Its name may begin with that of a folder in this one, as
    /// in `tables/a.csv`.
    ///
    /// # Errors
    /// What `write` returns, about the file in its final place.
    pub fn put(&mut self, name: &str, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let path = self.add(name)?;
        write(&path).map_err(|error| self.in_place(error))
    }

    /// The path to write a file to that is going to be a part, for files that are written side by side; whoever writes it
    /// passes errors through [`NewFolder::in_place`].
    ///
    /// # Errors
    /// If the folder that the file is in cannot be made.
    pub fn add(&mut self, name: &str) -> Result<PathBuf> {
        let path = self.staging.path().join(name);
        let made = {
            let _held = pending::hold();
            fs::create_dir_all(parent(&path))
        };
        made.map_err(|source| self.in_place(Error::Write { path: path.clone(), source }))?;
        self.parts.push(name.to_owned());
        Ok(path)
    }

    /// Takes back a file, or a folder of files, that turned out not to be needed.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let path = self.staging.path().join(name);
        self.parts.retain(|part| !Path::new(part).starts_with(name));
        let removed = match path.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        removed.map_err(|source| self.in_place(Error::Write { path, source }))
    }

    /// Where files are until the folder is finished.
    pub fn staging(&self) -> &Path {
        self.staging.path()
    }

    /// Puts the folder in its place.
    ///
    /// # Errors
    /// The system's; what was there before is there still.
    pub fn finish(self) -> Result<()> {
        self.finish_replacing(&listed_parts)
    }

    /// As [`NewFolder::finish`]; `listed` says which files of a folder that is there are to go.
    ///
    /// # Errors
    /// As [`NewFolder::finish`].
    pub fn finish_replacing(mut self, listed: &dyn Fn(&Path) -> Vec<String>) -> Result<()> {
        manifest::write(self.staging.path(), &self.parts).map_err(|error| self.in_place(error))?;
        self.parts.push(MANIFEST.into());
        self.finish_with(listed)
    }

    /// As [`NewFolder::finish_replacing`], of a folder that says by itself which files belong together, in the file that was
    /// added last: that is in its place before any other where files are replaced one by one.
    ///
    /// # Errors
    /// As [`NewFolder::finish`].
    pub fn finish_with(self, listed: &dyn Fn(&Path) -> Vec<String>) -> Result<()> {
        self.check_way()?;
        let failed = |source| Error::Write { path: self.target.clone(), source };
        self.commit(listed).map_err(failed)?;
        sync_folder(&self.place);
        sync_folder(parent(&self.place));
        Ok(())
    }

    /// Refuses a file of somebody else's where a folder has to be, and a folder where a file has to be.
    fn check_way(&self) -> Result<()> {
        let blocked = |part: &Path, kind: io::ErrorKind| {
            Err(Error::Write { path: self.target.join(part), source: kind.into() })
        };
        for part in self.parts.iter().map(Path::new) {
            if self.place.join(part).is_dir() {
                return blocked(part, io::ErrorKind::IsADirectory);
            }
            let folders = part.ancestors().skip(1);
            let is_file = |folder: &&Path| self.place.join(folder).symlink_metadata().is_ok();
            let no_folder = |folder: &&Path| !self.place.join(folder).is_dir();
            if let Some(folder) = folders.filter(is_file).find(no_folder) {
                return blocked(folder, io::ErrorKind::NotADirectory);
            }
        }
        Ok(())
    }

    fn commit(&self, listed: &dyn Fn(&Path) -> Vec<String>) -> io::Result<()> {
        let staging = self.staging.path();
        let folders = self.parts.iter().map(|part| staging.join(parent(Path::new(part))));
        folders.for_each(|folder| sync_folder(&folder));
        let _held = pending::hold();
        if !self.place.is_dir() {
            return fs::rename(staging, &self.place);
        }
        let old: Vec<String> = listed(&self.place);
        if self.inside || !self.take_over(&old)? {
            return self.replace_files(&old);
        }
        fs::set_permissions(staging, self.place.metadata()?.permissions())?;
        sync_folder(staging);
        swap(staging, &self.place)
    }

    /// Makes the files of others appear in the new folder too; false if they are too many or folders.
    fn take_over(&self, old: &[String]) -> io::Result<bool> {
        let mut others = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.place.join(&folder))? {
                let entry = entry?;
                let path = folder.join(entry.file_name());
                let ours = |parts: &[String]| parts.iter().any(|part| Path::new(part) == path);
                if entry.file_type()?.is_dir() {
                    let all = || self.parts.iter().chain(old);
                    if !all().any(|part| Path::new(part).starts_with(&path)) {
                        return Ok(false);
                    }
                    folders.push(path);
                } else if !ours(&self.parts) && !ours(old) && path != Path::new(MANIFEST) {
                    others.push(path);
                }
            }
        }
        if others.len() > MOST_OF_OTHERS {
            return Ok(false);
        }
        for path in others {
            let new = self.staging.path().join(&path);
            fs::create_dir_all(parent(&new))?;
            // A second name for the same file: it is in the folder at every moment. Some file systems have none.
            if fs::hard_link(self.place.join(&path), new).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Replaces the files of a folder that stays. From the first step on its manifest is the new one.
    fn replace_files(&self, old: &[String]) -> io::Result<()> {
        let put = |part: &String| {
            let path = self.place.join(part);
            fs::create_dir_all(parent(&path))?;
            fs::rename(self.staging.path().join(part), path)
        };
        self.parts.iter().rev().try_for_each(put)?;
        for part in old.iter().filter(|part| !self.parts.contains(part)) {
            match fs::remove_file(self.place.join(part)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// An error about the file in the staging folder as one about the file it was to become.
    pub fn in_place(&self, error: Error) -> Error {
        let renamed = |path: PathBuf| match path.strip_prefix(self.staging.path()) {
            Ok(inner) if inner.as_os_str().is_empty() => self.target.clone(),
            Ok(inner) => self.target.join(inner),
            Err(_) => path,
        };
        match error {
            Error::Write { path, source } => Error::Write { path: renamed(path), source },
            Error::InFile { path, place, source } => {
                Error::InFile { path: renamed(path), place, source }
            }
            other => other,
        }
    }
}

/// Whether a folder can change places with another one. Whoever works in a folder wants to stay in it, and a mount
/// cannot be moved.
fn may_be_moved(place: &Path) -> bool {
    if std::env::current_dir().is_ok_and(|current| current.starts_with(place)) {
        return false;
    }
    !place.is_dir() || is_on_the_same_device(place)
}

#[cfg(unix)]
fn is_on_the_same_device(place: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| path.metadata().map(|metadata| metadata.dev()).ok();
    device(place) == device(parent(place))
}

#[cfg(not(unix))]
fn is_on_the_same_device(_: &Path) -> bool {
    true
}

/// Has two folders change places; the new one is where the old one was, and the old one where the new one was or gone.
fn swap(new: &Path, old: &Path) -> io::Result<()> {
    match exchange(new, old) {
        Err(error) if is_not_offered(&error) => swap_in_two_steps(new, old),
        done => done,
    }
}

fn swap_in_two_steps(new: &Path, old: &Path) -> io::Result<()> {
    let aside = new.with_extension(ASIDE);
    // Locked, so that nobody takes it for abandoned.
    let _lock = File::open(old).ok().filter(|folder| folder.try_lock().is_ok());
    fs::rename(old, &aside)?;
    // From here to the next line nothing is at its place; see `put_back`.
    if let Err(error) = fs::rename(new, old) {
        fs::rename(&aside, old)?;
        return Err(error);
    }
    pending::remove(&aside);
    Ok(())
}

#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether the system or the file system cannot exchange.
fn is_not_offered(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

/// The ending of an old folder's name while a new one takes its place.
const ASIDE: &str = "before";

/// Undoes half a swap of a killed process, or finishes a whole one: a folder that is not at its place may have been moved
/// aside. (Only where folders cannot be exchanged in one step.)
pub fn put_back(place: &Path) {
    let Some(name) = place.file_name() else { return };
    for entry in fs::read_dir(parent(place)).into_iter().flatten().flatten() {
        if !is_made_for(&entry.file_name(), name, ASIDE)
            || !entry.file_type().is_ok_and(|kind| kind.is_dir())
            || !is_abandoned(&entry.path())
        {
            continue;
        }
        if place.exists() {
            pending::remove(&entry.path());
        } else {
            let _ = fs::rename(entry.path(), place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{check_parts, write_atomically};
    use std::io::Write;

    fn write(folder: &Path, parts: &[(&str, &str)]) -> Result<()> {
        let mut new = NewFolder::new(folder)?;
        for (name, content) in parts {
            new.put(name, |path| {
                write_atomically(path, false, |file| file.write_all(content.as_bytes()))
            })?;
        }
        new.finish()
    }

    /// Every file below a folder, with its content.
    fn content(folder: &Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for path in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name().unwrap() != MANIFEST {
                    let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                    found.push((name, fs::read_to_string(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    fn owned(parts: &[(&str, &str)]) -> Vec<(String, String)> {
        parts.iter().map(|(name, content)| (name.to_string(), content.to_string())).collect()
    }

    #[test]
    fn a_folder_is_replaced_as_a_whole_and_what_others_put_there_stays() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("deep/er/folder");
        write(&folder, &[("a", "1"), ("inner/b", "2")]).unwrap();
        assert_eq!(content(&folder), owned(&[("a", "1"), ("inner/b", "2")]));
        fs::write(folder.join("notes"), "mine").unwrap();
        fs::write(folder.join("inner/notes"), "mine too").unwrap();
        write(&folder, &[("a", "3"), ("c", "4")]).unwrap();
        let expected = [("a", "3"), ("c", "4"), ("inner/notes", "mine too"), ("notes", "mine")];
        assert_eq!(content(&folder), owned(&expected));
        // A folder of somebody else's is not moved, nor is anything in it.
        fs::create_dir(folder.join("theirs")).unwrap();
        fs::write(folder.join("theirs/x"), "x").unwrap();
        write(&folder, &[("a", "5")]).unwrap();
        let expected =
            [("a", "5"), ("inner/notes", "mine too"), ("notes", "mine"), ("theirs/x", "x")];
        assert_eq!(content(&folder), owned(&expected));
        check_parts(&folder, &[&folder.join("a")]).unwrap();
        assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1, "no leftovers");
    }

    #[test]
    fn a_folder_that_was_not_finished_never_was() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("folder");
        let broken = |folder: &Path| {
            let mut new = NewFolder::new(folder).unwrap();
            new.put("a", |path| write_atomically(path, false, |file| file.write_all(b"new")))
                .unwrap();
            let failed = |path: &Path| Err(Error::Data("no".into()).in_file(path));
            new.put("b", failed).unwrap_err().to_string()
        };
        let message = broken(&folder);
        assert_eq!(message, format!("{}: no", folder.join("b").display()));
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 0);
        write(&folder, &[("a", "old")]).unwrap();
        broken(&folder);
        assert_eq!(content(&folder), owned(&[("a", "old")]));
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_in_the_way_is_named_before_anything_changes() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("folder");
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::write(folder.join("inner"), "mine").unwrap();
        for (part, way) in [("a", "a"), ("inner/b", "inner")] {
            let message = write(&folder, &[("c", "new"), (part, "new")]).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{}: ", folder.join(way).display())), "{message}");
            assert_eq!(content(&folder), owned(&[("inner", "mine")]));
            assert!(!folder.join(MANIFEST).exists());
        }
    }

    #[cfg(unix)]
    #[test]
    fn half_a_swap_is_undone_and_a_whole_one_finished() {
        let outer = tempfile::tempdir().unwrap();
        let [folder, staged] =
            ["folder", ".folder.AAAAAA.partial"].map(|name| outer.path().join(name));
        let aside = outer.path().join(".folder.AAAAAA.before");
        write(&folder, &[("a", "old")]).unwrap();
        write(&staged, &[("a", "new")]).unwrap();
        swap_in_two_steps(&staged, &folder).unwrap();
        assert_eq!(content(&folder), owned(&[("a", "new")]));
        assert!(!aside.exists() && !staged.exists());
        // Killed after the first step.
        fs::rename(&folder, &aside).unwrap();
        put_back(&folder);
        assert_eq!(content(&folder), owned(&[("a", "new")]));
        // Killed after the second.
        fs::create_dir(&aside).unwrap();
        write(&folder, &[("a", "newer")]).unwrap();
        assert_eq!(content(outer.path()), owned(&[("folder/a", "newer")]));
    }

    #[test]
    fn files_that_do_not_belong_together_are_told() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("folder");
        write(&folder, &[("a", "1"), ("b", "2")]).unwrap();
        let refused = |part: &str, what: &str| {
            let message = check_parts(&folder, &[&folder.join("c")]).unwrap_err().to_string();
            assert!(
                message.contains(&format!("{}: {what}", folder.join(part).display())),
                "{message}"
            );
            assert!(message.contains("delete gfgcn-manifest.json"), "{message}");
        };
        refused("c", "was not written together");
        fs::write(folder.join("b"), "3").unwrap();
        refused("b", "is not the file that belongs");
        fs::remove_file(folder.join("b")).unwrap();
        refused("b", "is missing");
        let listed = r#"{"program":"x","files":{"../a":{"bytes":1,"sha256":""}}}"#;
        fs::write(folder.join(MANIFEST), listed).unwrap();
        assert!(check_parts(&folder, &[]).unwrap_err().to_string().contains("not in the folder"));
        assert!(listed_parts(&folder).is_empty());
        fs::remove_file(folder.join(MANIFEST)).unwrap();
        check_parts(&folder, &[&folder.join("c")]).unwrap();
    }
}
