//! Answers that are right, wrong, incomplete, endless or missing.

use crate::server::{LAST_CHUNK, Server, answer, chunked, with_length};
use crate::toy::{
    News, assert_says, content, failure, get, names_in, options, telling, toy_by_blob,
    toy_by_sha256,
};
use gfgcn_cli::download::{DownloadOptions, download};
use std::fs;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Both kinds of pins take what this server sends.
fn succeeds(server: &Server) {
    for dataset in [toy_by_sha256(&content()), toy_by_blob(&content())] {
        let folder = TempDir::new().unwrap();
        let done = get(&dataset, folder.path(), &options(server)).unwrap();
        assert_eq!(done.path, folder.path().join("toy.npz"));
        assert!(!done.already_there);
        assert_eq!(fs::read(&done.path).unwrap(), content());
        assert_eq!(names_in(folder.path()), ["toy.npz"]);
    }
}

#[test]
fn the_pinned_content_arrives() {
    let server = Server::saying(answer("200 OK", &content()));
    succeeds(&server);
    assert_eq!(server.requests(), ["/owner/repository/master/data/toy.npz"; 2]);
}

#[test]
fn progress_is_told_while_the_file_is_hidden() {
    let server = Server::saying(answer("200 OK", &content()));
    let folder = TempDir::new().unwrap();
    let (path, heard) = (folder.path().to_owned(), Arc::new(Mutex::new((Vec::new(), Vec::new()))));
    let context = telling({
        let heard = heard.clone();
        move |news| {
            let names = names_in(&path);
            assert!(matches!(&names[..], [name] if name.starts_with(".toy.npz")), "{names:?}");
            assert!(names[0].ends_with(".partial"), "{names:?}");
            match news {
                News::Length(length) => heard.lock().unwrap().0.push(length),
                News::Bytes(bytes) => heard.lock().unwrap().1.push(bytes),
            }
        }
    });
    download(&toy_by_blob(&content()), folder.path(), &options(&server), &context).unwrap();
    let (lengths, pieces) = heard.lock().unwrap().clone();
    assert_eq!(lengths, [content().len() as u64], "said once, before the first bytes");
    assert!(pieces.len() > 1 && pieces.iter().sum::<u64>() == lengths[0], "{pieces:?}");
}

#[test]
fn chunks_and_a_closed_connection_end_the_content_too() {
    succeeds(&Server::saying([&chunked(&content(), 10_007), LAST_CHUNK].concat()));
    succeeds(&Server::saying([b"HTTP/1.0 200 OK\r\n\r\n", &content()[..]].concat()));
}

#[test]
fn redirects_are_followed() {
    succeeds(&Server::start(|connection| {
        let found = connection.path == "/elsewhere";
        connection.send(if found {
            answer("200 OK", &content())
        } else {
            b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n".to_vec()
        });
    }));
}

#[test]
fn redirects_in_a_circle_or_to_nowhere_fail() {
    let circle = "HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n";
    assert_says(&failure(&Server::saying(circle), |_| {}), &["redirects in circles"]);
    let nowhere = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n";
    failure(&Server::saying(nowhere), |_| {});
}

#[test]
fn other_content_is_refused_with_both_hashes() {
    let mut other = content();
    other[150_000] ^= 1;
    let server = Server::saying(answer("200 OK", &other));
    for (dataset, found) in [
        (toy_by_sha256(&content()), toy_by_sha256(&other)),
        (toy_by_blob(&content()), toy_by_blob(&other)),
    ] {
        let folder = TempDir::new().unwrap();
        let error = get(&dataset, folder.path(), &options(&server)).unwrap_err();
        assert!(error.is_machine_failure());
        assert_says(
            &error.to_string(),
            &[&server.address(), &dataset.pin.to_string(), &found.pin.to_string()],
        );
        assert_eq!(names_in(folder.path()), [""; 0]);
    }
}

#[test]
fn content_that_just_stops_is_refused() {
    // Without an announced length only the pin can tell.
    let server = Server::saying([b"HTTP/1.0 200 OK\r\n\r\n", &content()[..200_000]].concat());
    assert_says(&failure(&server, |_| {}), &["(200000 bytes)"]);
    assert_says(&failure(&Server::saying(answer("200 OK", b"")), |_| {}), &["(0 bytes)"]);
}

#[test]
fn statuses_are_told() {
    for (status, said) in [
        ("404 Not Found", "no such file (HTTP 404)"),
        ("403 Forbidden", "does not hand out the file (HTTP 403)"),
        ("500 Internal Server Error", "the server has failed (HTTP 500)"),
        ("503 Service Unavailable", "the server has failed (HTTP 503)"),
        ("203 Non-Authoritative", "HTTP 203"),
    ] {
        // Even the right content does not make a failure a success.
        let message = failure(&Server::saying(answer(status, &content())), |_| {});
        assert_says(&message, &[said, "--mirror"]);
    }
}

#[test]
fn a_truncated_answer_is_noticed() {
    let length = content().len() as u64;
    let server = Server::saying(with_length("200 OK", length, &content()[..100_000]));
    assert_says(&failure(&server, |_| {}), &["ended after 100000 of 300000 bytes"]);
    let server = Server::saying(chunked(&content()[..100_000], 9_999));
    assert_says(&failure(&server, |_| {}), &["ended after 100000 bytes"]);
}

#[test]
fn an_answer_that_is_too_long_is_cut_off() {
    // Announced: not a byte of it is read.
    let server = Server::saying(with_length("200 OK", 1 << 40, b""));
    assert_says(&failure(&server, |_| {}), &["longer than 536870912 bytes"]);
    // Not announced, and without an end.
    let server = Server::start(|connection| {
        let (head, chunk) = (chunked(b"x", 1), chunked(&content(), 1 << 20));
        let start = chunk.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        connection.send(head);
        while connection.send(&chunk[start..]) {}
    });
    let message = failure(&server, |options| options.max_bytes = 1_000_000);
    assert_says(&message, &["longer than 1000000 bytes"]);
    // A pin with a length needs no other limit.
    let folder = TempDir::new().unwrap();
    let error = get(&toy_by_sha256(&content()), folder.path(), &options(&server)).unwrap_err();
    assert_says(&error.to_string(), &["longer than 300000 bytes"]);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn servers_that_do_not_speak_http_fail() {
    assert_says(&failure(&Server::saying(""), |_| {}), &["without an answer"]);
    failure(&Server::saying("SSH-2.0-OpenSSH_9.6\r\n\r\n"), |_| {});
    failure(&Server::saying(vec![0; 200_000]), |_| {});
    failure(
        &Server::saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        |_| {},
    );
    failure(&Server::saying("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), |_| {});
}

#[test]
fn nobody_listening_fails() {
    // Tests take ports from the upper range, so none of them can be behind this one.
    let folder = TempDir::new().unwrap();
    let mirror = Some("http://127.0.0.1:1".into());
    let options = DownloadOptions { mirror, ..DownloadOptions::default() };
    let error = get(&toy_by_blob(&content()), folder.path(), &options).unwrap_err();
    assert_says(&error.to_string(), &["connection refused", "--mirror"]);
    assert!(error.is_machine_failure());
    assert_eq!(names_in(folder.path()), [""; 0]);
}
