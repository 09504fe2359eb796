//! `gfgcn explain`: why a node got its label, and what speaks for each class.

use crate::device::DeviceOption;
use crate::output::{Output, count};
use crate::progress::{self, Unit};
use crate::source::{Source, load_model};
use crate::tables::TableTarget;
use crate::{Global, shown};
use clap::Args;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::explain::{Cause, Explainer, Influence, Reasons, View};
use gfgcn::{Error, Model, Result};
use gfgcn_data::Column;
use serde::Serialize;
use std::path::PathBuf;

/// Say why a node got its label, or what speaks for each class
///
/// A score is a sum: over the channels of the model, over the features of the node and its surroundings, over the nodes whose
/// features these are, and over the labelled nodes it was learnt from (of a model that was saved with --keep-training; of one that was
/// searched for on the data it was trained on). Each list has the largest terms first, with their sign, and adds up to the score. Without
/// --node, the mean score of the nodes that are predicted to be in a class is taken apart in the same way, class by class, followed by the
/// labelled nodes that have the most influence on all of it.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn explain my.model my-folder --node paper-17
  gfgcn explain my.model my-folder --node paper-17 --class botany --top 30
  gfgcn explain my.model my-folder --node paper-17 --top 1000 -o why.csv
  gfgcn explain my.model my-folder --json")]
pub(crate) struct Arguments {
    /// A model saved by `gfgcn fit`
    model: PathBuf,
    #[command(flatten)]
    source: Source,
    /// The id of the node
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    node: Option<String>,
    /// The class or label whose score to break down, or the column of values [default: the predicted class, the label with the
    /// largest score, every column]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    class: Option<String>,
    /// How many terms of each list to show; what the others add up to is one line
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    #[command(flatten)]
    table: TableTarget,
    /// Replace the table if it is there
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    pub(crate) device: DeviceOption,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let inputs = [arguments.source.files(), vec![arguments.model.clone()]].concat();
    let output = &arguments.table.check(arguments.force, &inputs, output)?;
    let model = load_model(&arguments.model)?;
    let dataset = arguments.source.load_for(&model, global, output)?;
    let class = arguments.class.as_deref().map(|name| position(&model, name)).transpose()?;
    let writer = Writer { model: &model, dataset: &dataset, top: arguments.top as usize };
    let explain = |context: &Context| match &arguments.node {
        Some(id) => writer.node(node(&dataset, id)?, class, context),
        None => writer.classes(class, context),
    };
    let (report, notes) = progress::show(output, "explaining", Unit::Time, explain)?;
    notes.iter().for_each(|note| output.warn(note));
    arguments.table.write(arguments.force, || columns(&report))?;
    output.report(&report, |report| {
        let influence = report.influence.as_ref().map(Influential::text);
        report.scores.iter().map(Why::text).chain(influence).collect::<Vec<String>>().join("\n")
    })
}

/// A row for each term: whose score it is a part of, and what it is.
fn columns(report: &Report) -> Vec<Column<'_>> {
    let mut rows: Vec<(&Why, &str, &str, f64)> = Vec::new();
    for why in &report.scores {
        rows.push((why, "constant", "", why.constant));
        let labelled = why.labelled_nodes.as_ref().map(|list| ("labelled node", list));
        let lists = [
            ("channel", &why.channels),
            ("feature", &why.features),
            ("node", &why.nodes_of_the_graph),
        ];
        for (part, list) in lists.into_iter().chain(labelled) {
            rows.extend(list.terms.iter().map(|term| (why, part, &*term.name, term.value)));
            if list.others > 0 {
                rows.push((why, part, "(others)", list.sum_of_others));
            }
        }
    }
    vec![
        Column::text("id", rows.iter().map(|row| row.0.node.as_deref().unwrap_or_default())),
        Column::text("class", rows.iter().map(|row| row.0.class.as_str())),
        Column::text("part", rows.iter().map(|row| row.1)),
        Column::text("name", rows.iter().map(|row| row.2)),
        Column::numbers("value", rows.iter().map(|row| row.3).collect()),
    ]
}

/// Scores that were taken apart.
#[derive(Serialize)]
struct Report {
    scores: Vec<Why>,
    /// Of the whole model, if its labelled nodes are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    influence: Option<Influential>,
}

/// The labelled nodes with the most influence, and how many others there are.
#[derive(Serialize)]
struct Influential {
    nodes: Vec<Term>,
    others: usize,
}

impl Influential {
    fn text(&self) -> String {
        let line = |term: &Term| {
            format!("  {:9.*}  {}\n", DIGITS as usize, term.value, shown::name(&term.name))
        };
        let lines: String = self.nodes.iter().map(line).collect();
        let others = match self.others {
            0 => String::new(),
            others => format!("             {}\n", count(others, "other", "others")),
        };
        format!(
            "Labelled nodes with the most influence: the mean size of their terms above\n\n{lines}{others}"
        )
    }
}

fn position(model: &Model, name: &str) -> Result<usize> {
    model.classes().iter().position(|class| class == name).ok_or_else(|| {
        let known = shown::list(model.classes());
        Error::parameter("class", name, format!("one of the model's: {known}"))
    })
}

fn node(dataset: &Dataset, id: &str) -> Result<usize> {
    let found = (0..dataset.nodes()).find(|&node| dataset.node_id(node) == id);
    found.ok_or_else(|| {
        let first = dataset.node_id(0).into_owned();
        Error::parameter("node", id, format!("the id of a node of the data, such as {first:?}"))
    })
}

/// Scores taken apart, and what a person should know about how the data were matched.
type Explained = (Report, Vec<String>);

/// Whose score, and why it is what it is.
#[derive(Serialize)]
struct Why {
    /// The node; none where the nodes of a class are explained on average.
    node: Option<String>,
    /// Of how many nodes it is the mean.
    nodes: usize,
    class: String,
    /// Whether it is the predicted one; none of values.
    predicted: Option<bool>,
    /// Of the class, 0 to 1; of a single node.
    probability: Option<f64>,
    score: f64,
    /// What every node has of it.
    constant: f64,
    channels: List,
    features: List,
    nodes_of_the_graph: List,
    /// Only of a model that keeps its training.
    #[serde(skip_serializing_if = "Option::is_none")]
    labelled_nodes: Option<List>,
}

/// The largest terms, and what the others add up to.
#[derive(Serialize)]
struct List {
    terms: Vec<Term>,
    others: usize,
    sum_of_others: f64,
}

#[derive(Serialize)]
struct Term {
    name: String,
    value: f64,
}

struct Writer<'a> {
    model: &'a Model,
    dataset: &'a Dataset,
    top: usize,
}

impl Writer<'_> {
    /// A node's class, or every column of its values.
    fn node(&self, node: usize, class: Option<usize>, context: &Context) -> Result<Explained> {
        let reasons = self.model.explain(self.dataset, node, context)?;
        let classes = match (class, self.model.head().kind()) {
            (Some(class), _) => vec![class],
            (None, TargetKind::Values) => (0..reasons.names().len()).collect(),
            (None, _) => vec![reasons.predicted()],
        };
        let scores = classes.into_iter().map(|class| self.of_node(&reasons, node, class)).collect();
        Ok((Report { scores, influence: None }, reasons.notes().to_vec()))
    }

    fn of_node(&self, reasons: &Reasons, node: usize, class: usize) -> Why {
        let scores: Vec<f64> = (0..reasons.names().len()).map(|c| reasons.score(c)).collect();
        let kind = self.model.head().kind();
        let probability = match kind {
            TargetKind::Values => None,
            TargetKind::Classes | TargetKind::Sets => {
                Some(reasons.probabilities(self.model.calibration())[class])
            }
        };
        let predicted = match kind {
            TargetKind::Classes => Some(class == reasons.predicted()),
            TargetKind::Sets => {
                Some(self.model.head().decode_set(&scores).contains(&(class as u32)))
            }
            TargetKind::Values => None,
        };
        let id = self.dataset.node_id(node).into_owned();
        Why { node: Some(id), predicted, probability, ..self.why(reasons, class, &[node]) }
    }

    /// The nodes that are predicted to be in each class, or all where there are no classes, on average.
    fn classes(&self, class: Option<usize>, context: &Context) -> Result<Explained> {
        let predictions = self.model.predict(self.dataset, context)?;
        let mut scores = Vec::new();
        let (mut explainer, mut influence) =
            (Explainer::new(self.model, self.dataset), Influence::default());
        let wanted = |k: &usize| class.is_none_or(|class| class == *k);
        for k in (0..self.model.classes().len()).filter(wanted) {
            let nodes = predictions.nodes_of(k);
            if nodes.is_empty() {
                continue;
            }
            let reasons = explainer.mean(&nodes, context)?;
            influence.add(&reasons, k, nodes.len());
            scores.push(self.why(&reasons, k, &nodes));
        }
        if scores.is_empty() {
            let what = class.map_or("anything", |class| &self.model.classes()[class]);
            return Err(Error::Data(format!("no node of the data is predicted to be {what}")));
        }
        let influence = class.is_none().then(|| self.influential(&influence.nodes())).flatten();
        Ok((Report { scores, influence }, predictions.notes().to_vec()))
    }

    fn influential(&self, nodes: &[(usize, f64)]) -> Option<Influential> {
        let (first, others) = nodes.split_at(self.top.min(nodes.len()));
        let term = |&(node, value): &(usize, f64)| Term {
            name: self.name(Cause::Labelled(node), &[]),
            value,
        };
        let influential =
            Influential { nodes: first.iter().map(term).collect(), others: others.len() };
        (!nodes.is_empty()).then_some(influential)
    }

    fn why(&self, reasons: &Reasons, class: usize, nodes: &[usize]) -> Why {
        let list = |view: View| {
            let terms = reasons.terms(view, class);
            let (first, others) = terms.split_at(self.top.min(terms.len()));
            let term =
                |&(cause, value): &(Cause, f64)| Term { name: self.name(cause, nodes), value };
            List {
                terms: first.iter().map(term).collect(),
                others: others.len(),
                sum_of_others: others.iter().map(|(_, value)| value).sum(),
            }
        };
        Why {
            node: None,
            nodes: nodes.len(),
            class: reasons.names()[class].clone(),
            predicted: None,
            probability: None,
            score: reasons.score(class),
            constant: reasons.constant(class),
            channels: list(View::Channels),
            features: list(View::Features),
            nodes_of_the_graph: list(View::Nodes),
            labelled_nodes: reasons.has(View::Labelled).then(|| list(View::Labelled)),
        }
    }

    fn name(&self, cause: Cause, explained: &[usize]) -> String {
        let name = cause.name(self.model, self.dataset);
        match cause {
            Cause::Node(node) if explained == [node] => format!("{name} (itself)"),
            Cause::Labelled(node) => {
                let training = self.model.training().expect("it knows its labelled nodes");
                format!("{name} ({})", training.known_of(node))
            }
            _ => name,
        }
    }
}

/// Digits behind the point.
const DIGITS: i32 = 4;

/// As it is printed.
fn rounded(value: f64) -> f64 {
    let unit = 10f64.powi(DIGITS);
    (value * unit).round() / unit
}

impl Why {
    fn text(&self) -> String {
        let class = shown::name(&self.class);
        let head = match (&self.node, self.predicted) {
            (Some(node), Some(true)) => format!("{} is predicted to be {class}", shown::name(node)),
            (Some(node), Some(false)) => {
                format!("{} is not predicted to be {class}", shown::name(node))
            }
            (Some(node), None) => format!("{}: {class}", shown::name(node)),
            (None, _) => format!("{class}: the mean of {}", count(self.nodes, "node", "nodes")),
        };
        let probability = self.probability.map(|p| format!(", probability {:.1} %", 100.0 * p));
        let mut lists = vec![
            ("By channel", &self.channels),
            ("By feature, of the node and its surroundings", &self.features),
            ("By node of the graph", &self.nodes_of_the_graph),
        ];
        lists.extend(self.labelled_nodes.as_ref().map(|list| ("By labelled node", list)));
        let lists =
            lists.into_iter().map(|(title, list)| format!("\n{title}\n{}", self.list(list)));
        let lists: String = lists.collect();
        let score = format!("score {:.*}", DIGITS as usize, rounded(self.score));
        format!("{head}: {score}{}\n{}", probability.unwrap_or_default(), lists)
    }

    /// One term per line; what is printed adds up to the printed score.
    fn list(&self, list: &List) -> String {
        let line = |value: f64, name: &str| format!("  {value:+9.*}  {name}\n", DIGITS as usize);
        let mut left = rounded(self.score);
        let mut text = String::new();
        for term in &list.terms {
            left -= rounded(term.value);
            text += &line(rounded(term.value), &shown::name(&term.name));
        }
        if self.constant != 0.0 {
            left -= rounded(self.constant);
            text += &line(rounded(self.constant), "constant");
        }
        let left = rounded(left);
        match list.others {
            0 if left == 0.0 => {}
            0 => text += &line(left, "rounding of the lines above"),
            others => text += &line(left, &count(others, "other", "others")),
        }
        text
    }
}
