//! `gfgcn evaluate`: how accurate each model is at each depth.

use crate::output::{Output, count, highlighted, seconds, table};
use crate::progress::{self, Unit};
use crate::settings::{ModelKind, Settings, depth};
use crate::source::{Source, SplitSource};
use crate::{Global, memory};
use clap::Args;
use gfgcn::data::Dataset;
use gfgcn::evaluation::{Evaluation, Outcome};
use gfgcn::metrics::Summary;
use gfgcn::plan::Explanation;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Options, Result};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Filtered features are kept below this, so that big graphs leave room for the rest.
const FILTERED_BYTES: u64 = 4 << 30;
const MAX_SPLITS: i64 = 10_000;

/// Measure accuracy over many splits
///
/// By default the paper's protocol: the largest connected component, 20 random splits of each class
/// into 1:1:8 training, validation and test nodes, the three closed-form models at depths 2 to 128.
/// Prints the mean test accuracy in percent with its standard error; * marks the best.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn evaluate cora
  gfgcn evaluate citeseer --models gfsgc --depths 2,128 --select validation
  gfgcn evaluate pubmed --public-split --row-normalize --all-nodes --select validation
  gfgcn evaluate my-folder --ratio 3:1:6 --kernel rbf --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Models to compare
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "MODELS",
        default_values = ["gfsgc", "gfssgc", "gfdgc"]
    )]
    models: Vec<ModelKind>,
    /// Depths K of the filters
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "DEPTHS",
        allow_negative_numbers = true,
        value_parser = depth,
        default_values_t = [2, 4, 8, 16, 32, 64, 128]
    )]
    depths: Vec<usize>,
    /// Number of random splits
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 20,
        conflicts_with_all = ["public_split", "split"],
        value_parser = clap::value_parser!(u32).range(1..=MAX_SPLITS)
    )]
    splits: u32,
    /// Shares of training, validation and test nodes in each class
    #[arg(
        long,
        value_name = "A:B:C",
        default_value_t = Ratio::PAPER,
        conflicts_with_all = ["public_split", "split"]
    )]
    ratio: Ratio,
    /// Seed of the first split; the others follow
    #[arg(
        long,
        value_name = "SEED",
        allow_negative_numbers = true,
        default_value_t = 0,
        conflicts_with_all = ["public_split", "split"]
    )]
    seed: u64,
    /// Use the whole graph instead of its largest connected component; a given split implies it
    #[arg(long)]
    all_nodes: bool,
    /// Say first what will be computed, and what it costs
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    settings: Settings,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let options = arguments.settings.options();
    let mut filters = Vec::new();
    for &model in &arguments.models {
        for &depth in &arguments.depths {
            let filter = arguments.settings.filter(model, depth)?;
            if !filters.contains(&filter) {
                filters.push(filter);
            }
        }
    }
    let whole = arguments.source.load(global, output)?;
    let (dataset, splits) = arguments.prepare(whole)?;
    let memory = memory::available().map_or(FILTERED_BYTES, |free| FILTERED_BYTES.min(free / 2));
    let evaluation = Evaluation { filters, splits, options, memory };
    memory::check(
        "the evaluation",
        evaluation.memory_needed(&dataset),
        "use fewer --threads or a machine with more memory",
    )?;
    let plan = arguments.explain.then(|| evaluation.explain(&dataset));
    plan.iter().for_each(|plan| output.plan(plan));
    let start = Instant::now();
    let outcomes = progress::show(output, "evaluating", Unit::Steps, |progress| {
        progress.set_total((evaluation.filters.len() * evaluation.splits.len()) as u64);
        evaluation.run(&dataset, &|| progress.advance())
    })?;
    let report = Report {
        plan,
        ..Report::new(arguments, &dataset, &evaluation.options, &outcomes, start.elapsed())
    };
    output.report(&report, Report::text)
}

impl Arguments {
    /// A given split names its nodes, so none of them is cut off.
    fn takes_all_nodes(&self) -> bool {
        self.all_nodes || self.split.is_given()
    }

    /// The nodes to evaluate on and the splits of them.
    fn prepare(&self, whole: Dataset) -> Result<(Dataset, Vec<Split>)> {
        Split::all_labelled(whole.labels()).map_err(|e| e.in_file(whole.name()))?;
        let given = self.split.load(&whole)?;
        let whole = match given {
            Some(split) => whole.with_split(split)?,
            None => whole,
        };
        let dataset = if self.takes_all_nodes() { whole } else { whole.largest_component() };
        let splits = match (self.split.is_given(), dataset.split()) {
            (true, Some(split)) => vec![split.clone()],
            _ => (0..u64::from(self.splits))
                .map(|k| Split::stratified(dataset.labels(), self.ratio, self.seed.wrapping_add(k)))
                .collect::<Result<_>>()?,
        };
        Ok((dataset, splits))
    }
}

#[derive(Serialize)]
struct Report {
    dataset: String,
    nodes: usize,
    edges: usize,
    features: usize,
    classes: usize,
    protocol: Protocol,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Explanation>,
    results: Vec<Row>,
    seconds: f64,
    /// Whether a diffusion takes steps T/K > 1, past where it heads for.
    #[serde(skip)]
    overshoots: bool,
}

#[derive(Serialize)]
struct Protocol {
    nodes: &'static str,
    split: &'static str,
    splits: usize,
    ratio: Option<Ratio>,
    seed: Option<u64>,
    #[serde(flatten)]
    options: Options,
}

#[derive(Serialize)]
struct Row {
    model: &'static str,
    depth: usize,
    /// In percent.
    accuracy: Summary,
    lambda_median: f64,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Seconds {
    propagate: f64,
    fit: f64,
    predict: f64,
}

impl Report {
    fn new(
        arguments: &Arguments,
        dataset: &Dataset,
        options: &Options,
        outcomes: &[Outcome],
        elapsed: Duration,
    ) -> Self {
        let given = arguments.split.is_given();
        Report {
            dataset: dataset.name().to_owned(),
            nodes: dataset.nodes(),
            edges: dataset.graph().edges(),
            features: dataset.features().cols(),
            classes: dataset.labels().classes().len(),
            protocol: Protocol {
                nodes: if arguments.takes_all_nodes() { "all nodes" } else { "largest component" },
                split: if given { "given" } else { "stratified" },
                splits: outcomes.first().map_or(0, |outcome| outcome.accuracies.len()),
                ratio: (!given).then_some(arguments.ratio),
                seed: (!given).then_some(arguments.seed),
                options: *options,
            },
            plan: None,
            results: outcomes.iter().map(Row::new).collect(),
            seconds: elapsed.as_secs_f64(),
            overshoots: outcomes.iter().any(|o| o.filter.evaluate(-1.0).abs() > 1.0),
        }
    }

    fn text(&self) -> String {
        let p = &self.protocol;
        let split = match p.ratio {
            Some(ratio) => format!("{} {ratio}", count(p.splits, "random split", "random splits")),
            None => "the given split".to_owned(),
        };
        format!(
            "{}: {}, {}, {} features, {} ({})\n{split}, {}, {} kernel\n\n{}\n\n{}",
            self.dataset,
            count(self.nodes, "node", "nodes"),
            count(self.edges, "edge", "edges"),
            self.features,
            count(self.classes, "class", "classes"),
            p.nodes,
            p.options.selection,
            p.options.kernel,
            self.table(),
            self.legend(),
        )
    }

    /// Models down, depths across.
    fn table(&self) -> String {
        let mut depths: Vec<usize> = self.results.iter().map(|row| row.depth).collect();
        depths.sort_unstable();
        depths.dedup();
        let mut models: Vec<&str> = self.results.iter().map(|row| row.model).collect();
        models.dedup();
        let best = self.results.iter().map(|row| row.rounded()).fold(f64::MIN, f64::max);
        let mut header = vec!["model".to_owned()];
        header.extend(depths.iter().map(|depth| format!("K={depth}")));
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
        let fits = self.results.len() * self.protocol.splits;
        let spread = if self.protocol.splits > 1 { ", mean±standard error" } else { "" };
        let steps = if self.overshoots { " gfDGC overshoots where K < T." } else { "" };
        format!(
            "Test accuracy in %{spread}; * marks the best.{steps}\n{} in {}.",
            count(fits, "model fitted", "models fitted"),
            seconds(Duration::from_secs_f64(self.seconds)),
        )
    }
}

impl Row {
    fn new(outcome: &Outcome) -> Self {
        Row {
            model: outcome.filter.model_name(),
            depth: outcome.filter.depth(),
            accuracy: outcome.accuracy(),
            lambda_median: outcome.lambda_median(),
            seconds: Seconds {
                propagate: outcome.times.propagate.as_secs_f64(),
                fit: outcome.times.fit.as_secs_f64(),
                predict: outcome.times.predict.as_secs_f64(),
            },
        }
    }

    /// As it is shown: what looks equal is marked equally.
    fn rounded(&self) -> f64 {
        (self.accuracy.mean * 10.0).round() / 10.0
    }

    fn cell(&self, best: f64) -> String {
        let mark = if self.rounded() == best { "*" } else { "" };
        match self.accuracy.std_error {
            Some(error) => format!("{mark}{:.1}±{error:.1}", self.rounded()),
            None => format!("{mark}{:.1}", self.rounded()),
        }
    }
}
