//! What is served: the model, its nodes, its file.

use super::NodeAnswer;
use crate::App;
use crate::problem::Problem;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;
use gfgcn::data::{TargetKind, Targets};
use gfgcn::metrics::Metric;
use serde::Serialize;
use std::sync::Arc;

#[derive(Debug, Serialize)]
pub(super) struct Info {
    name: String,
    version: u64,
    gfgcn: &'static str,
    kind: TargetKind,
    classes: Vec<String>,
    nodes: usize,
    edges: usize,
    features: usize,
    members: Vec<Member>,
    training_nodes: usize,
    metric: Option<Metric>,
    /// Of the metric, on the nodes that λ was chosen by.
    selection_score: Option<f64>,
    /// Whether it can learn and forget.
    can_change: bool,
}

#[derive(Debug, Serialize)]
struct Member {
    design: String,
    share: f64,
    lambda: f64,
}

pub(super) async fn info(State(app): State<Arc<App>>) -> Json<Info> {
    let version = app.versions.current();
    let (dataset, model) = (&version.world.dataset, version.world.model.as_ref());
    let member = |member: &gfgcn::model::Member| Member {
        design: member.design().to_string(),
        share: member.share(),
        lambda: member.lambda(),
    };
    let selected = model.and_then(|model| model.selection_score());
    Json(Info {
        name: app.name.clone(),
        version: version.number,
        gfgcn: env!("CARGO_PKG_VERSION"),
        kind: model.map_or(dataset.targets().kind(), |model| model.head().kind()),
        classes: model.map_or_else(Vec::new, |model| model.classes().to_vec()),
        nodes: dataset.nodes(),
        edges: dataset.graph().edges(),
        features: dataset.features().cols(),
        members: model.map_or_else(Vec::new, |model| model.members().iter().map(member).collect()),
        training_nodes: model.map_or(0, |model| model.provenance().training_nodes),
        metric: selected.map(|(metric, _)| metric),
        selection_score: selected.map(|(_, score)| score),
        can_change: version.world.recipe().is_some(),
    })
}

#[derive(Debug, Serialize)]
pub(super) struct NodeInfo {
    version: u64,
    classes: Vec<String>,
    neighbours: usize,
    /// Whether its label is among those that the model was trained on.
    trained_on: bool,
    #[serde(flatten)]
    answer: NodeAnswer,
}

pub(super) async fn node(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<NodeInfo>, Problem> {
    let version = app.versions.current();
    let (world, predictions) = (&version.world, version.predictions()?);
    let node = world.names.node(&id)?;
    Ok(Json(NodeInfo {
        version: version.number,
        classes: predictions.classes().to_vec(),
        neighbours: world.dataset.graph().degree(node),
        trained_on: world.taught().is_some_and(|targets| targets.is_known(node)),
        answer: NodeAnswer::new(id, predictions, node, None),
    }))
}

/// The model's file, as it is now.
pub(super) async fn model(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let version = app.versions.current();
    let bytes = app.work.run(move |context| Ok(version.world.keeping(context)?.to_bytes())).await?;
    Ok((download("application/octet-stream", "gfgcn.model"), bytes))
}

/// The labels that the model was trained on, as a table.
pub(super) async fn labels(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let version = app.versions.current();
    let text = app.work.run(move |_| {
        let dataset = &version.world.dataset;
        let Some(targets) = version.world.taught() else {
            return Err(Problem::conflict("it is not known which labels the model was trained on"));
        };
        let mut text = match &targets {
            Targets::Classes(_) | Targets::Sets(_) => "id,label\n".to_owned(),
            Targets::Values(values) => {
                let names = values.names().iter().map(|name| format!(",{}", cell(name)));
                format!("id{}\n", names.collect::<String>())
            }
        };
        for node in targets.known() {
            let id = cell(&dataset.node_id(node));
            let mut line = |value: &str| text += &format!("{id},{value}\n");
            match &targets {
                Targets::Classes(labels) => line(&cell(labels.name(node).unwrap_or_default())),
                Targets::Sets(sets) => {
                    sets.of_node(node).into_iter().flatten().for_each(|name| line(&cell(name)));
                }
                Targets::Values(values) => {
                    let values = values.get(node).unwrap_or_default().iter();
                    line(&values.map(f64::to_string).collect::<Vec<_>>().join(","));
                }
            }
        }
        Ok(text)
    });
    Ok((download("text/csv; charset=utf-8", "labels.csv"), text.await?))
}

fn download(kind: &'static str, name: &str) -> [(header::HeaderName, String); 2] {
    let disposition = format!("attachment; filename=\"{name}\"");
    [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)]
}

/// A cell of a table, in quotes where it needs some.
fn cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text())
}
