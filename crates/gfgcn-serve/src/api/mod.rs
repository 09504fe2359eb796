//! The JSON API, under /v1. `openapi.json` describes it, and a test compares both.

mod change;
mod explain;
mod info;
mod predict;

pub(crate) use explain::{Ask as AskWhy, Why, why};
pub(crate) use predict::NodeAnswer;

use crate::App;
use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use std::sync::Arc;

/// What the server can do, for programs.
pub(crate) const OPENAPI: &str = include_str!("../openapi.json");

/// A path, what may be done with it, and who does it.
type Route = (&'static str, &'static str, fn() -> MethodRouter<Arc<App>>);

/// Every route of the API.
pub(crate) const ROUTES: &[Route] = &[
    ("get", "/v1/info", || get(info::info)),
    ("get", "/v1/nodes/{id}", || get(info::node)),
    ("post", "/v1/predict", || post(predict::predict)),
    ("post", "/v1/explain", || post(explain::explain)),
    ("post", "/v1/update", || post(change::update)),
    ("post", "/v1/forget", || post(change::forget)),
    ("get", "/v1/versions", || get(change::versions)),
    ("post", "/v1/rollback", || post(change::rollback)),
    ("get", "/v1/model", || get(info::model)),
    ("get", "/v1/labels", || get(info::labels)),
    ("get", "/metrics", || get(info::metrics)),
    ("get", "/openapi.json", || get(openapi)),
];

async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}

pub(crate) fn router() -> Router<Arc<App>> {
    ROUTES.iter().fold(Router::new(), |router, (_, path, handler)| router.route(path, handler()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_document_describes_every_route_and_no_other() {
        let document: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
        let described: BTreeSet<(String, String)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| {
                let methods = methods.as_object().unwrap().keys();
                methods.map(move |method| (method.clone(), path.clone()))
            })
            .collect();
        let there = ROUTES.iter().chain(crate::inference::ROUTES);
        let there = there.map(|&(method, path, _)| (method.to_owned(), path.to_owned())).collect();
        assert_eq!(described, there);
    }
}
