//! The explorer: a page, and what only the page asks for. The rest is the API.

mod layout;
mod pack;
mod page;
mod propose;
mod spectrum;
mod squares;
mod view;

pub(crate) use page::is_page;
pub(crate) use view::View;

use crate::App;
use crate::api::{AskWhy, NodeAnswer, Why, why};
use crate::change::{Change, Id};
use crate::problem::Problem;
use crate::versions::Version;
use crate::world::World;
use axum::extract::{Path, Request, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use gfgcn::context::Context;
use gfgcn::{Model, Result};
use pack::Packed;
use propose::{AskNext, Proposal};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// Edges that are drawn; of larger graphs a sample.
const EDGES: usize = 60_000;
/// Neighbours that are named.
const NEIGHBOURS: usize = 300;
/// Of the prediction sets that are shown.
const COVERAGE: f64 = 0.9;
/// Terms of each explanation.
const TERMS: usize = 12;

/// What is the same for all versions.
#[derive(Debug)]
pub(crate) struct Map {
    /// By id, so that nodes stay where they are when others go.
    places: HashMap<String, [f32; 2]>,
    density: Vec<f64>,
}

impl Map {
    pub(crate) fn of(world: &World, context: &Context) -> Result<Self> {
        let dataset = &world.dataset;
        let places = context.run(|| layout::places(dataset, context))?;
        let ids = (0..dataset.nodes()).map(|node| dataset.node_id(node).into_owned());
        let density = spectrum::density(dataset.graph(), context)?;
        Ok(Map { places: ids.zip(places).collect(), density })
    }
}

pub(crate) fn router() -> Router<Arc<App>> {
    page::router()
        .route("/explore/graph", get(graph))
        .route("/explore/view", get(current))
        .route("/explore/change", post(change))
        .route("/explore/nodes/{id}", get(node))
        .route("/explore/next", post(next))
}

/// The view of a version, which is made once.
fn view(version: &Version) -> Result<Arc<View>, Problem> {
    if let Some(view) = version.view.get() {
        return Ok(view.clone());
    }
    let view = Arc::new(View::new(&version.world, version.predictions.as_ref())?);
    Ok(version.view.get_or_init(|| view).clone())
}

/// The model that also knows its labelled nodes, which is trained once.
fn keeping<'v>(version: &'v Version, context: &Context) -> Result<&'v Model, Problem> {
    if let Some(model) = version.keeping.get() {
        return Ok(model);
    }
    let model = version.world.keeping(context)?.into_owned();
    Ok(version.keeping.get_or_init(|| model))
}

fn map(app: &App) -> Result<&Arc<Map>, Problem> {
    app.map.as_ref().ok_or_else(Problem::internal)
}

#[derive(Serialize)]
struct Graph<'g> {
    version: u64,
    name: &'g str,
    nodes: usize,
    edges: usize,
    shown_edges: usize,
    features: usize,
    directed: bool,
    density: &'g [f64],
    ids: Vec<String>,
}

async fn graph(State(app): State<Arc<App>>) -> Result<Packed, Problem> {
    let (version, map) = (app.versions.current(), map(&app)?.clone());
    let name = app.name.clone();
    app.work
        .run(move |_| {
            let dataset = &version.world.dataset;
            let graph = dataset.graph();
            let ids: Vec<String> =
                (0..dataset.nodes()).map(|node| dataset.node_id(node).into_owned()).collect();
            let every = graph.edges().div_ceil(EDGES).max(1) as u64;
            // By the ends, so that the same edges are drawn when others go.
            let drawn = |&(a, b, _): &(usize, usize, f32)| {
                let ends = [a, b].map(|node| {
                    ids[node].bytes().fold(7u64, |h, c| layout::hash(h ^ u64::from(c)))
                });
                layout::hash(ends[0] ^ ends[1].rotate_left(1)).is_multiple_of(every)
            };
            let edges: Vec<u32> = match every {
                1 => graph.edge_list().flat_map(|(a, b, _)| [a as u32, b as u32]).collect(),
                _ => graph
                    .edge_list()
                    .filter(drawn)
                    .flat_map(|(a, b, _)| [a as u32, b as u32])
                    .collect(),
            };
            let places: Vec<f32> =
                ids.iter().flat_map(|id| map.places.get(id).copied().unwrap_or_default()).collect();
            let mut packed = Packed::new(&Graph {
                version: version.number,
                name: &name,
                nodes: dataset.nodes(),
                edges: graph.edges(),
                shown_edges: edges.len() / 2,
                features: dataset.features().cols(),
                directed: graph.is_directed(),
                density: &map.density,
                ids,
            });
            packed.add_f32(places.into_iter());
            packed.add_u32(edges.into_iter());
            Ok(packed)
        })
        .await
}

async fn current(State(app): State<Arc<App>>) -> Result<Packed, Problem> {
    packed(&app, app.versions.current()).await
}

async fn packed(app: &App, version: Arc<Version>) -> Result<Packed, Problem> {
    app.work.run(move |_| Ok(view(&version)?.packed(version.number))).await
}

/// Makes a change and gives the view of what came of it.
async fn change(State(app): State<Arc<App>>, request: Request) -> Result<Packed, Problem> {
    let change: Change = app.bodies.json(request).await?;
    let version = app.change(change).await?;
    packed(&app, version).await
}

#[derive(Debug, Serialize)]
struct Details {
    #[serde(flatten)]
    answer: Option<NodeAnswer>,
    classes: Vec<String>,
    neighbours: Vec<String>,
    degree: usize,
    why: Option<Why>,
}

async fn node(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Details>, Problem> {
    let version = app.versions.current();
    let details = app.work.run(move |context| {
        let world = &version.world;
        let node = world.names.node(&id)?;
        let graph = world.dataset.graph();
        let neighbours = graph.neighbours(node).iter().take(NEIGHBOURS);
        let neighbours = neighbours.map(|&n| world.dataset.node_id(n as usize).into_owned());
        let (mut answer, mut reasons, mut classes) = (None, None, Vec::new());
        if let Some(predictions) = &version.predictions {
            let regions = predictions.regions(COVERAGE)?;
            answer = Some(NodeAnswer::new(id.clone(), predictions, node, Some(&regions)));
            let ask = AskWhy { node: Some(Id::Text(id)), new: None, class: None, top: Some(TERMS) };
            reasons = Some(why(&version, keeping(&version, context)?, &ask, context)?);
            classes = predictions.classes().to_vec();
        }
        let neighbours = neighbours.collect();
        let degree = graph.degree(node);
        Ok(Details { answer, classes, neighbours, degree, why: reasons })
    });
    Ok(Json(details.await?))
}

async fn next(State(app): State<Arc<App>>, request: Request) -> Result<Json<Proposal>, Problem> {
    let ask: AskNext = app.bodies.json(request).await?;
    let version = app.versions.current();
    Ok(Json(app.work.run(move |context| propose::next(&version, &ask, context)).await?))
}
