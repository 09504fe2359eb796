use super::gcn::{convolution, convolution_parameters};
use super::{Network, Parameter, WEIGHT_DECAY, check_depth, check_dropout, check_width};
use crate::tape::{Tape, Var};
use gfgcn::Result;
use serde::{Deserialize, Serialize};

/// How a [`JkNet`] joins its layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Jump {
    /// Side by side.
    Concat,
    /// The largest at every place.
    Max,
}

/// Jumping knowledge network (Xu et al., 2018).
///
/// ```text
/// H_l = ReLU(Â (dropout(H_{l−1}) W_l) + b_l),   l = 1, …, K
/// scores = dropout(join(H_1, …, H_K)) W + b
/// ```
///
/// | field | default | range |
/// |---|---|---|
/// | `depth` K | | 1 to 1024 |
/// | `hidden` | 16 | 1 to 4096 |
/// | `dropout` | 0.5 | 0 to below 1 |
/// | `jump` | concatenation | |
///
/// Weights start by Glorot's rule, biases at zero. Weight decay is 5e-4 on all parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JkNet {
    /// K, the number of convolutions.
    pub depth: usize,
    /// Columns of each layer.
    pub hidden: usize,
    /// The share of entries that is dropped before each layer while training.
    pub dropout: f64,
    /// How the layers are joined.
    pub jump: Jump,
}

impl JkNet {
    /// The defaults at a depth.
    pub fn new(depth: usize, jump: Jump) -> Self {
        JkNet { depth, hidden: 16, dropout: 0.5, jump }
    }
}

impl Network for JkNet {
    fn parameters(&self, features: usize, classes: usize) -> Vec<Parameter> {
        let inputs = std::iter::once(features).chain(std::iter::repeat(self.hidden));
        let convolutions = inputs.take(self.depth);
        let mut parameters: Vec<Parameter> = convolutions
            .flat_map(|from| convolution_parameters(from, self.hidden, WEIGHT_DECAY))
            .collect();
        let joined = match self.jump {
            Jump::Concat => self.depth * self.hidden,
            Jump::Max => self.hidden,
        };
        parameters.push(Parameter::glorot(joined, classes, WEIGHT_DECAY));
        parameters.push(Parameter::bias(classes, WEIGHT_DECAY));
        parameters
    }

    fn scores(&self, tape: &mut Tape<'_>) -> Var {
        let mut layers: Vec<Var> = Vec::with_capacity(self.depth);
        for layer in 0..self.depth {
            let below = layers.last().map(|below| tape.again(below));
            let h = convolution(tape, layer, below, self.dropout);
            layers.push(tape.relu(h));
        }
        let joined = match self.jump {
            Jump::Concat => tape.concatenate(&layers),
            Jump::Max => tape.maximum(&layers),
        };
        let joined = tape.dropout(joined, self.dropout);
        let (weight, bias) = (tape.parameter(2 * self.depth), tape.parameter(2 * self.depth + 1));
        let scores = tape.multiply(&joined, &weight);
        tape.add_bias(scores, &bias)
    }

    fn kept(&self, classes: usize) -> (usize, usize) {
        (6 * self.depth * self.hidden + classes, 0)
    }

    fn check(&self) -> Result<()> {
        check_depth(self.depth)?;
        check_width("hidden", self.hidden)?;
        check_dropout("dropout", self.dropout)
    }
}
