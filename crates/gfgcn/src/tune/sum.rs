//! The sum of all learners' kernels, each with a mean of 1 on its diagonal.

use super::bank::Learner;
use super::learn::{Inputs, Solved};
use super::round::LARGEST_SYSTEM;
use crate::data::Dataset;
use crate::matrix::Matrix;
use crate::ridge::{Asked, Problem, Ridge, Sizes};

/// The solution for the sum of kernels.
pub(super) struct Sum {
    pub(super) solved: Solved,
    /// Positions of the learners in it, with the columns of each.
    pub(super) parts: Vec<(usize, usize)>,
}

/// The sum as it grows, on its smaller side.
pub(super) struct Growing {
    side: Side,
    /// Learners with more columns are not in it.
    most_columns: usize,
    pub(super) parts: Vec<(usize, usize)>,
}

enum Side {
    /// Σ K_c / s_c.
    Dual(Matrix<f64>),
    /// F_c / √s_c side by side.
    Primal(Vec<Matrix<f64>>),
    /// Either would be too large.
    Neither,
}

/// On which side the sum is solved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    Dual,
    Primal { columns: usize },
    Neither,
}

impl Plan {
    /// Of so many training nodes; with the most columns that a learner in it may have.
    fn new(learners: &[Learner], dataset: &Dataset, train: usize) -> (Plan, usize) {
        let columns = |most: usize| -> usize {
            let all = learners.iter().map(|learner| learner.columns(dataset, train));
            all.filter(|&columns| columns <= most).sum()
        };
        let fits = train.min(columns(usize::MAX)) <= LARGEST_SYSTEM;
        let most_columns = if fits { usize::MAX } else { LARGEST_SYSTEM };
        let together = columns(most_columns);
        let plan = match train <= together {
            true if train <= LARGEST_SYSTEM => Plan::Dual,
            false if together <= LARGEST_SYSTEM => Plan::Primal { columns: together },
            _ => Plan::Neither,
        };
        (plan, most_columns)
    }
}

/// Bytes of the sum of so many training nodes.
#[derive(Default)]
pub(super) struct SumMemory {
    /// Of what grows.
    pub(super) growing: u64,
    /// Of solving it at all λ, in place of what has grown.
    pub(super) solving: u64,
    /// Whether kernel matrices are needed for it.
    pub(super) of_grams: bool,
}

impl SumMemory {
    pub(super) fn new(learners: &[Learner], dataset: &Dataset, sizes: Sizes, asked: Asked) -> Self {
        let train = sizes.train;
        let ridge = Ridge::default().on(dataset.targets().kind());
        let solving = |columns: usize| ridge.system_memory(Sizes { columns, ..sizes }, asked);
        match Plan::new(learners, dataset, train).0 {
            Plan::Dual => {
                let growing = 8 * (train * train) as u64;
                SumMemory { growing, solving: solving(train), of_grams: true }
            }
            Plan::Primal { columns } => {
                let growing = 8 * (train * columns) as u64;
                // Put side by side first.
                let solving = solving(columns).max(2 * growing);
                SumMemory { growing, solving, of_grams: false }
            }
            Plan::Neither => SumMemory::default(),
        }
    }
}

impl Growing {
    /// For so many training nodes.
    pub(super) fn new(learners: &[Learner], dataset: &Dataset, train: usize) -> Self {
        let (plan, most_columns) = Plan::new(learners, dataset, train);
        let side = match plan {
            Plan::Dual => Side::Dual(Matrix::zeros(train, train)),
            Plan::Primal { .. } => Side::Primal(Vec::new()),
            Plan::Neither => Side::Neither,
        };
        Growing { side, most_columns, parts: Vec::new() }
    }

    /// Nothing is summed.
    pub(super) fn nothing() -> Self {
        Growing { side: Side::Neither, most_columns: 0, parts: Vec::new() }
    }

    fn takes(&self, inputs: &Inputs) -> bool {
        inputs.columns() <= self.most_columns
    }

    /// Whether it needs the kernel matrix of a learner.
    pub(super) fn needs_gram(&self, inputs: &Inputs) -> bool {
        matches!(self.side, Side::Dual(_)) && self.takes(inputs)
    }

    /// Whether it needs the rows of a learner.
    pub(super) fn needs_rows(&self, inputs: &Inputs) -> bool {
        matches!(self.side, Side::Primal(_)) && self.takes(inputs)
    }

    /// Adds the learner at a position, whose kernel has a diagonal of that mean; what it needs is there.
    pub(super) fn add(
        &mut self,
        position: usize,
        inputs: &Inputs,
        scale: f64,
        gram: Option<&Matrix<f64>>,
        rows: Option<&Matrix<f64>>,
    ) {
        if !self.takes(inputs) {
            return;
        }
        match (&mut self.side, gram, rows) {
            (Side::Dual(total), Some(gram), _) => total.add_scaled(scale.recip(), gram),
            (Side::Primal(parts), _, Some(rows)) => {
                let mut part = Matrix::zeros(rows.rows(), rows.cols());
                part.add_scaled(scale.sqrt().recip(), rows);
                parts.push(part);
            }
            _ => return,
        }
        self.parts.push((position, inputs.columns()));
    }

    /// The ridge problem of the sum, if there is one of more than one learner.
    pub(super) fn finish(self) -> Option<(Problem, Vec<(usize, usize)>)> {
        let problem = match self.side {
            _ if self.parts.len() < 2 => return None,
            Side::Dual(gram) => Problem::Dual(gram),
            Side::Primal(rows) => {
                Problem::Primal(Matrix::side_by_side(&rows.iter().collect::<Vec<_>>()))
            }
            Side::Neither => return None,
        };
        Some((problem, self.parts))
    }
}

/// The mean of the diagonal of a kernel, from its matrix or from the rows it is the product of.
pub(super) fn mean_diagonal(gram: Option<&Matrix<f64>>, rows: Option<&Matrix<f64>>) -> f64 {
    match (gram, rows) {
        (Some(gram), _) => (0..gram.rows()).map(|i| gram[(i, i)]).sum::<f64>() / gram.rows() as f64,
        (None, Some(rows)) => {
            rows.as_slice().iter().map(|v| v * v).sum::<f64>() / rows.rows() as f64
        }
        (None, None) => 0.0,
    }
}
