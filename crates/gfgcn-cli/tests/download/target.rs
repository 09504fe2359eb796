//! Downloads to places where something is already, or where nothing can be written.

use crate::server::{Server, answer};
use crate::toy::telling;
use gfgcn::Error;
use gfgcn::context::Context;
use gfgcn_cli::download::{DownloadOptions, Downloaded, download};
use gfgcn_datasets::remote::{Pin, Remote};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const CONTENT: &[u8] = b"abc";

const TOY: Remote = Remote {
    name: "toy",
    title: "Toy",
    repository: "owner/repository",
    branch: "master",
    path: "toy.npz",
    pin: Pin::Sha256 {
        hex: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        bytes: 3,
    },
};

fn get(folder: &Path, server: &Server, force: bool) -> gfgcn::Result<Downloaded> {
    let mirror = Some(server.address());
    let options = DownloadOptions { mirror, force, ..DownloadOptions::default() };
    download(&TOY, folder, &options, &Context::default())
}

fn good() -> Server {
    Server::saying(answer("200 OK", CONTENT))
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_missing_folder_is_made() {
    let (server, folder) = (good(), TempDir::new().unwrap());
    let inner = folder.path().join("a/b");
    let done = get(&inner, &server, false).unwrap();
    assert_eq!(fs::read(done.path).unwrap(), CONTENT);
}

#[cfg(unix)]
#[test]
fn the_file_gets_ordinary_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let (server, folder) = (good(), TempDir::new().unwrap());
    let ordinary = folder.path().join("ordinary");
    fs::write(&ordinary, "").unwrap();
    let done = get(folder.path(), &server, false).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&done.path), mode(&ordinary));
}

#[test]
fn the_right_file_is_not_fetched_again() {
    let (server, folder) = (good(), TempDir::new().unwrap());
    assert!(!get(folder.path(), &server, false).unwrap().already_there);
    for force in [false, true] {
        let again = get(folder.path(), &server, force).unwrap();
        assert!(again.already_there);
        assert_eq!(again.path, folder.path().join("toy.npz"));
    }
    assert_eq!(server.requests().len(), 1);
    assert_eq!(count(folder.path()), 1);
}

#[test]
fn another_file_is_kept_unless_forced() {
    let (server, folder) = (good(), TempDir::new().unwrap());
    let path = folder.path().join("toy.npz");
    fs::write(&path, "mine").unwrap();
    let error = get(folder.path(), &server, false).unwrap_err();
    assert!(!error.is_machine_failure(), "the user decides about it: {error}");
    assert!(error.to_string().contains("toy.npz"), "{error}");
    assert!(error.to_string().contains("--force"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert_eq!(server.requests().len(), 0);

    assert!(!get(folder.path(), &server, true).unwrap().already_there);
    assert_eq!(fs::read(&path).unwrap(), CONTENT);
    assert_eq!(count(folder.path()), 1);
}

#[test]
fn a_failed_download_keeps_the_file_it_was_to_replace() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("toy.npz");
    fs::write(&path, "mine").unwrap();
    for sent in [answer("200 OK", b"abd"), answer("404 Not Found", b"")] {
        get(folder.path(), &Server::saying(sent), true).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(count(folder.path()), 1);
    }
}

#[test]
fn a_file_that_appears_meanwhile_is_not_overwritten() {
    for (theirs, right) in [(CONTENT, true), (b"mine", false)] {
        let (server, folder) = (good(), TempDir::new().unwrap());
        let path = folder.path().join("toy.npz");
        let mirror = Some(server.address());
        let options = DownloadOptions { mirror, ..DownloadOptions::default() };
        let context = telling({
            let path = path.clone();
            move |_| fs::write(&path, theirs).unwrap()
        });
        let done = download(&TOY, folder.path(), &options, &context);
        assert_eq!(done.is_ok_and(|done| done.already_there), right);
        assert_eq!(fs::read(&path).unwrap(), theirs);
        assert_eq!(count(folder.path()), 1);
    }
}

#[test]
fn a_folder_in_the_way_is_kept() {
    let (server, folder) = (good(), TempDir::new().unwrap());
    fs::create_dir(folder.path().join("toy.npz")).unwrap();
    for force in [false, true] {
        let error = get(folder.path(), &server, force).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[cfg(unix)]
#[test]
fn sockets_and_dangling_links_in_the_way_are_kept() {
    for force in [false, true] {
        let (server, folder) = (good(), TempDir::new().unwrap());
        let path = folder.path().join("toy.npz");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        get(folder.path(), &server, force).unwrap_err();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        get(folder.path(), &server, force).unwrap_err();
        assert!(path.is_symlink());
        assert_eq!(server.requests().len(), 0);
    }
}

#[test]
fn a_file_for_a_folder_is_refused() {
    let (server, folder) = (good(), TempDir::new().unwrap());
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    get(&file, &server, false).unwrap_err();
    get(&file.join("inner"), &server, false).unwrap_err();
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert_eq!(server.requests().len(), 0);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_noticed_before_downloading() {
    use std::os::unix::fs::PermissionsExt;
    let (server, folder) = (good(), TempDir::new().unwrap());
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(inner.join("probe"), "").is_ok() {
        return; // The superuser may write anywhere.
    }
    let error = get(&inner, &server, false).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error:?}");
    assert!(error.is_machine_failure());
    assert_eq!(server.requests().len(), 0);
    assert_eq!(count(&inner), 0);
}

/// A full disk, as far as the download can tell: the system refuses to let the file grow. The
/// limit holds for a process, so the test runs itself again in one with the limit.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_write_error() {
    const LIMITED: &str = "GFGCN_TEST_LIMITED";
    if std::env::var_os(LIMITED).is_none() {
        let limited = std::process::Command::new("sh")
            .args(["-c", r#"trap "" XFSZ; ulimit -f 0; exec "$0" --exact "$1""#])
            .arg(std::env::current_exe().unwrap())
            .arg("target::a_full_disk_is_a_write_error")
            .env(LIMITED, "1")
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&limited.stdout);
        assert!(limited.status.success() && output.contains("1 passed"), "{output}");
        return;
    }
    let (server, folder) = (good(), TempDir::new().unwrap());
    let error = get(folder.path(), &server, false).unwrap_err();
    assert!(matches!(&error, Error::Write { path, .. } if path.ends_with("toy.npz")), "{error:?}");
    assert_eq!(count(folder.path()), 0);
}
