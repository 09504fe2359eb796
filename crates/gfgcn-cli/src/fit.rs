//! `gfgcn fit`: train a model and save it.

use crate::output::{Output, count, pairs, seconds};
use crate::progress::{self, Progress, Unit};
use crate::settings::{ModelKind, Settings, accuracy_name, depth};
use crate::source::{Source, SplitSource, Target};
use crate::{Global, interrupt, memory};
use clap::Args;
use gfgcn::data::Dataset;
use gfgcn::filter::Filter;
use gfgcn::split::Split;
use gfgcn::{Classifier, Model, Options};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Train a model on the labelled nodes and save it
///
/// Trains on every labelled node, or on the training part of a split. The whole graph takes part in
/// the filtering. The defaults are strong: gfSSGC at depth 8 with λ chosen by exact leave-one-out.
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
    /// The model
    #[arg(long, value_enum, default_value_t = ModelKind::Ssgc)]
    model: ModelKind,
    /// Depth K of the filter
    #[arg(
        long,
        value_name = "K",
        allow_negative_numbers = true,
        value_parser = depth,
        default_value_t = 8
    )]
    depth: usize,
    #[command(flatten)]
    split: SplitSource,
    #[command(flatten)]
    settings: Settings,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let filter = arguments.settings.filter(arguments.model, arguments.depth)?;
    arguments.target.check(&arguments.source.files())?;
    let dataset = arguments.source.load(global, output)?;
    let split = match arguments.split.load(&dataset)? {
        Some(split) => split,
        None => Split::all_labelled(dataset.labels()).map_err(|e| e.in_file(dataset.name()))?,
    };
    warn_of_small_classes(&dataset, &split, output);
    let classifier = Classifier::new(filter).options(arguments.settings.options());
    memory::check(
        "training",
        classifier.fit_memory(&dataset, &split),
        "train on fewer nodes (--split), or use a machine with more memory",
    )?;
    let start = Instant::now();
    let fit = |_: &Progress| classifier.fit(&dataset, &split);
    let model = progress::show(output, "training", Unit::Time, fit)?;
    let elapsed = start.elapsed();
    {
        let _uninterrupted = interrupt::writing();
        model.save(arguments.target.path(), arguments.target.force())?;
    }
    output.report(&Report::new(&model, arguments.target.path(), elapsed), Report::text)
}

/// Says which classes cannot be learnt or judged.
fn warn_of_small_classes(dataset: &Dataset, split: &Split, output: &Output) {
    let labels = dataset.labels();
    let mut counts = vec![0; labels.classes().len()];
    for class in split.train().iter().filter_map(|&node| labels.get(node)) {
        counts[class as usize] += 1;
    }
    let with = |count: usize| {
        let classes = labels.classes().iter().zip(&counts).filter(|(_, found)| **found == count);
        classes.map(|(class, _)| class.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (absent, single) = (with(0), with(1));
    if !absent.is_empty() {
        output.warn(format!("no training node has class {absent}: never predicted"));
    }
    if counts.iter().filter(|count| **count > 0).count() == 1 {
        output.warn("only one class has training nodes: every node will get it");
    } else if !single.is_empty() {
        output.warn(format!(
            "classes with a single training node ({single}): with that node left out nothing says \
             what the class is, so leave-one-out counts it as wrong"
        ));
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
    seconds: f64,
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
            seconds: elapsed.as_secs_f64(),
        }
    }

    fn text(&self) -> String {
        let mut lines = vec![
            ("filter", self.filter.to_string()),
            ("kernel", self.options.kernel.to_string()),
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
        lines.push(("time", seconds(Duration::from_secs_f64(self.seconds))));
        lines.push(("saved", self.model.display().to_string()));
        pairs(&lines)
    }
}
