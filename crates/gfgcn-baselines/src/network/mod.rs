//! The networks: one file each, with its formula, its parameters and how scores follow from them.

mod appnp;
mod gat;
mod gcn;
mod gcnii;
mod jknet;
pub(crate) mod linear;

pub use appnp::Appnp;
pub use gat::Gat;
pub use gcn::Gcn;
pub use gcnii::Gcnii;
pub use jknet::{JkNet, Jump};
pub use linear::{Dual, Logistic};

use crate::random;
use crate::tape::{Tape, Var};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};
use rand_chacha::ChaCha8Rng;

/// L2 regularisation that the papers of most networks use.
pub(crate) const WEIGHT_DECAY: f64 = 5e-4;
/// The widest hidden layer that is accepted.
const MAX_WIDTH: usize = 4096;
/// The deepest network that is accepted.
const MAX_DEPTH: usize = 1024;

/// A network that scores all nodes at once.
pub(crate) trait Network {
    /// The parameters, in the order in which [`Network::scores`] reads them.
    fn parameters(&self, features: usize, classes: usize) -> Vec<Parameter>;

    /// Nodes × classes.
    fn scores(&self, tape: &mut Tape<'_>) -> Var;

    /// How many numbers training keeps for each node, and for each entry of Ã, about.
    fn kept(&self, classes: usize) -> (usize, usize);

    /// Refuses numbers out of range.
    fn check(&self) -> Result<()>;
}

/// A matrix to be trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parameter {
    rows: usize,
    cols: usize,
    /// Entries start evenly between −bound and bound.
    bound: f64,
    /// The factor of half its squared norm in what is minimised.
    pub(crate) decay: f64,
}

impl Parameter {
    pub(crate) fn uniform(rows: usize, cols: usize, bound: f64, decay: f64) -> Self {
        Parameter { rows, cols, bound, decay }
    }

    /// Glorot and Bengio's bound √(6 / (rows + columns)).
    pub(crate) fn glorot(rows: usize, cols: usize, decay: f64) -> Self {
        Parameter::uniform(rows, cols, (6.0 / (rows + cols) as f64).sqrt(), decay)
    }

    /// A row of zeros.
    pub(crate) fn bias(cols: usize, decay: f64) -> Self {
        Parameter::uniform(1, cols, 0.0, decay)
    }

    /// A weight and a bias that start between ±1/√inputs, as PyTorch's linear layers do.
    pub(crate) fn linear(inputs: usize, outputs: usize, decay: f64) -> [Self; 2] {
        let bound = (inputs as f64).sqrt().recip();
        [inputs, 1].map(|rows| Parameter::uniform(rows, outputs, bound, decay))
    }

    pub(crate) fn start(&self, random: &mut ChaCha8Rng) -> Matrix<f32> {
        random::uniform(self.rows, self.cols, self.bound, random)
    }

    /// Rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    pub(crate) fn entries(&self) -> usize {
        self.rows * self.cols
    }
}

fn check_depth(depth: usize) -> Result<()> {
    in_range("depth of a network", depth, MAX_DEPTH)
}

fn check_width(name: &'static str, width: usize) -> Result<()> {
    in_range(name, width, MAX_WIDTH)
}

fn in_range(name: &'static str, value: usize, largest: usize) -> Result<()> {
    if (1..=largest).contains(&value) {
        Ok(())
    } else {
        Err(Error::parameter(name, value, format!("a whole number from 1 to {largest}")))
    }
}

fn check_dropout(name: &'static str, rate: f64) -> Result<()> {
    if (0.0..1.0).contains(&rate) {
        Ok(())
    } else {
        Err(Error::parameter(name, rate, "a number from 0 to below 1"))
    }
}

fn check_share(name: &'static str, share: f64) -> Result<()> {
    if (0.0..=1.0).contains(&share) {
        Ok(())
    } else {
        Err(Error::parameter(name, share, "a number from 0 to 1"))
    }
}

#[cfg(test)]
mod tests;
