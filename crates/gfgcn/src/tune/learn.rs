//! One base learner on some training nodes: its λ, its left-out scores, its solution.

use super::bank::Learner;
use crate::context::Context;
use crate::driver::{Filtered, PANEL};
use crate::error::Result;
use crate::head::Truth;
use crate::kernel::Kernel;
use crate::linalg::{Cholesky, gram_of_rows};
use crate::matrix::Matrix;
use crate::ridge::{
    Candidate, Problem, Purpose, best, factorise_landmarks, no_usable_penalty, penalty_grid,
};

/// Training nodes that others are compared with by a kernel that is not linear, at most.
pub(super) const LANDMARKS: usize = 1000;

/// The rows of the training nodes as a ridge problem sees them: a linear one, whatever the kernel.
pub(super) enum Inputs {
    /// The filtered rows themselves, which can be had again in panels.
    Linear(Filtered),
    /// Φ = K(·, L) U⁻ᵀ with K(L, L) = U Uᵀ: the kernel as far as the landmarks L know it (Nyström). Ridge regression on Φ
    /// is exactly left out, as on any other features.
    Landmarks { rows: Matrix<f64>, landmarks: Landmarks },
}

/// What nodes are compared with.
#[derive(Clone)]
pub(super) struct Landmarks {
    /// The kernel, its width filled in.
    pub(super) kernel: Kernel,
    /// What each column is divided by first.
    pub(super) scale: Vec<f64>,
    /// The landmarks' filtered rows, divided.
    pub(super) support: Matrix<f64>,
    factor: Cholesky,
}

impl Landmarks {
    /// U⁻ᵀ W: from weights of Φ to coefficients of K(·, L).
    pub(super) fn coefficients(&self, weights: Matrix<f64>, context: &Context) -> Matrix<f64> {
        self.factor.solve_transposed(weights, context)
    }
}

impl Inputs {
    /// The inputs of a learner; `order` has the positions of the training nodes from which landmarks are drawn.
    pub(super) fn new(
        learner: &Learner,
        filtered: Filtered,
        order: &[usize],
        context: &Context,
    ) -> Result<Self> {
        if learner.kernel.is_linear() {
            return Ok(Inputs::Linear(filtered));
        }
        let mut rows = filtered.range(0..filtered.rows());
        // Features of any unit are alike: each column varies by 1. A kernel with a width of its own takes them as they are.
        let scale = match learner.kernel.is_resolved() {
            true => vec![1.0; rows.cols()],
            false => deviations(&rows),
        };
        rows.divide_columns_as_stored(Some(&scale));
        let support = rows.select_rows(&landmarks(&rows, order));
        let kernel = match learner.kernel.resolve(&support) {
            Kernel::Rbf { gamma: Some(gamma) } => {
                Kernel::Rbf { gamma: Some(gamma / learner.width) }
            }
            other => other,
        };
        let factor = factorise_landmarks(kernel.matrix(&support, &support, context)?, context)?;
        let values = kernel.matrix(&rows, &support, context)?;
        let rows = factor.solve_rows(values, context)?;
        Ok(Inputs::Landmarks { rows, landmarks: Landmarks { kernel, scale, support, factor } })
    }

    pub(super) fn columns(&self) -> usize {
        match self {
            Inputs::Linear(filtered) => filtered.cols(),
            Inputs::Landmarks { rows, .. } => rows.cols(),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        match self {
            Inputs::Linear(filtered) => filtered.rows(),
            Inputs::Landmarks { rows, .. } => rows.rows(),
        }
    }

    /// All rows.
    pub(super) fn rows(&self) -> Matrix<f64> {
        match self {
            Inputs::Linear(filtered) => filtered.range(0..filtered.rows()),
            Inputs::Landmarks { rows, .. } => rows.clone(),
        }
    }

    /// F Fᵀ, a panel of columns at a time.
    pub(super) fn gram(&self, context: &Context) -> Result<Matrix<f64>> {
        match self {
            Inputs::Landmarks { rows, .. } => gram_of_rows(rows, context),
            Inputs::Linear(filtered) if filtered.cols() <= PANEL => {
                gram_of_rows(&self.rows(), context)
            }
            Inputs::Linear(filtered) => {
                let mut total = Matrix::zeros(filtered.rows(), filtered.rows());
                for panel in filtered.panels() {
                    total.add_scaled(1.0, &gram_of_rows(&filtered.columns(panel), context)?);
                }
                Ok(total)
            }
        }
    }
}

/// The standard deviation of each column; 1 where it varies by no more than rounding.
fn deviations(rows: &Matrix<f64>) -> Vec<f64> {
    let means = rows.column_means();
    let (mut squares, mut largest) = (vec![0.0; rows.cols()], vec![0.0; rows.cols()]);
    for i in 0..rows.rows() {
        for (j, &value) in rows.row(i).iter().enumerate() {
            squares[j] += (value - means[j]) * (value - means[j]);
            largest[j] = value.abs().max(largest[j]);
        }
    }
    let deviation = |(sum, largest): (f64, f64)| {
        let deviation = (sum / rows.rows() as f64).sqrt();
        // Single precision resolves no less.
        if deviation > 1e-7 * largest { deviation } else { 1.0 }
    };
    squares.into_iter().zip(largest).map(deviation).collect()
}

/// Positions of rows that are all different, evenly spaced in the given order.
fn landmarks(rows: &Matrix<f64>, order: &[usize]) -> Vec<usize> {
    let mut seen = std::collections::HashSet::new();
    let bits = |&row: &usize| rows.row(row).iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
    let distinct: Vec<usize> = order.iter().copied().filter(|row| seen.insert(bits(row))).collect();
    let count = distinct.len().min(LANDMARKS);
    (0..count).map(|k| distinct[k * distinct.len() / count]).collect()
}

/// What a learner, or the sum of several, made of the training nodes.
pub(super) struct Solved {
    pub(super) lambda: f64,
    pub(super) judged: Candidate,
    /// Each training node's scores by what was learnt without it, nodes × targets.
    pub(super) left_out: Matrix<f64>,
    pub(super) solution: Coefficients,
    /// One per target.
    pub(super) intercept: Vec<f64>,
}

/// The solution on the side it was solved on.
pub(super) enum Coefficients {
    /// α, training nodes × targets.
    Dual(Matrix<f64>),
    /// W, columns × targets.
    Primal(Matrix<f64>),
}

/// Chooses λ and solves.
///
/// # Errors
/// If no λ of the grid gives a solvable system, or the work is cancelled.
pub(super) fn solve(
    problem: Problem,
    targets: &Truth,
    intercept: bool,
    context: &Context,
) -> Result<Solved> {
    let dual = matches!(problem, Problem::Dual(_));
    let (matrix, weights) = (targets.matrix().clone(), targets.weights());
    let path = problem.path(Purpose::LeftOut, matrix, weights, intercept, context)?;
    let penalties = penalty_grid(path.scale());
    let candidates = targets.judge_left_out(&path, &penalties, context)?;
    let position = best(&candidates, targets.metric()).ok_or_else(no_usable_penalty)?;
    let xi = penalties[position];
    let left_out = path.left_out(xi, context)?;
    let solution = path.solve(xi, context)?;
    Ok(Solved {
        lambda: xi.recip(),
        judged: candidates[position].unwrap_or_default(),
        left_out,
        solution: match dual {
            true => Coefficients::Dual(solution.coefficients),
            false => Coefficients::Primal(solution.coefficients),
        },
        intercept: solution.intercept,
    })
}
