//! What the result of a run depends on.

use crate::model::Baseline;
use crate::train::Training;
use gfgcn::data::Dataset;
use gfgcn::features::Features;
use gfgcn::hex;
use gfgcn::split::Split;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Data, as a part of a key in a [`crate::Cache`].
///
/// More than their fingerprint, which is the same for data that mean the same: the order of the classes
/// decides which column of the first weights is whose, and how the features are stored, which of them are
/// dropped.
#[derive(Clone, Debug, Serialize)]
pub struct DataKey {
    fingerprint: String,
    classes: Vec<String>,
    sparse: bool,
}

impl DataKey {
    /// The key of some data.
    pub fn new(dataset: &Dataset) -> Self {
        DataKey {
            fingerprint: dataset.fingerprint(),
            classes: dataset.labels().classes().to_vec(),
            sparse: matches!(dataset.features(), Features::Sparse(_)),
        }
    }
}

/// A split, as a part of a key.
#[derive(Clone, Debug, Serialize)]
pub struct SplitKey(String);

impl SplitKey {
    /// The key of a split.
    pub fn new(split: &Split) -> Self {
        let mut hash = Sha256::new();
        for (_, part) in split.parts() {
            hash.update((part.len() as u64).to_le_bytes());
            part.iter().for_each(|&node| hash.update((node as u64).to_le_bytes()));
        }
        SplitKey(hex(&hash.finalize()))
    }
}

/// One model, trained on one split.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RunKey<'a> {
    pub(crate) data: &'a DataKey,
    pub(crate) model: Baseline,
    pub(crate) training: Training,
    pub(crate) split: SplitKey,
    pub(crate) seed: u64,
}
