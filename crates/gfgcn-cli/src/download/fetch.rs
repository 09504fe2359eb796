//! Fetching an address over HTTP, in pieces.
//!
//! The request runs on a thread of its own: a name lookup or a silent server can block for many
//! seconds, and giving up must not wait for that. The pieces come through a short channel, so a
//! slow disk slows the sender instead of filling the memory.

use super::DownloadOptions;
use super::pace::Watch;
use super::problem::{in_answer, in_body, no_answer};
use gfgcn::context::Context;
use gfgcn::{Error, Result};
use std::io::Read;
use std::net::IpAddr;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http::{StatusCode, Uri};

const CHUNK: usize = 64 << 10;
const CHUNKS_IN_FLIGHT: usize = 4;
const LOOK_FOR_CANCELLATION: Duration = Duration::from_millis(50);

/// What the requesting thread tells.
enum Event {
    /// The answer begins; the length is as announced.
    Began(Option<u64>),
    Bytes(Vec<u8>),
    Ended,
    Failed(String),
}

/// Fetches at most `limit` bytes. `receive` gets each piece and the announced length.
pub(super) fn fetch(
    url: &str,
    limit: u64,
    options: &DownloadOptions,
    context: &Context,
    mut receive: impl FnMut(&[u8], Option<u64>) -> Result<()>,
) -> Result<()> {
    let failed =
        |problem: &str| Err(Error::Download { url: url.to_owned(), problem: problem.to_owned() });
    let too_long =
        || failed(&format!("the answer is longer than {limit} bytes; it is not the dataset"));

    let agent = agent(url, options);
    let _connection = HangUp(agent.clone());
    let (sender, events) = mpsc::sync_channel(CHUNKS_IN_FLIGHT);
    let (address, read_timeout) = (url.to_owned(), options.read_timeout);
    let spawned = thread::Builder::new()
        .name("download".into())
        .spawn(move || request(&agent, &address, read_timeout, &sender));
    if let Err(error) = spawned {
        return failed(&format!("cannot start a thread for the download: {error}"));
    }

    let (mut received, mut announced) = (0, None);
    let start = Instant::now();
    // Looking up the name, connecting, sending the request and reading the head of the answer.
    let patience = 2 * options.connect_timeout + 2 * options.read_timeout;
    let mut watch: Option<Watch> = None;
    loop {
        context.check()?;
        match &mut watch {
            Some(watch) => {
                if let Err(problem) = watch.check() {
                    return failed(&problem);
                }
            }
            None if start.elapsed() > patience => return failed(&no_answer()),
            None => {}
        }
        match events.recv_timeout(LOOK_FOR_CANCELLATION) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return failed("the download broke off"),
            Ok(Event::Began(length)) => {
                if length.is_some_and(|length| length > limit) {
                    return too_long();
                }
                announced = length;
                watch = Some(Watch::new(options.pace, length.unwrap_or(limit)));
            }
            Ok(Event::Bytes(bytes)) => {
                received += bytes.len() as u64;
                watch.iter_mut().for_each(|watch| watch.receive(bytes.len() as u64));
                if received > limit {
                    return too_long();
                }
                receive(&bytes, announced)?;
            }
            Ok(Event::Ended) => return Ok(()),
            Ok(Event::Failed(problem)) => return failed(&problem),
        }
    }
}

/// Closes the connection when the fetching ends in whatever way, so that the requesting thread
/// ends too instead of waiting for its timeout.
struct HangUp(Agent);

impl Drop for HangUp {
    fn drop(&mut self) {
        self.0.clone().shutdown();
    }
}

/// Makes the request and tells about it. A send fails when nobody listens any more; then there
/// is nothing left to do.
fn request(agent: &Agent, url: &str, read_timeout: Duration, sender: &SyncSender<Event>) {
    let response = match agent.get(url).call() {
        Ok(response) if response.status() == StatusCode::OK => response,
        Ok(response) => {
            let code = response.status().as_u16();
            let _ = sender.send(Event::Failed(in_answer(ureq::Error::StatusCode(code))));
            return;
        }
        Err(error) => {
            let _ = sender.send(Event::Failed(in_answer(error)));
            return;
        }
    };
    let body = response.into_body();
    let announced = body.content_length();
    if sender.send(Event::Began(announced)).is_err() {
        return;
    }
    let mut reader = body.into_reader();
    let mut received = 0;
    loop {
        let mut bytes = vec![0; CHUNK];
        let event = match reader.read(&mut bytes) {
            Ok(0) => Event::Ended,
            Ok(count) => {
                received += count as u64;
                bytes.truncate(count);
                Event::Bytes(bytes)
            }
            Err(error) => Event::Failed(in_body(error.into(), received, announced, read_timeout)),
        };
        let goes_on = matches!(event, Event::Bytes(_));
        if sender.send(event).is_err() || !goes_on {
            return;
        }
    }
}

fn agent(url: &str, options: &DownloadOptions) -> Agent {
    let mut config = Agent::config_builder()
        .user_agent(concat!("gfgcn/", env!("CARGO_PKG_VERSION")))
        // The pin is that of the plain bytes.
        .accept_encoding("identity")
        // A redirect must not lead from an encrypted address to an open one.
        .https_only(url.starts_with("https://"))
        // A redirect gets a new connection: a server may close the old one just as it is reused.
        .max_idle_connections(0)
        .timeout_resolve(Some(options.connect_timeout))
        .timeout_connect(Some(options.connect_timeout))
        .timeout_per_write(Some(options.read_timeout))
        .timeout_per_read(Some(options.read_timeout));
    if is_this_machine(url) {
        // A proxy from the environment would look for the server on its own machine.
        config = config.proxy(None);
    }
    config.build().new_agent()
}

fn is_this_machine(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_recognised() {
        for url in ["http://127.0.0.1:80/x", "http://localhost/x", "https://[::1]:1/x"] {
            assert!(is_this_machine(url), "{url}");
        }
        for url in ["http://10.0.0.1/x", "https://m.example/localhost", "http://[fe80::1]/x", ""] {
            assert!(!is_this_machine(url), "{url}");
        }
    }
}
