//! Every accepted way to write a dataset gives the same dataset.

use super::{SMALL, folder, golden, read, small, small_with};
use flate2::Compression;
use flate2::write::GzEncoder;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::split::Split;
use gfgcn_data::{TableFiles, npz, read_splits};
use std::io::Write;

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The small dataset with every table passed through `change`, which gives its extension and bytes.
fn rewritten(change: impl Fn(&str) -> (&str, Vec<u8>)) -> Dataset {
    let files: Vec<(String, Vec<u8>)> = SMALL
        .iter()
        .map(|(name, text)| {
            let (extension, bytes) = change(text);
            (name.replace("csv", extension), bytes)
        })
        .collect();
    let files: Vec<(&str, Vec<u8>)> = files.iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
    read(folder(&files).path()).unwrap()
}

#[test]
fn the_small_dataset_is_what_it_says() {
    let dataset = small();
    let edges = [(0, 1), (1, 2), (0, 2), (3, 0)];
    let (graph, _) = Graph::from_edges(5, &edges, Some(&[0.5, 2.0, 1.0, 1.0])).unwrap();
    assert_eq!(dataset.graph(), &graph);
    let Features::Dense(features) = dataset.features() else { panic!("density 9 of 10") };
    let expected: [f32; 10] = [1.0, 0.25, 0.1, 2.0, -3.0, 1e-30, 0.0, 5.0, 7.0, 8.0];
    assert_eq!(features.as_slice(), expected);
    assert_eq!(dataset.node_ids().unwrap(), ["a", "b", "c", "d", "e"]);
    assert_eq!(dataset.feature_names().unwrap(), ["x", "y"]);
    let labels: Vec<_> = (0..5).map(|node| dataset.labels().name(node)).collect();
    assert_eq!(labels, [Some("yes"), Some("no"), None, None, Some("yes")]);
    let split = dataset.split().unwrap();
    assert_eq!((split.train(), split.validation(), split.test()), (&[0][..], &[1][..], &[4][..]));
    assert!(dataset.notes().is_empty(), "{:?}", dataset.notes());
}

#[test]
fn line_ends_marks_and_compression_do_not_matter() {
    let bytes = |text: String| text.into_bytes();
    let two = |text: &str| [gzip(&text[..9]), gzip(&text[9..])].concat();
    let tabs = |text: &str| text.replace(',', "\t");
    let variations = [
        ("CRLF", rewritten(|t| ("csv", bytes(t.replace('\n', "\r\n"))))),
        ("byte-order mark", rewritten(|t| ("csv", bytes(format!("\u{feff}{t}"))))),
        ("no final newline", rewritten(|t| ("csv", bytes(t.trim_end().into())))),
        (
            "CRLF, no final newline",
            rewritten(|t| ("csv", bytes(t.trim_end().replace('\n', "\r\n")))),
        ),
        ("blank lines", rewritten(|t| ("csv", bytes(format!("\n  \n{}\r\n\n", t))))),
        ("spaces", rewritten(|t| ("csv", bytes(t.replace(',', " ,\t "))))),
        (
            "quotes",
            rewritten(|t| {
                (
                    "csv",
                    bytes(
                        t.replace(',', "\" , \"")
                            .replace('\n', "\"\r\n\"")
                            .trim_end_matches('"')
                            .replacen("", "\"", 1),
                    ),
                )
            }),
        ),
        ("tabs", rewritten(|t| ("tsv", bytes(tabs(t))))),
        ("txt with commas", rewritten(|t| ("txt", bytes(t.into())))),
        ("txt with tabs", rewritten(|t| ("txt", bytes(format!("\n{}", tabs(t)))))),
        ("gzip", rewritten(|t| ("csv.gz", gzip(t)))),
        ("gzip in two members", rewritten(|t| ("csv.gz", two(t)))),
        ("gzipped tabs", rewritten(|t| ("tsv.gz", gzip(&tabs(t))))),
        ("gzipped txt", rewritten(|t| ("txt.gz", gzip(&tabs(t))))),
    ];
    for (name, dataset) in variations {
        assert_eq!(dataset, small(), "{name}");
    }
}

#[test]
fn headers_are_recognised_or_left_out() {
    for (name, edges, labels, split) in [
        ("none", "a,b,0.5\nb,c,2\na,c,1\nd,a,1", "a,yes\nb,no\ne,yes", "a,train\nb,val\ne,test"),
        (
            "others",
            "FromNodeId,ToNodeId,w\na,b,0.5\nb,c,2\na,c,1\nd,a,1",
            "Node_ID,class\na,yes\nb,no\ne,yes",
            "ID,Part\na,TRAIN\nb,Validation\ne,Test",
        ),
        (
            "all nodes named",
            "src,dst,weight\na,b,0.5\nb,c,2\na,c,1\nd,a,1",
            "name,what it is\na,yes\nb,no\nc,-1\nd,-1.0\ne,yes\na,yes",
            "node,fold\na,training\nb,valid\nc,\ne,test",
        ),
    ] {
        let files = [("edges.csv", edges), ("labels.csv", labels), ("split.csv", split)];
        assert_eq!(read(small_with(&files).path()).unwrap(), small(), "{name}");
    }
    let own_name = [
        ("features.csv", "paper,x,y\na,1,0.25\nb,0.1,2\nc,-3,1e-30\nd,0,5\ne,7,8\n"),
        ("labels.csv", "paper,kind\na,yes\nb,no\ne,yes\n"),
    ];
    assert_eq!(read(small_with(&own_name).path()).unwrap(), small());
}

#[test]
fn a_node_may_be_called_like_a_column() {
    let files = [
        ("edges.csv", "source,target\nid,node\n"),
        ("features.csv", "id,x\nid,1\nnode,2\n"),
        ("labels.csv", "id,yes\nnode,no\n"),
        ("split.csv", "id,train\n"),
    ];
    let dataset = read(folder(&files).path()).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["id", "node"]);
    assert_eq!(dataset.labels().name(0), Some("yes"));
    assert_eq!(dataset.split().unwrap().train(), [0]);
}

#[test]
fn features_without_a_header_have_no_names() {
    let files = [("features.csv", "a,1,0.25\nb,0.1,2\nc,-3,1e-30\nd,0,5\ne,7,8\n")];
    let dataset = read(small_with(&files).path()).unwrap();
    assert_eq!(dataset.feature_names(), None);
    assert_eq!(dataset.features(), small().features());
    let numbered = [("features.csv", "id,0,1\na,1,0.25\nb,0.1,2\nc,-3,1e-30\nd,0,5\ne,7,8\n")];
    let dataset = read(small_with(&numbered).path()).unwrap();
    assert_eq!(dataset.feature_names().unwrap(), ["0", "1"]);
}

#[test]
fn one_column_all_zeros_and_constant_columns_work() {
    for features in ["id,x\na,1\nb,1\nc,1\nd,1\ne,1", "id,x,y\na,0,0\nb,0,0\nc,0,0\nd,0,0\ne,0,0"] {
        let dataset = read(small_with(&[("features.csv", features)]).path()).unwrap();
        assert_eq!(dataset.features().rows(), 5);
    }
}

#[test]
fn quoted_ids_keep_separators_quotes_spaces_and_line_ends() {
    let files = [
        ("edges.csv", "\"x, y\",\" z\"\n\"say \"\"hi\"\"\",\"two\r\nlines\"\n5\" disk,\"x, y\"\n"),
        (
            "features.csv",
            "\"x, y\",1\n\" z\",2\n\"say \"\"hi\"\"\",3\n\"two\r\nlines\",4\n5\" disk,5\n",
        ),
    ];
    let dataset = read(folder(&files).path()).unwrap();
    let ids = ["x, y", " z", "say \"hi\"", "two\r\nlines", "5\" disk"];
    assert_eq!(dataset.node_ids().unwrap(), ids);
    assert_eq!(dataset.graph().edges(), 3);
}

#[test]
fn edges_may_be_unsorted_repeated_and_loops_which_is_said() {
    let edges = "d,a,1\nc,b,1.5\nb,c,2\nb,c,2\nc,a,1\nb,a,0.5\ne,e,3\na,e,0\n";
    let dataset = read(small_with(&[("edges.csv", edges)]).path()).unwrap();
    assert_eq!(dataset.graph(), small().graph());
    let notes = dataset.notes().join("; ");
    for said in ["1 duplicate", "1 self-loops", "1 edges of weight 0"] {
        assert!(notes.contains(said), "{said:?} is not in {notes:?}");
    }
}

#[test]
fn a_hub_and_a_graph_without_edges_are_fine() {
    let features: String = (0..500).map(|k| format!("{k},1\n")).collect();
    let hub: String = (1..500).map(|k| format!("{k},0\n")).collect();
    let files = [("edges.csv", hub.as_str()), ("features.csv", &features)];
    assert_eq!(read(folder(&files).path()).unwrap().graph().degree(0), 499);
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n500 500 0\n";
    for edges in [("edges.csv", "source,target\n"), ("edges.mtx", matrix)] {
        let dataset = read(folder(&[edges, ("features.csv", &features)]).path()).unwrap();
        assert_eq!(dataset.graph().edges(), 0);
        assert_eq!(dataset.notes(), [format!("{} has no edges; every node stands alone", edges.0)]);
    }
}

#[test]
fn the_long_layout_orders_integers_and_keeps_other_names_as_they_come() {
    let edges = ("edges.csv", "a,b\n");
    let integers = "ID,Feature,Value\na,10,1.5\nb,,\nc,9,2\na,9,0\n";
    let dataset = read(folder(&[edges, ("features.csv", integers)]).path()).unwrap();
    assert_eq!(dataset.node_ids().unwrap(), ["a", "b", "c"]);
    assert_eq!(dataset.feature_names().unwrap(), ["9", "10"]);
    let Features::Sparse(matrix) = dataset.features() else { panic!("long is sparse") };
    assert_eq!(
        (matrix.row(0), matrix.row(2)),
        ((&[1u32][..], &[1.5f32][..]), (&[0][..], &[2.0][..]))
    );
    let words = "node,feature,value\na,word,1\na,10,1\nb,9,1\n";
    let dataset = read(folder(&[edges, ("features.csv", words)]).path()).unwrap();
    assert_eq!(dataset.feature_names().unwrap(), ["word", "10", "9"]);
}

#[test]
fn a_wide_table_of_zeros_is_held_sparse() {
    let edges = ("edges.csv", "a,b\n");
    let features = ("features.csv", "id,p,q,r,s\na,0,0,0,1\nb,0,-0,0,0\nc,0,0,0.5,0\n");
    let dataset = read(folder(&[edges, features]).path()).unwrap();
    assert!(matches!(dataset.features(), Features::Sparse(m) if m.nnz() == 2));
}

#[test]
fn a_split_can_be_read_on_its_own() {
    let folder = folder(&[("mine.tsv", "id\tsplit\nd\ttrain\nc\ttest\n")]);
    let splits = read_splits(&folder.path().join("mine.tsv"), &small(), &Context::default());
    let [split] = &splits.unwrap()[..] else { panic!("one split") };
    assert_eq!((split.train(), split.test()), (&[3][..], &[2][..]));
}

#[test]
fn a_table_may_hold_several_splits() {
    let columns = "a,train,test,\nb,val,train,val\nc,,,train\ne,test,train,test\n";
    let parts = [
        [[0], [1], [4]].map(Vec::from),
        [vec![1, 4], vec![], vec![0]],
        [[2], [1], [4]].map(Vec::from),
    ];
    for header in ["id,split,split_2,split_3\n", "node,Fold 0,Fold 1,Fold 2\n", "id,x,y,z\n", ""] {
        let folder = small_with(&[("split.csv", format!("{header}{columns}"))]);
        let dataset = read(folder.path()).unwrap_or_else(|error| panic!("{header:?}: {error}"));
        let found: Vec<_> = dataset.splits().iter().map(Split::parts).collect();
        assert_eq!(found.len(), 3, "{header:?}");
        for (found, expected) in found.into_iter().zip(&parts) {
            assert_eq!(found.map(|(_, part)| part.to_vec()), *expected, "{header:?}");
        }
        assert_eq!(dataset.split(), dataset.splits().first());
    }
}

#[test]
fn a_folder_without_edges_is_not_one_of_tables() {
    let empty = folder(&[("features.csv", "id,x\na,1\n")]);
    assert_eq!(TableFiles::in_folder(empty.path()).unwrap(), None);
}

/// What pandas writes of data frames whose index nobody thought of (`tests/golden/make_tables.py`).
#[test]
fn an_index_without_a_name_is_left_out_and_said() {
    for name in ["index", "index_twice"] {
        let dataset = read(&golden("tables").join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let notes = dataset.notes().join("; ");
        for file in ["edges.csv", "features.csv", "labels.csv", "split.csv"] {
            assert!(notes.contains(&format!("{file}: the first ")), "{name}: {notes}");
        }
        let plain = small();
        assert_eq!(dataset.fingerprint(), plain.fingerprint(), "{name}");
        assert_eq!(dataset.node_ids(), plain.node_ids(), "{name}");
        assert_eq!(dataset.feature_names(), plain.feature_names(), "{name}");
        assert_eq!(dataset.split(), plain.split(), "{name}");
    }
}

/// What pandas takes for missing (`tests/golden/make_tables.py`) is no class here either.
#[test]
fn words_for_missing_labels_are_unlabelled_and_counted() {
    let path = |name: &str| golden("tables/missing").join(name);
    let spellings: Vec<String> =
        serde_json::from_slice(&std::fs::read(path("spellings.json")).unwrap()).unwrap();
    let dataset = read(&golden("tables/missing")).unwrap();
    let unlabelled = (0..dataset.nodes()).filter(|&node| dataset.labels().get(node).is_none());
    let unlabelled: Vec<_> = unlabelled.map(|node| dataset.node_id(node).into_owned()).collect();
    let expected: Vec<String> =
        serde_json::from_slice(&std::fs::read(path("unlabelled.json")).unwrap()).unwrap();
    assert_eq!(unlabelled, expected);
    assert_eq!(dataset.labels().classes(), ["Nancy", "na", "none", "yes"]);
    for word in spellings.iter().filter(|word| !word.is_empty()) {
        let said = format!("2 labels are {word:?} and count as unlabelled");
        assert!(dataset.notes().iter().any(|note| note.starts_with(&said)), "{said}");
    }
    let files = [("labels.csv", "id,label\na,?\nb,no\nc,\nd,-1\n")];
    let dataset = read(small_with(&files).path()).unwrap();
    let note =
        "1 label is \"?\" and counts as unlabelled; if that is a class, give it another name";
    assert_eq!((dataset.labels().labelled(), dataset.notes()), (vec![1], &[note.to_owned()][..]));
}

/// SciPy adds up entries of the same place (`tests/golden/make_tables.py`), and so is done here.
#[test]
fn repeated_entries_of_features_are_added_up_and_counted() {
    let features = |name: &str| {
        let files = TableFiles::new(
            golden("tables/repeated/edges.csv"),
            golden("tables/repeated").join(name),
        );
        files.read("test", &Context::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    let sums = features("sums.npy");
    assert_eq!(sums.notes(), [""; 0]);
    for name in ["long.csv", "coordinates.mtx"] {
        let dataset = features(name);
        assert_eq!(dataset.fingerprint(), sums.fingerprint(), "{name}");
        assert_eq!(dataset.notes(), ["3 repeated feature entries added up"], "{name}");
    }
    let archive =
        npz::read(&golden("tables/repeated/archive.npz"), "test", &Context::default()).unwrap();
    assert_eq!(archive.features().nonzeros(), sums.features().nonzeros());
    assert_eq!(archive.fingerprint(), sums.fingerprint());
    assert_eq!(archive.notes(), ["3 repeated feature entries added up"]);
}
