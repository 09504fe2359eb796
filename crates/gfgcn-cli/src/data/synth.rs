//! `gfgcn data synth`: a synthetic dataset of any size.

use crate::data::convert::is_store_name;
use crate::output::{Output, pairs, seconds};
use crate::progress::{self, Unit};
use crate::settings::{Refusal, number};
use crate::shown;
use crate::source::Target;
use clap::Args;
use gfgcn::Error;
use gfgcn::split::Ratio;
use gfgcn_data::{DEFAULT_HOMOPHILY, Synthetic, SyntheticShape};
use gfgcn_datasets::has_extension;
use serde::Serialize;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Make a synthetic dataset of any size
///
/// A stochastic block model with power-law degrees: nodes of random classes, most edges within a
/// class, and features that say little about the class of a node by itself but much about that of
/// its neighbourhood. The graph is written as it is drawn and needs little memory. The same options
/// give the same file, to the byte. A name without an ending is that of a store: a folder of arrays that are mapped into memory
/// and not read, for graphs of any size.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn data synth -o small.npz --nodes 2000 --edges 10000 --classes 5 --features 32
  gfgcn data synth -o large.npz --nodes 1000000 --edges 25000000 --classes 10 --features 128
  gfgcn data synth -o huge.store --nodes 10000000 --edges 150000000 --classes 10 --features 128 --split 1:1:98")]
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
    /// Split the nodes at random in this ratio of training, validation and test (--public-split then uses it)
    #[arg(long, value_name = "RATIO")]
    split: Option<Ratio>,
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
    let mut synthetic = Synthetic::new(shape, homophily, seed)?;
    if let Some(ratio) = arguments.split {
        synthetic = synthetic.with_split(ratio);
    }
    let (path, force) = (arguments.target.path(), arguments.target.force());
    let to_store = is_store_name(path) || path.extension().is_none();
    if !to_store && !has_extension(path, "npz") {
        let problem = "is no name for what is written; let that of an archive end in .npz, that of a store in .store or in nothing";
        return Err(Error::Data(problem.into()).in_file(path).into());
    }
    if !to_store {
        arguments.target.check(&[])?;
    }
    let start = Instant::now();
    progress::show(output, "writing", Unit::Bytes, |context| match to_store {
        true => synthetic.write_store(path, force, context),
        false => synthetic.write(path, force, context),
    })?;
    let report = Report {
        output: shown::path(path),
        nodes,
        edges,
        classes,
        features,
        homophily,
        seed,
        bytes: bytes_of(path).map_err(|e| Error::Read(e).in_file(path))?,
        seconds: start.elapsed().as_secs_f64(),
    };
    output.report(&report, Report::text)
}

/// Of a file, or of all in a folder.
fn bytes_of(path: &Path) -> io::Result<u64> {
    if !path.is_dir() {
        return Ok(path.metadata()?.len());
    }
    std::fs::read_dir(path)?.map(|entry| bytes_of(&entry?.path())).sum()
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
