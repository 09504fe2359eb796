//! From the closed-form solution to the scores of every node.

use crate::context::Context;
use crate::driver::{Driver, Filtered, ScoreParts};
use crate::error::{Error, Result};
use crate::head::Head;
use crate::kernel::Kernel;
use crate::linalg::multiply;
use crate::matrix::Matrix;
use crate::ridge::{Sizes, Solution};
use rayon::prelude::*;
use std::ops::Range;

/// Nodes that are scored at a time by their filtered features.
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

    /// W, if every node is scored by p(Â)(X W), which has a column per target. With more targets than features, p(Â) X has fewer
    /// columns, and one pass over it gives all scores.
    pub(crate) fn propagated_weights(&self) -> Option<&Matrix<f64>> {
        self.weights().filter(|weights| propagates_scores(weights.cols(), weights.rows()))
    }

    /// W, of a linear predictor.
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
        let (kernel, sizes) = self.sizes();
        score_memory(kernel, sizes, nodes)
    }

    /// The same of [`Predictor::classes`]: scores of a few nodes at a time on each thread.
    pub(crate) fn class_memory(&self, nodes: usize) -> u64 {
        let at_once = rayon::current_num_threads().min(nodes.div_ceil(CHUNK));
        let (kernel, sizes) = self.sizes();
        let scoring = match self.propagated_weights() {
            Some(_) => 8 * 2 * sizes.columns * sizes.targets + 8 * at_once * CHUNK * sizes.targets,
            None => at_once * chunk_memory(kernel, sizes, nodes),
        };
        (4 * nodes + scoring) as u64
    }

    /// What it compares by, and the sizes of the problem that it solves.
    fn sizes(&self) -> (Kernel, Sizes) {
        let (kernel, train) = match self {
            Predictor::Linear { .. } => (Kernel::Linear, 0),
            Predictor::Kernel { kernel, support, .. } => (*kernel, support.rows()),
        };
        let (columns, targets) = (self.inputs(), self.targets());
        (kernel, Sizes { train, validation: 0, columns, targets })
    }

    /// The class of every node by the one design of a driver, a position among those of the head; scores are not kept.
    ///
    /// # Errors
    /// As [`score_all`].
    pub(crate) fn classes(
        &self,
        head: &Head,
        driver: &Driver<'_>,
        context: &Context,
    ) -> Result<Vec<u32>> {
        let scores = match self.propagated_weights() {
            Some(weights) => {
                let parts = driver.score_parts(0, &[weights], self.intercept(), context)?;
                ScoreRows::Propagated(parts)
            }
            None => ScoreRows::Filtered(driver.run(0..1, context)?.remove(0)),
        };
        let mut classes = vec![0; scores.nodes()];
        let chunks = classes.par_chunks_mut(CHUNK).enumerate();
        chunks.try_for_each(|(k, classes)| {
            context.check()?;
            let first = k * CHUNK;
            let rows = finite(scores.of(first..first + classes.len(), self, context)?)?;
            let decode = |(row, class): (usize, &mut u32)| *class = head.decode(rows.row(row));
            classes.iter_mut().enumerate().for_each(decode);
            Ok(())
        })?;
        Ok(classes)
    }
}

/// What the scores of a few nodes are computed from.
enum ScoreRows {
    Propagated(ScoreParts),
    Filtered(Filtered),
}

impl ScoreRows {
    fn nodes(&self) -> usize {
        match self {
            ScoreRows::Propagated(parts) => parts.nodes(),
            ScoreRows::Filtered(filtered) => filtered.rows(),
        }
    }

    fn of(
        &self,
        nodes: Range<usize>,
        predictor: &Predictor,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        match self {
            ScoreRows::Propagated(parts) => {
                let mut scores = Matrix::zeros(nodes.len(), predictor.targets());
                let rows = scores.as_mut_slice().chunks_mut(predictor.targets().max(1));
                nodes.zip(rows).for_each(|(node, row)| parts.fill(node, row));
                Ok(scores)
            }
            ScoreRows::Filtered(filtered) => {
                predictor.score_filtered(&filtered.range(nodes), context)
            }
        }
    }
}

/// Whether scores are propagated, not filtered features multiplied: by what has fewer columns.
pub(crate) fn propagates_scores(targets: usize, features: usize) -> bool {
    targets <= features
}

/// See [`Predictor::score_memory`]; of a predictor that is not there yet.
pub(crate) fn score_memory(kernel: Kernel, sizes: Sizes, nodes: usize) -> u64 {
    let Sizes { columns, targets, .. } = sizes;
    let bytes = if kernel.is_linear() && propagates_scores(targets, columns) {
        // The weights side by side with those of others, and again by channel.
        8 * 2 * columns * targets
    } else {
        chunk_memory(kernel, sizes, nodes) + 8 * nodes * targets
    };
    bytes as u64
}

/// Bytes that scoring a few of so many nodes takes by their filtered features, with the scores.
fn chunk_memory(kernel: Kernel, sizes: Sizes, nodes: usize) -> usize {
    let Sizes { train, columns, targets, .. } = sizes;
    let rows = CHUNK.min(nodes);
    // Rows and support vectors, and copies of both near the origin; the kernel.
    let compared = match kernel.is_linear() {
        true => rows * columns,
        false => (1 + kernel.copies() as usize) * (rows + train) * columns + rows * train,
    };
    8 * (compared + rows * targets)
}

/// Scores of every node by several predictors of one design of a driver; nodes × targets each.
///
/// Where scores have fewer columns than features, those of all predictors are propagated side by side. Others need the
/// filtered features: `filtered` gives those of all nodes.
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
    let narrow = |predictor: &&Predictor| predictor.propagated_weights().is_some();
    let side_by_side: Vec<&Predictor> = predictors.iter().copied().filter(narrow).collect();
    let mut propagated = propagated(&side_by_side, driver, design, context)?.into_iter();
    let filtered = match side_by_side.len() < predictors.len() {
        true => Some(filtered()?),
        false => None,
    };
    // One after the other: threads share the work of each, and its memory.
    let own = |predictor: &&Predictor| match &filtered {
        Some(filtered) if !narrow(predictor) => score_in_chunks(predictor, filtered, context),
        _ => Ok(propagated.next().expect("scores of each")),
    };
    let scores = predictors.iter().map(own).collect::<Result<Vec<_>>>()?;
    scores.into_par_iter().map(finite).collect()
}

/// Scores of every node by linear predictors, without filtered features.
fn propagated(
    predictors: &[&Predictor],
    driver: &Driver<'_>,
    design: usize,
    context: &Context,
) -> Result<Vec<Matrix<f64>>> {
    let weights: Vec<&Matrix<f64>> = predictors.iter().filter_map(|p| p.weights()).collect();
    if weights.is_empty() {
        return Ok(Vec::new());
    }
    let constants: Vec<f64> = predictors.iter().flat_map(|p| p.intercept()).copied().collect();
    let scores = driver.scores_with(design, &weights, &constants, context)?;
    if predictors.len() == 1 {
        return Ok(vec![scores]);
    }
    let own = |(k, predictor): (usize, &&Predictor)| {
        let first = predictors[..k].iter().map(|before| before.targets()).sum::<usize>();
        scores.select_columns(first..first + predictor.targets())
    };
    Ok(predictors.par_iter().enumerate().map(own).collect())
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
    let targets = predictor.targets();
    let mut scores = Matrix::zeros(filtered.rows(), targets);
    for (k, out) in scores.as_mut_slice().chunks_mut((CHUNK * targets).max(1)).enumerate() {
        let rows = k * CHUNK..filtered.rows().min((k + 1) * CHUNK);
        out.copy_from_slice(predictor.score_filtered(&filtered.range(rows), context)?.as_slice());
    }
    Ok(scores)
}
