//! What nodes are predicted to be: those of the graph, and others that a request describes.

use crate::App;
use crate::change::{Edge, Id, Newcomer};
use crate::problem::Problem;
use crate::versions::Version;
use axum::Json;
use axum::extract::{Request, State};
use gfgcn::calibration::Regions;
use gfgcn::data::TargetKind;
use gfgcn::model::Predictions;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// More nodes than this are looked up on another thread.
const FEW: usize = 500;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    /// Nodes of the graph.
    #[serde(default)]
    nodes: Vec<Id>,
    /// Nodes that are not in it, and what they are linked to.
    #[serde(default)]
    new: Vec<Newcomer>,
    /// Further edges, between any of them.
    #[serde(default)]
    edges: Vec<Edge>,
    /// Of prediction sets or intervals, 0 to 1.
    coverage: Option<f64>,
}

/// What a node is predicted to be.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NodeAnswer {
    pub(crate) node: String,
    /// Of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// Of sets of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<Vec<String>>,
    /// Of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<Vec<f64>>,
    /// One per class or label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scores: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) probabilities: Option<Vec<f64>>,
    #[serde(flatten)]
    pub(crate) regional: Option<Regional>,
}

/// What is plausible at the coverage that was asked for.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Regional {
    /// Classes or labels.
    Set(Vec<String>),
    /// From where to where, of values; null where there is no bound.
    Intervals(Vec<(f64, f64)>),
}

impl NodeAnswer {
    pub(crate) fn new(
        id: String,
        predictions: &Predictions,
        node: usize,
        regions: Option<&Regions>,
    ) -> Self {
        let kind = predictions.kind();
        let named = |classes: Vec<u32>| -> Vec<String> {
            classes.iter().map(|&class| predictions.classes()[class as usize].clone()).collect()
        };
        let has_classes = kind != TargetKind::Values;
        let regional = regions.map(|regions| match kind {
            TargetKind::Values => Regional::Intervals(predictions.intervals(node, regions)),
            _ => Regional::Set(named(predictions.plausible(node, regions))),
        });
        NodeAnswer {
            node: id,
            label: (kind == TargetKind::Classes).then(|| predictions.name(node).to_owned()),
            labels: (kind == TargetKind::Sets).then(|| named(predictions.labels(node))),
            values: (!has_classes).then(|| predictions.values(node).to_vec()),
            scores: has_classes.then(|| predictions.scores(node)),
            probabilities: has_classes.then(|| predictions.probabilities(node)),
            regional,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Answer {
    version: u64,
    kind: TargetKind,
    /// In the order of scores and probabilities.
    classes: Vec<String>,
    predictions: Vec<NodeAnswer>,
    /// What a person should know about how the nodes were matched to the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

pub(super) async fn predict(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Answer>, Problem> {
    let ask: Ask = app.bodies.json(request).await?;
    let version = app.versions.current();
    if ask.new.is_empty() && ask.edges.is_empty() && ask.nodes.len() <= FEW {
        return Ok(Json(known(&version, &ask)?));
    }
    let answer = app.work.run(move |context| {
        let mut answer = known(&version, &ask)?;
        if ask.new.is_empty() {
            return match ask.edges.is_empty() {
                true => Ok(answer),
                false => Err(Problem::bad_request(
                    "edges without new nodes change what is predicted of others: update the graph",
                )),
            };
        }
        let world = &version.world;
        let growth = world.names.growth(&ask.new, &ask.edges)?;
        let grown = world.dataset.grown(&growth.nodes, &growth.edges)?;
        let first = world.dataset.nodes();
        let nodes: Vec<usize> = (first..grown.nodes()).collect();
        let predictions = world.model()?.predict_nodes(&grown, &nodes, context)?;
        let regions = ask.coverage.map(|coverage| predictions.regions(coverage)).transpose()?;
        for (node, newcomer) in nodes.into_iter().zip(&ask.new) {
            let id = newcomer.id.to_string();
            answer.predictions.push(NodeAnswer::new(id, &predictions, node, regions.as_ref()));
        }
        answer.notes = predictions.notes().to_vec();
        Ok(answer)
    });
    Ok(Json(answer.await?))
}

/// Of the nodes that are in the graph.
fn known(version: &Version, ask: &Ask) -> Result<Answer, Problem> {
    let predictions = version.predictions()?;
    let regions = ask.coverage.map(|coverage| predictions.regions(coverage)).transpose()?;
    let of_node = |id: &Id| {
        let id = id.to_string();
        let node = version.world.names.node(&id)?;
        Ok(NodeAnswer::new(id, predictions, node, regions.as_ref()))
    };
    Ok(Answer {
        version: version.number,
        kind: predictions.kind(),
        classes: predictions.classes().to_vec(),
        predictions: ask.nodes.iter().map(of_node).collect::<Result<_, Problem>>()?,
        notes: Vec::new(),
    })
}
