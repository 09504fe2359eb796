//! Bad archives: every case is an error that names the array and the value.

use super::{Arrays, allocation, assert_says, deflated, npy, read, small, zip};
use gfgcn::context::Context;
use gfgcn_data::npz;
use npy::{array, fortran, items, vector, with_header};
use std::fs;
use zip::Member;

/// What is wrong, the array that is replaced, by what, and what the message must say.
type Case = (&'static str, &'static str, Vec<u8>, &'static [&'static str]);

const HUGE: &str = "18446744073709551615";

fn graphs() -> Vec<Case> {
    let indices = |values: [f64; 8]| vector("<i8", &values);
    let weights = |second: f64| vector("<f8", &[1.0, second, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let offsets = |values: &[f64]| vector("<i8", values);
    vec![
        (
            "offsets that decrease",
            "adj_indptr",
            offsets(&[0.0, 4.0, 2.0, 7.0, 8.0, 8.0]),
            &["adj_indptr", "decrease from 4 to 2 at row 1"],
        ),
        (
            "offsets that start late",
            "adj_indptr",
            offsets(&[1.0, 2.0, 4.0, 7.0, 8.0, 8.0]),
            &["adj_indptr", "start at 1", "0"],
        ),
        (
            "offsets that end early",
            "adj_indptr",
            offsets(&[0.0, 2.0, 4.0, 7.0, 7.0, 7.0]),
            &["adj_indptr", "end at 7", "8 entries"],
        ),
        (
            "offsets past the end",
            "adj_indptr",
            offsets(&[0.0, 2.0, 4.0, 7.0, 8.0, 9e15]),
            &["adj_indptr", "end at 9000000000000000", "8 entries"],
        ),
        (
            "too few offsets",
            "adj_indptr",
            offsets(&[0.0, 8.0]),
            &["adj_indptr", "expected 5, found 1"],
        ),
        ("no offsets", "adj_indptr", offsets(&[]), &["adj_indptr", "expected 5, found 0"]),
        (
            "negative offset",
            "adj_indptr",
            offsets(&[0.0, -2.0, 4.0, 7.0, 8.0, 8.0]),
            &["adj_indptr", "entry 1 is -2"],
        ),
        (
            "column past the last node",
            "adj_indices",
            indices([1.0, 2.0, 0.0, 2.0, 0.0, 1.0, 5.0, 2.0]),
            &["adj", "row 2", "column index 5", "5 nodes"],
        ),
        (
            "negative column",
            "adj_indices",
            indices([1.0, 2.0, 0.0, 2.0, -3.0, 1.0, 3.0, 2.0]),
            &["adj_indices", "entry 4 is -3"],
        ),
        (
            "column over 32 bits",
            "adj_indices",
            indices([1.0, 4294967297.0, 0.0, 2.0, 0.0, 1.0, 3.0, 2.0]),
            &["adj_indices", "entry 1 is 4294967297", "32 bits"],
        ),
        (
            "column that is a fraction",
            "adj_indices",
            vector("<f8", &[1.0, 2.0, 0.0, 2.0, 0.0, 1.5, 3.0, 2.0]),
            &["adj_indices", "entry 5", "whole numbers"],
        ),
        (
            "column over 63 bits",
            "adj_indices",
            vector("<u8", &[1.0, 2.0, 0.0, 2.0, 0.0, 1e19, 3.0, 2.0]),
            &["adj_indices", "entry 5", "whole numbers"],
        ),
        (
            "fewer columns than weights",
            "adj_indices",
            vector("<i8", &[1.0, 2.0]),
            &["adj_indptr", "end at 8", "2 entries"],
        ),
        (
            "fewer weights than columns",
            "adj_data",
            vector("<f4", &[1.0; 3]),
            &["adj_data", "expected 8, found 3"],
        ),
        (
            "NaN weight",
            "adj_data",
            weights(f64::NAN),
            &["adj", "node 0 to node 2", "NaN", "finite"],
        ),
        ("infinite weight", "adj_data", weights(f64::INFINITY), &["adj", "inf", "finite"]),
        ("weight too large", "adj_data", weights(1e39), &["adj", "node 0 to node 2", "finite"]),
        ("negative weight", "adj_data", weights(-0.5), &["adj", "-0.5", "not negative"]),
        ("not square", "adj_shape", vector("<i8", &[5.0, 6.0]), &["adj", "5 × 6", "square"]),
        (
            "half symmetric",
            "adj_symmetric",
            vector("|u1", &[2.0]),
            &["adj_symmetric", "one entry, true or false"],
        ),
        (
            "symmetric twice",
            "adj_symmetric",
            vector("|b1", &[1.0, 1.0]),
            &["adj_symmetric", "one entry, true or false"],
        ),
        ("three sizes", "adj_shape", vector("<i8", &[5.0, 5.0, 1.0]), &["adj_shape", "3 entries"]),
        (
            "negative size",
            "adj_shape",
            vector("<i8", &[-5.0, 5.0]),
            &["adj_shape", "entry 0 is -5"],
        ),
        (
            "size of another graph",
            "adj_shape",
            vector("<i8", &[9e15 - 1.0, 5.0]),
            &["adj_indptr", "expected 8999999999999999, found 5"],
        ),
        (
            "size without an end",
            "adj_shape",
            array("'<i8'", "", &[5; 8]),
            &["adj_shape", "1 dimension"],
        ),
    ]
}

fn features() -> Vec<Case> {
    let values = |second: f64| vector("<f8", &[1.0, second, 4.0, 3.0, 6.0]);
    vec![
        ("NaN", "attr_data", values(f64::NAN), &["attr", "row 0, column 2", "NaN", "finite"]),
        ("infinite", "attr_data", values(f64::INFINITY), &["attr", "row 0, column 2", "inf"]),
        ("minus infinity", "attr_data", values(f64::NEG_INFINITY), &["attr", "column 2", "-inf"]),
        ("overflow", "attr_data", values(3.5e38), &["attr", "row 0, column 2", "32-bit", "3.4e38"]),
        ("rows", "attr_shape", vector("<i8", &[4.0, 3.0]), &["attr_indptr", "expected 4, found 5"]),
        (
            "column past the last",
            "attr_indices",
            vector("<i8", &[0.0, 2.0, 3.0, 0.0, 2.0]),
            &["attr", "row 1", "column index 3", "3 columns"],
        ),
        (
            "fewer values than columns",
            "attr_data",
            vector("<f4", &[1.0; 4]),
            &["attr_data", "expected 5, found 4"],
        ),
        (
            "more columns than 32 bits number",
            "attr_shape",
            vector("<i8", &[5.0, 4294967296.0]),
            &["attr", "4294967296 feature columns"],
        ),
        ("objects", "attr_data", array("'|O'", "5,", b"\x80\x04."), &["attr_data", "run code"]),
        ("complex", "attr_data", array("'<c8'", "5,", &[0; 40]), &["attr_data", "<c8", "complex"]),
        ("complex weights", "adj_data", array("'<c16'", "8,", &[0; 128]), &["adj_data", "complex"]),
        ("half", "attr_data", array("'<f2'", "5,", &[0; 10]), &["attr_data", "<f2"]),
        ("dates", "attr_data", array("'<M8[ns]'", "5,", &[0; 40]), &["attr_data", "<M8[ns]"]),
        ("raw bytes", "attr_data", array("'|V4'", "5,", &[0; 20]), &["attr_data", "|V4"]),
        ("text", "attr_data", array("'<U1'", "5,", &[65; 20]), &["attr_data", "numbers"]),
        (
            "structured",
            "attr_data",
            array("[('shape', '<f4')]", "5,", &[0; 20]),
            &["attr_data", "named fields"],
        ),
    ]
}

/// Dense features; those in compressed rows are taken out.
fn dense_features() -> Vec<Case> {
    let fifteen = [1.0, 0.0, 2.0, 0.0, 4.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f64::NAN, 6.0];
    vec![
        (
            "one dimension",
            "attr_matrix",
            vector("<f4", &[1.0; 5]),
            &["attr_matrix", "[5]", "2 dim"],
        ),
        (
            "three",
            "attr_matrix",
            array("'<f4'", "5, 1, 1", &[0; 20]),
            &["attr_matrix", "[5, 1, 1]"],
        ),
        ("too few rows", "attr_matrix", array("'<f4'", "4, 1", &[0; 16]), &["expected 5, found 4"]),
        ("no columns", "attr_matrix", array("'<f4'", "5, 0", &[]), &["attr", "no feature columns"]),
        (
            "no columns and all rows",
            "attr_matrix",
            array("'<f4'", "4611686018427387904, 0", &[]),
            &["attr"],
        ),
        (
            "NaN in Fortran order",
            "attr_matrix",
            fortran("'<f8'", "3, 5", &items("<f8", &fifteen)),
            &["attr", "row 1, column 4", "NaN"],
        ),
        (
            "objects",
            "attr_matrix",
            array("'|O'", "5, 3", b"cos\nsystem\n"),
            &["attr_matrix", "run code"],
        ),
        ("text", "attr_matrix", array("'|S1'", "5, 1", b"abcde"), &["attr_matrix", "numbers"]),
        (
            "nothing",
            "attr_other",
            vec![],
            &["the features", "attr_matrix", "adj_data, adj_indices"],
        ),
    ]
}

/// Arrays that break the format, in the place of any member.
fn arrays() -> Vec<Case> {
    let good = vector("<i8", &[0.0, 1.0, 0.0, -1.0, 1.0]);
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let header = |header: &str| with_header(header, &[0; 40]);
    let mut claims_4_gib = good.clone();
    claims_4_gib.splice(6..10, [2, 0, 0xff, 0xff, 0xff, 0xff]);
    let longer = [&good[..], b"\0"].concat();
    vec![
        ("wrong magic", "labels", changed(0, b'N'), &["labels", "does not start like"]),
        ("wrong version", "labels", changed(6, 9), &["labels", "version 9"]),
        ("empty", "labels", vec![], &["labels", "does not start like"]),
        ("only magic", "labels", good[..6].to_vec(), &["labels", "cut off after 6 bytes"]),
        ("cut in its header", "labels", good[..40].to_vec(), &["labels", "cut off after 40 bytes"]),
        ("header of 4 GiB", "labels", claims_4_gib, &["labels", "cut off"]),
        ("header that is no text", "labels", changed(20, 0xff), &["labels", "header is not text"]),
        ("cut", "labels", good[..good.len() - 1].to_vec(), &["labels", "needs 40 bytes, but 39"]),
        ("no payload", "labels", array("'<i8'", "5,", &[]), &["labels", "needs 40 bytes, but 0"]),
        ("trailing bytes", "labels", longer, &["labels", "needs 40 bytes, but 41"]),
        ("shape that overflows", "labels", array("'<i8'", HUGE, &[]), &["labels", "too large"]),
        (
            "product that overflows",
            "labels",
            array("'<i8'", "4294967296, 4294967296, 4", &[]),
            &["labels", "too large"],
        ),
        (
            "terabytes",
            "labels",
            array("'<i8'", "1000000000000,", &[0; 40]),
            &["labels", "needs 8000000000000 bytes, but 40"],
        ),
        ("negative shape", "labels", array("'<i8'", "-5,", &[0; 40]), &["labels", "'shape'"]),
        ("fractional shape", "labels", array("'<i8'", "5.0,", &[0; 40]), &["labels", "'shape'"]),
        ("65 dimensions", "labels", array("'<i1'", &"1,".repeat(65), &[0]), &["labels", "'shape'"]),
        ("no type", "labels", header("{'fortran_order': False, 'shape': (5,)}"), &["'descr'"]),
        ("no order", "labels", header("{'descr': '<i8', 'shape': (5,)}"), &["'fortran_order'"]),
        (
            "order that is none",
            "labels",
            header("{'descr': '<i8', 'fortran_order': 1, 'shape': (5,)}"),
            &["labels", "'fortran_order'"],
        ),
        ("no shape", "labels", header("{'descr': '<i8', 'fortran_order': False}"), &["'shape'"]),
        ("no header", "labels", header(""), &["labels", "'descr'"]),
        ("wide integers", "labels", array("'<i16'", "5,", &[0; 80]), &["labels", "<i16"]),
        ("text of no width", "labels", array("'<U0'", "5,", &[]), &["labels", "<U0"]),
        (
            "text of all widths",
            "labels",
            array(&format!("'<U{HUGE}'"), "5,", &[]),
            &["labels", "type <U1844"],
        ),
    ]
}

fn labels_and_splits() -> Vec<Case> {
    let idx = |values: &[f64]| vector("<i8", values);
    let mask = |values: &[f64]| vector("|b1", values);
    vec![
        ("too few labels", "labels", idx(&[0.0; 4]), &["labels", "expected 5, found 4"]),
        ("too many labels", "labels", idx(&[0.0; 6]), &["labels", "expected 5, found 6"]),
        (
            "below -1",
            "labels",
            idx(&[0.0, 1.0, -2.0, 0.0, 0.0]),
            &["labels", "node 2 has label -2", "-1 for unlabelled"],
        ),
        (
            "fraction",
            "labels",
            vector("<f8", &[0.0, 0.5, 0.0, 0.0, 0.0]),
            &["labels", "entry 1", "whole numbers"],
        ),
        ("infinite", "labels", vector("<f4", &[f64::INFINITY; 5]), &["labels", "entry 0"]),
        ("objects", "labels", array("'|O'", "5,", b"\x80\x04N."), &["labels", "Python objects"]),
        (
            "a cube",
            "labels",
            array("'<i8'", "5, 1, 1", &[0; 40]),
            &["labels", "[5, 1, 1]", "a row of zeros and ones"],
        ),
        ("text", "labels", npy::texts('<', &["a"; 5]), &["labels", "whole numbers"]),
        (
            "too few class names",
            "class_names",
            npy::texts('<', &["no"]),
            &["labels", "node 1 has label 1", "only 1 class names"],
        ),
        (
            "class names that are equal",
            "class_names",
            npy::texts('<', &["no", "no"]),
            &["labels", "two classes", "\"no\""],
        ),
        (
            "class names that are no text",
            "class_names",
            array("'<U1'", "2,", &[0xff; 8]),
            &["class_names", "entry 0", "text"],
        ),
        (
            "class names as fractions",
            "class_names",
            vector("<f8", &[0.5, 1.5]),
            &["class_names", "text"],
        ),
        ("overlap", "val_idx", idx(&[1.0]), &["node 1", "training part", "validation part"]),
        ("overlap with test", "test_idx", idx(&[2.0]), &["node 2", "validation part", "test part"]),
        ("repeated", "train_idx", idx(&[0.0, 1.0, 0.0]), &["training part names node 0 twice"]),
        ("past the end", "test_idx", idx(&[5.0]), &["test part names node 5", "0 to 4"]),
        ("negative", "val_idx", idx(&[-1.0]), &["val_idx", "node -1"]),
        ("empty", "train_idx", idx(&[]), &["training part", "empty"]),
        ("as fractions", "train_idx", vector("<f8", &[0.5]), &["train_idx", "entry 0"]),
        ("as NaN", "train_idx", vector("<f8", &[f64::NAN]), &["train_idx", "entry 0"]),
        ("two dimensions", "train_idx", array("'<i8'", "1, 2", &[0; 16]), &["train_idx", "[1, 2]"]),
        ("objects", "train_idx", array("'|O'", "2,", b"."), &["train_idx", "Python objects"]),
        ("short mask", "train_mask", mask(&[1.0, 0.0]), &["train_mask", "expected 5, found 2"]),
        ("empty mask", "train_mask", mask(&[0.0; 5]), &["training part", "empty"]),
        (
            "several masks beside one list of nodes",
            "train_mask",
            array("'|b1'", "5, 2", &[1; 10]),
            &["splits in val_idx", "train_mask", "expected 2, found 1"],
        ),
    ]
}

#[test]
fn bad_arrays_are_refused_by_name_and_value() {
    let tables = [graphs(), features(), dense_features(), arrays(), labels_and_splits()];
    for (name, member, array, fragments) in tables.into_iter().flatten() {
        let arrays = match member {
            "attr_matrix" | "attr_other" => Arrays::small().without("attr_"),
            "train_mask" => Arrays::small().without("train_idx"),
            _ => Arrays::small(),
        };
        let arrays = arrays.with(member, array);
        let name = format!("{member}, {name}");
        assert_says(&name, &arrays.stored(), fragments);
        assert_says(&format!("{name}, deflated"), &arrays.deflated(), fragments);
    }
}

#[test]
fn a_graph_without_nodes_is_refused() {
    let none = vector("<i8", &[]);
    let no_rows = Arrays::small()
        .with("adj_data", vector("<f4", &[]))
        .with("adj_indices", none)
        .with("adj_indptr", vector("<i8", &[0.0]))
        .with("adj_shape", vector("<i8", &[0.0, 0.0]));
    assert_says("no rows", &no_rows.stored(), &["the graph", "no nodes"]);
    let empty = Arrays::small().without("adj_").with("adj_matrix", array("'<f4'", "0, 0", &[]));
    assert_says("empty matrix", &empty.stored(), &["the graph", "no nodes"]);
    let flat = Arrays::small().without("adj_").with("adj_matrix", array("'<f4'", "5, 1", &[0; 20]));
    assert_says("flat matrix", &flat.stored(), &["adj", "5 × 1", "square"]);
}

#[test]
fn missing_members_are_named() {
    for name in ["adj_data", "adj_indices", "adj_shape", "attr_data", "attr_indices", "attr_shape"]
    {
        let missing = Arrays::small().without(name).stored();
        assert_says(name, &missing, &[name, "is missing"]);
    }
    assert_says("no graph", &Arrays::small().without("adj").stored(), &["the graph", "adj_matrix"]);
    assert_says("nothing", &zip::archive(&[]), &["the graph"]);
}

/// Changes the members of the small archive.
fn small_members(change: impl FnOnce(&mut Vec<Member>)) -> Vec<u8> {
    let mut members = Arrays::small().members(deflated);
    change(&mut members);
    zip::archive(&members)
}

#[test]
fn archives_with_odd_members_are_refused() {
    let position = |members: &[Member]| {
        members.iter().position(|member| member.name == "labels.npy").expect("labels")
    };
    let labels = |change: fn(&mut Member)| {
        small_members(|members| {
            let at = position(members);
            change(&mut members[at]);
        })
    };
    let renamed = |name: &str| {
        small_members(|members| {
            let at = position(members);
            members[at].name = name.to_owned();
        })
    };
    for (name, bytes, fragments) in [
        ("not a zip", b"id,label\n".to_vec(), &["zip"][..]),
        ("empty", vec![], &["zip"]),
        ("an array", vector("<i8", &[1.0]), &["zip"]),
        ("far from its end", [small_members(|_| ()), vec![0; 1 << 17]].concat(), &["zip"]),
        ("twice", renamed("adj_data.npy"), &["twice"]),
        ("twice, once without ending", renamed("adj_data"), &["\"adj_data\"", "twice"]),
        ("outside", renamed("../labels.npy"), &["../labels.npy", "outside"]),
        ("far outside", renamed("/etc/labels.npy"), &["/etc/labels.npy", "outside"]),
        ("outside on Windows", renamed("..\\labels.npy"), &["labels.npy", "outside"]),
        ("encrypted", labels(|member| member.flags |= 1), &["labels", "cannot be opened"]),
        ("unknown method", labels(|member| member.method = 97), &["labels", "method", "97"]),
        ("wrong checksum", labels(|member| member.crc ^= 1), &["labels", "decompressed"]),
        ("not deflated", labels(|member| member.content.fill(0xff)), &["labels", "decompressed"]),
        ("cut", labels(|member| member.compressed_size -= 4), &["labels", "decompressed"]),
    ] {
        assert_says(name, &bytes, fragments);
    }
}

#[test]
fn a_split_of_its_own_is_read_with_the_same_care() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split.npz");
    let split = |arrays: Arrays| {
        fs::write(&path, arrays.stored()).unwrap();
        npz::read_splits(&path, 5, &Context::default()).map_err(|error| error.to_string())
    };
    assert_eq!(split(Arrays::small()).unwrap(), small().splits());
    let idx = |values: &[f64]| vector("<i8", values);
    let empty = Arrays(Vec::new());
    for (arrays, fragments) in [
        (empty.clone(), &["train_idx", "no split"][..]),
        (empty.clone().with("test_idx", idx(&[1.0])), &["train_idx", "no split"]),
        (empty.clone().with("train_idx", idx(&[])), &["training part", "empty"]),
        (empty.with("train_idx", idx(&[5.0])), &["node 5", "0 to 4"]),
    ] {
        let message = split(arrays).unwrap_err();
        for fragment in [&["split.npz"], fragments].concat() {
            assert!(message.contains(fragment), "{fragment:?} is not in {message:?}");
        }
    }
}

#[test]
fn files_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error =
        |name: &str| npz::read(&folder.path().join(name), "test", &Context::default()).unwrap_err();
    assert!(error("missing.npz").to_string().contains("missing.npz"));
    fs::create_dir(folder.path().join("folder.npz")).unwrap();
    assert!(error("folder.npz").to_string().contains("is a folder"));
    let path = folder.path().join("bad.npz");
    fs::write(&path, Arrays::small().without("adj").stored()).unwrap();
    let error = error("bad.npz");
    assert!(error.to_string().contains("bad.npz: the graph"), "{error}");
    assert!(!error.is_machine_failure());
}

#[test]
fn names_that_do_not_fit_are_left_out_with_a_note() {
    for (member, array, note) in [
        ("node_names", npy::texts('<', &["a", "b"]), "node_names ignored"),
        ("node_names", npy::texts('<', &["a"; 5]), "\"a\" is there twice"),
        ("attr_names", npy::texts('<', &["a"; 4]), "expected 3, found 4"),
    ] {
        let dataset = read(&Arrays::small().with(member, array).stored()).unwrap();
        assert_eq!(dataset.fingerprint(), small().fingerprint());
        assert!(dataset.notes()[0].contains(note), "{:?}", dataset.notes());
    }
}

/// Whether names are good or bad, the data are not copied for their sake.
#[test]
fn names_do_not_cost_a_copy_of_the_data() {
    let columns = 1 << 18;
    let features = npy::array("'<f4'", &format!("5, {columns}"), &vec![0; 20 * columns]);
    let bare = Arrays::small().without("attr").with("attr_matrix", features);
    let asked = |arrays: &Arrays| {
        let archive = arrays.stored();
        allocation::bytes_asked_for(|| drop(read(&archive).unwrap()))
    };
    let without = asked(&bare);
    for names in [["a", "b", "c", "d", "e"], ["a"; 5]] {
        let with = asked(&bare.clone().with("node_names", npy::texts('<', &names)));
        assert!(with < without + 20 * columns / 2, "{with} bytes, {without} without names");
    }
}
