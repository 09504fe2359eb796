use super::{Network, Parameter, WEIGHT_DECAY, check_depth, check_dropout, check_width};
use crate::tape::{Tape, Var};
use gfgcn::Result;
use serde::{Deserialize, Serialize};

/// Graph convolutional network (Kipf and Welling, 2017).
///
/// ```text
/// H ← Â (dropout(H) W_l) + b_l,   l = 1, …, K;   ReLU after all but the last
/// ```
///
/// | field | default | range |
/// |---|---|---|
/// | `depth` K | | 1 to 1024 |
/// | `hidden` | 16 | 1 to 4096 |
/// | `dropout` | 0.5 | 0 to below 1 |
///
/// Weights start by Glorot's rule, biases at zero. Weight decay is 5e-4 on the first layer only, as in the paper; with
/// decay on all layers, deep networks learn nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gcn {
    /// K, the number of layers.
    pub depth: usize,
    /// Columns of the hidden layers.
    pub hidden: usize,
    /// The share of entries that is dropped before each layer while training.
    pub dropout: f64,
}

impl Gcn {
    /// The defaults at a depth.
    pub fn new(depth: usize) -> Self {
        Gcn { depth, hidden: 16, dropout: 0.5 }
    }
}

impl Network for Gcn {
    fn parameters(&self, features: usize, classes: usize) -> Vec<Parameter> {
        let inputs = std::iter::once(features).chain(std::iter::repeat(self.hidden));
        let outputs = std::iter::repeat_n(self.hidden, self.depth - 1).chain([classes]);
        let decays = std::iter::once(WEIGHT_DECAY).chain(std::iter::repeat(0.0));
        let layers = inputs.zip(outputs).zip(decays);
        layers.flat_map(|((from, to), decay)| convolution_parameters(from, to, decay)).collect()
    }

    fn scores(&self, tape: &mut Tape<'_>) -> Var {
        let mut h = convolution(tape, 0, None, self.dropout);
        for layer in 1..self.depth {
            let active = tape.relu(h);
            h = convolution(tape, layer, Some(active), self.dropout);
        }
        h
    }

    fn kept(&self, classes: usize) -> (usize, usize) {
        (3 * self.depth * self.hidden + classes, 0)
    }

    fn check(&self) -> Result<()> {
        check_depth(self.depth)?;
        check_width("hidden", self.hidden)?;
        check_dropout("dropout", self.dropout)
    }
}

/// W and b of a convolution.
pub(super) fn convolution_parameters(from: usize, to: usize, decay: f64) -> [Parameter; 2] {
    [Parameter::glorot(from, to, decay), Parameter::bias(to, decay)]
}

/// Â (dropout(H) W) + b with the parameters of a layer; the features in place of H if there is none.
pub(super) fn convolution(tape: &mut Tape<'_>, layer: usize, h: Option<Var>, dropout: f64) -> Var {
    let (weight, bias) = (tape.parameter(2 * layer), tape.parameter(2 * layer + 1));
    let product = match h {
        None => tape.features_times(&weight, dropout),
        Some(h) => {
            let h = tape.dropout(h, dropout);
            tape.multiply(&h, &weight)
        }
    };
    let sums = tape.propagate(product);
    tape.add_bias(sums, &bias)
}
