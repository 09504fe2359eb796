//! `gfgcn inspect`: what a model file holds.

use crate::output::{Output, pairs};
use crate::settings::accuracy_name;
use clap::Args;
use gfgcn::filter::Filter;
use gfgcn::model::Training;
use gfgcn::{Model, Options};
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
    filter: Filter,
    options: Options,
    lambda: f64,
    classes: Vec<String>,
    features: usize,
    feature_names: Option<Vec<String>>,
    training: Training,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> anyhow::Result<()> {
    let model = Model::load(&arguments.model)?;
    let report = Report {
        filter: model.filter(),
        options: model.options(),
        lambda: model.lambda(),
        classes: model.classes().to_vec(),
        features: model.features(),
        feature_names: model.feature_names().map(<[String]>::to_vec),
        training: Training {
            // In percent, as in the report of `fit`.
            selection_accuracy: model.training().selection_accuracy.map(|share| 100.0 * share),
            ..model.training().clone()
        },
    };
    output.report(&report, Report::text)
}

impl Report {
    fn text(&self) -> String {
        let yes_no = |value: bool| if value { "yes" } else { "no" }.to_owned();
        let training = &self.training;
        let mut lines = vec![
            ("filter", self.filter.to_string()),
            ("normalization", self.options.normalization.to_string()),
            ("features row-normalized", yes_no(self.options.row_normalize)),
            ("kernel", self.options.kernel.to_string()),
            ("intercept", yes_no(self.options.intercept)),
            ("lambda", format!("{:.4e} ({})", self.lambda, self.options.selection)),
            ("classes", format!("{} ({})", self.classes.len(), self.classes.join(", "))),
            ("features", self.features.to_string()),
            (
                "trained on",
                format!(
                    "{}: {} of {} nodes",
                    training.dataset, training.training_nodes, training.nodes
                ),
            ),
            ("data fingerprint", training.fingerprint.clone()),
        ];
        if let Some(accuracy) = training.selection_accuracy {
            lines.push((accuracy_name(self.options.selection), format!("{accuracy:.1} %")));
        }
        pairs(&lines)
    }
}
