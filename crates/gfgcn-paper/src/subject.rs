//! What the experiments are done on: four citation graphs, and eleven models.

use gfgcn::data::Dataset;
use gfgcn::filter::Filter;
use gfgcn::ridge::Selection;
use gfgcn::split::{Ratio, Split};
use gfgcn::{Error, Result, Ridge};
use gfgcn_baselines::{DataKey, Method};
use serde::Serialize;
use std::str::FromStr;

/// The depths of the paper's tables.
pub const DEPTHS: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];
/// Splits, and runs, of every cell but those of large networks.
pub const SPLITS: usize = 20;
/// Runs of a network that is large, one whose layers have more rows than this altogether; and seeds of every network.
pub(crate) const LARGE_RUNS: usize = 5;
pub(crate) const LARGE_ROWS: usize = 45_000;
/// The rows of the largest network whose spread over seeds is measured.
pub(crate) const SEEDED_ROWS: usize = 400_000;

/// How closed forms are solved: λ is chosen on the validation part, which the paper's splits have.
pub(crate) fn ridge() -> Ridge {
    Ridge { selection: Selection::Validation, ..Ridge::default() }
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

    /// Its name as a dataset.
    pub fn name(self) -> &'static str {
        match self {
            Which::CoraMl => "cora-ml",
            _ => self.key(),
        }
    }

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

impl FromStr for Which {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Which::ALL.into_iter().find(|which| which.name() == text).ok_or_else(|| {
            let names = Which::ALL.map(Which::name);
            Error::parameter("graph", text, format!("one of {}", names.join(", ")))
        })
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

    /// The splits that a model is run on at a depth.
    pub(crate) fn splits_of(&self, scope: Scope, model: Model, depth: usize) -> &[Split] {
        &self.splits[..scope.runs(model, depth, self.dataset.nodes())]
    }
}

/// A model of the paper, by its name in [`Method::NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Model(&'static str);

#[allow(missing_docs)] // their names say it
impl Model {
    pub const GCN: Model = Model("gcn");
    pub const GAT: Model = Model("gat");
    pub const JKNET: Model = Model("jknet");
    pub const APPNP: Model = Model("appnp");
    pub const GCNII: Model = Model("gcnii");
    pub const SGC: Model = Model("sgc");
    pub const SSGC: Model = Model("ssgc");
    pub const DGC: Model = Model("dgc");
    pub const GF_SGC: Model = Model("gfsgc");
    pub const GF_SSGC: Model = Model("gfssgc");
    pub const GF_DGC: Model = Model("gfdgc");
}

impl Model {
    /// All of them, in the order of the paper.
    pub const ALL: [Model; 11] = [
        Model::GCN,
        Model::GAT,
        Model::JKNET,
        Model::APPNP,
        Model::GCNII,
        Model::SGC,
        Model::SSGC,
        Model::DGC,
        Model::GF_SGC,
        Model::GF_SSGC,
        Model::GF_DGC,
    ];

    /// The models with a filter, trained.
    pub(crate) const LINEAR: [Model; 3] = [Model::SGC, Model::SSGC, Model::DGC];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        self.at(DEPTHS[0]).name()
    }

    /// Whether it is a network, which takes long to train.
    pub fn is_network(self) -> bool {
        self.filter(DEPTHS[0]).is_none()
    }

    /// The filter at a depth, if it has one.
    pub(crate) fn filter(self, depth: usize) -> Option<Filter> {
        self.at(depth).filter()
    }

    /// How it is evaluated at a depth, with the paper's other parameters.
    pub(crate) fn at(self, depth: usize) -> Method {
        let depth = |parameter| (parameter == "depth").then_some(depth as f64);
        Method::named(self.0, depth).expect("the models and depths of the paper are in range")
    }
}

/// Runs of a network in a quick report.
pub(crate) const QUICK_RUNS: usize = 3;

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

    /// The number of runs of a model at a depth on a graph of some nodes: fewer of what takes hours.
    pub fn runs(self, model: Model, depth: usize, nodes: usize) -> usize {
        match self {
            _ if !model.is_network() => SPLITS,
            Scope::Quick => QUICK_RUNS,
            Scope::Full if depth * nodes > LARGE_ROWS => LARGE_RUNS,
            Scope::Full => SPLITS,
        }
    }

    /// The number of seeds that the spread of a model is measured with: none where that takes hours.
    pub fn seeds(self, model: Model, depth: usize, nodes: usize) -> usize {
        match self {
            _ if !model.is_network() => SPLITS,
            Scope::Quick => QUICK_RUNS,
            Scope::Full if depth * nodes > SEEDED_ROWS => 0,
            Scope::Full => LARGE_RUNS,
        }
    }
}
