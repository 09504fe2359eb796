//! A model that changes by one label, and one node that is predicted, each beside doing everything again.

use crate::data::{norm, read, read_splits};
use crate::protocol::{Findings, serve};
use anyhow::{Context as _, Result};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::filter::Filter;
use gfgcn::split::Split;
use gfgcn::training::{Recipe, Removal};
use gfgcn::{Classifier, Model};
use serde_json::json;
use std::path::Path;

/// Where no splits are given, every so many nodes one trains.
const EVERY: usize = 200;

fn lesson(data: &Path, splits: Option<&Path>) -> Result<(Dataset, Split)> {
    let data = read(data)?;
    let split = match splits {
        Some(splits) => read_splits(splits, &data)?.swap_remove(0),
        None => {
            let train = (0..data.nodes()).step_by(EVERY);
            let train = train.filter(|&node| data.labels().get(node).is_some()).collect();
            Split::new(data.nodes(), train, Vec::new(), Vec::new())?
        }
    };
    Ok((data, split))
}

fn check(model: &Model) -> Result<Findings> {
    let (weights, _) = model.members()[0].weights().context("the kernel is linear")?;
    Ok(Findings::check(json!({"weights": norm(weights.as_slice(), weights.cols())})))
}

/// One label less, or one more: by the kept training, or from scratch without keeping anything.
pub(crate) fn relearn(
    data: &Path,
    splits: Option<&Path>,
    depth: usize,
    more: bool,
    from_scratch: bool,
) -> Result<()> {
    let (data, split) = lesson(data, splits)?;
    let (classifier, context) = (Classifier::new(Filter::sgc(depth)?), Context::default());
    let (gone, rest) = split.train().split_first().context("there is a training node")?;
    let less = Split::new(data.nodes(), rest.to_vec(), Vec::new(), Vec::new())?;
    // From all labels to one less, or the other way round.
    let (before, after) = if more { (&less, &split) } else { (&split, &less) };
    let only = |split: &Split| data.clone().with_targets(data.targets().only(split.train()));
    if from_scratch {
        let data = only(after)?;
        return serve(|| Ok(classifier.fit(&data, after, &context)?), |model| check(&model));
    }
    let data = only(before)?;
    let new = only(after)?.targets().only(&[*gone]);
    let model = Recipe::from(classifier).fit(&data, before, &context)?;
    let removal = Removal::Labels(vec![*gone]);
    serve(
        || match more {
            true => Ok(model.update(&data, Some(&new), &context)?.model),
            false => Ok(model.forget(&data, &removal, &context)?.model),
        },
        |model| check(&model),
    )
}

/// The prediction of one node: by what is around it, or by predicting all.
pub(crate) fn near(data: &Path, splits: Option<&Path>, depth: usize, all: bool) -> Result<()> {
    let (data, split) = lesson(data, splits)?;
    let (classifier, context) = (Classifier::new(Filter::sgc(depth)?), Context::default());
    let model = classifier.fit(&data, &split, &context)?;
    let node = data.nodes() - 1;
    serve(
        || match all {
            true => Ok(model.predict(&data, &context)?),
            false => Ok(model.predict_nodes(&data, &[node], &context)?),
        },
        |predictions| Ok(Findings::check(json!({"scores": predictions.scores(node)}))),
    )
}
