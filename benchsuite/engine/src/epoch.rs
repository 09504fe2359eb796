//! One epoch of training a graph network by gradient descent.

use crate::data::{read, read_splits};
use crate::protocol::{Findings, Measured, serve_measured};
use anyhow::Result;
use clap::ValueEnum;
use gfgcn::metrics::test_accuracy;
use gfgcn::split::Split;
use gfgcn_baselines::{Baseline, Gat, Gcn, Trained, Trainer, Training};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::Path;
use std::slice;
use std::time::{Duration, Instant};

/// Enough for a model whose accuracy says whether everyone trains the same one. Peers do the same.
const EPOCHS: usize = 100;
/// The first epochs, which are not timed: they find cold caches and take memory that later ones have.
const WARM_UP: usize = 10;
const DEPTH: usize = 2;
/// The same in every repetition, so that all of them do the same work.
const SEED: u64 = 0;

/// The networks that are trained, with their papers' sizes.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ModelName {
    Gcn,
    Gat,
}

impl ModelName {
    fn baseline(self) -> Baseline {
        match self {
            ModelName::Gcn => Baseline::Gcn(Gcn::new(DEPTH)),
            ModelName::Gat => Baseline::Gat(Gat::new(DEPTH)),
        }
    }
}

/// Forward, backward and Adam's step; the mean over the epochs after the first ones.
pub(crate) fn epoch(data: &Path, splits: &Path, model: ModelName) -> Result<()> {
    let data = read(data)?;
    let split = read_splits(splits, &data)?.swap_remove(0);
    let training = Training { epochs: EPOCHS, ..Training::default() };
    let trainer = Trainer::new(&data, model.baseline(), training, slice::from_ref(&split))?;
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
    let trained = trainer.train(split, SEED, &mut |epoch| {
        match epoch.number + 1 {
            WARM_UP => start = Instant::now(),
            EPOCHS => time = start.elapsed(),
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    let calls = EPOCHS - WARM_UP;
    Ok(Measured { seconds: time.as_secs_f64() / calls as f64, calls, result: trained })
}
