//! What a path means: the same opening for every format.

use gfgcn::context::Context;
use gfgcn_datasets::open;
use std::path::{Path, PathBuf};

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gfgcn-data/tests/golden").join(path)
}

#[test]
fn a_path_is_opened_by_what_is_there() {
    for (path, name, nodes) in [
        ("npz/plain.npz", "plain", 5),
        ("parquet/plain", "plain", 5),
        ("planetoid/ind.python2.graph", "python2", 12),
    ] {
        let dataset = open(&golden(path), None, &Context::default());
        let dataset = dataset.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!((dataset.name(), dataset.nodes()), (name, nodes), "{path}");
    }
}

#[test]
fn a_folder_of_several_datasets_asks_for_one() {
    let error = open(&golden("planetoid"), None, &Context::default()).unwrap_err().to_string();
    assert!(error.contains("5 Planetoid datasets (protocol0, "), "{error}");
    assert!(error.contains("ind.protocol0.graph"), "{error}");
}
