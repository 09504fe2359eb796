//! `gfgcn inspect`: what a model file holds.

use crate::members::MemberLine;
use crate::output::{Output, count, lambda, pairs};
use crate::relearn::receipt;
use crate::settings::{reported, score_name, shown_score};
use crate::shown;
use crate::source::load_model;
use clap::Args;
use gfgcn::data::TargetKind;
use gfgcn::files::{open, read_file};
use gfgcn::head::{ClassWeights, Head};
use gfgcn::model::Provenance;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// Show what a model is and where it came from
#[derive(Args)]
pub(crate) struct Arguments {
    /// A model saved by `gfgcn fit`
    model: PathBuf,
    /// The receipt of what it forgot [default: the model file with .receipt.json behind it, if it is there]
    #[arg(long, value_name = "FILE")]
    receipt: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    members: Vec<MemberLine>,
    head: Head,
    features: usize,
    feature_names: Option<Vec<String>>,
    nodes: usize,
    directed: bool,
    provenance: Provenance,
    /// Whether it can learn more and forget.
    keeps_training: bool,
    /// The receipts of what it forgot, the latest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgot: Option<Vec<Value>>,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> anyhow::Result<()> {
    let model = load_model(&arguments.model)?;
    let beside = receipt::beside(&arguments.model);
    let receipts = arguments.receipt.as_ref().or(beside.exists().then_some(&beside));
    if let Some(given) = &arguments.receipt {
        open(given)?;
    }
    let forgot = match receipts {
        None => None,
        Some(path) => {
            let forgot = receipt::of_model(path, &read_file(&arguments.model)?).unwrap_or_default();
            if forgot.is_empty() {
                output.warn(format!(
                    "{} does not belong to this model: what it says was not forgotten here",
                    shown::path(path)
                ));
            }
            Some(forgot)
        }
    };
    let report = Report {
        members: model.members().iter().map(MemberLine::from).collect(),
        head: model.head().clone(),
        features: model.features(),
        feature_names: model.feature_names().map(<[String]>::to_vec),
        nodes: model.nodes(),
        directed: model.is_directed(),
        provenance: Provenance {
            // In percent, as in the report of `fit`.
            selection_accuracy: model.provenance().selection_accuracy.map(|share| 100.0 * share),
            selection_score: model.selection_score().map(|(metric, score)| reported(metric, score)),
            ..model.provenance().clone()
        },
        keeps_training: model.training().is_some(),
        forgot,
    };
    output.report(&report, Report::text)
}

impl Report {
    fn text(&self) -> String {
        let yes_no = |value: bool| if value { "yes" } else { "no" }.to_owned();
        let provenance = &self.provenance;
        let mut lines = MemberLine::lines(&self.members);
        let ridge = self.members[0].ridge;
        if let [only] = &self.members[..] {
            lines.push(("intercept", yes_no(ridge.intercept)));
            let how = ridge.selection.description();
            lines.push(("lambda", format!("{} ({how})", lambda(only.lambda))));
        }
        lines.extend([
            (
                match self.head.kind() {
                    TargetKind::Classes => "classes",
                    TargetKind::Sets => "labels",
                    TargetKind::Values => "values",
                },
                format!("{} ({})", self.head.names().len(), shown::list(self.head.names())),
            ),
            ("features", self.features.to_string()),
            (
                "trained on",
                format!(
                    "{}: {} of {} nodes{}",
                    provenance.dataset,
                    provenance.training_nodes,
                    self.nodes,
                    if self.directed { ", directed edges" } else { "" }
                ),
            ),
            ("data fingerprint", provenance.fingerprint.clone()),
            ("keeps training", yes_no(self.keeps_training)),
        ]);
        for receipt in self.forgot.iter().flatten() {
            let text = |name: &str| receipt[name].as_str().unwrap_or("?").to_owned();
            let removed = receipt["removed"].as_object().into_iter().flatten();
            let what = removed.map(|(kind, all)| {
                let number = all.as_array().map_or(0, Vec::len);
                match kind.as_str() {
                    "labels_of" => format!("labels of {}", count(number, "node", "nodes")),
                    "nodes" => count(number, "node", "nodes"),
                    _ => count(number, "edge", "edges"),
                }
            });
            let what = what.collect::<Vec<String>>().join(", ");
            lines.push(("forgot", format!("{what} on {} ({})", text("time"), text("how"))));
        }
        if provenance.objective.class_weights != ClassWeights::Equal {
            lines.push(("class weights", provenance.objective.class_weights.to_string()));
        }
        let judged = provenance.objective.metric.zip(provenance.selection_score);
        let name = judged.map(|(metric, _)| score_name(ridge.selection, metric));
        if let Some(((metric, score), name)) = judged.zip(name.as_deref()) {
            lines.push((name, shown_score(metric, score)));
        }
        pairs(&lines)
    }
}
