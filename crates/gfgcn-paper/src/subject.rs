//! What the experiments are done on: four citation graphs, and eleven models.

use gfgcn::data::Dataset;
use gfgcn::filter::{DEFAULT_TAU, DEFAULT_TIME, Filter};
use gfgcn::ridge::Selection;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Options, Result};
use gfgcn_baselines::{Appnp, Baseline, DataKey, Gat, Gcn, Gcnii, JkNet, Jump};
use serde::Serialize;

/// The depths of the paper's tables.
pub const DEPTHS: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];
/// Splits, and runs, of every cell.
pub const SPLITS: usize = 20;

/// How closed forms are solved: λ is chosen on the validation part, which the paper's splits have.
pub(crate) fn options() -> Options {
    Options { selection: Selection::Validation, ..Options::default() }
}

/// A graph of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // their names say it
pub enum Which {
    Cora,
    CoraMl,
    Citeseer,
    PubMed,
}

impl Which {
    /// All of them, in the order of the paper.
    pub const ALL: [Which; 4] = [Which::Cora, Which::CoraMl, Which::Citeseer, Which::PubMed];

    /// Its name in the published tables.
    pub fn key(self) -> &'static str {
        match self {
            Which::Cora => "cora",
            Which::CoraMl => "cora_ml",
            Which::Citeseer => "citeseer",
            Which::PubMed => "pubmed",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Which::Cora => "Cora",
            Which::CoraMl => "Cora-ML",
            Which::Citeseer => "Citeseer",
            Which::PubMed => "PubMed",
        }
    }
}

/// A graph of the paper with its splits.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Which one.
    pub which: Which,
    /// Its largest connected component.
    pub dataset: Dataset,
    /// Twenty splits 1:1:8 of each class, with the seeds 0 to 19.
    pub splits: Vec<Split>,
    /// The data in keys of the cache; walks through all of them, so it is made once.
    pub(crate) key: DataKey,
}

impl Subject {
    /// The paper's protocol on a graph.
    ///
    /// # Errors
    /// If a class is too small to be split.
    pub fn new(which: Which, whole: &Dataset) -> Result<Self> {
        let dataset = whole.largest_component();
        let splits = (0..SPLITS as u64)
            .map(|seed| Split::stratified(dataset.labels(), Ratio::PAPER, seed))
            .collect::<Result<_>>()?;
        let key = DataKey::new(&dataset);
        Ok(Subject { which, dataset, splits, key })
    }
}

/// A model of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[allow(missing_docs)] // their names say it
pub enum Model {
    Gcn,
    Gat,
    JkNet,
    Appnp,
    Gcnii,
    Sgc,
    Ssgc,
    Dgc,
    GfSgc,
    GfSsgc,
    GfDgc,
}

/// How a model is evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    ClosedForm(Filter),
    Trained(Baseline),
}

impl Model {
    /// All of them, in the order of the paper.
    pub const ALL: [Model; 11] = [
        Model::Gcn,
        Model::Gat,
        Model::JkNet,
        Model::Appnp,
        Model::Gcnii,
        Model::Sgc,
        Model::Ssgc,
        Model::Dgc,
        Model::GfSgc,
        Model::GfSsgc,
        Model::GfDgc,
    ];

    /// The models with a filter, trained.
    pub(crate) const LINEAR: [Model; 3] = [Model::Sgc, Model::Ssgc, Model::Dgc];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Model::Gcn => "GCN",
            Model::Gat => "GAT",
            Model::JkNet => "JKNet",
            Model::Appnp => "APPNP",
            Model::Gcnii => "GCNII",
            Model::Sgc => "SGC",
            Model::Ssgc => "SSGC",
            Model::Dgc => "DGC",
            Model::GfSgc => "gfSGC",
            Model::GfSsgc => "gfSSGC",
            Model::GfDgc => "gfDGC",
        }
    }

    /// Whether it is a network, which takes long to train.
    pub fn is_network(self) -> bool {
        self < Model::Sgc
    }

    /// The filter at a depth, if it has one.
    pub(crate) fn filter(self, depth: usize) -> Option<Filter> {
        let filter = match self {
            Model::Sgc | Model::GfSgc => Filter::sgc(depth),
            Model::Ssgc | Model::GfSsgc => Filter::ssgc(depth, DEFAULT_TAU),
            Model::Dgc | Model::GfDgc => Filter::dgc(depth, DEFAULT_TIME),
            _ => return None,
        };
        Some(filter.expect("the depths of the paper are in range"))
    }

    pub(crate) fn at(self, depth: usize) -> Way {
        match (self, self.filter(depth)) {
            (Model::GfSgc | Model::GfSsgc | Model::GfDgc, Some(filter)) => Way::ClosedForm(filter),
            (_, Some(filter)) => Way::Trained(Baseline::logistic(filter)),
            (Model::Gat, _) => Way::Trained(Baseline::Gat(Gat::new(depth))),
            (Model::JkNet, _) => Way::Trained(Baseline::JkNet(JkNet::new(depth, Jump::Concat))),
            (Model::Appnp, _) => Way::Trained(Baseline::Appnp(Appnp::new(depth))),
            (Model::Gcnii, _) => Way::Trained(Baseline::Gcnii(Gcnii::new(depth))),
            _ => Way::Trained(Baseline::Gcn(Gcn::new(depth))),
        }
    }
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Closed forms and linear models in full, networks at shallow depths with a few runs.
    Quick,
    /// Everything.
    Full,
}

impl Scope {
    /// The depths of a model.
    pub fn depths(self, model: Model) -> &'static [usize] {
        if self == Scope::Quick && model.is_network() { &DEPTHS[..3] } else { &DEPTHS }
    }

    /// The number of runs of a model.
    pub fn runs(self, model: Model) -> usize {
        if self == Scope::Quick && model.is_network() { 3 } else { SPLITS }
    }
}
