//! Opening and writing files with care: no hanging on a FIFO, no half-written output.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;

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

/// A hidden file in the target's folder, deleted when dropped: to be filled and then renamed to the
/// target, so that the target is never half written.
pub fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "not a file name");
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().ok_or_else(no_name)?);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".partial");
    // Temporary files are for their owner only by default; a result is a plain file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(without_path)
}

/// The system's own error: the name of a temporary file tells nobody anything.
fn without_path(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|inner| inner.source());
    let system = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
    system.and_then(io::Error::raw_os_error).map_or(error, io::Error::from_raw_os_error)
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
    let failed = |source: io::Error| Error::Write { path: path.to_owned(), source };
    let temporary = temporary_beside(path).map_err(failed)?;
    let mut writer = BufWriter::new(temporary.as_file());
    content(&mut writer).and_then(|()| writer.flush()).map_err(failed)?;
    drop(writer);
    temporary.as_file().sync_all().map_err(failed)?;
    if overwrite {
        temporary.persist(path).map_err(|e| failed(e.error))?;
    } else {
        temporary.persist_noclobber(path).map_err(|e| failed(e.error))?;
    }
    Ok(())
}
