//! Dense or sparse: how features are held is decided by how many of them are zero.

use crate::reading::Reading;
use gfgcn::Result;
use gfgcn::features::Features;
use gfgcn::matrix::{Matrix, SparseMatrix};

/// Features are held sparse when fewer than one in this many values is other than zero.
const SPARSE_BELOW_ONE_IN: u64 = 4;

/// Bytes of an entry that is held sparse: column and value.
const ENTRY: usize = 8;

/// Cells after which the density seen so far is trusted for choosing the storage while reading.
const TRUSTED_AFTER: u64 = 1 << 16;

/// Whether so few of the cells are other than zero that features are held sparse.
pub(crate) fn is_sparse(nonzeros: usize, cells: u64) -> bool {
    (nonzeros as u64) < cells.div_ceil(SPARSE_BELOW_ONE_IN)
}

/// Features held as their density asks.
pub(crate) fn by_density(matrix: SparseMatrix, reading: &Reading) -> Result<Features> {
    if is_sparse(matrix.nnz(), matrix.rows() as u64 * matrix.cols() as u64) {
        return Features::sparse(matrix);
    }
    reading.hold(size_of::<f32>() as u64 * matrix.rows() as u64 * matrix.cols() as u64)?;
    let mut dense = Matrix::zeros(matrix.rows(), matrix.cols());
    for i in 0..matrix.rows() {
        let (columns, values) = matrix.row(i);
        for (&column, &value) in columns.iter().zip(values) {
            dense[(i, column as usize)] = value;
        }
    }
    Features::dense(dense)
}

/// Rows of features as they come in, in a storage near the one they will end in: a wide table of
/// mostly zeros must not take the memory of a dense one.
pub(crate) struct FeatureRows<'r> {
    columns: usize,
    storage: Storage,
    reading: &'r Reading,
}

enum Storage {
    Sparse { offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f32> },
    Dense(Vec<f32>),
}

impl<'r> FeatureRows<'r> {
    pub(crate) fn new(columns: usize, reading: &'r Reading) -> Self {
        let storage = Storage::Sparse { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        FeatureRows { columns, storage, reading }
    }

    /// Adds a row; it must have as many values as there are columns.
    pub(crate) fn push(&mut self, row: &[f32]) -> Result<()> {
        assert_eq!(row.len(), self.columns, "a row of features has a value for every column");
        match &mut self.storage {
            Storage::Dense(values) => {
                self.reading.grow(size_of_val(row))?;
                values.extend_from_slice(row);
            }
            Storage::Sparse { offsets, columns, values } => {
                let before = values.len();
                for (column, &value) in row.iter().enumerate() {
                    // By bits, because -0.0 must survive in a table that turns out dense.
                    if value.to_bits() != 0 {
                        columns.push(column as u32);
                        values.push(value);
                    }
                }
                offsets.push(values.len());
                self.reading.grow(ENTRY * (values.len() - before) + size_of::<usize>())?;
                let cells = (offsets.len() - 1) as u64 * self.columns as u64;
                if cells >= TRUSTED_AFTER && !is_sparse(values.len(), cells) {
                    self.reading.hold(cells * size_of::<f32>() as u64)?;
                    self.storage = Storage::Dense(spread(self.columns, offsets, columns, values));
                }
            }
        }
        Ok(())
    }

    /// The features, dense or sparse as they turned out.
    pub(crate) fn finish(self) -> Result<Features> {
        let width = self.columns;
        let reading = self.reading;
        let sparse = |values: &[f32], rows: usize| {
            let nonzeros = values.iter().filter(|&&value| value != 0.0).count();
            is_sparse(nonzeros, rows as u64 * width as u64)
        };
        match self.storage {
            Storage::Sparse { offsets, columns, values } => {
                let rows = offsets.len() - 1;
                if sparse(&values, rows) {
                    reading.hold((ENTRY * values.len() + size_of_val(&offsets[..])) as u64)?;
                    return Features::sparse(SparseMatrix::from_csr(
                        width, &offsets, &columns, &values,
                    )?);
                }
                reading.hold((size_of::<f32>() * rows * width) as u64)?;
                let dense = spread(width, &offsets, &columns, &values);
                Features::dense(Matrix::from_rows(rows, width, dense)?)
            }
            Storage::Dense(values) => {
                let rows = values.len() / width;
                if !sparse(&values, rows) {
                    return Features::dense(Matrix::from_rows(rows, width, values)?);
                }
                // Fewer than one in four, in arrays that double, and once more as a matrix.
                reading.hold((3 * ENTRY * values.len() / 4 + 24 * rows) as u64)?;
                let (mut offsets, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
                for row in values.chunks_exact(width) {
                    for (column, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                        columns.push(column as u32);
                        kept.push(value);
                    }
                    offsets.push(kept.len());
                }
                Features::sparse(SparseMatrix::from_csr(width, &offsets, &columns, &kept)?)
            }
        }
    }
}

/// Row-major values of compressed rows.
fn spread(width: usize, offsets: &[usize], columns: &[u32], values: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; (offsets.len() - 1) * width];
    for (i, window) in offsets.windows(2).enumerate() {
        for k in window[0]..window[1] {
            out[i * width + columns[k] as usize] = values[k];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfgcn::context::Context;

    fn rows(total: usize, filled: impl Fn(usize) -> bool) -> Features {
        let reading = Reading::under(&Context::default()).unwrap();
        let mut rows = FeatureRows::new(10, &reading);
        for i in 0..total {
            let value = if filled(i) { i as f32 + 1.0 } else { 0.0 };
            rows.push(&[value; 10]).unwrap();
        }
        rows.finish().unwrap()
    }

    /// The storage changes its mind on the way in both directions; the values must not.
    #[test]
    fn the_density_of_the_whole_decides_and_the_values_stay() {
        let total = 40_000;
        for (name, cut, sparse) in
            [("dense start", 9_000, true), ("dense", 11_000, false), ("sparse", 100, true)]
        {
            let features = rows(total, |i| i < cut);
            assert_eq!(matches!(features, Features::Sparse(_)), sparse, "{name}");
            assert_eq!((features.rows(), features.nonzeros()), (total, 10 * cut), "{name}");
            features.for_each_in_row(cut - 1, |_, value| assert_eq!(value, cut as f32));
        }
        let late = rows(total, |i| i >= 20_000);
        assert!(matches!(late, Features::Dense(_)));
        late.for_each_in_row(39_999, |_, value| assert_eq!(value, 40_000.0));
    }
}
