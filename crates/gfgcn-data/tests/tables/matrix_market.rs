//! MatrixMarket files of scipy (`tests/golden/make_matrix_market.py`) and malformed ones.

use super::{allocation, assert_says, golden, read};
use flate2::Compression;
use flate2::write::GzEncoder;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn_data::TableFiles;
use std::fs;
use std::io::Write;
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    super::folder(files)
}

fn matrices(edges: &str, features: &str) -> Dataset {
    let path = |name: &str| golden("matrix_market").join(name);
    let files = TableFiles::new(path(edges), path(features));
    files.read("test", &Context::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn graph(weights: Option<&[f32]>) -> Graph {
    Graph::from_edges(4, &[(0, 1), (0, 2), (1, 2)], weights).unwrap().0
}

#[test]
fn scipy_writes_the_same_graph_in_many_ways() {
    let weighted = graph(Some(&[0.5, 1.0, 2.0]));
    for name in ["symmetric", "general", "dense", "dense_symmetric"] {
        let dataset = matrices(&format!("{name}.mtx"), "features.mtx");
        assert_eq!(dataset.graph(), &weighted, "{name}");
        assert!(dataset.notes().is_empty(), "{name}: {:?}", dataset.notes());
    }
    let dataset = matrices("one_direction.mtx", "features.mtx");
    assert_eq!(dataset.graph(), &weighted);
    assert!(dataset.notes()[0].contains("3 edges go one way"));
    let dataset = matrices("integer.mtx", "features.mtx");
    assert_eq!(dataset.graph(), &graph(Some(&[1.0, 2.0, 4.0])));
    assert_eq!(matrices("pattern.mtx", "features.mtx").graph(), &graph(None));
}

#[test]
fn features_may_be_a_matrix_and_nodes_are_then_rows() {
    let sparse = matrices("symmetric.mtx", "features.mtx");
    let Features::Sparse(matrix) = sparse.features() else { panic!("coordinates are sparse") };
    assert_eq!(matrix.row(0), (&[0u32, 2][..], &[1.0f32, 0.1][..]));
    assert_eq!(matrix.row(2), (&[1u32][..], &[1e-30f32][..]));
    assert_eq!(sparse.node_ids(), None);
    let dense = matrices("symmetric.mtx", "features_dense.mtx");
    assert!(matches!(dense.features(), Features::Dense(_)));
    assert_eq!(dense.fingerprint(), sparse.fingerprint());

    let path = |name: &str| fs::read(golden("matrix_market").join(name)).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&path("features.mtx")).unwrap();
    let gzip = gzip.finish().unwrap();
    let folder = super::folder(&[
        ("features.mtx.gz", gzip.as_slice()),
        ("edges.csv", b"0,1\n2,0\n1,2\n"),
        ("labels.csv", b"id,label\n3,x\n0,y\n"),
    ]);
    let tables = read(folder.path()).unwrap();
    assert_eq!(tables.graph(), &graph(None));
    assert_eq!(tables.features(), sparse.features());
    assert_eq!(tables.labels().name(3), Some("x"));
}

#[test]
fn a_matrix_of_edges_refers_to_the_rows_of_a_table() {
    let files = [
        ("edges.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 3\n3 1\n"),
        ("features.csv", "id,x\nz,1\ny,2\nx,3\n"),
    ];
    let dataset = read(folder(&files).path()).unwrap();
    assert_eq!(dataset.graph().neighbours(0), &[2]);
    assert_eq!(dataset.node_id(2), "x");
}

const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n";

#[test]
fn malformed_matrices_are_refused_with_their_line() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("empty", "", &["is empty"]),
        ("no banner", "3 3 1\n1 2 1\n", &["line 1", "%%MatrixMarket"]),
        ("short banner", "%%MatrixMarket matrix coordinate\n3 3 0\n", &["line 1"]),
        ("vector", "%%MatrixMarket vector coordinate real general\n", &["line 1"]),
        (
            "complex",
            "%%MatrixMarket matrix coordinate complex general\n",
            &["line 1", "\"complex\""],
        ),
        (
            "hermitian",
            "%%MatrixMarket matrix coordinate real hermitian\n",
            &["line 1", "\"hermitian\""],
        ),
        ("skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n", &["line 1", "skew"]),
        (
            "pattern array",
            "%%MatrixMarket matrix array pattern general\n",
            &["line 1", "\"pattern\""],
        ),
        ("no size", "%%MatrixMarket matrix coordinate real general\n% only\n", &["line 2", "size"]),
        ("bad size", "{}3 3\n", &["line 2", "\"3 3\""]),
        ("size is a word", "{}3 3 many\n", &["line 2", "many"]),
        ("negative size", "{}3 3 -1\n", &["line 2", "-1"]),
        ("over 32 bits", "{}4294967296 4294967296 0\n", &["line 2", "32 bits"]),
        ("not square", "{}3 4 0\n", &["line 2", "3 rows and 4 columns", "square"]),
        ("other nodes", "{}4 4 0\n", &["line 2", "4 rows", "3 nodes in features.csv"]),
        ("too few", "{}3 3 3\n1 2 1\n1 3 1\n", &["line 4", "after 2 entries", "3 were promised"]),
        ("absurd count", "{}3 3 18446744073709551615\n1 2 1\n", &["line 3", "1844674407370955161"]),
        ("too many", "{}3 3 1\n1 2 1\n1 3 1\n", &["line 4", "more entries than the 1"]),
        ("index 0", "{}3 3 1\n0 2 1\n", &["line 3", "row number is 0", "1 to 3"]),
        ("index past", "{}3 3 1\n1 4 1\n", &["line 3", "column number is 4", "1 to 3"]),
        ("index fraction", "{}3 3 1\n1.5 2 1\n", &["line 3", "1.5"]),
        ("no value", "{}3 3 1\n1 2\n", &["line 3", "no value"]),
        ("no column", "{}3 3 1\n1\n", &["line 3", "no column"]),
        ("one too many", "{}3 3 1\n1 2 1 7\n", &["line 3", "\"7\""]),
        ("word", "{}3 3 1\n1 2 x\n", &["line 3", "\"x\"", "not a number"]),
        ("NaN", "{}3 3 1\n1 2 nan\n", &["line 3", "nan", "finite"]),
        ("negative", "{}3 3 2\n1 2 1\n%\n1 3 -2\n", &["line 5", "-2", "negative"]),
        ("too large", "{}3 3 1\n1 2 1e39\n", &["line 3", "1e39"]),
        (
            "pattern with value",
            "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2 1\n",
            &["line 3", "\"1\""],
        ),
        (
            "integer fraction",
            "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 1.5\n",
            &["line 3", "\"1.5\""],
        ),
        (
            "symmetric oblong",
            "%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n",
            &["line 2", "symmetric"],
        ),
        (
            "array too short",
            "%%MatrixMarket matrix array real general\n3 3\n0\n1\n",
            &["line 4", "after 2", "9 were"],
        ),
        (
            "array too long",
            "%%MatrixMarket matrix array real symmetric\n3 3\n0\n1\n0\n0\n0\n0\n0\n",
            &["line 9", "more entries"],
        ),
        (
            "array pair",
            "%%MatrixMarket matrix array real general\n3 3\n0 1\n",
            &["line 3", "\"1\""],
        ),
    ];
    for (name, text, fragments) in cases {
        let text = text.replace("{}", BANNER);
        let files = [("edges.mtx", text.as_str()), ("features.csv", "id,x\na,1\nb,2\nc,3\n")];
        assert_says(name, read(folder(&files).path()), &[&["edges.mtx"], *fragments].concat());
    }
}

#[test]
fn a_matrix_of_features_must_be_one() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("no rows", "{}0 2 0\n", &["line 2", "no rows"]),
        ("no columns", "{}2 0 0\n", &["no feature columns"]),
        ("absurd", "{}4294967295 1 0\n", &["line 2", "4294967295 rows"]),
        ("one of many", "{}67108864 67108864 1\n1 1 1\n", &["line 2", "67108864 rows", "bytes"]),
        ("sum too large", "{}1 1 2\n1 1 3e38\n1 1 3e38\n", &["row 0", "32-bit"]),
        ("infinite", "{}1 1 1\n1 1 inf\n", &["line 3", "inf"]),
    ];
    for (name, text, fragments) in cases {
        let text = text.replace("{}", BANNER);
        let files = [("edges.csv", "0,1\n"), ("features.mtx", text.as_str())];
        assert_says(name, read(folder(&files).path()), &[&["features.mtx"], *fragments].concat());
    }
    let features = format!("{BANNER}2 1 0\n");
    for (id, fragments) in [("2", &["\"2\"", "0 to 1"]), ("-1", &["\"-1\"", "0 to 1"])] {
        let edges = format!("0,{id}\n");
        let files = [("edges.csv", edges.as_str()), ("features.mtx", features.as_str())];
        assert_says(id, read(folder(&files).path()), fragments);
    }
    let files = [
        ("edges.csv", "0,1\n"),
        ("features.mtx", features.as_str()),
        ("labels.csv", "id,label\n7,x\n"),
    ];
    assert_says("label", read(folder(&files).path()), &["labels.csv", "line 2", "\"7\""]);
    allocation::assert_modest();
}
