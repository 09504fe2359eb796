//! Whole models on real graphs: the labels of the processor but for nodes that are nearly tied.

use super::{difference, gpu};
use gfgcn::context::{Context, Placement};
use gfgcn::data::Dataset;
use gfgcn::evaluation::Evaluation;
use gfgcn::filter::Filter;
use gfgcn::split::Split;
use gfgcn::tune::Search;
use gfgcn::{Classifier, Design, Ridge};
use gfgcn_cuda::Cuda;
use std::sync::Arc;

fn bundled(name: &str) -> Dataset {
    gfgcn_datasets::open(name.as_ref(), None, &Context::default()).unwrap()
}

fn filters() -> Vec<Filter> {
    vec![
        Filter::sgc(2).unwrap(),
        Filter::ssgc(8, 0.05).unwrap(),
        Filter::dgc(16, 5.27).unwrap(),
        Filter::sgc(64).unwrap(),
    ]
}

#[test]
fn models_predict_what_those_of_the_processor_do() {
    let Some(gpu) = gpu() else { return };
    let here = Context::default();
    for name in ["cora", "citeseer", "pubmed"] {
        let data = bundled(name);
        let public = data.split().unwrap().clone();
        let all = Split::all_labelled(data.labels()).unwrap();
        for filter in filters() {
            for (split, intercept) in [(&public, false), (&public, true), (&all, false)] {
                if split.train().len() > 3000 {
                    continue; // hours on two cores, for nothing new
                }
                let ridge = Ridge { intercept, ..Ridge::default() };
                let classifier = Classifier::new(filter).with_ridge(ridge);
                let expected = classifier.fit(&data, split, &here).unwrap();
                let found = classifier.fit(&data, split, &gpu).unwrap();
                let expected = expected.predict(&data, &here).unwrap();
                let found = found.predict(&data, &gpu).unwrap();
                let nodes = 0..data.nodes();
                let other = nodes.filter(|&i| found.name(i) != expected.name(i)).count();
                let share = other as f64 / data.nodes() as f64;
                let off = difference(&found.into_targets(), &expected.into_targets());
                println!(
                    "{name} {filter} intercept {intercept}: {other} labels differ, scores by {off:.1e}"
                );
                assert!(share < 2e-3 && off < 1e-4, "{name} {filter}: {other} labels, {off:e}");
            }
        }
    }
}

#[test]
fn an_evaluation_gives_the_accuracies_of_the_processor() {
    let Some(gpu) = gpu() else { return };
    for name in ["cora", "pubmed"] {
        let data = bundled(name);
        let splits = (0..4)
            .map(|seed| Split::random(data.targets(), "1:1:8".parse().unwrap(), seed).unwrap());
        let evaluation = Evaluation {
            designs: filters().into_iter().map(Design::from).collect(),
            splits: splits.collect(),
            calibrates: true,
            ..Evaluation::default()
        };
        let expected = evaluation.run(&data, &Context::default()).unwrap();
        let found = evaluation.run(&data, &gpu).unwrap();
        assert_eq!(
            found.iter().map(|e| e.predictions.clone()).collect::<Vec<_>>(),
            evaluation
                .run(&data, &gpu)
                .unwrap()
                .into_iter()
                .map(|e| e.predictions)
                .collect::<Vec<_>>(),
            "the second time"
        );
        for (found, expected) in found.iter().zip(&expected) {
            for (a, b) in found.accuracies.iter().zip(&expected.accuracies) {
                println!("{name} {}: {a:.2} and {b:.2}", found.design);
                assert!((a - b).abs() < 0.15, "{name} {}: {a} {b}", found.design);
            }
        }
    }
}

#[test]
fn a_search_finds_what_it_finds_on_the_processor() {
    let Some(gpu) = gpu() else { return };
    let data = bundled("citeseer");
    let split = Split::random(data.targets(), "2:1:7".parse().unwrap(), 3).unwrap();
    let run = |context: &Context| Search::default().run(&data, &split, context).unwrap();
    let (found, expected) = (run(&gpu), run(&Context::default()));
    let names = |tuned: &gfgcn::tune::Tuned| -> Vec<String> {
        tuned.shares.iter().map(|share| share.0.clone()).collect()
    };
    println!("{:?}", names(&found));
    assert!((found.score - expected.score).abs() < 5e-3, "{} {}", found.score, expected.score);
}

/// What seems to pay runs on the GPU, and small work does not.
#[test]
fn small_work_stays_where_it_is() {
    if gpu().is_none() {
        return;
    }
    let open = || Ok(Arc::new(Cuda::open(0)?) as Arc<dyn gfgcn::device::Device>);
    let auto = Context::default().with_placement(Placement::where_it_pays(Box::new(open)));
    let data = bundled("cora");
    let fit = |context: &Context| {
        let classifier = Classifier::new(Filter::ssgc(8, 0.05).unwrap());
        let model = classifier.fit(&data, data.split().unwrap(), context).unwrap();
        model.predict(&data, context).unwrap().into_targets()
    };
    assert_eq!(fit(&auto), fit(&Context::default()), "the processor's bits");
    assert_eq!(auto.placement().trouble(), None);
}
