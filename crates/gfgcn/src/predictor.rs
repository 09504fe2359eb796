//! From the closed-form solution to the scores of every node.

use crate::context::Context;
use crate::driver::{Driver, Filtered};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::multiply;
use crate::matrix::Matrix;
use crate::ridge::{Sizes, Solution};
use rayon::prelude::*;

/// Rows of a kernel matrix that are held at a time.
const CHUNK: usize = 1024;

/// What scores are computed from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Predictor {
    /// scores = F W + b.
    Linear {
        /// W, features × targets.
        weights: Matrix<f64>,
        /// b, one per target.
        intercept: Vec<f64>,
    },
    /// scores = m(F, support) α + b.
    Kernel {
        /// m, its width filled in.
        kernel: Kernel,
        /// What each column of F is divided by first, where it is.
        scale: Option<Vec<f64>>,
        /// Filtered features of the training nodes, or of some of them; divided, too.
        support: Matrix<f32>,
        /// α, nodes of the support × targets.
        coefficients: Matrix<f64>,
        /// b, one per target.
        intercept: Vec<f64>,
    },
}

impl Predictor {
    pub(crate) fn linear(weights: Matrix<f64>, intercept: Vec<f64>) -> Self {
        Predictor::Linear { weights, intercept }
    }

    pub(crate) fn kernel(kernel: Kernel, train: &Matrix<f64>, solution: Solution) -> Self {
        Predictor::Kernel {
            kernel,
            scale: None,
            // Exact: filtered features were computed in single precision.
            support: train.to_f32(),
            coefficients: solution.coefficients,
            intercept: solution.intercept,
        }
    }

    /// The number of filtered features it expects.
    pub(crate) fn inputs(&self) -> usize {
        match self {
            Predictor::Linear { weights, .. } => weights.rows(),
            Predictor::Kernel { support, .. } => support.cols(),
        }
    }

    /// The number of targets.
    pub(crate) fn targets(&self) -> usize {
        match self {
            Predictor::Linear { intercept, .. } | Predictor::Kernel { intercept, .. } => {
                intercept.len()
            }
        }
    }

    /// With other constants.
    pub(crate) fn set_intercept(&mut self, constants: Vec<f64>) {
        match self {
            Predictor::Linear { intercept, .. } | Predictor::Kernel { intercept, .. } => {
                *intercept = constants;
            }
        }
    }

    /// W, where the filtered features themselves are not needed.
    pub(crate) fn weights(&self) -> Option<&Matrix<f64>> {
        match self {
            Predictor::Linear { weights, .. } => Some(weights),
            Predictor::Kernel { .. } => None,
        }
    }

    pub(crate) fn intercept(&self) -> &[f64] {
        match self {
            Predictor::Linear { intercept, .. } | Predictor::Kernel { intercept, .. } => intercept,
        }
    }

    /// Scores from features that are already filtered (nodes × features).
    pub(crate) fn score_filtered(
        &self,
        filtered: &Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let mut scores = match self {
            Predictor::Linear { weights, .. } => multiply(filtered, weights, context)?,
            Predictor::Kernel { .. } => {
                self.score_similar(&self.kernel_values(filtered, context)?, context)?
            }
        };
        scores.add_to_rows(1.0, self.intercept());
        Ok(scores)
    }

    /// The mean of m(F, support) over filtered rows, 1 × support.
    ///
    /// # Panics
    /// If the kernel is linear, which has weights in place of a support.
    pub(crate) fn mean_kernel_values(
        &self,
        filtered: &Filtered,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let mut sums: Vec<f64> = Vec::new();
        for first in (0..filtered.rows()).step_by(CHUNK) {
            let rows = first..filtered.rows().min(first + CHUNK);
            let values = self.kernel_values(&filtered.range(rows), context)?;
            sums.resize(values.cols(), 0.0);
            for row in 0..values.rows() {
                sums.iter_mut().zip(values.row(row)).for_each(|(sum, value)| *sum += value);
            }
        }
        sums.iter_mut().for_each(|sum| *sum /= filtered.rows() as f64);
        Matrix::from_rows(1, sums.len(), sums)
    }

    /// m α for kernel values m, rows × support; without the constants.
    ///
    /// # Panics
    /// As [`Predictor::mean_kernel_values`].
    pub(crate) fn score_similar(
        &self,
        similar: &Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let Predictor::Kernel { coefficients, .. } = self else {
            unreachable!("a linear kernel has weights in place of coefficients");
        };
        multiply(similar, coefficients, context)
    }

    /// m(F, support) of filtered features, nodes × support.
    fn kernel_values(&self, filtered: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        let Predictor::Kernel { kernel, scale, support, .. } = self else {
            unreachable!("a linear kernel has weights in place of a support");
        };
        let divided = scale.as_ref().map(|scale| {
            let mut rows = filtered.clone();
            for row in rows.as_mut_slice().chunks_mut(scale.len().max(1)) {
                row.iter_mut().zip(scale).for_each(|(value, scale)| *value /= scale);
            }
            rows
        });
        kernel.matrix(divided.as_ref().unwrap_or(filtered), &support.to_f64(), context)
    }

    /// Bytes of what it is made of.
    pub(crate) fn memory(&self) -> u64 {
        let bytes = match self {
            Predictor::Linear { weights, .. } => 8 * weights.as_slice().len(),
            Predictor::Kernel { support, coefficients, .. } => {
                4 * support.as_slice().len() + 8 * coefficients.as_slice().len()
            }
        };
        bytes as u64
    }

    /// Bytes that scoring takes beyond the filtered rows and what the driver needs for it.
    pub(crate) fn score_memory(&self, nodes: usize) -> u64 {
        let (kernel, train) = match self {
            Predictor::Linear { .. } => (Kernel::Linear, 0),
            Predictor::Kernel { kernel, support, .. } => (*kernel, support.rows()),
        };
        let sizes = Sizes { train, validation: 0, columns: self.inputs(), targets: self.targets() };
        score_memory(kernel, sizes, nodes)
    }
}

/// See [`Predictor::score_memory`]; of a predictor that is not there yet.
pub(crate) fn score_memory(kernel: Kernel, sizes: Sizes, nodes: usize) -> u64 {
    let Sizes { train, columns, targets, .. } = sizes;
    let bytes = if kernel.is_linear() {
        // The weights side by side with those of others, and again by channel.
        8 * 2 * columns * targets
    } else {
        let rows = CHUNK.min(nodes);
        let copies = 1 + kernel.copies() as usize;
        // Rows and support vectors, the kernel, and the scores by it.
        let chunk = copies * (rows + train) * columns + rows * (train + targets);
        // The scores in pieces, and then as one.
        8 * nodes * targets + 8 * chunk.max(nodes * targets)
    };
    bytes as u64
}

/// Scores of every node by several predictors of one design of a driver; nodes × targets each.
///
/// Linear predictors are propagated side by side, without the filtered features, which others need: `filtered`
/// gives those of all nodes.
///
/// # Errors
/// Scores that are not finite, or that the work is cancelled.
pub(crate) fn score_all(
    predictors: &[&Predictor],
    driver: &Driver<'_>,
    design: usize,
    filtered: impl FnOnce() -> Result<Filtered>,
    context: &Context,
) -> Result<Vec<Matrix<f64>>> {
    let linear: Option<Vec<&Matrix<f64>>> = predictors.iter().map(|p| p.weights()).collect();
    let scores = match linear {
        Some(weights) => {
            let constants: Vec<f64> =
                predictors.iter().flat_map(|predictor| predictor.intercept()).copied().collect();
            let scores = driver.scores_with(design, &weights, &constants, context)?;
            if predictors.len() == 1 {
                return Ok(vec![finite(scores)?]);
            }
            let own = |(k, predictor): (usize, &&Predictor)| {
                let first = predictors[..k].iter().map(|before| before.targets()).sum::<usize>();
                scores.select_columns(first..first + predictor.targets())
            };
            predictors.par_iter().enumerate().map(own).collect::<Vec<_>>()
        }
        None => {
            let filtered = filtered()?;
            let score = |predictor: &&Predictor| score_in_chunks(predictor, &filtered, context);
            predictors.iter().map(score).collect::<Result<Vec<_>>>()?
        }
    };
    scores.into_par_iter().map(finite).collect()
}

/// Scores, if all are finite.
pub(crate) fn finite(scores: Matrix<f64>) -> Result<Matrix<f64>> {
    match scores.as_slice().par_iter().with_min_len(1 << 16).all(|score| score.is_finite()) {
        true => Ok(scores),
        false => Err(Error::Data(
            "the scores overflow; the features are larger than those the model was trained on"
                .into(),
        )),
    }
}

/// Scores of filtered rows, a few at a time.
fn score_in_chunks(
    predictor: &Predictor,
    filtered: &Filtered,
    context: &Context,
) -> Result<Matrix<f64>> {
    let chunks = (0..filtered.rows()).step_by(CHUNK).map(|first| {
        let rows = first..filtered.rows().min(first + CHUNK);
        predictor.score_filtered(&filtered.range(rows), context)
    });
    Ok(Matrix::stacked(&chunks.collect::<Result<Vec<Matrix<f64>>>>()?))
}
