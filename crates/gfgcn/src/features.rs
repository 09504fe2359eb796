//! Node features: what the graph's filters are applied to.

use crate::error::{Error, Result};
use crate::matrix::{ColumnBlocks, Matrix, SparseMatrix};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Entries that a thread looks at, at least.
const MANY: usize = 1 << 16;

/// Node features X, one row per node: finite `f32` values.
#[derive(Clone, Debug)]
pub enum Features {
    /// Every value is stored.
    Dense(Matrix<f32>),
    /// Only the values other than zero are stored.
    Sparse(SparseMatrix),
    /// Every value is stored, a few columns at a time; as a rule in files, of which those that are used are in memory.
    Blocks(ColumnBlocks),
}

impl PartialEq for Features {
    /// Blocks of columns are equal to one array of the same values.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Features::Dense(a), Features::Dense(b)) => a == b,
            (Features::Sparse(a), Features::Sparse(b)) => a == b,
            (Features::Blocks(a), Features::Blocks(b)) => a == b,
            (Features::Dense(m), Features::Blocks(blocks))
            | (Features::Blocks(blocks), Features::Dense(m)) => {
                let row = |i| blocks.values(i, 0..m.cols()).eq(m.row(i).iter().copied());
                (m.rows(), m.cols()) == (blocks.rows(), blocks.cols()) && (0..m.rows()).all(row)
            }
            _ => false,
        }
    }
}

impl Features {
    /// Dense features; refuses NaN and infinite values, naming the row and column.
    pub fn dense(matrix: Matrix<f32>) -> Result<Self> {
        check_columns(matrix.cols())?;
        check_finite(&matrix, 0)?;
        Ok(Features::Dense(matrix))
    }

    /// Dense features in blocks of columns. What a block holds is checked when it is first used ([`Features::ready`]).
    pub fn blocks(blocks: ColumnBlocks) -> Result<Self> {
        check_columns(blocks.cols())?;
        Ok(Features::Blocks(blocks))
    }

    /// To be called before some columns are first read: those that are in files are checked then.
    ///
    /// # Errors
    /// Contents other than those that were written, or values that are not finite.
    pub fn ready(&self, columns: Range<usize>) -> Result<()> {
        match self {
            Features::Dense(_) | Features::Sparse(_) => Ok(()),
            Features::Blocks(blocks) => blocks.ready(columns),
        }
    }

    /// With blocks of columns as one array.
    #[must_use]
    pub fn gathered(self) -> Self {
        match self {
            Features::Blocks(blocks) => Features::Dense(blocks.to_matrix()),
            other => other,
        }
    }

    /// As [`Features::gathered`], without copying what is one array already.
    pub fn as_gathered(&self) -> Cow<'_, Self> {
        match self {
            Features::Blocks(_) => Cow::Owned(self.clone().gathered()),
            other => Cow::Borrowed(other),
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
            Features::Blocks(m) => m.rows(),
        }
    }

    /// The number of features per node.
    pub fn cols(&self) -> usize {
        match self {
            Features::Dense(m) => m.cols(),
            Features::Sparse(m) => m.cols(),
            Features::Blocks(m) => m.cols(),
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
            Features::Blocks(m) => {
                let in_row = |i| m.values(i, 0..m.cols()).filter(|&v| v != 0.0).count();
                (0..m.rows()).into_par_iter().with_min_len(1 << 12).map(in_row).sum()
            }
        }
    }

    /// Bytes of memory that the values take.
    pub fn memory(&self) -> u64 {
        let bytes = match self {
            Features::Dense(m) => 4 * m.rows() * m.cols(),
            Features::Sparse(m) => 8 * (m.nnz() + m.rows()),
            Features::Blocks(m) => 4 * m.rows() * m.cols(),
        };
        bytes as u64
    }

    /// Bytes that are held in memory, and not mapped from files or lent.
    pub fn held_memory(&self) -> u64 {
        match self {
            Features::Dense(m) => m.held_memory(),
            Features::Sparse(m) => m.held_memory(),
            Features::Blocks(m) => m.held_memory(),
        }
    }

    /// Bytes that a copy takes with its rows divided.
    pub(crate) fn scaled_memory(&self) -> u64 {
        match self {
            Features::Dense(_) | Features::Sparse(_) => self.memory(),
            Features::Blocks(m) => 8 * m.rows() as u64,
        }
    }

    /// Adds a multiple of row `i`.
    pub(crate) fn add_row(&self, i: usize, factor: f64, out: &mut [f64]) {
        match self {
            Features::Dense(m) => {
                let row = m.row(i).iter();
                out.iter_mut().zip(row).for_each(|(out, &v)| *out += factor * f64::from(v));
            }
            Features::Sparse(_) | Features::Blocks(_) => {
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
            Features::Blocks(m) => {
                let values = m.values(i, 0..m.cols()).enumerate();
                values.filter(|&(_, v)| v != 0.0).for_each(|(j, v)| f(j, v));
            }
        }
    }

    /// The features of the given nodes, in that order.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        match self {
            Features::Dense(m) => Features::Dense(m.select_rows(rows)),
            Features::Blocks(m) => Features::Dense(m.select_rows(rows)),
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
            Features::Blocks(m) => *m = m.divided_by(size),
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

/// Refuses values that are not finite, of a matrix whose first column is the given one of the features.
pub(crate) fn check_finite(matrix: &Matrix<f32>, first: usize) -> Result<()> {
    let cols = matrix.cols();
    let wrong = match matrix.resident() {
        Some(array) => array.survey().not_finite,
        None => {
            let values = matrix.as_slice();
            let found = values.par_chunks(MANY).enumerate().find_map_first(|(k, part)| {
                // All at once, which vectorises; by position only where one is bad.
                let sound = part.iter().fold(true, |sound, v| sound & v.is_finite());
                let position = || part.iter().position(|v| !v.is_finite());
                if sound { None } else { position().map(|position| k * MANY + position) }
            });
            found.map(|k| (k, values[k]))
        }
    };
    match wrong {
        Some((k, value)) => Err(not_finite(k / cols, first + k % cols, value)),
        None => Ok(()),
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
