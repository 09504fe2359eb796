//! Why a node is predicted to be what it is.

use crate::App;
use crate::change::{Id, Newcomer};
use crate::nodes::quoted;
use crate::problem::Problem;
use crate::versions::Version;
use axum::Json;
use axum::extract::{Request, State};
use gfgcn::Model;
use gfgcn::context::Context;
use gfgcn::data::TargetKind;
use gfgcn::explain::{Cause, Reasons, View};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Terms of each list, unless more or fewer are asked for.
const TOP: usize = 10;
/// Terms of each list that can be asked for.
const MOST: usize = 10_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    /// A node of the graph, or
    pub(crate) node: Option<Id>,
    /// one that is not in it.
    pub(crate) new: Option<Newcomer>,
    /// The predicted one, or the first column of values, if none is named.
    pub(crate) class: Option<String>,
    pub(crate) top: Option<usize>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Why {
    pub(crate) version: u64,
    pub(crate) node: String,
    pub(crate) class: String,
    pub(crate) score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<f64>,
    /// What every node has of the score.
    pub(crate) constant: f64,
    pub(crate) channels: List,
    pub(crate) features: List,
    pub(crate) nodes: List,
    /// Only of a described model that keeps its training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) labelled: Option<List>,
}

/// Terms of the score, the largest first. With those of the others and the constant they add up to it.
#[derive(Debug, Serialize)]
pub(crate) struct List {
    pub(crate) terms: Vec<Term>,
    pub(crate) others: usize,
    pub(crate) sum_of_others: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Term {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// What is known of a labelled node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
}

pub(super) async fn explain(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Why>, Problem> {
    let ask: Ask = app.bodies.json(request).await?;
    let version = app.versions.current();
    let why = move |context: &Context| why(&version, version.world.model()?, &ask, context);
    Ok(Json(app.work.run(why).await?))
}

/// Takes a score of a version's model apart.
pub(crate) fn why(
    version: &Version,
    model: &Model,
    ask: &Ask,
    context: &Context,
) -> Result<Why, Problem> {
    let world = &version.world;
    let grown;
    let (dataset, node, id) = match (&ask.node, &ask.new) {
        (Some(id), None) => (&world.dataset, world.names.node(&id.to_string())?, id.to_string()),
        (None, Some(new)) => {
            let growth = world.names.growth(std::slice::from_ref(new), &[])?;
            grown = world.dataset.grown(&growth.nodes, &growth.edges)?;
            (&grown, world.dataset.nodes(), new.id.to_string())
        }
        _ => {
            return Err(Problem::bad_request(
                "either \"node\" or \"new\" says which node is meant",
            ));
        }
    };
    let class = match &ask.class {
        Some(name) => {
            Some(model.classes().iter().position(|class| class == name).ok_or_else(|| {
                Problem::not_found(format!("the model knows no class {}", quoted(name)))
            })?)
        }
        None => None,
    };
    let reasons = model.explain(dataset, node, context)?;
    let kind = model.head().kind();
    let class = class.unwrap_or(match kind {
        TargetKind::Values => 0,
        TargetKind::Classes | TargetKind::Sets => reasons.predicted(),
    });
    let top = ask.top.unwrap_or(TOP).min(MOST);
    let term = |&(cause, value): &(Cause, f64)| {
        let label = match (cause, model.training()) {
            (Cause::Labelled(node), Some(training)) => Some(training.known_of(node)),
            _ => None,
        };
        Term { name: cause.name(model, dataset), value, label }
    };
    let list = |reasons: &Reasons, view: View| {
        let terms = reasons.terms(view, class);
        let (first, others) = terms.split_at(top.min(terms.len()));
        List {
            terms: first.iter().map(term).collect(),
            others: others.len(),
            sum_of_others: others.iter().map(|(_, value)| value).sum(),
        }
    };
    Ok(Why {
        version: version.number,
        node: id,
        class: model.classes()[class].clone(),
        score: reasons.score(class),
        probability: (kind != TargetKind::Values)
            .then(|| reasons.probabilities(model.calibration())[class]),
        constant: reasons.constant(class),
        channels: list(&reasons, View::Channels),
        features: list(&reasons, View::Features),
        nodes: list(&reasons, View::Nodes),
        labelled: reasons.has(View::Labelled).then(|| list(&reasons, View::Labelled)),
    })
}
