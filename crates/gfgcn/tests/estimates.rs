//! The memory that the account says work takes at its peak, against what the allocator is asked for meanwhile.
//!
//! What matrix products are computed in is in neither: every thread keeps it, whatever is multiplied.

mod counting;
mod synthetic;

use counting::measured;
use gfgcn::context::{Context, Engine, Memory, Scratch};
use gfgcn::data::Dataset;
use gfgcn::evaluation::Evaluation;
use gfgcn::filter::Filter;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::tune::Search;
use gfgcn::{Classifier, Design, Error, Model, Result, Ridge};
use gfgcn_data::store;
use std::ops::RangeInclusive;
use std::path::Path;
use synthetic::Recipe;

/// Measured bytes as a share of those that are estimated. More than estimated is worse than less.
const BAND: RangeInclusive<f64> = 0.8..=1.05;

/// Far more than any of this takes.
const AMPLE: u64 = 1 << 40;

/// Work whose memory is compared.
type Work<'a> = &'a dyn Fn(&Context) -> Result<()>;

/// On one thread and on two. Of several threads nobody knows which of them hold their most at the same time, so that only
/// one thread has to take as much as was estimated.
fn compare(what: &str, work: Work<'_>) {
    for threads in [1, 2] {
        compare_within(what, threads, AMPLE, work);
    }
}

#[expect(clippy::print_stdout, reason = "figures, for whoever asks with --nocapture")]
fn compare_within(what: &str, threads: usize, bytes: u64, work: Work<'_>) {
    let memory = Memory::limited(bytes);
    let context = context(threads).with_memory(memory.clone());
    let (done, peak) = measured(|| work(&context));
    done.unwrap();
    let (estimate, share) = (memory.peak() as f64, peak / memory.peak() as f64);
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    println!("{share:.2}: {:.1} of {:.1} MiB, {what}, {threads}", mib(peak), mib(estimate));
    assert!(share <= *BAND.end(), "{what}, {threads} threads: {peak} bytes, not {estimate}");
    let least = if threads == 1 { *BAND.start() } else { 0.5 };
    assert!(share >= least, "{what}, {threads} threads: only {peak} bytes of {estimate}");
    assert!(peak > f64::from(4 << 20), "{what}: so little that anything would do");
}

fn context(threads: usize) -> Context {
    Context::default().with_engine(Engine::with_threads(threads).unwrap())
}

fn data(nodes: usize, features: usize, classes: usize, sparse: bool) -> Dataset {
    Recipe { nodes, features, classes, weighted: false, sparse, directed: false, seed: 1 }.make()
}

fn split(data: &Dataset, ratio: &str) -> Split {
    Split::stratified(data.labels(), ratio.parse().unwrap(), 0).unwrap()
}

fn design() -> Design {
    Filter::ssgc(4, 0.05).unwrap().into()
}

fn ridge(kernel: &str, selection: Selection, intercept: bool) -> Ridge {
    Ridge { kernel: kernel.parse().unwrap(), selection, intercept }
}

/// Training with a ridge, and predicting every node with what comes of it.
fn fit_and_predict(name: &str, data: &Dataset, split: &Split, ridge: Ridge) {
    let classifier = Classifier::new(design()).with_ridge(ridge);
    let Ridge { kernel, selection, intercept } = ridge;
    let what = format!("{name}, {kernel}, {selection}, intercept {intercept}");
    compare(&format!("fit, {what}"), &|context| classifier.fit(data, split, context).map(drop));
    // Few classes by few features are too little to compare.
    if !kernel.is_linear() || data.targets().names().len() > 100 {
        let model = classifier.fit(data, split, &Context::default()).unwrap();
        compare(&format!("predict, {what}"), &|context| model.predict(data, context).map(drop));
    }
}

fn evaluate(name: &str, data: &Dataset, split: &Split, ridge: Ridge) {
    let evaluation = Evaluation {
        designs: vec![design(), Filter::sgc(2).unwrap().into()],
        splits: vec![split.clone(); 3],
        ridge,
        ..Evaluation::default()
    };
    compare(&format!("evaluate, {name}, {}", ridge.kernel), &|context| {
        evaluation.run(data, context).map(drop)
    });
}

fn tune(name: &str, data: &Dataset, split: &Split) {
    compare(&format!("tune, {name}"), &|context| {
        Search::default().run(data, split, context).map(drop)
    });
}

/// A store in so little memory that slabs are as narrow as they get, or nearly; and in more.
fn out_of_core(folder: &Path) {
    let data = data(50_000, 48, 5, false);
    let path = folder.join("data.store");
    store::write(&data, &path, false, &Context::default()).unwrap();
    let stored = store::read(&path, "data", &Context::default()).unwrap();
    let split = split(&data, "1:0:9");
    let classifier = Classifier::new(design());
    let model = classifier.fit(&data, &split, &Context::default()).unwrap();
    let fit = |context: &Context| classifier.fit(&stored, &split, context).map(drop);
    let predict = |context: &Context| Model::predict(&model, &stored, context).map(drop);
    let works: [(&str, Work<'_>); 2] = [("fit", &fit), ("predict", &predict)];
    for (what, work) in works {
        // Every time into an empty folder, so that there is something to compute.
        let anew = |context: &Context| {
            let scratch = Scratch::at(&folder.join("work"), "data");
            let done = work(&context.clone().with_scratch(scratch.clone()));
            scratch.remove();
            done
        };
        let refused = anew(&context(1).with_memory(Memory::limited(0)));
        let Err(Error::Memory { needed, .. }) = refused else { panic!("{what}: {refused:?}") };
        for bytes in [needed, needed + needed / 4, AMPLE] {
            for threads in [1, 2] {
                let what = format!("{what}, out of core, of {bytes}");
                compare_within(&what, threads, bytes, &anew);
            }
        }
    }
}

/// One test, so that no other one takes memory at the same time.
#[test]
fn estimates_are_what_is_taken() {
    let leave_one_out = ridge("linear", Selection::LeaveOneOut, false);
    // Labels are nodes to learn from, and classes.
    let few = data(20_000, 48, 5, false);
    let half = split(&few, "1:0:1");
    fit_and_predict("few features, many labels", &few, &half, leave_one_out);
    evaluate("few features, many labels", &few, &half, leave_one_out);

    let wide = data(2000, 3000, 5, true);
    let eighth = split(&wide, "1:1:6");
    for ridge in [
        leave_one_out,
        ridge("linear", Selection::Validation, true),
        ridge("linear", Selection::fixed(1.0).unwrap(), false),
        ridge("rbf", Selection::LeaveOneOut, false),
    ] {
        fit_and_predict("many features, few labels", &wide, &eighth, ridge);
    }
    evaluate("many features, few labels", &wide, &eighth, leave_one_out);
    tune("many features, few labels", &wide, &eighth);

    let classes = data(2400, 100, 150, false);
    let half = split(&classes, "1:0:1");
    fit_and_predict("many classes", &classes, &half, leave_one_out);
    fit_and_predict("many classes", &classes, &half, ridge("cosine", Selection::LeaveOneOut, true));
    evaluate("many classes", &classes, &half, leave_one_out);
    tune("many classes", &classes, &split(&classes, "1:0:3"));

    let folder = tempfile::tempdir().unwrap();
    out_of_core(folder.path());
}
