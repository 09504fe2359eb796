//! From the closed-form solution to the scores of every node.

use crate::features::Features;
use crate::filter::{FilterBank, Layout, Propagated, propagate};
use crate::graph::Propagator;
use crate::kernel::Kernel;
use crate::linalg::multiply;
use crate::matrix::Matrix;
use crate::ridge::Solution;

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
        /// Filtered features of the training nodes.
        support: Matrix<f32>,
        /// α, training nodes × targets.
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
            // Exact: filtered features were computed in single precision.
            support: train.to_f32(),
            coefficients: solution.coefficients,
            intercept: solution.intercept,
        }
    }

    /// The number of features it expects.
    pub(crate) fn features(&self) -> usize {
        match self {
            Predictor::Linear { weights, .. } => weights.rows(),
            Predictor::Kernel { support, .. } => support.cols(),
        }
    }

    /// The columns that are propagated to score nodes.
    pub(crate) fn columns(&self) -> usize {
        match self {
            Predictor::Linear { weights, .. } => weights.cols(),
            Predictor::Kernel { support, .. } => support.cols(),
        }
    }

    /// Scores from features that are already filtered (nodes × features).
    pub(crate) fn score_filtered(&self, filtered: &Matrix<f64>) -> Matrix<f64> {
        let (mut scores, intercept) = match self {
            Predictor::Linear { weights, intercept } => (
                multiply(filtered, weights, &crate::context::Context::default())
                    .expect("never cancelled"),
                intercept,
            ),
            Predictor::Kernel { kernel, support, coefficients, intercept } => (
                multiply(
                    &kernel.matrix(filtered, &support.to_f64()),
                    coefficients,
                    &crate::context::Context::default(),
                )
                .expect("never cancelled"),
                intercept,
            ),
        };
        scores.add_to_rows(1.0, intercept);
        scores
    }

    /// Bytes that scoring every node takes, about.
    pub(crate) fn score_memory(&self, nodes: usize) -> u64 {
        let blocks = |l: Layout| (l.window + 1) * nodes * l.at_once * l.width;
        let entries = match self {
            Predictor::Linear { weights, .. } => {
                let targets = weights.cols();
                8 * (nodes * targets * 2 + blocks(Layout::new::<f64>(nodes, targets)))
            }
            Predictor::Kernel { support, .. } => {
                let (train, features) = (support.rows(), support.cols());
                4 * (nodes * features + blocks(Layout::new::<f32>(nodes, features)))
                    + 8 * (CHUNK * (features * 2 + train) + train * features * 2)
            }
        };
        entries as u64
    }
}

/// Scores of every node by several predictors of the same filter, the only one of the bank; nodes ×
/// targets each.
///
/// Linear predictors never form the filtered features: p(Â)(X W) propagates one column per
/// target, those of all predictors side by side. In double precision, because X W is much larger
/// than its smoothed result when the filter is deep and λ large. Other kernels need the filtered
/// features: `filtered` where they are at hand already.
pub(crate) fn score_all(
    predictors: &[&Predictor],
    propagator: &Propagator<'_>,
    bank: &FilterBank,
    features: &Features,
    filtered: Option<&Propagated<f32>>,
) -> Vec<Matrix<f64>> {
    let linear: Option<Vec<_>> = predictors
        .iter()
        .map(|predictor| match predictor {
            Predictor::Linear { weights, intercept } => Some((weights, intercept)),
            Predictor::Kernel { .. } => None,
        })
        .collect();
    match (linear, filtered) {
        (Some(linear), _) => score_linear(&linear, propagator, bank, features),
        (None, Some(filtered)) => predictors.iter().map(|p| score_in_chunks(p, filtered)).collect(),
        (None, None) => {
            let filtered = &propagate::<f32>(propagator, bank, features, None)[0];
            predictors.iter().map(|p| score_in_chunks(p, filtered)).collect()
        }
    }
}

fn score_linear(
    predictors: &[(&Matrix<f64>, &Vec<f64>)],
    propagator: &Propagator<'_>,
    bank: &FilterBank,
    features: &Features,
) -> Vec<Matrix<f64>> {
    let weights: Vec<&Matrix<f64>> = predictors.iter().map(|(weights, _)| *weights).collect();
    let columns = features.times(&Matrix::side_by_side(&weights));
    let scores = propagate::<f64>(propagator, bank, &columns, None)[0].to_matrix();
    let mut first = 0;
    predictors
        .iter()
        .map(|(weights, intercept)| {
            let mut own = scores.select_columns(first..first + weights.cols());
            own.add_to_rows(1.0, intercept);
            first += weights.cols();
            own
        })
        .collect()
}

fn score_in_chunks(predictor: &Predictor, filtered: &Propagated<f32>) -> Matrix<f64> {
    let chunks: Vec<Matrix<f64>> = (0..filtered.rows())
        .step_by(CHUNK)
        .map(|first| {
            let rows = first..filtered.rows().min(first + CHUNK);
            predictor.score_filtered(&filtered.select(rows))
        })
        .collect();
    Matrix::stacked(&chunks)
}
