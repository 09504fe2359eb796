//! What is written comes back.

use super::{full, read, varied, write_in_blocks};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::features::Features;
use gfgcn::split::Split;
use gfgcn::{Classifier, Design};
use gfgcn_data::{Layout, ReadOptions, TableFormat, store, write_folder};
use std::path::Path;
use tempfile::TempDir;

fn check(dataset: &Dataset, what: &str) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.store");
    let context = Context::default();
    store::write(dataset, &path, false, &context).unwrap();
    let layout = Layout::of(&path).unwrap();
    assert_eq!(layout, Layout::Store(path.clone()), "{what}");
    let back = layout.read(dataset.name(), &ReadOptions::default(), &context).unwrap();
    let without_notes = |data: &Dataset| {
        let data = data.clone();
        let ids = data.node_ids().map(<[String]>::to_vec);
        (data.graph().clone(), data.features().clone(), data.targets().clone(), ids)
    };
    assert!(without_notes(&back) == without_notes(dataset), "{what}");
    assert_eq!(back.splits(), dataset.splits(), "{what}");
    assert_eq!(back.feature_names(), dataset.feature_names(), "{what}");
    assert_eq!(back.encoding(), dataset.encoding(), "{what}");
    assert_eq!(back.as_listed(), dataset.as_listed(), "{what}");
    let (listing, _) = back.listing();
    assert_eq!(format!("{listing:?}"), format!("{:?}", dataset.listing().0), "{what}");
    assert_eq!(back.fingerprint(), dataset.fingerprint(), "{what}");
    let verified = store::verify(&path, &context).unwrap();
    assert!(verified.files > 4 && verified.bytes > 0, "{what}");
}

#[test]
fn every_part_survives() {
    varied().iter().for_each(|dataset| check(dataset, dataset.name()));
}

#[test]
fn bundled_and_example_datasets_survive() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths =
        ["datasets/cora.npz", "datasets/citeseer.npz", "datasets/pubmed.npz", "examples/papers"];
    for path in paths.map(|path| root.join(path)) {
        let read =
            Layout::of(&path).unwrap().read("data", &ReadOptions::default(), &Context::default());
        check(&read.unwrap().ordered_by_names(), &path.display().to_string());
    }
}

#[test]
fn models_are_the_same_to_the_last_bit_however_features_are_cut() {
    let folder = TempDir::new().unwrap();
    let data = full();
    let context = Context::default();
    let split = Split::all_labelled(data.labels()).unwrap();
    for design in ["sgc:depth=3", "ssgc:depth=4,tau=0.1/sum + identity/unit"] {
        let design: Design = design.parse().unwrap();
        let fit = |data: &Dataset| {
            let model = Classifier::new(design.clone()).fit(data, &split, &context).unwrap();
            let predicted = model.predict(data, &context).unwrap();
            predicted.into_targets().into_vec()
        };
        let expected = fit(&data);
        for columns in [1, 5, 36, 37, 99] {
            let path = folder.path().join(format!("{columns}-{}", design.channels().len()));
            write_in_blocks(&data, &path, columns);
            let back = read(&path).unwrap();
            assert_eq!(matches!(back.features(), Features::Blocks(_)), columns < 37);
            assert!(fit(&back) == expected, "{columns}");
        }
    }
}

#[test]
fn a_store_and_tables_take_each_others_place() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("data");
    let (data, context) = (full(), Context::default());
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("notes.txt"), "mine").unwrap();
    let refused = store::write(&data, &path, false, &context).unwrap_err().to_string();
    assert!(refused.contains("has files in it already"), "{refused}");
    for _ in 0..2 {
        store::write(&data, &path, true, &context).unwrap();
        assert!(matches!(Layout::of(&path), Ok(Layout::Store(_))));
        assert_eq!(read(&path).unwrap().graph(), data.graph());
        write_folder(&super::varied()[4], &path, TableFormat::Csv, true).unwrap();
        assert!(matches!(Layout::of(&path), Ok(Layout::Tables(_))));
        assert!(!path.join("offsets.npy").exists() && !path.join("features").exists());
    }
    assert_eq!(std::fs::read_to_string(path.join("notes.txt")).unwrap(), "mine");
}
