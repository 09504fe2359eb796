//! `gfgcn tune`: which model is best on these labels, and how good it will be.

use crate::device::{DeviceOption, placed};
use crate::limit::MemoryLimit;
use crate::output::{Output, count, lambda, pairs, seconds, table};
use crate::settings::{Common, reported, shown_score};
use crate::source::{Source, SplitSource, check_output};
use crate::tables::TableTarget;
use crate::training::{Searched, TrainOn};
use crate::{Global, shown, training};
use clap::{ArgGroup, Args};
use gfgcn::Design;
use gfgcn::data::Dataset;
use gfgcn::driver::Explanation;
use gfgcn::kernel::Kernel;
use gfgcn::metrics::Metric;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::tune::{Contender, Tuned};
use gfgcn_data::Column;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Search for the best model by exact leave-one-out
///
/// Tries what could say something about the nodes of any graph: their own features, those of their
/// neighbours, the paper's filters, who is linked to whom, directions, relations, degrees. Each is
/// solved in closed form with its own λ, on the labelled nodes or on the training part of a split, and
/// predicts each training node by what is learnt without it. By these predictions they are weighted and
/// added up. The default, gfSSGC at depth 8, is kept unless the sum is better beyond chance. The expected accuracy
/// is estimated on nodes that had no part in the choice.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn tune cora --public-split
  gfgcn tune my-folder --save my.model
  gfgcn tune my-folder -o learners.csv",
    group(ArgGroup::new("written").args(["save", "output"]).multiple(true)))]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Train the chosen model and save it
    #[arg(long, value_name = "MODEL")]
    save: Option<PathBuf>,
    #[command(flatten)]
    table: TableTarget,
    /// Replace the model file or the table if it is there
    #[arg(long, requires = "written")]
    force: bool,
    /// First show what will be computed and what it costs
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    train_on: TrainOn,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    pub(crate) memory: MemoryLimit,
    #[command(flatten)]
    pub(crate) device: DeviceOption,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    arguments.train_on.check_given(&arguments.split, Selection::LeaveOneOut)?;
    if let Some(path) = &arguments.save {
        check_output(path, arguments.force, &arguments.source.files())?;
    }
    let output = &arguments.table.check(arguments.force, &arguments.source.files(), output)?;
    let dataset = arguments.source.load(global, output)?;
    arguments.memory.count(&dataset)?;
    let split = training::nodes(&arguments.split, arguments.train_on, &dataset, output)?;
    let search = arguments.common.search();
    let plan =
        arguments.explain.then(|| search.explain(&dataset, &split).map(placed)).transpose()?;
    plan.iter().for_each(|plan| output.plan(plan));
    let start = Instant::now();
    let tuned = training::search(&search, &dataset, &split, false, output)?;
    if let Some(path) = &arguments.save {
        training::save(&tuned.model, path, arguments.force)?;
    }
    let report =
        Report { plan, ..Report::new(arguments, &dataset, &split, tuned, start.elapsed()) };
    arguments.table.write(arguments.force, || columns(&report.board))?;
    output.report(&report, Report::text)
}

#[derive(Serialize)]
struct Report {
    dataset: String,
    training_nodes: usize,
    metric: Metric,
    /// The metric of the model on left-out training nodes; in percent where it is a share.
    score: f64,
    #[serde(flatten)]
    search: Searched,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Explanation>,
    board: Vec<Line>,
    saved: Option<String>,
    seconds: f64,
}

/// A contender.
#[derive(Serialize)]
struct Line {
    name: String,
    design: Option<Design>,
    kernel: Kernel,
    lambda: f64,
    /// The metric on left-out training nodes; in percent where it is a share.
    score: f64,
    /// Of left-out scores, the mean.
    squared_error: f64,
    /// What its scores are multiplied by in the stack.
    weight: f64,
}

impl Line {
    fn new(metric: Metric, contender: Contender) -> Self {
        let Contender { name, design, kernel, lambda, score, squared_error, weight } = contender;
        let score = reported(metric, score);
        Line { name, design, kernel, lambda, score, squared_error, weight }
    }
}

fn columns(lines: &[Line]) -> Vec<Column<'_>> {
    let design = |line: &Line| line.design.as_ref().map(Design::to_string).unwrap_or_default();
    let numbers = |name: &'static str, of: fn(&Line) -> f64| {
        Column::numbers(name, lines.iter().map(of).collect())
    };
    vec![
        Column::text("learner", lines.iter().map(|line| line.name.as_str())),
        Column::text("design", lines.iter().map(design)),
        Column::text("kernel", lines.iter().map(|line| line.kernel.to_string())),
        numbers("lambda", |line| line.lambda),
        numbers("score", |line| line.score),
        numbers("squared_error", |line| line.squared_error),
        numbers("weight", |line| line.weight),
    ]
}

impl Report {
    fn new(
        arguments: &Arguments,
        dataset: &Dataset,
        split: &Split,
        tuned: Tuned,
        elapsed: Duration,
    ) -> Self {
        Report {
            dataset: dataset.name().to_owned(),
            training_nodes: split.train().len(),
            metric: tuned.metric,
            score: reported(tuned.metric, tuned.score),
            search: Searched::from(&tuned),
            plan: None,
            board: tuned.board.into_iter().map(|c| Line::new(tuned.metric, c)).collect(),
            saved: arguments.save.as_deref().map(shown::path),
            seconds: elapsed.as_secs_f64(),
        }
    }

    fn text(&self) -> String {
        let time = seconds(Duration::from_secs_f64(self.seconds));
        let (metric, expected) = (self.metric.description(), self.search.expected_name());
        let left_out = format!("left-out {metric}");
        let mut lines = vec![
            ("chosen", self.search.made_of()),
            (left_out.as_str(), shown_score(self.metric, self.score)),
            (expected.as_str(), self.search.expected()),
            ("chosen from", self.search.learners()),
            ("time", format!("{time}{}", self.search.times())),
        ];
        lines.extend(self.search.without_graph());
        if let Some(path) = &self.saved {
            lines.push(("saved", path.clone()));
        }
        format!(
            "{}: exact leave-one-out on {}\n\n{}\n\nWeights are those of the scores in the stack; every learner has a part in \"all together\".\n\n{}",
            self.dataset,
            count(self.training_nodes, "training node", "training nodes"),
            self.table(),
            pairs(&lines),
        )
    }

    fn table(&self) -> String {
        let judged = format!("left-out {}", self.metric.description());
        let header = ["learner", "kernel", "λ", &judged, "weight"];
        let rows = self.board.iter().map(|line| {
            let weight =
                if line.weight > 0.0 { format!("{:.2}", line.weight) } else { "–".into() };
            vec![
                line.name.clone(),
                line.kernel.to_string(),
                lambda(line.lambda),
                shown_score(self.metric, line.score),
                weight,
            ]
        });
        table(header.map(str::to_owned).to_vec(), rows.collect()).trim_fmt()
    }
}
