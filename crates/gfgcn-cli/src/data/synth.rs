//! `gfgcn data synth`: a synthetic dataset of any size.

use crate::output::{Output, pairs, seconds};
use crate::progress::{self, Unit};
use crate::settings::{Refusal, number};
use crate::shown;
use crate::source::Target;
use clap::Args;
use gfgcn::Error;
use gfgcn_data::{DEFAULT_HOMOPHILY, Synthetic, SyntheticShape};
use gfgcn_datasets::has_extension;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Make a synthetic dataset of any size
///
/// A stochastic block model with power-law degrees: nodes of random classes, most edges within a
/// class, and features that say little about the class of a node by itself but much about that of
/// its neighbourhood. The graph is written as it is drawn and needs little memory. The same options
/// give the same file, to the byte.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn data synth -o small.npz --nodes 2000 --edges 10000 --classes 5 --features 32
  gfgcn data synth -o large.npz --nodes 1000000 --edges 25000000 --classes 10 --features 128")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Number of nodes, 2 to 2147483647
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    nodes: usize,
    /// Number of edges, at most a quarter of all pairs of nodes
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = whole)]
    edges: usize,
    /// Number of classes, 2 or more
    #[arg(long, value_name = "C", allow_negative_numbers = true, value_parser = whole)]
    classes: usize,
    /// Number of features of a node, 1 to 1048576
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = whole)]
    features: usize,
    /// Share of edges that join nodes of the same class, 0 to 1
    #[arg(
        long,
        value_name = "H",
        allow_negative_numbers = true,
        value_parser = number,
        default_value_t = DEFAULT_HOMOPHILY
    )]
    homophily: f64,
    /// Another seed gives another graph
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, default_value_t = 0)]
    seed: u64,
}

fn whole(text: &str) -> Result<usize, Refusal> {
    text.parse().map_err(|_| "not a whole number, or too large".into())
}

#[derive(Serialize)]
struct Report {
    output: String,
    nodes: usize,
    edges: usize,
    classes: usize,
    features: usize,
    homophily: f64,
    seed: u64,
    bytes: u64,
    seconds: f64,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> anyhow::Result<()> {
    let &Arguments { nodes, edges, classes, features, homophily, seed, .. } = arguments;
    let shape = SyntheticShape { nodes, edges, classes, features };
    let synthetic = Synthetic::new(shape, homophily, seed)?;
    let path = arguments.target.path();
    if !has_extension(path, "npz") {
        let problem = "is no name for the archive that is written; let it end in .npz";
        return Err(Error::Data(problem.into()).in_file(path).into());
    }
    arguments.target.check(&[])?;
    let start = Instant::now();
    progress::show(output, "writing", Unit::Bytes, |context| {
        synthetic.write(path, arguments.target.force(), context)
    })?;
    let report = Report {
        output: shown::path(path),
        nodes,
        edges,
        classes,
        features,
        homophily,
        seed,
        bytes: std::fs::metadata(path).map_err(|e| Error::Read(e).in_file(path))?.len(),
        seconds: start.elapsed().as_secs_f64(),
    };
    output.report(&report, Report::text)
}

impl Report {
    fn text(&self) -> String {
        pairs(&[
            ("nodes", self.nodes.to_string()),
            ("edges", format!("{} (homophily {})", self.edges, self.homophily)),
            ("classes", self.classes.to_string()),
            ("features", self.features.to_string()),
            ("seed", self.seed.to_string()),
            ("time", seconds(Duration::from_secs_f64(self.seconds))),
            ("saved", format!("{} ({} bytes)", self.output, self.bytes)),
        ])
    }
}
