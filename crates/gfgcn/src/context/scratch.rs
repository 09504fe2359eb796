//! A folder for what long work has finished, so that memory need not hold it and another run need not repeat it.

use crate::buffer::{Buffer, Plain, little_endian};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are gathered before they are written: enough for the system, and little beside what is held.
pub(crate) const BUFFER: usize = 1 << 18;

/// A work folder: matrices are written there once and mapped from then on. Their names say what they depend on, so whatever is
/// found there under its name is what would be computed.
///
/// The folder is made when the first matrix is written. It stays until [`Scratch::remove`], also when the work ends in between:
/// the next run takes up from there.
#[derive(Clone, Debug)]
pub struct Scratch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    purpose: String,
}

impl Scratch {
    /// A work folder at a path. Its purpose is what all work there depends on: the fingerprint of the data, as a rule.
    pub fn at(path: &Path, purpose: impl Into<String>) -> Self {
        Scratch(Arc::new(Inner { path: path.to_owned(), purpose: purpose.into() }))
    }

    /// What all work there depends on.
    pub(crate) fn purpose(&self) -> &str {
        &self.0.purpose
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// A matrix that was written before, if it is there.
    pub(crate) fn recall<T>(
        &self,
        name: &str,
        rows: usize,
        cols: usize,
    ) -> Result<Option<Matrix<T>>>
    where
        T: Plain + Default,
    {
        let path = self.path().join(name);
        let inside = |error: Error| error.in_file(&path);
        match File::open(&path) {
            Ok(file) => {
                let bytes = file.metadata().map_err(|e| inside(Error::Read(e)))?.len();
                if bytes != (rows * cols * size_of::<T>()) as u64 {
                    return Ok(None);
                }
                let data = Buffer::map(&file, 0, rows * cols).map_err(inside)?;
                Matrix::from_buffer(rows, cols, data).map(Some)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(inside(Error::Read(error))),
        }
    }

    /// Writes a matrix, rows after rows as `fill` hands them over, and maps it. Under its name there is the whole of it or
    /// nothing, whatever interrupts.
    pub(crate) fn keep<T: Plain + Default>(
        &self,
        name: &str,
        rows: usize,
        cols: usize,
        fill: impl FnOnce(&mut dyn FnMut(&[T]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<Matrix<T>> {
        self.write(name, |file| fill(&mut |values| file.write_all(&little_endian(values))))?;
        let lost = || Error::Data("is not there as it was written".into());
        self.recall(name, rows, cols)?.ok_or_else(|| lost().in_file(self.path().join(name)))
    }

    /// Takes a file that another machine has computed.
    ///
    /// # Errors
    /// A name that leads out of the folder, or what cannot be written.
    pub fn accept(&self, name: &str, bytes: &[u8]) -> Result<()> {
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(Error::Data(format!("{name:?} is no name of a work folder's file")));
        }
        self.write(name, |file| file.write_all(bytes))
    }

    /// The bytes of a file that was written before, if it is there.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path().join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::Read(error).in_file(path)),
        }
    }

    /// The names of the files that are there and begin in a way.
    pub(crate) fn names(&self, begin: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.starts_with(begin)).collect()
    }

    /// Whether a file is there.
    pub fn has(&self, name: &str) -> bool {
        self.path().join(name).is_file()
    }

    /// Writes a file: under its name there is the whole of it or nothing.
    fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<()> {
        let path = self.path().join(name);
        let beside = self.path().join(format!("{name}.{}.partial", std::process::id()));
        let write = || {
            fs::create_dir_all(self.path())?;
            let mut file = BufWriter::with_capacity(BUFFER, File::create(&beside)?);
            fill(&mut file)?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
            fs::rename(&beside, &path)
        };
        write().map_err(|source| {
            let _ = fs::remove_file(&beside);
            Error::Write { path, source }
        })
    }

    /// Removes what was kept, and the folder unless there is something else in it. What is mapped can still be read.
    pub fn remove(&self) {
        /// Digits of a key.
        const KEY: usize = 24;
        let is_key =
            |part: &str| part.len() >= KEY && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        for name in self.names("").iter().filter(|name| name.split(['-', '.']).any(is_key)) {
            let _ = fs::remove_file(self.path().join(name));
        }
        let _ = fs::remove_dir(self.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_recalled_by_name_and_shape() {
        let outer = tempfile::tempdir().unwrap();
        let scratch = Scratch::at(&outer.path().join("work"), "data");
        assert!(scratch.recall::<f32>("a", 2, 2).unwrap().is_none());
        let kept = scratch.keep("a", 2, 2, |put| {
            put(&[1.0f32, 2.0])?;
            put(&[3.0, 4.0])
        });
        assert_eq!(kept.unwrap(), Matrix::from_rows(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap());
        assert!(scratch.recall::<f32>("a", 2, 2).unwrap().is_some());
        assert!(scratch.recall::<f32>("a", 2, 3).unwrap().is_none(), "of another shape");
        // What is cut off is as good as nothing, and nothing is left of what fails.
        fs::write(outer.path().join("work/a"), [0; 15]).unwrap();
        assert!(scratch.recall::<f32>("a", 2, 2).unwrap().is_none());
        let failed = scratch.keep::<f64>("b", 1, 1, |_| Err(io::ErrorKind::StorageFull.into()));
        assert!(failed.unwrap_err().is_machine_failure());
        assert_eq!(fs::read_dir(outer.path().join("work")).unwrap().count(), 1);
        // What another machine has computed is taken by name, and only into the folder.
        scratch.accept("c-1", &[0, 0, 128, 63]).unwrap();
        assert_eq!(scratch.recall::<f32>("c-1", 1, 1).unwrap().unwrap()[(0, 0)], 1.0);
        for name in ["", "../c", "a/b", "c.partial"] {
            assert!(scratch.accept(name, &[]).is_err(), "{name}");
        }
        // Nothing is removed but what was kept.
        let own = format!("{}-0-000000-000004", "0a".repeat(12));
        scratch.accept(&own, &[1]).unwrap();
        scratch.accept(&format!("scores-{}", "0a".repeat(24)), &[1]).unwrap();
        fs::write(outer.path().join("work").join(format!("{own}.7.partial")), "").unwrap();
        scratch.remove();
        let mut left = scratch.names("");
        left.sort();
        assert_eq!(left, ["a", "c-1"]);
        left.iter().for_each(|name| fs::remove_file(outer.path().join("work").join(name)).unwrap());
        scratch.remove();
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 0);
    }
}
