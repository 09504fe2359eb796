//! `gfgcn data list`: the datasets that have a name.

use crate::Global;
use crate::output::{Output, table};
use crate::shown;
use clap::Args;
use gfgcn_datasets::{BUNDLED, canonical_name, remote::REMOTE};
use gfgcn_datasets::{folder, has_extension};
use serde::Serialize;
use std::path::Path;

/// List the datasets that can be used by name
#[derive(Args)]
pub(crate) struct Arguments {}

#[derive(Serialize)]
struct Report {
    data_dir: String,
    datasets: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    /// `built in`, `in the data folder` or `to download`.
    status: &'static str,
    description: String,
    path: Option<String>,
}

pub(crate) fn run(global: &Global, output: &Output) -> anyhow::Result<()> {
    let data_dir = folder::resolve(global.data_dir.as_deref())?;
    let mut datasets: Vec<Entry> = BUNDLED
        .iter()
        .map(|b| Entry {
            name: b.name.to_owned(),
            status: "built in",
            description: format!(
                "{}: {} nodes, {} edges, {} features, {} classes",
                b.title, b.nodes, b.edges, b.features, b.classes
            ),
            path: None,
        })
        .collect();
    for remote in REMOTE {
        let path = folder::find(&data_dir, remote.name);
        let status = if path.is_some() { "in the data folder" } else { "to download" };
        let description = remote.title.to_owned();
        let path = path.as_deref().map(shown::path);
        datasets.push(Entry { name: remote.name.to_owned(), status, description, path });
    }
    datasets.extend(others(&data_dir, &datasets));
    output.report(&Report { data_dir: shown::path(&data_dir), datasets }, Report::text)
}

/// Archives in the data folder that are not in the list yet.
fn others(folder: &Path, listed: &[Entry]) -> Vec<Entry> {
    let mut found: Vec<Entry> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| has_extension(path, "npz") && path.is_file())
        .filter_map(|path| {
            let name = path.file_stem()?.to_str()?.to_owned();
            let is_listed = listed.iter().any(|e| canonical_name(&e.name) == canonical_name(&name));
            let description = "your own".to_owned();
            let status = "in the data folder";
            let path = Some(shown::path(&path));
            (!is_listed).then_some(Entry { name, status, description, path })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

impl Report {
    fn text(&self) -> String {
        let header = ["name", "status", "description"].map(String::from).to_vec();
        let rows = self
            .datasets
            .iter()
            .map(|d| vec![d.name.clone(), d.status.to_owned(), d.description.clone()])
            .collect();
        let mut table = table(header, rows);
        for column in table.column_iter_mut() {
            column.set_cell_alignment(comfy_table::CellAlignment::Left);
        }
        let table = table.trim_fmt();
        format!("{table}\n\nData folder: {}\nDownload with: gfgcn data get NAME\n", self.data_dir)
    }
}
