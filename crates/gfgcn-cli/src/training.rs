//! What the commands that train have in common: the nodes, the search, the model and its file.

use crate::interrupt;
use crate::output::Output;
use crate::progress::{self, Unit};
use crate::source::SplitSource;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::split::Split;
use gfgcn::tune::{Search, Tuned};
use gfgcn::{Classifier, Model};
use std::path::Path;

/// The split that was asked for, or all labelled nodes.
pub(crate) fn nodes(
    source: &SplitSource,
    dataset: &Dataset,
    output: &Output,
) -> anyhow::Result<Split> {
    let split = match source.load(dataset)? {
        Some(split) => split,
        None => Split::all_labelled(dataset.labels()).map_err(|e| e.in_file(dataset.name()))?,
    };
    warn_of_small_classes(dataset, &split, output);
    Ok(split)
}

/// Looks for the best model.
pub(crate) fn search(
    search: &Search,
    dataset: &Dataset,
    split: &Split,
    output: &Output,
) -> anyhow::Result<Tuned> {
    let tuned = progress::show(output, "searching", Unit::Steps, |context| {
        context.progress().begin("searching", search.steps(split));
        search.run(dataset, split, context)
    })?;
    Ok(tuned)
}

/// Trains one model.
pub(crate) fn train(
    classifier: &Classifier,
    dataset: &Dataset,
    split: &Split,
    output: &Output,
) -> anyhow::Result<Model> {
    let fit = |context: &Context| classifier.fit(dataset, split, context);
    Ok(progress::show(output, "training", Unit::Time, fit)?)
}

/// Writes a model, whatever interrupts.
pub(crate) fn save(model: &Model, path: &Path, force: bool) -> anyhow::Result<()> {
    let _uninterrupted = interrupt::writing();
    Ok(model.save(path, force)?)
}

/// Some names, and how many more there are.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 10;
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..SHOWN].join(", ")),
    }
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
        listed(&classes.map(|(class, _)| class.as_str()).collect::<Vec<_>>())
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
