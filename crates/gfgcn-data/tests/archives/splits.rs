//! Splits in archives: indices, masks, and masks of several splits in either orientation.

use super::{Arrays, assert_says, npy, read, small};
use gfgcn::split::Split;
use npy::{array, fortran, items, vector};

/// Three splits of five nodes: what each part is true for, a row per split.
const TRAIN: [f64; 15] = [1., 1., 0., 0., 0., 0., 0., 1., 0., 1., 0., 1., 0., 0., 0.];
const VAL: [f64; 15] = [0., 0., 1., 0., 0., 1., 0., 0., 0., 0., 0., 0., 0., 0., 0.];
const TEST: [f64; 15] = [0., 0., 0., 0., 1., 0., 1., 0., 0., 0., 1., 0., 0., 1., 0.];

fn transposed(rows: &[f64]) -> Vec<f64> {
    (0..5).flat_map(|node| (0..3).map(move |split| rows[5 * split + node])).collect()
}

/// The small dataset with its parts in these arrays.
fn with_parts(suffix: &str, part: impl Fn(&[f64]) -> Vec<u8>) -> Arrays {
    Arrays::small()
        .without("train_")
        .without("val_")
        .without("test_")
        .with(&format!("train_{suffix}"), part(&TRAIN))
        .with(&format!("val_{suffix}"), part(&VAL))
        .with(&format!("test_{suffix}"), part(&TEST))
}

fn rows(descr: &str, shape: &str, values: &[f64]) -> Vec<u8> {
    array(&format!("'{descr}'"), shape, &items(descr, values))
}

fn expected() -> Vec<Split> {
    let split = |train: &[usize], validation: &[usize], test: &[usize]| {
        Split::new(5, train.to_vec(), validation.to_vec(), test.to_vec()).unwrap()
    };
    vec![split(&[0, 1], &[2], &[4]), split(&[2, 4], &[0], &[1]), split(&[1], &[], &[0, 3])]
}

#[test]
fn masks_of_several_splits_are_read_however_they_lie() {
    let columns = |values: &[f64]| items("|b1", &transposed(values));
    let cases = [
        ("splits × nodes", with_parts("masks", |m| rows("|b1", "3, 5", m))),
        ("nodes × splits", with_parts("masks", |m| rows("|b1", "5, 3", &transposed(m)))),
        ("Fortran order", with_parts("masks", |m| fortran("'|b1'", "3, 5", &columns(m)))),
        ("integers", with_parts("masks", |m| rows("<i8", "3, 5", m))),
        ("floats", with_parts("masks", |m| rows(">f4", "5, 3", &transposed(m)))),
        ("singular name", with_parts("mask", |m| rows("|b1", "5, 3", &transposed(m)))),
        (
            "each its own way",
            with_parts("masks", |m| rows("|b1", "3, 5", m))
                .with("val_masks", rows("|u1", "5, 3", &transposed(&VAL))),
        ),
    ];
    for (name, arrays) in cases {
        let dataset = read(&arrays.deflated()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(dataset.splits(), expected(), "{name}");
        assert_eq!(dataset.notes(), [""; 0], "{name}");
        assert_eq!(dataset.fingerprint(), small().fingerprint(), "{name}: splits are no data");
    }
}

#[test]
fn one_mask_is_one_split() {
    for suffix in ["mask", "masks"] {
        for shape in ["5,", "1, 5", "5, 1"] {
            let arrays = with_parts(suffix, |mask| rows("|b1", shape, &mask[..5]));
            let dataset = read(&arrays.stored()).unwrap();
            assert_eq!(dataset.splits(), &expected()[..1], "{suffix}, {shape}");
        }
    }
}

/// Five splits of five nodes: nothing but the habit tells rows from columns.
#[test]
fn the_rows_of_a_square_mask_are_splits() {
    let arrays = with_parts("masks", |mask| {
        let last = [[1., 0., 0., 0., 0.], [0., 1., 0., 0., 0.]];
        let (own, none) = (mask == TRAIN, [0.0; 10]);
        let more = if own { last.concat() } else { none.to_vec() };
        rows("|b1", "5, 5", &[mask.to_vec(), more].concat())
    });
    let dataset = read(&arrays.stored()).unwrap();
    assert_eq!(dataset.splits()[..3], expected());
    assert_eq!(dataset.splits()[4].train(), [1]);
}

#[test]
fn bad_masks_are_named() {
    let good = || with_parts("masks", |mask| rows("|b1", "3, 5", mask));
    let train = |values: &[f64], descr: &str, shape: &str| {
        good().with("train_masks", rows(descr, shape, values))
    };
    let mut overlapping = TRAIN;
    overlapping[5 * 2 + 3] = 1.0;
    let mut empty = TRAIN;
    empty[5..10].fill(0.0);
    let mut two = TRAIN;
    two[7] = 2.0;
    let mut missing = TRAIN;
    missing[7] = f64::NAN;
    for (name, arrays, fragments) in [
        ("too long", train(&[0.0; 18], "|b1", "3, 6"), &["train_masks", "[3, 6]", "5 nodes"][..]),
        ("flat", train(&TRAIN, "|b1", "15,"), &["train_masks", "expected 5, found 15"]),
        ("a cube", train(&TRAIN, "|b1", "1, 3, 5"), &["train_masks", "[1, 3, 5]"]),
        ("no splits", train(&[], "|b1", "0, 5"), &["train_masks", "[0, 5]"]),
        (
            "fewer splits",
            good().with("test_masks", rows("|b1", "2, 5", &TEST[..10])),
            &["splits in test_masks", "train_masks", "expected 3, found 2"],
        ),
        (
            "overlapping",
            train(&overlapping, "|b1", "3, 5"),
            &["split 2", "train_masks, val_masks, test_masks", "node 3", "training", "test"],
        ),
        (
            "nothing to train on",
            train(&empty, "|b1", "3, 5"),
            &["split 1", "training part", "empty"],
        ),
        ("two", train(&two, "<i4", "3, 5"), &["train_masks", "entry 7 is 2", "0 and 1"]),
        ("NaN", train(&missing, "<f8", "3, 5"), &["train_masks", "entry 7", "whole numbers"]),
        ("no test", good().without("test_"), &["test_masks is missing"]),
        ("no validation", good().without("val_"), &["val_masks is missing"]),
        ("no training", good().without("train_"), &["train_masks is missing"]),
        (
            "pickled",
            good().with("val_masks", array("'|O'", "3, 5", b"cos\nsystem\n")),
            &["val_masks", "pickled"],
        ),
        (
            "text",
            good().with("val_masks", npy::texts('<', &["yes", "no", "no", "no", "no"])),
            &["val_masks", "text"],
        ),
        (
            "two masks for one index array",
            with_parts("mask", |m| rows("|b1", "3, 5", m))
                .without("train_")
                .with("train_idx", vector("<i8", &[0.0])),
            &["splits in val_mask", "train_idx", "expected 1, found 3"],
        ),
    ] {
        assert_says(name, &arrays.stored(), fragments);
    }
}
