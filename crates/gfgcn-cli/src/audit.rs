//! `gfgcn audit`: which labels look wrong.

use crate::device::DeviceOption;
use crate::output::{Output, count, pairs, seconds, table};
use crate::progress::{self, Unit};
use crate::source::{Source, SplitSource};
use crate::tables::TableTarget;
use crate::training::TrainOn;
use crate::wanted::{self, Wanted};
use crate::{Global, shown, training};
use clap::Args;
use gfgcn::audit::{Audit, Doubt, Suspect};
use gfgcn::context::Context;
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::training::Recipe;
use gfgcn_data::Column;
use serde::Serialize;
use std::time::{Duration, Instant};

/// List the labels that look wrong
///
/// Learns from every labelled node, or from the training part of a split, as gfgcn fit does, and predicts each of these nodes
/// by what is learnt without it. Labels that are far from that come first: a wrong label cannot vouch for
/// itself. Of sets of labels each label of each node is looked at by itself, missing ones too; of values each by its error.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn audit my-folder
  gfgcn audit my-folder --top 100 -o suspicious.csv
  gfgcn audit cora --depth 8 --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// How many to list [default: 20 here, all in a file]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    #[command(flatten)]
    table: TableTarget,
    /// Replace the table if it is there
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    train_on: TrainOn,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    pub(crate) device: DeviceOption,
}

/// How many are listed where nothing is said.
const SHOWN: usize = 20;

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let recipe = arguments.wanted.recipe()?;
    let selection = arguments.wanted.settings.ridge().selection;
    arguments.train_on.check_given(&arguments.split, selection)?;
    let output = &arguments.table.check(arguments.force, &arguments.source.files(), output)?;
    let dataset = arguments.source.load(global, output)?;
    let split = training::nodes(&arguments.split, arguments.train_on, &dataset, output)?;
    wanted::check(&recipe, &dataset)?;
    let start = Instant::now();
    let audit = match &recipe {
        Recipe::Described(classifier) => {
            let audit = |context: &Context| classifier.audit(&dataset, &split, context);
            progress::show(output, "training", Unit::Time, audit)?
        }
        Recipe::Searched(search) => {
            training::search(search, &dataset, &split, false, output)?.audit(&dataset, &split)?
        }
    };
    let top = arguments.top.map(|top| top as usize);
    let listed = &audit.suspects[..top.unwrap_or(usize::MAX).min(audit.suspects.len())];
    let listed = if arguments.table.is_given() { listed } else { &[] };
    let lines: Vec<Line> = listed.iter().map(|s| Line::new(&audit, &dataset, s)).collect();
    arguments.table.write(arguments.force, || columns(dataset.targets().kind(), &lines))?;
    let listed = top.unwrap_or(SHOWN).min(audit.suspects.len());
    let listed = audit.suspects[..listed].iter();
    let report = Report {
        dataset: dataset.name().to_owned(),
        targets: dataset.targets().kind(),
        audited: audit.audited,
        unexpected: audit.suspects.len(),
        suspects: listed.map(|suspect| Line::new(&audit, &dataset, suspect)).collect(),
        saved: arguments.table.shown(),
        seconds: start.elapsed().as_secs_f64(),
    };
    output.report(&report, Report::text)
}

#[derive(Serialize)]
struct Report {
    dataset: String,
    /// What was looked at: classes, sets (of labels) or values.
    targets: TargetKind,
    /// How many labels or values were looked at.
    audited: usize,
    /// How many labels are not what is expected; of values all.
    unexpected: usize,
    suspects: Vec<Line>,
    saved: Option<String>,
    seconds: f64,
}

/// One label or value, for people.
#[derive(Serialize)]
struct Line {
    id: String,
    given: String,
    expected: String,
    /// Of what is given, 0 to 1; none of values.
    probability: Option<f64>,
    surprise: f64,
}

impl Line {
    fn new(audit: &Audit, dataset: &Dataset, suspect: &Suspect) -> Self {
        let name = |position: u32| audit.model.classes()[position as usize].clone();
        let (given, expected, probability) = match suspect.doubt {
            Doubt::Class { given, expected, probability, .. } => {
                (name(given), name(expected), Some(probability))
            }
            Doubt::Label { label, given: true, probability } => {
                (name(label), format!("not {}", name(label)), Some(probability))
            }
            Doubt::Label { label, given: false, probability } => {
                (format!("not {}", name(label)), name(label), Some(1.0 - probability))
            }
            Doubt::Value { column, given, expected } => {
                // Of several columns, which one.
                let which = match audit.model.classes() {
                    [_] => String::new(),
                    _ => format!("{} ", name(column)),
                };
                (format!("{which}{given}"), format!("{expected:.4}"), None)
            }
        };
        let id = dataset.node_id(suspect.node).into_owned();
        Line { id, given, expected, probability, surprise: suspect.surprise }
    }
}

fn columns(kind: TargetKind, lines: &[Line]) -> Vec<Column<'_>> {
    let texts =
        |name: &'static str, of: fn(&Line) -> &str| Column::text(name, lines.iter().map(of));
    let mut columns = vec![
        texts("id", |line| &line.id),
        texts("given", |line| &line.given),
        texts("expected", |line| &line.expected),
    ];
    if kind != TargetKind::Values {
        let values = lines.iter().map(|line| line.probability.unwrap_or_default()).collect();
        columns.push(Column::numbers("probability", values));
    }
    columns.push(Column::numbers("surprise", lines.iter().map(|line| line.surprise).collect()));
    columns
}

impl Report {
    fn text(&self) -> String {
        let what = match self.targets {
            TargetKind::Values => ("compared", count(self.audited, "value", "values")),
            TargetKind::Classes | TargetKind::Sets => (
                "unexpected",
                format!("{} of {}", self.unexpected, count(self.audited, "label", "labels")),
            ),
        };
        let mut header = vec!["id", "given", "expected"];
        let has_probabilities = self.targets != TargetKind::Values;
        header.extend(has_probabilities.then_some("probability of given"));
        header.push("surprise");
        let row = |line: &Line| {
            let mut cells =
                [&line.id, &line.given, &line.expected].map(|text| shown::name(text)).to_vec();
            cells.extend(line.probability.map(|p| format!("{:.2} %", 100.0 * p)));
            cells.push(format!("{:.1}", line.surprise));
            cells
        };
        let rows = self.suspects.iter().map(row).collect();
        let header = header.into_iter().map(str::to_owned).collect();
        let mut lines = vec![what, ("time", seconds(Duration::from_secs_f64(self.seconds)))];
        lines.extend(self.saved.clone().map(|path| ("saved", path)));
        match self.suspects.is_empty() {
            true => pairs(&lines),
            false => format!("{}\n{}\n", pairs(&lines), table(header, rows).trim_fmt()),
        }
    }
}
