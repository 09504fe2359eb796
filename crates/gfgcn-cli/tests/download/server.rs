//! A small HTTP server on the loopback address that answers exactly as a test wants, wrongly too.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Nothing takes as long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Server {
    port: u16,
    stop: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

/// One connection with its request already read.
pub(crate) struct Connection {
    pub(crate) path: String,
    stream: TcpStream,
    stop: Arc<AtomicBool>,
}

impl Connection {
    /// Sends bytes; a client that has gone away is no failure of the server.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Sends a byte again and again until the test is over or nobody listens.
    pub(crate) fn trickle(&mut self) {
        let end = Instant::now() + PATIENCE;
        while !self.stop.load(Ordering::Relaxed) && Instant::now() < end && self.send(b"x") {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Says nothing until the test is over. Whoever waits for the answer then sees the connection end, and
    /// fails instead of hanging.
    pub(crate) fn hang(&self) {
        let end = Instant::now() + PATIENCE;
        while !self.stop.load(Ordering::Relaxed) && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Server {
    /// Serves each connection with `answer`, one after the other, until dropped.
    pub(crate) fn start(answer: impl Fn(&mut Connection) + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let thread = thread::spawn({
            let (stop, requests) = (stop.clone(), requests.clone());
            move || serve(&listener, &stop, &requests, answer)
        });
        Server { port, stop, requests, thread: Some(thread) }
    }

    /// Answers every request with the same bytes and closes the connection.
    pub(crate) fn saying(bytes: impl Into<Vec<u8>>) -> Server {
        let bytes = bytes.into();
        Server::start(move |connection| {
            connection.send(&bytes);
        })
    }

    /// The address without a path.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The paths asked for so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    listener: &TcpListener,
    stop: &Arc<AtomicBool>,
    requests: &Mutex<Vec<String>>,
    answer: impl Fn(&mut Connection),
) {
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                let Some((stream, path)) = read_request(stream) else { continue };
                requests.lock().unwrap().push(path.clone());
                answer(&mut Connection { path, stream, stop: stop.clone() });
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(2));
            }
            Err(error) => panic!("accept: {error}"),
        }
    }
}

/// Reads up to the empty line that ends a request without a body.
fn read_request(mut stream: TcpStream) -> Option<(TcpStream, String)> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 || request.len() > 8192 {
            return None;
        }
        request.push(byte[0]);
    }
    let path = std::str::from_utf8(&request).ok()?.split(' ').nth(1)?.to_owned();
    Some((stream, path))
}

/// A complete answer with its length.
pub(crate) fn answer(status: &str, content: &[u8]) -> Vec<u8> {
    with_length(status, content.len() as u64, content)
}

/// An answer that announces a length which need not be true.
pub(crate) fn with_length(status: &str, length: u64, content: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    [head.as_bytes(), content].concat()
}

/// The head of an answer in chunks, and the chunks without the one that ends it.
pub(crate) fn chunked(content: &[u8], size: usize) -> Vec<u8> {
    let mut bytes =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".to_vec();
    for chunk in content.chunks(size) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes
}

/// The chunk that ends an answer.
pub(crate) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
