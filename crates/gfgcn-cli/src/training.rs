//! What the commands that train have in common: the nodes, the search, the model and its file.

use crate::interrupt;
use crate::output::{Output, Percent};
use crate::progress::{self, Unit};
use crate::shown;
use crate::source::SplitSource;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::split::Split;
use gfgcn::tune::{KERNELS_UP_TO, Search, Tuned};
use gfgcn::{Classifier, Model};
use serde::Serialize;
use std::path::Path;

/// The split that was asked for, or all labelled nodes.
pub(crate) fn nodes(
    source: &SplitSource,
    dataset: &Dataset,
    output: &Output,
) -> anyhow::Result<Split> {
    let split = match source.load_one(dataset)? {
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
        context.progress().begin("searching", search.steps(dataset, split));
        search.run(dataset, split, context)
    })?;
    Ok(tuned)
}

/// What a report says about a search.
#[derive(Serialize)]
pub(crate) struct Searched {
    /// Combinations tried, each at 25 values of λ.
    pub(crate) tried: usize,
    /// Combinations not tried, because they would take too long.
    not_tried: usize,
    /// On nodes that had no part in the choice, in percent.
    #[serde(rename = "expected_accuracy")]
    pub(crate) expected: Percent,
    /// Whether the chosen model looks at the graph at all.
    uses_graph: bool,
}

impl From<&Tuned> for Searched {
    fn from(tuned: &Tuned) -> Self {
        Searched {
            tried: tuned.tried,
            not_tried: tuned.left_out,
            expected: tuned.expected.into(),
            uses_graph: tuned.board[tuned.chosen].design.uses_graph(),
        }
    }
}

impl Searched {
    /// `168 combinations, each at 25 λ`.
    pub(crate) fn combinations(&self) -> String {
        match (self.tried, self.not_tried) {
            (tried, 0) => format!("{tried} combinations, each at 25 λ"),
            (tried, not_tried) => format!(
                "{tried} of {} combinations, each at 25 λ (with over {KERNELS_UP_TO} training nodes \
                 only those with a linear kernel)",
                tried + not_tried
            ),
        }
    }

    /// A line for a report where the chosen model ignores the graph.
    pub(crate) fn without_graph(&self) -> Option<(&'static str, String)> {
        (!self.uses_graph).then(|| {
            ("graph", "not used: a node's own features say more than its neighbourhood".into())
        })
    }
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

/// Says which classes cannot be learnt or judged.
fn warn_of_small_classes(dataset: &Dataset, split: &Split, output: &Output) {
    let labels = dataset.labels();
    let mut counts = vec![0; labels.classes().len()];
    for class in split.train().iter().filter_map(|&node| labels.get(node)) {
        counts[class as usize] += 1;
    }
    let with = |count: usize| {
        let classes = labels.classes().iter().zip(&counts).filter(|(_, found)| **found == count);
        shown::list(&classes.map(|(class, _)| class).collect::<Vec<_>>())
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
