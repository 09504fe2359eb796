//! Which splits models are evaluated on: random ones, those of the dataset, or given ones.

use crate::source::SplitSource;
use clap::Args;
use gfgcn::data::Dataset;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Error, Result};
use serde::Serialize;

const MAX_SPLITS: i64 = 10_000;

/// Where splits come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Origin {
    /// Drawn at random, class by class.
    Stratified,
    /// Drawn at random, where there are no classes.
    Random,
    /// All that come with the dataset.
    Official,
    /// The public one, or those in a file.
    Given,
}

#[derive(Args, Clone, Debug)]
pub(super) struct SplitSettings {
    /// Number of random splits
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 20,
        conflicts_with_all = ["public_split", "split"],
        value_parser = clap::value_parser!(u32).range(1..=MAX_SPLITS)
    )]
    splits: u32,
    /// Shares of training, validation and test nodes in each class
    #[arg(
        long,
        value_name = "A:B:C",
        default_value_t = Ratio::PAPER,
        conflicts_with_all = ["public_split", "split"]
    )]
    ratio: Ratio,
    /// Use all splits that come with the dataset
    #[arg(long, conflicts_with_all = ["public_split", "split", "splits", "ratio"])]
    official_splits: bool,
    #[command(flatten)]
    source: SplitSource,
}

impl SplitSettings {
    pub(super) fn origin(&self) -> Origin {
        match (self.source.is_given(), self.official_splits) {
            (true, _) => Origin::Given,
            (false, true) => Origin::Official,
            (false, false) => Origin::Stratified,
        }
    }

    /// The ratio of random splits.
    pub(super) fn ratio(&self) -> Option<Ratio> {
        (self.origin() == Origin::Stratified).then_some(self.ratio)
    }

    /// The splits of the whole dataset that were asked for; none where they are to be drawn.
    pub(super) fn load(&self, whole: &Dataset) -> Result<Vec<Split>> {
        if !self.official_splits {
            return self.source.load(whole);
        }
        match whole.splits() {
            [] => Err(Error::Data(format!(
                "dataset {} comes without splits; leave out --official-splits for random ones, or give \
                 some with --split",
                whole.name()
            ))),
            splits => Ok(splits.to_vec()),
        }
    }

    /// Random splits; the first has this seed, the others follow.
    pub(super) fn draw(&self, dataset: &Dataset, seed: u64) -> Result<Vec<Split>> {
        let draw = |k| Split::random(dataset.targets(), self.ratio, seed.wrapping_add(k));
        (0..u64::from(self.splits)).map(draw).collect()
    }
}
