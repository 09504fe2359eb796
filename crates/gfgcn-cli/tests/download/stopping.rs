//! Downloads that stop in the middle: because nothing comes any more, or because the user says so.

use crate::server::{Server, answer, with_length};
use crate::toy::{assert_says, content, failure, get, names_in, options, toy_by_blob};
use gfgcn_cli::download::{DownloadOptions, download};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[test]
fn silent_servers_time_out() {
    let short = |options: &mut DownloadOptions<'_>| {
        options.read_timeout = Duration::from_millis(200);
    };
    let server = Server::start(|connection| connection.hang());
    assert_says(&failure(&server, short), &["did not answer in time"]);
    let folder = TempDir::new().unwrap();
    let server = Server::start(|connection| {
        connection.send(with_length("200 OK", 300_000, &content()[..100_000]));
        connection.hang();
    });
    let mut options = options(&server);
    short(&mut options);
    let error = get(&toy_by_blob(&content()), folder.path(), &options).unwrap_err();
    assert_says(&error.to_string(), &["nothing came for 200ms after 100000 of 300000 bytes"]);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn a_cancelled_download_asks_for_nothing_or_stops() {
    let folder = TempDir::new().unwrap();
    let dataset = toy_by_blob(&content());
    let cancelled = AtomicBool::new(false);
    let server = Server::saying(answer("200 OK", &content()));
    let options = DownloadOptions { cancelled: &cancelled, ..options(&server) };
    let mut told = 0;
    let error = download(&dataset, folder.path(), &options, &mut |_, _| {
        told += 1;
        cancelled.store(true, Ordering::Relaxed);
    })
    .unwrap_err();
    assert_says(&error.to_string(), &["stopped"]);
    assert_eq!((told, names_in(folder.path()).len()), (1, 0));
    get(&dataset, folder.path(), &options).unwrap_err();
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn cancelling_does_not_wait_for_a_silent_server() {
    let folder = TempDir::new().unwrap();
    let cancelled = AtomicBool::new(false);
    let server = Server::start(|connection| connection.hang());
    let options = DownloadOptions { cancelled: &cancelled, ..options(&server) };
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            cancelled.store(true, Ordering::Relaxed);
        });
        let error = get(&toy_by_blob(&content()), folder.path(), &options).unwrap_err();
        assert_says(&error.to_string(), &["stopped"]);
    });
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(names_in(folder.path()), [""; 0]);
}
