//! The models by name, and the options of those that are trained by gradient descent.

use crate::output::Output;
use crate::run_cache;
use crate::settings::{Refusal, Settings, number};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use gfgcn::Result;
use gfgcn_baselines::{Cache, Method, Training};

/// Runs on a split that was given, unless said otherwise.
const RUNS_ON_A_GIVEN_SPLIT: u32 = 20;
const MAX_RUNS: i64 = 10_000;

/// What the help says about each model.
fn help(name: &str) -> &'static str {
    match name {
        "gfsgc" => "Â^K",
        "gfssgc" => "mean of Â, …, Â^K, with a share τ of the node's own features",
        "gfdgc" => "diffusion to time T in K steps",
        "gcn" => "graph convolutional network",
        "gat" => "graph attention network",
        "jknet" => "jumping knowledge network, layers side by side",
        "jknet-max" => "jumping knowledge network, the largest of all layers",
        "appnp" => "predict, then propagate by personalised PageRank",
        "gcnii" => "initial residual and identity mapping",
        "sgc" => "logistic regression on Â^K X",
        "auto" => "what gfgcn fit finds without options, on each split",
        "features" => "the closed form on a node's own features, without the graph",
        _ => "logistic regression on the features of the model with gf before its name",
    }
}

/// Any model that can be evaluated, by its name.
pub(super) fn names() -> PossibleValuesParser {
    Method::NAMES.map(|name| PossibleValue::new(name).help(help(name))).into()
}

/// How models are trained that have no closed form.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Models trained by gradient descent")]
pub(super) struct TrainingSettings {
    /// Passes over the training nodes [default: 200]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    epochs: Option<usize>,
    /// Adam's learning rate [default: each model's own: 0.01, and 0.2 for sgc, ssgc and dgc]
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
    /// Ignore the cache: train everything again and store nothing. Otherwise finished runs are kept in the user's cache
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
        let default = Training::default();
        let training = Training {
            epochs: self.epochs.unwrap_or(default.epochs),
            learning_rate: self.learning_rate,
            weight_decay: self.weight_decay,
            patience: self.patience,
            normalization: settings.operator().normalization,
            rows: settings.rows(),
            tolerance: settings.tolerance(),
        };
        training.check()?;
        Ok(training)
    }

    /// What only networks have.
    pub(super) fn of_network(&self, parameter: &str) -> Option<f64> {
        match parameter {
            "hidden" => self.hidden.map(|hidden| hidden as f64),
            "dropout" => self.dropout,
            _ => None,
        }
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
