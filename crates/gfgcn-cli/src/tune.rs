//! `gfgcn tune`: which model is best on these labels, and how good it will be.

use crate::output::{Output, count, highlighted, lambda, pairs, seconds, table};
use crate::settings::{Common, features};
use crate::source::{Source, SplitSource, check_output};
use crate::training::Searched;
use crate::{Global, shown, training};
use clap::Args;
use gfgcn::Design;
use gfgcn::data::Dataset;
use gfgcn::driver::Explanation;
use gfgcn::kernel::Kernel;
use gfgcn::split::Split;
use gfgcn::tune::{Contender, Tuned};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Contenders that the text shows.
const SHOWN: usize = 10;

/// Search for the best model by exact leave-one-out
///
/// Tries every combination of filter, depth, τ, T, kernel, row normalisation and λ on the labelled
/// nodes, or on the training part of a split. Each training node is predicted by the model trained
/// without it. gfSSGC at depth 8 stays unless another combination is better beyond chance. The
/// expected accuracy is estimated on nodes that had no part in the choice.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn tune cora --public-split
  gfgcn tune my-folder --save my.model")]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Train the chosen model and save it
    #[arg(long, value_name = "MODEL")]
    save: Option<PathBuf>,
    /// Replace the model file if it is there
    #[arg(long, requires = "save")]
    force: bool,
    /// Say first what will be computed, and what it costs
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    if let Some(path) = &arguments.save {
        check_output(path, arguments.force, &arguments.source.files())?;
    }
    let dataset = arguments.source.load(global, output)?;
    let split = training::nodes(&arguments.split, &dataset, output)?;
    let search = arguments.common.search();
    let plan = arguments.explain.then(|| search.explain(&dataset, &split)).transpose()?;
    plan.iter().for_each(|plan| output.plan(plan));
    let start = Instant::now();
    let tuned = training::search(&search, &dataset, &split, output)?;
    if let Some(path) = &arguments.save {
        let model = training::train(&tuned.classifier(), &dataset, &split, output)?;
        training::save(&model, path, arguments.force)?;
    }
    let report =
        Report { plan, ..Report::new(arguments, &dataset, &split, tuned, start.elapsed()) };
    output.report(&report, Report::text)
}

#[derive(Serialize)]
struct Report {
    dataset: String,
    training_nodes: usize,
    /// Training nodes on which all met first, where all on all would take long.
    sample: Option<usize>,
    #[serde(flatten)]
    search: Searched,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Explanation>,
    board: Vec<Line>,
    /// Position on the board.
    chosen: usize,
    saved: Option<String>,
    seconds: f64,
}

/// A contender.
#[derive(Serialize)]
struct Line {
    design: Design,
    kernel: Kernel,
    lambda: f64,
    /// On left-out training nodes, in percent.
    accuracy: f64,
    /// Of left-out scores, the mean.
    squared_error: f64,
}

impl From<Contender> for Line {
    fn from(contender: Contender) -> Self {
        let Contender { design, kernel, lambda, accuracy, squared_error } = contender;
        Line { design, kernel, lambda, accuracy: 100.0 * accuracy, squared_error }
    }
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
            sample: tuned.sample,
            search: Searched::from(&tuned),
            plan: None,
            chosen: tuned.chosen,
            board: tuned.board.into_iter().map(Line::from).collect(),
            saved: arguments.save.as_deref().map(shown::path),
            seconds: elapsed.as_secs_f64(),
        }
    }

    fn text(&self) -> String {
        let sample = match self.sample {
            Some(nodes) => format!(", first on {nodes} of them"),
            None => String::new(),
        };
        let chosen = &self.board[self.chosen];
        let mut lines = vec![
            ("chosen", chosen.design.filter().formula()),
            ("kernel", chosen.kernel.to_string()),
            ("features", features(&chosen.design).to_owned()),
            ("lambda", lambda(chosen.lambda)),
            ("chosen from", self.search.combinations()),
            ("expected accuracy", self.search.expected.to_string()),
            ("time", seconds(Duration::from_secs_f64(self.seconds))),
        ];
        lines.extend(self.search.without_graph());
        if let Some(path) = &self.saved {
            lines.push(("saved", path.clone()));
        }
        format!(
            "{}: {} by exact leave-one-out on {}{sample}\n\n{}\n\n{}\n\n{}",
            self.dataset,
            count(self.search.tried, "combination", "combinations"),
            count(self.training_nodes, "training node", "training nodes"),
            self.table(),
            self.legend(),
            pairs(&lines),
        )
    }

    /// The best, and the chosen one where it is not among them.
    fn table(&self) -> String {
        let header = ["", "filter", "kernel", "features", "λ", "left-out accuracy"];
        let mut shown: Vec<usize> = (0..self.board.len().min(SHOWN)).collect();
        if self.chosen >= SHOWN {
            shown.push(self.chosen);
        }
        let rows: Vec<Vec<String>> = shown
            .into_iter()
            .map(|k| {
                let contender = &self.board[k];
                let mark = if k == self.chosen { "*" } else { "" };
                vec![
                    format!("{}{mark}", k + 1),
                    contender.design.filter().formula(),
                    contender.kernel.to_string(),
                    features(&contender.design).to_owned(),
                    lambda(contender.lambda),
                    format!("{:.1}", contender.accuracy),
                ]
            })
            .collect();
        let text = table(header.map(str::to_owned).to_vec(), rows).trim_fmt();
        let mark = format!("{}*", self.chosen + 1);
        text.lines()
            .map(|line| if line.starts_with(&mark) { highlighted(line) } else { line.to_owned() })
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn legend(&self) -> &'static str {
        if self.chosen == 0 {
            "Accuracy in % on left-out training nodes; * marks the chosen one."
        } else {
            "Accuracy in % on left-out training nodes; * marks the chosen one: those above it are not \
             better\nbeyond chance."
        }
    }
}
