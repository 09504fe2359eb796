//! The Open Inference Protocol, version 2, under /v2: what clients of Triton, KServe and others speak.
//!
//! There is one model. Its input `node` has ids of nodes (or, as integers, their numbers); its outputs are `label`, `scores` and
//! `probabilities`, or `values`. Tensors are JSON, or bytes behind the JSON as in the binary tensor data extension.

mod tensor;

use crate::App;
use crate::body::parse;
use crate::problem::Problem;
use crate::versions::Version;
use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use gfgcn::data::TargetKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use tensor::{Data, Input, Tensor};

const HEADER_LENGTH: HeaderName = HeaderName::from_static("inference-header-content-length");

type Route = (&'static str, &'static str, fn() -> MethodRouter<Arc<App>>);

/// Every route of the protocol.
pub(crate) const ROUTES: &[Route] = &[
    ("get", "/v2", || get(server)),
    ("get", "/v2/health/live", || get(live)),
    ("get", "/v2/health/ready", || get(live)),
    ("get", "/v2/models/{model}", || get(metadata)),
    ("get", "/v2/models/{model}/ready", || get(ready)),
    ("post", "/v2/models/{model}/infer", || post(infer)),
    ("get", "/v2/models/{model}/versions/{version}", || get(metadata)),
    ("get", "/v2/models/{model}/versions/{version}/ready", || get(ready)),
    ("post", "/v2/models/{model}/versions/{version}/infer", || post(infer)),
];

pub(crate) fn router() -> Router<Arc<App>> {
    ROUTES.iter().fold(Router::new(), |router, (_, path, handler)| router.route(path, handler()))
}

/// The model that a path names, and perhaps its version.
#[derive(Debug, Deserialize)]
struct Named {
    model: String,
    version: Option<String>,
}

impl Named {
    fn find(&self, app: &App) -> Result<Arc<Version>, Problem> {
        let current = app.versions.current();
        if self.model != app.name {
            return Err(Problem::not_found(format!("the only model here is {:?}", app.name)));
        }
        match &self.version {
            Some(version) if *version != current.number.to_string() => {
                Err(Problem::not_found(format!("the version that is served is {}", current.number)))
            }
            _ => Ok(current),
        }
    }
}

async fn server() -> Json<Value> {
    let version = env!("CARGO_PKG_VERSION");
    Json(json!({ "name": "gfgcn", "version": version, "extensions": ["binary_tensor_data"] }))
}

async fn live() -> Json<Value> {
    Json(json!({}))
}

async fn ready(
    State(app): State<Arc<App>>,
    Path(named): Path<Named>,
) -> Result<Json<Value>, Problem> {
    named.find(&app)?.predictions()?;
    Ok(Json(json!({})))
}

async fn metadata(
    State(app): State<Arc<App>>,
    Path(named): Path<Named>,
) -> Result<Json<Value>, Problem> {
    let version = named.find(&app)?;
    let predictions = version.predictions()?;
    let columns = predictions.classes().len();
    let tensor = |name: &str, datatype: &str, shape: Value| json!({ "name": name, "datatype": datatype, "shape": shape });
    let outputs: Vec<Value> = outputs_of(predictions.kind())
        .iter()
        .map(|&name| match name {
            "label" => tensor(name, "BYTES", json!([-1])),
            _ => tensor(name, "FP64", json!([-1, columns])),
        })
        .collect();
    Ok(Json(json!({
        "name": app.name,
        "versions": [version.number.to_string()],
        "platform": "gfgcn",
        "inputs": [tensor("node", "BYTES", json!([-1]))],
        "outputs": outputs,
        "parameters": { "classes": predictions.classes() },
    })))
}

/// In the order in which they are sent.
fn outputs_of(kind: TargetKind) -> &'static [&'static str] {
    match kind {
        TargetKind::Classes => &["label", "scores", "probabilities"],
        TargetKind::Sets => &["scores", "probabilities"],
        TargetKind::Values => &["values"],
    }
}

#[derive(Debug, Deserialize)]
struct Ask {
    id: Option<String>,
    inputs: Vec<Input>,
    #[serde(default)]
    outputs: Vec<Wanted>,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Debug, Default, Deserialize)]
struct Parameters {
    #[serde(default)]
    binary_data_output: bool,
}

#[derive(Debug, Deserialize)]
struct Wanted {
    name: String,
    #[serde(default)]
    parameters: Option<WantedParameters>,
}

#[derive(Debug, Default, Deserialize)]
struct WantedParameters {
    binary_data: Option<bool>,
}

#[derive(Serialize)]
struct Answer {
    model_name: String,
    model_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    outputs: Vec<Tensor>,
}

async fn infer(
    State(app): State<Arc<App>>,
    Path(named): Path<Named>,
    request: Request,
) -> Result<Response, Problem> {
    let (headers, body) = (request.headers().clone(), request);
    let body = app.bodies.bytes(body.into_body()).await?;
    let version = named.find(&app)?;
    let name = app.name.clone();
    app.work.run(move |_| answer(&version, name, &headers, &body)).await
}

fn answer(
    version: &Version,
    name: String,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response, Problem> {
    let (json, mut rest) = divided(headers, body)?;
    let ask: Ask = parse(json)?;
    let mut nodes = None;
    for input in &ask.inputs {
        let ids = input.ids(&mut rest)?;
        match (input.name.as_str(), &nodes) {
            ("node", None) => nodes = Some(ids),
            _ => return Err(Problem::bad_request("the only input is \"node\", once")),
        }
    }
    let nodes = nodes.ok_or_else(|| Problem::bad_request("the input \"node\" is missing"))?;
    if !rest.is_empty() {
        return Err(Problem::bad_request("there are bytes behind the last tensor"));
    }
    let predictions = version.predictions()?;
    let numbers: Vec<usize> =
        nodes.iter().map(|id| version.world.names.node(id)).collect::<Result<_, _>>()?;
    let known = outputs_of(predictions.kind());
    let binary = ask.parameters.binary_data_output;
    let wanted: Vec<(&str, bool)> = match ask.outputs.is_empty() {
        true => known.iter().map(|&name| (name, binary)).collect(),
        false => {
            let one = |wanted: &Wanted| match known.iter().find(|name| **name == wanted.name) {
                Some(&name) => {
                    let own = wanted.parameters.as_ref().and_then(|p| p.binary_data);
                    Ok((name, own.unwrap_or(binary)))
                }
                None => Err(Problem::bad_request(format!("the outputs are {}", known.join(", ")))),
            };
            ask.outputs.iter().map(one).collect::<Result<_, _>>()?
        }
    };
    let mut bytes = Vec::new();
    let outputs = wanted.into_iter().map(|(name, binary)| {
        let data = match name {
            "label" => {
                Data::Text(numbers.iter().map(|&n| predictions.name(n).to_owned()).collect())
            }
            "scores" => Data::numbers(numbers.iter().map(|&n| predictions.scores(n))),
            "probabilities" => Data::numbers(numbers.iter().map(|&n| predictions.probabilities(n))),
            _ => Data::numbers(numbers.iter().map(|&n| predictions.values(n).to_vec())),
        };
        let columns = (name != "label").then(|| predictions.classes().len());
        Tensor::new(name, numbers.len(), columns, data, binary.then_some(&mut bytes))
    });
    let outputs = outputs.collect();
    let model_version = version.number.to_string();
    let answer = Answer { model_name: name, model_version, id: ask.id, outputs };
    let mut all = serde_json::to_vec(&answer).map_err(|_| Problem::internal())?;
    let length = all.len();
    if bytes.is_empty() {
        return Ok(([(header::CONTENT_TYPE, "application/json")], all).into_response());
    }
    all.extend(bytes);
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    let mut response = (kind, all).into_response();
    response.headers_mut().insert(HEADER_LENGTH, HeaderValue::from(length));
    Ok(response)
}

/// The JSON of a body, and the tensors behind it.
fn divided<'b>(headers: &HeaderMap, body: &'b [u8]) -> Result<(&'b [u8], &'b [u8]), Problem> {
    let Some(length) = headers.get(HEADER_LENGTH) else { return Ok((body, &[])) };
    let length = length.to_str().ok().and_then(|text| text.parse().ok());
    length.and_then(|length: usize| body.split_at_checked(length)).ok_or_else(|| {
        Problem::bad_request(
            "Inference-Header-Content-Length is not the length of a part of the body",
        )
    })
}
