//! Opening and writing files with care: no hanging on a FIFO, no half-written output, no mix of old and new.
//!
//! A file is written beside its place, synced and renamed ([`write_atomically`]); so is a folder of files that belong
//! together ([`NewFolder`]). What was on its way when the program was asked to end is removed then
//! ([`discard_pending`]); what a killed program left is removed by the next one that writes to the same place.

mod folder;
mod manifest;
mod pending;
mod temporary;

pub use folder::{NewFolder, put_back};
pub use manifest::{MANIFEST, check_parts, listed_parts};
pub use pending::{Ending, discard_pending, try_discard_pending};
pub use temporary::{Temporary, remove_abandoned, temporary_beside};

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// Opens a regular file; a directory, FIFO or device is refused instead of hanging on it.
pub fn open(path: &Path) -> Result<File> {
    let metadata = fs::metadata(path).map_err(|e| Error::Read(e).in_file(path))?;
    if metadata.is_dir() {
        return Err(Error::Data("is a folder, but a file is needed here".into()).in_file(path));
    }
    if !metadata.is_file() {
        return Err(Error::Data(
            "is not a regular file (a pipe or device?); save it to a file first".into(),
        )
        .in_file(path));
    }
    File::open(path).map_err(|e| Error::Read(e).in_file(path))
}

/// The bytes of a regular file.
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|e| Error::Read(e).in_file(path))?;
    Ok(bytes)
}

/// Refuses a file that is already there, before any work is done for it.
pub fn check_absent(path: &Path, overwrite: bool) -> Result<()> {
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(Error::Data(
            "exists already; choose another name or ask for it to be overwritten".into(),
        )
        .in_file(path));
    }
    Ok(())
}

/// Writes a file so that at every moment either the old or the whole new content is there: to a
/// temporary file beside it, synced, then renamed. An existing file is only replaced with
/// `overwrite`.
pub fn write_atomically(
    path: &Path,
    overwrite: bool,
    content: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<()> {
    check_absent(path, overwrite)?;
    let temporary = temporary_beside(path).map_err(failed(path))?;
    let mut writer = BufWriter::new(temporary.as_file());
    content(&mut writer).and_then(|()| writer.flush()).map_err(failed(path))?;
    drop(writer);
    temporary.as_file().sync_all().map_err(failed(path))?;
    temporary.persist(path, overwrite).map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    move |source| Error::Write { path: path.to_owned(), source }
}

/// Writes several files that belong together, each as [`write_atomically`] does: all of them are complete before the first is
/// renamed to its place, and they are renamed one after the other, in this order.
pub fn write_together(files: &[(&Path, &[u8])], overwrite: bool) -> Result<()> {
    let mut complete = Vec::with_capacity(files.len());
    for &(path, content) in files {
        check_absent(path, overwrite)?;
        let temporary = temporary_beside(path).map_err(failed(path))?;
        let written = temporary.as_file().write_all(content);
        written.and_then(|()| temporary.as_file().sync_all()).map_err(failed(path))?;
        complete.push((path, temporary));
    }
    complete
        .into_iter()
        .try_for_each(|(path, temporary)| temporary.persist(path, overwrite).map_err(failed(path)))
}

/// The folder that a path is in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Has the names in a folder survive a power cut, where the system can do that.
fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}
