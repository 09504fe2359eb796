//! `gfgcn fit`: train a model, save it, and label the nodes with it.

use crate::Global;
use crate::cluster::{SHARED_ON_PROCESSOR, Shared};
use crate::device::{DeviceOption, on_processor, placed};
use crate::limit::{MemoryLimit, WorkFolder, with_scratch};
use crate::members::MemberLine;
use crate::output::{Output, count, lambda, pairs, seconds};
use crate::predict;
use crate::progress::{self, Unit};
use crate::settings::{reported, score_name, shown_score, targets};
use crate::source::{ModelTarget, Source, SplitSource};
use crate::training::{Searched, TrainOn};
use crate::wanted::{self, Wanted};
use crate::{shown, stdio, training};
use clap::Args;
use gfgcn::context::{Context, Scratch};
use gfgcn::data::Dataset;
use gfgcn::driver::Explanation;
use gfgcn::head::Head;
use gfgcn::metrics::Metric;
use gfgcn::split::Split;
use gfgcn::training::Recipe;
use gfgcn::{Error, Model};
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Train a model on the labelled nodes and save it
///
/// Trains on every labelled node, or on the training part of a split. The whole graph takes part in
/// the filtering. Without further options the model is searched for, as by gfgcn tune: what is computed
/// from the graph, every λ and how much each part counts are chosen by exact leave-one-out. With any of --model,
/// --design, --depth, --tau, --time, --kernel, --select, --lambda or --row-normalize there is no search, and
/// what is not said is gfSSGC at depth 8 with a linear kernel. With --predictions, every node is labelled as well, as by
/// gfgcn predict; the model need not be saved then.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn fit my-folder -o my.model
  gfgcn fit my-folder --predictions labels.csv
  gfgcn fit --edges e.csv --features f.csv --labels l.csv -o my.model
  gfgcn fit cora --public-split --model gfsgc --depth 2 --select validation -o cora.model
  gfgcn fit cora --design 'ppr:alpha=0.1 + 0.5*identity/unit' -o cora.model")]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    target: ModelTarget,
    /// First show what will be computed and what it costs
    #[arg(long)]
    explain: bool,
    /// Keep what learning more and forgetting need (gfgcn update, gfgcn forget): labels, and the filtered features of all
    /// nodes, which make the file as large as these
    #[arg(long, requires = "output")]
    keep_training: bool,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    train_on: TrainOn,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    pub(crate) memory: MemoryLimit,
    #[command(flatten)]
    work: WorkFolder,
    #[command(flatten)]
    pub(crate) device: DeviceOption,
}

/// Why a model that keeps its training is not trained on a GPU.
const KEPT_ON_PROCESSOR: &str =
    "what a model keeps must be the same bits when it is computed again";

impl Arguments {
    /// What is to be trained, on which nodes of which data.
    fn prepare(
        &self,
        global: &Global,
        output: &Output,
    ) -> anyhow::Result<(Recipe, Dataset, Split)> {
        let recipe = self.wanted.recipe()?;
        if self.keep_training {
            self.device.only_processor(KEPT_ON_PROCESSOR)?;
        }
        if self.keep_training || matches!(recipe, Recipe::Searched(_)) {
            self.work.idle(
                "a model is described, by --model, --design or --depth, and keeps no training",
            )?;
        }
        let selection = self.wanted.settings.ridge().selection;
        self.train_on.check_given(&self.split, selection)?;
        let dataset = self.source.load(global, output)?;
        self.memory.count(&dataset)?;
        let split = training::nodes(&self.split, self.train_on, &dataset, output)?;
        wanted::check(&recipe, &dataset)?;
        Ok((recipe, dataset, split))
    }

    /// What other machines can do of it.
    pub(crate) fn shared(&self, global: &Global, output: &Output) -> anyhow::Result<Shared> {
        self.device.only_processor(SHARED_ON_PROCESSOR)?;
        let store = self.source.store(global)?;
        let output = &self.target.check(&self.source.files(), output)?;
        let (recipe, dataset, split) = self.prepare(global, output)?;
        let Recipe::Described(classifier) = recipe else {
            return Err(Error::Data(
                "the search for a model is not shared by machines; describe one, by --model, --design or --depth, which gfgcn tune \
                 finds on a part of the data"
                    .into(),
            )
            .into());
        };
        if self.keep_training {
            let problem = "what a model keeps for learning more is not shared by machines; leave out --keep-training";
            return Err(Error::Data(problem.into()).into());
        }
        let job = classifier.job(&dataset, &split)?;
        let output = self.beside().map(Path::to_owned);
        let (work, memory) = (self.work.path(), self.memory.bytes());
        Ok(Shared { job, dataset, store, output, work, memory })
    }

    /// The file that a work folder lies beside.
    fn beside(&self) -> Option<&Path> {
        let path = self.target.model().or(self.target.predictions());
        path.filter(|path| !stdio::is_standard(path))
    }
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let output = &arguments.target.check(&arguments.source.files(), output)?;
    let (recipe, dataset, split) = arguments.prepare(global, output)?;
    let plan = match (arguments.explain, &recipe) {
        (false, _) => None,
        (true, Recipe::Described(classifier)) => Some(classifier.explain(&dataset, &split)?),
        (true, Recipe::Searched(search)) => Some(search.explain(&dataset, &split)?),
    };
    let plan = plan.map(if arguments.keep_training { on_processor } else { placed });
    plan.iter().for_each(|plan| output.plan(plan));
    let start = Instant::now();
    let keeps = arguments.keep_training;
    let purpose = || dataset.source_fingerprint();
    let scratch = arguments.work.scratch(arguments.beside(), arguments.memory, purpose);
    let (model, search) = match &recipe {
        Recipe::Described(classifier) => {
            let fit = |context: &Context| match keeps {
                true => recipe.fit(&dataset, &split, &context.on_processor()),
                false => {
                    let context = with_scratch(context, scratch.as_ref());
                    classifier.fit(&dataset, &split, &context)
                }
            };
            let unit = if scratch.is_some() { Unit::Steps } else { Unit::Time };
            (progress::show(output, "training", unit, fit)?, None)
        }
        Recipe::Searched(search) => {
            let tuned = training::search(search, &dataset, &split, keeps, output)?;
            let searched = Searched::from(&tuned);
            (tuned.model, Some(searched))
        }
    };
    let elapsed = start.elapsed();
    let (path, force) = (arguments.target.model(), arguments.target.force());
    if let Some(path) = path {
        training::save(&model, path, force)?;
    }
    scratch.iter().for_each(Scratch::remove);
    let predictions = match arguments.target.predictions() {
        Some(path) => {
            let compared = arguments.split.is_given().then_some(&split);
            let memory = arguments.memory;
            Some(predict::label_all(&model, &dataset, compared, (path, force), memory, output)?)
        }
        None => None,
    };
    let report = Report { plan, search, predictions, ..Report::new(&model, path, elapsed) };
    output.report(&report, Report::text)
}

#[derive(Serialize)]
struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    members: Vec<MemberLine>,
    head: Head,
    nodes: usize,
    training_nodes: usize,
    metric: Option<Metric>,
    /// In percent.
    selection_accuracy: Option<f64>,
    /// Of the metric; in percent where it is a share.
    selection_score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Searched>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Explanation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predictions: Option<predict::Report>,
    seconds: f64,
}

impl Report {
    fn new(model: &Model, path: Option<&Path>, elapsed: Duration) -> Self {
        let provenance = model.provenance();
        Report {
            model: path.map(shown::path),
            members: model.members().iter().map(MemberLine::from).collect(),
            head: model.head().clone(),
            nodes: model.nodes(),
            training_nodes: provenance.training_nodes,
            metric: provenance.objective.metric,
            selection_accuracy: provenance.selection_accuracy.map(|accuracy| 100.0 * accuracy),
            selection_score: model.selection_score().map(|(metric, score)| reported(metric, score)),
            search: None,
            plan: None,
            predictions: None,
            seconds: elapsed.as_secs_f64(),
        }
    }

    fn text(&self) -> String {
        let trained = format!(
            "{} of {}, {}",
            self.training_nodes,
            count(self.nodes, "node", "nodes"),
            targets(self.head.kind(), self.head.names().len())
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
        let judged = self.metric.zip(self.selection_score);
        let selection = self.members[0].ridge.selection;
        let name = judged.map(|(metric, _)| score_name(selection, metric));
        if let Some(((metric, score), name)) = judged.zip(name.as_deref()) {
            lines.push((name, shown_score(metric, score)));
        }
        let mut times = String::new();
        let expected = self.search.as_ref().map(Searched::expected_name).unwrap_or_default();
        if let Some(search) = &self.search {
            lines.push(("chosen from", search.learners()));
            lines.push((&expected, search.expected()));
            lines.extend(search.without_graph());
            times = search.times();
        }
        let time = seconds(Duration::from_secs_f64(self.seconds));
        lines.push(("time", format!("{time}{times}")));
        lines.extend(self.model.clone().map(|path| ("saved", path)));
        let predictions = self.predictions.as_ref().map(|report| format!("\n{}", report.text()));
        pairs(&lines) + &predictions.unwrap_or_default()
    }
}
