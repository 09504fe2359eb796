//! Who may ask: nobody from elsewhere by default.
//!
//! On loopback, a page of another site could still have a browser ask: so names other than this machine's own are refused (a site may let its
//! name point here), and so is whatever says that it comes from another origin. Elsewhere a token is needed.

use crate::App;
use crate::problem::Problem;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use subtle::ConstantTimeEq;

/// What requests must have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Hash of the token: of equal length whatever is sent.
    token: Option<[u8; 32]>,
    loopback: bool,
    /// Origins from which pages may ask.
    origins: Vec<String>,
}

fn hash(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

impl Guard {
    pub(crate) fn new(address: IpAddr, token: Option<&str>, origins: &[String]) -> Self {
        let token = token.map(|token| hash(token.as_bytes()));
        Guard { token, loopback: address.is_loopback(), origins: origins.to_vec() }
    }

    fn check(&self, request: &Request) -> Result<(), Problem> {
        let headers = request.headers();
        let forbidden = |why: &str| Err(Problem::new(StatusCode::FORBIDDEN, why));
        let host = text(headers, header::HOST);
        if self.loopback && self.token.is_none() && !host.is_some_and(is_local) {
            return forbidden("this server only answers to localhost; ask by that name");
        }
        if let Some(origin) = text(headers, header::ORIGIN)
            && !self.allows(origin)
            && Some(origin.trim_start_matches("http://").trim_start_matches("https://")) != host
        {
            return forbidden("pages of other origins may not ask; see --allow-origin");
        }
        if text(headers, header::HeaderName::from_static("sec-fetch-site")) == Some("cross-site")
            && !text(headers, header::ORIGIN).is_some_and(|origin| self.allows(origin))
            && request.method() != Method::GET
        {
            return forbidden("pages of other origins may not ask; see --allow-origin");
        }
        // What says nothing can be asked by whoever looks after machines.
        let open = ["/v2/health/live", "/v2/health/ready"].contains(&request.uri().path())
            || crate::explore::is_page(request.uri().path());
        match &self.token {
            Some(expected) if !open => {
                let given = text(headers, header::AUTHORIZATION)
                    .and_then(|value| value.strip_prefix("Bearer "))
                    .map(|token| hash(token.trim().as_bytes()));
                match given {
                    Some(given) if bool::from(given.ct_eq(expected)) => Ok(()),
                    _ => Err(Problem::new(
                        StatusCode::UNAUTHORIZED,
                        "the token is missing or wrong; send it as Authorization: Bearer TOKEN",
                    )),
                }
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn allows(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed == origin)
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a name with perhaps a port is this machine's own.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Checks a request, counts it, and says in the log what became of it.
pub(crate) async fn watch(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    // Not the path: that would have as many names as there are requests.
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "other".to_owned());
    let mut response = match app.guard.check(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    let (status, time) = (response.status().as_u16(), start.elapsed());
    let known = match method.as_str() {
        known @ ("GET" | "HEAD" | "POST" | "OPTIONS" | "PUT" | "DELETE" | "PATCH") => known,
        _ => "other",
    };
    app.metrics.answered(known, &route, status, time);
    let milliseconds = time.as_micros() as f64 / 1e3;
    tracing::info!(method = known, route, status, milliseconds, "answered");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:80", "[::1]", "127.1.2.3"]
        {
            assert!(is_local(host), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example:80", "10.0.0.1", "", "127.0.0.1.nip.io"]
        {
            assert!(!is_local(host), "{host}");
        }
    }
}
