//! Arrow files and streams of other programs (`tests/golden/make_arrow.py`) and damaged ones.

use super::damaged::{FLIPS, cut_everywhere, damage_every_byte};
use super::{allocation, assert_says, golden, read, small, small_with};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn_data::{Columns, TableFiles};
use std::fs;

#[test]
fn files_and_streams_of_other_programs_read_as_the_same_dataset() {
    for name in [
        "file",
        "batches",
        "stream",
        "legacy",
        "lz4",
        "zstd",
        "dictionary",
        "replaced",
        "wide",
        "views",
        "feather",
        "pandas",
        "polars",
        "polars_zstd",
    ] {
        let dataset = read(&golden("arrow").join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(dataset, small(), "{name}");
    }
}

fn row(dataset: &Dataset, node: usize) -> Vec<f32> {
    let mut row = vec![0.0; dataset.features().cols()];
    dataset.features().for_each_in_row(node, |column, value| row[column] = value);
    row
}

#[test]
fn numbers_of_every_width_are_understood() {
    let dataset = read(&golden("arrow/integers")).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["10", "11", "12", "13", "14"]);
    assert_eq!(dataset.graph().edges(), 4);
    // A missing truth value is filled with the mean of the others, and nothing is made of nulls.
    let names = ["flag", "flag:missing", "count", "half", "level"];
    assert_eq!(dataset.feature_names().unwrap(), names);
    let rows = [
        [1.0, 0.0, 1.0, 0.5, 3.0],
        [0.0, 0.0, 2.0, -2.0, 3.0],
        [0.5, 1.0, -3.0, 65504.0, 5.0],
        [1.0, 0.0, 400.0, 0.0, 3.0],
        [0.0, 0.0, 0.0, 1.0, 5.0],
    ];
    for (node, row) in rows.iter().enumerate() {
        assert_eq!(self::row(&dataset, node), row, "{node}");
    }
    let labels: Vec<_> = (0..5).map(|node| dataset.labels().name(node)).collect();
    assert_eq!(labels, [Some("1"), Some("0"), None, None, None]);
}

#[test]
fn texts_may_be_longer_than_a_view() {
    let dataset = read(&golden("arrow/long")).unwrap();
    let ids =
        ["short", "a text of more than twelve bytes", "another text of more than twelve bytes"];
    assert_eq!(dataset.node_ids().unwrap(), ids);
    assert_eq!(dataset.graph().edges(), 2);
    let names = ["word=a word that is quite long", "word=b", "word:missing"];
    assert_eq!(dataset.feature_names().unwrap(), names);
    assert_eq!(row(&dataset, 1), [0.0, 0.0, 1.0]);
}

const OTHERS: [(&str, &str); 11] = [
    ("list", "List"),
    ("struct", "Struct"),
    ("map", "Map"),
    ("fixed", "FixedSizeList"),
    ("union", "Union"),
    ("timestamp", "Timestamp"),
    ("date", "Date"),
    ("decimal", "Decimal"),
    ("bytes", "FixedSizeBinary"),
    ("run", "RunEndEncoded"),
    ("view", "ListView"),
];

#[test]
fn columns_that_are_not_plain_values_are_refused_by_name() {
    let refused = |file: &str, fragments: &[&str]| {
        let bytes = fs::read(golden("arrow/others").join(file).join("features.arrow")).unwrap();
        let folder = small_with(&[("features.arrow", bytes)]);
        let always = ["features.arrow", "row 1", "\"wrong\""];
        assert_says(file, read(folder.path()), &[&always, fragments].concat());
    };
    OTHERS.iter().for_each(|(file, kind)| refused(file, &[kind, "--drop-columns"]));
    refused("binary", &["UTF-8"]);
}

/// Whatever stands beside the columns that are meant, of however many parts.
#[test]
fn columns_that_are_left_out_may_be_anything() {
    let read_without = |format: &str, dropped: Vec<String>| -> Dataset {
        let features = golden(&format!("{format}/others/features.{format}"));
        let columns = Columns { dropped, ..Columns::default() };
        let edges = small_with(&[("edges.csv", "source,target\na,b\n")]);
        let files = TableFiles::new(edges.path().join("edges.csv"), features);
        TableFiles { columns, ..files }.read("test", &Context::default()).unwrap()
    };
    let dropped = OTHERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let dataset = read_without("arrow", dropped);
    assert_eq!(dataset.feature_names().unwrap(), ["x"]);
    assert_eq!(row(&dataset, 1), [2.5]);
    let dataset = read_without("parquet", vec!["when".into(), "parts.list.element".into()]);
    assert_eq!(dataset.feature_names().unwrap(), ["x"]);
}

#[test]
fn what_is_no_table_is_refused() {
    let refused = |name: &str, bytes: &[u8], fragments: &[&str]| {
        let folder = small_with(&[(name, bytes)]);
        assert_says(name, read(folder.path()), &[&[name], fragments].concat());
    };
    let golden = |name: &str| fs::read(golden("arrow/refused").join(name)).unwrap();
    refused("features.feather", &golden("one.feather"), &["first version of Feather"]);
    refused("features.arrows", &golden("delta.arrows"), &["\"id\"", "deltas"]);
    refused("features.arrow", b"", &["too few"]);
    refused("features.arrow", b"id,x\na,1\nb,2\nc,3\nd,4\n", &["neither with ARROW1"]);
    refused("features.arrow", b"PK\x03\x04 an archive of something else", &["neither with ARROW1"]);
}

/// Files of a few kilobytes that claim much: refused before any of it is there.
#[test]
fn tables_that_unfold_without_end_are_refused() {
    for (file, table, fragments) in [
        ("repeated", "edges", &["2 columns of 40000000 rows", "bytes"][..]),
        ("wide", "features", &["claims to expand"]),
    ] {
        let name = format!("{table}.arrow");
        let bytes = fs::read(golden("arrow/refused").join(file).join(&name)).unwrap();
        let folder = small_with(&[(name.as_str(), &bytes)]);
        let asked = allocation::bytes_asked_for(|| {
            assert_says(file, read(folder.path()), &[&[name.as_str()], fragments].concat());
        });
        assert!(asked < 256 << 20, "{file}: {asked} bytes");
    }
}

#[test]
fn a_file_or_stream_cut_anywhere_is_refused() {
    for (folder, extension) in
        [("batches", "arrow"), ("stream", "arrows"), ("lz4", "arrow"), ("polars_zstd", "arrow")]
    {
        cut_everywhere(&format!("arrow/{folder}"), &format!("features.{extension}"));
    }
}

fn damage(changes: &[fn(&mut Vec<u8>, usize)]) {
    for (folder, name) in [
        ("file", "features.arrow"),
        ("lz4", "labels.arrow"),
        ("replaced", "labels.arrows"),
        ("polars_zstd", "labels.arrow"),
        ("long", "features.arrow"),
    ] {
        damage_every_byte(&format!("arrow/{folder}"), name, changes);
    }
}

#[test]
fn flipped_bits_give_a_dataset_or_an_error() {
    damage(&FLIPS);
}

/// Sizes of four and of eight bytes, overstated and less than nothing.
#[test]
fn overstated_sizes_give_a_dataset_or_an_error() {
    damage(&[
        |bytes, at| overwrite(bytes, at, &[0xff, 0xff, 0xff, 0x7f]),
        |bytes, at| overwrite(bytes, at, &[0xff; 8]),
    ]);
}

fn overwrite(bytes: &mut [u8], at: usize, by: &[u8]) {
    bytes[at..].iter_mut().zip(by).for_each(|(byte, new)| *byte = *new);
}
