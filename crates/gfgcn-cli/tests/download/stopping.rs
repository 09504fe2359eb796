//! Downloads that stop in the middle: because nothing comes any more, or because the user says so.

use crate::server::{Server, answer, with_length};
use crate::toy::{
    News, assert_says, content, failure, get, names_in, options, telling, toy_by_blob,
};
use gfgcn::Error;
use gfgcn::context::{Cancel, Context};
use gfgcn_cli::download::{DownloadOptions, download};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn a_server_that_does_not_answer_times_out() {
    let server = Server::start(|connection| connection.hang());
    let message = failure(&server, |options| options.read_timeout = Duration::from_millis(50));
    assert_says(&message, &["did not answer in time"]);
}

#[test]
fn a_server_that_falls_silent_times_out() {
    // On a busy machine the server itself may be too slow for a short timeout, but not for all of them.
    for timeout in [100, 1_000, 10_000, 100_000].map(Duration::from_millis) {
        let server = Server::start(|connection| {
            connection.send(with_length("200 OK", 300_000, &content()[..100_000]));
            connection.hang();
        });
        let folder = TempDir::new().unwrap();
        let options = DownloadOptions { read_timeout: timeout, ..options(&server) };
        let error = get(&toy_by_blob(&content()), folder.path(), &options).unwrap_err().to_string();
        assert_eq!(names_in(folder.path()), [""; 0]);
        let silent = format!("nothing came for {timeout:?} after");
        if error.contains(&format!("{silent} 100000 of 300000 bytes")) {
            return;
        }
        assert!(error.contains("did not answer in time") || error.contains(&silent), "{error}");
    }
    panic!("the bytes that the server sends do not arrive");
}

/// Every byte comes in time, and the end never does.
#[test]
fn a_server_that_sends_byte_by_byte_is_given_up() {
    let trickling = || {
        Server::start(|connection| {
            connection.send(with_length("200 OK", 300_000, &content()[..100_000]));
            connection.trickle();
        })
    };
    let message = failure(&trickling(), |options| {
        options.pace.span = Duration::from_millis(300);
        options.pace.least = 1 << 30;
    });
    assert_says(&message, &["bytes came in 300ms after the first ", "too slow", "--mirror"]);
    let message = failure(&trickling(), |options| {
        options.pace.grace = Duration::from_millis(300);
        options.pace.average = u64::MAX;
    });
    assert_says(&message, &["bytes came in 300ms, which is too slow", "--mirror"]);
}

/// The head of an answer can come byte by byte as well.
#[test]
fn an_answer_that_never_begins_is_given_up() {
    let server = Server::start(|connection| {
        connection.send("HTTP/1.1 200 OK\r\nX: ");
        connection.trickle();
    });
    let message = failure(&server, |options| {
        options.connect_timeout = Duration::from_millis(500);
        options.read_timeout = Duration::from_millis(500);
    });
    assert_says(&message, &["did not answer in time"]);
}

#[test]
fn a_cancelled_download_stops_and_keeps_nothing() {
    let folder = TempDir::new().unwrap();
    let dataset = toy_by_blob(&content());
    let server = Server::saying(answer("200 OK", &content()));
    let (cancel, pieces) = (Cancel::default(), Arc::new(AtomicUsize::new(0)));
    let context = telling({
        let (cancel, pieces) = (cancel.clone(), pieces.clone());
        move |news| {
            if let News::Bytes(_) = news {
                pieces.fetch_add(1, Ordering::Relaxed);
                cancel.cancel();
            }
        }
    })
    .with_cancel(cancel);
    for _ in ["in the middle", "before it begins"] {
        let result = download(&dataset, folder.path(), &options(&server), &context);
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
        assert_eq!((pieces.load(Ordering::Relaxed), names_in(folder.path()).len()), (1, 0));
    }
}

/// The user gives up while the server has the request and says nothing.
#[test]
fn cancelling_does_not_wait_for_a_silent_server() {
    let folder = TempDir::new().unwrap();
    let cancel = Cancel::default();
    let server = Server::start({
        let cancel = cancel.clone();
        move |connection| {
            cancel.cancel();
            connection.hang();
        }
    });
    let context = Context::default().with_cancel(cancel);
    let result = download(&toy_by_blob(&content()), folder.path(), &options(&server), &context);
    assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(names_in(folder.path()), [""; 0]);
}
