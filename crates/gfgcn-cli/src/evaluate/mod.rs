//! `gfgcn evaluate`: how accurate each model is at each depth.

mod calibration;
mod models;
mod report;
mod splits;
mod trained;

use crate::cluster::{SHARED_ON_PROCESSOR, Shared};
use crate::device::{DeviceOption, placed};
use crate::limit::{MemoryLimit, WorkFolder, with_scratch};
use crate::output::Output;
use crate::progress::{self, Unit};
use crate::settings::{Settings, depth};
use crate::source::Source;
use crate::tables::TableTarget;
use crate::training::{TrainOn, validation_chooses};
use crate::{Global, interrupt};
use clap::Args;
use gfgcn::context::Scratch;
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::driver::Explanation;
use gfgcn::evaluation::{Evaluated, Evaluation};
use gfgcn::filter::Filter;
use gfgcn::metrics::Metric;
use gfgcn::shares::Job;
use gfgcn::split::Split;
use gfgcn::tune::Searched;
use gfgcn::{Error, Result};
use gfgcn_baselines::{Baseline, Comparison, Method, ModelRuns, Training};
use models::{TrainingSettings, names};
use report::{Report, Row};
use splits::{Origin, SplitSettings};
use std::time::Instant;

/// Measure accuracy, or another metric, over many splits
///
/// By default the paper's protocol: the largest connected component, 20 random splits of each class
/// into 1:1:8 training, validation and test nodes, the three closed-form models at depths 2 to 128.
/// Prints the mean test accuracy in percent with its standard error; * marks the best. Sets of labels and values have no
/// classes that could be divided: their nodes are divided together.
///
/// Models without gf are trained by gradient descent (Adam, 200 epochs), to compare with. That takes
/// longer; finished runs are kept in a cache, so it can be interrupted and resumed.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn evaluate cora
  gfgcn evaluate citeseer --models gfsgc --depths 2,128 --select validation
  gfgcn evaluate pubmed --public-split --row-normalize --all-nodes --select validation
  gfgcn evaluate my-folder --ratio 3:1:6 --kernel rbf --json
  gfgcn evaluate texas --official-splits --models features,gfssgc,auto --depths 8
  gfgcn evaluate my-folder --metric auc --class-weights balanced
  gfgcn evaluate cora --depths 8 --calibration
  gfgcn evaluate cora --models gcn,gat,sgc,gfsgc --depths 2,8
  gfgcn evaluate cora -o scores.csv")]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Models to compare
    #[arg(
        long,
        value_parser = names(),
        value_delimiter = ',',
        value_name = "MODELS",
        default_values = ["gfsgc", "gfssgc", "gfdgc"]
    )]
    models: Vec<String>,
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
    #[command(flatten)]
    splits: SplitSettings,
    #[command(flatten)]
    train_on: TrainOn,
    /// Seed of the first split and of the first run; the others follow [default: 0]
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Use the whole graph instead of its largest connected component; given and official splits imply it
    #[arg(long)]
    all_nodes: bool,
    /// First show what will be computed and what it costs
    #[arg(long)]
    explain: bool,
    /// Also evaluate the probabilities and prediction sets of closed-form models
    #[arg(long)]
    calibration: bool,
    #[command(flatten)]
    table: TableTarget,
    /// Replace the table if it is there
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    training: TrainingSettings,
    #[command(flatten)]
    pub(crate) memory: MemoryLimit,
    #[command(flatten)]
    work: WorkFolder,
    #[command(flatten)]
    pub(crate) device: DeviceOption,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let methods = arguments.methods()?;
    let training = arguments.training.training(&arguments.settings)?;
    let output = &arguments.table.check(arguments.force, &arguments.source.files(), output)?;
    let whole = arguments.source.load(global, output)?;
    arguments.memory.count(&whole)?;
    let (dataset, splits) = arguments.prepare(whole)?;
    arguments.check_features(&dataset)?;
    arguments.check_networks(&methods, &dataset)?;
    if arguments.settings.weighs_classes() && methods.iter().any(|m| m.trained().is_some()) {
        output.warn("--class-weights is for models in closed form; those that are trained count all nodes alike");
    }
    let start = Instant::now();
    let filters = methods.iter().filter_map(Method::closed_form).collect();
    let (fitted, plan) = arguments.fit(filters, &dataset, &splits, output)?;
    let searched = match methods.contains(&Method::Auto) {
        true => Some(arguments.search(&dataset, &splits, output)?),
        false => None,
    };
    let models = methods.iter().filter_map(Method::trained).collect();
    let trained = arguments.train(models, &dataset, &splits, training, output)?;
    // Both come in the order of what was asked for.
    let (mut fitted, mut trained) = (fitted.iter(), trained.iter());
    let row = |method: &Method| match method {
        Method::ClosedForm(_) | Method::Features => {
            fitted.next().map(|result| Row::fitted(method, result))
        }
        Method::Auto => {
            searched.as_ref().map(|result| Row::searched(result, arguments.calibration))
        }
        Method::Trained(_) => trained.next().map(Row::trained),
    };
    let rows = methods.iter().filter_map(row).collect();
    let elapsed = start.elapsed();
    let report = Report::new(arguments, training, &dataset, splits.len(), rows, plan, elapsed);
    arguments.table.write(arguments.force, || report.columns())?;
    output.report(&report, Report::text)
}

impl Arguments {
    /// Every model at every depth, once, in the order in which they were asked for.
    fn methods(&self) -> Result<Vec<Method>> {
        let mut methods = Vec::new();
        for name in &self.models {
            for &depth in &self.depths {
                let others = |parameter: &str| self.training.of_network(parameter);
                let method = self.settings.method(name, depth, others)?;
                if !methods.contains(&method) {
                    methods.push(method);
                }
            }
        }
        self.refuse_idle_options(&methods)?;
        let trained = methods.iter().any(|method| method.trained().is_some());
        let stopped = trained.then_some("models that are trained may stop by it");
        let chosen = validation_chooses(self.settings.ridge().selection);
        self.train_on.check(stopped.or(chosen))?;
        Ok(methods)
    }

    /// An option that would do nothing was not understood.
    fn refuse_idle_options(&self, methods: &[Method]) -> Result<()> {
        let trained: Vec<Baseline> = methods.iter().filter_map(Method::trained).collect();
        let filters: Vec<Filter> = methods.iter().filter_map(Method::filter).collect();
        let (origin, settings, training) = (self.splits.origin(), &self.settings, &self.training);
        // The option, whether it would do something, and when it would.
        let idle = [
            (
                training.given(),
                !trained.is_empty(),
                "unless --models names one that is trained, such as gcn",
            ),
            (
                training.of_networks(),
                trained.iter().any(|model| !matches!(model, Baseline::Logistic(_))),
                "unless --models names a network, such as gcn",
            ),
            (
                settings.closed_form_only().or(self.explain.then_some("--explain")),
                methods.iter().any(|method| method.trained().is_none()),
                "unless --models names one in closed form, such as gfsgc",
            ),
            (
                self.work.given(),
                methods.iter().any(|method| method.closed_form().is_some()),
                "unless --models names one in closed form, such as gfsgc",
            ),
            (
                settings.says_tau().then_some("--tau"),
                filters.iter().any(|filter| matches!(filter, Filter::Ssgc { .. })),
                "unless --models names gfssgc or ssgc",
            ),
            (
                settings.says_time().then_some("--time"),
                filters.iter().any(|filter| matches!(filter, Filter::Dgc { .. })),
                "unless --models names gfdgc or dgc",
            ),
            (
                training.says_runs().then_some("--runs"),
                origin == Origin::Given,
                "unless a split is given: random and official splits have one run each, see --splits",
            ),
            (
                self.seed.and(Some("--seed")),
                origin == Origin::Stratified || !trained.is_empty(),
                "with --public-split, --split or --official-splits, unless --models names one that is \
                 trained",
            ),
        ];
        match idle.into_iter().find(|(option, works, _)| option.is_some() && !works) {
            Some((Some(option), _, when)) => {
                Err(Error::parameter(option, "given", format!("left out {when}")))
            }
            _ => Ok(()),
        }
    }

    /// Only the search can do without features.
    fn check_features(&self, dataset: &Dataset) -> Result<()> {
        match self.models.iter().find(|name| *name != "auto") {
            Some(name) if dataset.features().is_empty() => Err(Error::Data(format!(
                "the nodes have no features, which {name} needs; what the graph alone says is learnt by \
                 --models auto"
            ))
            .in_file(dataset.name())),
            _ => Ok(()),
        }
    }

    /// Networks learn classes, and are judged by their accuracy.
    fn check_networks(&self, methods: &[Method], dataset: &Dataset) -> Result<()> {
        let Some(network) = methods.iter().find_map(Method::trained) else { return Ok(()) };
        let (kind, name) = (dataset.targets().kind(), network.name());
        let metric = self.settings.objective().metric_for(kind)?;
        if kind != TargetKind::Classes {
            return Err(Error::Data(format!(
                "{name} learns classes, but what is known of the nodes are {kind}; compare models in closed form"
            )));
        }
        if metric != Metric::Accuracy {
            return Err(Error::parameter(
                "metric",
                metric,
                format!("accuracy where models such as {name} are trained to compare with"),
            ));
        }
        Ok(())
    }

    /// Evaluates the models in closed form.
    fn fit(
        &self,
        filters: Vec<Filter>,
        dataset: &Dataset,
        splits: &[Split],
        output: &Output,
    ) -> Result<(Vec<Evaluated>, Option<Explanation>)> {
        if filters.is_empty() {
            return Ok((Vec::new(), None));
        }
        let evaluation = self.evaluation(filters, splits);
        let plan = self.explain.then(|| evaluation.explain(dataset).map(placed)).transpose()?;
        plan.iter().for_each(|plan| output.plan(plan));
        let scratch = self.work.scratch(None, self.memory, || dataset.fingerprint());
        let results = progress::show(output, "evaluating", Unit::Steps, |context| {
            context.progress().begin("evaluating", evaluation.steps());
            evaluation.run(dataset, &with_scratch(context, scratch.as_ref()))
        })?;
        scratch.iter().for_each(Scratch::remove);
        Ok((results, plan))
    }

    fn evaluation(&self, filters: Vec<Filter>, splits: &[Split]) -> Evaluation {
        Evaluation {
            designs: filters.into_iter().map(|filter| self.settings.design(filter)).collect(),
            splits: splits.to_vec(),
            ridge: self.settings.ridge(),
            objective: self.settings.objective(),
            calibrates: self.calibration,
        }
    }

    /// What other machines can do of it.
    pub(crate) fn shared(&self, global: &Global, output: &Output) -> anyhow::Result<Shared> {
        self.device.only_processor(SHARED_ON_PROCESSOR)?;
        let store = self.source.store(global)?;
        let methods = self.methods()?;
        self.table.check(self.force, &self.source.files(), output)?;
        let closed: Vec<Filter> = methods.iter().filter_map(Method::closed_form).collect();
        if closed.len() < methods.len() {
            let problem = "machines share what is in closed form: --models gfsgc, gfssgc, gfdgc or features; evaluate others by gfgcn evaluate";
            return Err(Error::Data(problem.into()).into());
        }
        self.source.check_as_stored()?;
        let (dataset, splits) = self.prepare(self.source.load(global, output)?)?;
        self.check_features(&dataset)?;
        let evaluation = Box::new(self.evaluation(closed, &splits));
        let job = Job::Evaluate { evaluation, largest_component: !self.takes_all_nodes() };
        let (work, memory) = (self.work.path(), self.memory.bytes());
        Ok(Shared { job, dataset, store, output: None, work, memory })
    }

    /// Evaluates the search.
    fn search(&self, dataset: &Dataset, splits: &[Split], output: &Output) -> Result<Searched> {
        let search = self.settings.common().search();
        progress::show(output, "searching", Unit::Steps, |context| {
            let mut steps = 0;
            for split in splits {
                steps += search.steps(dataset, split)?;
            }
            context.progress().begin("searching", steps);
            search.evaluate(dataset, splits, context)
        })
    }

    /// Evaluates the models that are trained.
    fn train(
        &self,
        models: Vec<Baseline>,
        dataset: &Dataset,
        splits: &[Split],
        training: Training,
        output: &Output,
    ) -> Result<Vec<ModelRuns>> {
        if models.is_empty() {
            return Ok(Vec::new());
        }
        // A single split says nothing about the luck of the initial weights: it is run many times.
        let runs = match self.splits.origin() {
            Origin::Given => self.training.runs_on_a_given_split(),
            Origin::Stratified | Origin::Random | Origin::Official => 1,
        };
        let splits = (0..runs).flat_map(|_| splits.iter().cloned()).collect();
        let comparison = Comparison { dataset, models, splits, seed: self.seed(), training };
        trained::run(&comparison, self.training.cache(output).as_ref(), output)
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// A split that is not drawn here names its nodes, so none of them is cut off.
    fn takes_all_nodes(&self) -> bool {
        self.all_nodes || self.splits.origin() != Origin::Stratified
    }

    /// The nodes to evaluate on and the splits of them.
    fn prepare(&self, whole: Dataset) -> Result<(Dataset, Vec<Split>)> {
        Split::all_known(whole.targets()).map_err(|e| e.in_file(whole.name()))?;
        let given = self.splits.load(&whole)?;
        let dataset = if self.takes_all_nodes() {
            whole
        } else {
            let (needed, remedy) =
                (whole.memory(), "use a machine with more memory, or --all-nodes");
            interrupt::context().memory().check("taking the largest component", needed, remedy)?;
            whole.largest_component()
        };
        let splits = match self.splits.origin() {
            Origin::Stratified | Origin::Random => self.splits.draw(&dataset, self.seed())?,
            Origin::Given | Origin::Official => given,
        };
        Ok((dataset, self.train_on.apply(splits)?))
    }
}
