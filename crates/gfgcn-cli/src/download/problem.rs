//! What to tell the user when the network, the server or the way between them fails.

use std::io::ErrorKind;
use std::time::Duration;
use ureq::{Error, Timeout};

pub(super) const OTHER_WAY: &str = "or name a mirror with --mirror";

/// A failure before the content began.
pub(super) fn in_answer(error: Error) -> String {
    match error {
        Error::StatusCode(404) => {
            format!("the server has no such file (HTTP 404); it may have moved: wait, {OTHER_WAY}")
        }
        Error::StatusCode(code @ 500..) => {
            format!("the server has failed (HTTP {code}); try again later, {OTHER_WAY}")
        }
        Error::StatusCode(code) => {
            format!("the server does not hand out the file (HTTP {code}); try later, {OTHER_WAY}")
        }
        Error::TooManyRedirects => {
            format!("the server redirects in circles; try again later, {OTHER_WAY}")
        }
        Error::RedirectFailed => {
            format!("the server sent a redirect without a target; try again later, {OTHER_WAY}")
        }
        Error::RequireHttpsOnly(address) => {
            format!(
                "the server redirects to {address}, which is not encrypted; check the address, {OTHER_WAY}"
            )
        }
        Error::HostNotFound => {
            format!("the server's name is unknown; check the network, {OTHER_WAY}")
        }
        Error::Timeout(Timeout::Resolve) => {
            format!(
                "the server's name could not be looked up in time; check the network, {OTHER_WAY}"
            )
        }
        Error::Timeout(Timeout::Connect) => {
            format!("the server could not be reached in time; check the network, {OTHER_WAY}")
        }
        Error::Timeout(_) => no_answer(),
        Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused => {
                format!(
                    "nothing listens there (connection refused); check the address, {OTHER_WAY}"
                )
            }
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                format!(
                    "the server closed the connection without an answer; try again, {OTHER_WAY}"
                )
            }
            // Among them a failed name lookup, which has no kind of its own.
            _ => format!("no connection: {error}; check the network, {OTHER_WAY}"),
        },
        Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) => {
            format!("no secure connection: {error}; check the clock and the network, {OTHER_WAY}")
        }
        Error::ConnectProxyFailed(_) | Error::InvalidProxyUrl => {
            format!("{error}; check the proxy settings in the environment, {OTHER_WAY}")
        }
        other => format!("the response is malformed: {other}; try again later, {OTHER_WAY}"),
    }
}

/// The content has not begun after a long time.
pub(super) fn no_answer() -> String {
    format!("the server did not answer in time; try again later, {OTHER_WAY}")
}

/// A failure in the middle of the content.
pub(super) fn in_body(
    error: Error,
    received: u64,
    announced: Option<u64>,
    read_timeout: Duration,
) -> String {
    let place = match announced {
        Some(length) => format!("after {received} of {length} bytes"),
        None => format!("after {received} bytes"),
    };
    match error {
        Error::Timeout(_) => {
            format!("nothing came for {read_timeout:?} {place}; check the network and try again")
        }
        Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            format!("the connection ended {place}; try again")
        }
        other => format!("{other} {place}; try again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What no server on the loopback address can bring about.
    #[test]
    fn a_missing_network_is_told() {
        assert!(in_answer(Error::HostNotFound).contains("name is unknown; check the network"));
        let lookup = std::io::Error::other("failed to lookup address information");
        let told = in_answer(Error::Io(lookup));
        assert!(told.contains("no connection: failed to lookup address information"), "{told}");
        assert!(in_answer(Error::Timeout(Timeout::Resolve)).contains("looked up in time"));
        assert!(in_answer(Error::Timeout(Timeout::Connect)).contains("reached in time"));
    }

    #[test]
    fn an_open_redirect_target_is_named() {
        let told = in_answer(Error::RequireHttpsOnly("http://other.example/".into()));
        assert!(told.contains("http://other.example/, which is not encrypted"), "{told}");
    }
}
