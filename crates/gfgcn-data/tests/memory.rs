//! Readers ask for the memory that they take: compared with what the allocator really hands out.

#[path = "../../gfgcn/tests/counting/mod.rs"]
mod counting;
mod npy;
mod zip;

use counting::measured;
use gfgcn::context::{Cancel, Context, Memory};
use gfgcn::data::Dataset;
use gfgcn::{Error, Result};
use gfgcn_data::{
    Directions, Layout, ReadOptions, Synthetic, SyntheticShape, TableFiles, TableFormat, npz,
    planetoid, read_splits, write_folder,
};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

type Reader = Box<dyn Fn(&Context) -> Result<Dataset>>;

/// Buffers of readers and what else need not be asked for.
const SLACK: usize = 3 << 20;

/// A dataset of some megabytes in every format, and how it is read.
fn readers(folder: &Path) -> Vec<(&'static str, Reader)> {
    let path = |name: &str| folder.join(name);
    let shape = SyntheticShape { nodes: 20_000, edges: 200_000, classes: 5, features: 40 };
    let archive = path("data.npz");
    Synthetic::new(shape, 0.8, 1).unwrap().write(&archive, false, &Context::default()).unwrap();
    let data = npz::read(&archive, "data", &Context::default()).unwrap();
    const BANNER: &str = "%%MatrixMarket matrix coordinate real general";
    let mut matrix = format!("{BANNER}\n20000 20000 {}\n", data.graph().edges());
    for (from, to, weight) in data.graph().edge_list() {
        writeln!(matrix, "{} {} {weight}", from + 1, to + 1).unwrap();
    }
    fs::write(path("graph.mtx"), matrix).unwrap();
    let mut features = format!("{BANNER}\n20000 40 800000\n");
    let mut numbers =
        b"\x93NUMPY\x01\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (20000, 40), }"
            .to_vec();
    numbers.resize(127, b' ');
    numbers.push(b'\n');
    for node in 0..20_000 {
        for column in 0..40 {
            let value = (node * 40 + column) as f64 / 7.0;
            writeln!(features, "{} {} {value}", node + 1, column + 1).unwrap();
            numbers.extend(value.to_le_bytes());
        }
    }
    fs::write(path("features.mtx"), features).unwrap();
    fs::write(path("features.npy"), numbers).unwrap();
    fs::write(path("edges.npz"), edge_list(&data)).unwrap();
    let list = path("edges.npz");
    let mut readers: Vec<(&'static str, Reader)> = vec![
        ("edge list", Box::new(move |context| npz::read(&list, "data", context))),
        ("npz", Box::new(move |context| npz::read(&archive, "data", context))),
        ("mtx", tables(path("graph.mtx"), path("features.mtx"))),
        ("npy", tables(path("graph.mtx"), path("features.npy"))),
    ];
    for (name, format) in [("csv", TableFormat::Csv), ("parquet", TableFormat::Parquet)] {
        write_folder(&data, &path(name), format, false).unwrap();
        let files = TableFiles::in_folder(&path(name)).unwrap().unwrap();
        readers.push((name, Box::new(move |context| files.read("data", context))));
    }
    let directions = Directions::Kept { by: "--directed" };
    let files = TableFiles { directions, ..TableFiles::in_folder(&path("csv")).unwrap().unwrap() };
    readers.push(("directed", Box::new(move |context| files.read("data", context))));
    // Ten types, and nodes that are only known by their edges.
    let mut typed = "source,target,weight,type\n".to_owned();
    for (from, to, _) in data.graph().edge_list() {
        writeln!(typed, "{from},{to},{},t{}", 1 + from % 3, to % 10).unwrap();
    }
    fs::create_dir(path("typed")).unwrap();
    fs::write(path("typed/edges.csv"), typed).unwrap();
    let files =
        TableFiles { directions, ..TableFiles::in_folder(&path("typed")).unwrap().unwrap() };
    npz::write(&files.read("data", &Context::default()).unwrap(), &path("typed.npz"), false)
        .unwrap();
    readers.push(("typed", Box::new(move |context| files.read("data", context))));
    let archive = path("typed.npz");
    readers.push(("typed npz", Box::new(move |context| npz::read(&archive, "data", context))));
    let long = path("long.csv");
    let mut text = "id,feature,value\n".to_owned();
    for node in 0..20_000 {
        for column in 0..10 {
            writeln!(text, "{node},f{},1.5", (node + column * 7) % 5000).unwrap();
        }
    }
    fs::write(&long, text).unwrap();
    readers.push(("long", tables(path("csv/edges.csv"), long)));
    let split = path("split.csv");
    let rows: String = (0..20_000).map(|k| format!("{k},train\n")).collect();
    fs::write(&split, rows).unwrap();
    readers.push((
        "split",
        Box::new(move |context| {
            let ids = (0..data.nodes()).map(|k| k.to_string()).collect();
            let named = data.clone().with_node_ids(ids)?;
            named.clone().with_splits(read_splits(&split, &named, context)?)
        }),
    ));
    layouts(folder, &mut readers);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/planetoid");
    readers
        .push(("planetoid", Box::new(move |context| planetoid::read(&golden, "python2", context))));
    readers
}

/// The same graph in documents and collections of other programs.
fn layouts(folder: &Path, readers: &mut Vec<(&'static str, Reader)>) {
    let archive = folder.join("data.npz");
    let data = npz::read(&archive, "data", &Context::default()).unwrap();
    let path = |name: &str| folder.join(name);
    let (mut nodes, mut links) = (String::new(), String::new());
    let (mut xml, mut lists) = (String::new(), "{\"0\": []".to_owned());
    let (mut pairs, mut target) = ("id_1,id_2\n".to_owned(), "id,name,target\n".to_owned());
    let mut people = ":ID,x:double,colour,:LABEL\n".to_owned();
    let mut knows = ":START_ID,:END_ID,:TYPE\n".to_owned();
    let mut plain = String::new();
    let mut mixed = "id,x,colour\n".to_owned();
    let (mut gexf, mut ties) = (String::new(), String::new());
    let mut sparse = "node_id,feature_id,value\n".to_owned();
    let (mut rows, mut classes, mut bare) = (String::new(), String::new(), String::new());
    for node in 0..data.nodes() {
        let colour = ["red", "green", "blue"][node % 3];
        let comma = if node == 0 { "" } else { "," };
        write!(
            nodes,
            "{comma}{{\"id\": {node}, \"x\": {}.5, \"colour\": \"{colour}\"}}",
            node % 100
        )
        .unwrap();
        write!(
            xml,
            "<node id=\"{node}\"><data key=\"x\">{}.5</data><data key=\"c\">{colour}</data></node>",
            node % 100
        )
        .unwrap();
        if node > 0 {
            write!(lists, ",\n\"{node}\": [{}, {}, {}]", node % 4000, node % 77, node % 13)
                .unwrap();
        }
        let point = format!("<attvalue for=\"x\" value=\"{}.5\"/>", node % 100);
        let hue = format!("<attvalue for=\"c\" value=\"{colour}\"/>");
        write!(gexf, "<node id=\"{node}\"><attvalues>{point}{hue}</attvalues></node>").unwrap();
        for k in [7, 11, 13] {
            writeln!(sparse, "{node},{},1.0", node * k % 4000).unwrap();
        }
        let row: Vec<String> = (0..40).map(|k| format!("{:.3}", (node + k) as f64 / 7.0)).collect();
        writeln!(rows, "{}", row.join(",")).unwrap();
        writeln!(classes, "{}", node % 5).unwrap();
        writeln!(target, "{node},someone {node},{}", node % 5).unwrap();
        writeln!(people, "{node},{}.5,{colour},L{}", node % 100, node % 2).unwrap();
        writeln!(mixed, "{node},{}.5,{colour}", node % 100).unwrap();
    }
    xml.push_str("<!-- edges -->");
    for (k, (from, to, _)) in data.graph().edge_list().enumerate() {
        let comma = if k == 0 { "" } else { "," };
        write!(links, "{comma}{{\"source\": {from}, \"target\": {to}}}").unwrap();
        write!(xml, "<edge source=\"{from}\" target=\"{to}\"/>").unwrap();
        write!(ties, "<edge source=\"{from}\" target=\"{to}\"/>").unwrap();
        writeln!(bare, "{from},{to}").unwrap();
        writeln!(pairs, "{from},{to}").unwrap();
        writeln!(knows, "{from},{to},T{}", k % 3).unwrap();
        writeln!(plain, "{from} {to}").unwrap();
    }
    let keys = "<key id=\"x\" for=\"node\" attr.name=\"x\"/><key id=\"c\" for=\"node\" attr.name=\"colour\"/>";
    let declared = "<attribute id=\"x\" title=\"x\" type=\"double\"/><attribute id=\"c\" title=\"colour\" type=\"string\"/>";
    let (count, edges) = (data.nodes(), data.graph().edges());
    let third = |part: usize| -> String {
        (0..count).filter(|node| node % 3 == part).map(|node| format!("{node}\n")).collect()
    };
    let files = [
        (
            "graph.gexf",
            format!(
                "<gexf><graph defaultedgetype=\"undirected\"><attributes class=\"node\">{declared}</attributes>\
                 <nodes>{gexf}</nodes><edges>{ties}</edges></graph></gexf>"
            ),
        ),
        ("karateclub/edges.csv", pairs.clone()),
        ("karateclub/features.csv", sparse),
        ("karateclub/target.csv", format!("id,target\n{}", numbered(&classes))),
        ("ogb/raw/edge.csv", bare),
        ("ogb/raw/node-feat.csv", rows),
        ("ogb/raw/node-label.csv", classes),
        ("ogb/raw/num-node-list.csv", format!("{count}\n")),
        ("ogb/raw/num-edge-list.csv", format!("{edges}\n")),
        ("ogb/split/s/train.csv", third(0)),
        ("ogb/split/s/valid.csv", third(1)),
        ("ogb/split/s/test.csv", third(2)),
        ("graph.json", format!("{{\"nodes\": [{nodes}], \"links\": [{links}]}}")),
        (
            "graph.graphml",
            format!("<graphml>{keys}<graph edgedefault=\"undirected\">{xml}</graph></graphml>"),
        ),
        ("graph.edges", plain),
        ("musae/m_edges.csv", pairs.clone()),
        ("musae/m_features.json", format!("{lists}}}")),
        ("musae/m_target.csv", target),
        ("neo4j/people.csv", people),
        ("neo4j/knows.csv", knows),
        ("mixed/edges.csv", pairs),
        ("mixed/features.csv", mixed),
    ];
    for (name, text) in files {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    }
    fs::write(path("graph.mat"), matlab(&data)).unwrap();
    fs::create_dir(path("arrow")).unwrap();
    fs::write(path("arrow/edges.arrows"), long_stream()).unwrap();
    fs::write(path("arrow/features.csv"), "id,x\na,1\nb,2\nc,3\nd,4\n").unwrap();
    for name in [
        "graph.json",
        "graph.graphml",
        "graph.gexf",
        "graph.edges",
        "graph.mat",
        "arrow",
        "musae",
        "karateclub",
        "neo4j",
        "ogb",
        "mixed",
    ] {
        let layout = Layout::of(&path(name)).unwrap();
        readers.push((
            name,
            Box::new(move |context| layout.read("data", &ReadOptions::default(), context)),
        ));
    }
}

/// Lines with their numbers before them.
fn numbered(lines: &str) -> String {
    lines.lines().enumerate().map(|(node, class)| format!("{node},{class}\n")).collect()
}

/// The graph as facebook100 has it: a sparse matrix `A` and people's codes in `local_info`.
fn matlab(data: &Dataset) -> Vec<u8> {
    fn element(kind: u32, bytes: &[u8]) -> Vec<u8> {
        let mut element = [kind.to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
        element.extend(bytes);
        element.resize(element.len().next_multiple_of(8), 0);
        element
    }
    let integers =
        |values: &[i32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let array = |class: i32, shape: [i32; 2], name: &str, nonzeros: i32, parts: Vec<Vec<u8>>| {
        let head = [
            element(6, &integers(&[class, nonzeros])),
            element(5, &integers(&shape)),
            element(1, name.as_bytes()),
        ];
        element(14, &[head.concat(), parts.concat()].concat())
    };
    let (nodes, arcs) = (data.nodes(), data.graph().arc_list());
    let (mut rows, mut offsets) = (Vec::new(), vec![0i32; nodes + 1]);
    for (column, row, _) in arcs {
        rows.push(row as i32);
        offsets[column + 1] += 1;
    }
    (0..nodes).for_each(|column| offsets[column + 1] += offsets[column]);
    let ones = vec![1.0; rows.len()];
    let parts = vec![
        element(5, &integers(&rows)),
        element(5, &integers(&offsets)),
        element(9, &doubles(&ones)),
    ];
    let graph = array(5, [nodes as i32; 2], "A", rows.len() as i32, parts);
    let codes: Vec<f64> = (0..7 * nodes).map(|k| (1 + k % 6) as f64).collect();
    let people = array(6, [nodes as i32, 7], "local_info", 0, vec![element(9, &doubles(&codes))]);
    let mut file = b"MATLAB 5.0 MAT-file".to_vec();
    file.resize(124, b' ');
    file.extend([0, 1, b'I', b'M']);
    [file, graph, people].concat()
}

/// Four edges, written again and again: the batches of a stream of pyarrow's, repeated.
fn long_stream() -> Vec<u8> {
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/arrow/stream/edges.arrows");
    let whole = fs::read(golden).unwrap();
    let marks: Vec<usize> =
        (0..whole.len()).step_by(8).filter(|&k| whole[k..k + 4] == [0xff; 4]).collect();
    let [_, first, _, end] = marks[..] else {
        panic!("a schema, two batches and the end: {marks:?}")
    };
    [&whole[..first], &whole[first..end].repeat(20_000), &whole[end..]].concat()
}

/// The graph in the layout of the heterophilous-graphs collection, with ten splits.
fn edge_list(data: &Dataset) -> Vec<u8> {
    let nodes = data.nodes();
    let ends = data.graph().edge_list().flat_map(|(from, to, _)| [from, to]);
    let ends: Vec<u8> = ends.flat_map(|end| (end as i64).to_le_bytes()).collect();
    let features: Vec<u8> =
        (0..nodes * 40).flat_map(|k| (1.0 + (k % 7) as f32).to_le_bytes()).collect();
    let labels: Vec<u8> = (0..nodes).flat_map(|node| (node as i64 % 5).to_le_bytes()).collect();
    let mask = |part| (0..10 * nodes).map(|k| u8::from(k % 3 == part)).collect::<Vec<u8>>();
    let masks = format!("10, {nodes}");
    let arrays = [
        ("edges", npy::array("'<i8'", &format!("{}, 2", ends.len() / 16), &ends)),
        ("node_features", npy::array("'<f4'", &format!("{nodes}, 40"), &features)),
        ("node_labels", npy::array("'<i8'", &format!("{nodes},"), &labels)),
        ("train_masks", npy::array("'|b1'", &masks, &mask(0))),
        ("val_masks", npy::array("'|b1'", &masks, &mask(1))),
        ("test_masks", npy::array("'|b1'", &masks, &mask(2))),
    ];
    let members = arrays.map(|(name, array)| zip::Member::stored(&format!("{name}.npy"), array));
    zip::archive(&members)
}

fn tables(edges: PathBuf, features: PathBuf) -> Reader {
    let files = TableFiles::new(edges, features);
    Box::new(move |context| files.read("data", context))
}

fn limited(bytes: usize) -> Context {
    Context::default().with_memory(Memory::limited(bytes as u64))
}

/// Bytes of the files that a reader reads.
fn size(folder: &Path, name: &str) -> usize {
    fn of(path: &Path) -> usize {
        match path.read_dir() {
            Ok(entries) => entries.map(|entry| of(&entry.unwrap().path())).sum(),
            Err(_) => fs::metadata(path).map_or(0, |file| file.len() as usize),
        }
    }
    let files: &[&str] = match name {
        "edge list" => &["edges.npz"],
        "npz" | "split" => &["data.npz", "split.csv"],
        "mtx" => &["graph.mtx", "features.mtx"],
        "npy" => &["graph.mtx", "features.npy"],
        "directed" => &["csv"],
        "typed npz" => &["typed.npz"],
        "long" => &["csv/edges.csv", "long.csv"],
        other => &[other],
    };
    files.iter().map(|file| of(&folder.join(file))).sum()
}

/// One test, because others would allocate beside it.
#[test]
#[expect(clippy::print_stdout, reason = "figures, for whoever asks with --nocapture")]
fn readers_ask_for_what_they_take_and_give_up_where_it_is_not_there() {
    let folder = TempDir::new().unwrap();
    for (name, read) in readers(folder.path()) {
        let whole = read(&Context::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        drop(read(&Context::default()));
        let (_, peak) = measured(|| drop(read(&Context::default())));
        let peak = peak as usize;
        // The data are what is in the files, or what is made of it, whichever is more.
        let data = size(folder.path(), name).max(whole.memory() as usize);
        println!("{name}: {peak} bytes for {data} of data, {:.2} times", peak as f64 / data as f64);
        assert!(peak <= 2 * data + SLACK, "{name}: {peak} bytes for {data} of data");

        // The least that is enough.
        let (mut too_little, mut enough) = (0, 6 * peak + 2 * SLACK);
        assert!(read(&limited(enough)).is_ok(), "{name}: took {peak}, and {enough} are not enough");
        while enough - too_little > 64 << 10 {
            let limit = (too_little + enough) / 2;
            match read(&limited(limit)) {
                Ok(dataset) => {
                    assert_eq!(dataset.fingerprint(), whole.fingerprint(), "{name}");
                    enough = limit;
                }
                Err(error) => {
                    assert!(error.is_machine_failure(), "{name}: {error}");
                    let message = error.to_string();
                    assert!(message.contains("reading the data needs about"), "{name}: {message}");
                    too_little = limit;
                }
            }
        }
        let copies = if name == "split" { 16 << 20 } else { 0 };
        assert!(enough + SLACK + copies > peak, "{name}: asked for {enough}, took {peak}");
        assert!(enough < 5 * peak + SLACK, "{name}: asked for {enough}, took {peak}");

        let cancel = Cancel::default();
        cancel.cancel();
        let result = read(&Context::default().with_cancel(cancel));
        assert!(matches!(result, Err(Error::Cancelled)), "{name}: {result:?}");
    }
}
