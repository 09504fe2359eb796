//! `gfgcn predict`: label the nodes of a graph with a trained model.

mod agreement;

use crate::cluster::{SHARED_ON_PROCESSOR, Shared};
use crate::device::DeviceOption;
use crate::limit::{MemoryLimit, WorkFolder, with_scratch};
use crate::output::{Output, count, pairs, seconds};
use crate::progress::{self, Unit};
use crate::source::{Source, SplitSource, Target, load_model};
use crate::tables::{FormatOption, write_to};
use crate::{Global, interrupt, shown, stdio};
use agreement::Agreement;
use clap::Args;
use gfgcn::calibration::Regions;
use gfgcn::context::{Context, Scratch};
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::model::Predictions;
use gfgcn::shares::Job;
use gfgcn::split::Split;
use gfgcn::{Error, Model};
use gfgcn_data::predictions::{self, Extras};
use gfgcn_data::{OutputFormat, read_nodes};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Label every node of a graph with a trained model
///
/// The graph may be the one the model was trained on or another one with the same features, new
/// nodes included. Writes one row per node: id, label, and a score for each class (the largest
/// wins). Sets of labels are joined by semicolons: the labels whose scores are above a threshold that was chosen on left-out nodes.
/// Values have a column each. The output's name chooses its format: .csv, .tsv, .json (each also .gz), .parquet or .npz. Where
/// the data have labels, says how well the predictions agree with them; with a split, on its test
/// part only.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn predict my.model my-folder -o labels.csv
  gfgcn predict my.model my-folder --only-unlabelled -o new.parquet
  gfgcn predict my.model my-folder --nodes ids.txt -o few.csv
  gfgcn predict my.model my-folder --labels-only -o - | head
  gfgcn predict my.model my-folder --probabilities --sets 0.9 -o labels.csv
  gfgcn predict cora.model cora --public-split -o cora.npz")]
pub(crate) struct Arguments {
    /// A model saved by `gfgcn fit`
    model: PathBuf,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    format: FormatOption,
    /// Write only the nodes that have no label or value in the data
    #[arg(long)]
    only_unlabelled: bool,
    /// Predict only these nodes, at the cost of their surroundings: one id per line, or a table whose first column is id
    #[arg(long, value_name = "FILE", conflicts_with = "only_unlabelled")]
    nodes: Option<PathBuf>,
    /// Write labels without scores; of classes, these are not kept either, which saves memory and disk on large graphs
    #[arg(long, conflicts_with_all = ["probabilities", "sets"])]
    labels_only: bool,
    /// Write the probability of every class or label, too
    #[arg(long)]
    probabilities: bool,
    /// Write prediction sets, too, or intervals of values: what is plausible at this coverage, such as 0.9
    #[arg(
        long,
        visible_alias = "intervals",
        value_name = "COVERAGE",
        allow_negative_numbers = true
    )]
    sets: Option<f64>,
    /// Smooth the sets over neighbours: the share of a node's probabilities that is the mean of its neighbours', such as 0.5. For
    /// classes, on the data that the model was trained on, by a described model saved with --keep-training
    #[arg(
        long,
        value_name = "SHARE",
        requires = "sets",
        conflicts_with = "nodes",
        allow_negative_numbers = true
    )]
    smooth: Option<f64>,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    pub(crate) memory: MemoryLimit,
    #[command(flatten)]
    work: WorkFolder,
    #[command(flatten)]
    pub(crate) device: DeviceOption,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    arguments.check()?;
    let target = arguments.table()?;
    let to_stdout = stdio::is_standard(arguments.target.path());
    let output = &if to_stdout { output.with_data_on_stdout() } else { *output };
    let model = load_model(&arguments.model)?;
    let mut extras = arguments.extras(&model)?;
    let dataset = arguments.source.load_for(&model, global, output)?;
    arguments.memory.count(&dataset)?;
    let split = arguments.split.load_one(&dataset)?;
    let asked = arguments.nodes.as_deref();
    let asked = asked.map(|path| read_nodes(path, &dataset, &interrupt::context())).transpose()?;
    let start = Instant::now();
    let scratch = match &asked {
        None => scratch(&target, &arguments.work, arguments.memory, &model, &dataset),
        Some(_) => None,
    };
    let predictions = match &asked {
        Some(nodes) => {
            let predict = |context: &Context| model.predict_nodes(&dataset, nodes, context);
            progress::show(output, "predicting", Unit::Time, predict)?
        }
        None => predict_all(&model, &dataset, arguments.labels_only, scratch.as_ref(), output)?,
    };
    if let (Some(share), Some(coverage)) = (arguments.smooth, arguments.sets) {
        let smooth = |context: &Context| {
            model.smoothed_sets(&dataset, &predictions, coverage, share, context)
        };
        let smoothed = progress::show(output, "smoothing", Unit::Time, smooth)?;
        extras.regions = Some(smoothed.regions().clone());
        extras.smoothed = Some(smoothed);
    }
    let elapsed = start.elapsed();
    predictions.notes().iter().for_each(|note| output.warn(note));
    if extras.regions.as_ref().is_some_and(Regions::is_everything) {
        output.warn("the model was trained on too few nodes to rule anything out at this coverage");
    }
    let known = dataset.targets();
    if known.kind() != predictions.kind() && !known.known().is_empty() {
        let (kind, predicted) = (known.kind(), predictions.kind());
        output.note(format!(
            "the data have {kind} and the model predicts {predicted}, so they are not compared"
        ));
    }
    let nodes: Vec<usize> = dataset
        .as_listed()
        .into_iter()
        .filter(|&node| predictions.has(node))
        .filter(|&node| !arguments.only_unlabelled || !dataset.targets().is_known(node))
        .collect();
    if nodes.is_empty() {
        let what = match dataset.targets().kind() {
            TargetKind::Classes | TargetKind::Sets => "label",
            TargetKind::Values => "value",
        };
        let problem = format!("every node has a {what} already, so there is nothing to write");
        return Err(Error::Data(problem).into());
    }
    target.write(&dataset, &predictions, &nodes, &extras)?;
    scratch.iter().for_each(Scratch::remove);
    let agreement = Agreement::new(&model, &dataset, &predictions, split.as_ref())?;
    let report = Report::new(&target, &predictions, &nodes, &extras, agreement, elapsed);
    output.report(&report, Report::text)
}

/// Labels every node of the data that a model was just trained on, as [`run`] does.
pub(crate) fn label_all(
    model: &Model,
    dataset: &Dataset,
    split: Option<&Split>,
    (path, force): (&Path, bool),
    memory: MemoryLimit,
    output: &Output,
) -> anyhow::Result<Report> {
    let target = Table { path, format: FormatOption::default().of(path)?, force };
    let start = Instant::now();
    let scratch = scratch(&target, &WorkFolder::default(), memory, model, dataset);
    let predictions = predict_all(model, dataset, false, scratch.as_ref(), output)?;
    let elapsed = start.elapsed();
    let (nodes, extras) = (dataset.as_listed(), Extras::default());
    target.write(dataset, &predictions, &nodes, &extras)?;
    scratch.iter().for_each(Scratch::remove);
    let agreement = Agreement::new(model, dataset, &predictions, split)?;
    Ok(Report::new(&target, &predictions, &nodes, &extras, agreement, elapsed))
}

/// The work folder of predicting all nodes.
fn scratch(
    target: &Table<'_>,
    work: &WorkFolder,
    memory: MemoryLimit,
    model: &Model,
    dataset: &Dataset,
) -> Option<Scratch> {
    let purpose = || Job::Predict(Box::new(model.clone())).purpose(dataset);
    work.scratch(target.file(), memory, purpose)
}

fn predict_all(
    model: &Model,
    dataset: &Dataset,
    labels_only: bool,
    scratch: Option<&Scratch>,
    output: &Output,
) -> anyhow::Result<Predictions> {
    let unit = if scratch.is_some() { Unit::Steps } else { Unit::Time };
    let predict = |context: &Context| {
        let context = with_scratch(context, scratch);
        match labels_only {
            true => model.predict_classes(dataset, &context),
            false => model.predict(dataset, &context),
        }
    };
    Ok(progress::show(output, "predicting", unit, predict)?)
}

/// The table that is written.
struct Table<'a> {
    path: &'a Path,
    format: OutputFormat,
    force: bool,
}

impl Table<'_> {
    /// The file that a work folder lies beside.
    fn file(&self) -> Option<&Path> {
        Some(self.path).filter(|path| !stdio::is_standard(path))
    }

    fn write(
        &self,
        dataset: &Dataset,
        predictions: &Predictions,
        nodes: &[usize],
        extras: &Extras,
    ) -> anyhow::Result<()> {
        let classes = dataset.targets().names().len().max(predictions.classes().len()) as u64;
        // Which class was taken for which is counted afterwards.
        let needed = predictions::write_memory(predictions, extras, self.format, nodes.len())
            .max(8 * classes.pow(2));
        let remedy = "use a machine with more memory";
        interrupt::context().memory().check("writing the predictions", needed, remedy)?;
        write_to(self.path, |path| {
            let target = (path, self.format);
            predictions::write(predictions, target, self.force, dataset, nodes, extras)
        })
    }
}

impl Arguments {
    fn table(&self) -> Result<Table<'_>, Error> {
        let path = self.target.path();
        Ok(Table { path, format: self.format.of(path)?, force: self.target.force() })
    }

    /// Notices before any work is done that the output could not or must not be written.
    fn check(&self) -> Result<(), Error> {
        if self.nodes.is_some() {
            self.work.idle("all nodes are predicted")?;
        }
        let mut inputs = self.source.files();
        inputs.push(self.model.clone());
        inputs.extend(self.nodes.clone());
        if !stdio::is_standard(self.target.path()) {
            self.target.check(&inputs)?;
        }
        Ok(())
    }

    /// What other machines can do of it.
    pub(crate) fn shared(&self, global: &Global, output: &Output) -> anyhow::Result<Shared> {
        self.device.only_processor(SHARED_ON_PROCESSOR)?;
        let store = self.source.store(global)?;
        self.check()?;
        if self.nodes.is_some() {
            let problem = "a few nodes are predicted by what is around them, which no machines share; leave out --nodes, or use gfgcn predict";
            return Err(Error::Data(problem.into()).into());
        }
        let model = load_model(&self.model)?;
        self.extras(&model)?;
        let dataset = self.source.load_for(&model, global, output)?;
        let to_file = Some(self.target.path()).filter(|path| !stdio::is_standard(path));
        let output = to_file.map(Path::to_owned);
        let (work, memory) = (self.work.path(), self.memory.bytes());
        Ok(Shared { job: Job::Predict(Box::new(model)), dataset, store, output, work, memory })
    }

    fn extras(&self, model: &Model) -> Result<Extras, Error> {
        if self.probabilities && model.head().kind() == TargetKind::Values {
            return Err(Error::Data(
                "values have no probabilities; --intervals gives what is plausible".into(),
            ));
        }
        if self.labels_only && model.head().kind() == TargetKind::Values {
            let problem =
                "the model predicts values, which have no labels; leave out --labels-only";
            return Err(Error::Data(problem.into()));
        }
        let regions =
            self.sets.map(|coverage| model.calibration().regions(coverage)).transpose()?;
        let (labels_only, probabilities) = (self.labels_only, self.probabilities);
        Ok(Extras { labels_only, probabilities, regions, smoothed: None })
    }
}

/// What is plausible, over all nodes.
#[derive(Serialize)]
struct RegionSummary {
    coverage: f64,
    /// How many classes or labels there are in a set, or how wide an interval is, on average.
    mean_size: Option<f64>,
}

impl RegionSummary {
    fn new(predictions: &Predictions, nodes: &[usize], regions: &Regions, extras: &Extras) -> Self {
        let sizes: Vec<f64> = match predictions.kind() {
            TargetKind::Values => {
                let widths = |&node: &usize| predictions.intervals(node, regions);
                nodes.iter().flat_map(widths).map(|(from, to)| to - from).collect()
            }
            TargetKind::Classes | TargetKind::Sets => {
                nodes.iter().map(|&node| extras.plausible(predictions, node).len() as f64).collect()
            }
        };
        let mean = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
        RegionSummary { coverage: regions.coverage(), mean_size: mean.is_finite().then_some(mean) }
    }

    fn text(&self, kind: TargetKind) -> String {
        let coverage = format!("coverage {}", self.coverage);
        match (kind, self.mean_size) {
            (TargetKind::Values, Some(width)) => format!("{coverage}, {width:.3} wide on average"),
            (_, Some(size)) => format!("{coverage}, {size:.2} in a set on average"),
            (_, None) => format!("{coverage}, without bounds"),
        }
    }
}

/// What was predicted.
#[derive(Serialize)]
pub(crate) struct Report {
    output: String,
    nodes: usize,
    /// What is predicted: classes, sets (of labels) or values.
    targets: TargetKind,
    /// None of values.
    classes: Vec<ClassCount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<RegionSummary>,
    agreement: Option<Agreement>,
    /// How features were matched by name, where they differ.
    notes: Vec<String>,
    seconds: f64,
}

#[derive(Serialize)]
struct ClassCount {
    class: String,
    predicted: usize,
}

/// How many nodes got each class or label.
fn class_counts(predictions: &Predictions, nodes: &[usize]) -> Vec<ClassCount> {
    let mut counts = vec![0; predictions.classes().len()];
    let mut add = |class: u32| counts[class as usize] += 1;
    match predictions.kind() {
        TargetKind::Classes => nodes.iter().for_each(|&node| add(predictions.class(node))),
        TargetKind::Sets => {
            nodes.iter().for_each(|&node| predictions.labels(node).into_iter().for_each(&mut add));
        }
        TargetKind::Values => return Vec::new(),
    }
    let counts = predictions.classes().iter().zip(counts);
    counts.map(|(class, predicted)| ClassCount { class: class.clone(), predicted }).collect()
}

impl Report {
    fn new(
        target: &Table,
        predictions: &Predictions,
        nodes: &[usize],
        extras: &Extras,
        agreement: Option<Agreement>,
        elapsed: Duration,
    ) -> Self {
        let regions = extras.regions.as_ref();
        Report {
            output: shown::path(target.path),
            nodes: nodes.len(),
            classes: class_counts(predictions, nodes),
            targets: predictions.kind(),
            regions: regions.map(|r| RegionSummary::new(predictions, nodes, r, extras)),
            agreement,
            notes: predictions.notes().to_vec(),
            seconds: elapsed.as_secs_f64(),
        }
    }

    pub(crate) fn text(&self) -> String {
        // Of many classes those are of interest that something was predicted to be.
        let classes: Vec<String> = self
            .classes
            .iter()
            .filter(|c| c.predicted > 0)
            .map(|c| match c.class.parse::<f64>() {
                Ok(_) => format!("{} of class {}", c.predicted, c.class),
                Err(_) => format!("{} {}", c.predicted, shown::name(&c.class)),
            })
            .collect();
        let nodes = count(self.nodes, "node", "nodes");
        let predicted = match classes.as_slice() {
            [] => nodes,
            classes => format!("{nodes} ({})", shown::list(classes)),
        };
        let mut lines = vec![("predicted", predicted)];
        if let Some(regions) = &self.regions {
            let name = if self.targets == TargetKind::Values { "intervals" } else { "sets" };
            lines.push((name, regions.text(self.targets)));
        }
        lines.push(("time", seconds(Duration::from_secs_f64(self.seconds))));
        if !stdio::is_standard(Path::new(&self.output)) {
            lines.push(("saved", self.output.clone()));
        }
        pairs(&lines) + &self.agreement.as_ref().map_or_else(String::new, Agreement::text)
    }
}
