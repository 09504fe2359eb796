//! `-` for standard input and output: what is read is kept in a file while it is needed, because readers look at names and
//! read twice; what is written is made whole first.

use crate::interrupt;
use gfgcn::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Folders that a signal has to remove.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What a path is called that stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A folder that is gone when it is dropped, or when the program is ended.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Result<Folder> {
        let folder = tempfile::Builder::new().prefix("gfgcn-").tempdir();
        let folder =
            folder.map_err(|source| Error::Write { path: std::env::temp_dir(), source })?;
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder.path().to_owned());
        Ok(Folder(folder))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// An error in a file of this folder, which a person knows as standard input.
    pub(crate) fn blame_input(&self, error: Error) -> Error {
        match error {
            Error::InFile { path, place, source } if path.starts_with(self.0.path()) => {
                Error::InFile { path: "standard input".into(), place, source }
            }
            other => other,
        }
    }
}

/// Removes what is left when the program is ended.
pub(crate) fn discard() {
    if let Ok(folders) = FOLDERS.try_lock() {
        folders.iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
    }
}

/// Keeps standard input in a file whose name says what it is by its first bytes.
pub(crate) fn keep_input() -> Result<(Folder, PathBuf)> {
    let folder = Folder::new()?;
    let mut input = BufReader::new(io::stdin().lock());
    let mut first = Vec::new();
    let failed = |error| Error::Read(error).in_file("standard input");
    input.by_ref().take(512).read_to_end(&mut first).map_err(failed)?;
    let path = folder.path(&format!("standard-input.{}", ending(&first)));
    let unwritten = |source| Error::Write { path: path.clone(), source };
    let mut file = File::create(&path).map_err(unwritten)?;
    file.write_all(&first).map_err(unwritten)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        interrupt::context().check()?;
        let read = input.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            return Ok((folder, path));
        }
        file.write_all(&buffer[..read]).map_err(unwritten)?;
    }
}

/// What bytes are that begin so.
fn ending(first: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(first);
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    match first {
        _ if first.starts_with(b"PK") => "npz",
        _ if first.starts_with(b"PAR1") => "parquet",
        _ if first.starts_with(b"ARROW1") || first.starts_with(&[0xff; 4]) => "arrow",
        _ if first.starts_with(b"\x93NUMPY") => "npy",
        _ if first.starts_with(b"MATLAB 5.0") => "mat",
        _ if first.starts_with(b"\x1f\x8b") => "txt.gz",
        _ if begin.starts_with("%%MatrixMarket") => "mtx",
        _ if begin.starts_with('{') => "json",
        _ if begin.starts_with('<') && text.contains("<gexf") => "gexf",
        _ if begin.starts_with('<') => "graphml",
        // Text tables: a comma on the first line that is no comment makes it CSV.
        _ => {
            let line = begin.lines().find(|line| !line.starts_with(['#', '%']));
            if line.is_some_and(|line| line.contains(',')) { "csv" } else { "txt" }
        }
    }
}

/// Copies a finished file to standard output.
pub(crate) fn print_file(path: &Path) -> anyhow::Result<()> {
    let mut file = File::open(path).map_err(|e| Error::Read(e).in_file(path))?;
    io::copy(&mut file, &mut io::stdout().lock())?;
    io::stdout().flush()?;
    Ok(())
}
