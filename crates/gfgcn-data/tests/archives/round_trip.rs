//! What is written reads back, to the bit.

use super::small;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::split::Split;
use gfgcn_data::npz;
use std::fs;
use std::path::Path;

fn assert_survives(dataset: &Dataset) {
    let bytes = npz::to_bytes(dataset);
    assert_eq!(bytes, npz::to_bytes(dataset), "the same dataset gives the same bytes");
    let again = npz::from_bytes(&bytes, dataset.name(), &Context::default()).unwrap();
    assert_eq!(&again, dataset);
    assert_eq!(again.fingerprint(), dataset.fingerprint());
    assert_eq!(npz::to_bytes(&again), bytes);
}

#[test]
fn every_part_of_a_dataset_survives() {
    assert_survives(&small());
    let text = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let weights = [0.1, f32::MAX, f32::MIN_POSITIVE, 1e-45];
    let (graph, _) =
        Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3), (0, 3)], Some(&weights)).unwrap();
    let values = vec![1e-45, -0.0, f32::MAX, f32::MIN, 0.1, 0.0, -3.5, 1e7];
    let features = Features::dense(Matrix::from_rows(4, 2, values).unwrap()).unwrap();
    let labels = Labels::from_names(&[Some("Größe"), None, Some(""), Some("語 🦀")]);
    let dataset = Dataset::new("odd", graph, features, labels)
        .unwrap()
        .with_node_ids(text(&["", "a b", "語", &"long ".repeat(20_000)]))
        .unwrap()
        .with_feature_names(text(&["x", "\n"]))
        .unwrap()
        .with_split(Split::new(4, vec![3, 0], vec![], vec![1]).unwrap())
        .unwrap();
    assert_survives(&dataset);
    let split = |train, test| Split::new(4, train, vec![], test).unwrap();
    let several = vec![split(vec![3], vec![0]), split(vec![1, 2], vec![3]), split(vec![0], vec![])];
    assert_survives(&dataset.clone().with_splits(several.clone()).unwrap());
    // As many as there are nodes.
    let square = [several, vec![split(vec![2], vec![1])]].concat();
    assert_survives(&dataset.with_splits(square).unwrap());
}

#[test]
fn the_smallest_dataset_survives() {
    let (graph, _) = Graph::from_edges(1, &[], None).unwrap();
    let features = Features::dense(Matrix::zeros(1, 1)).unwrap();
    assert_survives(&Dataset::new("one", graph, features, Labels::none(1)).unwrap());
}

/// The table of provenance in `datasets/README.md`.
#[test]
fn the_bundled_datasets_survive_and_have_the_sizes_they_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    for (name, nodes, edges, features, classes, largest, train) in [
        ("cora", 2708, 5278, 1433, 7, (2485, 5069), 140),
        ("citeseer", 3312, 4536, 3703, 6, (2110, 3668), 120),
        ("pubmed", 19717, 44324, 500, 3, (19717, 44324), 60),
    ] {
        let dataset =
            npz::read(&folder.join(format!("{name}.npz")), name, &Context::default()).unwrap();
        assert_eq!((dataset.nodes(), dataset.graph().edges()), (nodes, edges), "{name}");
        assert_eq!(dataset.features().cols(), features, "{name}");
        assert_eq!(dataset.labels().classes().len(), classes, "{name}");
        assert_eq!(dataset.labels().labelled().len(), nodes, "{name}");
        assert_eq!(dataset.notes(), [""; 0], "{name}");
        let component = dataset.largest_component();
        assert_eq!((component.nodes(), component.graph().edges()), largest, "{name}");
        let parts = dataset.split().unwrap().parts().map(|(_, part)| part.len());
        assert_eq!(parts, [train, 500, 1000], "{name}");
        assert_survives(&dataset);
    }
}

#[test]
fn an_existing_file_is_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    npz::write(&small(), &path, false).unwrap();
    let before = fs::read(&path).unwrap();
    let error = npz::write(&small(), &path, false).unwrap_err();
    assert!(error.to_string().contains("data.npz: exists already"), "{error}");
    assert!(!error.is_machine_failure());
    assert_eq!(fs::read(&path).unwrap(), before);
    npz::write(&small(), &path, true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_split_that_could_not_be_read_again_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let untrained = small().select(&[2, 3]);
    let error = npz::write(&untrained, &path, false).unwrap_err().to_string();
    assert!(error.contains("data.npz") && error.contains("training part"), "{error}");
    assert!(!path.exists());
}
