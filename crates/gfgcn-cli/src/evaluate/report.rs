//! What `evaluate` prints.

use super::splits::Origin;
use super::{Arguments, calibration};
use crate::output::{count, highlighted, seconds, table};
use crate::settings::targets;
use crate::training::Parts;
use gfgcn::calibration::Calibrated;
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::driver::Explanation;
use gfgcn::evaluation::Evaluated;
use gfgcn::filter::{Filter, Tolerance};
use gfgcn::graph::Operator;
use gfgcn::head::ClassWeights;
use gfgcn::metrics::{Metric, Summary};
use gfgcn::split::Ratio;
use gfgcn::tune::Searched;
use gfgcn::{Ridge, RowScaling};
use gfgcn_baselines::{Baseline, Logistic, Method, ModelRuns, Run, Training};
use gfgcn_data::Column;
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Serialize)]
pub(super) struct Report {
    dataset: String,
    nodes: usize,
    edges: usize,
    features: usize,
    /// What is known of the nodes: classes, sets (of labels) or values.
    targets: TargetKind,
    /// How many classes, labels or columns of values there are.
    classes: usize,
    metric: Metric,
    protocol: Protocol,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Explanation>,
    results: Vec<Row>,
    seconds: f64,
}

#[derive(Serialize)]
struct Protocol {
    nodes: &'static str,
    split: Origin,
    splits: usize,
    train_on: Parts,
    ratio: Option<Ratio>,
    seed: Option<u64>,
    operator: Operator,
    rows: RowScaling,
    tolerance: Tolerance,
    /// Of the closed form.
    #[serde(flatten)]
    ridge: Ridge,
    class_weights: ClassWeights,
    /// Of the models that are trained, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    training: Option<Training>,
}

#[derive(Serialize)]
pub(super) struct Row {
    model: &'static str,
    /// K, where the model has one.
    depth: Option<usize>,
    /// In percent; of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<Summary>,
    metric: Metric,
    /// Of the metric; in percent where it is a share.
    score: Summary,
    /// The same, one per split.
    scores: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda_median: Option<f64>,
    /// What is trained, with all its numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    trained: Option<Trained>,
    /// Of probabilities and prediction sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibrated>,
    seconds: Seconds,
    /// Whether a diffusion takes steps T/K > 1, past where it heads for.
    #[serde(skip)]
    overshoots: bool,
}

#[derive(Serialize)]
struct Trained {
    model: Baseline,
    runs: usize,
    from_cache: usize,
    /// How many of the runs diverged: those predict the first class for every node.
    diverged: usize,
}

#[derive(Serialize)]
struct Seconds {
    propagate: f64,
    fit: f64,
    predict: f64,
}

impl Report {
    /// A row for each model and split.
    pub(super) fn columns(&self) -> Vec<Column<'_>> {
        let rows = self.results.iter();
        let rows: Vec<(&Row, usize)> =
            rows.flat_map(|row| (0..row.scores.len()).map(move |split| (row, split))).collect();
        let depth = |row: &Row| row.depth.map(|depth| depth.to_string()).unwrap_or_default();
        vec![
            Column::text("model", rows.iter().map(|(row, _)| row.model)),
            Column::text("depth", rows.iter().map(|(row, _)| depth(row))),
            Column::numbers("split", rows.iter().map(|(_, split)| *split as f64).collect()),
            Column::text("metric", rows.iter().map(|(row, _)| row.metric.to_string())),
            Column::numbers("score", rows.iter().map(|(row, split)| row.scores[*split]).collect()),
        ]
    }

    pub(super) fn new(
        arguments: &Arguments,
        training: Training,
        dataset: &Dataset,
        splits: usize,
        results: Vec<Row>,
        plan: Option<Explanation>,
        elapsed: Duration,
    ) -> Self {
        let split = arguments.splits.origin();
        let kind = dataset.targets().kind();
        let any_trained = results.iter().any(|row| row.trained.is_some());
        Report {
            dataset: dataset.name().to_owned(),
            nodes: dataset.nodes(),
            edges: dataset.graph().edges(),
            features: dataset.features().cols(),
            targets: kind,
            classes: dataset.targets().names().len(),
            metric: arguments.settings.objective().metric.unwrap_or(Metric::default_of(kind)),
            protocol: Protocol {
                nodes: if arguments.takes_all_nodes() { "all nodes" } else { "largest component" },
                split: match split {
                    Origin::Stratified if kind != TargetKind::Classes => Origin::Random,
                    split => split,
                },
                splits,
                train_on: arguments.train_on.parts(),
                ratio: arguments.splits.ratio(),
                seed: (split == Origin::Stratified || any_trained).then_some(arguments.seed()),
                operator: arguments.settings.operator(),
                rows: arguments.settings.rows(),
                tolerance: arguments.settings.tolerance(),
                ridge: arguments.settings.ridge().on(kind),
                class_weights: arguments.settings.objective().class_weights,
                training: any_trained.then_some(training),
            },
            plan,
            results,
            seconds: elapsed.as_secs_f64(),
        }
    }

    pub(super) fn text(&self) -> String {
        let p = &self.protocol;
        let split = match (p.split, p.ratio) {
            (_, Some(ratio)) => {
                format!("{} {ratio}", count(p.splits, "random split", "random splits"))
            }
            (Origin::Official, _) => count(p.splits, "official split", "official splits"),
            _ if p.splits == 1 => "the given split".to_owned(),
            _ => format!("{} given splits", p.splits),
        };
        let mut how = vec![split];
        if p.train_on == Parts::TrainAndValidation {
            how.push("validation parts train too".to_owned());
        }
        if self.fitted() > 0 {
            let selection = p.ridge.selection.description();
            how.push(format!("{selection}, {} kernel", p.ridge.kernel));
            if p.class_weights != ClassWeights::Equal {
                how.push(format!("class weights {}", p.class_weights));
            }
        }
        if let Some(training) = &p.training {
            let epochs = count(training.epochs, "epoch", "epochs");
            let (limit, patience) = match training.patience {
                None => ("", String::new()),
                Some(patience) => (
                    "up to ",
                    format!(", until the validation part has not improved for {patience}"),
                ),
            };
            let own = |trained: &Trained| trained.model.learning_rate();
            let mut rates: Vec<String> = self
                .trained()
                .map(|trained| training.learning_rate.unwrap_or_else(|| own(trained)).to_string())
                .collect();
            rates.sort();
            rates.dedup();
            how.push(format!("Adam for {limit}{epochs} at {}{patience}", rates.join(" and ")));
            // One run on each random or official split, many on a given one.
            if p.split == Origin::Given
                && let Some(trained) = self.trained().next()
            {
                how.push(count(trained.runs, "run with its seed", "runs with different seeds"));
            }
        }
        format!(
            "{}: {}, {}, {} features, {} ({})\n{}\n\n{}\n\n{}{}",
            self.dataset,
            count(self.nodes, "node", "nodes"),
            count(self.edges, "edge", "edges"),
            self.features,
            targets(self.targets, self.classes),
            p.nodes,
            how.join("; "),
            self.table(),
            self.legend(),
            self.calibration(),
        )
    }

    /// Tables of what probabilities and prediction sets are worth, if that was asked for.
    fn calibration(&self) -> String {
        let judged = self.results.iter().filter_map(|row| Some((row, row.calibration.as_ref()?)));
        let judged: Vec<(String, &Calibrated)> =
            judged.map(|(row, calibrated)| (row.name(), calibrated)).collect();
        if judged.is_empty() { String::new() } else { calibration::text(&judged, self.targets) }
    }

    fn trained(&self) -> impl Iterator<Item = &Trained> {
        self.results.iter().filter_map(|row| row.trained.as_ref())
    }

    /// Models in closed form, over all splits.
    fn fitted(&self) -> usize {
        let closed_form = self.results.iter().filter(|row| row.trained.is_none()).count();
        closed_form * self.protocol.splits
    }

    /// Models down, depths across; those without a depth in a column of their own.
    fn table(&self) -> String {
        let mut depths: Vec<Option<usize>> = self.results.iter().map(|row| row.depth).collect();
        depths.sort_unstable();
        depths.dedup();
        let mut models: Vec<&str> = self.results.iter().map(|row| row.model).collect();
        models.dedup();
        let best = self.results.iter().map(Row::rounded).reduce(match self.metric {
            metric if metric.higher_is_better() => f64::max,
            _ => f64::min,
        });
        let best = best.unwrap_or_default();
        let mut header = vec!["model".to_owned()];
        let name = |depth: &Option<usize>| depth.map_or_else(|| "–".into(), |k| format!("K={k}"));
        header.extend(depths.iter().map(name));
        let rows = models.iter().map(|&model| {
            let mut cells = vec![model.to_owned()];
            cells.extend(depths.iter().map(|&depth| {
                let row = self.results.iter().find(|row| row.model == model && row.depth == depth);
                row.map_or_else(String::new, |row| row.cell(best))
            }));
            cells
        });
        let text = table(header, rows.collect()).trim_fmt();
        let cells = self.results.iter().map(|row| row.cell(best));
        let marked: BTreeSet<String> = cells.filter(|cell| cell.starts_with('*')).collect();
        marked.iter().fold(text, |text, cell| text.replace(cell, &highlighted(cell)))
    }

    fn legend(&self) -> String {
        let spread = self.results.iter().any(|row| row.score.std_error.is_some());
        let spread = if spread { ", mean±standard error" } else { "" };
        let overshooting: BTreeSet<&str> =
            self.results.iter().filter(|row| row.overshoots).map(|row| row.model).collect();
        let steps = match Vec::from_iter(overshooting).join(" and ") {
            none if none.is_empty() => none,
            models => format!(" Steps of {models} overshoot where K < T."),
        };
        let runs: usize = self.trained().map(|trained| trained.runs).sum();
        let known: usize = self.trained().map(|trained| trained.from_cache).sum();
        let mut work = Vec::new();
        if self.fitted() > 0 {
            work.push(count(self.fitted(), "model fitted", "models fitted"));
        }
        if runs > known {
            work.push(count(runs - known, "model trained", "models trained"));
        }
        if known > 0 {
            work.push(format!("{known} known from before"));
        }
        format!(
            "Test {}{}{spread}; * marks the best.{steps}\n{} in {}.",
            self.metric.description(),
            if self.metric.is_share() { " in %" } else { "" },
            work.join(", "),
            seconds(Duration::from_secs_f64(self.seconds)),
        )
    }
}

/// A diffusion whose steps go past where they head for.
fn overshoots(filter: &Filter) -> bool {
    filter.evaluate(-1.0).abs() > 1.0
}

impl Row {
    pub(super) fn fitted(method: &Method, result: &Evaluated) -> Self {
        Row {
            model: method.name(),
            depth: method.depth(),
            accuracy: result.accuracy(),
            metric: result.metric,
            score: result.score(),
            scores: result.scores.clone(),
            lambda_median: Some(result.lambda_median()),
            trained: None,
            calibration: result.calibrated.clone(),
            seconds: Seconds {
                propagate: result.times.propagate.as_secs_f64(),
                fit: result.times.fit.as_secs_f64(),
                predict: result.times.predict.as_secs_f64(),
            },
            overshoots: overshoots(&result.design.filter()),
        }
    }

    pub(super) fn searched(result: &Searched, calibrates: bool) -> Self {
        Row {
            model: Method::Auto.name(),
            depth: None,
            accuracy: result.accuracy(),
            metric: result.metric,
            score: result.score(),
            scores: result.scores.clone(),
            lambda_median: None,
            trained: None,
            calibration: calibrates.then(|| result.calibrated.clone()),
            seconds: Seconds {
                propagate: 0.0,
                fit: result.fit.as_secs_f64(),
                predict: result.predict.as_secs_f64(),
            },
            overshoots: false,
        }
    }

    pub(super) fn trained(outcome: &ModelRuns) -> Self {
        let model = outcome.model;
        let sum = |part: fn(&Run) -> f64| outcome.runs.iter().map(part).sum();
        Row {
            model: model.name(),
            depth: Some(model.depth()),
            accuracy: Some(outcome.accuracy()),
            metric: Metric::Accuracy,
            score: outcome.accuracy(),
            scores: outcome.runs.iter().map(|run| run.accuracy).collect(),
            lambda_median: None,
            calibration: None,
            trained: Some(Trained {
                model,
                runs: outcome.runs.len(),
                from_cache: outcome.known,
                diverged: outcome.diverged().map_or(0, |(runs, _)| runs),
            }),
            seconds: Seconds {
                propagate: sum(|run| run.prepare_seconds),
                fit: sum(|run| run.train_seconds),
                predict: sum(|run| run.predict_seconds),
            },
            overshoots: matches!(model, Baseline::Logistic(Logistic { filter }) if overshoots(&filter)),
        }
    }

    /// The model with its depth, where it has one.
    fn name(&self) -> String {
        match self.depth {
            Some(depth) => format!("{} K={depth}", self.model),
            None => self.model.to_owned(),
        }
    }

    /// As it is shown: what looks equal is marked equally.
    fn rounded(&self) -> f64 {
        let unit = 10f64.powi(self.digits() as i32);
        (self.score.mean * unit).round() / unit
    }

    /// Behind the point.
    fn digits(&self) -> usize {
        if self.metric.is_share() { 1 } else { 3 }
    }

    fn cell(&self, best: f64) -> String {
        let mark = if self.rounded() == best { "*" } else { "" };
        let digits = self.digits();
        match self.score.std_error {
            Some(error) => format!("{mark}{:.digits$}±{error:.digits$}", self.rounded()),
            None => format!("{mark}{:.digits$}", self.rounded()),
        }
    }
}
