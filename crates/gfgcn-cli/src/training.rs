//! What the commands that train have in common: the nodes, the search, the model and its file.

use crate::interrupt;
use crate::output::{ExpectedScore, Output, seconds};
use crate::progress::{self, Unit};
use crate::shown;
use crate::source::SplitSource;
use clap::{Args, ValueEnum};
use gfgcn::data::{ColumnKind, Dataset, Targets};
use gfgcn::metrics::Metric;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::tune::{Search, Times, Tuned};
use gfgcn::{Error, Model, Result};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// Learners that are named in what a model is made of.
const SHOWN: usize = 5;

/// Which parts of a split train.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct TrainOn {
    /// Parts of a split to train on: the validation part too, where nothing is chosen by it
    #[arg(long, value_enum, value_name = "PARTS", default_value_t = Parts::Train)]
    train_on: Parts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub(crate) enum Parts {
    #[serde(rename = "train")]
    #[value(name = "train")]
    Train,
    #[serde(rename = "train+validation")]
    #[value(name = "train+validation")]
    TrainAndValidation,
}

impl TrainOn {
    const OPTION: &str = "--train-on";

    pub(crate) fn parts(self) -> Parts {
        self.train_on
    }

    /// Refuses to train on a validation part that something else needs, which is named.
    pub(crate) fn check(self, needed: Option<&str>) -> Result<()> {
        match (self.train_on, needed) {
            (Parts::TrainAndValidation, Some(needed)) => {
                let expected = format!("train where the validation part is needed: {needed}");
                Err(Error::parameter(Self::OPTION, "train+validation", expected))
            }
            _ => Ok(()),
        }
    }

    /// As [`TrainOn::check`], for a model that is trained on a split, if one is given.
    pub(crate) fn check_given(self, source: &SplitSource, selection: Selection) -> Result<()> {
        if self.train_on == Parts::TrainAndValidation && !source.is_given() {
            let when = "left out unless a split is given: without one, all labelled nodes train";
            return Err(Error::parameter(Self::OPTION, "given", when));
        }
        self.check(validation_chooses(selection))
    }

    /// The splits to train on.
    ///
    /// # Errors
    /// If validation parts should train, but there are none.
    pub(crate) fn apply(self, splits: Vec<Split>) -> Result<Vec<Split>> {
        if self.train_on == Parts::Train {
            return Ok(splits);
        }
        if splits.iter().all(|split| split.validation().is_empty()) {
            return Err(Error::Data(format!(
                "there is no validation part to train on; leave out {}",
                Self::OPTION
            )));
        }
        Ok(splits.iter().map(Split::training_on_validation).collect())
    }
}

/// Where λ is chosen on the validation part, how that is said.
pub(crate) fn validation_chooses(selection: Selection) -> Option<&'static str> {
    (selection == Selection::Validation).then_some("--select validation chooses λ by it")
}

/// The split that was asked for, or all nodes of which something is known.
pub(crate) fn nodes(
    source: &SplitSource,
    train_on: TrainOn,
    dataset: &Dataset,
    output: &Output,
) -> anyhow::Result<Split> {
    let given = source.load_one(dataset)?;
    let given = given.map(|split| train_on.apply(vec![split])).transpose()?;
    let split = match given.and_then(|mut splits| splits.pop()) {
        Some(split) => split,
        None => Split::all_known(dataset.targets())
            .map_err(|e| where_labels_may_be(e, dataset).in_file(dataset.name()))?,
    };
    warn_of_small_classes(dataset, &split, output);
    Ok(split)
}

/// Says how labels are named, where there are none, and which columns might hold them.
fn where_labels_may_be(error: Error, dataset: &Dataset) -> Error {
    let columns = dataset.encoding().map_or(&[][..], |encoding| &encoding.columns);
    let words = columns.iter().filter(|column| matches!(column.kind, ColumnKind::Category { .. }));
    let words: Vec<&str> = words.map(|column| column.name.as_str()).collect();
    let example = match &words[..] {
        [] => String::new(),
        words => format!(", perhaps {}", shown::few(words)),
    };
    Error::Data(format!(
        "{error}: in labels.csv beside edges.csv, in a table named with --labels, or in the column named with --label-column\
         {example}"
    ))
}

/// Looks for the best model, which keeps its training if that is asked for.
pub(crate) fn search(
    search: &Search,
    dataset: &Dataset,
    split: &Split,
    keeps: bool,
    output: &Output,
) -> anyhow::Result<Tuned> {
    let tuned = progress::show(output, "searching", Unit::Steps, |context| {
        context.progress().begin("searching", search.steps(dataset, split)?);
        match keeps {
            true => search.run_keeping(dataset, split, &context.on_processor()),
            false => search.run(dataset, split, context),
        }
    })?;
    Ok(tuned)
}

/// What a report says about a search.
#[derive(Serialize)]
pub(crate) struct Searched {
    /// Learners that were compared, their sum among them, each at 25 values of λ.
    pub(crate) tried: usize,
    /// Learners not tried, because they would take too long.
    not_tried: Vec<String>,
    /// Training nodes on which all met first, where all on all would take long.
    sample: Option<usize>,
    /// Whether the model is a stack of learners, not the default.
    stacked: bool,
    /// How much each learner has to do with the scores, in percent.
    shares: Vec<Share>,
    #[serde(skip)]
    metric: Metric,
    /// The metric on nodes that had no part in the choice; in percent where it is a share. None where there are too few.
    #[serde(rename = "expected_score")]
    expected: Option<ExpectedScore>,
    /// Whether the chosen model looks at the graph at all.
    uses_graph: bool,
    /// Whether a node's own features alone are as good.
    own_features_suffice: bool,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Share {
    learner: String,
    share: f64,
}

/// Where the time went.
#[derive(Serialize)]
struct Seconds {
    screening: f64,
    learning: f64,
    stacking: f64,
    composing: f64,
}

impl From<&Tuned> for Searched {
    fn from(tuned: &Tuned) -> Self {
        let share =
            |(name, share): &(String, f64)| Share { learner: name.clone(), share: 100.0 * share };
        let Times { screening, learning, stacking, composing } = tuned.times;
        Searched {
            tried: tuned.board.iter().filter(|contender| contender.design.is_some()).count(),
            not_tried: tuned.left_out.clone(),
            sample: tuned.sample,
            stacked: tuned.stacked,
            shares: tuned.shares.iter().map(share).collect(),
            metric: tuned.metric,
            expected: tuned.expected.map(ExpectedScore::from),
            uses_graph: tuned.model.members().iter().any(|member| member.design().uses_graph()),
            own_features_suffice: tuned.own_features_suffice,
            seconds: Seconds {
                screening: screening.as_secs_f64(),
                learning: learning.as_secs_f64(),
                stacking: stacking.as_secs_f64(),
                composing: composing.as_secs_f64(),
            },
        }
    }
}

impl Searched {
    /// What the model is made of: `61 % two hops, 30 % own features, 9 % whom it is linked to`.
    pub(crate) fn made_of(&self) -> String {
        if !self.stacked {
            return "the default, gfSSGC at depth 8: nothing else is better by more than chance"
                .into();
        }
        let said = self.shares.iter().take(SHOWN).take_while(|share| share.share >= 1.0).count();
        let (said, others) = self.shares.split_at(said.max(1));
        let part = |Share { learner, share }: &Share| format!("{share:.0} % {learner}");
        let mut parts: Vec<String> = said.iter().map(part).collect();
        let rest: f64 = others.iter().map(|share| share.share).sum();
        match others {
            _ if rest < 0.5 => {}
            [only] => parts.push(part(only)),
            _ => parts.push(format!("{rest:.0} % {} others", others.len())),
        }
        parts.join(", ")
    }

    /// `12 learners and their sum, each at 25 λ, after a first round on 1024 of the nodes`.
    pub(crate) fn learners(&self) -> String {
        let mut text = format!("{} learners and their sum, each at 25 λ", self.tried);
        if let Some(nodes) = self.sample {
            text += &format!(", after a first round on {nodes} of the nodes");
        }
        if !self.not_tried.is_empty() {
            let count = self.not_tried.len();
            text += &format!(" ({count} more would take too long on so many nodes)");
        }
        text
    }

    /// `expected accuracy`.
    pub(crate) fn expected_name(&self) -> String {
        format!("expected {}", self.metric.description())
    }

    /// `81.2 % (95 % interval 73.4 to 87.1)`.
    pub(crate) fn expected(&self) -> String {
        match &self.expected {
            Some(expected) => expected.to_string(),
            None => "unknown: too few training nodes to tell".into(),
        }
    }

    /// Where the time went, for a line that begins with all of it.
    pub(crate) fn times(&self) -> String {
        let Seconds { screening, learning, stacking, composing } = self.seconds;
        let all = [
            ("first round", screening),
            ("learning", learning),
            ("stacking", stacking),
            ("putting it together", composing),
        ];
        let shown = all.into_iter().filter(|(_, seconds)| *seconds >= 0.05);
        let parts: Vec<String> = shown
            .map(|(name, time)| format!("{name} {}", seconds(Duration::from_secs_f64(time))))
            .collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    /// A line for a report where the graph does not help.
    pub(crate) fn without_graph(&self) -> Option<(&'static str, String)> {
        let why = match (self.uses_graph, self.own_features_suffice) {
            (false, _) => {
                "not used: a node's own features are more informative than its neighbourhood"
            }
            (true, true) => {
                "hardly helps: a node's own features alone are as good, as far as these nodes can tell"
            }
            (true, false) => return None,
        };
        Some(("graph", why.into()))
    }
}

/// Writes a model, whatever interrupts.
pub(crate) fn save(model: &Model, path: &Path, force: bool) -> anyhow::Result<()> {
    let _uninterrupted = interrupt::writing();
    Ok(model.save(path, force)?)
}

/// Says which classes cannot be learnt or judged.
pub(crate) fn warn_of_small_classes(dataset: &Dataset, split: &Split, output: &Output) {
    let Targets::Classes(labels) = dataset.targets() else { return };
    let mut counts = vec![0; labels.classes().len()];
    for class in split.train().iter().filter_map(|&node| labels.get(node)) {
        counts[class as usize] += 1;
    }
    let with = |count: usize| {
        let classes = labels.classes().iter().zip(&counts).filter(|(_, found)| **found == count);
        shown::few(&classes.map(|(class, _)| class).collect::<Vec<_>>())
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
