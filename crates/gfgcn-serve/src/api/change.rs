//! Learning, forgetting, and going back.

use crate::App;
use crate::change::{Change, Forget, Update};
use crate::problem::Problem;
use crate::versions::{Record, Version};
use axum::Json;
use axum::extract::{Request, State};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a change has led to.
#[derive(Debug, Serialize)]
pub(super) struct Changed {
    version: u64,
    nodes: usize,
    edges: usize,
    training_nodes: usize,
    classes: Vec<String>,
    /// Of a model that is no stack.
    lambda: Option<f64>,
}

impl Changed {
    fn new(version: &Version) -> Self {
        let (dataset, model) = (&version.world.dataset, version.world.model.as_ref());
        let only = model.and_then(|model| match model.members() {
            [only] => Some(only.lambda()),
            _ => None,
        });
        Changed {
            version: version.number,
            nodes: dataset.nodes(),
            edges: dataset.graph().edges(),
            training_nodes: model.map_or(0, |model| model.provenance().training_nodes),
            classes: model.map_or_else(Vec::new, |model| model.classes().to_vec()),
            lambda: only,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rollback {
    to: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct List {
    current: u64,
    versions: Vec<Record>,
}

pub(super) async fn update(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Changed>, Problem> {
    let update: Update = app.bodies.json(request).await?;
    if update.is_empty() {
        return Err(Problem::bad_request("there is nothing to learn in the request"));
    }
    changed(&app, Change::Update(update)).await
}

pub(super) async fn forget(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Changed>, Problem> {
    let forget: Forget = app.bodies.json(request).await?;
    if forget.is_empty() {
        return Err(Problem::bad_request("there is nothing to forget in the request"));
    }
    changed(&app, Change::Forget(forget)).await
}

pub(super) async fn rollback(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Changed>, Problem> {
    let Rollback { to } = app.bodies.json(request).await?;
    changed(&app, Change::Rollback { to }).await
}

pub(super) async fn versions(State(app): State<Arc<App>>) -> Json<List> {
    let current = app.versions.current().number;
    Json(List { current, versions: app.versions.records() })
}

async fn changed(app: &App, change: Change) -> Result<Json<Changed>, Problem> {
    Ok(Json(Changed::new(&*app.change(change).await?)))
}
