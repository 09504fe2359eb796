//! Downloading a dataset: either the whole pinned content is at its place afterwards, or nothing
//! has changed there.
//!
//! The answer goes to a temporary file beside the target. It is hashed from that file once it is
//! complete, not on the way: the id of a git blob starts with the length, which a server need not
//! tell beforehand, and so the same check serves for a file that is already there.

mod fetch;
mod pace;
mod pin;
mod problem;

pub use pace::Pace;

use gfgcn::context::Context;
use gfgcn::files::{Temporary, temporary_beside};
use gfgcn::{Error, Result};
use gfgcn_datasets::remote::{Pin, Remote};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::Uri;

/// No answer longer than this is taken: far more than any dataset in the list has.
pub const MAX_BYTES: u64 = 512 << 20;

/// How a download is done.
#[derive(Clone, Debug)]
pub struct DownloadOptions {
    /// Scheme and host, perhaps with a path, of a server to use in place of GitHub's; it keeps
    /// GitHub's paths.
    pub mirror: Option<String>,
    /// Replace a file that is at the target's place with other content.
    pub force: bool,
    /// The longest answer to take.
    pub max_bytes: u64,
    /// How long to wait for the name to be resolved, and then for the connection.
    pub connect_timeout: Duration,
    /// How long to wait for the next bytes.
    pub read_timeout: Duration,
    /// How slowly the content may come.
    pub pace: Pace,
}

impl Default for DownloadOptions {
    /// From GitHub, keeping files that are there.
    fn default() -> Self {
        DownloadOptions {
            mirror: None,
            force: false,
            max_bytes: MAX_BYTES,
            connect_timeout: Duration::from_secs(15),
            read_timeout: Duration::from_secs(30),
            pace: Pace::default(),
        }
    }
}

/// Where a dataset is after [`download`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downloaded {
    /// The file.
    pub path: PathBuf,
    /// Whether the right content was there before, and nothing was fetched.
    pub already_there: bool,
}

/// Downloads a dataset into a folder, which is made where it is missing. The context's observer hears how many bytes
/// there will be, where that is known, and then of those that are received; a download that is cancelled stops within a
/// moment and leaves nothing behind.
///
/// # Errors
/// [`Error::Download`] if the file cannot be fetched or is not the pinned one; [`Error::Cancelled`];
/// [`Error::Write`] if it cannot be stored; others if the mirror is no address or
/// something else is at the file's place.
pub fn download(
    dataset: &Remote,
    folder: &Path,
    options: &DownloadOptions,
    context: &Context,
) -> Result<Downloaded> {
    let url = address(dataset, options.mirror.as_deref())?;
    let path = folder.join(dataset.file_name());
    if is_there(&path, &dataset.pin, options.force)? {
        return Ok(Downloaded { path, already_there: true });
    }

    fs::create_dir_all(folder)
        .map_err(|source| Error::Write { path: folder.to_owned(), source })?;
    let failed = |source: io::Error| Error::Write { path: path.clone(), source };
    let mut temporary = temporary_beside(&path).map_err(failed)?;
    let (limit, known_length) = match dataset.pin {
        Pin::Sha256 { bytes, .. } => (bytes.min(options.max_bytes), Some(bytes)),
        Pin::GitBlob(_) => (options.max_bytes, None),
    };
    let mut began = false;
    fetch::fetch(&url, limit, options, context, |bytes, announced| {
        if !std::mem::replace(&mut began, true) {
            let length = known_length.or(announced).unwrap_or(0);
            context.progress().begin("downloading", length);
        }
        temporary.as_file_mut().write_all(bytes).map_err(failed)?;
        context.progress().advance_by(bytes.len() as u64);
        Ok(())
    })?;
    temporary.as_file().sync_all().map_err(failed)?;

    let content = pin::measure(temporary.as_file_mut(), &dataset.pin).map_err(failed)?;
    if !content.is(&dataset.pin) {
        let problem = format!(
            "the content is {content}, but must be {}; it was changed there or on the way, and was \
             not kept",
            dataset.pin
        );
        return Err(Error::Download { url, problem });
    }
    let already_there = put_in_place(temporary, &path, &dataset.pin, options.force)?;
    Ok(Downloaded { path, already_there })
}

/// Where the dataset is fetched from.
fn address(dataset: &Remote, mirror: Option<&str>) -> Result<String> {
    let Some(mirror) = mirror else { return Ok(dataset.url()) };
    let refused = |shown: &str| {
        let expected = "http:// or https:// with a host and perhaps a path, without user and query";
        Err(Error::parameter("--mirror", shown, expected))
    };
    if mirror.contains('@') {
        // What stands before the @ may be a password, which no message should repeat.
        return refused("an address with @");
    }
    let has_scheme = mirror.starts_with("http://") || mirror.starts_with("https://");
    if !has_scheme || mirror.contains(['?', '#']) {
        return refused(&format!("{mirror:?}"));
    }
    let url = dataset.url_at(mirror);
    match url.parse::<Uri>() {
        Ok(uri) if uri.host().is_some_and(|host| !host.is_empty()) => Ok(url),
        _ => refused(&format!("{mirror:?}")),
    }
}

/// Whether the pinned content is at its place; other content there is an error unless it may be
/// replaced.
fn is_there(path: &Path, pin: &Pin, replace: bool) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::Read(error).in_file(path)),
        Ok(_) => {}
    }
    if !path.is_file() {
        // Opening a pipe would hang, and replacing a folder or a link is nobody's wish.
        return Err(Error::Data(
            "is in the way and is not a regular file; move it elsewhere".into(),
        )
        .in_file(path));
    }
    match fs::File::open(path).and_then(|mut file| pin::measure(&mut file, pin)) {
        Ok(content) if content.is(pin) => Ok(true),
        _ if replace => Ok(false),
        Ok(content) => Err(Error::Data(format!(
            "is there already, but is {content} and not {pin}; use --force to replace it"
        ))
        .in_file(path)),
        Err(error) => Err(Error::Read(error).in_file(path)),
    }
}

/// Names the complete file; true if someone else has put the same content there in the meantime.
fn put_in_place(temporary: Temporary, path: &Path, pin: &Pin, replace: bool) -> Result<bool> {
    match temporary.persist(path, replace) {
        Ok(()) => Ok(false),
        Err(source) => {
            if source.kind() == io::ErrorKind::AlreadyExists && is_there(path, pin, replace)? {
                return Ok(true);
            }
            Err(Error::Write { path: path.to_owned(), source })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photo(mirror: Option<&str>) -> Result<String> {
        address(gfgcn_datasets::remote::find("amazon-photo").unwrap(), mirror)
    }

    #[test]
    fn a_mirror_replaces_scheme_and_host() {
        let path = "shchur/gnn-benchmark/master/data/npz/amazon_electronics_photo.npz";
        assert_eq!(photo(None).unwrap(), format!("https://raw.githubusercontent.com/{path}"));
        for mirror in ["http://[::1]:8080", "https://m.example/", "http://10.0.0.1/a/b"] {
            let base = mirror.trim_end_matches('/');
            assert_eq!(photo(Some(mirror)).unwrap(), format!("{base}/{path}"));
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for mirror in
            ["", "m.example", "ftp://m", "http://", "http:///x", "http://a b", "http://a?b"]
        {
            let error = photo(Some(mirror)).unwrap_err();
            assert!(!error.is_machine_failure());
            assert!(error.to_string().contains(&format!("{mirror:?}")), "{error}");
        }
    }

    #[test]
    fn a_password_is_not_repeated() {
        let error = photo(Some("https://me:secret@m.example")).unwrap_err().to_string();
        assert!(error.contains("--mirror") && !error.contains("secret"), "{error}");
    }
}
