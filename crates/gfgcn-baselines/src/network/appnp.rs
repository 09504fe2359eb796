use super::{Network, Parameter, check_depth, check_dropout, check_share, check_width};
use crate::tape::{Tape, Var};
use gfgcn::Result;
use serde::{Deserialize, Serialize};

/// L2 regularisation of the first layer in the paper.
const FIRST_LAYER_DECAY: f64 = 5e-3;

/// Predict, then propagate by personalised PageRank (Gasteiger et al., 2019).
///
/// ```text
/// H = dropout(ReLU(dropout(X) W_1 + b_1)) W_2 + b_2
/// Z ← (1 − α) Â Z + α H,   K times, from Z = H
/// ```
///
/// | field | default | range |
/// |---|---|---|
/// | `depth` K | | 1 to 1024 |
/// | `hidden` | 64 | 1 to 4096 |
/// | `dropout` | 0.5 | 0 to below 1 |
/// | `alpha` α | 0.1 | 0 to 1 |
///
/// Weights start by Glorot's rule, biases at zero. Weight decay is 5e-3 on the first layer only.
/// Unlike in the paper, no entries of Â are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Appnp {
    /// K, the number of steps.
    pub depth: usize,
    /// Columns of the hidden layer.
    pub hidden: usize,
    /// The share of entries that is dropped before each layer while training.
    pub dropout: f64,
    /// α, the share of a node's own prediction.
    pub alpha: f64,
}

impl Appnp {
    /// The defaults at a depth.
    pub fn new(depth: usize) -> Self {
        Appnp { depth, hidden: 64, dropout: 0.5, alpha: 0.1 }
    }
}

impl Network for Appnp {
    fn parameters(&self, features: usize, classes: usize) -> Vec<Parameter> {
        vec![
            Parameter::glorot(features, self.hidden, FIRST_LAYER_DECAY),
            Parameter::bias(self.hidden, FIRST_LAYER_DECAY),
            Parameter::glorot(self.hidden, classes, 0.0),
            Parameter::bias(classes, 0.0),
        ]
    }

    fn scores(&self, tape: &mut Tape<'_>) -> Var {
        let [w_1, b_1, w_2, b_2] = [0, 1, 2, 3].map(|k| tape.parameter(k));
        let hidden = tape.features_times(&w_1, self.dropout);
        let hidden = tape.add_bias(hidden, &b_1);
        let hidden = tape.relu(hidden);
        let hidden = tape.dropout(hidden, self.dropout);
        let scores = tape.multiply(&hidden, &w_2);
        let scores = tape.add_bias(scores, &b_2);
        let (walk, stay) = ((1.0 - self.alpha) as f32, self.alpha as f32);
        let start = tape.again(&scores);
        (0..self.depth).fold(start, |z, _| tape.propagate_add(walk, z, stay, &scores))
    }

    fn kept(&self, classes: usize) -> (usize, usize) {
        (3 * self.hidden + 3 * classes, 0)
    }

    fn check(&self) -> Result<()> {
        check_depth(self.depth)?;
        check_width("hidden", self.hidden)?;
        check_dropout("dropout", self.dropout)?;
        check_share("alpha", self.alpha)
    }
}
