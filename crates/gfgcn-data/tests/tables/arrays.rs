//! NumPy arrays in place of tables of features and labels.

use super::{SMALL, assert_says, folder, npy, read, small};
use gfgcn::features::Features;

fn floats(shape: &str, values: &[f64]) -> Vec<u8> {
    npy::array("'<f8'", shape, &npy::items("<f8", values))
}

const EDGES: (&str, &[u8]) = ("edges.csv", b"0,1\n2,1\n");

#[test]
fn rows_of_arrays_are_nodes() {
    let features = floats("3, 2", &[1.0, 0.5, 0.0, -2.0, 1e-30, 4.0]);
    let labels = floats("3,", &[4.0, f64::NAN, -1.0]);
    let files = [EDGES, ("features.npy", &features), ("labels.npy", &labels)];
    let dataset = read(folder(&files).path()).unwrap();
    assert_eq!((dataset.graph().edges(), dataset.node_ids()), (2, None));
    let Features::Dense(matrix) = dataset.features() else { panic!("dense") };
    assert_eq!(matrix.as_slice(), [1.0, 0.5, 0.0, -2.0, 1e-30, 4.0]);
    let names: Vec<_> = (0..3).map(|node| dataset.labels().name(node)).collect();
    assert_eq!(names, [Some("4"), None, None]);

    let mut sparse = vec![0.0; 15];
    sparse[7] = 1.0;
    let features = floats("3, 5", &sparse);
    let labels = npy::array("'|S3'", "3,", b"yesno\0nan");
    let files = [EDGES, ("features.npy", &features), ("labels.npy", &labels)];
    let dataset = read(folder(&files).path()).unwrap();
    assert!(matches!(dataset.features(), Features::Sparse(m) if m.nnz() == 1));
    let names: Vec<_> = (0..3).map(|node| dataset.labels().name(node)).collect();
    assert_eq!(names, [Some("yes"), Some("no"), None]);
}

#[test]
fn labels_in_an_array_follow_the_rows_of_a_table() {
    let labels = npy::array("'|S3'", "5,", b"yesno\0\0\0\0\0\0\0yes");
    let tables = SMALL.iter().filter(|(name, _)| *name != "labels.csv");
    let mut files: Vec<(&str, &[u8])> = tables.map(|(n, text)| (*n, text.as_bytes())).collect();
    files.push(("labels.npy", &labels));
    assert_eq!(read(folder(&files).path()).unwrap(), small());
}

#[test]
fn arrays_of_another_shape_or_type_are_refused() {
    let good = floats("3, 1", &[1.0, 2.0, 3.0]);
    for (name, features, labels, fragments) in [
        ("1-D", floats("3,", &[1.0; 3]), None, &["features.npy", "[3]", "two dimensions"][..]),
        ("zero columns", floats("3, 0", &[]), None, &["features.npy", "0 columns"]),
        ("no rows", floats("0, 3", &[]), None, &["features.npy", "0 rows"]),
        ("NaN", floats("3, 1", &[1.0, f64::NAN, 1.0]), None, &["features.npy", "row 1", "NaN"]),
        ("too large", floats("3, 1", &[1.0, 1.0, 1e39]), None, &["features.npy", "row 2"]),
        ("objects", npy::array("'|O'", "3, 1", b"x"), None, &["features.npy", "Python objects"]),
        ("cut", good[..good.len() - 1].to_vec(), None, &["features.npy", "needs 24 bytes"]),
        ("fewer nodes", floats("2, 1", &[1.0; 2]), None, &["edges.csv", "line 2", "0 to 1"]),
        (
            "wrong length",
            good.clone(),
            Some(floats("2,", &[0.0; 2])),
            &["labels.npy", "[2]", "[3]"],
        ),
        ("fractions", good.clone(), Some(floats("3,", &[0.5; 3])), &["labels.npy", "whole"]),
        ("below -1", good.clone(), Some(floats("3,", &[-2.0; 3])), &["labels.npy", "-2"]),
    ] {
        let mut files = vec![EDGES, ("features.npy", &features)];
        files.extend(labels.as_ref().map(|labels| ("labels.npy", labels.as_slice())));
        assert_says(name, read(folder(&files).path()), fragments);
    }
}
