//! Parquet files of other programs (`tests/golden/make_parquet.py`) and damaged ones.

use super::damaged::{FLIPS, cut_everywhere, damage_every_byte};
use super::{allocation, assert_says, golden, read, small, small_with};
use gfgcn::context::Context;
use gfgcn::features::Features;
use gfgcn_data::{Column, TableFiles, write_table};
use std::fs;

#[test]
fn files_of_other_programs_read_as_the_same_dataset() {
    for name in ["plain", "snappy", "gzip", "zstd", "zstd2", "polars", "dictionary", "pandas"] {
        let dataset = read(&golden("parquet").join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(dataset, small(), "{name}");
    }
}

#[test]
fn integers_floats_and_truth_values_are_understood() {
    let dataset = read(&golden("parquet/integers")).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["10", "11", "12", "13", "14"]);
    assert_eq!(dataset.graph().edges(), 4);
    let Features::Dense(features) = dataset.features() else { panic!("dense") };
    assert_eq!(features.as_slice(), [1.0, 1.0, 0.0, 2.0, 1.0, -3.0, 1.0, 400.0, 0.0, 0.0]);
    let labels: Vec<_> = (0..5).map(|node| dataset.labels().name(node)).collect();
    assert_eq!(labels, [Some("1"), Some("0"), None, None, None]);
}

#[test]
fn the_long_layout_may_have_nulls() {
    let files = TableFiles::new(
        golden("parquet/long/edges.parquet"),
        golden("parquet/long/features.parquet"),
    );
    let dataset = files.read("test", &Context::default()).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["a", "c", "b", "d"]);
    assert_eq!(dataset.feature_names().unwrap(), ["2", "7"]);
    assert_eq!(dataset.features().nonzeros(), 3);
}

#[test]
fn columns_that_are_not_plain_values_are_refused_by_name() {
    for (file, fragments) in [
        ("list", &["\"wrong", "nested", "--drop-columns"][..]),
        ("struct", &["\"wrong", "nested"]),
        ("timestamp", &["\"wrong\"", "Timestamp"]),
        ("decimal", &["\"wrong\"", "Decimal"]),
        ("half", &["\"wrong\"", "Float16"]),
        ("binary", &["row 1", "\"wrong\"", "UTF-8"]),
        ("lz4", &["\"id\"", "LZ4", "zstd, snappy"]),
        ("delta", &["\"id\"", "DELTA_BYTE_ARRAY"]),
    ] {
        let bytes = fs::read(golden("parquet/refused").join(file).with_extension("parquet"));
        let folder = small_with(&[("features.parquet", bytes.unwrap())]);
        assert_says(file, read(folder.path()), &[&["features.parquet"], fragments].concat());
    }
}

#[test]
fn bad_values_name_the_row() {
    let cases: [(&str, Vec<Column>, &[&str]); 4] = [
        (
            "edges.parquet",
            vec![Column::text("source", ["a", "b"]), Column::text("target", ["b", "zz"])],
            &["row 2", "\"zz\""],
        ),
        (
            "features.parquet",
            vec![Column::text("id", ["a", "b"]), Column::numbers("x", vec![1.0, f64::INFINITY])],
            &["row 2", "\"x\"", "inf"],
        ),
        (
            "features.parquet",
            vec![Column::text("id", ["a", "a"]), Column::numbers("x", vec![1.0, 1e39])],
            &["row 2", "row 1"],
        ),
        ("features.parquet", vec![Column::text("id", ["a"])], &["1 column"]),
    ];
    for (name, columns, fragments) in cases {
        let folder = small_with(&[(name, "")]);
        write_table(&folder.path().join(name), true, &columns).unwrap();
        assert_says(name, read(folder.path()), fragments);
    }
    let empty = small_with(&[("features.parquet", "")]);
    assert_says("empty", read(empty.path()), &["features.parquet", "too few"]);
    let text = small_with(&[("features.parquet", "id,x\na,1\nb,2\n")]);
    assert_says("text", read(text.path()), &["features.parquet", "PAR1"]);
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for codec in ["plain", "snappy", "gzip", "zstd", "polars"] {
        cut_everywhere(&format!("parquet/{codec}"), "features.parquet");
    }
}

fn damage(changes: &[fn(&mut Vec<u8>, usize)]) {
    for (codec, table) in [
        ("plain", "features"),
        ("snappy", "features"),
        ("gzip", "labels"),
        ("zstd", "features"),
        ("zstd2", "labels"),
        ("dictionary", "edges"),
    ] {
        damage_every_byte(&format!("parquet/{codec}"), &format!("{table}.parquet"), changes);
    }
}

#[test]
fn flipped_bits_give_a_dataset_or_an_error() {
    damage(&FLIPS);
}

/// The largest 32-bit number as headers write it, so that every size is overstated once.
#[test]
fn overstated_sizes_give_a_dataset_or_an_error() {
    damage(&[|bytes, at| {
        bytes.splice(at..=at, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
    }]);
}

/// Tables of a few kilobytes that unfold to millions of edges, or to pages of gigabytes: refused before
/// any of it is there.
#[test]
fn tables_that_unfold_without_end_are_refused() {
    for (file, table, fragments) in [
        ("repeated", "edges", &["2 columns of 6000000 rows", "bytes"][..]),
        ("wide", "features", &["unfold to", "at a time"]),
    ] {
        let bytes =
            fs::read(golden("parquet/refused").join(file).with_extension("parquet")).unwrap();
        assert!(bytes.len() < 64 << 10, "{file}: {}", bytes.len());
        let name = format!("{table}.parquet");
        let folder = small_with(&[(name.as_str(), &bytes)]);
        let asked = allocation::bytes_asked_for(|| {
            assert_says(file, read(folder.path()), &[&[name.as_str()], fragments].concat());
        });
        assert!(asked < 32 << 20, "{file}: {asked} bytes");
    }
}

/// A page that claims to be small and is not.
#[test]
fn a_page_that_expands_beyond_its_size_is_refused() {
    let whole = fs::read(golden("parquet/refused/understated.parquet")).unwrap();
    assert!(whole.len() < 64 << 10, "{}", whole.len());
    let folder = small_with(&[("features.parquet", &whole)]);
    let asked = allocation::bytes_asked_for(|| {
        assert_says("understated", read(folder.path()), &["features.parquet", "\"x\"", "expands"]);
    });
    assert!(asked < 64 << 20, "{asked} bytes");
}
