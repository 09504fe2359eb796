//! `gfgcn fit`: train a model and save it.

use crate::Global;
use crate::output::{Output, Percent, count, pairs, seconds};
use crate::settings::{ModelKind, Settings, accuracy_name, depth, features};
use crate::source::{Source, SplitSource, Target};
use crate::training;
use clap::Args;
use gfgcn::filter::{DEFAULT_DEPTH, Filter};
use gfgcn::plan::Explanation;
use gfgcn::tune::Search;
use gfgcn::{Classifier, Model, Options};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Train a model on the labelled nodes and save it
///
/// Trains on every labelled node, or on the training part of a split. The whole graph takes part in
/// the filtering. Without further options the model is searched for: filter, depth, kernel, row
/// normalisation and λ are chosen by exact leave-one-out, as by gfgcn tune. With any of --model,
/// --depth, --tau, --time, --kernel, --select, --lambda or --row-normalize there is no search, and
/// what is not said is gfSSGC at depth 8 with a linear kernel.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn fit my-folder -o my.model
  gfgcn fit --edges e.csv --features f.csv --labels l.csv -o my.model
  gfgcn fit cora --public-split --model gfsgc --depth 2 --select validation -o cora.model")]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    target: Target,
    /// The model [default: searched for, or gfssgc]
    #[arg(long, value_enum)]
    model: Option<ModelKind>,
    /// Depth K of the filter [default: searched for, or 8]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = depth)]
    depth: Option<usize>,
    /// Say first what will be computed, and what it costs
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    settings: Settings,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let given = arguments.classifier()?;
    arguments.target.check(&arguments.source.files())?;
    let dataset = arguments.source.load(global, output)?;
    let split = training::nodes(&arguments.split, &dataset, output)?;
    let search = Search { options: arguments.settings.common().options(), ..Search::default() };
    let plan = match (arguments.explain, &given) {
        (false, _) => None,
        (true, Some(classifier)) => Some(classifier.explain(&dataset, &split)?),
        (true, None) => Some(search.explain(&dataset, &split)?),
    };
    plan.iter().for_each(|plan| output.plan(plan));
    let start = Instant::now();
    let (classifier, tuned) = match given {
        Some(classifier) => (classifier, None),
        None => {
            let tuned = training::search(&search, &dataset, &split, output)?;
            (tuned.classifier(), Some(tuned))
        }
    };
    let model = training::train(&classifier, &dataset, &split, output)?;
    let elapsed = start.elapsed();
    training::save(&model, arguments.target.path(), arguments.target.force())?;
    let report = Report {
        plan,
        search: tuned.map(|tuned| Searched { tried: tuned.tried, expected: tuned.expected.into() }),
        ..Report::new(&model, arguments.target.path(), elapsed)
    };
    output.report(&report, Report::text)
}

impl Arguments {
    /// What was asked for, if anything was.
    fn classifier(&self) -> gfgcn::Result<Option<Classifier>> {
        if self.model.is_none() && self.depth.is_none() && !self.settings.choose() {
            return Ok(None);
        }
        let model = self.model.unwrap_or(ModelKind::Ssgc);
        let filter = self.settings.filter(model, self.depth.unwrap_or(DEFAULT_DEPTH))?;
        Ok(Some(Classifier::new(filter).options(self.settings.options())))
    }
}

#[derive(Serialize)]
struct Report {
    model: PathBuf,
    filter: Filter,
    options: Options,
    lambda: f64,
    classes: Vec<String>,
    nodes: usize,
    training_nodes: usize,
    /// In percent.
    selection_accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Searched>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Explanation>,
    seconds: f64,
}

/// The search that chose the model.
#[derive(Serialize)]
struct Searched {
    tried: usize,
    expected: Percent,
}

impl Report {
    fn new(model: &Model, path: &std::path::Path, elapsed: Duration) -> Self {
        let training = model.training();
        Report {
            model: path.to_owned(),
            filter: model.filter(),
            options: model.options(),
            lambda: model.lambda(),
            classes: model.classes().to_vec(),
            nodes: training.nodes,
            training_nodes: training.training_nodes,
            selection_accuracy: training.selection_accuracy.map(|accuracy| 100.0 * accuracy),
            search: None,
            plan: None,
            seconds: elapsed.as_secs_f64(),
        }
    }

    fn text(&self) -> String {
        let mut lines = vec![
            ("filter", self.filter.to_string()),
            ("kernel", self.options.kernel.to_string()),
            ("features", features(self.options.row_normalize).to_owned()),
            (
                "trained on",
                format!(
                    "{} of {}, {}",
                    self.training_nodes,
                    count(self.nodes, "node", "nodes"),
                    count(self.classes.len(), "class", "classes")
                ),
            ),
            ("lambda", format!("{:.4e} ({})", self.lambda, self.options.selection)),
        ];
        if let Some(accuracy) = self.selection_accuracy {
            lines.push((accuracy_name(self.options.selection), format!("{accuracy:.1} %")));
        }
        if let Some(Searched { tried, expected }) = &self.search {
            lines.push(("chosen from", format!("{tried} combinations, each at 25 λ")));
            lines.push(("expected accuracy", expected.to_string()));
        }
        lines.push(("time", seconds(Duration::from_secs_f64(self.seconds))));
        lines.push(("saved", self.model.display().to_string()));
        pairs(&lines)
    }
}
