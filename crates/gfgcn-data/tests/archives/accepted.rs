//! The same dataset as different programs write it.

use super::{Arrays, npy, read, small};
use gfgcn::features::Features;
use npy::{array, fortran, items, texts, vector};

const ADJACENCY: [f64; 25] = [
    0.0, 1.0, 1.0, 0.0, 0.0, //
    1.0, 0.0, 1.0, 0.0, 0.0, //
    1.0, 1.0, 0.0, 1.0, 0.0, //
    0.0, 0.0, 1.0, 0.0, 0.0, //
    0.0, 0.0, 0.0, 0.0, 0.0,
];

const FEATURES: [f64; 15] =
    [1.0, 0.0, 2.0, 0.0, 4.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0];

fn transposed(values: &[f64], rows: usize) -> Vec<f64> {
    let columns = values.len() / rows;
    (0..columns).flat_map(|j| (0..rows).map(move |i| values[i * columns + j])).collect()
}

/// The small dataset with every number in these types.
fn typed(integer: &str, float: &str) -> Arrays {
    let mut arrays = Arrays::small();
    for (name, values) in [
        ("adj_indices", &[1.0, 2.0, 0.0, 2.0, 0.0, 1.0, 3.0, 2.0][..]),
        ("adj_indptr", &[0.0, 2.0, 4.0, 7.0, 8.0, 8.0]),
        ("adj_shape", &[5.0, 5.0]),
        ("attr_indices", &[0.0, 2.0, 1.0, 0.0, 2.0]),
        ("attr_indptr", &[0.0, 2.0, 3.0, 4.0, 4.0, 5.0]),
        ("attr_shape", &[5.0, 3.0]),
        ("train_idx", &[0.0, 1.0]),
        ("val_idx", &[2.0]),
        ("test_idx", &[4.0]),
    ] {
        arrays = arrays.with(name, vector(integer, values));
    }
    arrays
        .with("adj_data", vector(float, &[1.0; 8]))
        .with("attr_data", vector(float, &[1.0, 2.0, 4.0, 3.0, 6.0]))
}

fn dense_graph(adjacency: Vec<u8>) -> Arrays {
    Arrays::small().without("adj_").with("adj_matrix", adjacency)
}

fn dense_features(features: Vec<u8>) -> Arrays {
    Arrays::small().without("attr_").with("attr_matrix", features)
}

fn graph(data: &[f64], indices: &[f64], offsets: &[f64]) -> Arrays {
    Arrays::small()
        .with("adj_data", vector("<f4", data))
        .with("adj_indices", vector("<i4", indices))
        .with("adj_indptr", vector("<i4", offsets))
}

/// What is different, the arrays, and what the notes must say: one fragment for each.
fn variations() -> Vec<(&'static str, Arrays, &'static [&'static str])> {
    let labels = [0.0, 1.0, 0.0, -1.0, 1.0];
    let unlabelled_by_nan = [0.0, 1.0, 0.0, f64::NAN, 1.0];
    let mut renamed = Arrays::small();
    for (name, _) in &mut renamed.0 {
        *name = name.replace("adj_", "adj_matrix.").replace("attr_i", "attr.i");
        *name = name.replace("attr_shape", "attr.shape").replace("attr_data", "attr.data");
    }
    vec![
        ("itself", Arrays::small(), &[]),
        ("int8 labels", Arrays::small().with("labels", vector("|i1", &labels)), &[]),
        ("float labels", Arrays::small().with("labels", vector("<f8", &unlabelled_by_nan)), &[]),
        (
            "int64 features",
            Arrays::small().with("attr_data", vector("<i8", &[1.0, 2.0, 4.0, 3.0, 6.0])),
            &[],
        ),
        ("doubles", typed("<i8", "<f8"), &[]),
        ("bytes", typed("|i1", "|u1"), &[]),
        ("unsigned", typed("<u2", "<u4"), &[]),
        ("32 bits", typed("<u4", "<i4"), &[]),
        ("unsigned 64 bits", typed("<u8", "<f4"), &[]),
        ("big-endian", typed(">i8", ">f8"), &[]),
        ("big-endian and short", typed(">u2", ">f4"), &[]),
        ("floats as indices", typed("<f4", "<f4"), &[]),
        ("big-endian text", Arrays::small().with("class_names", texts('>', &["no", "yes"])), &[]),
        (
            "bytes as text",
            Arrays::small().with("class_names", array("'|S3'", "2,", b"no\0yes")),
            &[],
        ),
        ("other names", renamed, &[]),
        ("dense graph", dense_graph(array("'<f4'", "5, 5", &items("<f4", &ADJACENCY))), &[]),
        ("truth values", dense_graph(array("'|b1'", "5, 5", &items("|b1", &ADJACENCY))), &[]),
        ("dense features", dense_features(array("'<f4'", "5, 3", &items("<f4", &FEATURES))), &[]),
        (
            "Fortran order",
            dense_features(fortran("'<f8'", "5, 3", &items("<f8", &transposed(&FEATURES, 5)))),
            &[],
        ),
        (
            "big-endian Fortran order",
            dense_features(fortran("'>i2'", "5, 3", &items(">i2", &transposed(&FEATURES, 5)))),
            &[],
        ),
        (
            "unsorted columns",
            graph(
                &[1.0; 8],
                &[2.0, 1.0, 2.0, 0.0, 3.0, 0.0, 1.0, 2.0],
                &[0.0, 2.0, 4.0, 7.0, 8.0, 8.0],
            ),
            &[],
        ),
        (
            "unsorted features",
            Arrays::small()
                .with("attr_data", vector("<f4", &[2.0, 1.0, 4.0, 3.0, 6.0]))
                .with("attr_indices", vector("<i8", &[2.0, 0.0, 1.0, 0.0, 2.0])),
            &[],
        ),
        (
            "features in pieces, and a zero",
            Arrays::small()
                .with("attr_data", vector("<f4", &[1.0, 2.0, 3.5, 0.5, 3.0, 0.0, 6.0]))
                .with("attr_indices", vector("<i8", &[0.0, 2.0, 1.0, 1.0, 0.0, 0.0, 2.0]))
                .with("attr_indptr", vector("<i8", &[0.0, 2.0, 4.0, 5.0, 6.0, 7.0])),
            &["1 repeated feature entries added up"],
        ),
        (
            "duplicates",
            graph(
                &[1.0; 10],
                &[1.0, 2.0, 1.0, 0.0, 2.0, 0.0, 1.0, 3.0, 3.0, 2.0],
                &[0.0, 3.0, 5.0, 9.0, 10.0, 10.0],
            ),
            &["2 duplicate edge entries"],
        ),
        (
            "self-loops",
            graph(
                &[1.0; 10],
                &[0.0, 1.0, 2.0, 0.0, 2.0, 0.0, 1.0, 3.0, 2.0, 4.0],
                &[0.0, 3.0, 5.0, 8.0, 9.0, 10.0],
            ),
            &["2 self-loops"],
        ),
        (
            "stored zeros",
            graph(
                &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
                &[1.0, 2.0, 0.0, 2.0, 0.0, 1.0, 3.0, 2.0, 3.0],
                &[0.0, 2.0, 4.0, 7.0, 8.0, 9.0],
            ),
            &["1 edges of weight 0"],
        ),
        (
            "directed",
            graph(&[1.0; 4], &[1.0, 2.0, 2.0, 2.0], &[0.0, 2.0, 3.0, 3.0, 4.0, 4.0]),
            &["4 edges go one way only"],
        ),
        (
            "half of a symmetric adjacency",
            graph(&[1.0; 4], &[1.0, 2.0, 2.0, 2.0], &[0.0, 2.0, 3.0, 3.0, 4.0, 4.0])
                .with("adj_symmetric", vector("|b1", &[1.0])),
            &[],
        ),
        (
            "not half of one",
            graph(&[1.0; 4], &[1.0, 2.0, 2.0, 2.0], &[0.0, 2.0, 3.0, 3.0, 4.0, 4.0])
                .with("adj_symmetric", array("'|b1'", "", &[0])),
            &["4 edges go one way only"],
        ),
        (
            "partly directed",
            graph(&[1.0; 5], &[1.0, 2.0, 0.0, 2.0, 2.0], &[0.0, 2.0, 4.0, 4.0, 5.0, 5.0]),
            &["3 edges go one way only"],
        ),
        (
            "pickled members",
            Arrays::small()
                .with("idx_to_node", array("'|O'", "", b"cos\nsystem\n(S'echo'\ntR."))
                .with("node_names", array("'|O'", "5,", b"cos\nsystem\n(S'echo'\ntR.")),
            &["node_names skipped: it holds pickled", "not used: idx_to_node"],
        ),
        (
            "members of no use",
            Arrays::small().with("README", b"not an array".to_vec()).with("attr_text", vec![]),
            &["not used: README, attr_text"],
        ),
        (
            "masks",
            Arrays::small()
                .without("train_idx")
                .without("val_idx")
                .without("test_idx")
                .with("train_mask", vector("|b1", &[1.0, 1.0, 0.0, 0.0, 0.0]))
                .with("val_mask", vector("|u1", &[0.0, 0.0, 1.0, 0.0, 0.0]))
                .with("test_mask", vector("<f4", &[0.0, 0.0, 0.0, 0.0, 1.0])),
            &[],
        ),
        (
            "a mask beside indices",
            Arrays::small().with("train_mask", vector("|b1", &[0.0; 5])),
            &["not used: train_mask"],
        ),
    ]
}

#[test]
fn variations_read_as_the_same_dataset() {
    for (name, arrays, notes) in variations() {
        for (bytes, how) in [(arrays.stored(), "stored"), (arrays.deflated(), "deflated")] {
            let name = format!("{name}, {how}");
            let dataset = read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(dataset.graph(), small().graph(), "{name}");
            assert_eq!(dataset.labels(), small().labels(), "{name}");
            assert_eq!(dataset.split(), small().split(), "{name}");
            assert_eq!(dataset.fingerprint(), small().fingerprint(), "{name}");
            let found = dataset.notes();
            assert_eq!(found.len(), notes.len(), "{name}: {found:?}");
            for (found, note) in found.iter().zip(notes) {
                assert!(found.contains(note), "{name}: {found}");
            }
        }
    }
}

#[test]
fn the_small_dataset_is_what_it_should_be() {
    let dataset = small();
    assert_eq!(dataset.graph().edge_list().count(), 4);
    assert_eq!(dataset.graph().neighbours(2), [0, 1, 3]);
    assert_eq!(dataset.graph().degree(4), 0);
    let names: Vec<_> = (0..5).map(|node| dataset.labels().name(node)).collect();
    assert_eq!(names, [Some("no"), Some("yes"), Some("no"), None, Some("yes")]);
    let mut dense = [0.0; 15];
    for node in 0..5 {
        dataset.features().for_each_in_row(node, |j, value| dense[3 * node + j] = value.into());
    }
    assert_eq!(dense, FEATURES);
}

#[test]
fn class_ids_may_start_anywhere_and_have_gaps() {
    let arrays = Arrays::small().without("class_names");
    for (ids, names) in [([1.0, 2.0], ["1", "2"]), ([3.0, 900.0], ["3", "900"])] {
        let ids = [ids[0], ids[1], ids[0], -1.0, ids[1]];
        let dataset = read(&arrays.clone().with("labels", vector("<i2", &ids)).stored()).unwrap();
        assert_eq!(dataset.labels().as_slice(), small().labels().as_slice());
        assert_eq!(dataset.labels().classes(), names);
    }
    // A name for a class that no node has is none of the dataset's.
    let names = texts('<', &["unused", "no", "unused", "yes"]);
    let ids = vector("<i2", &[1.0, 3.0, 1.0, -1.0, 3.0]);
    let dataset = read(&arrays.with("labels", ids).with("class_names", names).stored()).unwrap();
    assert_eq!(dataset.labels(), small().labels());
}

#[test]
fn labels_and_splits_may_be_missing() {
    let bare = Arrays::small().without("labels").without("class_names").without("t");
    let dataset = read(&bare.stored()).unwrap();
    assert_eq!(dataset.labels().labelled(), [0; 0]);
    assert!(dataset.split().is_none());
    assert_eq!(dataset.notes(), ["members not used: val_idx"]);
    let all = vector("<i8", &[-1.0; 5]);
    let dataset = read(&Arrays::small().with("labels", all).stored()).unwrap();
    assert!(dataset.labels().classes().is_empty());
}

#[test]
fn names_of_nodes_and_features_are_kept() {
    let arrays = Arrays::small()
        .with("node_names", texts('<', &["a", "Größe", "語", "", "e"]))
        .with("attr_names", vector("<i8", &[7.0, 8.0, 9.0]));
    let dataset = read(&arrays.deflated()).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["a", "Größe", "語", "", "e"]);
    assert_eq!(dataset.feature_names().unwrap(), ["7", "8", "9"]);
}

#[test]
fn features_of_zeros_and_of_one_column_are_read() {
    let zeros = dense_features(array("'|i1'", "5, 2", &[0; 10]));
    assert_eq!(read(&zeros.stored()).unwrap().features().nonzeros(), 0);
    let one = dense_features(array("'|i1'", "5, 1", &[1, 2, 3, 4, 5]));
    let dataset = read(&one.stored()).unwrap();
    let Features::Dense(matrix) = dataset.features() else { panic!("dense") };
    assert_eq!(matrix.as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0]);
}
