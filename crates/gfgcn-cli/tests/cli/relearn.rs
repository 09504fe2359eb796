//! Models that learn more and forget: what the commands write is what training anew writes.

use crate::sandbox::Sandbox;

const FIT: &str = "fit data --model gfsgc --depth 2 --keep-training";

/// Two rings of names, joined by an edge; every other node has a label.
fn write_data(sandbox: &Sandbox, folder: &str, skip: &[usize], unlabelled: &[usize], cut: bool) {
    let there = |k: usize| !skip.contains(&k);
    let mut edges = String::from("source,target\n");
    for ring in 0..2 {
        for k in 0..20 {
            let (a, b) = (20 * ring + k, 20 * ring + (k + 1) % 20);
            if there(a) && there(b) && !(cut && a == 5) {
                edges += &format!("n{a:02},n{b:02}\n");
            }
        }
    }
    edges += "n00,n20\n";
    sandbox.write(&format!("{folder}/edges.csv"), &edges);
    let mut features = String::from("id,feature,value\n");
    let mut labels = String::from("id,label\n");
    for k in (0..40).filter(|&k| there(k)) {
        // A word of its own, and one of three others.
        features += &format!("n{k:02},own{k:02},1\nn{k:02},word{},0.5\n", k % 3 + k / 20);
        if k % 2 == 0 && !unlabelled.contains(&k) {
            labels += &format!("n{k:02},{}\n", if k < 20 { "left" } else { "right" });
        }
    }
    sandbox.write(&format!("{folder}/features.csv"), &features);
    sandbox.write(&format!("{folder}/labels.csv"), &labels);
}

fn bytes(sandbox: &Sandbox, file: &str) -> Vec<u8> {
    std::fs::read(sandbox.path(file)).unwrap()
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn forgotten_nodes_leave_the_file_that_training_without_them_writes() {
    let sandbox = Sandbox::new();
    write_data(&sandbox, "data", &[], &[], false);
    sandbox.ok(&format!("{FIT} -o m.model"));
    sandbox.write("ids.txt", "n04\nn31\n");
    let text = sandbox.ok("forget m.model data --nodes ids.txt -o rest.model");
    assert!(text.contains("1 label removed, 2 nodes removed, 4 nodes with other edges"), "{text}");
    assert!(text.contains("the same to the last bit"), "{text}");
    let receipt: serde_json::Value =
        serde_json::from_str(&sandbox.read("rest.model.receipt.json")).unwrap();
    assert_eq!(receipt["removed"]["nodes"], serde_json::json!(["n04", "n31"]));
    assert_eq!((&receipt["before"]["nodes"], &receipt["after"]["nodes"]), (&40.into(), &38.into()));
    let hash = |file: &str| {
        use sha2::Digest;
        gfgcn::hex(&sha2::Sha256::digest(bytes(&sandbox, file)))
    };
    assert_eq!(receipt["before"]["model_sha256"], hash("m.model"));
    assert_eq!(receipt["after"]["model_sha256"], hash("rest.model"));
    assert_eq!(receipt["check"], "identical");
    // The data without these nodes, written by hand and read again.
    write_data(&sandbox, "data", &[4, 31], &[], false);
    sandbox.ok(&format!("{FIT} -o scratch.model"));
    let (rest, scratch) = (bytes(&sandbox, "rest.model"), bytes(&sandbox, "scratch.model"));
    assert!(rest == scratch, "the files differ");
    for trace in ["n04", "n31", "own04", "own31"] {
        assert!(has(&bytes(&sandbox, "m.model"), trace) && !has(&rest, trace), "{trace}");
    }
}

#[test]
fn forgotten_labels_and_edges_are_those_of_training_without_them() {
    let sandbox = Sandbox::new();
    write_data(&sandbox, "data", &[], &[], false);
    sandbox.ok(&format!("{FIT} -o m.model"));
    sandbox.write("ids.csv", "id,why\nn04,asked\nn36,asked\n");
    let text = sandbox.ok("forget m.model data --labels-of ids.csv -o rest.model");
    assert!(text.contains("nothing, only solved again"), "{text}");
    sandbox.write("edges.csv", "source,target\nn06,n05\n");
    sandbox.ok("forget rest.model data --edges edges.csv -o cut.model");
    write_data(&sandbox, "data", &[], &[4, 36], true);
    sandbox.ok("update rest.model data -o updated.model");
    sandbox.ok(&format!("{FIT} -o scratch.model"));
    assert!(bytes(&sandbox, "cut.model") == bytes(&sandbox, "scratch.model"), "the files differ");
    // The edge that is gone is noticed by itself, too.
    assert!(bytes(&sandbox, "cut.model") == bytes(&sandbox, "updated.model"));
}

/// Numbers are ordered as numbers as long as there is no word among them; what only the forgotten named is gone.
#[test]
fn what_is_left_is_what_a_reading_of_the_rest_finds() {
    let sandbox = Sandbox::new();
    // A ring of 18 papers, cited both ways; x cites one of them, is of a class and a type of its own, and so is its edge.
    let write = |everything: bool| {
        let mut edges = String::from("source,target,type\n");
        let mut labels = String::from("id,label\n");
        for k in 0..18 {
            let (a, b) = (k + 3, (k + 1) % 18 + 3);
            let kind = if k % 3 == 0 { "10" } else { "9" };
            edges += &format!("{a},{b},{kind}\n{b},{a},{kind}\n");
            if k % 2 == 0 {
                labels += &format!("{a},{}\n", if k < 9 { "10" } else { "9" });
            }
        }
        if everything {
            edges += "x,3,word\nx,lonely,9\n";
            labels += "x,word\n";
        }
        sandbox.write("data/edges.csv", &edges);
        sandbox.write("data/labels.csv", &labels);
    };
    let designs = [
        Some("sgc:depth=2@row:out of structure + identity of degrees"),
        Some("sgc:depth=1@row of structure"),
        None,
    ];
    for design in designs {
        let fit = |output: &str| {
            let mut command =
                sandbox.gfgcn(&format!("fit data --directed --keep-training --force -o {output}"));
            design.iter().for_each(|design| {
                command.arg("--design").arg(design);
            });
            let run = command.output().unwrap();
            assert!(run.status.success(), "{run:?}");
        };
        write(true);
        fit("m.model");
        sandbox.write("ids.txt", "x\n");
        sandbox.ok("forget m.model data --directed --nodes ids.txt -o rest.model --force");
        write(false);
        fit("scratch.model");
        let (rest, scratch) = (bytes(&sandbox, "rest.model"), bytes(&sandbox, "scratch.model"));
        assert!(rest == scratch, "{design:?}: the files differ");
        for trace in ["lonely", "word"] {
            assert!(has(&bytes(&sandbox, "m.model"), trace) && !has(&rest, trace), "{trace}");
        }
        // What is read now is what the model knows: more can be forgotten.
        sandbox.write("ids.txt", "20\n");
        sandbox.ok("forget rest.model data --directed --nodes ids.txt -o less.model --force");
    }
}

#[test]
fn what_is_learnt_later_is_as_if_learnt_at_once() {
    let sandbox = Sandbox::new();
    // The graph without two nodes, and without two labels.
    write_data(&sandbox, "data", &[7, 22], &[10, 12], false);
    sandbox.ok(&format!("{FIT} -o m.model"));
    write_data(&sandbox, "data", &[], &[], false);
    let text = sandbox.ok("update m.model data --labels data/labels.csv -o m.model --force");
    assert!(text.contains("3 labels added, 2 nodes added, 4 nodes with other"), "{text}");
    sandbox.ok(&format!("{FIT} -o scratch.model"));
    assert!(bytes(&sandbox, "m.model") == bytes(&sandbox, "scratch.model"), "the files differ");
    // A label of a class that was not there, and one that was wrong.
    sandbox.write("new.csv", "id,label\nn01,middle\nn02,right\n");
    let report = sandbox.json("update m.model data --labels new.csv -o newer.model");
    assert_eq!(report["classes"], serde_json::json!(["left", "middle", "right"]));
    assert_eq!(
        (&report["changes"]["labels_added"], &report["changes"]["labels_changed"]),
        (&1.into(), &1.into())
    );
    // What the data say and nobody asked for is not learnt, which is said.
    write_data(&sandbox, "data", &[7, 22], &[], false);
    sandbox.ok(&format!("{FIT} --force -o m.model"));
    write_data(&sandbox, "data", &[], &[], false);
    let run = sandbox.run("update m.model data -o grown.model");
    assert!(run.stderr.contains("1 labels of the dataset are not learnt"), "{run:?}");
}

#[test]
fn what_cannot_be_changed_is_refused_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    write_data(&sandbox, "data", &[], &[], false);
    sandbox.ok(&format!("{FIT} -o m.model"));
    sandbox.ok("fit data --depth 2 -o plain.model");
    write_data(&sandbox, "other", &[3], &[], false);
    let all: String = (0..40).filter(|k| k % 2 == 0).map(|k| format!("n{k:02}\n")).collect();
    sandbox.write("all.txt", &all);
    sandbox.write("unknown.txt", "n04\nn99\n");
    sandbox.write("unlabelled.txt", "n05\n");
    sandbox.write("empty.csv", "id\n");
    sandbox.write("no-edge.csv", "source,target\nn00,n10\n");
    sandbox.write("values.csv", "id,height\nn01,2.5\n");
    sandbox.write("bad.csv", "id,label\nn01\n");
    let before = bytes(&sandbox, "m.model");
    for (command, status, expected) in [
        ("forget plain.model data --labels-of unlabelled.txt -o x", 3, "--keep-training"),
        ("update plain.model data -o x", 3, "--keep-training"),
        ("forget m.model data -o x", 2, "--labels-of"),
        ("forget m.model data --labels-of all.txt --nodes all.txt -o x", 2, "cannot be used with"),
        ("forget m.model data --labels-of all.txt -o x", 3, "no label would be left"),
        ("forget m.model data --labels-of unknown.txt -o x", 3, "unknown.txt: line 2"),
        ("forget m.model data --labels-of unlabelled.txt -o x", 3, "was not trained on a label"),
        ("forget m.model data --labels-of empty.csv -o x", 3, "no node in it"),
        ("forget m.model data --edges no-edge.csv -o x", 3, "no edge from"),
        ("forget m.model other --labels-of unlabelled.txt -o x", 3, "not those that the model"),
        ("forget m.model data --nodes unlabelled.txt -o m.model", 3, "use --force"),
        (
            "forget m.model data --nodes unlabelled.txt -o x --receipt unlabelled.txt",
            3,
            "input too",
        ),
        ("update m.model data --values values.csv -o x", 3, "values cannot take the place"),
        ("update m.model data --labels bad.csv -o x", 3, "bad.csv: line 2"),
        ("update m.model data --labels missing.csv -o x", 3, "missing.csv"),
        ("update m.model data --labels bad.csv --values values.csv -o x", 2, "cannot be used with"),
    ] {
        let run = sandbox.run(command);
        assert_eq!(run.status, Some(status), "{command}: {run:?}");
        assert!(run.stderr.contains(expected), "{command}: {run:?}");
        assert!(!sandbox.path("x").exists() && !sandbox.path("x.receipt.json").exists());
        assert!(bytes(&sandbox, "m.model") == before, "{command}");
    }
}

#[test]
fn a_few_nodes_are_predicted_as_in_company() {
    let sandbox = Sandbox::new();
    write_data(&sandbox, "data", &[], &[], false);
    sandbox.ok("fit data --model gfsgc --depth 2 -o m.model");
    sandbox.ok("predict m.model data -o all.csv");
    sandbox.write("ids.txt", "n33\nn02\nn33\n");
    let text = sandbox.ok("predict m.model data --nodes ids.txt -o few.csv");
    assert!(text.contains("2 nodes") && text.contains("1 labelled node"), "{text}");
    let rows = |file: &str| -> Vec<Vec<String>> {
        let table = sandbox.read(file);
        table.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let (all, few) = (rows("all.csv"), rows("few.csv"));
    assert_eq!(few.iter().map(|row| &row[0]).collect::<Vec<_>>(), ["id", "n02", "n33"]);
    for row in &few[1..] {
        let same = all.iter().find(|other| other[0] == row[0]).unwrap();
        assert_eq!(row[1], same[1]);
        for (a, b) in row[2..].iter().zip(&same[2..]) {
            let (a, b): (f64, f64) = (a.parse().unwrap(), b.parse().unwrap());
            assert!((a - b).abs() < 1e-9, "{row:?} {same:?}");
        }
    }
    sandbox.write("ids.txt", "n99\n");
    let run = sandbox.run("predict m.model data --nodes ids.txt -o x.csv");
    assert!(run.status == Some(3) && run.stderr.contains("there is no node \"n99\""), "{run:?}");
}

#[test]
fn sets_can_listen_to_neighbours() {
    let sandbox = Sandbox::new();
    write_data(&sandbox, "data", &[], &[], false);
    sandbox.ok(&format!("{FIT} -o m.model"));
    let text = sandbox.ok("predict m.model data --sets 0.7 --smooth 0.5 -o sets.csv");
    assert!(text.contains("coverage 0.7"), "{text}");
    let sets = sandbox.read("sets.csv");
    assert!(sets.lines().next().unwrap().ends_with("set"), "{sets}");
    sandbox.ok("fit data --depth 2 -o plain.model");
    for (command, status, expected) in [
        ("predict plain.model data --sets 0.7 --smooth 0.5 -o x.csv", 3, "--keep-training"),
        ("predict m.model data --sets 0.7 --smooth 1.5 -o x.csv", 2, "from 0 to 1"),
        ("predict m.model data --smooth 0.5 -o x.csv", 2, "--sets"),
    ] {
        let run = sandbox.run(command);
        assert_eq!(run.status, Some(status), "{command}: {run:?}");
        assert!(run.stderr.contains(expected), "{command}: {run:?}");
    }
}
