//! A small dataset to download, and what the tests of its download share.

use crate::server::Server;
use gfgcn::Error;
use gfgcn::context::{Context, Observer, Progress};
use gfgcn_cli::download::{DownloadOptions, Downloaded, Pace, download};
use gfgcn_datasets::remote::{Pin, Remote};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Content of several chunks, so that a download has a middle.
pub(crate) fn content() -> Vec<u8> {
    (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn hex(hash: impl AsRef<[u8]>) -> &'static str {
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>().leak()
}

fn toy(pin: Pin) -> Remote {
    let (repository, path) = ("owner/repository", "data/toy.npz");
    Remote { name: "toy", title: "Toy", repository, branch: "master", path, pin }
}

pub(crate) fn toy_by_sha256(content: &[u8]) -> Remote {
    toy(Pin::Sha256 { hex: hex(Sha256::digest(content)), bytes: content.len() as u64 })
}

pub(crate) fn toy_by_blob(content: &[u8]) -> Remote {
    let header = format!("blob {}\0", content.len());
    toy(Pin::GitBlob(hex(Sha1::new_with_prefix(header).chain_update(content).finalize())))
}

pub(crate) fn options(server: &Server) -> DownloadOptions {
    // Longer than any server here hangs.
    let timeout = Duration::from_secs(1000);
    DownloadOptions {
        mirror: Some(server.address()),
        connect_timeout: timeout,
        read_timeout: timeout,
        pace: Pace { span: timeout, grace: timeout, ..Pace::default() },
        ..DownloadOptions::default()
    }
}

pub(crate) fn get(
    dataset: &Remote,
    folder: &Path,
    options: &DownloadOptions,
) -> gfgcn::Result<Downloaded> {
    download(dataset, folder, options, &Context::default())
}

/// Calls a function with the length that was announced, and with every number of bytes that arrived.
struct Heard<F>(F);

/// What is heard of a download.
pub(crate) enum News {
    Length(u64),
    Bytes(u64),
}

impl<F: Fn(News) + Send + Sync> Observer for Heard<F> {
    fn begin(&self, _: &str, length: u64) {
        (self.0)(News::Length(length));
    }

    fn advance(&self, bytes: u64) {
        (self.0)(News::Bytes(bytes));
    }
}

/// A context that tells a function how a download goes.
pub(crate) fn telling(news: impl Fn(News) + Send + Sync + 'static) -> Context {
    Context::default().with_progress(Progress::told(Arc::new(Heard(news))))
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The message of a download of [`content`] that must fail, for both kinds of pins.
pub(crate) fn failure(server: &Server, change: impl Fn(&mut DownloadOptions)) -> String {
    let mut options = options(server);
    change(&mut options);
    let [_, message] = [toy_by_sha256(&content()), toy_by_blob(&content())].map(|dataset| {
        let folder = TempDir::new().unwrap();
        let error = get(&dataset, folder.path(), &options).unwrap_err();
        assert_eq!(names_in(folder.path()), [""; 0], "{error}");
        assert!(matches!(error, Error::Download { .. }), "{error:?}");
        assert!(error.is_machine_failure());
        let message = error.to_string();
        let url = format!("{}/owner/repository/master/data/toy.npz: ", server.address());
        assert!(message.starts_with(&url), "{message}");
        message
    });
    message
}

#[track_caller]
pub(crate) fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in {message:?}");
    }
}
