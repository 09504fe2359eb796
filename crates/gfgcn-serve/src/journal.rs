//! Changes on disk, before anyone is told that they were made.
//!
//! One line per change: sixteen hexadecimal digits of the SHA-256 of the rest, a space, and JSON. The first line says which model and data
//! the changes are of. Lines are only ever appended, and synced before the change is acknowledged. A last line that is torn was never
//! acknowledged and is dropped; any other damage is refused.

use crate::change::Change;
use gfgcn::{Error, Result, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const FORMAT: u32 = 1;
const DIGITS: usize = 16;

/// What the changes are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// SHA-256 of the model's bytes; none where it is trained anew at every start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The fingerprint of the data.
    pub(crate) data: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    journal: u32,
    #[serde(flatten)]
    origin: Origin,
}

/// A change, and the version it led to. Changes that were made in one go have the same version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) version: u64,
    /// Seconds since 1970.
    pub(crate) time: u64,
    #[serde(flatten)]
    pub(crate) change: Change,
}

/// An open journal. Nobody else can have it open.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    length: u64,
    /// After a failure of which it is not known what is on disk.
    broken: bool,
}

impl Journal {
    /// Opens a journal, or begins it; what is written in it, and how many bytes of a torn line were dropped.
    ///
    /// # Errors
    /// A journal that is in use, of another model or other data, or damaged.
    pub(crate) fn open(path: &Path, origin: &Origin) -> Result<(Self, Vec<Entry>, usize)> {
        let failed = |source: io::Error| Error::Write { path: path.to_owned(), source };
        let refused = |why: String| Error::Data(why).in_file(path);
        if path.exists() && !path.is_file() {
            return Err(refused("is not a regular file; name another journal".into()));
        }
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        if file.try_lock().is_err() {
            return Err(refused(
                "is in use by another server; stop that, or name another journal".into(),
            ));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| Error::Read(e).in_file(path))?;
        let header = line(&Header { journal: FORMAT, origin: origin.clone() });
        let begins = bytes.split_inclusive(|&byte| byte == b'\n').next();
        let is_journal =
            begins.is_none_or(|first| content(first).is_some() || header.starts_with(first));
        if !is_journal {
            return Err(refused("is no journal; name another file".into()));
        }
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let mut lines: Vec<&[u8]> = bytes[..whole].split_inclusive(|&byte| byte == b'\n').collect();
        let mut kept = whole;
        // A line may have reached the disk in part, its end before its beginning.
        if let Some(last) = lines.last().filter(|line| content(line).is_none()) {
            kept -= last.len();
            lines.pop();
        }
        let mut journal =
            Journal { file, path: path.to_owned(), length: kept as u64, broken: false };
        let torn = bytes.len() - kept;
        if torn > 0 {
            journal
                .file
                .set_len(journal.length)
                .and_then(|()| journal.file.sync_all())
                .map_err(failed)?;
        }
        let damaged = |k: usize| {
            refused(format!("line {} is damaged; restore the journal from a copy", k + 1))
        };
        let mut entries = Vec::new();
        for (k, line) in lines.iter().enumerate() {
            let json = content(line).ok_or_else(|| damaged(k))?;
            if k == 0 {
                let header: Header = serde_json::from_slice(json).map_err(|_| damaged(k))?;
                if header.journal != FORMAT {
                    return Err(refused(format!(
                        "is a journal of format {}, but {FORMAT} is known",
                        header.journal
                    )));
                }
                if header.origin != *origin {
                    return Err(refused(
                        "has the changes of another model or of other data; name another journal, or delete it if they are not needed"
                            .into(),
                    ));
                }
                continue;
            }
            entries.push(serde_json::from_slice(json).map_err(|_| damaged(k))?);
        }
        if lines.is_empty() {
            journal.write(&header).map_err(failed)?;
            // So that the name survives a power cut as well.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let _ =
                File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        }
        Ok((journal, entries, torn))
    }

    /// Appends changes; when this returns, they are on disk.
    ///
    /// # Errors
    /// A disk that is full or fails. The journal is then as it was, or takes nothing any more.
    pub(crate) fn append(&mut self, entries: &[Entry]) -> Result<()> {
        let lines: Vec<u8> = entries.iter().flat_map(line).collect();
        let failed = |source: io::Error| Error::Write { path: self.path.clone(), source };
        if self.broken {
            return Err(failed(io::Error::other("an earlier write failed")));
        }
        self.write(&lines).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.length += bytes.len() as u64,
            Err(_) => {
                let back = self.file.set_len(self.length).and_then(|()| self.file.sync_data());
                let back = back.and_then(|()| self.file.seek(SeekFrom::End(0)));
                self.broken = back.is_err();
            }
        }
        written
    }
}

/// A line with its hash.
fn line(value: &impl Serialize) -> Vec<u8> {
    let json = serde_json::to_vec(value).expect("plain data");
    let mut line = digits(&json).into_bytes();
    line.push(b' ');
    line.extend(json);
    line.push(b'\n');
    line
}

/// What a line says, if its hash is right.
fn content(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\n")?;
    let (hash, json) = line.split_at_checked(DIGITS + 1)?;
    (hash == [digits(json).as_bytes(), b" "].concat()).then_some(json)
}

fn digits(json: &[u8]) -> String {
    hex(&Sha256::digest(json))[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Label, Update};
    use std::fs;

    fn origin() -> Origin {
        Origin { model: Some("abc".into()), data: "def".into() }
    }

    fn entry(version: u64) -> Entry {
        let labels = [(format!("node {version}"), Label::Class("a\nb".into()))].into();
        let change = Change::Update(Update { labels, ..Update::default() });
        Entry { version, time: 7, change }
    }

    #[test]
    fn what_was_written_is_read_whatever_is_torn_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let entries: Vec<Entry> = (2..6).map(entry).collect();
        let (mut journal, none, _) = Journal::open(&path, &origin()).unwrap();
        assert!(none.is_empty());
        journal.append(&entries[..1]).unwrap();
        journal.append(&entries[1..]).unwrap();
        assert!(Journal::open(&path, &origin()).is_err(), "it is in use");
        drop(journal);
        let bytes = fs::read(&path).unwrap();
        let ends: Vec<usize> =
            (0..bytes.len()).filter(|&k| bytes[k] == b'\n').map(|k| k + 1).collect();
        // Cut off at every byte: exactly the lines that are whole are there, and the journal goes on.
        for length in 0..=bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let (mut journal, found, _) = Journal::open(&path, &origin()).unwrap();
            let whole = ends.iter().filter(|&&end| end <= length).count().saturating_sub(1);
            assert_eq!(found, entries[..whole], "cut at {length}");
            journal.append(&[entry(9)]).unwrap();
            drop(journal);
            let (_, again, torn) = Journal::open(&path, &origin()).unwrap();
            assert_eq!((again.len(), torn), (whole + 1, 0));
        }
    }

    #[test]
    fn damage_and_strangers_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (mut journal, ..) = Journal::open(&path, &origin()).unwrap();
        journal.append(&[entry(2), entry(3)]).unwrap();
        drop(journal);
        let bytes = fs::read(&path).unwrap();
        let last = bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap();
        for k in 0..last {
            let mut damaged = bytes.clone();
            damaged[k] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert!(Journal::open(&path, &origin()).is_err(), "byte {k}");
        }
        fs::write(&path, &bytes).unwrap();
        let other = Origin { data: "other".into(), ..origin() };
        let error = Journal::open(&path, &other).unwrap_err().to_string();
        assert!(error.contains("another model"), "{error}");
        assert!(Journal::open(folder.path(), &origin()).is_err(), "a folder");
        for other in ["something else", "two\nlines", "\n"] {
            fs::write(&path, other).unwrap();
            assert!(Journal::open(&path, &origin()).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), other, "it is as it was");
        }
    }
}
