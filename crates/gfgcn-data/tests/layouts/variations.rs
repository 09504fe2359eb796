//! Accepted variations give the identical dataset.

use super::{folder, golden_path, read, read_file, same};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn edge_lists_are_the_same_with_any_separator_and_comments() {
    let plain = read_file("graph.csv", "source,target,weight\na,b,0.5\nb,c,2\nc,a,1\n").unwrap();
    for (name, text) in [
        ("graph.txt", "a b 0.5\nb c 2\nc a 1\n"),
        ("graph.edges", "a  b 0.5\n  b\tc 2 \nc a 1"),
        ("graph.edgelist", "# comment\na b 0.5\nb c 2\n# in the middle\nc a 1\n"),
        ("graph.tsv", "% sym weighted\n% 3 3 3\na\tb\t0.5\nb\tc\t2\nc\ta\t1\n"),
        ("graph.csv", "a;b;0.5\r\nb;c;2\r\nc;a;1\r\n"),
        ("graph.txt", "a,b,0.5\nb,c,2\nc,a,1\n"),
        ("graph.csv", "\u{feff}target;weight;source\nb;0.5;a\nc;2;b\na;1;c\n"),
        ("graph.txt", "# FromNodeId\tToNodeId\na\tb\t0.5\nb\tc\t2\nc\ta\t1\n"),
        ("graph.csv", "year,source,target,weight\n1,a,b,0.5\n2,b,c,2\n3,c,a,1\n"),
        ("graph.csv", "c,a,1\nb,c,2\na,b,0.5\n"),
        // As networkx writes them, with whatever else it knows of an edge.
        ("graph.edgelist", "a b {'weight': 0.5}\nb c {'since': 1999, 'weight': 2}\nc a {}\n"),
        ("graph.csv", "a,b,{'weight': 0.5, 'x': 'y z'}\nb,c,{'weight': np.float64(2.0)}\nc,a,{}\n"),
        // As spreadsheets write them where the comma is the decimal point.
        ("graph.csv", "source;target;weight\na;b;0,5\nb;c;2\nc;a;1,0\n"),
        ("graph.csv", "a;b;5,0e-1\nb;c;2\nc;a;1\n"),
    ] {
        let other = read_file(name, text).unwrap_or_else(|e| panic!("{name} {text:?}: {e}"));
        assert!(same(plain.clone(), other), "{name} {text:?}");
    }
    let zipped = read_file("graph.txt.gz", gzip(b"a b 0.5\nb c 2\nc a 1\n")).unwrap();
    assert!(same(plain, zipped));
}

/// Attributes of edges without a weight are as good as none.
#[test]
fn an_edge_list_of_networkx_without_weights_is_a_list_of_pairs() {
    let plain = read_file("graph.edgelist", "a b\nb c\n").unwrap();
    for text in ["a b {}\nb c {}\n", "a b {'kind': 'x'}\nb c {}\n", "a\tb\t{}\nb\tc\t{}\n"] {
        assert!(same(plain.clone(), read_file("graph.edgelist", text).unwrap()), "{text:?}");
    }
    let braces = read_file("graph.txt", "{a} {b}\n{b} c\n").unwrap();
    assert_eq!(braces.node_ids().unwrap(), ["c", "{a}", "{b}"], "braces may be part of an id");
    let wrong = read_file("graph.edgelist", "a b {'weight': 'heavy'}\nb c {}\n").unwrap_err();
    assert!(wrong.contains("line 1") && wrong.contains("heavy"), "{wrong}");
}

/// Labels and features between spaces, tabs, semicolons and commas, whatever the file is called.
#[test]
fn tables_of_nodes_are_the_same_with_any_separator() {
    let edges = "source,target\na,b\nb,c\n";
    let (features, labels) = ("id,x,y\na,1,0.5\nb,2,1.5\nc,3,2.5\n", "id,label\na,yes\nc,no\n");
    let of = |features: (&str, &str), labels: (&str, &str)| {
        read(folder(&[("edges.csv", edges), features, labels]).path())
            .unwrap_or_else(|e| panic!("{features:?} {labels:?}: {e}"))
    };
    let plain = of(("features.csv", features), ("labels.csv", labels));
    for by in [" ", "\t", ";", ","] {
        let (features, labels) = (features.replace(',', by), labels.replace(',', by));
        for ending in ["txt", "csv"] {
            let names = [format!("features.{ending}"), format!("labels.{ending}")];
            let other = of((&names[0], &features), (&names[1], &labels));
            assert!(same(plain.clone(), other), "{by:?} in .{ending}");
        }
    }
    let bare = of(("features.csv", features), ("labels.txt", "a yes\nc no\n"));
    assert!(same(plain.clone(), bare), "without a header");
    let comma = features.replace(',', ";").replace('.', ",");
    assert!(same(plain, of(("features.csv", &comma), ("labels.csv", labels))), "decimal commas");
}

/// Ids that begin like comments need a header, or quotes.
#[test]
fn hashes_are_ids_under_a_header() {
    let tagged = read_file("tags.csv", "source,target\n#a,#b\n#b,c\n").unwrap();
    assert_eq!(tagged.node_ids().unwrap(), ["#a", "#b", "c"]);
    let quoted = read_file("tags.csv", "c,d\n\"#a\",\"#b\"\n\"#b\",c\n").unwrap();
    assert_eq!(quoted.nodes(), 4);
    let error = read_file("tags.csv", "#a,#b\n").unwrap_err();
    assert!(error.contains("comments") && error.contains("quotes"), "{error}");
}

/// Words on the first line are nodes where other lines have them, too.
#[test]
fn a_first_line_in_words_is_no_header_if_its_nodes_come_again() {
    assert_eq!(read_file("graph.txt", "anna ben\nben carl\n").unwrap().nodes(), 3);
    let error = read_file("graph.txt", "anna ben\ncarl dora\n").unwrap_err();
    assert!(error.contains("\"anna\" may be a node or the name of a column"), "{error}");
}

#[test]
fn documents_are_the_same_however_they_are_written() {
    for (name, changes) in [
        (
            "directed.graphml",
            vec![
                ("<?xml version='1.0' encoding='utf-8'?>", ""),
                ("\n", "\r\n"),
                ("<data key=\"d1\">red</data>", "<data key=\"d1\"><![CDATA[red]]></data>"),
                (
                    "<data key=\"d1\">red</data>",
                    "<data key=\"d1\">&#114;ed<!-- a comment --></data>",
                ),
                (
                    "<graph edgedefault",
                    "<!-- comment --><desc>text &amp; more</desc><graph edgedefault",
                ),
                (
                    "xmlns=\"http://graphml.graphdrawing.org/xmlns\"",
                    "xmlns='http://graphml.graphdrawing.org/xmlns'",
                ),
            ],
        ),
        (
            "undirected.gexf",
            vec![
                ("<edges>", "<edges count=\"6\">"),
                ("defaultedgetype=\"undirected\"", "defaultedgetype=\"mutual\""),
                ("label=\"a\"", "label=\"Anna &lt;a&gt;\""),
            ],
        ),
        (
            "directed_links.json",
            vec![
                (
                    "\"multigraph\": false,",
                    "\"multigraph\": false, \"more\": {\"a\": [1, {\"b\": null}]},",
                ),
                ("\n", " "),
                ("red", "\\u0072ed"),
            ],
        ),
    ] {
        let text = fs::read_to_string(golden_path(name)).unwrap();
        let whole = read_file(name, &text).unwrap();
        for (from, to) in changes {
            assert!(text.contains(from), "{name}: {from}");
            let other = read_file(name, text.replace(from, to))
                .unwrap_or_else(|e| panic!("{name} {to:?}: {e}"));
            assert!(same(whole.clone(), other), "{name}: {to}");
        }
        let zipped = format!("{name}.gz");
        assert!(
            same(whole.clone(), read_file(&zipped, gzip(text.as_bytes())).unwrap()),
            "{zipped}"
        );
        let marked = format!("\u{feff}{text}");
        if name.ends_with("ml") || name.ends_with("gexf") {
            assert!(same(whole, read_file(name, marked).unwrap()), "{name} with a byte-order mark");
        }
    }
}

/// One graph in three kinds of documents, in two directions each.
#[test]
fn every_kind_of_document_says_the_same() {
    for direction in ["directed", "undirected"] {
        let graphml = read(&golden_path(&format!("{direction}.graphml"))).unwrap();
        for other in [".gexf", "_links.json", "_edges.json"] {
            let other = read(&golden_path(&format!("{direction}{other}"))).unwrap();
            assert!(same(graphml.clone(), other));
        }
    }
}

#[test]
fn values_that_nodes_do_not_give_are_the_default() {
    let keys =
        r#"<key id="c" for="node" attr.name="x" attr.type="double"><default>2.5</default></key>"#;
    let text = format!(
        r#"<graphml>{keys}<graph><node id="a"/><node id="b"><data key="c">1</data></node>
        <edge source="a" target="b"/></graph></graphml>"#
    );
    let data = read_file("graph.graphml", text).unwrap();
    let mut values = Vec::new();
    (0..2).for_each(|node| data.features().for_each_in_row(node, |_, value| values.push(value)));
    assert_eq!(values, [2.5, 1.0]);
}

/// Old files of D3 have no ids: links name places.
#[test]
fn nodes_without_ids_are_places() {
    let text = r#"{"nodes": [{"x": [1, 2.5]}, {"x": [0, 1]}], "links": [{"source": 0, "target": 1, "value": 3}]}"#;
    let data = read_file("graph.json", text).unwrap();
    assert_eq!(data.graph().edges(), 1);
    assert_eq!(data.feature_names().unwrap(), ["x[0]", "x[1]"]);
    assert!(data.notes().iter().any(|note| note.contains("\"value\"")), "{:?}", data.notes());
}

#[test]
fn the_raw_folder_itself_and_expanded_tables_are_read_too() {
    let golden = |file: &str| fs::read(golden_path("ogbn_tiny").join(file)).unwrap();
    let whole = read(&golden_path("ogbn_tiny")).unwrap();
    let expand = |bytes: Vec<u8>| {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text)
            .unwrap();
        text
    };
    let names = ["edge", "node-feat", "node-label"];
    let files: Vec<(String, Vec<u8>)> = (names.iter())
        .map(|name| (format!("{name}.csv"), expand(golden(&format!("raw/{name}.csv.gz")))))
        .collect();
    let files: Vec<(&str, &Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes)).collect();
    let plain = read(folder(&files).path()).unwrap();
    assert_eq!(plain.fingerprint(), whole.fingerprint());
    assert!(plain.splits().is_empty());
}

/// What editors and systems do to a text, none of which changes what it says.
fn dresses(text: &str) -> [(&'static str, String); 4] {
    [
        ("with line ends of Windows", text.replace('\n', "\r\n")),
        ("with a byte order mark", format!("\u{feff}{text}")),
        ("without the last line end", text.trim_end().to_owned()),
        ("with an empty line at the end", format!("{}\n\n", text.trim_end())),
    ]
}

/// Each file of a collection in every dress, the others as they are.
#[test]
fn files_of_collections_may_be_written_in_other_ways() {
    let cases = [
        ("musae", &["musae_git_edges.csv", "musae_git_features.json", "musae_git_target.csv"][..]),
        ("twitch", &["musae_DE_edges.csv", "musae_DE_features.json", "musae_DE_target.csv"]),
        ("karateclub", &["edges.csv", "features.csv", "target.csv"]),
        ("neo4j", &["acted.csv", "films.csv", "knows.csv", "people.csv"]),
    ];
    for (collection, files) in cases {
        let whole = read(&golden_path(collection)).unwrap();
        let text = |file: &str| fs::read_to_string(golden_path(collection).join(file)).unwrap();
        for changed in files {
            for (dress, dressed) in dresses(&text(changed)) {
                let content =
                    |file: &&str| if file == changed { dressed.clone() } else { text(file) };
                let parts: Vec<(&str, String)> =
                    files.iter().map(|file| (*file, content(file))).collect();
                let other = read(folder(&parts).path());
                let other = other.unwrap_or_else(|e| panic!("{collection}/{changed} {dress}: {e}"));
                assert!(same(whole.clone(), other), "{collection}/{changed} {dress}");
            }
        }
    }
}

/// Rows and columns in another order, other separators, and names of files that say less.
#[test]
fn collections_may_list_their_rows_in_another_order() {
    let text = |file: &str| fs::read_to_string(golden_path(file)).unwrap();
    let turned = |text: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1..].reverse();
        lines.join("\n") + "\n"
    };
    let names = ["edges.csv", "features.csv", "target.csv"];
    let club: Vec<(&str, String)> =
        names.iter().map(|name| (*name, turned(&text(&format!("karateclub/{name}"))))).collect();
    assert!(same(read(&golden_path("karateclub")).unwrap(), read(folder(&club).path()).unwrap()));
    let films = ["acted.csv", "films.csv", "knows.csv", "people.csv"];
    for (dress, change) in [
        ("in another order", Box::new(turned) as Box<dyn Fn(&str) -> String>),
        ("between semicolons", Box::new(|text: &str| text.replace(',', ";"))),
    ] {
        let parts: Vec<(&str, String)> =
            films.iter().map(|name| (*name, change(&text(&format!("neo4j/{name}"))))).collect();
        let other = read(folder(&parts).path()).unwrap_or_else(|e| panic!("{dress}: {e}"));
        assert!(same(read(&golden_path("neo4j")).unwrap(), other), "{dress}");
    }
}

#[test]
fn matlab_files_are_the_same_compressed_or_not() {
    for name in ["facebook100", "blogcatalog"] {
        let plain = read(&golden_path(&format!("{name}.mat"))).unwrap();
        let compressed = read(&golden_path(&format!("{name}_compressed.mat"))).unwrap();
        assert!(same(plain, compressed), "{name}");
    }
}
