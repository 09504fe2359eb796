//! One epoch of training a graph network by gradient descent.

use crate::data::{read, read_splits};
use crate::protocol::{Findings, Measured, serve_measured};
use anyhow::{Context as _, Result};
use gfgcn::context::Context;
use gfgcn::metrics::test_accuracy;
use gfgcn::split::Split;
use gfgcn_baselines::{Epoch, Method, Trained, Trainer, Training};
use serde_json::json;
use std::path::Path;
use std::slice;
use std::time::{Duration, Instant};

/// Enough for a model whose accuracy says whether everyone trains the same one. Peers do the same.
const EPOCHS: usize = 100;
/// The first epochs, which are not timed: they find cold caches and take memory that later ones have.
const WARM_UP: usize = 10;
const DEPTH: f64 = 2.0;
/// The same in every repetition, so that all of them do the same work.
const SEED: u64 = 0;

/// Forward, backward and Adam's step; the mean over the epochs after the first ones.
pub(crate) fn epoch(data: &Path, splits: &Path, model: &str) -> Result<()> {
    let method = Method::named(model, |parameter| (parameter == "depth").then_some(DEPTH))?;
    let baseline = method.trained().context("a model in closed form has no epochs")?;
    let data = read(data)?;
    let split = read_splits(splits, &data)?.swap_remove(0);
    let training = Training { epochs: EPOCHS, ..Training::default() };
    let trainer =
        Trainer::new(&data, baseline, training, slice::from_ref(&split), &Context::default())?;
    serve_measured(
        || mean_epoch(&trainer, &split),
        |trained| {
            let predictions = trained.predict(split.test());
            let accuracy = test_accuracy(data.labels(), &split, &predictions);
            Ok(Findings::check(json!({"accuracy": accuracy})))
        },
    )
}

/// Trains once. Not the fastest epoch counts, as for other short work: what an epoch leaves to the
/// next ones, such as memory to be given back, is part of it.
fn mean_epoch(trainer: &Trainer<'_>, split: &Split) -> Result<Measured<Trained>> {
    let mut start = Instant::now();
    let mut time = Duration::ZERO;
    let mut watch = |epoch: &Epoch| match epoch.number + 1 {
        WARM_UP => start = Instant::now(),
        EPOCHS => time = start.elapsed(),
        _ => {}
    };
    let trained = trainer.train_watched(split, SEED, &Context::default(), &mut watch)?;
    let calls = EPOCHS - WARM_UP;
    Ok(Measured { seconds: time.as_secs_f64() / calls as f64, calls, result: trained })
}
