//! What is written reads back: graph, values to the bit, labels, ids, names, splits.

use super::repeatable::repeatable;
use super::{folder, read, small};
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::{Matrix, SparseMatrix};
use gfgcn::split::Split;
use gfgcn_data::{Column, ColumnData, TableFiles, TableFormat, npz, write_folder, write_table};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names that text formats stumble over, and ordinary ones.
fn name() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        ',', '\t', '"', '\n', '\r', ' ', 'ä', '語', '🦀', '\'', '#', '%', '\u{feff}', 'a', '1', '-',
    ]);
    let any = any::<char>().prop_filter("NUL cannot be written", |c| *c != '\0');
    let word = prop::sample::select(vec![
        "id", "feature", "value", "source", "7", "-3", "1e5", "nan?", "label", "10", "9", "007",
    ]);
    prop_oneof![
        prop::collection::vec(prop_oneof![4 => odd, 1 => any], 1..5)
            .prop_map(|chars| chars.into_iter().collect()),
        word.prop_map(str::to_owned),
    ]
}

fn names(count: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set(name(), count)
        .prop_map(BTreeSet::into_iter)
        .prop_map(Iterator::collect::<Vec<_>>)
        .prop_shuffle()
}

fn value() -> impl Strategy<Value = f32> {
    let finite = any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |v| v.is_finite());
    let odd = prop::sample::select(vec![0.1, -0.0, 1.0, f32::MAX, f32::MIN_POSITIVE, 1e-45, 1e7]);
    prop_oneof![finite, odd]
}

/// Dense or sparse features in which a value is there as often as `filled` says; none if there are no columns.
fn features(rows: usize, cols: usize) -> impl Strategy<Value = Features> {
    let cell = |filled: f64| prop::option::weighted(filled, value());
    let cells = prop::sample::select(vec![0.1, 0.9])
        .prop_flat_map(move |filled| prop::collection::vec(cell(filled), rows * cols));
    (cells, any::<bool>()).prop_map(move |(cells, dense)| {
        if cols == 0 {
            return Features::none(rows);
        }
        if dense {
            let cells = cells.into_iter().map(Option::unwrap_or_default).collect();
            return Features::dense(Matrix::from_rows(rows, cols, cells).unwrap()).unwrap();
        }
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in cells.chunks(cols) {
            for (column, value) in row.iter().enumerate() {
                columns.extend(value.map(|_| column as u32));
                values.extend(value);
            }
            offsets.push(values.len());
        }
        let matrix = SparseMatrix::from_csr(cols, &offsets, &columns, &values).unwrap();
        Features::sparse(matrix).unwrap()
    })
}

/// Types of edges, in the order in which they are read.
const TYPES: [&str; 4] = ["9", "a,\"b", "b c", "語 🦀"];

/// Directed or not, with types or without.
fn graph(nodes: usize) -> impl Strategy<Value = Graph> {
    let end = move || 0..nodes as u32;
    let weight = prop_oneof![Just(1.0), value().prop_map(f32::abs)];
    let edges = prop::collection::vec((end(), end(), weight, 0..TYPES.len()), 0..12);
    (edges, any::<bool>(), 0..=TYPES.len()).prop_map(move |(edges, directed, types)| {
        let of_types = |part: &dyn Fn(usize) -> bool| {
            let edges = edges.iter().filter(|edge| part(edge.3 % types.max(1)));
            let ends: Vec<_> = edges.clone().map(|&(from, to, ..)| (from, to)).collect();
            let weights: Vec<_> = edges.map(|&(_, _, weight, _)| weight).collect();
            let build = if directed { Graph::from_arcs } else { Graph::from_edges };
            build(nodes, &ends, Some(&weights)).unwrap().0
        };
        let relations = (0..types).map(|kind| (TYPES[kind].into(), of_types(&|k| k == kind)));
        of_types(&|_| true).with_relations(relations.collect()).unwrap()
    })
}

fn labels(nodes: usize) -> impl Strategy<Value = Labels> {
    let named = name().prop_filter("means unlabelled", |name| name != "-1" && name != "?");
    prop::collection::vec(prop::option::of(named), nodes)
        .prop_map(|names| Labels::from_names(&names))
}

fn split(nodes: usize) -> impl Strategy<Value = Option<Split>> {
    let order = Just((0..nodes).collect::<Vec<_>>()).prop_shuffle();
    (order, 0..=nodes, 0..=nodes, 0..=nodes).prop_map(move |(order, a, b, c)| {
        let mut cuts = [a, b, c];
        cuts.sort_unstable();
        let part = |from: usize, to: usize| order[from..to].to_vec();
        let [a, b, c] = cuts;
        Split::new(nodes, part(0, a), part(a, b), part(b, c)).ok()
    })
}

fn dataset() -> impl Strategy<Value = Dataset> {
    (1usize..7, 0usize..6).prop_flat_map(|(nodes, cols)| {
        let splits = prop::collection::vec(split(nodes), 0..4);
        let parts = (graph(nodes), features(nodes, cols), labels(nodes), splits);
        let names = (prop::option::of(names(nodes)), prop::option::of(names(cols)));
        (parts, names).prop_map(|((graph, features, labels, splits), (ids, columns))| {
            let mut dataset = Dataset::new("test", graph, features, labels).unwrap();
            if let Some(ids) = ids {
                dataset = dataset.with_node_ids(ids).unwrap();
            }
            if let Some(columns) = columns {
                dataset = dataset.with_feature_names(columns).unwrap();
            }
            dataset.with_splits(splits.into_iter().flatten().collect()).unwrap()
        })
    })
}

/// Everything but how the features are held and how the classes are numbered.
fn assert_same(written: &Dataset, back: &Dataset) {
    assert_eq!(written.graph(), back.graph());
    for node in 0..written.nodes() {
        assert_eq!(written.node_id(node), back.node_id(node));
        assert_eq!(written.labels().name(node), back.labels().name(node));
        let bits = |dataset: &Dataset| {
            let mut row = Vec::new();
            dataset.features().for_each_in_row(node, |column, value| {
                row.push((column, value.to_bits()));
            });
            row
        };
        assert_eq!(bits(written), bits(back), "features of node {node}");
    }
    if let (Features::Dense(written), Features::Dense(back)) = (written.features(), back.features())
    {
        let bits = |m: &Matrix<f32>| m.as_slice().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(written), bits(back), "zeros with their signs");
    }
    let names: Vec<String> = match written.feature_names() {
        Some(names) => names.to_vec(),
        None => (0..written.features().cols()).map(|k| k.to_string()).collect(),
    };
    assert_eq!(back.feature_names().unwrap_or_default(), names);
    assert_eq!(written.splits(), back.splits());
    assert_eq!(written.fingerprint(), back.fingerprint());
}

proptest! {
    #![proptest_config(repeatable("round_trip", 200))]

    #[test]
    fn a_dataset_survives_every_format(dataset in dataset()) {
        for format in TableFormat::ALL {
            let folder = folder::<&str>(&[]);
            write_folder(&dataset, folder.path(), format, false).unwrap();
            assert_same(&dataset, &read(folder.path()).unwrap());
        }
        let archive = npz::from_bytes(&npz::to_bytes(&dataset), "test", &Context::default()).unwrap();
        prop_assert_eq!(archive.splits(), dataset.splits());
        prop_assert_eq!(archive.graph(), dataset.graph());
        prop_assert_eq!(archive.fingerprint(), dataset.fingerprint());
    }
}

/// A name must be right next to each layout's blind spot, which random data rarely hits.
#[test]
fn names_that_a_layout_would_change_are_written_in_the_other() {
    let cases: [(&[&str], bool); 5] = [
        (&["feature", "value"], false),
        (&["Feature", "VALUE"], true),
        (&["10", "9"], true),
        (&["9", "10"], true),
        (&["b", "a"], true),
    ];
    for (names, sparse) in cases {
        let features = if sparse {
            let matrix = SparseMatrix::from_csr(2, &[0, 0, 1, 1, 1, 1], &[1], &[0.5]).unwrap();
            Features::sparse(matrix).unwrap()
        } else {
            Features::dense(Matrix::from_fn(5, 2, |i, j| (i + j) as f32)).unwrap()
        };
        let names = names.iter().map(|name| name.to_string()).collect();
        let small = small();
        let dataset = Dataset::new("test", small.graph().clone(), features, small.labels().clone())
            .and_then(|dataset| dataset.with_feature_names(names))
            .unwrap();
        for format in TableFormat::ALL {
            let folder = folder::<&str>(&[]);
            write_folder(&dataset, folder.path(), format, false).unwrap();
            assert_same(&dataset, &read(folder.path()).unwrap());
        }
    }
}

#[test]
fn what_a_table_cannot_hold_is_refused_before_writing() {
    let small = small();
    let error = |dataset: Dataset| {
        let folder = folder::<&str>(&[]);
        let result = write_folder(&dataset, folder.path(), TableFormat::Csv, false);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        result.unwrap_err().to_string()
    };
    let ids = |last: &str| ["a", "b", "c", "d", last].map(str::to_owned).to_vec();
    assert!(error(small.clone().with_node_ids(ids("")).unwrap()).contains("node 4"));
    assert!(error(small.clone().with_node_ids(ids("\0")).unwrap()).contains("node 4"));
    let columns = vec!["x".to_owned(), String::new()];
    assert!(error(small.clone().with_feature_names(columns).unwrap()).contains("feature 1"));
    let labels = Labels::from_names(&[Some("NaN"), None, None, None, None]);
    let nan =
        Dataset::new("test", small.graph().clone(), small.features().clone(), labels).unwrap();
    assert!(error(nan).contains("\"NaN\""));
    let graph = |relations: &[(&str, &Graph)]| {
        let relations = relations.iter().map(|&(name, graph)| (name.to_owned(), graph.clone()));
        let graph = small.graph().clone().with_relations(relations.collect()).unwrap();
        Dataset::new("test", graph, small.features().clone(), small.labels().clone()).unwrap()
    };
    let (all, (part, _)) = (small.graph(), Graph::from_edges(5, &[(0, 1)], None).unwrap());
    assert!(error(graph(&[("part", &part)])).contains("other edges than its relations"));
    assert!(error(graph(&[("Directed", all)])).contains("\"Directed\""));
    assert!(error(graph(&[("\0", all)])).contains("relation 0"));
    let untrained = small.select(&[1, 4]);
    assert!(error(untrained).contains("training part"));
}

#[test]
fn scores_are_written_in_every_format_and_read_back() {
    let scores = vec![0.1, 1e-300, 12345.678901234567, -0.0, 1e22];
    let columns = [
        Column::text("id", ["a", "b", "c", "d", "e"]),
        Column::new("x", ColumnData::Float(vec![0.1, 2.5, 1e30, 0.0, -1.0])),
        Column::numbers("score", scores.clone()),
    ];
    for name in ["features.csv", "features.tsv", "features.csv.gz", "features.parquet"] {
        let folder = super::folder(&[("edges.csv", "a,b\n")]);
        write_table(&folder.path().join(name), false, &columns).unwrap();
        let back = read(folder.path()).unwrap();
        let Features::Dense(features) = back.features() else { panic!("{name} is dense") };
        assert_eq!(features.row(2), [1e30, 12345.679], "{name}");
        assert_eq!(features.row(1), [2.5, 0.0], "{name}");
    }
    let folder = super::folder::<&str>(&[]);
    let path = folder.path().join("scores.csv");
    write_table(&path, false, &columns[2..]).unwrap();
    let text = fs::read_to_string(path).unwrap();
    let back: Vec<f64> = text.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert_eq!(back, scores);
}

#[test]
fn a_dataset_without_labels_or_split_has_no_such_tables() {
    let small = small();
    let bare = Dataset::new(
        "test",
        small.graph().clone(),
        small.features().clone(),
        Labels::none(small.nodes()),
    );
    let folder = folder::<&str>(&[]);
    let inner = folder.path().join("made/for/it");
    write_folder(&bare.unwrap(), &inner, TableFormat::Tsv, false).unwrap();
    let files = TableFiles::in_folder(&inner).unwrap().unwrap();
    assert_eq!((files.labels, files.split), (None, None));
}

/// A real graph, large enough for several batches and for features that are mostly zeros.
#[test]
fn cora_survives_every_format() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/cora.npz");
    let cora = npz::read(&path, "cora", &Context::default()).unwrap();
    for format in TableFormat::ALL {
        let folder = folder::<&str>(&[]);
        write_folder(&cora, folder.path(), format, false).unwrap();
        assert_same(&cora, &read(folder.path()).unwrap());
    }
}
