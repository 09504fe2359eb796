//! `gfgcn evaluate`: how accurate each model is at each depth.

mod models;
mod report;
mod trained;

use crate::output::Output;
use crate::progress::{self, Unit};
use crate::settings::{Settings, depth};
use crate::source::{Source, SplitSource};
use crate::{Global, memory};
use clap::Args;
use gfgcn::data::Dataset;
use gfgcn::evaluation::{Evaluation, Outcome};
use gfgcn::filter::Filter;
use gfgcn::plan::Explanation;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Error, Result};
use gfgcn_baselines::{Baseline, Comparison};
use models::{ModelName, TrainingSettings};
use report::{Report, Row};
use std::time::Instant;

/// Filtered features are kept below this, so that big graphs leave room for the rest.
const FILTERED_BYTES: u64 = 4 << 30;
const MAX_SPLITS: i64 = 10_000;

/// Measure accuracy over many splits
///
/// By default the paper's protocol: the largest connected component, 20 random splits of each class
/// into 1:1:8 training, validation and test nodes, the three closed-form models at depths 2 to 128.
/// Prints the mean test accuracy in percent with its standard error; * marks the best.
///
/// Models without gf are trained by gradient descent (Adam, 200 epochs), to compare with. That takes
/// longer; finished runs are kept in a cache, so it can be stopped and taken up again.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn evaluate cora
  gfgcn evaluate citeseer --models gfsgc --depths 2,128 --select validation
  gfgcn evaluate pubmed --public-split --row-normalize --all-nodes --select validation
  gfgcn evaluate my-folder --ratio 3:1:6 --kernel rbf --json
  gfgcn evaluate cora --models gcn,gat,sgc,gfsgc --depths 2,8")]
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
    models: Vec<ModelName>,
    /// Depths K of the filters and networks
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
    /// Seed of the first split and of the first run; the others follow
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
    #[command(flatten)]
    training: TrainingSettings,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let chosen = arguments.chosen()?;
    let whole = arguments.source.load(global, output)?;
    let (dataset, splits) = arguments.prepare(whole)?;
    let start = Instant::now();
    let (closed_form, plan) = arguments.closed_form(&chosen, &dataset, &splits, output)?;
    let trained = arguments.trained(&chosen, &dataset, &splits, output)?;
    let rows = chosen.iter().map(|model| match model {
        Chosen::ClosedForm(filter) => {
            let own = closed_form.iter().find(|outcome| outcome.filter == *filter);
            Row::closed_form(own.expect("every filter was evaluated"))
        }
        Chosen::Trained(model) => {
            let own = trained.iter().find(|outcome| outcome.model == *model);
            Row::trained(own.expect("every model was trained"))
        }
    });
    let rows = rows.collect();
    let report = Report::new(arguments, &dataset, splits.len(), rows, plan, start.elapsed())?;
    output.report(&report, Report::text)
}

/// A model at a depth.
#[derive(Clone, Copy, PartialEq)]
enum Chosen {
    ClosedForm(Filter),
    Trained(Baseline),
}

impl Arguments {
    /// Every model at every depth, once, in the order in which they were asked for.
    fn chosen(&self) -> Result<Vec<Chosen>> {
        let mut chosen = Vec::new();
        for &model in &self.models {
            for &depth in &self.depths {
                let model = match model {
                    ModelName::ClosedForm(kind) => {
                        Chosen::ClosedForm(self.settings.filter(kind, depth)?)
                    }
                    ModelName::Trained(kind) => {
                        Chosen::Trained(self.training.model(kind, depth, &self.settings)?)
                    }
                };
                if !chosen.contains(&model) {
                    chosen.push(model);
                }
            }
        }
        // An option that would do nothing was not understood.
        let any = |trained: bool| {
            chosen.iter().any(|model| matches!(model, Chosen::Trained(_)) == trained)
        };
        if let Some(option) = self.training.given().filter(|_| !any(true)) {
            return Err(Error::parameter(
                option,
                "given",
                "left out unless --models names one that is trained, such as gcn",
            ));
        }
        if self.training.says_runs() && !self.split.is_given() {
            return Err(Error::parameter(
                "--runs",
                "given",
                "left out unless a split is given; random splits have one run each (--splits)",
            ));
        }
        if let Some(option) = self.settings.closed_form_only().filter(|_| !any(false)) {
            return Err(Error::parameter(
                option,
                "given",
                "left out unless --models names one in closed form, such as gfsgc",
            ));
        }
        Ok(chosen)
    }

    fn closed_form(
        &self,
        chosen: &[Chosen],
        dataset: &Dataset,
        splits: &[Split],
        output: &Output,
    ) -> Result<(Vec<Outcome>, Option<Explanation>)> {
        let filters: Vec<Filter> = chosen
            .iter()
            .filter_map(|model| match model {
                Chosen::ClosedForm(filter) => Some(*filter),
                Chosen::Trained(_) => None,
            })
            .collect();
        if filters.is_empty() {
            return Ok((Vec::new(), None));
        }
        let memory =
            memory::available().map_or(FILTERED_BYTES, |free| FILTERED_BYTES.min(free / 2));
        let options = self.settings.options();
        let evaluation = Evaluation { filters, splits: splits.to_vec(), options, memory };
        memory::check(
            "the evaluation",
            evaluation.memory_needed(dataset),
            "use fewer --threads or a machine with more memory",
        )?;
        let plan = self.explain.then(|| evaluation.explain(dataset));
        plan.iter().for_each(|plan| output.plan(plan));
        let outcomes = progress::show(output, "evaluating", Unit::Steps, |progress| {
            progress.set_total((evaluation.filters.len() * evaluation.splits.len()) as u64);
            evaluation.run(dataset, &|| progress.advance())
        })?;
        Ok((outcomes, plan))
    }

    fn trained(
        &self,
        chosen: &[Chosen],
        dataset: &Dataset,
        splits: &[Split],
        output: &Output,
    ) -> Result<Vec<gfgcn_baselines::Outcome>> {
        let models: Vec<Baseline> = chosen
            .iter()
            .filter_map(|model| match model {
                Chosen::ClosedForm(_) => None,
                Chosen::Trained(model) => Some(*model),
            })
            .collect();
        if models.is_empty() {
            return Ok(Vec::new());
        }
        // A single split says nothing about the luck of the initial weights: it is run many times.
        let runs = match self.split.is_given() {
            true => self.training.runs_on_a_given_split(),
            false => 1,
        };
        let splits = (0..runs).flat_map(|_| splits.iter().cloned()).collect();
        let training = self.training.training(&self.settings)?;
        let comparison =
            Comparison { dataset, models, splits, seed: self.seed, training, memory: 0 };
        trained::run(comparison, self.training.cache(output).as_ref(), output)
    }

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
