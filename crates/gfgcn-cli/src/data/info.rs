//! `gfgcn data info`: what a dataset holds.

use crate::output::{Output, count, pairs, table};
use crate::progress::{self, Unit};
use crate::source::Source;
use crate::{Global, shown};
use clap::Args;
use gfgcn::Error;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, TargetKind, Targets};
use gfgcn::split::Split;
use gfgcn_data::{Layout, store};
use serde::Serialize;

/// Describe a dataset: graph, features, classes, splits
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Check all of a store first: every file against its checksum, the graph, and the fingerprint
    #[arg(long)]
    verify: bool,
}

#[derive(Serialize)]
struct Report {
    dataset: String,
    /// What it was recognised as, and how it is read.
    read_as: String,
    nodes: usize,
    edges: usize,
    weighted: bool,
    /// Whether directions of edges say something.
    directed: bool,
    /// Edges with their directions; an undirected one has both.
    arcs: usize,
    relations: Vec<Relation>,
    components: usize,
    largest_component: Size,
    isolated_nodes: usize,
    degrees: Degrees,
    features: usize,
    /// Share of feature values other than zero; `None` without features.
    feature_density: Option<f64>,
    labelled: usize,
    unlabelled: usize,
    /// What is known of the nodes: classes, sets (of labels) or values.
    targets: TargetKind,
    /// Or labels; none of values.
    classes: Vec<Class>,
    /// The columns, where values are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<String>,
    /// Share of edges between labelled nodes that join the same class; `None` without such edges.
    edge_homophily: Option<f64>,
    /// The first of the splits.
    split: Option<Parts>,
    splits: Vec<Parts>,
    fingerprint: String,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Size {
    nodes: usize,
    edges: usize,
}

/// The edges of one kind.
#[derive(Serialize)]
struct Relation {
    relation: String,
    edges: usize,
    directed: bool,
    arcs: usize,
}

#[derive(Serialize)]
struct Degrees {
    smallest: usize,
    median: usize,
    mean: f64,
    largest: usize,
}

#[derive(Serialize)]
struct Class {
    class: String,
    nodes: usize,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
struct Parts {
    train: usize,
    validation: usize,
    test: usize,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    if arguments.verify {
        let store = arguments.source.layout(global)?;
        let Some(Layout::Store(path)) = store else {
            let problem = "--verify is for stores, which are mapped; everything else is checked when it is read";
            return Err(Error::Data(problem.into()).into());
        };
        let verify = |context: &Context| store::verify(&path, context);
        let store::Verified { files, .. } =
            progress::show(output, "verifying", Unit::Time, verify)?;
        output.note(format!("{files} files are as they were written, and the graph is sound"));
    }
    let dataset = arguments.source.load(global, output)?;
    dataset.features().ready(0..dataset.features().cols())?;
    let report = Report::new(&dataset, arguments.source.describe(global)?);
    output.report(&report, Report::text)
}

impl Report {
    fn new(dataset: &Dataset, read_as: String) -> Self {
        let (graph, features, targets) = (dataset.graph(), dataset.features(), dataset.targets());
        // One walks along the graph, the other keeps the rest of the threads busy.
        let (components, fingerprint) =
            rayon::join(|| graph.components(), || dataset.fingerprint());
        let mut degrees: Vec<usize> = (0..graph.nodes()).map(|node| graph.degree(node)).collect();
        degrees.sort_unstable();
        let labelled = targets.known().len();
        let values = features.rows() as f64 * features.cols() as f64;
        let (counts, columns) = match targets {
            Targets::Classes(labels) => (labels.counts(), Vec::new()),
            Targets::Sets(sets) => (sets.counts(), Vec::new()),
            Targets::Values(values) => (Vec::new(), values.names().to_vec()),
        };
        let classes = targets.names().iter().zip(counts);
        Report {
            dataset: dataset.name().to_owned(),
            read_as,
            nodes: graph.nodes(),
            edges: graph.edges(),
            weighted: graph.is_weighted(),
            directed: graph.has_directions(),
            arcs: graph.arc_count(),
            relations: graph.relations().iter().map(Relation::from).collect(),
            components: components.len(),
            largest_component: Size {
                nodes: components[0].len(),
                edges: components[0].iter().map(|&node| graph.degree(node)).sum::<usize>() / 2,
            },
            isolated_nodes: degrees.iter().filter(|&&degree| degree == 0).count(),
            degrees: Degrees {
                smallest: degrees[0],
                median: degrees[degrees.len() / 2],
                mean: 2.0 * graph.edges() as f64 / graph.nodes() as f64,
                largest: degrees[degrees.len() - 1],
            },
            features: features.cols(),
            feature_density: (values > 0.0).then(|| features.nonzeros() as f64 / values),
            labelled,
            unlabelled: graph.nodes() - labelled,
            targets: targets.kind(),
            classes: classes.map(|(c, nodes)| Class { class: c.clone(), nodes }).collect(),
            values: columns,
            edge_homophily: dataset.edge_homophily(),
            split: dataset.split().map(Parts::of),
            splits: dataset.splits().iter().map(Parts::of).collect(),
            fingerprint,
            notes: dataset.notes().to_vec(),
        }
    }

    fn text(&self) -> String {
        let weighted = if self.weighted { " (weighted)" } else { "" };
        let d = &self.degrees;
        let mut lines = vec![
            ("dataset", self.dataset.clone()),
            ("read as", self.read_as.clone()),
            ("nodes", self.nodes.to_string()),
            ("edges", format!("{}{weighted}{}", self.edges, arcs(self.directed, self.arcs))),
        ];
        lines.extend(self.relations.iter().map(|relation| ("relation", relation.text())));
        lines.extend([
            (
                "components",
                format!(
                    "{} (largest: {}, {}; {})",
                    self.components,
                    count(self.largest_component.nodes, "node", "nodes"),
                    count(self.largest_component.edges, "edge", "edges"),
                    count(self.isolated_nodes, "isolated node", "isolated nodes")
                ),
            ),
            (
                "degrees",
                format!("{} to {}, median {}, mean {:.2}", d.smallest, d.largest, d.median, d.mean),
            ),
            (
                "features",
                match self.feature_density {
                    Some(density) => {
                        format!("{} ({:.2} % nonzero)", self.features, 100.0 * density)
                    }
                    None => "no features".to_owned(),
                },
            ),
        ]);
        match self.targets {
            TargetKind::Classes | TargetKind::Sets => lines.push((
                "labelled nodes",
                format!("{} ({} unlabelled)", self.labelled, self.unlabelled),
            )),
            TargetKind::Values => lines.push((
                "nodes with values",
                format!("{} ({})", self.labelled, shown::list(&self.values)),
            )),
        }
        if let Some(homophily) = self.edge_homophily {
            lines.push(("edge homophily", format!("{homophily:.3}")));
        }
        lines.push(match &self.splits[..] {
            [] => ("split", "none".to_owned()),
            [only] => ("split", only.text()),
            [first, rest @ ..] if rest.iter().all(|split| split == first) => {
                ("splits", format!("{}, each {}", self.splits.len(), first.text()))
            }
            [first, ..] => ("splits", format!("{}, the first {}", self.splits.len(), first.text())),
        });
        lines.push(("fingerprint", self.fingerprint.clone()));
        let rows = self.classes.iter().map(|c| {
            let share = 100.0 * c.nodes as f64 / self.labelled.max(1) as f64;
            vec![c.class.clone(), c.nodes.to_string(), format!("{share:.1}")]
        });
        let header =
            [if self.targets == TargetKind::Sets { "label" } else { "class" }, "nodes", "%"]
                .map(String::from)
                .to_vec();
        let classes = match self.classes.is_empty() {
            true => String::new(),
            false => format!("\n{}\n", table(header, rows.collect()).trim_fmt()),
        };
        pairs(&lines) + &classes
    }
}

impl From<&gfgcn::graph::Relation> for Relation {
    fn from(relation: &gfgcn::graph::Relation) -> Self {
        let graph = relation.graph();
        Relation {
            relation: relation.name().to_owned(),
            edges: graph.edges(),
            directed: graph.is_directed(),
            arcs: graph.arc_count(),
        }
    }
}

impl Relation {
    fn text(&self) -> String {
        let edges = count(self.edges, "edge", "edges");
        format!("{}: {edges}{}", shown::name(&self.relation), arcs(self.directed, self.arcs))
    }
}

/// What is added about directions, where there are some.
fn arcs(directed: bool, arcs: usize) -> String {
    if directed { format!(" (directed: {arcs} arcs)") } else { String::new() }
}

impl Parts {
    fn of(split: &Split) -> Self {
        let [train, validation, test] = split.parts().map(|(_, part)| part.len());
        Parts { train, validation, test }
    }

    fn text(&self) -> String {
        format!("{} train, {} validation, {} test", self.train, self.validation, self.test)
    }
}
