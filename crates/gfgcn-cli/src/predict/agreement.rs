//! How predictions compare with what the data say.

use crate::output::table;
use gfgcn::data::{Dataset, Labels, TargetKind, Targets};
use gfgcn::metrics::{Metric, Metrics};
use gfgcn::model::Predictions;
use gfgcn::split::Split;
use gfgcn::{Model, Result};
use serde::Serialize;

/// How the predictions compare with what the data say.
#[derive(Serialize)]
pub(super) struct Agreement {
    /// Which labelled nodes were compared.
    on: &'static str,
    nodes: usize,
    #[serde(flatten)]
    judged: Judged,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Judged {
    /// In percent.
    Classes(Metrics),
    /// In percent, with as many labels predicted as a node has.
    Sets {
        micro_f1: f64,
        macro_f1: f64,
    },
    Values {
        r2: f64,
        mae: f64,
    },
}

impl Agreement {
    /// `None` where nothing is known of any node to compare.
    pub(super) fn new(
        model: &Model,
        dataset: &Dataset,
        predictions: &Predictions,
        split: Option<&Split>,
    ) -> Result<Option<Self>> {
        let targets = dataset.targets();
        let (on, nodes) = match split {
            Some(split) => ("test nodes", split.test().to_vec()),
            None => {
                // Whether they are those of the training is of no interest where a few are asked for.
                let same = predictions.nodes() == dataset.nodes()
                    && model.provenance().fingerprint == dataset.fingerprint();
                (of_all(targets.kind(), same), targets.known())
            }
        };
        let is_compared = |node: &usize| predictions.has(*node) && targets.is_known(*node);
        let nodes: Vec<usize> = nodes.into_iter().filter(is_compared).collect();
        let (nodes, known) = (&nodes[..], nodes.len());
        let score = |metric| predictions.agreement(targets, nodes, metric);
        let judged = match (predictions.kind(), targets) {
            (TargetKind::Classes, Targets::Classes(labels)) if known > 0 => {
                Some(Judged::Classes(of_classes(labels, nodes, predictions)))
            }
            (TargetKind::Sets, _) => {
                let both = score(Metric::MicroF1)?.zip(score(Metric::MacroF1)?);
                both.map(|(micro, macro_f1)| Judged::Sets {
                    micro_f1: 100.0 * micro,
                    macro_f1: 100.0 * macro_f1,
                })
            }
            (TargetKind::Values, _) => {
                let both = score(Metric::R2)?.zip(score(Metric::Mae)?);
                both.map(|(r2, mae)| Judged::Values { r2, mae })
            }
            _ => None,
        };
        Ok(judged.map(|judged| Agreement { on, nodes: known, judged }))
    }

    pub(super) fn text(&self) -> String {
        let how = match &self.judged {
            Judged::Classes(metrics) => return self.text_of_classes(metrics),
            Judged::Sets { micro_f1, macro_f1 } => format!(
                "micro-F1 {micro_f1:.1} %, macro-F1 {macro_f1:.1} %, with as many labels as each has"
            ),
            Judged::Values { r2, mae } => format!("R² {r2:.3}, mean absolute error {mae:.3}"),
        };
        format!("\nAgreement with {}: {how}\n", self.compared())
    }

    /// How many nodes, and which.
    fn compared(&self) -> String {
        match self.nodes {
            1 => format!("1 {}", self.on.replacen("nodes", "node", 1)),
            nodes => format!("{nodes} {}", self.on),
        }
    }

    fn text_of_classes(&self, metrics: &Metrics) -> String {
        let percent = |value: f64| format!("{value:.1}");
        let rows = metrics.classes.iter().map(|class| {
            vec![
                class.class.clone(),
                class.support.to_string(),
                percent(class.precision),
                percent(class.recall),
                percent(class.f1),
            ]
        });
        let header =
            ["class", "nodes", "precision %", "recall %", "F1 %"].map(String::from).to_vec();
        format!(
            "\nAgreement with {}: accuracy {} %, macro F1 {} %, weighted F1 {} %\n{}\n",
            self.compared(),
            percent(metrics.accuracy),
            percent(metrics.macro_f1),
            percent(metrics.weighted_f1),
            table(header, rows.collect()).trim_fmt(),
        )
    }
}

fn of_all(kind: TargetKind, same: bool) -> &'static str {
    match (kind, same) {
        (TargetKind::Values, true) => "nodes with values, training nodes among them",
        (TargetKind::Values, false) => "nodes with values, perhaps training nodes among them",
        (_, true) => "labelled nodes, training nodes among them",
        (_, false) => "labelled nodes, perhaps training nodes among them",
    }
}

/// Classes by name: the data may know classes that the model does not.
fn of_classes(labels: &Labels, nodes: &[usize], predictions: &Predictions) -> Metrics {
    let mut classes = predictions.classes().to_vec();
    // Names are looked up once per class, not once per node.
    let mut positions: Vec<Option<u32>> = vec![None; labels.classes().len()];
    let mut position = |class: u32| -> u32 {
        *positions[class as usize].get_or_insert_with(|| {
            let name = &labels.classes()[class as usize];
            let known = classes.iter().position(|class| class == name);
            known.unwrap_or_else(|| {
                classes.push(name.clone());
                classes.len() - 1
            }) as u32
        })
    };
    let pairs: Vec<(u32, u32)> = nodes
        .iter()
        .filter_map(|&node| Some((position(labels.get(node)?), predictions.class(node))))
        .collect();
    Metrics::new(&classes, pairs).in_percent()
}
