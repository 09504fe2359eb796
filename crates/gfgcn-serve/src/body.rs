//! Bodies of requests: of the right type, not too large, in time.

use crate::problem::Problem;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// A body that takes longer comes from a slow client.
const WITHIN: Duration = Duration::from_secs(20);

/// Limits on bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bodies {
    /// Bytes.
    pub(crate) most: usize,
}

impl Bodies {
    /// All bytes of a body.
    pub(crate) async fn bytes(self, body: Body) -> Result<Bytes, Problem> {
        let too_large = || {
            Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the request has more than {} bytes; ask for less at a time", self.most),
            )
        };
        // Before any of it is read, where it says how long it is.
        if body.size_hint().lower() > self.most as u64 {
            return Err(too_large());
        }
        let collected = tokio::time::timeout(WITHIN, Limited::new(body, self.most).collect());
        match collected.await {
            Ok(Ok(whole)) => Ok(whole.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => Err(Problem::bad_request("the request ended early")),
            Err(_) => Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "the request took too long to arrive",
            )),
        }
    }

    /// A body of JSON.
    pub(crate) async fn json<T: DeserializeOwned>(self, request: Request) -> Result<T, Problem> {
        check_type(request.headers(), "application/json")?;
        parse(&self.bytes(request.into_body()).await?)
    }
}

/// What a text of JSON says.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes)
        .map_err(|error| Problem::bad_request(format!("the request cannot be understood: {error}")))
}

/// Pages of other sites can send some types without asking first, and these are none of them.
pub(crate) fn check_type(headers: &HeaderMap, expected: &str) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.split(';').next()).map(str::trim);
    if given.is_some_and(|given| given.eq_ignore_ascii_case(expected)) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        format!("the request must have Content-Type: {expected}"),
    ))
}
