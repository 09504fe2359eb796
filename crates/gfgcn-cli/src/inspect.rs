//! `gfgcn inspect`: what a model file holds.

use crate::output::{Output, lambda, pairs};
use crate::settings::accuracy_name;
use crate::shown;
use clap::Args;
use gfgcn::head::Head;
use gfgcn::model::Provenance;
use gfgcn::{Design, Model, Ridge, RowScaling};
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
    design: Design,
    ridge: Ridge,
    lambda: f64,
    head: Head,
    features: usize,
    feature_names: Option<Vec<String>>,
    provenance: Provenance,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model)?;
    let report = Report {
        design: model.members()[0].design().clone(),
        ridge: model.members()[0].ridge(),
        lambda: model.members()[0].lambda(),
        head: model.head().clone(),
        features: model.features(),
        feature_names: model.feature_names().map(<[String]>::to_vec),
        provenance: Provenance {
            // In percent, as in the report of `fit`.
            selection_accuracy: model.provenance().selection_accuracy.map(|share| 100.0 * share),
            ..model.provenance().clone()
        },
    };
    output.report(&report, Report::text)
}

impl Report {
    fn text(&self) -> String {
        let yes_no = |value: bool| if value { "yes" } else { "no" }.to_owned();
        let provenance = &self.provenance;
        let mut lines: Vec<(&str, String)> = Vec::new();
        for channel in self.design.channels() {
            let rows = match channel.rows {
                RowScaling::Plain => "features as they are",
                RowScaling::Sum => "features divided by their sum",
                RowScaling::Unit => "features divided by their length",
            };
            let (filter, operator) = (channel.filter.formula(), &channel.operator);
            lines.push(("filter", format!("{filter} ({operator} normalisation, {rows})")));
        }
        lines.extend([
            ("kernel", self.ridge.kernel.to_string()),
            ("intercept", yes_no(self.ridge.intercept)),
            ("lambda", format!("{} ({})", lambda(self.lambda), self.ridge.selection.description())),
            (
                "classes",
                format!("{} ({})", self.head.names().len(), shown::list(self.head.names())),
            ),
            ("features", self.features.to_string()),
            (
                "trained on",
                format!(
                    "{}: {} of {} nodes",
                    provenance.dataset, provenance.training_nodes, provenance.nodes
                ),
            ),
            ("data fingerprint", provenance.fingerprint.clone()),
        ]);
        if let Some(accuracy) = provenance.selection_accuracy {
            lines.push((accuracy_name(self.ridge.selection), format!("{accuracy:.1} %")));
        }
        pairs(&lines)
    }
}
