//! Opening and writing files with care: no hanging on a FIFO, no half-written output.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Opens a regular file; a directory, FIFO or device is refused instead of hanging on it.
pub(crate) fn open(path: &Path) -> Result<File> {
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

/// Writes a file so that at every moment either the old or the whole new content is there: to a
/// temporary file beside it, synced, then renamed. An existing file is only replaced with
/// `overwrite`.
pub fn write_atomically(
    path: &Path,
    overwrite: bool,
    content: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<()> {
    let failed = |source: io::Error| Error::Write { path: path.to_owned(), source };
    let name = path
        .file_name()
        .ok_or_else(|| failed(io::Error::new(io::ErrorKind::InvalidInput, "not a file name")))?;
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    let temporary = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".partial")
        .permissions(plain_permissions())
        .tempfile_in(folder_of(path))
        .map_err(failed)?;
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

/// The folder a file is in; `.` for a bare name.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// What a plainly created file gets (the umask applies), not the owner-only mode of temporaries.
#[cfg(unix)]
fn plain_permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}

#[cfg(not(unix))]
fn plain_permissions() -> fs::Permissions {
    fs::metadata(".").map(|m| m.permissions()).expect("the current folder exists")
}
