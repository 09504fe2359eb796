//! What a request gets that cannot be answered: a status and one sentence.
//!
//! Answers name neither paths nor anything else about the machine; what is only of use to whoever runs the server goes to the log.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gfgcn::Error;
use serde::Serialize;

/// Why a request is not answered. As JSON, `{"error": "…"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    message: String,
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Problem { status, message: message.into() }
    }

    /// The request makes no sense.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, message)
    }

    /// What it asks for is not there.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Problem::new(StatusCode::NOT_FOUND, message)
    }

    /// It makes sense, but not with this model and these data.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Problem::new(StatusCode::CONFLICT, message)
    }

    /// There is more to do than can be done; later perhaps.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// A defect of the server, or of the machine.
    pub(crate) fn internal() -> Self {
        let message = "something went wrong in the server; its log says what";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            Error::Cancelled => Problem::busy(
                "the request took longer than the server allows; ask for less at a time",
            ),
            Error::Memory { .. } | Error::Threads { .. } => Problem::busy(error.to_string()),
            Error::Parameter { .. }
            | Error::Size { .. }
            | Error::Data(_)
            | Error::Format(_)
            | Error::NotPositiveDefinite { .. } => {
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
            }
            _ => {
                tracing::error!(%error, "a request failed");
                Problem::internal()
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(Body { error: &self.message })).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
