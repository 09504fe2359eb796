//! The models by name, and the options of those that are trained by gradient descent.

use crate::output::Output;
use crate::run_cache;
use crate::settings::{ModelKind, Refusal, Settings, number};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use gfgcn::Result;
use gfgcn_baselines::{Appnp, Baseline, Cache, Gat, Gcn, Gcnii, JkNet, Jump, Training};
use std::sync::LazyLock;

/// Runs on a split that was given, unless said otherwise.
const RUNS_ON_A_GIVEN_SPLIT: u32 = 20;
const MAX_RUNS: i64 = 10_000;

/// Any model that can be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelName {
    ClosedForm(ModelKind),
    Trained(TrainedKind),
}

/// The models that are trained by gradient descent, by the paper's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TrainedKind {
    /// graph convolutional network
    Gcn,
    /// graph attention network
    Gat,
    /// jumping knowledge network, layers side by side
    Jknet,
    /// jumping knowledge network, the largest of all layers
    JknetMax,
    /// predict, then propagate by personalised PageRank
    Appnp,
    /// initial residual and identity mapping
    Gcnii,
    /// logistic regression on Â^K X
    Sgc,
    /// logistic regression on the features of gfssgc
    Ssgc,
    /// logistic regression on the features of gfdgc
    Dgc,
}

impl ValueEnum for ModelName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ModelName>> = LazyLock::new(|| {
            let closed_form = ModelKind::value_variants().iter().copied();
            let trained = TrainedKind::value_variants().iter().copied();
            closed_form.map(ModelName::ClosedForm).chain(trained.map(ModelName::Trained)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            ModelName::ClosedForm(kind) => kind.to_possible_value(),
            ModelName::Trained(kind) => kind.to_possible_value(),
        }
    }
}

/// How models are trained that have no closed form.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Models trained by gradient descent")]
pub(super) struct TrainingSettings {
    /// Passes over the training nodes [default: 200]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    epochs: Option<usize>,
    /// Adam's learning rate [default: 0.01]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = number)]
    learning_rate: Option<f64>,
    /// L2 regularisation of all parameters [default: each model's own]
    #[arg(long, value_name = "DECAY", allow_negative_numbers = true, value_parser = number)]
    weight_decay: Option<f64>,
    /// Columns of hidden layers, per head in gat [default: each model's own]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    hidden: Option<usize>,
    /// Share of entries that are dropped while training [default: each model's own]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = number)]
    dropout: Option<f64>,
    /// Look at the validation part after every epoch, stop when its accuracy has not risen for so
    /// many, and keep the best weights [default: train to the end]
    #[arg(long, value_name = "EPOCHS", allow_negative_numbers = true, value_parser = whole)]
    patience: Option<usize>,
    /// Runs with different seeds on a given split; random splits have one each [default: 20]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = runs
    )]
    runs: Option<u32>,
    /// Train everything anew, and keep nothing. Otherwise finished runs are kept in the user's cache
    /// folder, or in the folder that GFGCN_CACHE names; gfgcn cache clear deletes them
    #[arg(long)]
    no_cache: bool,
}

fn whole(text: &str) -> std::result::Result<usize, Refusal> {
    text.parse().map_err(|_| "not a whole number".into())
}

fn runs(text: &str) -> std::result::Result<u32, Refusal> {
    match text.parse() {
        Ok(runs) if (1..=MAX_RUNS).contains(&i64::from(runs)) => Ok(runs),
        _ => Err(format!("not a whole number from 1 to {MAX_RUNS}").into()),
    }
}

impl TrainingSettings {
    /// An option that was given, if any was.
    pub(super) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--epochs", self.epochs.is_some()),
            ("--learning-rate", self.learning_rate.is_some()),
            ("--weight-decay", self.weight_decay.is_some()),
            ("--hidden", self.hidden.is_some()),
            ("--dropout", self.dropout.is_some()),
            ("--patience", self.patience.is_some()),
            ("--runs", self.runs.is_some()),
            ("--no-cache", self.no_cache),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// An option that was given and that only networks know, if any was.
    pub(super) fn of_networks(&self) -> Option<&'static str> {
        match (self.hidden, self.dropout) {
            (Some(_), _) => Some("--hidden"),
            (None, Some(_)) => Some("--dropout"),
            (None, None) => None,
        }
    }

    pub(super) fn training(&self, settings: &Settings) -> Result<Training> {
        let (options, default) = (settings.options(), Training::default());
        let training = Training {
            epochs: self.epochs.unwrap_or(default.epochs),
            learning_rate: self.learning_rate.unwrap_or(default.learning_rate),
            weight_decay: self.weight_decay,
            patience: self.patience,
            normalization: options.normalization,
            row_normalize: options.row_normalize,
            tolerance: options.tolerance,
        };
        training.check()?;
        Ok(training)
    }

    pub(super) fn model(
        &self,
        kind: TrainedKind,
        depth: usize,
        settings: &Settings,
    ) -> Result<Baseline> {
        let mut model = match kind {
            TrainedKind::Gcn => Baseline::Gcn(Gcn::new(depth)),
            TrainedKind::Gat => Baseline::Gat(Gat::new(depth)),
            TrainedKind::Jknet => Baseline::JkNet(JkNet::new(depth, Jump::Concat)),
            TrainedKind::JknetMax => Baseline::JkNet(JkNet::new(depth, Jump::Max)),
            TrainedKind::Appnp => Baseline::Appnp(Appnp::new(depth)),
            TrainedKind::Gcnii => Baseline::Gcnii(Gcnii::new(depth)),
            TrainedKind::Sgc => Baseline::logistic(settings.filter(ModelKind::Sgc, depth)?),
            TrainedKind::Ssgc => Baseline::logistic(settings.filter(ModelKind::Ssgc, depth)?),
            TrainedKind::Dgc => Baseline::logistic(settings.filter(ModelKind::Dgc, depth)?),
        };
        let (hidden, dropout) = match &mut model {
            Baseline::Gcn(Gcn { hidden, dropout, .. })
            | Baseline::Gat(Gat { hidden, dropout, .. })
            | Baseline::JkNet(JkNet { hidden, dropout, .. })
            | Baseline::Appnp(Appnp { hidden, dropout, .. })
            | Baseline::Gcnii(Gcnii { hidden, dropout, .. }) => (Some(hidden), Some(dropout)),
            Baseline::Logistic(_) | Baseline::Dual(_) => (None, None),
        };
        hidden.into_iter().zip(self.hidden).for_each(|(hidden, given)| *hidden = given);
        dropout.into_iter().zip(self.dropout).for_each(|(dropout, given)| *dropout = given);
        model.check()?;
        Ok(model)
    }

    pub(super) fn runs_on_a_given_split(&self) -> u32 {
        self.runs.unwrap_or(RUNS_ON_A_GIVEN_SPLIT)
    }

    /// Whether a number of runs was asked for.
    pub(super) fn says_runs(&self) -> bool {
        self.runs.is_some()
    }

    /// The cache, unless none is wanted or there is no place for one.
    pub(super) fn cache(&self, output: &Output) -> Option<Cache> {
        if self.no_cache { None } else { run_cache::open(output) }
    }
}
