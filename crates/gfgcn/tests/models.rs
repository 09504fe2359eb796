//! Model files: what they keep, and that damage, forgery and mismatched data are refused.

mod sealed;
mod synthetic;

use gfgcn::context::{Context, Scratch};
use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::filter::Filter;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::model::Predictions;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::tune::{Learner, Search};
use gfgcn::{Channel, Classifier, Input, Model, Ridge, training};
use sealed::{Parts, Tensor};
use std::fs;
use std::path::{Path, PathBuf};
use synthetic::Recipe;

fn dataset(classes: usize) -> Dataset {
    Recipe {
        nodes: 12,
        features: 3,
        classes,
        weighted: true,
        sparse: false,
        directed: false,
        seed: 3,
    }
    .make()
}

fn fit(dataset: &Dataset, kernel: &str, intercept: bool) -> Model {
    let split = Split::new(dataset.nodes(), (0..6).collect(), vec![], vec![]).unwrap();
    let ridge = Ridge { kernel: kernel.parse().unwrap(), intercept, ..Ridge::default() };
    let classifier = Classifier::new(Filter::ssgc(3, 0.05).unwrap()).with_ridge(ridge);
    classifier.fit(dataset, &split, &Context::default()).unwrap()
}

fn predict(model: &Model, dataset: &Dataset) -> gfgcn::Result<Predictions> {
    model.predict(dataset, &Context::default())
}

fn linear() -> Vec<u8> {
    fit(&dataset(3), "linear", false).to_bytes()
}

fn rbf() -> Vec<u8> {
    fit(&dataset(2), "rbf", true).to_bytes()
}

/// One that keeps its training, and has forgotten a label.
fn kept() -> Vec<u8> {
    let (dataset, context) = (dataset(3), Context::default());
    let split = Split::new(dataset.nodes(), (0..6).collect(), vec![], vec![]).unwrap();
    let recipe = training::Recipe::from(Classifier::new(Filter::sgc(1).unwrap()));
    let model = recipe.fit(&dataset, &split, &context).unwrap();
    let removal = training::Removal::Labels(vec![2]);
    model.forget(&dataset, &removal, &context).unwrap().model.to_bytes()
}

fn bits(model: &Model, dataset: &Dataset) -> Vec<u64> {
    let predictions = predict(model, dataset).unwrap();
    (0..dataset.nodes()).flat_map(|node| predictions.scores(node)).map(f64::to_bits).collect()
}

fn error(file: &[u8]) -> String {
    Model::from_bytes(file).expect_err("must be refused").to_string()
}

/// Two, three and five classes of three features, so that scores are propagated or features filtered; other kernels; several members.
#[test]
fn classes_alone_are_those_with_the_largest_scores() {
    let folder = tempfile::tempdir().unwrap();
    let check = |model: &Model, dataset: &Dataset, name: &str| {
        let whole = predict(model, dataset).unwrap();
        let in_memory = Context::default();
        let on_disk = in_memory.clone().with_scratch(Scratch::at(&folder.path().join(name), name));
        for context in [in_memory, on_disk] {
            let classes = model.predict_classes(dataset, &context).unwrap();
            assert!(whole.has_scores() && !classes.has_scores());
            assert_eq!(classes.nodes(), dataset.nodes());
            for node in 0..dataset.nodes() {
                let scores = whole.scores(node);
                let largest = scores.iter().copied().fold(f64::MIN, f64::max);
                assert_eq!(scores[classes.class(node) as usize], largest, "{name}, node {node}");
                assert_eq!(classes.name(node), whole.name(node));
            }
        }
    };
    for classes in [1, 2, 3, 5] {
        for kernel in ["linear", "rbf"] {
            let dataset = dataset(classes);
            check(&fit(&dataset, kernel, classes == 3), &dataset, &format!("{kernel}-{classes}"));
        }
    }
    let dataset = dataset(3);
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let stack = Search { learners: Some(learners()), ..Search::default() };
    let model = stack.run(&dataset, &split, &Context::default()).unwrap().model;
    assert!(model.members().len() > 1, "several members");
    check(&model, &dataset, "searched");
}

#[test]
fn a_model_that_was_saved_predicts_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for classes in [1, 2, 3] {
        for kernel in ["linear", "rbf", "laplacian", "polynomial", "arccosine:order=2"] {
            for intercept in [false, true] {
                let name = format!("{kernel}, {classes} classes, intercept {intercept}");
                let dataset = dataset(classes);
                let model = fit(&dataset, kernel, intercept);
                let path = folder.path().join("model.gfgcn");
                model.save(&path, true).unwrap();
                let loaded = Model::load(&path).unwrap();
                assert_eq!(loaded, model, "{name}");
                assert_eq!(bits(&loaded, &dataset), bits(&model, &dataset), "{name}");
                assert_eq!(fs::read(&path).unwrap(), model.to_bytes(), "{name}");
                assert_eq!(fit(&dataset, kernel, intercept).to_bytes(), model.to_bytes(), "{name}");
            }
        }
    }
}

/// λ and accuracies are written in decimal digits.
#[test]
fn every_lambda_survives() {
    let dataset = dataset(2);
    let split = Split::all_labelled(dataset.labels()).unwrap();
    let mut lambda = 1.0e-3f64;
    for _ in 0..300 {
        lambda *= 1.05 + lambda.fract() / 1e3;
        let selection = Selection::fixed(lambda).unwrap();
        let ridge = Ridge { selection, ..Ridge::default() };
        let classifier = Classifier::new(Filter::sgc(1).unwrap()).with_ridge(ridge);
        let model = classifier.fit(&dataset, &split, &Context::default()).unwrap();
        assert_eq!(Model::from_bytes(&model.to_bytes()).unwrap(), model, "λ = {lambda:e}");
    }
}

#[test]
fn the_tests_seal_files_as_the_library_does() {
    for file in [linear(), rbf()] {
        assert_eq!(Parts::of(&file).unwrap().seal(), file);
    }
}

#[test]
fn another_version_is_told_from_damage() {
    for file in [linear(), rbf()] {
        let mut parts = Parts::of(&file).unwrap();
        parts.header = parts.header.replace("\"schema\":7", "\"schema\":8");
        let message = error(&parts.seal());
        assert!(message.contains("version 8") && message.contains("newer"), "{message}");
        // The first version, as it was written.
        parts.header =
            r#"{"schema":1,"filter":{"kind":"sgc","depth":2},"options":{},"checksum":""}"#
                .to_owned();
        let message = error(&parts.seal());
        assert!(message.contains("version 1") && message.contains("train it again"), "{message}");
        assert!(!message.contains("damaged"), "{message}");
        // A later version may look different everywhere else.
        parts.header = r#"{"schema":77,"new":[],"checksum":""}"#.to_owned();
        parts.tensors.clear();
        let message = error(&parts.seal());
        assert!(message.contains("version 77") && message.contains("reads version 7"), "{message}");
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    for file in [linear(), rbf(), kept()] {
        let mut damaged = file.clone();
        for at in 0..file.len() {
            for flip in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] {
                damaged[at] ^= flip;
                assert!(Model::from_bytes(&damaged).is_err(), "byte {at}, flip {flip:#04x}");
                damaged[at] ^= flip;
            }
        }
    }
}

#[test]
fn a_file_that_is_cut_or_longer_is_refused() {
    for file in [linear(), rbf(), kept()] {
        for length in 0..file.len() {
            assert!(Model::from_bytes(&file[..length]).is_err(), "cut at {length}");
        }
        for tail in [&b"\0"[..], b" ", &[0; 64]] {
            let message = error(&[&file[..], tail].concat());
            assert!(message.contains("damaged") && message.contains("train it again"), "{message}");
        }
    }
}

#[test]
fn files_that_are_no_models_are_refused() {
    let empty = |json: &str| [&(json.len() as u64).to_le_bytes()[..], json.as_bytes()].concat();
    for (file, fragment) in [
        (b"id,label\n".to_vec(), "safetensors"),
        (u64::MAX.to_le_bytes().to_vec(), "safetensors"),
        ([&(1u64 << 40).to_le_bytes()[..], b"{}"].concat(), "safetensors"),
        (empty("{}"), "no gfgcn header"),
        (empty(r#"{"__metadata__":{"format":"pt"}}"#), "no gfgcn header"),
        (empty(r#"{"__metadata__":{"gfgcn":"[]"}}"#), "header cannot be read"),
        (empty(r#"{"__metadata__":{"gfgcn":"{\"schema\":-1}"}}"#), "header cannot be read"),
        (empty(r#"{"__metadata__":{"gfgcn":"{\"schema\":7}"}}"#), "header cannot be read"),
    ] {
        let message = error(&file);
        assert!(message.contains(fragment) && message.contains("not a gfgcn model"), "{message}");
    }
    let deep = format!("{{\"__metadata__\":{{\"gfgcn\":\"{}\"}}}}", "[".repeat(100_000));
    assert!(error(&empty(&deep)).contains("header cannot be read"));
}

fn tensor(name: &str, values: &[f64]) -> Tensor {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Tensor { name: name.into(), dtype: "F64".into(), shape: vec![values.len() as u64], bytes }
}

/// What is done to the model, and what the message must say; the checksum is valid.
type Forgery = (&'static str, fn(&mut Parts), &'static str);

const LINEAR: &[Forgery] = &[
    ("NaN", |parts| set(parts, "weights", f64::NAN), "tensor 0.weights has the value NaN"),
    (
        "infinite",
        |parts| set(parts, "weights", f64::INFINITY),
        "tensor 0.weights has the value inf",
    ),
    (
        "intercept",
        |parts| set(parts, "intercept", f64::NAN),
        "tensor 0.intercept has the value NaN",
    ),
    ("missing weights", |parts| remove(parts, "weights"), "tensor 0.weights is missing"),
    ("missing intercept", |parts| remove(parts, "intercept"), "tensor 0.intercept is missing"),
    ("extra", |parts| parts.tensors.push(tensor("x", &[1.0])), "checksum does not match"),
    ("extra of no size", |parts| parts.tensors.push(tensor("x", &[])), "checksum does not match"),
    ("other order", |parts| parts.tensors.reverse(), "checksum does not match"),
    ("wrong type", |parts| parts.tensor("weights").dtype = "I64".into(), "0.weights has type I64"),
    (
        "wrong shape",
        |parts| parts.tensor("weights").shape = vec![9],
        "tensor 0.weights has type F64 and shape [9]",
    ),
    (
        "transposed",
        |parts| parts.tensor("weights").shape = vec![1, 9],
        "tensor 0.weights has type F64 and shape [1, 9]",
    ),
    (
        "no features",
        |parts| {
            parts.tensor("weights").shape[0] = 0;
            parts.tensor("weights").bytes.clear();
        },
        "0 columns do not belong to ssgc:depth=3,tau=0.05, which has 3",
    ),
    (
        "shape that overflows",
        |parts| parts.tensor("weights").shape = vec![u64::MAX, 3],
        "safetensors",
    ),
    ("no λ", |parts| header(parts, "\"lambda\":", "\"lambda\":-"), "λ is -"),
    (
        "no members",
        |parts| {
            let start = parts.header.find("\"members\":[").unwrap() + 11;
            let end = start + parts.header[start..].find(']').unwrap();
            parts.header.replace_range(start..end, "");
        },
        "the model has no members",
    ),
    ("no classes", |parts| header(parts, "[\"0\",\"1\",\"2\"]", "[]"), "nothing to predict"),
    ("fewer classes", |parts| header(parts, "[\"0\",\"1\",\"2\"]", "[\"0\",\"1\"]"), "shape [3]"),
    (
        "names",
        |parts| header(parts, "\"feature_names\":null", "\"feature_names\":[\"a\"]"),
        "1 names for 3 features",
    ),
    ("depth", |parts| header(parts, "depth=3", "depth=1000000"), "header cannot be read"),
    (
        "channels",
        |parts| header(parts, "tau=0.05", "tau=0.05 + sgc:depth=2"),
        "3 columns do not belong to ssgc:depth=3,tau=0.05 + sgc:depth=2, which has 6",
    ),
    ("spaces", |parts| header(parts, "\"lambda\":", "\"lambda\": "), "checksum does not match"),
    (
        "calibration of others",
        |parts| {
            header(
                parts,
                "\"link\":{\"kind\":\"softmax\",",
                "\"link\":{\"kind\":\"identity\",\"x\":0,",
            )
        },
        "does not belong to what is predicted",
    ),
    ("sharpness", |parts| header(parts, "\"sharpness\":", "\"sharpness\":-"), "does not belong"),
    (
        "misfits in no order",
        |parts| misfits(parts)[..8].copy_from_slice(&7f64.to_le_bytes()),
        "tensor misfits.0 is not in order",
    ),
    (
        "negative misfits",
        |parts| misfits(parts)[..8].copy_from_slice(&(-1f64).to_le_bytes()),
        "tensor misfits.0 is not in order",
    ),
    (
        "no misfits",
        |parts| parts.tensors.retain(|tensor| tensor.name != "misfits.0"),
        "tensor misfits.0 is missing",
    ),
    ("kernel", |parts| header(parts, "\"linear\"", "\"rbf:gamma=1\""), "0.coefficients is missing"),
];

const RBF: &[Forgery] = &[
    (
        "NaN",
        |parts| set(parts, "coefficients", f64::NAN),
        "tensor 0.coefficients has the value NaN",
    ),
    (
        "NaN in the support",
        |parts| parts.tensor("support").bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes()),
        "tensor 0.support has a value that is not finite",
    ),
    ("missing support", |parts| remove(parts, "support"), "tensor 0.support is missing"),
    ("fewer rows", |parts| parts.tensor("support").shape = vec![3, 6], "tensor 0.support has type"),
    (
        "no training nodes",
        |parts| {
            for name in ["support", "coefficients"] {
                parts.tensor(name).shape[0] = 0;
                parts.tensor(name).bytes.clear();
            }
        },
        "no training nodes",
    ),
    (
        "no width",
        |parts| {
            let at = parts.header.find(":gamma=").unwrap();
            let end = at + parts.header[at..].find('"').unwrap();
            parts.header.replace_range(at..end, "");
        },
        "no width",
    ),
    ("width", |parts| header(parts, ":gamma=", ":gamma=-"), "header cannot be read"),
];

fn set(parts: &mut Parts, name: &str, value: f64) {
    parts.tensor(name).bytes[..8].copy_from_slice(&value.to_le_bytes());
}

fn misfits(parts: &mut Parts) -> &mut [u8] {
    &mut parts.tensors.iter_mut().find(|tensor| tensor.name == "misfits.0").unwrap().bytes
}

fn remove(parts: &mut Parts, name: &str) {
    parts.tensors.retain(|tensor| tensor.name != format!("0.{name}"));
}

fn header(parts: &mut Parts, from: &str, to: &str) {
    assert!(parts.header.contains(from), "{from} is not in {}", parts.header);
    parts.header = parts.header.replace(from, to);
}

#[test]
fn forgeries_with_a_valid_checksum_are_refused() {
    for (file, forgeries) in [(linear(), LINEAR), (rbf(), RBF)] {
        for (name, forge, fragment) in forgeries {
            let mut parts = Parts::of(&file).unwrap();
            forge(&mut parts);
            let message = error(&parts.seal());
            assert!(message.contains(fragment), "{name}: {fragment:?} is not in {message:?}");
            assert!(message.contains("damaged"), "{name}: {message}");
        }
    }
}

#[test]
fn tensors_that_overlap_or_lie_outside_are_refused() {
    let parts = Parts::of(&linear()).unwrap();
    let (first, second) = (parts.tensors[0].bytes.len(), parts.tensors[1].bytes.len());
    let end = first + second;
    for offsets in [
        [(0, first), (0, second)],
        [(0, first), (first - 8, end - 8)],
        [(8, first + 8), (first + 8, end + 8)],
        [(0, first), (first, end + 8)],
        [(0, first), (end, end + second)],
        [(first, 0), (first, end)],
        [(0, first), (usize::MAX - second + 1, usize::MAX)],
    ] {
        let message = error(&parts.seal_with_offsets(&offsets));
        assert!(message.contains("safetensors"), "{offsets:?}: {message}");
    }
}

#[test]
fn many_tensors_are_refused_in_reasonable_time() {
    let mut parts = Parts::of(&linear()).unwrap();
    parts.tensors.extend((0..100_000).map(|k| tensor(&format!("tensor{k}"), &[1.0])));
    let message = error(&parts.seal());
    assert!(message.contains("damaged"), "{message}");
}

/// Where the fuzzer of model files starts.
fn seeds() -> [(&'static str, Vec<u8>); 5] {
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let named = dataset(3).with_feature_names(names).unwrap();
    let ids = (0..12).map(|node| format!("n{node}")).collect();
    let split = Split::all_labelled(named.labels()).unwrap();
    let stack = Search { learners: Some(learners()), ..Search::default() };
    let without_features = Dataset::new(
        "structure",
        named.graph().clone(),
        Features::none(12),
        Labels::clone(named.labels()),
    );
    let without_features = without_features.unwrap().with_node_ids(ids).unwrap();
    let stack = stack.run(&without_features, &split, &Context::default()).unwrap();
    [
        ("kept", kept()),
        ("linear", linear()),
        ("rbf", rbf()),
        ("named", fit(&named, "linear", true).to_bytes()),
        ("stack", stack.model.to_bytes()),
    ]
}

/// Two learners that need no features.
fn learners() -> Vec<Learner> {
    let learner = |depth: usize| Learner {
        name: format!("{depth} steps"),
        design: Channel { input: Input::Structure, ..Filter::sgc(depth).unwrap().into() }.into(),
        kernel: "linear".parse().unwrap(),
        width: 1.0,
        intercept: false,
    };
    vec![learner(1), learner(2)]
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/model").join(name)
}

/// A seed of another version is refused at once, and teaches the fuzzer nothing.
#[test]
fn the_seeds_of_the_fuzzer_are_models_of_this_version() {
    for (name, _) in seeds() {
        Model::load(&corpus(name)).unwrap_or_else(|error| {
            panic!("{error}: cargo test -p gfgcn --test models -- --ignored writes the seeds again")
        });
    }
}

#[test]
#[ignore = "writes the seeds of the fuzzer again, after a change of the format"]
fn the_seeds_of_the_fuzzer_are_written() {
    for (name, bytes) in seeds() {
        fs::write(corpus(name), bytes).unwrap();
    }
    let (_, forge, _) = RBF.iter().find(|(name, ..)| *name == "no training nodes").unwrap();
    let mut parts = Parts::of(&rbf()).unwrap();
    forge(&mut parts);
    fs::write(corpus("no-training-nodes"), parts.seal()).unwrap();
}

#[test]
fn other_numbers_of_features_are_refused() {
    let model = Model::from_bytes(&linear()).unwrap();
    let other = Recipe {
        nodes: 12,
        features: 4,
        classes: 3,
        weighted: false,
        sparse: true,
        directed: false,
        seed: 1,
    };
    let message = predict(&model, &other.make()).unwrap_err().to_string();
    assert!(message.contains("4 features per node") && message.contains("trained on 3"));
}

/// A dataset on a path of nodes, with named features: the value at (node, feature) is a function of
/// the feature's name.
fn named(names: &[&str]) -> Dataset {
    let nodes = 8;
    let edges: Vec<(u32, u32)> = (1..nodes).map(|node| (node - 1, node)).collect();
    let (graph, _) = Graph::from_edges(nodes as usize, &edges, None).unwrap();
    let value = |node: usize, name: &str| (name.len() * (node + 1) % 5) as f32;
    let matrix = Matrix::from_fn(nodes as usize, names.len(), |i, j| value(i, names[j]));
    let ids: Vec<i64> = (0..i64::from(nodes)).map(|node| node / 4).collect();
    let labels = Labels::from_ids(&ids, None).unwrap();
    Dataset::new("named", graph, Features::dense(matrix).unwrap(), labels)
        .unwrap()
        .with_feature_names(names.iter().map(|&name| name.to_owned()).collect())
        .unwrap()
}

#[test]
fn named_features_are_matched_by_name() {
    let data = named(&["a", "bb", "ccc", "dddd"]);
    for kernel in ["linear", "rbf"] {
        let trained = fit(&data, kernel, false);
        let model = Model::from_bytes(&trained.to_bytes()).unwrap();
        let expected = bits(&model, &data);
        let permuted = named(&["ccc", "a", "dddd", "bb"]);
        assert_eq!(bits(&model, &permuted), expected, "{kernel}");
        assert!(predict(&model, &permuted).unwrap().notes().is_empty());

        let more = named(&["ccc", "a", "eeeee", "dddd", "bb", "ffffff"]);
        assert_eq!(bits(&model, &more), expected, "{kernel}");
        let notes = predict(&model, &more).unwrap().notes().to_vec();
        assert_eq!(notes, ["2 features of the data are unknown to the model; left out"]);

        let fewer = named(&["dddd", "zzzzzzz"]);
        let notes = predict(&model, &fewer).unwrap().notes().to_vec();
        assert_eq!(notes.len(), 2);
        assert!(notes[0].starts_with("3 features of the model are not in the data"), "{notes:?}");
        assert!(notes[1].starts_with("1 features of the data are unknown"), "{notes:?}");

        let message = predict(&model, &named(&["x", "yy"])).unwrap_err().to_string();
        assert!(message.contains("\"a\"") && message.contains("\"x\""), "{message}");
    }
}

#[test]
fn a_feature_the_data_lack_counts_as_zero() {
    let model = fit(&named(&["a", "bb", "ccc"]), "linear", true);
    let fewer = named(&["ccc", "a"]);
    // Five letters have the value 0 at every node.
    let zero = named(&["ccc", "zzzzz", "a"]);
    let zero_in_place = Dataset::new(
        "zero",
        zero.graph().clone(),
        zero.features().map_columns(&[Some(2), Some(1), Some(0)], 3),
        zero.labels().clone(),
    );
    assert_eq!(bits(&model, &fewer), bits(&model, &zero_in_place.unwrap()));
}

#[test]
fn saving_replaces_only_when_asked_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let path = folder.path().join("model.gfgcn");
    let (old, new) = (Model::from_bytes(&linear()).unwrap(), Model::from_bytes(&rbf()).unwrap());
    old.save(&path, false).unwrap();
    let error = new.save(&path, false).unwrap_err();
    assert!(error.to_string().contains("model.gfgcn: exists already"), "{error}");
    assert!(!error.is_machine_failure());
    assert_eq!((fs::read(&path).unwrap(), files()), (linear(), 1));
    new.save(&path, true).unwrap();
    assert_eq!((fs::read(&path).unwrap(), files()), (rbf(), 1));

    // A folder cannot be replaced: the last step fails.
    let occupied = folder.path().join("occupied");
    fs::create_dir(&occupied).unwrap();
    let error = new.save(&occupied, true).unwrap_err();
    assert!(error.to_string().contains("occupied: cannot write"), "{error}");
    assert!(occupied.is_dir());
    assert_eq!(files(), 2, "no temporary file is left");
    let error = new.save(&folder.path().join("missing/model"), true).unwrap_err();
    assert!(error.to_string().contains("cannot write") && error.is_machine_failure(), "{error}");
}

#[test]
fn loading_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let load = |name: &str| Model::load(&folder.path().join(name)).unwrap_err();
    assert!(load("missing").to_string().contains("missing: cannot read"));
    assert!(!load("missing").is_machine_failure());
    assert!(load("").to_string().contains("is a folder"));
    fs::write(folder.path().join("damaged"), &linear()[..100]).unwrap();
    assert!(load("damaged").to_string().contains("damaged: not a safetensors file"));
}
