//! What training does, whatever the model: it learns, it repeats itself, it stops when told to.

mod real;

use gfgcn::context::{Cancel, Context};
use gfgcn::data::{Dataset, Labels};
use gfgcn::evaluation::Evaluation;
use gfgcn::features::Features;
use gfgcn::filter::Filter;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;
use gfgcn::metrics::test_accuracy;
use gfgcn::ridge::Selection;
use gfgcn::split::Split;
use gfgcn::{Error, Ridge};
use gfgcn_baselines::{Baseline, Dual, Epoch, Gcn, Trained, Trainer, Training};
use real::{bundled, models, splits};

fn train(data: &Dataset, model: Baseline, training: Training, split: &Split, seed: u64) -> Trained {
    let context = Context::default();
    let splits = std::slice::from_ref(split);
    let trainer = Trainer::new(data, model, training, splits, &context).unwrap();
    trainer.train(split, seed, &context).unwrap()
}

#[test]
fn every_model_learns() {
    let data = bundled("cora");
    let split = &splits(&data, 1)[0];
    let training = Training { epochs: 60, ..Training::default() };
    for model in models(2) {
        let trained = train(&data, model, training, split, 0);
        let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
        let (first, last) = (mean(&trained.losses[..5]), mean(&trained.losses[55..]));
        assert!(last < 0.8 * first, "{}: the loss goes from {first} to {last}", model.name());
        // Seven classes, so the first scores know nothing.
        assert!((trained.losses[0] - 7f64.ln()).abs() < 0.3, "{}", model.name());
        let accuracy = test_accuracy(data.labels(), split, &trained.predict(split.test()));
        assert!(accuracy > 70.0, "{}: {accuracy}", model.name());
        assert_eq!(trained.losses.len(), 60);
    }
}

/// On a graph that is large enough for threads to share the work of a run.
#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let data = bundled("pubmed");
    let split = &splits(&data, 1)[0];
    let training = Training { epochs: 3, ..Training::default() };
    for model in models(3) {
        let on = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&data, model, training, split, seed))
        };
        let (one, two, three, other) = (on(1, 5), on(2, 5), on(3, 5), on(2, 6));
        for again in [two, three] {
            assert_eq!(one.scores, again.scores, "{}", model.name());
            assert_eq!(one.losses, again.losses, "{}", model.name());
            assert_eq!(one.first_gradients, again.first_gradients, "{}", model.name());
        }
        assert_ne!(one.scores, other.scores, "{}: the seed does nothing", model.name());
    }
}

#[test]
fn training_ends_when_it_is_cancelled() {
    let data = bundled("cora");
    let split = &splits(&data, 1)[0];
    let model = Baseline::Gcn(Gcn::new(2));
    let cancel = Cancel::default();
    let context = Context::default().with_cancel(cancel.clone());
    let splits = std::slice::from_ref(split);
    let trainer = Trainer::new(&data, model, Training::default(), splits, &context).unwrap();
    let mut seen = Vec::new();
    let mut cancel_after_three = |epoch: &Epoch| {
        seen.push(epoch.loss);
        assert_eq!(epoch.validation, None, "nobody asked to look at it");
        if epoch.number == 2 {
            cancel.cancel();
        }
    };
    let result = trainer.train_watched(split, 0, &context, &mut cancel_after_three);
    assert!(matches!(result, Err(Error::Cancelled)));
    let short = Training { epochs: 3, ..Training::default() };
    assert_eq!(train(&data, model, short, split, 0).losses, seen);
}

/// The weights of the best epoch on the validation part are those that predict.
#[test]
fn patience_keeps_the_best_weights() {
    let data = bundled("cora");
    let split = &splits(&data, 1)[0];
    let training = Training { patience: Some(10), ..Training::default() };
    let dual = Dual { filter: Filter::sgc(2).unwrap(), lambda: 0.1 };
    for model in models(2).into_iter().chain([Baseline::Dual(dual)]) {
        let trained = train(&data, model, training, split, 0);
        let best = trained.validation.iter().copied().fold(0.0, f64::max);
        let first = trained.validation.iter().position(|&v| v == best).unwrap();
        assert_eq!(trained.validation.len(), trained.losses.len());
        assert!(
            trained.losses.len() == 200 || trained.losses.len() == first + 11,
            "{}: best in epoch {first}, stopped after {}",
            model.name(),
            trained.losses.len()
        );
        let truth: Vec<u32> =
            split.validation().iter().map(|&node| data.labels().get(node).unwrap()).collect();
        let predicted = trained.predict(split.validation());
        let hits = predicted.iter().zip(&truth).filter(|(p, t)| p == t).count();
        let accuracy = hits as f64 / truth.len() as f64;
        // Scores are computed in another precision for the linear models: a tie may fall elsewhere.
        assert!((accuracy - best).abs() <= 1.5 / truth.len() as f64, "{}", model.name());
    }
}

/// Descent on the dual objective ends where the closed form is.
#[test]
fn descent_on_the_dual_converges_to_the_closed_form() {
    let data = bundled("cora");
    let splits = splits(&data, 1);
    let (filter, lambda) = (Filter::sgc(2).unwrap(), 0.02);
    let ridge = Ridge { selection: Selection::fixed(lambda).unwrap(), ..Ridge::default() };
    let evaluation = Evaluation {
        designs: vec![filter.into()],
        splits: splits.clone(),
        ridge,
        ..Evaluation::default()
    };
    let closed_form = evaluation.run(&data, &Context::default()).unwrap().remove(0);
    let training = Training { epochs: 8000, ..Training::default() };
    let trained = train(&data, Baseline::Dual(Dual { filter, lambda }), training, &splits[0], 0);
    let predictions = trained.predict(splits[0].test());
    let same = predictions.iter().zip(&closed_form.predictions[0]).filter(|(a, b)| a == b).count();
    assert!(same * 1000 >= predictions.len() * 998, "{same} of {}", predictions.len());
    let lowest = trained.losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(trained.losses[7999] - lowest < 1e-3 * lowest.abs(), "{lowest}");
}

#[test]
fn two_classes_and_missing_ones_are_no_problem() {
    // Two rings; the class "c" has no training node.
    let edges: Vec<(u32, u32)> =
        (0..8).map(|k| (k, (k + 1) % 8)).chain((0..8).map(|k| (8 + k, 8 + (k + 1) % 8))).collect();
    let (graph, _) = Graph::from_edges(16, &edges, None).unwrap();
    let features = Features::dense(Matrix::from_fn(16, 3, |i, j| match j {
        0 => f32::from(i < 8),
        1 => f32::from(i >= 8),
        _ => i as f32 / 16.0,
    }))
    .unwrap();
    let names: Vec<Option<&str>> = (0..16)
        .map(|i| {
            Some(if i == 3 {
                "c"
            } else if i < 8 {
                "a"
            } else {
                "b"
            })
        })
        .collect();
    let data = Dataset::new("rings", graph, features, Labels::from_names(&names)).unwrap();
    let split = Split::new(16, vec![0, 1, 9, 10], vec![], vec![3, 5, 12]).unwrap();
    let dual = Dual { filter: Filter::sgc(2).unwrap(), lambda: 1.0 };
    for model in models(2).into_iter().chain([Baseline::Dual(dual)]) {
        let trained = train(&data, model, Training::default(), &split, 1);
        let classes = data.labels().classes();
        let predicted: Vec<&str> = trained
            .predict(&[5, 12])
            .iter()
            .map(|&class| classes[class as usize].as_str())
            .collect();
        assert_eq!(predicted, ["a", "b"], "{}", model.name());
        assert_eq!(trained.classes.len(), 2);
    }
}

#[test]
fn a_training_that_diverges_predicts_the_first_class_and_says_so() {
    let data = bundled("cora").map_features(|features| match features {
        Features::Sparse(x) => {
            let values: Vec<f32> = x.values().iter().map(|v| v * 1e38).collect();
            let scaled =
                gfgcn::matrix::SparseMatrix::from_csr(x.cols(), x.offsets(), x.indices(), &values);
            Features::sparse(scaled.unwrap()).unwrap()
        }
        dense => dense,
    });
    let split = &splits(&data, 1)[0];
    let model = Baseline::Gcn(Gcn::new(2));
    let context = Context::default();
    let trainer =
        Trainer::new(&data, model, Training::default(), std::slice::from_ref(split), &context)
            .unwrap();
    let trained = trainer.train(split, 0, &context).unwrap();
    assert_eq!((trained.diverged, trained.losses.len()), (Some(0), 0));
    assert!(trained.scores.as_slice().iter().all(|score| score.is_nan()));
    assert!(trained.predict(split.test()).iter().all(|&class| class == trained.classes[0]));
}

/// A rate at which a few epochs go well and the rest do not: what was best is kept, if it was looked for.
#[test]
fn a_training_that_diverges_late_goes_back_to_its_best_epoch() {
    let data = bundled("cora");
    let split = &splits(&data, 1)[0];
    let model = Baseline::logistic(Filter::sgc(2).unwrap());
    let steep = Training { learning_rate: Some(1e36), ..Training::default() };
    let lost = train(&data, model, steep, split, 0);
    let epoch = lost.diverged.expect("no weights survive such a rate for long");
    assert!(epoch > 0 && lost.losses.len() == epoch && lost.losses.iter().all(|l| l.is_finite()));
    assert!(lost.scores.as_slice().iter().all(|score| score.is_nan()));

    let kept = train(&data, model, Training { patience: Some(200), ..steep }, split, 0);
    assert_eq!((kept.diverged, kept.validation.len()), (Some(epoch), epoch));
    let best = kept.validation.iter().copied().fold(0.0, f64::max);
    let best = kept.validation.iter().position(|&accuracy| accuracy == best).unwrap();
    let short = train(&data, model, Training { epochs: best + 1, ..steep }, split, 0);
    assert_eq!(kept.scores.as_slice(), short.scores.as_slice());
}

/// Rectifiers must not turn what is not a number into zero.
#[test]
fn no_model_hides_that_it_diverged() {
    let edges: Vec<(u32, u32)> = (0..60).map(|k| (k, (k + 1) % 60)).collect();
    let (graph, _) = Graph::from_edges(60, &edges, None).unwrap();
    let features =
        Matrix::from_fn(60, 40, |i, j| if (i * 7 + j * 3) % 5 < 2 { 3e38 } else { -3e38 });
    let names: Vec<Option<&str>> = (0..60).map(|i| Some(if i < 30 { "a" } else { "b" })).collect();
    let features = Features::dense(features).unwrap();
    let data = Dataset::new("huge", graph, features, Labels::from_names(&names)).unwrap();
    let split = Split::new(60, (0..60).step_by(2).collect(), vec![], vec![1, 3]).unwrap();
    for model in models(2).into_iter().chain(models(8)) {
        let context = Context::default();
        let trainer =
            Trainer::new(&data, model, Training::default(), std::slice::from_ref(&split), &context)
                .unwrap();
        let trained = trainer.train(&split, 0, &context).unwrap();
        assert!(trained.diverged.is_some(), "{} at depth {}", model.name(), model.depth());
    }
}

#[test]
fn numbers_out_of_range_are_named() {
    let data = bundled("cora");
    let split = splits(&data, 1);
    let refused = |model: Baseline, training: Training| match Trainer::new(
        &data,
        model,
        training,
        &split,
        &Context::default(),
    ) {
        Err(Error::Parameter { name, .. }) => name,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    };
    let good = Training::default();
    let gcn = Gcn::new(2);
    let model = |gcn: Gcn| Baseline::Gcn(gcn);
    assert_eq!(refused(model(Gcn { depth: 0, ..gcn }), good), "depth of a network");
    assert_eq!(refused(model(Gcn { depth: 1025, ..gcn }), good), "depth of a network");
    assert_eq!(refused(model(Gcn { hidden: 0, ..gcn }), good), "hidden");
    for dropout in [-0.1, 1.0, f64::NAN] {
        assert_eq!(refused(model(Gcn { dropout, ..gcn }), good), "dropout");
    }
    assert_eq!(refused(model(gcn), Training { epochs: 0, ..good }), "epochs");
    for learning_rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            refused(model(gcn), Training { learning_rate: Some(learning_rate), ..good }),
            "learning rate"
        );
    }
    for decay in [-1.0, f64::NAN, f64::INFINITY] {
        let training = Training { weight_decay: Some(decay), ..good };
        assert_eq!(refused(model(gcn), training), "weight decay");
    }
    assert_eq!(refused(model(gcn), Training { patience: Some(0), ..good }), "patience");
    let filter = Filter::sgc(2).unwrap();
    for lambda in [0.0, -1.0, f64::NAN] {
        assert_eq!(refused(Baseline::Dual(Dual { filter, lambda }), good), "lambda");
    }
}
