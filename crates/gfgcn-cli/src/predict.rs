//! `gfgcn predict`: label the nodes of a graph with a trained model.

use crate::output::{Output, count, pairs, seconds, table};
use crate::progress::{self, Unit};
use crate::source::{Source, SplitSource, Target};
use crate::{Global, interrupt, shown};
use clap::Args;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::metrics::Metrics;
use gfgcn::model::Predictions;
use gfgcn::split::Split;
use gfgcn::{Error, Model};
use gfgcn_data::predictions;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Label every node of a graph with a trained model
///
/// The graph may be the one the model was trained on or another one with the same features, new
/// nodes included. Writes one row per node: id, label, and a score for each class (the largest
/// wins). The output's name chooses its format: .csv, .tsv (each also .gz), .parquet or .npz. Where
/// the data have labels, says how well the predictions agree with them; with a split, on its test
/// part only.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn predict my.model my-folder -o labels.csv
  gfgcn predict my.model my-folder --only-unlabelled -o new.parquet
  gfgcn predict cora.model cora --public-split -o cora.npz")]
pub(crate) struct Arguments {
    /// A model saved by `gfgcn fit`
    model: PathBuf,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    target: Target,
    /// Write only the nodes that have no label in the data
    #[arg(long)]
    only_unlabelled: bool,
    #[command(flatten)]
    split: SplitSource,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let mut inputs = arguments.source.files();
    inputs.push(&arguments.model);
    predictions::check_file_name(arguments.target.path())?;
    arguments.target.check(&inputs)?;
    let model = Model::load(&arguments.model)?;
    let dataset = arguments.source.load(global, output)?;
    let split = arguments.split.load_one(&dataset)?;
    let start = Instant::now();
    let predict = |context: &Context| model.predict(&dataset, context);
    let predictions = progress::show(output, "predicting", Unit::Time, predict)?;
    let elapsed = start.elapsed();
    predictions.notes().iter().for_each(|note| output.warn(note));
    let nodes: Vec<usize> = dataset
        .as_listed()
        .into_iter()
        .filter(|&node| !arguments.only_unlabelled || dataset.labels().get(node).is_none())
        .collect();
    if nodes.is_empty() {
        return Err(Error::Data(
            "every node has a label already, so there is nothing to write".into(),
        )
        .into());
    }
    {
        let _uninterrupted = interrupt::writing();
        let (path, force) = (arguments.target.path(), arguments.target.force());
        let classes = dataset.labels().classes().len().max(predictions.classes().len()) as u64;
        // Which class was taken for which is counted afterwards.
        let needed =
            predictions::write_memory(&predictions, path, nodes.len()).max(8 * classes.pow(2));
        let remedy = "use a machine with more memory";
        interrupt::context().memory().check("writing the predictions", needed, remedy)?;
        predictions::write(&predictions, path, force, &dataset, &nodes)?;
    }
    let report = Report {
        output: shown::path(arguments.target.path()),
        nodes: nodes.len(),
        classes: class_counts(&predictions, &nodes),
        agreement: Agreement::new(&model, &dataset, &predictions, split.as_ref()),
        notes: predictions.notes().to_vec(),
        seconds: elapsed.as_secs_f64(),
    };
    output.report(&report, Report::text)
}

#[derive(Serialize)]
struct Report {
    output: String,
    nodes: usize,
    classes: Vec<ClassCount>,
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

fn class_counts(predictions: &Predictions, nodes: &[usize]) -> Vec<ClassCount> {
    let mut counts = vec![0; predictions.classes().len()];
    nodes.iter().for_each(|&node| counts[predictions.class(node) as usize] += 1);
    let counts = predictions.classes().iter().zip(counts);
    counts.map(|(class, predicted)| ClassCount { class: class.clone(), predicted }).collect()
}

/// How the predictions compare with the labels in the data.
#[derive(Serialize)]
struct Agreement {
    /// Which labelled nodes were compared.
    on: &'static str,
    nodes: usize,
    /// In percent.
    #[serde(flatten)]
    metrics: Metrics,
}

impl Agreement {
    /// `None` where no node to compare has a label.
    fn new(
        model: &Model,
        dataset: &Dataset,
        predictions: &Predictions,
        split: Option<&Split>,
    ) -> Option<Self> {
        let labels = dataset.labels();
        let all: Vec<usize>;
        let (on, nodes) = match split {
            Some(split) => ("test nodes", split.test()),
            None => {
                all = labels.labelled();
                let same = model.provenance().fingerprint == dataset.fingerprint();
                (
                    if same {
                        "labelled nodes, training nodes among them"
                    } else {
                        "labelled nodes"
                    },
                    &all[..],
                )
            }
        };
        // Classes by name: the data may know classes that the model does not.
        let mut classes = predictions.classes().to_vec();
        let mut position = |name: &str| -> u32 {
            let known = classes.iter().position(|class| class == name);
            known.unwrap_or_else(|| {
                classes.push(name.to_owned());
                classes.len() - 1
            }) as u32
        };
        let pairs: Vec<(u32, u32)> = nodes
            .iter()
            .filter_map(|&node| Some((position(labels.name(node)?), predictions.class(node))))
            .collect();
        let nodes = pairs.len();
        (nodes > 0).then(|| Agreement {
            on,
            nodes,
            metrics: Metrics::new(&classes, pairs).in_percent(),
        })
    }

    fn text(&self) -> String {
        let percent = |value: f64| format!("{value:.1}");
        let rows = self.metrics.classes.iter().map(|class| {
            vec![
                class.class.clone(),
                class.support.to_string(),
                percent(class.precision),
                percent(class.recall),
                percent(class.f1),
            ]
        });
        let header =
            ["class", "nodes", "precision %", "recall %", "F1 %"].map(String::from).to_vec();
        format!(
            "\nAgreement with {} {}: accuracy {} %, macro F1 {} %, weighted F1 {} %\n{}\n",
            self.nodes,
            self.on,
            percent(self.metrics.accuracy),
            percent(self.metrics.macro_f1),
            percent(self.metrics.weighted_f1),
            table(header, rows.collect()).trim_fmt(),
        )
    }
}

impl Report {
    fn text(&self) -> String {
        let classes: Vec<String> = self
            .classes
            .iter()
            .map(|c| format!("{} {}", c.predicted, shown::name(&c.class)))
            .collect();
        let lines = [
            (
                "predicted",
                format!("{} ({})", count(self.nodes, "node", "nodes"), shown::list(&classes)),
            ),
            ("time", seconds(Duration::from_secs_f64(self.seconds))),
            ("saved", self.output.clone()),
        ];
        pairs(&lines) + &self.agreement.as_ref().map_or_else(String::new, Agreement::text)
    }
}
