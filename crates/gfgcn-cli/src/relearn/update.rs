//! `gfgcn update`: a model learns new labels, and the data as they are now.

use super::{Models, Outcome};
use crate::output::Output;
use crate::progress::{self, Unit};
use crate::source::NamedSource;
use crate::{Global, interrupt, shown, training};
use clap::Args;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, TargetKind, Targets};
use gfgcn::{Model, Result};
use gfgcn_data::{read_labels, read_values};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Teach a model new or corrected labels, and the graph as it is now
///
/// The result is the model that training from scratch on all of it gives, λ and classes included. New labels cost no
/// filtering, only another solution of the closed form. DATASET is the data as they are now: nodes, edges and features that have come,
/// gone or changed since the training are noticed, and what the filters reach from them is filtered again. Labels in
/// DATASET are not looked at; those to learn are in --labels or --values, and may repeat what the model knows.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn update my.model my-folder --labels new.csv -o newer.model
  gfgcn update my.model my-folder -o my.model --force     the graph has grown")]
pub(crate) struct Arguments {
    #[command(flatten)]
    models: Models,
    #[command(flatten)]
    source: NamedSource,
    /// Table of new or corrected labels (id,label)
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Table of new or corrected values (id and columns of numbers)
    #[arg(long, value_name = "FILE", conflicts_with = "labels")]
    values: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let Arguments { models, source, labels, values } = arguments;
    let tables = [labels, values].into_iter().flatten().map(PathBuf::as_path);
    models.check(&[source.path()].into_iter().chain(tables).collect::<Vec<_>>())?;
    let model = models.load()?;
    let dataset = source.load_for(&model, global, output)?;
    let targets = match (labels, values) {
        (Some(path), _) => Some(new_labels(path, &model, &dataset, output)?),
        (_, Some(path)) => Some(read_values(path, &dataset, &interrupt::context())?.into()),
        (None, None) => None,
    };
    let start = Instant::now();
    let update = |context: &Context| model.update(&dataset, targets.as_ref(), context);
    let relearnt = progress::show(output, "learning", Unit::Time, update)?;
    let outcome = Outcome::new(&relearnt, start.elapsed());
    note_unlearnt(&relearnt.dataset, &dataset, relearnt.changes.nodes_added, output);
    training::save(&relearnt.model, &models.output, models.force)?;
    let report = Report { outcome, model: shown::path(&models.output) };
    output.report(&report, |report| report.outcome.text(vec![("saved", report.model.clone())]))
}

/// Labels as the model has them: a label by itself is a set of one where sets are learnt.
fn new_labels(path: &Path, model: &Model, dataset: &Dataset, output: &Output) -> Result<Targets> {
    let (targets, notes) = read_labels(path, dataset, &interrupt::context())?;
    notes.iter().for_each(|note| output.note(note));
    Ok(match targets {
        Targets::Classes(labels) if model.head().kind() == TargetKind::Sets => {
            let set = |node: usize| labels.name(node).map(|name| vec![name]);
            LabelSets::from_names(&(0..labels.len()).map(set).collect::<Vec<_>>()).into()
        }
        other => other,
    })
}

/// Where nodes are new, their labels in the data are easily taken for learnt.
fn note_unlearnt(learnt: &Dataset, given: &Dataset, added: usize, output: &Output) {
    let (learnt, given) = (learnt.targets(), given.targets());
    if added == 0 || learnt.kind() != given.kind() {
        return;
    }
    let unlearnt = (0..given.len()).filter(|&n| given.is_known(n) && !learnt.is_known(n)).count();
    if unlearnt > 0 {
        output.note(format!(
            "{unlearnt} labels of the dataset are not learnt; to learn them, name their file with --labels"
        ));
    }
}

#[derive(Serialize)]
struct Report {
    model: String,
    #[serde(flatten)]
    outcome: Outcome,
}
