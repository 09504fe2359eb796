//! What work reserves against what the allocator is asked for: classes, kernels, splits and threads included.

mod counting;
mod synthetic;

use counting::measured;
use gfgcn::context::{Context, Engine, Memory};
use gfgcn::data::{Dataset, LabelSets, Values};
use gfgcn::evaluation::Evaluation;
use gfgcn::filter::Filter;
use gfgcn::head::{ClassWeights, Objective};
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::metrics::Metric;
use gfgcn::ridge::Selection;
use gfgcn::split::{Ratio, Split};
use gfgcn::tune::Search;
use gfgcn::{Classifier, Design, Error, Result, Ridge};
use synthetic::Recipe;

/// What nobody counts: lists of splits, messages, queues of threads.
const SMALL_THINGS: f64 = (4 << 20) as f64;

/// Runs work in no more memory than it says it needs; that must be enough, and not far too much.
fn check(what: &str, threads: usize, work: &dyn Fn(&Context) -> Result<()>) {
    let engine = Engine::with_threads(threads).unwrap();
    let context =
        |bytes| Context::default().with_engine(engine.clone()).with_memory(Memory::limited(bytes));
    let refused = work(&context(0));
    let Err(Error::Memory { needed, .. }) = refused else { panic!("{what}: {refused:?}") };
    assert!(matches!(work(&context(needed - 1)), Err(Error::Memory { .. })), "{what}");
    let (done, peak) = measured(|| work(&context(needed)));
    done.unwrap();
    let share = peak / needed as f64;
    assert!(peak < needed as f64 + SMALL_THINGS, "{what}: {peak} bytes of {needed}");
    let modest = (SMALL_THINGS as u64) < needed;
    assert!(!modest || share > 0.05, "{what}: only {peak} bytes of {needed}");
}

fn data(nodes: usize, features: usize, classes: usize) -> Dataset {
    Recipe { nodes, features, classes, weighted: false, sparse: true, directed: false, seed: 1 }
        .make()
}

fn ridge(kernel: &str, selection: Selection, intercept: bool) -> Ridge {
    Ridge { kernel: kernel.parse::<Kernel>().unwrap(), selection, intercept }
}

/// One test, so that no other one takes memory at the same time.
#[test]
fn what_is_reserved_is_enough() {
    ids_that_are_taken_for_labels_are_asked_about();
    every_target_and_metric_is_counted();
    many_nodes_with_few_features_take_little();
    let design = Design::from(Filter::ssgc(4, 0.05).unwrap());
    let few = data(1000, 60, 5);
    let many = data(800, 40, 300);
    let wide = data(400, 600, 40);
    for (name, data) in [("few classes", &few), ("many classes", &many), ("wide", &wide)] {
        let split = Split::stratified(data.labels(), "1:0:1".parse::<Ratio>().unwrap(), 0).unwrap();
        let with_validation = {
            let (first, second) = split.test().split_at(split.test().len() / 2);
            Split::new(data.nodes(), split.train().to_vec(), first.to_vec(), second.to_vec())
                .unwrap()
        };
        for kernel in ["linear", "rbf", "cosine"] {
            for (selection, split) in [
                (Selection::LeaveOneOut, &split),
                (Selection::Validation, &with_validation),
                (Selection::fixed(1.0).unwrap(), &split),
            ] {
                for (intercept, threads) in [(false, 1), (true, 2)] {
                    let ridge = ridge(kernel, selection, intercept);
                    let what = format!("{name}, {kernel}, {selection}, {intercept}, {threads}");
                    let classifier = Classifier::new(design.clone()).with_ridge(ridge);
                    check(&format!("fit: {what}"), threads, &|context| {
                        classifier.fit(data, split, context).map(drop)
                    });
                    let evaluation = Evaluation {
                        designs: vec![design.clone(), Filter::sgc(2).unwrap().into()],
                        splits: vec![split.clone(); 3],
                        ridge,
                        ..Evaluation::default()
                    };
                    check(&format!("evaluate: {what}"), threads, &|context| {
                        evaluation.run(data, context).map(drop)
                    });
                }
            }
            let fitted = Classifier::new(design.clone())
                .with_ridge(ridge(kernel, Selection::fixed(1.0).unwrap(), false))
                .fit(data, &split, &Context::default())
                .unwrap();
            check(&format!("predict: {name}, {kernel}"), 2, &|context| {
                fitted.predict(data, context).map(drop)
            });
        }
        let search = Search::default();
        for threads in [1, 2] {
            check(&format!("tune: {name}, {threads}"), threads, &|context| {
                search.run(data, &split, context).map(drop)
            });
        }
    }
}

/// Many training nodes with few features: no system is as large as the nodes are many.
fn many_nodes_with_few_features_take_little() {
    let data = data(20_000, 70, 2);
    let split = Split::all_labelled(data.labels()).unwrap();
    let context = Context::default().with_memory(Memory::limited(0));
    let refused = Search::default().run(&data, &split, &context);
    let Err(Error::Memory { needed, .. }) = refused else { panic!("{refused:?}") };
    assert!(needed < 1 << 30, "{needed} bytes");
}

/// Left-out scores are kept where a metric ranks them, or a threshold is chosen by them.
fn every_target_and_metric_is_counted() {
    let base = data(3000, 30, 40);
    let nodes = base.nodes();
    let set = |i: usize| Some((0..i % 5).map(|k| ((i * 7 + k * 3) % 40).to_string()).collect());
    let sets: Vec<Option<Vec<String>>> = (0..nodes).map(set).collect();
    let sets = base.clone().with_targets(LabelSets::from_names(&sets)).unwrap();
    let column = Matrix::from_fn(nodes, 3, |i, j| (i * (j + 2) % 17) as f64);
    let values = Values::new(["a", "b", "c"].map(String::from).to_vec(), column).unwrap();
    let values = base.clone().with_targets(values).unwrap();
    let balanced = Objective { metric: None, class_weights: ClassWeights::Balanced };
    for (name, data, objective) in [
        ("balanced", &base, balanced),
        ("macro-f1", &base, Objective::by(Metric::MacroF1)),
        ("auc", &base, Objective::by(Metric::Auc)),
        ("sets", &sets, Objective::default()),
        ("sets, average precision", &sets, Objective::by(Metric::AveragePrecision)),
        ("values", &values, Objective::default()),
    ] {
        let ratio = "1:1:1".parse::<Ratio>().unwrap();
        let split = Split::random(data.targets(), ratio, 0).unwrap();
        let design = Design::from(Filter::sgc(2).unwrap());
        for selection in
            [Selection::LeaveOneOut, Selection::Validation, Selection::fixed(1.0).unwrap()]
        {
            for threads in [1, 2] {
                let ridge = ridge("linear", selection, false);
                let classifier = Classifier::new(design.clone()).with_ridge(ridge);
                let classifier = classifier.with_objective(objective.clone());
                let what = format!("{name}, {selection}, {threads}");
                check(&format!("fit: {what}"), threads, &|context| {
                    classifier.fit(data, &split, context).map(drop)
                });
                let evaluation = Evaluation {
                    designs: vec![design.clone()],
                    splits: vec![split.clone(); 3],
                    ridge,
                    objective: objective.clone(),
                    ..Evaluation::default()
                };
                check(&format!("evaluate: {what}"), threads, &|context| {
                    evaluation.run(data, context).map(drop)
                });
            }
        }
    }
}

/// As many classes as nodes: what was a column of ids is no reason to run out of memory.
fn ids_that_are_taken_for_labels_are_asked_about() {
    let data = data(12_000, 8, 12_000);
    let split = Split::all_labelled(data.labels()).unwrap();
    let context = Context::default().with_memory(Memory::limited(1 << 30));
    let classifier = Classifier::new(Filter::sgc(2).unwrap());
    let message = classifier.fit(&data, &split, &context).unwrap_err().to_string();
    assert!(message.contains("12000 classes") && message.contains("ids"), "{message}");
}
