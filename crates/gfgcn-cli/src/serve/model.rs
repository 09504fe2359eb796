//! `gfgcn serve`: a model over HTTP.

use super::{Listening, Log, Ready, allow_connections};
use crate::columns::ColumnArguments;
use crate::output::Output;
use crate::progress::{self, Unit};
use crate::source::{Directed, NamedSource, load_model};
use crate::{Global, shown};
use clap::Args;
use gfgcn::context::Context;
use gfgcn::{Error, Model, Result};
use gfgcn_datasets::stem;
use gfgcn_serve::Server;
use std::path::PathBuf;

/// Serve a model over HTTP
///
/// Answers requests for predictions, explanations, updates and forgetting, in JSON (see /openapi.json of the running server) and by the
/// Open Inference Protocol. Changes are written to a journal before they are acknowledged, and are there again when the server is started
/// the next time. They need a model that was saved with --keep-training.
#[derive(Args)]
#[command(after_help = "Examples:
  gfgcn serve my.model my-folder
  curl localhost:8080/v1/nodes/some-id
  gfgcn serve my.model my-folder --host 0.0.0.0 --token-file token.txt")]
pub(crate) struct Arguments {
    /// A model saved by `gfgcn fit`
    model: PathBuf,
    /// The graph: a name (`gfgcn data list`), an .npz file, or a folder of tables [default: the dataset of the name that the model was
    /// trained on]
    #[arg(value_name = "DATASET")]
    dataset: Option<PathBuf>,
    #[command(flatten)]
    direction: Directed,
    /// File in which changes are written down [default: the model's, with .journal behind it]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// What the model is called in the Open Inference Protocol [default: the name of its file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    listening: Listening,
    #[command(flatten)]
    columns: ColumnArguments,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let Arguments { model: path, listening, .. } = arguments;
    let model = load_model(path)?;
    let journal = arguments.journal(&model)?;
    let name = arguments.name.clone().unwrap_or_else(|| stem(path));
    let options = listening.options(&name, journal)?;
    let source = arguments.source(&model);
    let dataset = source.load_for(&model, global, output)?;
    allow_connections();
    listening.start_log(output, Log::Text);
    let changeable = model.training().is_some();
    let start = |context: &Context| Server::of_model(model, dataset, &options, context);
    let server = progress::show(output, "starting", Unit::Time, start)?;
    if !changeable {
        output.note("the model does not keep its training, so it cannot learn or forget here (fit --keep-training)");
    }
    let address = format!("http://{}", server.address());
    let ready = Ready {
        what: format!(
            "Serving {} on {address} (what it can do: {address}/openapi.json)",
            shown::name(&name)
        ),
        address,
        journal: options.journal.as_deref().map(shown::path),
    };
    super::run(server, &ready, output)
}

impl Arguments {
    fn source(&self, model: &Model) -> NamedSource {
        let dataset = self.dataset.clone();
        let dataset = dataset.unwrap_or_else(|| PathBuf::from(&model.provenance().dataset));
        NamedSource::new(dataset, self.direction, self.columns.clone())
    }

    /// A model that cannot change needs none.
    fn journal(&self, model: &Model) -> Result<Option<PathBuf>> {
        match (&self.journal, model.training()) {
            (Some(path), None) => Err(Error::Data(
                "the model does not keep its training (fit --keep-training), so there is nothing to write to a journal".into(),
            )
            .in_file(path)),
            (None, None) => Ok(None),
            (Some(path), Some(_)) => Ok(Some(path.clone())),
            (None, Some(_)) => {
                let mut name = self.model.clone().into_os_string();
                name.push(".journal");
                Ok(Some(name.into()))
            }
        }
    }
}
