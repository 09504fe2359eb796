//! Wrong usage and bad input: one table, the status and the message for each.

use crate::running::Running;
use crate::sandbox::{CLASSES, Sandbox};
use std::process::Command;

const USAGE: i32 = 2;
const INPUT: i32 = 3;

/// Arguments (separated by spaces), the status, and parts of the message.
type Case = (&'static str, i32, &'static [&'static str]);

const NUMBERS: &[Case] = &[
    ("fit folder -o x --depth -1", USAGE, &["'-1' for '--depth <K>'", "1 to 10000"]),
    ("fit folder -o x --depth 0", USAGE, &["depth is 0", "1 to 10000"]),
    ("fit folder -o x --depth 1000000000", USAGE, &["1000000000", "1 to 10000"]),
    ("fit folder -o x --depth 1.5", USAGE, &["'1.5'", "not a whole number"]),
    ("fit folder -o x --depth=", USAGE, &["--depth <K>"]),
    ("evaluate folder --depths 2,-1", USAGE, &["'-1' for '--depths <DEPTHS>'"]),
    ("evaluate folder --depths 2,0", USAGE, &["depth is 0"]),
    ("fit folder -o x --lambda NaN", USAGE, &["lambda is NaN", "positive"]),
    ("fit folder -o x --lambda -1", USAGE, &["lambda is -1", "positive"]),
    ("fit folder -o x --lambda 0", USAGE, &["lambda is 0", "positive"]),
    ("fit folder -o x --lambda inf", USAGE, &["lambda is inf", "finite"]),
    ("fit folder -o x --lambda much", USAGE, &["'much' for '--lambda <λ>'", "not a number"]),
    ("fit folder -o x --lambda 1 --select loo", USAGE, &["cannot be used with"]),
    ("fit folder -o x --threads 0", USAGE, &["'0' for '--threads <N>'", "1..=1024"]),
    ("fit folder -o x --threads 1000000", USAGE, &["1000000", "1..=1024"]),
    ("fit folder -o x --threads -2", USAGE, &["'-2' for '--threads <N>'"]),
    ("fit folder -o x --tolerance 0", USAGE, &["tolerance is 0", "1e-12 to 1e-2"]),
    ("evaluate folder --tolerance 1", USAGE, &["tolerance is 1", "1e-12 to 1e-2"]),
    ("tune folder --tolerance nan", USAGE, &["tolerance is NaN"]),
    ("tune folder --force", USAGE, &["--save"]),
    ("tune folder --save folder", INPUT, &["is an input too"]),
    ("tune folder --save missing/x", INPUT, &["there is no folder missing"]),
    ("tune folder --save folder/edges.csv", INPUT, &["is an input too"]),
    ("fit folder -o x --tau 1.5", USAGE, &["tau is 1.5", "0 to 1"]),
    ("fit folder -o x --tau -0.1", USAGE, &["tau is -0.1", "0 to 1"]),
    ("fit folder -o x --tau nan", USAGE, &["tau is NaN", "0 to 1"]),
    ("fit folder -o x --model gfsgc --tau 7", USAGE, &["tau is 7"]),
    ("fit folder -o x --model gfdgc --time 0", USAGE, &["time is 0", "positive"]),
    ("fit folder -o x --model gfdgc --time -1", USAGE, &["time is -1", "positive"]),
    ("fit folder -o x --model gfdgc --time inf", USAGE, &["time is inf"]),
    ("fit folder -o x --model gfdgc --time soon", USAGE, &["'soon' for '--time <T>'"]),
    ("evaluate folder --splits 0", USAGE, &["'0' for '--splits <N>'"]),
    ("evaluate folder --splits -3", USAGE, &["'-3' for '--splits <N>'"]),
    (
        "evaluate folder --models gcn --depths 1025",
        USAGE,
        &["depth of a network is 1025", "1 to 1024"],
    ),
    ("evaluate folder --models gcn --epochs 0", USAGE, &["epochs is 0", "1 to 1000000"]),
    ("evaluate folder --models gcn --epochs -1", USAGE, &["'-1' for '--epochs <N>'"]),
    ("evaluate folder --models gcn --learning-rate 0", USAGE, &["learning rate is 0", "positive"]),
    ("evaluate folder --models gcn --learning-rate inf", USAGE, &["learning rate is inf"]),
    ("evaluate folder --models gcn --weight-decay -1", USAGE, &["weight decay is -1"]),
    ("evaluate folder --models gcn --weight-decay NaN", USAGE, &["weight decay is NaN"]),
    ("evaluate folder --models gcn --hidden 0", USAGE, &["hidden is 0", "1 to 4096"]),
    ("evaluate folder --models gat --hidden 99999999", USAGE, &["hidden is 99999999"]),
    ("evaluate folder --models gcn --dropout 1", USAGE, &["dropout is 1", "0 to below 1"]),
    ("evaluate folder --models gcn --patience 0", USAGE, &["patience is 0"]),
    ("evaluate folder --models gcn --runs 0", USAGE, &["'0' for '--runs <N>'", "1 to 10000"]),
    ("evaluate folder --seed -1", USAGE, &["'-1' for '--seed <SEED>'"]),
];

const WORDS: &[Case] = &[
    ("", USAGE, &["Start here", "gfgcn evaluate cora"]),
    ("frobnicate", USAGE, &["unrecognized subcommand 'frobnicate'"]),
    ("fit", USAGE, &["--output <FILE>", "<DATASET>"]),
    ("fit folder", USAGE, &["--output <FILE>"]),
    ("fit folder -o x --kernel sigmoid", USAGE, &["sigmoid", "linear, polynomial, rbf"]),
    ("fit folder -o x --kernel rbf:gamma=-1", USAGE, &["gamma is -1"]),
    ("fit folder -o x --model gcn", USAGE, &["'gcn'", "gfsgc, gfssgc, gfdgc"]),
    ("evaluate folder --models gfsgc,gnc", USAGE, &["'gnc'", "gfsgc, gfssgc, gfdgc, gcn, gat"]),
    ("fit folder -o x --model sgc", USAGE, &["'sgc'", "gfsgc, gfssgc, gfdgc"]),
    ("evaluate folder --epochs 9", USAGE, &["--epochs", "--models names one that is trained"]),
    ("evaluate folder --no-cache", USAGE, &["--no-cache", "--models names one that is trained"]),
    ("evaluate folder --models gcn --kernel rbf", USAGE, &["--kernel", "one in closed form"]),
    ("evaluate folder --models gcn --runs 3", USAGE, &["--runs", "--splits"]),
    ("evaluate folder --models gcn --explain", USAGE, &["--explain", "one in closed form"]),
    ("fit folder -o x --select best", USAGE, &["'best'", "loo, validation"]),
    ("fit folder -o x --normalization left", USAGE, &["left", "sym"]),
    ("paper --only table7", USAGE, &["table7", "overall, depth, time, gradients"]),
    ("paper --graphs cora,texas", USAGE, &["texas", "cora, cora-ml, citeseer, pubmed"]),
    ("cache merge", USAGE, &["<FOLDER>"]),
    ("paper --quick --full", USAGE, &["--quick", "cannot be used with"]),
    ("evaluate cora --public-split --seed 3", USAGE, &["--seed", "--public-split"]),
    ("evaluate folder --models sgc --hidden 9", USAGE, &["--hidden", "names a network"]),
    ("evaluate folder --models sgc --dropout 0.1", USAGE, &["--dropout", "names a network"]),
    ("evaluate folder --models gfsgc,gcn --tau 0.1", USAGE, &["--tau", "gfssgc or ssgc"]),
    ("evaluate folder --models features --tau 0.1", USAGE, &["--tau", "gfssgc or ssgc"]),
    ("evaluate folder --models features --epochs 9", USAGE, &["--epochs", "one that is trained"]),
    ("evaluate folder --train-on test", USAGE, &["'test'", "train, train+validation"]),
    (
        "evaluate folder --train-on train+validation --select validation",
        USAGE,
        &["--train-on", "--select validation chooses λ by it"],
    ),
    (
        "evaluate folder --train-on train+validation --models gfsgc,gcn",
        USAGE,
        &["--train-on", "models that are trained"],
    ),
    (
        "fit folder -o x --train-on train+validation",
        USAGE,
        &["--train-on", "unless a split is given"],
    ),
    ("tune folder --train-on train+validation", USAGE, &["--train-on", "unless a split is given"]),
    (
        "fit cora --public-split -o x --train-on train+validation --select validation",
        USAGE,
        &["--train-on", "--select validation chooses λ by it"],
    ),
    ("fit folder -o x --model features", USAGE, &["'features'", "gfsgc, gfssgc, gfdgc"]),
    ("evaluate folder --models sgc --time 3", USAGE, &["--time", "gfdgc or dgc"]),
    ("evaluate cora --split s.csv --ratio 1:1:8", USAGE, &["--ratio", "--split"]),
    ("evaluate folder --ratio 1:1", USAGE, &["1:1", "such as 1:1:8"]),
    ("evaluate folder --ratio a:b:c", USAGE, &["a:b:c", "such as 1:1:8"]),
    ("evaluate folder --ratio 0:1:1", USAGE, &["positive training share"]),
    ("evaluate folder --ratio 1:-1:1", USAGE, &["no negative one"]),
    ("evaluate folder --ratio nan:1:1", USAGE, &["NaN:1:1"]),
    ("fit --features folder/features.csv -o x", USAGE, &["--edges <[NAME=]FILE>"]),
    ("fit --edges e.csv --features f.csv --node-list n.csv -o x", USAGE, &["cannot be used with"]),
    ("fit folder --edges folder/edges.csv -o x", USAGE, &["cannot be used with"]),
    ("fit folder --public-split --split s.csv -o x", USAGE, &["cannot be used with"]),
    ("data convert folder x --format xls", USAGE, &["csv, tsv, parquet"]),
    ("data get amazon-photo --mirror ftp://m", USAGE, &["ftp://m", "http:// or https://"]),
];

const DATASETS: &[Case] = &[
    ("evaluate corra", INPUT, &["\"corra\"", "cora, citeseer, pubmed", "amazon-photo"]),
    ("evaluate amazon-photo", INPUT, &["amazon-photo", "gfgcn data get amazon-photo"]),
    ("evaluate no/where", INPUT, &["no/where: cannot read: there is no such file or folder"]),
    ("evaluate ./cora", INPUT, &["./cora: cannot read: there is no such file or folder"]),
    ("evaluate empty", INPUT, &["empty: has neither tables", "edges.csv"]),
    ("evaluate folder/edges.csv", INPUT, &["edges: no node has a label"]),
    ("evaluate m.model", INPUT, &["m.model: is not a dataset", "an .npz", "a folder"]),
    ("data info pipe.npz", INPUT, &["pipe.npz: is not a regular file"]),
    ("data info piped", INPUT, &["piped/edges.csv: is not a regular file"]),
    ("data info damaged.npz", INPUT, &["damaged.npz: "]),
    ("data info stranger", INPUT, &["edges.csv: line 9", "\"wasp\"", "features.csv"]),
    ("data info ragged", INPUT, &["features.csv: line 3"]),
    ("data info unreal", INPUT, &["features.csv: line 3", "inf"]),
    ("fit values -o x", INPUT, &["values/labels.csv", "measured values: 24 different", "24 nodes"]),
    ("fit ids -o x", INPUT, &["ids/labels.csv", "look like ids: 60 different", "60 nodes"]),
    ("data info sparse", INPUT, &["sparse/features.mtx: line 2", "67108864 rows", "bytes"]),
    ("data get nope", INPUT, &["\"nope\"", "cora-ml, amazon-computers"]),
    ("data get cora", INPUT, &["cora is built in"]),
    ("fit unlabelled -o x", INPUT, &["unlabelled: no node has a label", "label some"]),
    ("evaluate unlabelled", INPUT, &["unlabelled: no node has a label", "label some"]),
    ("fit misnamed -o x", INPUT, &["not read: Label.csv", "labels.csv", "--label-column"]),
    (
        "fit no-edges -o x",
        INPUT,
        &["no-edges: has neither tables", "there are links.csv", "--edges"],
    ),
    ("fit words -o x", INPUT, &["no node has a label", "--label-column, perhaps club, side"]),
    ("fit folder --label-column id -o x", INPUT, &["labels.csv", "in the same column"]),
    ("evaluate folder --ratio 1:1:0 --select loo", INPUT, &["no labelled test node"]),
    (
        "evaluate folder --ratio 1:1:8",
        INPUT,
        &["class \"ants\" (2 nodes)", "larger training share"],
    ),
    ("fit folder --select validation -o x", INPUT, &["validation part", "leave-one-out"]),
    ("fit folder --public-split -o x", INPUT, &["folder comes without a split", "--split"]),
    ("fit folder --split folder/labels.csv -o x", INPUT, &["labels.csv: line 2", "\"ants\""]),
    ("fit folder --split no.csv -o x", INPUT, &["no.csv: cannot read: No such file"]),
    ("fit folder --split untrained.csv -o x", INPUT, &["untrained.csv", "training part", "empty"]),
];

const MODELS: &[Case] = &[
    ("inspect no.model", INPUT, &["no.model: cannot read: No such file"]),
    ("inspect folder", INPUT, &["folder: is a folder, but a file is needed"]),
    ("inspect pipe", INPUT, &["pipe: is not a regular file"]),
    ("inspect damaged.model", INPUT, &["damaged.model: ", "damaged"]),
    ("predict cora.npz folder -o x.csv", INPUT, &["cora.npz: ", "not a gfgcn model"]),
    ("predict pipe folder -o x.csv", INPUT, &["pipe: is not a regular file"]),
    ("predict m.model cora -o x.csv", INPUT, &["cora has 1433 features per node", "trained on 3"]),
    ("predict m.model complete --only-unlabelled -o x.csv", INPUT, &["every node has a label"]),
    (
        "predict folder m.model -o x.csv",
        INPUT,
        &["folder: is a folder, but a file is needed", "a dataset comes after it"],
    ),
    (
        "predict m.model folder --nodes ants-0 -o x.csv",
        INPUT,
        &["ants-0: there is no such file", "one id per line"],
    ),
    (
        "predict m.model folder --sets 0.9 --smooth 0.2 -o x.csv",
        INPUT,
        &["does not keep its training, which this needs", "--keep-training"],
    ),
];

const OUTPUTS: &[Case] = &[
    ("fit folder -o m.model", INPUT, &["m.model: is there already; use --force"]),
    ("fit folder -o folder/labels.csv --force", INPUT, &["labels.csv: is an input too"]),
    ("predict m.model folder -o folder/labels.csv --force", INPUT, &["is an input too"]),
    ("predict m.csv folder -o m.csv --force", INPUT, &["m.csv: is an input too"]),
    ("predict m.csv folder -o ./folder/../m.csv --force", INPUT, &["is an input too"]),
    (
        "predict m.model --edges folder/edges.csv --features folder/features.csv \
         -o folder/features.csv --force",
        INPUT,
        &["features.csv: is an input too"],
    ),
    ("fit folder -o no/x.model", INPUT, &["no/x.model: there is no folder no; make it first"]),
    ("predict m.model folder -o no/x.csv", INPUT, &["there is no folder no"]),
    ("predict m.model folder -o x.txt", INPUT, &["x.txt: ", ".csv, .tsv", ".parquet or .npz"]),
    ("predict m.model folder -o x", INPUT, &["x: has an ending that says no format"]),
    ("fit folder -o empty", INPUT, &["empty: is a folder; name a file in it"]),
    ("fit folder -o pipe --force", INPUT, &["pipe: is not a regular file"]),
    ("fit folder -o dangling", INPUT, &["dangling: is there already"]),
    ("data convert cora cora.npz", INPUT, &["cora.npz: is there already; use --force"]),
    ("data convert cora.npz cora.npz --force", INPUT, &["cora.npz: is an input too"]),
    ("data convert folder folder --force", INPUT, &["folder: is the input too"]),
    ("data convert cora folder", INPUT, &["folder: holds tables already; use --force"]),
    ("data convert cora folder --force --format tsv", INPUT, &["belongs to another dataset"]),
    ("data convert cora x.csv", INPUT, &["x.csv: is neither an .npz file nor a folder"]),
    ("data convert cora pipe", INPUT, &["pipe: is there and is not a folder"]),
    ("data convert cora no/x.npz", INPUT, &["there is no folder no"]),
];

const SYNTHETIC: &[Case] = &[
    ("data synth -o x.npz --nodes 9", USAGE, &["--edges <M>", "--classes <C>", "--features <D>"]),
    (
        "data synth -o x.npz --nodes 0 --edges 0 --classes 2 --features 1",
        USAGE,
        &["nodes is 0", "2 to 2147483647"],
    ),
    (
        "data synth -o x.npz --nodes -5 --edges 0 --classes 2 --features 1",
        USAGE,
        &["'-5' for '--nodes <N>'", "not a whole number"],
    ),
    (
        "data synth -o x.npz --nodes 99999999999999999999 --edges 0 --classes 2 --features 1",
        USAGE,
        &["'99999999999999999999' for '--nodes <N>'", "too large"],
    ),
    (
        "data synth -o x.npz --nodes 1e6 --edges 0 --classes 2 --features 1",
        USAGE,
        &["'1e6' for '--nodes <N>'", "not a whole number"],
    ),
    (
        "data synth -o x.npz --nodes 100 --edges 5000 --classes 2 --features 1",
        USAGE,
        &["edges is 5000", "0 to 1237", "a quarter of all pairs"],
    ),
    (
        "data synth -o x.npz --nodes 100 --edges 10 --classes 101 --features 1",
        USAGE,
        &["classes is 101", "2 to 100"],
    ),
    (
        "data synth -o x.npz --nodes 100 --edges 10 --classes 2 --features 0",
        USAGE,
        &["features is 0", "1 to 1048576"],
    ),
    (
        "data synth -o x.npz --nodes 100 --edges 10 --classes 2 --features 1 --homophily nan",
        USAGE,
        &["homophily is NaN", "0 to 1"],
    ),
    (
        "data synth -o x.npz --nodes 100 --edges 10 --classes 100 --features 1 --homophily 1",
        USAGE,
        &["homophily is 1", "only 0 pairs"],
    ),
    (
        "data synth -o x.npz --nodes 100 --edges 10 --classes 2 --features 1 --seed -1",
        USAGE,
        &["'-1' for '--seed <SEED>'"],
    ),
    (
        "data synth -o cora.npz --nodes 100 --edges 10 --classes 2 --features 1",
        INPUT,
        &["cora.npz: is there already; use --force"],
    ),
    (
        "data synth -o x.csv --nodes 100 --edges 10 --classes 2 --features 1",
        INPUT,
        &["x.csv: ", "end in .npz"],
    ),
    (
        "data synth -o no/x.npz --nodes 100 --edges 10 --classes 2 --features 1",
        INPUT,
        &["there is no folder no"],
    ),
];

#[test]
fn numbers_out_of_range_are_refused() {
    check(NUMBERS);
}

#[test]
fn synthetic_datasets_that_cannot_be_made_are_refused() {
    check(SYNTHETIC);
}

#[test]
fn unknown_words_and_combinations_are_refused() {
    check(WORDS);
}

#[test]
fn datasets_that_cannot_be_used_are_refused() {
    check(DATASETS);
}

#[test]
fn models_that_cannot_be_used_are_refused() {
    check(MODELS);
}

#[test]
fn outputs_that_must_not_be_written_are_refused() {
    check(OUTPUTS);
}

/// Runs all cases in one folder, in which nothing may change.
fn check(cases: &[Case]) {
    let sandbox = furnished();
    let before = sandbox.snapshot();
    let mut wrong = Vec::new();
    for &(arguments, status, parts) in cases {
        let (found, message) = run(&sandbox, arguments);
        let said = message.matches("error: ").count();
        // Without arguments, help takes the place of a message.
        if found != Some(status) || parts.iter().any(|part| !message.contains(part)) {
            wrong.push(format!(
                "gfgcn {arguments}: {found:?}, expected {status} {parts:?}: {message}"
            ));
        } else if said != 1 && !arguments.is_empty() || repeats_itself(&message) {
            wrong.push(format!("gfgcn {arguments}: not one message: {message}"));
        }
        assert!(sandbox.snapshot() == before, "gfgcn {arguments} changed the folder");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a message ends with what it has just said.
fn repeats_itself(message: &str) -> bool {
    let line = message.lines().next().unwrap_or_default();
    line.rsplit_once(": ").is_some_and(|(first, last)| last.len() > 8 && first.ends_with(last))
}

/// The status and the message.
fn run(sandbox: &Sandbox, arguments: &str) -> (Option<i32>, String) {
    let run = Running::start(sandbox, arguments).wait();
    assert!(run.stdout.is_empty(), "gfgcn {arguments}: a report in spite of the error");
    (run.status, run.stderr)
}

/// A folder with everything that the cases name.
fn furnished() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["folder", "unlabelled", "complete", "stranger", "ragged", "unreal", "piped"] {
        sandbox.communities(name, 3);
    }
    let ids = ["ants-0", "ants-1", "ants-2", "bees-0", "bees-1", "bees-2"];
    let all = ids.map(|id| format!("{id},{}\n", &id[..4])).concat();
    sandbox.write("complete/labels.csv", &format!("id,label\n{all}"));
    sandbox.write("unlabelled/labels.csv", "id,label\n");
    sandbox.write("untrained.csv", "id,split\nants-0,val\nbees-0,test\n");
    let edges = sandbox.read("folder/edges.csv");
    sandbox.write("stranger/edges.csv", &(edges + "ants-0,wasp\n"));
    let features = sandbox.read("folder/features.csv");
    sandbox.write("ragged/features.csv", &features.replace("ants-1,0.1", "ants-1,0.1,0.1"));
    sandbox.write("unreal/features.csv", &features.replace("ants-1,0.1", "ants-1,inf"));
    sandbox.write("misnamed/edges.csv", &sandbox.read("folder/edges.csv"));
    sandbox.write("misnamed/features.csv", &features);
    sandbox.write("misnamed/Label.csv", &sandbox.read("folder/labels.csv"));
    sandbox.write("no-edges/links.csv", &sandbox.read("folder/edges.csv"));
    sandbox.write("no-edges/features.csv", &features);
    sandbox.write("words/edges.csv", "source,target\na,b\nb,c\n");
    sandbox.write("words/features.csv", "id,club,x,side\na,one,1,l\nb,two,2,r\nc,one,3,l\n");
    sandbox.write("damaged.npz", "PK\u{3}\u{4} and no more");
    for (name, size, unit) in [("values", 12, ".5"), ("ids", 30, "")] {
        sandbox.communities(name, size);
        let ids = CLASSES.iter().flat_map(|class| (0..size).map(move |i| format!("{class}-{i}")));
        let labels: String = ids.enumerate().map(|(k, id)| format!("{id},{k}{unit}\n")).collect();
        sandbox.write(&format!("{name}/labels.csv"), &format!("id,label\n{labels}"));
    }
    let header = "%%MatrixMarket matrix coordinate pattern general\n67108864 67108864 1\n1 1\n";
    sandbox.write("sparse/features.mtx", header);
    sandbox.write("sparse/edges.mtx", header);
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    std::fs::remove_file(sandbox.path("piped/edges.csv")).unwrap();
    for name in ["pipe", "pipe.npz", "piped/edges.csv"] {
        assert!(Command::new("mkfifo").arg(sandbox.path(name)).status().unwrap().success());
    }
    std::os::unix::fs::symlink("nowhere", sandbox.path("dangling")).unwrap();
    sandbox.ok("data convert cora cora.npz");
    sandbox.ok("fit folder -o m.model");
    let mut bytes = std::fs::read(sandbox.path("m.model")).unwrap();
    std::fs::write(sandbox.path("m.csv"), &bytes).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(sandbox.path("damaged.model"), &bytes).unwrap();
    sandbox
}
