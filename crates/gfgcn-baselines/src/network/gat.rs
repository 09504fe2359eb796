use super::{Network, Parameter, WEIGHT_DECAY, check_depth, check_dropout, check_width};
use crate::tape::{Shape, Tape, Var};
use gfgcn::Result;
use serde::{Deserialize, Serialize};

/// Graph attention network (Veličković et al., 2018).
///
/// ```text
/// G = dropout(H) W_l;   s_j = ⟨a_l, g_j⟩,  t_i = ⟨a'_l, g_i⟩   for every head
/// α_ij = softmax_j leaky(s_j + t_i)   over the neighbours j of i and i itself
/// H ← Σ_j attention-dropout(α_ij) g_j + b_l,   l = 1, …, K;   ELU after all but the last
/// ```
///
/// | field | default | range |
/// |---|---|---|
/// | `depth` K | | 1 to 1024 |
/// | `heads` | 8 | 1 to 4096 |
/// | `hidden`, per head | 8 | 1 to 4096 |
/// | `dropout` | 0.6 | 0 to below 1 |
/// | `attention_dropout` | 0.6 | 0 to below 1 |
///
/// The heads stand side by side, the first columns of all of them first: column d · heads + h is the d-th of head h. The last
/// layer has one head with a column per class. Weights start by
/// Glorot's rule, biases at zero. Weight decay is 5e-4 on all parameters. Edge weights and the
/// normalisation of the adjacency play no part. (On PubMed the paper has eight heads in the last layer, too.)
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gat {
    /// K, the number of layers.
    pub depth: usize,
    /// The number of heads of all layers but the last.
    pub heads: usize,
    /// Columns of each head.
    pub hidden: usize,
    /// The share of entries that is dropped before each layer while training.
    pub dropout: f64,
    /// The share of attention coefficients that is dropped while training.
    pub attention_dropout: f64,
}

impl Gat {
    /// The defaults at a depth.
    pub fn new(depth: usize) -> Self {
        Gat { depth, heads: 8, hidden: 8, dropout: 0.6, attention_dropout: 0.6 }
    }

    /// The number of heads and their columns in a layer.
    fn shape(&self, layer: usize, classes: usize) -> Shape {
        if layer + 1 == self.depth {
            Shape { heads: 1, width: classes }
        } else {
            Shape { heads: self.heads, width: self.hidden }
        }
    }
}

impl Network for Gat {
    fn parameters(&self, features: usize, classes: usize) -> Vec<Parameter> {
        let mut inputs = features;
        let layers = (0..self.depth).flat_map(|layer| {
            let Shape { heads, width } = self.shape(layer, classes);
            let outputs = heads * width;
            let bound = (6.0 / (heads + width) as f64).sqrt();
            let vector = Parameter::uniform(1, outputs, bound, WEIGHT_DECAY);
            let weight = Parameter::glorot(inputs, outputs, WEIGHT_DECAY);
            inputs = outputs;
            [weight, vector, vector, Parameter::bias(outputs, WEIGHT_DECAY)]
        });
        layers.collect()
    }

    fn scores(&self, tape: &mut Tape<'_>) -> Var {
        let mut h = None;
        for layer in 0..self.depth {
            let [weight, source, target, bias] =
                [0, 1, 2, 3].map(|k| tape.parameter(4 * layer + k));
            let product = match h {
                None => tape.features_times(&weight, self.dropout),
                Some(h) => {
                    let active = tape.elu(h);
                    let dropped = tape.dropout(active, self.dropout);
                    tape.multiply(&dropped, &weight)
                }
            };
            let shape = self.shape(layer, tape.value(&bias).cols());
            let sums = tape.attention(&product, &source, &target, shape, self.attention_dropout);
            h = Some(tape.add_bias(sums, &bias));
        }
        h.expect("at least one layer")
    }

    fn kept(&self, classes: usize) -> (usize, usize) {
        let width = self.heads * self.hidden;
        (4 * self.depth * width + classes, 2 + 2 * self.depth * self.heads)
    }

    fn check(&self) -> Result<()> {
        check_depth(self.depth)?;
        check_width("heads", self.heads)?;
        check_width("hidden", self.hidden)?;
        check_dropout("dropout", self.dropout)?;
        check_dropout("attention dropout", self.attention_dropout)
    }
}
