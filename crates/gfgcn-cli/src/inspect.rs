//! `gfgcn inspect`: what a model file holds.

use crate::members::MemberLine;
use crate::output::{Output, lambda, pairs};
use crate::settings::{reported, score_name, shown_score};
use crate::shown;
use clap::Args;
use gfgcn::Model;
use gfgcn::data::TargetKind;
use gfgcn::head::{ClassWeights, Head};
use gfgcn::model::Provenance;
use serde::Serialize;
use std::path::PathBuf;

/// Show what a model is and where it came from
#[derive(Args)]
pub(crate) struct Arguments {
    /// A model saved by `gfgcn fit`
    model: PathBuf,
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
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model)?;
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
