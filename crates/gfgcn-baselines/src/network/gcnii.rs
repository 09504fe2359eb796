use super::{
    Network, Parameter, WEIGHT_DECAY, check_depth, check_dropout, check_share, check_width,
};
use crate::tape::{Tape, Var};
use gfgcn::{Error, Result};
use serde::{Deserialize, Serialize};

/// L2 regularisation of the convolutions in the paper.
const CONVOLUTION_DECAY: f64 = 0.01;

/// Graph convolutions with initial residual and identity mapping (Chen et al., 2020).
///
/// ```text
/// H_0 = ReLU(dropout(X) W_in + b_in)
/// H ← ReLU(((1 − α) Â dropout(H) + α H_0) ((1 − β_l) I + β_l W_l)),   β_l = log(λ/l + 1),   l = 1, …, K
/// scores = dropout(H) W_out + b_out
/// ```
///
/// | field | default | range |
/// |---|---|---|
/// | `depth` K | | 1 to 1024 |
/// | `hidden` | 64 | 1 to 4096 |
/// | `dropout` | 0.6 | 0 to below 1 |
/// | `alpha` α | 0.1 | 0 to 1 |
/// | `lambda` λ | 0.5 | 0 to e − 1 |
///
/// Weights start as in the authors' program, between ±1/√inputs. Weight decay is 0.01 on the
/// convolutions and 5e-4 on the first and the last layer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gcnii {
    /// K, the number of convolutions.
    pub depth: usize,
    /// Columns of each layer.
    pub hidden: usize,
    /// The share of entries that is dropped before each layer while training.
    pub dropout: f64,
    /// α, the share of the first layer.
    pub alpha: f64,
    /// λ, which says how fast the convolutions approach the identity.
    pub lambda: f64,
}

impl Gcnii {
    /// The defaults at a depth.
    pub fn new(depth: usize) -> Self {
        Gcnii { depth, hidden: 64, dropout: 0.6, alpha: 0.1, lambda: 0.5 }
    }
}

impl Network for Gcnii {
    fn parameters(&self, features: usize, classes: usize) -> Vec<Parameter> {
        let hidden = self.hidden;
        let bound = (hidden as f64).sqrt().recip();
        let convolution = Parameter::uniform(hidden, hidden, bound, CONVOLUTION_DECAY);
        let mut parameters = Parameter::linear(features, hidden, WEIGHT_DECAY).to_vec();
        parameters.extend(std::iter::repeat_n(convolution, self.depth));
        parameters.extend(Parameter::linear(hidden, classes, WEIGHT_DECAY));
        parameters
    }

    fn scores(&self, tape: &mut Tape<'_>) -> Var {
        let (walk, stay) = ((1.0 - self.alpha) as f32, self.alpha as f32);
        let h = tape.features_times(&tape.parameter(0), self.dropout);
        let h = tape.add_bias(h, &tape.parameter(1));
        let first = tape.relu(h);
        let mut h = tape.again(&first);
        for layer in 1..=self.depth {
            let beta = (self.lambda / layer as f64).ln_1p() as f32;
            let dropped = tape.dropout(h, self.dropout);
            let mixed = tape.propagate_add(walk, dropped, stay, &first);
            let product = tape.multiply(&mixed, &tape.parameter(1 + layer));
            let sum = tape.combine(beta, product, 1.0 - beta, &mixed);
            h = tape.relu(sum);
        }
        let h = tape.dropout(h, self.dropout);
        let scores = tape.multiply(&h, &tape.parameter(2 + self.depth));
        tape.add_bias(scores, &tape.parameter(3 + self.depth))
    }

    fn kept(&self, classes: usize) -> (usize, usize) {
        (3 * (self.depth + 2) * self.hidden + classes, 0)
    }

    fn check(&self) -> Result<()> {
        check_depth(self.depth)?;
        check_width("hidden", self.hidden)?;
        check_dropout("dropout", self.dropout)?;
        check_share("alpha", self.alpha)?;
        // β_1 is a share as well.
        if (0.0..=std::f64::consts::E - 1.0).contains(&self.lambda) {
            Ok(())
        } else {
            Err(Error::parameter("lambda", self.lambda, "a number from 0 to e − 1"))
        }
    }
}
