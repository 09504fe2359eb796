//! `gfgcn fit`: train a model and save it.

use crate::Global;
use crate::members::MemberLine;
use crate::output::{Output, count, lambda, pairs, seconds};
use crate::settings::{Settings, accuracy_name, depth};
use crate::source::{Source, SplitSource, Target};
use crate::training::{Searched, TrainOn};
use crate::{shown, training};
use clap::Args;
use clap::builder::PossibleValuesParser;
use gfgcn::driver::Explanation;
use gfgcn::filter::DEFAULT_DEPTH;
use gfgcn::head::Head;
use gfgcn::{Classifier, Model};
use gfgcn_baselines::Method;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Train a model on the labelled nodes and save it
///
/// Trains on every labelled node, or on the training part of a split. The whole graph takes part in
/// the filtering. Without further options the model is searched for, as by gfgcn tune: what is computed
/// from the graph, every λ and how much each part counts are chosen by exact leave-one-out. With any of --model,
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
    #[arg(long, value_parser = closed_forms())]
    model: Option<String>,
    /// Depth K of the filter [default: searched for, or 8]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = depth)]
    depth: Option<usize>,
    /// Say first what will be computed, and what it costs
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    train_on: TrainOn,
    #[command(flatten)]
    settings: Settings,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let given = arguments.classifier()?;
    arguments.train_on.check_given(&arguments.split, arguments.settings.ridge().selection)?;
    arguments.target.check(&arguments.source.files())?;
    let dataset = arguments.source.load(global, output)?;
    let split = training::nodes(&arguments.split, arguments.train_on, &dataset, output)?;
    let search = arguments.settings.common().search();
    let plan = match (arguments.explain, &given) {
        (false, _) => None,
        (true, Some(classifier)) => Some(classifier.explain(&dataset, &split)?),
        (true, None) => Some(search.explain(&dataset, &split)?),
    };
    plan.iter().for_each(|plan| output.plan(plan));
    let start = Instant::now();
    let (model, search) = match given {
        Some(classifier) => (training::train(&classifier, &dataset, &split, output)?, None),
        None => {
            let tuned = training::search(&search, &dataset, &split, output)?;
            let searched = Searched::from(&tuned);
            (tuned.model, Some(searched))
        }
    };
    let elapsed = start.elapsed();
    training::save(&model, arguments.target.path(), arguments.target.force())?;
    let report = Report { plan, search, ..Report::new(&model, arguments.target.path(), elapsed) };
    output.report(&report, Report::text)
}

impl Arguments {
    /// What was asked for, if anything was.
    fn classifier(&self) -> gfgcn::Result<Option<Classifier>> {
        if self.model.is_none() && self.depth.is_none() && !self.settings.choose() {
            return Ok(None);
        }
        let model = self.model.as_deref().unwrap_or("gfssgc");
        let depth = self.depth.unwrap_or(DEFAULT_DEPTH);
        let Method::ClosedForm(filter) = self.settings.method(model, depth, |_| None)? else {
            unreachable!("the parser takes closed forms only");
        };
        let design = self.settings.design(filter);
        Ok(Some(Classifier { design, ridge: self.settings.ridge() }))
    }
}

/// The names of the models in closed form.
fn closed_forms() -> PossibleValuesParser {
    PossibleValuesParser::new(Method::NAMES.into_iter().filter(|name| name.starts_with("gf")))
}

#[derive(Serialize)]
struct Report {
    model: String,
    members: Vec<MemberLine>,
    head: Head,
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

impl Report {
    fn new(model: &Model, path: &std::path::Path, elapsed: Duration) -> Self {
        let provenance = model.provenance();
        Report {
            model: shown::path(path),
            members: model.members().iter().map(MemberLine::from).collect(),
            head: model.head().clone(),
            nodes: provenance.nodes,
            training_nodes: provenance.training_nodes,
            selection_accuracy: provenance.selection_accuracy.map(|accuracy| 100.0 * accuracy),
            search: None,
            plan: None,
            seconds: elapsed.as_secs_f64(),
        }
    }

    fn text(&self) -> String {
        let trained = format!(
            "{} of {}, {}",
            self.training_nodes,
            count(self.nodes, "node", "nodes"),
            count(self.head.names().len(), "class", "classes")
        );
        let mut lines = match &self.search {
            Some(search) => vec![("made of", search.made_of())],
            None => MemberLine::lines(&self.members),
        };
        lines.push(("trained on", trained));
        if let [only] = &self.members[..] {
            let how = only.ridge.selection.description();
            lines.push(("lambda", format!("{} ({how})", lambda(only.lambda))));
        }
        if let Some(accuracy) = self.selection_accuracy {
            let selection = self.members[0].ridge.selection;
            lines.push((accuracy_name(selection), format!("{accuracy:.1} %")));
        }
        let mut times = String::new();
        if let Some(search) = &self.search {
            lines.push(("chosen from", search.learners()));
            lines.push(("expected accuracy", search.expected.to_string()));
            lines.extend(search.without_graph());
            times = search.times();
        }
        let time = seconds(Duration::from_secs_f64(self.seconds));
        lines.push(("time", format!("{time}{times}")));
        lines.push(("saved", self.model.clone()));
        pairs(&lines)
    }
}
