//! What `gfgcn update` and `gfgcn forget` share: reading the model, and saying what became of it.

pub(crate) mod forget;
pub(crate) mod receipt;
pub(crate) mod update;

use crate::output::{count, lambda, pairs, seconds};
use crate::settings::{reported, score_name, shown_score};
use crate::source::{check_output, load_model};
use clap::Args;
use gfgcn::data::TargetKind;
use gfgcn::metrics::Metric;
use gfgcn::ridge::Selection;
use gfgcn::training::{Changes, Relearnt};
use gfgcn::{Model, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The model that changes, and where the new one goes.
#[derive(Args)]
pub(crate) struct Models {
    /// A model saved by `gfgcn fit --keep-training`
    model: PathBuf,
    /// File to write the new model to; the model's own with --force, which it then replaces in one step
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the output file if it is there
    #[arg(long)]
    force: bool,
}

impl Models {
    /// Notices before any work is done that the output could not be written.
    fn check(&self, inputs: &[&Path]) -> Result<()> {
        let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
        check_output(&self.output, self.force, &inputs)
    }

    fn load(&self) -> Result<Model> {
        let model = load_model(&self.model)?;
        model.kept_training().map_err(|error| error.in_file(&self.model))?;
        Ok(model)
    }

    /// Whether the model itself is replaced.
    fn in_place(&self) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        real(&self.model).is_some() && real(&self.model) == real(&self.output)
    }
}

/// What became of a model.
#[derive(Serialize)]
struct Outcome {
    changes: Changes,
    targets: TargetKind,
    nodes: usize,
    training_nodes: usize,
    classes: Vec<String>,
    /// Of a model that is no stack.
    lambda: Option<f64>,
    metric: Option<Metric>,
    /// Of the metric; in percent where it is a share.
    selection_score: Option<f64>,
    #[serde(skip)]
    selection: Selection,
    seconds: f64,
}

impl Outcome {
    fn new(relearnt: &Relearnt, elapsed: Duration) -> Self {
        let model = &relearnt.model;
        let only = match model.members() {
            [only] => Some(only),
            _ => None,
        };
        Outcome {
            changes: relearnt.changes,
            targets: model.head().kind(),
            nodes: model.nodes(),
            training_nodes: model.provenance().training_nodes,
            classes: model.classes().to_vec(),
            lambda: only.map(|member| member.lambda()),
            metric: model.selection_score().map(|(metric, _)| metric),
            selection_score: model.selection_score().map(|(metric, score)| reported(metric, score)),
            selection: model.members()[0].ridge().selection,
            seconds: elapsed.as_secs_f64(),
        }
    }

    /// What one node has.
    fn labels(&self, number: usize) -> String {
        match self.targets {
            TargetKind::Classes => count(number, "label", "labels"),
            TargetKind::Sets => count(number, "set of labels", "sets of labels"),
            TargetKind::Values => count(number, "value", "values"),
        }
    }

    fn text(&self, more: Vec<(&'static str, String)>) -> String {
        let Changes {
            labels_added,
            labels_changed,
            labels_removed,
            nodes_added,
            nodes_removed,
            nodes_changed,
            rows_computed,
        } = self.changes;
        let nodes = |number: usize| count(number, "node", "nodes");
        let parts = [
            (labels_added, format!("{} added", self.labels(labels_added))),
            (labels_changed, format!("{} corrected", self.labels(labels_changed))),
            (labels_removed, format!("{} removed", self.labels(labels_removed))),
            (nodes_added, format!("{} added", nodes(nodes_added))),
            (nodes_removed, format!("{} removed", nodes(nodes_removed))),
            (nodes_changed, format!("{} with other edges or features", nodes(nodes_changed))),
        ];
        let parts: Vec<String> =
            parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text).collect();
        let changed = if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") };
        let computed = match rows_computed {
            Some(0) => "nothing, only solved again".to_owned(),
            Some(rows) => format!("{rows} of {}", nodes(self.nodes)),
            None => "everything: the model was searched for again".to_owned(),
        };
        let mut lines = vec![
            ("changed", changed),
            ("filtered again", computed),
            ("trained on", format!("{} of {}", self.training_nodes, nodes(self.nodes))),
        ];
        lines.extend(self.lambda.map(|value| ("lambda", lambda(value))));
        let judged = self.metric.zip(self.selection_score);
        let name = judged.map(|(metric, _)| score_name(self.selection, metric));
        if let Some(((metric, score), name)) = judged.zip(name.as_deref()) {
            lines.push((name, shown_score(metric, score)));
        }
        lines.push(("time", seconds(Duration::from_secs_f64(self.seconds))));
        lines.extend(more);
        pairs(&lines)
    }
}
