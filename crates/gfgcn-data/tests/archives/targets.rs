//! Sets of labels and values in archives.

use super::{Arrays, assert_says, npy, read};
use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, TargetKind, Targets, Values};
use gfgcn::matrix::Matrix;
use gfgcn_data::npz;

fn matrix(descr: &str, columns: usize, values: &[f64]) -> Vec<u8> {
    let shape = format!("{}, {columns}", values.len() / columns);
    npy::array(&format!("'{descr}'"), &shape, &npy::items(descr, values))
}

fn small() -> Arrays {
    Arrays::small().without("labels").without("class_names")
}

/// Five nodes: two labels, none, one, not known, one.
const SETS: [f64; 10] = [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, -1.0, 1.0, 0.0];

fn sets_of(dataset: &Dataset) -> &LabelSets {
    let Targets::Sets(sets) = dataset.targets() else { panic!("{:?}", dataset.targets()) };
    sets
}

#[test]
fn a_matrix_of_zeros_and_ones_says_sets_of_labels() {
    let expected = LabelSets::from_names(&[
        Some(vec!["sea", "air"]),
        Some(vec![]),
        Some(vec!["air"]),
        None,
        Some(vec!["sea"]),
    ]);
    let names = npy::texts('<', &["sea", "air"]);
    let mut with_nan = SETS;
    with_nan[6..8].fill(f64::NAN);
    for labels in [matrix("|i1", 2, &SETS), matrix(">i8", 2, &SETS), matrix("<f4", 2, &with_nan)] {
        let arrays = small().with("labels", labels).with("class_names", names.clone());
        let dataset = read(&arrays.deflated()).unwrap();
        assert_eq!(sets_of(&dataset), &expected);
        assert!(dataset.notes().is_empty(), "{:?}", dataset.notes());
    }
    let unnamed = read(&small().with("labels", matrix("|i1", 2, &SETS)).stored()).unwrap();
    assert_eq!(sets_of(&unnamed).names(), ["0", "1"]);
}

#[test]
fn a_single_column_and_a_single_label_each_are_told_from_sets() {
    let column = matrix("<i8", 1, &[0.0, 1.0, 0.0, -1.0, 1.0]);
    let dataset = read(&small().with("labels", column).stored()).unwrap();
    assert_eq!(dataset.targets().kind(), TargetKind::Classes);
    assert_eq!(dataset.labels().as_slice(), super::small().labels().as_slice());
    let one_hot = matrix("|b1", 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    let dataset = read(&small().with("labels", one_hot).stored()).unwrap();
    assert_eq!(dataset.targets().kind(), TargetKind::Sets);
    assert!(dataset.notes()[0].contains("save one integer per node"), "{:?}", dataset.notes());
}

#[test]
fn sets_of_the_other_layout() {
    let arrays = Arrays(Vec::new())
        .with("edges", matrix("<i8", 2, &[0.0, 1.0, 1.0, 2.0]))
        .with("node_features", matrix("<f4", 1, &[1.0, 2.0, 3.0, 4.0, 5.0]))
        .with("node_labels", matrix("|i1", 2, &SETS));
    assert_eq!(sets_of(&read(&arrays.stored()).unwrap()).get(0), Some(&[0, 1][..]));
}

#[test]
fn values_stand_in_place_of_labels() {
    let one = npy::vector("<f8", &[0.1, -2.0, f64::NAN, 1e300, 5.0]);
    let dataset = read(&small().with("values", one.clone()).stored()).unwrap();
    let Targets::Values(values) = dataset.targets() else { panic!("values") };
    assert_eq!((values.names(), values.get(0)), (&["value".to_owned()][..], Some(&[0.1][..])));
    assert_eq!((values.get(2), values.get(3)), (None, Some(&[1e300][..])));
    let two = matrix("<i2", 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    let names = npy::texts('<', &["wide", "high"]);
    let dataset =
        read(&small().with("values", two.clone()).with("value_names", names).stored()).unwrap();
    let Targets::Values(values) = dataset.targets() else { panic!("values") };
    assert_eq!((values.names()[1].as_str(), values.get(4)), ("high", Some(&[9.0, 10.0][..])));
    let unnamed = read(&small().with("values", two).stored()).unwrap();
    assert_eq!(unnamed.targets().names(), ["value_0", "value_1"]);
    // Labels come first, and that is said.
    let both = read(&Arrays::small().with("values", one).stored()).unwrap();
    assert_eq!(both.targets().kind(), TargetKind::Classes);
    assert_eq!(both.notes(), ["members not used: values"]);
}

#[test]
fn what_is_neither_is_refused_with_its_place() {
    let labels = |array: Vec<u8>| small().with("labels", array);
    let values = |array: Vec<u8>| small().with("values", array);
    let mut two = SETS;
    two[5] = 2.0;
    let mut half = SETS;
    half[4] = -1.0;
    let cube = npy::array("'|i1'", "5, 1, 2", &npy::items("|i1", &SETS));
    let named = |names: &[&str]| {
        labels(matrix("|i1", 2, &SETS)).with("class_names", npy::texts('<', names))
    };
    let cases = [
        ("two", labels(matrix("|i1", 2, &two)), ["member labels", "row 2, column 1 is 2"]),
        ("half", labels(matrix("|i1", 2, &half)), ["member labels", "row 2, column 0 is -1"]),
        ("cube", labels(cube.clone()), ["member labels", "[5, 1, 2]"]),
        ("no columns", labels(npy::array("'|i1'", "5, 0", &[])), ["member labels", "[5, 0]"]),
        ("fewer", labels(matrix("|i1", 2, &SETS[..8])), ["expected 5", "found 4"]),
        ("text", labels(npy::texts('<', &["a", "b", "c", "d", "e"])), ["labels", "whole numbers"]),
        ("names", named(&["a", "b", "c"]), ["member labels", "expected 3, found 2"]),
        ("twice", named(&["a", "a"]), ["member labels", "two columns are called \"a\""]),
        (
            "infinite",
            values(npy::vector("<f8", &[1.0, f64::INFINITY, 1.0, 1.0, 1.0])),
            ["values", "node 1"],
        ),
        (
            "partly",
            values(matrix("<f8", 2, &[1.0, f64::NAN, 1., 1., 1., 1., 1., 1., 1., 1.])),
            ["member values", "give all or none"],
        ),
        ("cube of values", values(cube), ["member values", "[5, 1, 2]"]),
        ("no values", values(npy::array("'<f8'", "5, 0", &[])), ["member values", "no columns"]),
        ("too few", values(npy::vector("<f8", &[1.0])), ["expected 5", "found 1"]),
    ];
    for (name, arrays, fragments) in cases {
        assert_says(name, &arrays.stored(), &fragments);
    }
}

#[test]
fn sets_and_values_survive_writing() {
    let plain = super::small();
    let sets = |sets: &[Option<Vec<&str>>]| Targets::from(LabelSets::from_names(sets));
    let values = vec![0.1, -1e300, f64::NAN, f64::NAN, 5e-324, 2.0, 3.0, 4.0, 0.0, -0.0];
    let names = vec!["a".to_owned(), "語".to_owned()];
    for targets in [
        sets(&[Some(vec!["b", "a"]), Some(vec![]), None, Some(vec!["c"]), Some(vec!["a"])]),
        sets(&[Some(vec!["only"]), Some(vec![]), None, None, Some(vec!["only"])]),
        sets(&[Some(vec!["unused "]), Some(vec![]), None, None, None]),
        sets(&[None, None, None, None, None]),
        Values::new(names, Matrix::from_rows(5, 2, values).unwrap()).unwrap().into(),
    ] {
        let dataset = plain.clone().with_targets(targets).unwrap();
        let bytes = npz::to_bytes(&dataset);
        let again = npz::from_bytes(&bytes, "test", &Context::default()).unwrap();
        assert_eq!(again.targets(), dataset.targets());
        assert_eq!(again.fingerprint(), dataset.fingerprint());
    }
}
