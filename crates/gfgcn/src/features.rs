//! Node features: what the graph's filters are applied to.

use crate::error::{Error, Result};
use crate::matrix::{Matrix, SparseMatrix};
use rayon::prelude::*;

/// Entries that a thread looks at, at least.
const MANY: usize = 1 << 16;

/// Node features X, one row per node: finite `f32` values.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// Every value is stored.
    Dense(Matrix<f32>),
    /// Only the values other than zero are stored.
    Sparse(SparseMatrix),
}

impl Features {
    /// Dense features; refuses NaN and infinite values, naming the row and column.
    pub fn dense(matrix: Matrix<f32>) -> Result<Self> {
        check_columns(matrix.cols())?;
        let wrong = match matrix.resident() {
            Some(array) => array.survey().not_finite,
            None => {
                let values = matrix.as_slice();
                let first = values.par_iter().with_min_len(MANY).position_first(|v| !v.is_finite());
                first.map(|k| (k, values[k]))
            }
        };
        match wrong {
            Some((k, value)) => Err(not_finite(k / matrix.cols(), k % matrix.cols(), value)),
            None => Ok(Features::Dense(matrix)),
        }
    }

    /// No features at all: rows without columns. Only what is computed from the graph alone can be learnt from.
    pub fn none(nodes: usize) -> Self {
        Features::Dense(Matrix::zeros(nodes, 0))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cols() == 0
    }

    /// The identity, one column per node.
    pub(crate) fn identity(nodes: usize) -> Self {
        let fill = |node: usize, columns: &mut Vec<u32>, values: &mut Vec<f32>| {
            columns.push(node as u32);
            values.push(1.0);
        };
        Features::Sparse(SparseMatrix::from_canonical_rows(nodes, nodes, fill))
    }

    /// Sparse features; refuses NaN and infinite values, naming the row and column.
    pub fn sparse(matrix: SparseMatrix) -> Result<Self> {
        check_columns(matrix.cols())?;
        match matrix.values().iter().position(|v| !v.is_finite()) {
            Some(k) => {
                let row = matrix.offsets().partition_point(|&offset| offset <= k) - 1;
                Err(not_finite(row, matrix.indices()[k] as usize, matrix.values()[k]))
            }
            None => Ok(Features::Sparse(matrix)),
        }
    }

    /// The number of nodes.
    pub fn rows(&self) -> usize {
        match self {
            Features::Dense(m) => m.rows(),
            Features::Sparse(m) => m.rows(),
        }
    }

    /// The number of features per node.
    pub fn cols(&self) -> usize {
        match self {
            Features::Dense(m) => m.cols(),
            Features::Sparse(m) => m.cols(),
        }
    }

    /// The number of values other than zero.
    pub fn nonzeros(&self) -> usize {
        match self {
            Features::Dense(m) => match m.resident() {
                Some(array) => array.survey().nonzeros,
                None => m.as_slice().par_iter().with_min_len(MANY).filter(|&&v| v != 0.0).count(),
            },
            Features::Sparse(m) => m.nnz(),
        }
    }

    /// Bytes of memory that the values take.
    pub fn memory(&self) -> u64 {
        let bytes = match self {
            Features::Dense(m) => 4 * m.rows() * m.cols(),
            Features::Sparse(m) => 8 * (m.nnz() + m.rows()),
        };
        bytes as u64
    }

    /// Adds a multiple of row `i`.
    pub(crate) fn add_row(&self, i: usize, factor: f64, out: &mut [f64]) {
        match self {
            Features::Dense(m) => {
                let row = m.row(i).iter();
                out.iter_mut().zip(row).for_each(|(out, &v)| *out += factor * f64::from(v));
            }
            Features::Sparse(_) => {
                self.for_each_in_row(i, |column, value| out[column] += factor * f64::from(value));
            }
        }
    }

    /// Calls `f(column, value)` for the nonzero entries of row `i`, in column order.
    pub fn for_each_in_row(&self, i: usize, mut f: impl FnMut(usize, f32)) {
        match self {
            Features::Dense(m) => {
                m.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(j, &v)| f(j, v));
            }
            Features::Sparse(m) => {
                let (columns, values) = m.row(i);
                columns.iter().zip(values).for_each(|(&j, &v)| f(j as usize, v));
            }
        }
    }

    /// The features of the given nodes, in that order.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        match self {
            Features::Dense(m) => Features::Dense(m.select_rows(rows)),
            Features::Sparse(m) => {
                let fill = |k: usize, indices: &mut Vec<u32>, values: &mut Vec<f32>| {
                    let (own_columns, own_values) = m.row(rows[k]);
                    indices.extend_from_slice(own_columns);
                    values.extend_from_slice(own_values);
                };
                Features::Sparse(SparseMatrix::from_canonical_rows(rows.len(), m.cols(), fill))
            }
        }
    }

    /// Divides every row by the sum of its absolute values; rows of zeros stay as they are.
    #[must_use]
    pub fn row_normalized(self) -> Self {
        self.divided_by_rows(|row| row.map(f64::abs).sum())
    }

    /// Divides every row by its Euclidean length; rows of zeros stay as they are.
    #[must_use]
    pub fn with_unit_rows(self) -> Self {
        self.divided_by_rows(|row| row.map(|v| v * v).sum::<f64>().sqrt())
    }

    fn divided_by_rows(mut self, size: impl Fn(&mut dyn Iterator<Item = f64>) -> f64) -> Self {
        let divide = |row: &mut [f32]| {
            let size = size(&mut row.iter().map(|&v| f64::from(v)));
            if size > 0.0 {
                row.iter_mut().for_each(|v| *v = (f64::from(*v) / size) as f32);
            }
        };
        match &mut self {
            Features::Dense(m) => (0..m.rows()).for_each(|i| divide(m.row_mut(i))),
            Features::Sparse(m) => {
                m.rows_of_values_mut().for_each(divide);
            }
        }
        self
    }

    /// The features as `cols` columns in a new order: column j goes to `columns[j]`, or away.
    #[must_use]
    pub fn map_columns(&self, columns: &[Option<u32>], cols: usize) -> Self {
        let mut entries = Vec::new();
        let fill = |i: usize, indices: &mut Vec<u32>, values: &mut Vec<f32>| {
            entries.clear();
            self.for_each_in_row(i, |j, value| entries.extend(columns[j].map(|j| (j, value))));
            entries.sort_unstable_by_key(|&(j, _)| j);
            indices.extend(entries.iter().map(|&(j, _)| j));
            values.extend(entries.iter().map(|&(_, value)| value));
        };
        Features::Sparse(SparseMatrix::from_canonical_rows(self.rows(), cols, fill))
    }

    /// X · W for a dense W (features × targets), in `f64`: one row per node.
    pub fn times(&self, weights: &Matrix<f64>) -> Matrix<f64> {
        assert_eq!(self.cols(), weights.rows(), "features and weights differ in their dimension");
        let mut out = Matrix::zeros(self.rows(), weights.cols());
        if weights.cols() == 0 {
            return out;
        }
        out.as_mut_slice().par_chunks_mut(weights.cols()).enumerate().for_each(|(i, sum)| {
            self.for_each_in_row(i, |j, value| {
                for (s, w) in sum.iter_mut().zip(weights.row(j)) {
                    *s += f64::from(value) * w;
                }
            });
        });
        out
    }
}

fn check_columns(cols: usize) -> Result<()> {
    match cols {
        0 => Err(Error::Data(
            "there are no feature columns; every node needs at least one feature".into(),
        )),
        cols if cols > u32::MAX as usize => {
            Err(Error::Data(format!("{cols} feature columns are more than 32 bits can number")))
        }
        _ => Ok(()),
    }
}

fn not_finite(row: usize, column: usize, value: f32) -> Error {
    Error::Data(format!(
        "the feature at row {row}, column {column} is {value} as a 32-bit float; \
         features must be finite numbers below 3.4e38 in size"
    ))
}
