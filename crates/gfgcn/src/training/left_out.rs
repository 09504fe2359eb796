//! A model with what it says of its training nodes without them.

use crate::classifier::Classifier;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::Model;
use crate::split::Split;

/// Training nodes, each predicted by what is learnt without it.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The nodes.
    pub nodes: Vec<usize>,
    /// Their scores, nodes × target columns of the [head](Model::head).
    pub targets: Matrix<f64>,
}

impl Classifier {
    /// As [`Classifier::fit`], with the left-out scores of the training nodes, which λ and probabilities were chosen by.
    ///
    /// # Errors
    /// As [`Classifier::fit`].
    pub fn fit_judged(
        &self,
        dataset: &Dataset,
        split: &Split,
        context: &Context,
    ) -> Result<(Model, LeftOut)> {
        let (model, targets) = self.fit_left_out(dataset, split, context)?;
        Ok((model, LeftOut { nodes: split.train().to_vec(), targets }))
    }
}
