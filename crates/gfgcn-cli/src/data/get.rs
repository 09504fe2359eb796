//! `gfgcn data get`: download a dataset from its public home.

use crate::Global;
use crate::download::{DownloadOptions, download};
use crate::output::Output;
use crate::progress::{self, Unit};
use crate::shown;
use clap::Args;
use gfgcn::Error;
use gfgcn_datasets::folder;
use gfgcn_datasets::remote;
use serde::Serialize;

/// Download a dataset into the data folder
///
/// The file comes from its public repository and is kept only if its hash is the expected one.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A name that gfgcn data list shows as one to download, such as cora-ml or texas
    name: String,
    /// Fetch from another server that keeps the paths of raw.githubusercontent.com
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// Replace a file of that name that has other content
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Report {
    dataset: &'static str,
    path: String,
    already_there: bool,
}

pub(crate) fn run(arguments: &Arguments, global: &Global, output: &Output) -> anyhow::Result<()> {
    let dataset = remote::find(&arguments.name).ok_or_else(|| {
        if gfgcn_datasets::find(&arguments.name).is_some() {
            return Error::Data(format!("{} is built in, there is nothing to get", arguments.name));
        }
        let names: Vec<&str> = remote::REMOTE.iter().map(|remote| remote.name).collect();
        Error::Data(format!(
            "{:?} is not a dataset to get; those are {}",
            arguments.name,
            names.join(", ")
        ))
    })?;
    let folder = folder::resolve(global.data_dir.as_deref())?;
    let options = DownloadOptions {
        mirror: arguments.mirror.clone(),
        force: arguments.force,
        ..DownloadOptions::default()
    };
    let downloaded = progress::show(output, "downloading", Unit::Bytes, |context| {
        download(dataset, &folder, &options, context)
    })?;
    let report = Report {
        dataset: dataset.name,
        path: shown::path(&downloaded.path),
        already_there: downloaded.already_there,
    };
    output.report(&report, |report| {
        let what =
            if report.already_there { "is there already" } else { "downloaded and verified" };
        format!("{} {what}: {}\n", report.dataset, report.path)
    })
}
