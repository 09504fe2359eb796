//! The files of the page, which are part of the program.

use crate::App;
use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// Nothing from elsewhere, nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! file {
    ($path:literal, $name:literal, $kind:expr) => {
        ($path, $kind, include_str!(concat!("../../page/", $name)))
    };
}

/// Paths, types and contents.
const FILES: &[(&str, &str, &str)] = &[
    file!("/", "index.html", HTML),
    file!("/page/style.css", "style.css", CSS),
    file!("/page/main.js", "main.js", SCRIPT),
    file!("/page/server.js", "server.js", SCRIPT),
    file!("/page/map.js", "map.js", SCRIPT),
    file!("/page/colours.js", "colours.js", SCRIPT),
    file!("/page/controls.js", "controls.js", SCRIPT),
    file!("/page/quality.js", "quality.js", SCRIPT),
    file!("/page/details.js", "details.js", SCRIPT),
    file!("/page/labelling.js", "labelling.js", SCRIPT),
    file!("/page/elements.js", "elements.js", SCRIPT),
];

/// Whether a path is a file of the page: these hold no data.
pub(crate) fn is_page(path: &str) -> bool {
    FILES.iter().any(|(own, ..)| *own == path)
}

pub(super) fn router() -> Router<Arc<App>> {
    let mut router = Router::new();
    for &(path, kind, content) in FILES {
        router = router.route(path, get(move || async move { answer(kind, content) }));
    }
    router
}

fn answer(kind: &'static str, content: &'static str) -> Response {
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, content).into_response()
}
