//! One command from files as they are published to predictions, in every layout.
//!
//! The excerpts are written here, in the layout of each collection: two rings of nodes, joined by one edge. All but four
//! nodes of each ring are labelled.

use crate::sandbox::Sandbox;
use std::fmt::Write;

const NODES: usize = 24;

/// Which ring a node is in.
fn ring(node: usize) -> usize {
    usize::from(node >= NODES / 2)
}

fn is_labelled(node: usize) -> bool {
    node % 3 != 1
}

fn edges() -> Vec<(usize, usize)> {
    let half = NODES / 2;
    let around = |node: usize| (node, node / half * half + (node + 1) % half);
    (0..NODES).map(around).chain([(0, half)]).collect()
}

/// Two features that tell the rings apart, roughly.
fn features(node: usize) -> [f64; 2] {
    [ring(node) as f64 + 0.1 * (node % 5) as f64, 0.3 * (node % 4) as f64]
}

/// The rows of some nodes' table, one line each.
fn lines<T>(items: impl IntoIterator<Item = T>, line: impl Fn(T) -> String) -> String {
    items.into_iter().fold(String::new(), |text, item| text + &line(item) + "\n")
}

fn label(node: usize) -> &'static str {
    match (is_labelled(node), ring(node)) {
        (false, _) => "",
        (true, 0) => "left",
        (true, _) => "right",
    }
}

/// A path, the options it needs, the ids of its nodes, and what its classes are called.
type Case = (&'static str, &'static str, fn(usize) -> String, [&'static str; 2]);

fn write_all(sandbox: &Sandbox) -> Vec<Case> {
    let plain: fn(usize) -> String = |node| node.to_string();
    // OGB
    sandbox.write("ogb/raw/edge.csv", &lines(edges(), |(a, b)| format!("{a},{b}")));
    sandbox.write(
        "ogb/raw/node-feat.csv",
        &lines(0..NODES, |n| features(n).map(|f| f.to_string()).join(",")),
    );
    let class = |n: usize| if is_labelled(n) { ring(n).to_string() } else { "nan".into() };
    sandbox.write("ogb/raw/node-label.csv", &lines(0..NODES, class));
    sandbox.write("ogb/raw/num-node-list.csv", &format!("{NODES}\n"));
    let train = (0..NODES).filter(|&n| is_labelled(n));
    sandbox.write("ogb/split/time/train.csv", &lines(train, |n| n.to_string()));
    // MUSAE and KarateClub
    let pairs = "id_1,id_2\n".to_owned() + &lines(edges(), |(a, b)| format!("{a},{b}"));
    let target = |name: &str| {
        format!("id,name,{name}\n")
            + &lines(0..NODES, |n| format!("{n},\"someone, {n}\",{}", label(n)))
    };
    let lists: Vec<String> = (0..NODES)
        .map(|n| format!("\"{n}\": [{}, {}]", 10 * ring(n) + n % 3, 40 + n % 4))
        .collect();
    sandbox.write("musae/musae_git_edges.csv", &pairs);
    sandbox.write("musae/musae_git_features.json", &format!("{{{}}}", lists.join(", ")));
    sandbox.write("musae/musae_git_target.csv", &target("ml_target"));
    sandbox.write("karateclub/edges.csv", &pairs);
    let entries =
        lines(0..NODES, |n| format!("{n},{},1\n{n},{},1", 10 * ring(n) + n % 3, 40 + n % 4));
    sandbox.write("karateclub/features.csv", &format!("node_id,feature_id,value\n{entries}"));
    sandbox.write("karateclub/target.csv", &target("target"));
    // Neo4j
    let people = lines(0..NODES, |n| {
        format!("p{n},{},{},{},Person", features(n)[0], ["red", "green"][ring(n)], label(n))
    });
    sandbox.write(
        "neo4j/people.csv",
        &format!("personId:ID,height:double,colour:string,team:string,:LABEL\n{people}"),
    );
    let knows = lines(edges(), |(a, b)| format!("p{a},p{b},{}", ["KNOWS", "LIKES"][a % 2]));
    sandbox.write("neo4j/knows.csv", &format!(":START_ID,:END_ID,:TYPE\n{knows}"));
    // Documents
    let node = |n: usize| {
        let [x, y] = features(n);
        let class =
            if is_labelled(n) { format!(", \"class\": \"{}\"", label(n)) } else { String::new() };
        format!("{{\"id\": \"n{n}\", \"x\": {x}, \"y\": {y}{class}}}")
    };
    let nodes: Vec<String> = (0..NODES).map(node).collect();
    let links: Vec<String> = edges()
        .iter()
        .map(|(a, b)| format!("{{\"source\": \"n{a}\", \"target\": \"n{b}\"}}"))
        .collect();
    let json = format!(
        "{{\"directed\": false, \"nodes\": [{}], \"links\": [{}]}}",
        nodes.join(","),
        links.join(",")
    );
    sandbox.write("graph.json", &json);
    let mut graphml = "<graphml><key id='x' for='node' attr.name='x' attr.type='double'/>\
        <key id='c' for='node' attr.name='class' attr.type='string'/><graph edgedefault='undirected'>"
        .to_owned();
    let mut gexf = "<gexf><graph defaultedgetype='undirected'><attributes class='node'>\
        <attribute id='0' title='x' type='double'/><attribute id='1' title='class' type='string'/></attributes><nodes>"
        .to_owned();
    for n in 0..NODES {
        // Without a second feature, there has to be a middle.
        let x = features(n)[0] - 0.7;
        let (mut data, mut value) = (String::new(), String::new());
        if is_labelled(n) {
            data = format!("<data key='c'>{}</data>", label(n));
            value = format!("<attvalue for='1' value='{}'/>", label(n));
        }
        write!(graphml, "<node id='n{n}'><data key='x'>{x}</data>{data}</node>").unwrap();
        write!(gexf, "<node id='n{n}' label='Node {n}'><attvalues><attvalue for='0' value='{x}'/>{value}</attvalues></node>")
            .unwrap();
    }
    gexf += "</nodes><edges>";
    for (k, (a, b)) in edges().iter().enumerate() {
        write!(graphml, "<edge source='n{a}' target='n{b}'/>").unwrap();
        write!(gexf, "<edge id='{k}' source='n{a}' target='n{b}'/>").unwrap();
    }
    sandbox.write("graph.graphml", &(graphml + "</graph></graphml>"));
    sandbox.write("graph.gexf", &(gexf + "</edges></graph></gexf>"));
    // Edge lists, with labels beside them
    let list = lines(edges(), |(a, b)| format!("n{a} n{b}"));
    sandbox.write("graph.edges", &format!("# a graph\n{list}"));
    let labels = lines((0..NODES).filter(|&n| is_labelled(n)), |n| format!("n{n},{}", label(n)));
    sandbox.write("labels.csv", &format!("id,label\n{labels}"));
    // facebook100
    std::fs::write(sandbox.path("facebook.mat"), facebook()).unwrap();
    let named: fn(usize) -> String = |node| format!("n{node}");
    let (sides, numbers) = (["left", "right"], ["0", "1"]);
    vec![
        ("ogb", "", plain, numbers),
        ("musae", "", plain, sides),
        ("karateclub", "", plain, sides),
        ("neo4j", "--label-column team", |node| format!("p{node}"), sides),
        ("graph.json", "", named, sides),
        ("graph.graphml", "", named, sides),
        ("graph.gexf", "", named, sides),
        ("--edges graph.edges --labels labels.csv", "", named, sides),
        ("facebook.mat", "", plain, ["1", "2"]),
    ]
}

/// `A` and `local_info`, as MATLAB writes them: gender is 1 or 2, and 0 where it is not known.
fn facebook() -> Vec<u8> {
    let element = |kind: u32, data: &[u8]| {
        let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    };
    let integers = |numbers: &[i32]| {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>()
    };
    let matrix = |class: u32, shape: [i32; 2], name: &str, data: Vec<Vec<u8>>| {
        let flags = [class.to_le_bytes(), 0u32.to_le_bytes()].concat();
        let parts = [
            element(6, &flags),
            element(5, &integers(&shape)),
            element(1, name.as_bytes()),
            data.concat(),
        ];
        element(14, &parts.concat())
    };
    let size = NODES as i32;
    let both: Vec<(usize, usize)> =
        edges().into_iter().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    let (mut rows, mut begins) = (Vec::new(), vec![0]);
    for column in 0..NODES {
        let mut own: Vec<i32> =
            both.iter().filter(|(_, b)| *b == column).map(|(a, _)| *a as i32).collect();
        own.sort_unstable();
        own.dedup();
        rows.extend(own);
        begins.push(rows.len() as i32);
    }
    let ones: Vec<u8> = rows.iter().flat_map(|_| 1f64.to_le_bytes()).collect();
    let adjacency = matrix(
        5,
        [size, size],
        "A",
        vec![element(5, &integers(&rows)), element(5, &integers(&begins)), element(9, &ones)],
    );
    let gender = |n: usize| if is_labelled(n) { 1 + ring(n) } else { 0 };
    let columns: [&dyn Fn(usize) -> usize; 7] =
        [&|_| 1, &gender, &|n| 200 + ring(n), &|_| 0, &|n| 160 + n % 4, &|n| 2005 + n % 3, &|n| {
            n % 5
        }];
    let info: Vec<u8> = columns
        .iter()
        .flat_map(|of| (0..NODES).map(|n| of(n) as i32))
        .flat_map(i32::to_le_bytes)
        .collect();
    let info = matrix(12, [size, 7], "local_info", vec![element(5, &info)]);
    let mut file = b"MATLAB 5.0 MAT-file".to_vec();
    file.resize(124, b' ');
    file.extend([0, 1, b'I', b'M']);
    [file, adjacency, info].concat()
}

#[test]
fn files_as_published_become_predictions() {
    let sandbox = Sandbox::new();
    for (path, options, id, classes) in write_all(&sandbox) {
        sandbox.ok(&format!("fit {path} {options} --predictions out.csv --force"));
        let table = sandbox.read("out.csv");
        // The same in two steps.
        sandbox.ok(&format!("fit {path} {options} -o m.model --force"));
        sandbox.ok(&format!("predict m.model {path} {options} -o predicted.csv --force"));
        assert_eq!(table, sandbox.read("predicted.csv"), "{path}");
        let found: Vec<(&str, &str)> = (table.lines().skip(1))
            .map(|line| line.split_once(',').unwrap())
            .map(|(id, rest)| (id, rest.split(',').next().unwrap()))
            .collect();
        assert_eq!(found.len(), NODES, "{path}");
        for node in 0..NODES {
            let expected = (id(node), classes[ring(node)]);
            assert!(
                found.iter().any(|(id, label)| (*id, *label) == (&*expected.0, expected.1)),
                "{path}: {expected:?} in {table}"
            );
        }
    }
}

/// Arrow files of pyarrow, pandas and Polars predict what the same tables do as text.
#[test]
fn arrow_files_become_the_predictions_of_the_same_text() {
    let sandbox = Sandbox::new();
    sandbox.write("text/edges.csv", "source,target,weight\na,b,0.5\nb,c,2\na,c,1\nd,a,1\n");
    sandbox.write("text/features.csv", "id,x,y\na,1,0.25\nb,0.1,2\nc,-3,1e-30\nd,0,5\ne,7,8\n");
    sandbox.write("text/labels.csv", "id,label\na,yes\nb,no\ne,yes\n");
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../gfgcn-data/tests/golden/arrow");
    sandbox.ok("fit text --depth 2 --lambda 1 -o text.model");
    sandbox.ok("predict text.model text -o text.csv");
    for folder in ["feather", "polars_zstd", "stream", "dictionary"] {
        sandbox.ok(&format!("fit {golden}/{folder} --depth 2 --lambda 1 -o m.model --force"));
        sandbox.ok(&format!("predict m.model {golden}/{folder} -o out.csv --force"));
        assert_eq!(sandbox.read("out.csv"), sandbox.read("text.csv"), "{folder}");
    }
    let info = sandbox.ok(&format!("data info {golden}/feather"));
    assert!(info.contains("edges.feather"), "{info}");
}

#[test]
fn info_says_what_was_recognised_and_how_it_is_read() {
    let sandbox = Sandbox::new();
    write_all(&sandbox);
    for (path, fragments) in [
        ("ogb", ["raw folder of OGB", "16 train, 0 validation, 0 test"]),
        ("musae", ["layout of MUSAE", "musae_git_features.json"]),
        ("karateclub", ["layout of MUSAE and KarateClub", "target.csv"]),
        ("neo4j", ["CSV files for Neo4j", "KNOWS"]),
        ("graph.json", ["node-link JSON", "24"]),
        ("graph.graphml", ["GraphML", "24"]),
        ("graph.gexf", ["GEXF", "24"]),
        ("graph.edges", ["a list of edges", "no features"]),
        ("facebook.mat", ["MATLAB", "24"]),
        ("cora", ["part of the program", "2708"]),
    ] {
        let report = sandbox.ok(&format!("data info {path}"));
        assert!(fragments.iter().all(|part| report.contains(part)), "{path}: {report}");
    }
}

/// What training did with words and gaps is done again, whatever the other table has.
#[test]
fn a_model_remembers_how_columns_became_features() {
    let sandbox = Sandbox::new();
    let row = |n: usize| {
        let age = if n % 7 == 2 { String::new() } else { (30 + 20 * ring(n) + n % 5).to_string() };
        format!("n{n}@mail.org,{age},{},{}", ["red", "green", "blue"][ring(n) + n % 2], label(n))
    };
    sandbox.write("people.csv", &format!("email,age,colour,team\n{}", lines(0..NODES, row)));
    sandbox.write(
        "links.csv",
        &format!("from,to\n{}", lines(edges(), |(a, b)| format!("n{a}@mail.org,n{b}@mail.org"))),
    );
    let tables = "--edges links.csv --features people.csv";
    sandbox.ok(&format!("fit {tables} --id-column email --label-column team --depth 2 -o m.model"));
    sandbox.ok(&format!("predict m.model {tables} -o all.csv"));
    // A part of the people, columns in another order, a new colour, and one column more.
    let row = |n: usize| {
        let colour = if n == 3 { "pink" } else { ["red", "green", "blue"][ring(n) + n % 2] };
        let age = if n % 7 == 2 { String::new() } else { (30 + 20 * ring(n) + n % 5).to_string() };
        format!("{colour},n{n}@mail.org,7,{age}")
    };
    sandbox.write("others.csv", &format!("colour,email,more,age\n{}", lines(0..NODES, row)));
    let others =
        sandbox.run("predict m.model --edges links.csv --features others.csv -o others-out.csv");
    assert_eq!(others.status, Some(0), "{}", others.stderr);
    assert!(others.stderr.contains("1 values of \"colour\""), "{}", others.stderr);
    let rows = |name: &str| sandbox.read(name).lines().map(str::to_owned).collect::<Vec<_>>();
    let (all, other) = (rows("all.csv"), rows("others-out.csv"));
    let far = |line: &String| {
        !line.starts_with("n2@") && !line.starts_with("n3@") && !line.starts_with("n4@")
    };
    // Only the node with the new colour, and those around it, see anything of it.
    let reached = ["n1@", "n2@", "n3@", "n4@", "n5@"];
    let untouched = |line: &&String| !reached.iter().any(|id| line.starts_with(id));
    assert!(all.iter().any(far));
    assert_eq!(
        all.iter().filter(untouched).collect::<Vec<_>>(),
        other.iter().filter(untouched).collect::<Vec<_>>()
    );
}

#[test]
fn a_feature_that_gives_the_label_is_warned_about() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "leaky/edges.csv",
        &format!("source,target\n{}", lines(edges(), |(a, b)| format!("{a},{b}"))),
    );
    let row = |n: usize| format!("{n},{},{}", n % 4, ["l", "r"][ring(n)]);
    sandbox.write("leaky/features.csv", &format!("id,x,side\n{}", lines(0..NODES, row)));
    let labels = lines((0..NODES).filter(|&n| is_labelled(n)), |n| format!("{n},{}", label(n)));
    sandbox.write("leaky/labels.csv", &format!("id,label\n{labels}"));
    let warned = |command: &str| {
        sandbox.run(command).stderr.contains("the feature \"side\" alone gives every label")
    };
    assert!(warned("fit leaky --depth 2 -o m.model"));
    assert!(!warned("fit leaky --drop-columns side --depth 2 -o n.model"));
}
