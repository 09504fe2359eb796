//! `gfgcn forget`: a model without labels, nodes or edges it was trained on.

use super::{Models, Outcome, receipt};
use crate::output::Output;
use crate::progress::{self, Unit};
use crate::source::{NamedSource, check_output};
use crate::{Global, interrupt, shown};
use clap::Args;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::training::{Check, Receipt, Removal};
use gfgcn_data::{read_edges, read_nodes};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Make a model forget labels, nodes or edges, exactly
///
/// The result is the model that training from scratch without them gives, λ and classes included, and nothing of them is left
/// in its file. DATASET is what the model was trained on. A receipt beside the new model says what was removed, the
/// hashes before and after, and how it was checked that the result is the model of what remains. What is forgotten here still
/// has to be removed from the data and from copies of the old model.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn forget my.model my-folder --nodes ids.txt -o my.model --force
  gfgcn forget my.model my-folder --labels-of ids.csv -o newer.model
  gfgcn forget my.model my-folder --edges edges.csv -o newer.model")]
pub(crate) struct Arguments {
    #[command(flatten)]
    models: Models,
    #[command(flatten)]
    source: NamedSource,
    #[command(flatten)]
    what: What,
    /// Where the receipt goes [default: the output file with .receipt.json behind it]
    #[arg(long, value_name = "FILE")]
    receipt: Option<PathBuf>,
    /// Do not train from scratch to check the result; the receipt says so
    #[arg(long)]
    no_verify: bool,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct What {
    /// Forget the labels, or values, of these nodes, which stay in the graph: one id per line, or a table whose first column is id
    #[arg(long, value_name = "FILE")]
    labels_of: Option<PathBuf>,
    /// Forget these nodes with their edges, features and labels
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Forget these edges: a table (source,target, perhaps type)
    #[arg(long, value_name = "FILE")]
    edges: Option<PathBuf>,
}

impl What {
    fn path(&self) -> &Path {
        let given = [&self.labels_of, &self.nodes, &self.edges].into_iter().flatten().next();
        given.expect("the parser requires one")
    }

    fn removal(&self, dataset: &Dataset) -> Result<Removal> {
        let (path, context) = (self.path(), interrupt::context());
        Ok(if self.edges.is_some() {
            Removal::Edges(read_edges(path, dataset, &context)?)
        } else {
            let nodes = read_nodes(path, dataset, &context)?;
            if self.nodes.is_some() { Removal::Nodes(nodes) } else { Removal::Labels(nodes) }
        })
    }
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let Arguments { models, source, what, receipt: wanted, no_verify } = arguments;
    let inputs = [source.path(), what.path()];
    models.check(&inputs)?;
    let path = wanted.clone().unwrap_or_else(|| receipt::beside(&models.output));
    let read: Vec<PathBuf> =
        inputs.iter().chain([&models.model.as_path()]).map(|path| path.to_path_buf()).collect();
    check_output(&path, models.force, &read)?;
    let model = models.load()?;
    let dataset = source.load_for(&model, global, output)?;
    let removal = what.removal(&dataset)?;
    let start = Instant::now();
    let forget = |context: &Context| model.forget(&dataset, &removal, context);
    let relearnt = progress::show(output, "forgetting", Unit::Time, forget)?;
    let outcome = Outcome::new(&relearnt, start.elapsed());
    let check = match no_verify {
        true => Check::None,
        false => {
            let verify = |context: &Context| relearnt.verify(context);
            progress::show(output, "training from scratch", Unit::Time, verify)?
        }
    };
    let (receipt, file) = Receipt::new(&model, &dataset, &removal, &relearnt, check)?;
    {
        let _uninterrupted = interrupt::writing();
        receipt::save(&receipt, &path, (&models.output, &file), models.force)?;
    }
    if !models.in_place() {
        let old = shown::path(&models.model);
        output.note(format!("{old} still holds what was forgotten; delete it if it must not"));
    }
    let (model, path) = (shown::path(&models.output), shown::path(&path));
    let report = Report { model, receipt: path, checked: check, outcome };
    output.report(&report, Report::text)
}

#[derive(Serialize)]
struct Report {
    model: String,
    receipt: String,
    checked: Check,
    #[serde(flatten)]
    outcome: Outcome,
}

impl Report {
    fn text(&self) -> String {
        self.outcome.text(vec![
            ("checked", self.checked.sentence().to_owned()),
            ("saved", self.model.clone()),
            ("receipt", self.receipt.clone()),
        ])
    }
}
