//! Work in shares: whoever computes them, and however they are cut, the results are those of one machine to the last bit.

use gfgcn::context::{Context, Scratch};
use gfgcn::data::{Dataset, Labels};
use gfgcn::evaluation::{Evaluated, Evaluation};
use gfgcn::features::Features;
use gfgcn::filter::Filter;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::ridge::Selection;
use gfgcn::shares::{Cut, Job, Share};
use gfgcn::split::{Ratio, Split};
use gfgcn::{Classifier, Design, Model, Ridge};
use std::fs;
use std::path::Path;

const NODES: usize = 400;

/// Communities on a ring, with features that know a little of them.
fn data(columns: usize) -> Dataset {
    let n = NODES as u32;
    let edges: Vec<(u32, u32)> =
        (0..n).flat_map(|k| [(k, (k + 1) % n), (k, (k * 7 + 3) % n), (k, (k + 40) % n)]).collect();
    let (graph, _) = Graph::from_edges(NODES, &edges, None).unwrap();
    let value = |i: usize, j: usize| {
        let noise = ((i * 31 + j * 17 + i * j) % 23) as f32 / 23.0;
        noise + f32::from(u8::from(j % 5 == i / 80))
    };
    let features = Features::dense(Matrix::from_fn(NODES, columns, value)).unwrap();
    let names: Vec<String> = (0..NODES).map(|k| format!("c{}", k / 80)).collect();
    let labels = Labels::from_names(&names.iter().map(|n| Some(n.as_str())).collect::<Vec<_>>());
    Dataset::new("ring", graph, features, labels).unwrap()
}

fn split(data: &Dataset, train: usize) -> Split {
    let chosen = |from: usize| (0..train).map(|k| (k * 13 + from) % NODES).collect::<Vec<_>>();
    let train = chosen(0);
    let validation: Vec<usize> = chosen(5).into_iter().filter(|k| !train.contains(k)).collect();
    Split::new(data.nodes(), train, validation, Vec::new()).unwrap()
}

/// Has all shares computed by another machine, with its own copy of job and data, into a folder.
fn share_out(job: &Job, data: &Dataset, shares: usize, memory: u64, folder: &Path) -> usize {
    let context = Context::default();
    let planned = job.plan(data, Cut { shares, memory }, &context).unwrap();
    let sent = job.to_bytes();
    let scratch = Scratch::at(folder, "");
    for planned in planned.iter().rev() {
        assert!(!planned.is_finished(&scratch));
        let theirs = Job::from_bytes(&sent).unwrap();
        let text = serde_json::to_string(&planned.share).unwrap();
        let share: Share = serde_json::from_str(&text).unwrap();
        let pieces = theirs.compute(&data.clone(), &share, &context).unwrap();
        let mut names: Vec<&String> = pieces.iter().map(|piece| &piece.name).collect();
        let mut promised: Vec<&String> = planned.files.iter().collect();
        names.sort();
        promised.sort();
        assert_eq!(names, promised);
        pieces.iter().for_each(|piece| scratch.accept(&piece.name, &piece.bytes).unwrap());
        assert!(planned.is_finished(&scratch));
    }
    planned.len()
}

fn files(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| name(entry).unwrap()).collect();
    names.sort();
    names
}

fn with_folder(folder: &Path, job: &Job, data: &Dataset) -> Context {
    Context::default().with_scratch(Scratch::at(folder, job.purpose(data)))
}

/// Changes what was computed, so that whatever uses it cannot come out the same.
fn spoil(folder: &Path) {
    for name in files(folder) {
        let path = folder.join(name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[..8].fill(0x3d);
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn a_fit_is_that_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let validation = Ridge { selection: Selection::Validation, ..Ridge::default() };
    let two: Design = "ssgc:depth=8,tau=0.05 + 0.5*identity/unit + sgc:depth=3".parse().unwrap();
    let mut sides = [0, 0];
    for (columns, train, design, ridge) in [
        (70, 60, Design::from(Filter::sgc(4).unwrap()), Ridge::default()),
        // Fewer nodes than features: selectors are propagated.
        (70, 12, Design::from(Filter::sgc(2).unwrap()), Ridge::default()),
        (9, 60, two, validation),
    ] {
        let data = data(columns);
        let split = split(&data, train);
        let classifier = Classifier::new(design).with_ridge(ridge);
        let whole = classifier.fit(&data, &split, &Context::default()).unwrap();
        let job = classifier.job(&data, &split).unwrap();
        for (k, (shares, memory)) in
            [(1, u64::MAX), (2, u64::MAX), (3, 1 << 18), (50, 1)].into_iter().enumerate()
        {
            let work = folder.path().join(format!("{columns}-{train}-{k}"));
            let count = share_out(&job, &data, shares, memory, &work);
            assert!(count >= shares.min(3), "{count} of {shares}");
            let before = files(&work);
            let context = with_folder(&work, &job, &data);
            let model = classifier.fit(&data, &split, &context).unwrap();
            assert_eq!(model.to_bytes(), whole.to_bytes(), "{columns} columns, cut {k}");
            assert_eq!(files(&work), before, "nothing was left to compute");
            sides[usize::from(train < columns)] += 1;
            spoil(&work);
            let other = classifier.fit(&data, &split, &context);
            assert!(other.map_or(true, |model| model.to_bytes() != whole.to_bytes()), "not used");
        }
    }
    assert!(sides[0] > 0 && sides[1] > 0);
}

fn fitted(data: &Dataset, kernel: &str) -> Model {
    let ridge = Ridge { kernel: kernel.parse().unwrap(), ..Ridge::default() };
    let design: Design = "sgc:depth=3 + 0.3*identity".parse().unwrap();
    let classifier = Classifier::new(design).with_ridge(ridge);
    classifier.fit(data, &split(data, 60), &Context::default()).unwrap()
}

#[test]
fn predictions_are_those_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    // With fewer features than classes, features are shared out, too.
    for (columns, kernel) in [(30, "linear"), (30, "rbf"), (2, "linear")] {
        let data = data(columns);
        let model = fitted(&data, kernel);
        let whole = model.predict(&data, &Context::default()).unwrap();
        let job = Job::Predict(Box::new(model.clone()));
        for (shares, memory) in [(1, u64::MAX), (2, u64::MAX), (4, 1)] {
            let work = folder.path().join(format!("{kernel}-{columns}-{shares}"));
            // Slabs have four columns, or as many as there are.
            let most = columns.div_ceil(4);
            assert!(share_out(&job, &data, shares, memory, &work) >= shares.min(most));
            let before = files(&work);
            let predicted = model.predict(&data, &with_folder(&work, &job, &data)).unwrap();
            assert_eq!(predicted, whole, "{kernel} in {shares} shares");
            let new = files(&work).into_iter().filter(|name| !before.contains(name));
            assert!(new.into_iter().all(|name| name.starts_with("scores-")));
        }
    }
}

/// All but how long it took.
fn found(all: &[Evaluated]) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
    let one = |e: &Evaluated| {
        let numbers = (bits(&e.scores), bits(&e.accuracies), bits(&e.lambdas));
        (e.design.to_string(), e.metric, numbers, e.predictions.clone(), e.calibrated.clone())
    };
    all.iter().map(one).collect()
}

#[test]
fn an_evaluation_is_that_of_one_machine() {
    let (data, folder) = (data(40), tempfile::tempdir().unwrap());
    let ratio: Ratio = "1:1:8".parse().unwrap();
    let splits = (0..5).map(|seed| Split::random(data.targets(), ratio, seed).unwrap()).collect();
    let designs = vec![Filter::sgc(2).unwrap().into(), Filter::ssgc(8, 0.05).unwrap().into()];
    for (kernel, calibrates) in [("linear", false), ("linear", true), ("rbf", false)] {
        let ridge = Ridge { kernel: kernel.parse().unwrap(), ..Ridge::default() };
        let evaluation = Evaluation {
            designs: Vec::clone(&designs),
            splits: Vec::clone(&splits),
            ridge,
            calibrates,
            ..Evaluation::default()
        };
        let whole = evaluation.run(&data, &Context::default()).unwrap();
        let job =
            Job::Evaluate { evaluation: Box::new(evaluation.clone()), largest_component: false };
        for (shares, cut) in [(1, 1), (3, 3), (9, 10)] {
            let work = folder.path().join(format!("{kernel}-{calibrates}-{shares}"));
            assert_eq!(share_out(&job, &data, shares, u64::MAX, &work), cut);
            let context = with_folder(&work, &job, &data);
            let together = evaluation.run(&data, &context).unwrap();
            assert_eq!(found(&together), found(&whole), "{kernel} in {shares} shares");
            assert_eq!(files(&work).len(), 10, "nothing was left to compute");
            // Some are lost, and one is cut off: those are computed here.
            let names = files(&work);
            fs::remove_file(work.join(&names[3])).unwrap();
            fs::write(work.join(&names[7]), [0; 12]).unwrap();
            let again = evaluation.run(&data, &context).unwrap();
            assert_eq!(found(&again), found(&whole), "{kernel} taken up");
        }
    }
}

#[test]
fn shares_of_other_work_are_refused() {
    let data = data(30);
    let split = split(&data, 60);
    let classifier = Classifier::new(Filter::sgc(2).unwrap());
    let (fit, predict) =
        (classifier.job(&data, &split).unwrap(), Job::Predict(Box::new(fitted(&data, "linear"))));
    let context = Context::default();
    let of = |job: &Job| job.plan(&data, Cut { shares: 2, memory: u64::MAX }, &context).unwrap();
    assert!(predict.compute(&data, &of(&fit)[0].share, &context).is_err());
    assert!(fit.compute(&data, &of(&predict)[0].share, &context).is_err());
    for text in [
        r#"{"Columns":{"group":1,"columns":{"start":0,"end":8}}}"#,
        r#"{"Columns":{"group":0,"columns":{"start":8,"end":800}}}"#,
        r#"{"Columns":{"group":0,"columns":{"start":8,"end":8}}}"#,
    ] {
        let share: Share = serde_json::from_str(text).unwrap();
        let refused = fit.compute(&data, &share, &context).unwrap_err();
        assert!(refused.to_string().contains("other work"), "{text}: {refused}");
    }
    for bytes in [&b""[..], b"J", b"J{}", b"M123", b"x"] {
        assert!(Job::from_bytes(bytes).is_err());
    }
    let little = context.clone().with_memory(gfgcn::context::Memory::limited(1000));
    let refused = fit.compute(&data, &of(&fit)[0].share, &little).unwrap_err();
    assert!(refused.is_machine_failure(), "{refused}");
}
