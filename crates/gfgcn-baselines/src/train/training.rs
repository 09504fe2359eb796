//! How models are trained: the numbers, their defaults and their ranges.

use gfgcn::filter::{Filter, Tolerance};
use gfgcn::graph::Normalization;
use gfgcn::{Design, Error, Result, RowScaling};
use serde::{Deserialize, Serialize};

/// How models are trained, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Passes over the training nodes, 1 to 1 000 000; the paper's 200 by default.
    pub epochs: usize,
    /// Adam's learning rate, positive; without it each model has its own: 0.01, and 0.2 for SGC, SSGC and DGC.
    pub learning_rate: Option<f64>,
    /// L2 regularisation of all parameters, 0 or more; without it each model has its own.
    pub weight_decay: Option<f64>,
    /// With it, the validation part is looked at after every epoch: training stops when its accuracy
    /// has not risen for so many epochs, and the best weights are kept. Off by default.
    pub patience: Option<usize>,
    /// How the matrix of the graph that is multiplied by is normalised: networks follow all edges, either way.
    pub normalization: Normalization,
    /// What is done to each node's features first.
    pub rows: RowScaling,
    /// What cutting a filter's series off may change.
    pub tolerance: Tolerance,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            epochs: 200,
            learning_rate: None,
            weight_decay: None,
            patience: None,
            normalization: Normalization::default(),
            rows: RowScaling::default(),
            tolerance: Tolerance::default(),
        }
    }
}

impl Training {
    /// What is computed of the features where a filter is applied before the training.
    pub fn design(&self, filter: Filter) -> Design {
        let design =
            Design::from(filter).with_operator(self.normalization.into()).with_rows(self.rows);
        design.with_tolerance(self.tolerance)
    }

    /// Refuses numbers out of range, naming them.
    pub fn check(&self) -> Result<()> {
        const MAX_EPOCHS: usize = 1_000_000;
        if !(1..=MAX_EPOCHS).contains(&self.epochs) {
            let range = format!("a whole number from 1 to {MAX_EPOCHS}");
            return Err(Error::parameter("epochs", self.epochs, range));
        }
        if let Some(rate) = self.learning_rate.filter(|rate| !(*rate > 0.0 && rate.is_finite())) {
            return Err(Error::parameter("learning rate", rate, "a positive number"));
        }
        if let Some(decay) = self.weight_decay.filter(|d| !(*d >= 0.0 && d.is_finite())) {
            return Err(Error::parameter("weight decay", decay, "a number not below 0"));
        }
        if self.patience == Some(0) {
            return Err(Error::parameter("patience", 0, "a whole number not below 1"));
        }
        Ok(())
    }
}
