//! What is trained on features that were filtered once, before.

use super::Parameter;
use crate::tape::{Tape, Var};
use gfgcn::filter::Filter;
use serde::{Deserialize, Serialize};

/// One number for all graphs, between 0, which costs five points on Citeseer, and the networks' 5e-4,
/// which costs six on Cora-ML. The papers tune it for each graph.
const WEIGHT_DECAY: f64 = 1e-4;

/// SGC, SSGC or DGC: logistic regression on filtered features.
///
/// ```text
/// scores = F W + b,   F = p(Â) X
/// ```
///
/// Weight and bias start between ±1/√features, as PyTorch's linear layers do. The learning rate is 0.2, as in the paper of
/// SGC. Weight decay is 1e-4 on both; unlike in their papers, it is not tuned for each graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logistic {
    /// p.
    pub filter: Filter,
}

impl Logistic {
    /// As in the paper of SGC: with the networks' 0.01, 200 epochs end long before the minimum.
    pub(crate) const LEARNING_RATE: f64 = 0.2;

    pub(crate) fn parameters(features: usize, classes: usize) -> Vec<Parameter> {
        Parameter::linear(features, classes, WEIGHT_DECAY).to_vec()
    }

    /// The scores of the rows of a constant, which are filtered features.
    pub(crate) fn scores(tape: &mut Tape<'_>, constant: usize) -> Var {
        let scores = tape.multiply(&tape.constant(constant), &tape.parameter(0));
        tape.add_bias(scores, &tape.parameter(1))
    }
}

/// The dual objective of kernel ridge regression with a linear kernel, minimised by gradient descent
/// instead of solved: the ablation of the gradient-free paper.
///
/// ```text
/// minimise ½ tr ΛᵀΛ + ½ λ tr ΛᵀMΛ − tr ΛᵀY,   M = F Fᵀ on the training nodes
/// scores = λ F F_trainᵀ Λ
/// ```
///
/// The minimum is at Λ = (λM + I)⁻¹ Y. Λ starts at zero; there is no weight decay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dual {
    /// p in F = p(Â) X.
    pub filter: Filter,
    /// λ, positive.
    pub lambda: f64,
}

impl Dual {
    pub(crate) fn parameters(training_nodes: usize, classes: usize) -> Vec<Parameter> {
        vec![Parameter::uniform(training_nodes, classes, 0.0, 0.0)]
    }

    /// The objective; the constants are M and Y.
    pub(crate) fn objective(&self, tape: &mut Tape<'_>) -> Var {
        let [kernel, targets] = [0, 1].map(|k| tape.constant(k));
        tape.dual_objective(&tape.parameter(0), &kernel, self.lambda as f32, &targets)
    }
}
