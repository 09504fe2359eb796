//! The pins of the heterophilous graphs, held against the published files where those are at hand.

use crate::files::published;
use crate::server::{Server, answer};
use crate::toy::{get, options};
use gfgcn::context::Context;
use gfgcn_datasets::{open, remote};
use std::fs;
use tempfile::TempDir;

const NAMES: [&str; 7] = [
    "texas",
    "cornell",
    "chameleon-filtered",
    "chameleon-filtered-directed",
    "chameleon-directed",
    "actor",
    "minesweeper",
];

#[test]
fn a_downloaded_graph_is_opened_by_its_name_with_its_splits() {
    const HOME: &str = "/yandex-research/heterophilous-graphs/main/data/";
    let server = Server::start(|connection| {
        let file = connection.path.strip_prefix(HOME).unwrap_or("missing");
        let bytes = published(file).and_then(|path| fs::read(path).ok()).unwrap_or_default();
        connection.send(answer("200 OK", &bytes));
    });
    let folder = TempDir::new().unwrap();
    for name in NAMES {
        let dataset = remote::find(name).unwrap();
        if published(dataset.path.strip_prefix("data/").unwrap()).is_none() {
            continue;
        }
        let done = get(dataset, folder.path(), &options(&server)).unwrap();
        assert_eq!(done.path, folder.path().join(format!("{name}.npz")));
        for spelling in [name.to_owned(), name.replace('-', "_").to_uppercase()] {
            let dataset = open(spelling.as_ref(), Some(folder.path()), &Context::default());
            assert_eq!(dataset.unwrap().splits().len(), 10, "{spelling}");
        }
    }
}
