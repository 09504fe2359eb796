//! Bad input: every case is an error that names the file, the place and the value.

use super::{assert_says, folder, read, small, small_with};
use flate2::Compression;
use flate2::write::GzEncoder;
use gfgcn::context::Context;
use gfgcn_data::{Column, TableFiles, TableFormat, read_splits, write_folder, write_table};
use std::fs;
use std::io::Write;
use std::path::Path;

/// What is wrong, the files that replace those of the small dataset, what the message must say.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const EDGES: &[Case] = &[
    ("empty", &[("edges.csv", "")], &["edges.csv", "is empty"]),
    ("only blank lines", &[("edges.csv", "\n\n")], &["edges.csv", "is empty"]),
    (
        "unknown id",
        &[("edges.csv", "source,target\na,b\na,zz\n")],
        &["line 3", "\"zz\"", "features.csv"],
    ),
    (
        "unknown header",
        &[("edges.csv", "paper,cites\na,b\n")],
        &["line 1", "\"paper\"", "source,target"],
    ),
    ("negative id", &[("edges.csv", "a,-1\n")], &["line 1", "\"-1\""]),
    ("id over 32 bits", &[("edges.csv", "a,b\nb,4294967296\n")], &["line 2", "\"4294967296\""]),
    ("fraction as id", &[("edges.csv", "a,b\n1.5,b\n")], &["line 2", "\"1.5\""]),
    ("empty end", &[("edges.csv", "source,target\na,\n")], &["line 2", "\"target\"", "empty"]),
    ("ragged", &[("edges.csv", "a,b\nb,c,1\n")], &["line 2", "3 cells", "line 1 has 2"]),
    (
        "ragged after a quoted line end",
        &[("features.csv", "id,x\n\"a\n\",1\nb\n")],
        &["line 4", "1 cell, but"],
    ),
    ("one column", &[("edges.csv", "a\n")], &["line 1", "columns is 1", "source and target"]),
    ("too many columns", &[("edges.csv", "a,b,1,2\n")], &["columns is 4"]),
    ("NaN weight", &[("edges.csv", "a,b,1\nb,c,nan\n")], &["line 2", "column 3", "nan", "finite"]),
    (
        "infinite weight",
        &[("edges.csv", "u,v,weight\na,b,inf\n")],
        &["line 2", "\"weight\"", "inf"],
    ),
    ("negative weight", &[("edges.csv", "a,b,-0.5\n")], &["line 1", "-0.5", "negative"]),
    ("weight too large", &[("edges.csv", "a,b,1e39\n")], &["line 1", "1e39", "32-bit"]),
    ("empty weight", &[("edges.csv", "a,b,1\na,c,\n")], &["line 2", "empty"]),
    ("word as weight", &[("edges.csv", "a,b,heavy\n")], &["line 1", "\"heavy\"", "not a number"]),
    ("NUL", &[("edges.csv", "a,b\nb,\0c\n")], &["line 2", "NUL"]),
    ("unclosed quote", &[("edges.csv", "a,b\nb,\"c\na,c\n")], &["line 2", "never closed"]),
    (
        "text after a quote",
        &[("edges.csv", "a,b\n\"b\"x,c\n")],
        &["line 2", "\"x,c\"", "closing quote"],
    ),
    (
        "an index before unknown names",
        &[("edges.csv", ",paper,cites\n0,a,b\n")],
        &["line 1", "first column has no name", "index=False", "source and target"],
    ),
    ("empty source", &[("edges.csv", ",b\n")], &["line 1", "column 1", "empty"]),
    ("empty source, weighted", &[("edges.csv", ",b,1\n")], &["line 1", "column 1", "empty"]),
    ("old line ends", &[("edges.csv", "a,b\rb,c\r")], &["line 1", "carriage return"]),
];

const FEATURES: &[Case] = &[
    ("empty", &[("features.csv", "")], &["features.csv", "is empty"]),
    ("no nodes", &[("features.csv", "id,x\n")], &["features.csv", "no nodes"]),
    ("zero columns", &[("features.csv", "id\na\nb\n")], &["line 1", "1 column", "feature"]),
    ("infinite", &[("features.csv", "a,1\nb,-inf\n")], &["line 2", "column 2", "-inf"]),
    ("too large", &[("features.csv", "id,x\na,-3.5e38\n")], &["line 2", "-3.5e38", "32-bit"]),
    ("far too large", &[("features.csv", "id,x\na,1e999\n")], &["line 2", "1e999", "32-bit"]),
    (
        "empty cell on line 1",
        &[("features.csv", "a,,1\nb,1,1\n")],
        &["line 1", "column 2", "empty"],
    ),
    (
        "word",
        &[("features.csv", "id,x\na,1\nb,red\n")],
        &["line 3", "\"x\"", "\"red\"", "not a number"],
    ),
    ("empty id", &[("features.csv", "id,x\na,1\n,2\n")], &["line 3", "\"id\"", "empty"]),
    ("id twice", &[("features.csv", "id,x\na,1\nb,1\na,1\n")], &["line 4", "\"a\"", "line 2"]),
    ("name twice", &[("features.csv", "id,x,x\na,1,2\n")], &["line 1", "columns 2 and 3", "\"x\""]),
    (
        "column without a name",
        &[("features.csv", "id,x,\na,1,2\n")],
        &["line 1", "column 3", "no name"],
    ),
    (
        "header mistaken",
        &[("features.csv", "a,1x\nb,2\nc,3\nd,4\ne,5\n")],
        &["\"a\"", "features.csv", "header"],
    ),
    (
        "long: no features",
        &[("features.csv", "id,feature,value\na,,\n")],
        &["features.csv", "no feature"],
    ),
    (
        "long: value alone",
        &[("features.csv", "id,feature,value\na,,1\n")],
        &["line 2", "\"feature\"", "empty"],
    ),
    (
        "long: feature alone",
        &[("features.csv", "id,feature,value\na,x,\n")],
        &["line 2", "\"value\"", "empty"],
    ),
    (
        "long: NaN",
        &[("features.csv", "id,feature,value\na,x,1\na,y,nan\n")],
        &["line 3", "\"value\"", "nan"],
    ),
    (
        "long: sum too large",
        &[("features.csv", "id,feature,value\na,x,3e38\na,x,3e38\n")],
        &["features.csv", "row 0, column 0", "32-bit"],
    ),
    (
        "an index in place of ids",
        &[("features.csv", ",x,y\n0,1,2\n1,3,4\n")],
        &["line 1", "first column has no name", "index=False", "call that column id"],
    ),
    (
        "an index and numbered columns",
        &[("features.csv", ",0,1\n0,1,2\n1,3,4\n")],
        &["line 1", "first column has no name", "index=False"],
    ),
    (
        "an index that was read and written again",
        &[("features.csv", "Unnamed: 0,x,y\n0,1,2\n1,3,4\n")],
        &["line 1", "first column has no name"],
    ),
    (
        "an index and ids that are not next to it",
        &[("features.csv", ",x,id\n0,1,a\n1,3,b\n")],
        &["line 1", "first column has no name", "the column id first"],
    ),
    (
        "column without a name after an index",
        &[("features.csv", ",id,x,\n0,a,1,2\n")],
        &["line 1", "column 4", "no name"],
    ),
    (
        "long: ragged",
        &[("features.csv", "id,feature,value\na,x\n")],
        &["line 2", "2 cells", "line 1 has 3"],
    ),
];

const LABELS_AND_SPLITS: &[Case] = &[
    ("empty labels", &[("labels.csv", "")], &["labels.csv", "is empty"]),
    ("unknown id", &[("labels.csv", "id,label\na,x\nzz,x\n")], &["labels.csv", "line 3", "\"zz\""]),
    (
        "unknown header",
        &[("labels.csv", "paper,label\na,x\n")],
        &["line 1", "\"paper\"", "id,label"],
    ),
    ("empty id", &[("labels.csv", "id,label\n,x\n")], &["line 2", "empty"]),
    (
        "a label and none",
        &[("labels.csv", "a,x\na,\n")],
        &["line 2", "no label", "\"x\"", "line 1"],
    ),
    (
        "three columns",
        &[("labels.csv", "id,one,two\na,x,y\n")],
        &["columns is 3", "id and label", "--label-column"],
    ),
    (
        "an index in place of ids",
        &[("labels.csv", ",label\n0,x\n")],
        &["labels.csv", "line 1", "first column has no name", "id and label"],
    ),
    ("no id at once", &[("labels.csv", ",x\n")], &["line 1", "column 1", "empty"]),
    (
        "split: an index in place of ids",
        &[("split.csv", ",split\n0,train\n")],
        &["split.csv", "line 1", "first column has no name", "id and split"],
    ),
    ("empty split", &[("split.csv", "")], &["split.csv", "is empty"]),
    (
        "no training node",
        &[("split.csv", "id,split\na,test\n")],
        &["split.csv", "training part", "empty"],
    ),
    (
        "unknown part",
        &[("split.csv", "id,split\na,train\nb,hold\n")],
        &["line 3", "\"hold\"", "train, val or test"],
    ),
    (
        "unknown split id",
        &[("split.csv", "a,train\nzz,test\n")],
        &["split.csv", "line 2", "\"zz\""],
    ),
    ("two parts", &[("split.csv", "a,train\nb,val\na,test\n")], &["line 3", "\"a\"", "line 1"]),
    ("named twice", &[("split.csv", "a,train\na,train\n")], &["line 2", "\"a\"", "line 1"]),
    (
        "second of several splits without training nodes",
        &[("split.csv", "id,split,split_2\na,train,test\nb,val,\n")],
        &["split.csv", "\"split_2\"", "training part", "empty"],
    ),
    (
        "third column that is no split",
        &[("split.csv", "id,split,label\na,train,yes\n")],
        &["split.csv", "line 2", "\"label\"", "\"yes\"", "train, val or test"],
    ),
    (
        "named twice in several splits",
        &[("split.csv", "a,train,train\na,,val\n")],
        &["line 2", "\"a\"", "line 1"],
    ),
    (
        "split header",
        &[("split.csv", "paper,split\na,train\n")],
        &["line 1", "\"paper\"", "id,split"],
    ),
];

#[test]
fn bad_tables_are_refused_with_the_place_and_the_value() {
    for (name, files, fragments) in [EDGES, FEATURES, LABELS_AND_SPLITS].concat() {
        assert_says(name, read(small_with(files).path()), fragments);
        let crlf: Vec<(&str, String)> =
            files.iter().map(|(file, text)| (*file, text.replace('\n', "\r\n"))).collect();
        assert_says(&format!("{name}, CRLF"), read(small_with(&crlf).path()), fragments);
    }
}

#[test]
fn bad_utf8_names_the_line_and_the_byte() {
    let bad = [("edges.csv", &b"a,b\nb,\xffc\n"[..])];
    assert_says("Latin", read(small_with(&bad).path()), &["line 2", "byte 3", "0xff", "UTF-8"]);
    let bad = [("labels.csv", &b"\xff\xfea\0,\0"[..])];
    assert_says("UTF-16", read(small_with(&bad).path()), &["line 1", "UTF-8"]);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn cut_gzip_garbage_after_it_and_bombs_are_refused() {
    let whole = gzip(b"source,target\na,b\nb,c\n");
    for length in 0..whole.len() {
        let files = [("edges.csv.gz", &whole[..length])];
        assert_says(
            &format!("cut at {length}"),
            read(small_with(&files).path()),
            &["edges.csv.gz"],
        );
    }
    let mut longer = whole.clone();
    longer.extend_from_slice(b"garbage after the end");
    let files = [("edges.csv.gz", longer)];
    assert_says("garbage", read(small_with(&files).path()), &["edges.csv.gz", "line 4", "gzip"]);
    let mut damaged = whole;
    let middle = damaged.len() - 6;
    damaged[middle] ^= 1;
    let files = [("edges.csv.gz", damaged)];
    assert_says("checksum", read(small_with(&files).path()), &["edges.csv.gz", "gzip"]);
    let files = [("edges.csv.gz", gzip(&vec![b'0'; 80 << 20]))];
    assert_says("bomb", read(small_with(&files).path()), &["line 1", "1000 times"]);
    super::allocation::assert_modest();
}

/// A table of so many nodes and what each is labelled.
fn labelled(nodes: usize, label: impl Fn(usize) -> String) -> [(&'static str, String); 3] {
    let table = |header: &str, cell: &dyn Fn(usize) -> String| {
        (0..nodes).fold(header.to_owned(), |text, k| format!("{text}n{k},{}\n", cell(k)))
    };
    let edges = "source,target\nn0,n1\n".to_owned();
    let features = table("id,x\n", &|k| k.to_string());
    [("edges.csv", edges), ("features.csv", features), ("labels.csv", table("id,label\n", &label))]
}

#[test]
fn values_and_ids_in_place_of_classes_are_refused() {
    let values = labelled(90, |k| format!("{:.2}", (k % 60) as f64 / 7.0));
    let parts = ["labels.csv", "measured values: 60 different", "90 nodes", "such as c"];
    assert_says("values", read(folder(&values).path()), &parts);
    let ids = labelled(60, |k| format!("n{k}"));
    let parts = ["labels.csv", "look like ids: 60 different", "\"n0\" and \"n1\"", "60 nodes"];
    assert_says("ids", read(folder(&ids).path()), &parts);
}

/// Years are classes to some; so many of them are asked about.
#[test]
fn many_numbers_may_be_classes() {
    let years = labelled(600, |k| (1950 + k % 60).to_string());
    let dataset = read(folder(&years).path()).unwrap();
    assert_eq!(dataset.labels().classes().len(), 60);
    assert!(dataset.notes()[0].contains("60 classes, all of them numbers (1950 to 2009)"));
}

/// Compressed, this is 61 KB.
#[test]
fn a_line_of_separators_is_refused_before_it_is_taken_apart() {
    for (table, separators) in [("features", ","), ("edges", ","), ("labels", ","), ("edges", "\t")]
    {
        let extension = if separators == "," { "csv" } else { "tsv" };
        let name = format!("{table}.{extension}.gz");
        let folder =
            small_with(&[(name.as_str(), gzip(&separators.repeat(60 << 20).into_bytes()))]);
        let asked = super::allocation::bytes_asked_for(|| {
            assert_says(&name, read(folder.path()), &[&name, "line 1", "more than 1048576 cells"]);
        });
        assert!(asked < 600 << 20, "{name}: {asked} bytes");
    }
    super::allocation::assert_modest();
}

#[test]
fn folders_that_are_unclear_are_refused() {
    let find = |folder: &Path| TableFiles::in_folder(folder).unwrap_err().to_string();
    let two = small_with(&[("edges.csv", ""), ("edges.tsv.gz", "")]);
    let error = find(two.path());
    assert!(error.contains("edges.csv") && error.contains("edges.tsv.gz"), "{error}");
    let lonely = folder(&[("edges.csv", "a,b\n")]);
    let file = lonely.path().join("edges.csv");
    assert!(find(&file).contains("folder is needed"));
    assert!(find(&lonely.path().join("missing")).contains("missing"));
    let odd = folder(&[("features.csv", "id,x\na,1\n")]);
    fs::create_dir(odd.path().join("edges.csv")).unwrap();
    assert!(read(odd.path()).unwrap_err().contains("is a folder"));
}

#[test]
fn missing_files_and_unknown_extensions_are_refused() {
    let folder = small_with(&[("edges.xlsx", "")]);
    let path = |name: &str| folder.path().join(name);
    let files = |edges: &str, labels: &str| TableFiles {
        labels: Some(path(labels)),
        ..TableFiles::new(path(edges), path("features.csv"))
    };
    let error = |edges, labels| {
        files(edges, labels).read("test", &Context::default()).unwrap_err().to_string()
    };
    assert!(error("edges.xlsx", "labels.csv").contains(".parquet"));
    assert!(error("missing.csv", "labels.csv").contains("missing.csv"));
    assert!(error("features.csv", "labels.mtx").contains(".csv"));
    let split =
        read_splits(&path("labels.csv"), &small(), &Context::default()).unwrap_err().to_string();
    assert!(split.contains("line 2") && split.contains("\"yes\""), "{split}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_instead_of_waited_for() {
    let folder = small_with(&[("ignored", "")]);
    let edges = folder.path().join("edges.csv");
    fs::remove_file(&edges).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&edges).status();
    if made.is_ok_and(|status| status.success()) {
        assert_says("pipe", read(folder.path()), &["edges.csv", "not a regular file"]);
    }
}

#[test]
fn nothing_is_overwritten_or_mixed_unasked() {
    let dataset = small();
    let folder = folder(&[("labels.csv", "kept")]);
    let write = |format, overwrite| {
        write_folder(&dataset, folder.path(), format, overwrite).map_err(|e| e.to_string())
    };
    let error = write(TableFormat::Csv, false).unwrap_err();
    assert!(error.contains("labels.csv") && error.contains("exists already"), "{error}");
    let error = write(TableFormat::Tsv, true).unwrap_err();
    assert!(error.contains("labels.csv") && error.contains("mixed"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");
    assert_eq!(fs::read_to_string(folder.path().join("labels.csv")).unwrap(), "kept");
    write(TableFormat::Csv, true).unwrap();
    write(TableFormat::Csv, true).unwrap();
    assert_eq!(read(folder.path()).unwrap(), dataset);
}

#[test]
fn tables_that_cannot_be_written_are_refused() {
    let folder = folder::<&str>(&[]);
    let path = |name: &str| folder.path().join(name);
    let column = || Column::text("id", ["a", "b"]);
    let error = |name: &str, columns: &[Column]| {
        write_table(&path(name), false, columns).unwrap_err().to_string()
    };
    assert!(error("out.xlsx", &[column()]).contains(".parquet"));
    assert!(error("out.parquet.gz", &[column()]).contains(".parquet"));
    assert!(error("out.csv", &[]).contains("at least one column"));
    assert!(error("out.csv", &[column(), Column::numbers("n", vec![1.0])]).contains("\"n\""));
    assert!(error("out.csv", &[Column::text("id", ["a\0"])]).contains("NUL"));
    assert!(error("missing/out.csv", &[column()]).contains("cannot write"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    write_table(&path("out.csv"), false, &[column()]).unwrap();
    assert!(error("out.csv", &[column()]).contains("exists already"));
}
