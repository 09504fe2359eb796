//! Real graphs, and all models.

#![allow(dead_code)] // not every test uses everything

#[path = "../../../gfgcn/tests/published/mod.rs"]
mod published;

use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::filter::Filter;
use gfgcn::split::{Ratio, Split};
use gfgcn_baselines::{Appnp, Baseline, Gat, Gcn, Gcnii, JkNet, Jump};
use gfgcn_data::npz;
use published::published;

/// The largest component of a bundled dataset.
pub(crate) fn bundled(name: &str) -> Dataset {
    let bytes = gfgcn_datasets::find(name).unwrap().bytes;
    npz::from_bytes(bytes, name, &Context::default()).unwrap().largest_component()
}

/// The largest component of a dataset beside the checkout or in `GFGCN_DATA`; `None`, said aloud,
/// without.
pub(crate) fn local(name: &str) -> Option<Dataset> {
    let path = published(&format!("{name}.npz"))?;
    Some(npz::read(&path, name, &Context::default()).unwrap().largest_component())
}

/// Splits by the paper's protocol.
pub(crate) fn splits(dataset: &Dataset, count: u64) -> Vec<Split> {
    (0..count)
        .map(|seed| Split::stratified(dataset.labels(), Ratio::PAPER, seed).unwrap())
        .collect()
}

/// Every model at a depth.
pub(crate) fn models(depth: usize) -> Vec<Baseline> {
    vec![
        Baseline::Gcn(Gcn::new(depth)),
        Baseline::Gat(Gat::new(depth)),
        Baseline::JkNet(JkNet::new(depth, Jump::Concat)),
        Baseline::JkNet(JkNet::new(depth, Jump::Max)),
        Baseline::Appnp(Appnp::new(depth)),
        Baseline::Gcnii(Gcnii::new(depth)),
        Baseline::logistic(Filter::sgc(depth).unwrap()),
        Baseline::logistic(Filter::ssgc(depth, 0.05).unwrap()),
        Baseline::logistic(Filter::dgc(depth, 1.5).unwrap()),
    ]
}
