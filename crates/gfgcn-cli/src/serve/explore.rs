//! `gfgcn explore`: a page to play with a model of some data.

use super::{Listening, Log, Ready, allow_connections};
use crate::output::Output;
use crate::progress::{self, Unit};
use crate::source::{Source, SplitSource};
use crate::training::warn_of_small_classes;
use crate::{Global, shown};
use clap::Args;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, TargetKind};
use gfgcn::filter::{DEFAULT_DEPTH, DEFAULT_TAU, Filter};
use gfgcn::split::Split;
use gfgcn::{Classifier, Design, Error, Result};
use gfgcn_serve::Server;
use std::path::PathBuf;

/// Explore a graph in the browser
///
/// Opens a server on this machine with a page that shows the graph, what a model predicts of its nodes and how sure it is. Filter, depth and
/// λ can be moved, labels corrected, edges and nodes dropped; everything is trained anew, exactly, while you look. Where little or nothing is
/// labelled, the page proposes which node to label next. Models train on the split that comes with the data, if there is one, and on all
/// labels otherwise.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn explore cora
  gfgcn explore my-folder --journal labels.journal")]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    split: SplitSource,
    /// Train on all labels, not on the split that comes with the data
    #[arg(long, conflicts_with_all = ["split", "public_split"])]
    all_labels: bool,
    /// The model to begin with: channels as JSON reports write them, such as sgc:depth=2
    #[arg(long, value_name = "DESIGN")]
    design: Option<Design>,
    /// File in which what you change is written down, and found again the next time
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    #[command(flatten)]
    listening: Listening,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let listening = &arguments.listening;
    let dataset = arguments.source.load(global, output)?;
    let name = dataset.name().to_owned();
    let options = listening.options(&name, arguments.journal.clone())?;
    let split = arguments.nodes(&dataset)?;
    split.iter().for_each(|split| warn_of_small_classes(&dataset, split, output));
    let dataset = with_ids(dataset)?;
    let design = match &arguments.design {
        Some(design) => design.clone(),
        None if dataset.features().is_empty() => "sgc:depth=2 of structure".parse()?,
        None => Filter::ssgc(DEFAULT_DEPTH, DEFAULT_TAU)?.into(),
    };
    let classifier = Classifier::new(design);
    allow_connections();
    listening.start_log(output, Log::None);
    let start =
        |context: &Context| Server::of_data(dataset, classifier, split.as_ref(), &options, context);
    let server = progress::show(output, "starting", Unit::Time, start)?;
    let address = format!("http://{}", server.address());
    // A page cannot be opened with a header, so the token comes behind the #, which is not sent.
    let page = match &options.token {
        Some(token) => format!("{address}/#token={token}"),
        None => format!("{address}/"),
    };
    let ready = Ready {
        what: format!("Explore {} on {page}", shown::name(&name)),
        address: page,
        journal: options.journal.as_deref().map(shown::path),
    };
    super::run(server, &ready, output)
}

impl Arguments {
    /// The nodes to begin with; none where nothing is known.
    fn nodes(&self, dataset: &Dataset) -> Result<Option<Split>> {
        if dataset.targets().kind() != TargetKind::Classes {
            return Err(Error::Data(format!(
                "the nodes have {}, and only classes can be explored",
                dataset.targets().kind()
            )));
        }
        if let Some(split) = self.split.load_one(dataset)? {
            return Ok(Some(split));
        }
        let own = dataset.split().filter(|split| !self.all_labels && !split.train().is_empty());
        Ok(match own {
            Some(own) => Some(own.clone()),
            None if dataset.targets().known().is_empty() => None,
            None => Some(Split::all_known(dataset.targets())?),
        })
    }
}

/// Nodes keep their names when others go.
fn with_ids(dataset: Dataset) -> Result<Dataset> {
    match dataset.node_ids() {
        Some(_) => Ok(dataset),
        None => {
            let numbers = (0..dataset.nodes()).map(|node| node.to_string()).collect();
            dataset.with_node_ids(numbers)
        }
    }
}
