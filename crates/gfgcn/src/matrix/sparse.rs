//! Sparse matrices in compressed rows.

use super::check_offsets;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use rayon::prelude::*;

/// A sparse matrix in compressed rows: sorted, unique columns; no stored zeros.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    cols: usize,
    offsets: Vec<usize>,
    indices: Buffer<u32>,
    values: Buffer<f32>,
}

impl SparseMatrix {
    /// Validates compressed rows and brings them into canonical form: columns sorted within each
    /// row, repeated entries added up, zeros dropped.
    ///
    /// # Errors
    /// Offsets that do not start at 0, decrease or do not end at the number of entries; another
    /// number of values than of indices; a column index past the last column.
    pub fn from_csr(
        cols: usize,
        offsets: &[usize],
        indices: &[u32],
        values: &[f32],
    ) -> Result<Self> {
        check_offsets(offsets, indices.len())?;
        Error::check_size("values of a sparse matrix", indices.len(), values.len())?;
        if is_canonical(cols, offsets, indices, values) {
            let (indices, values) = (indices.to_vec().into(), values.to_vec().into());
            return Ok(SparseMatrix { cols, offsets: offsets.to_vec(), indices, values });
        }
        Parts::canonical(cols, offsets, indices, values).map(|parts| parts.finish(cols))
    }

    /// As [`SparseMatrix::from_csr`], of arrays that need not be owned: rows that are canonical
    /// already are not copied.
    ///
    /// # Errors
    /// As [`SparseMatrix::from_csr`].
    pub fn from_buffers(
        cols: usize,
        offsets: Vec<usize>,
        indices: Buffer<u32>,
        values: Buffer<f32>,
    ) -> Result<Self> {
        check_offsets(&offsets, indices.len())?;
        Error::check_size("values of a sparse matrix", indices.len(), values.len())?;
        if is_canonical(cols, &offsets, &indices, &values) {
            return Ok(SparseMatrix { cols, offsets, indices, values });
        }
        Parts::canonical(cols, &offsets, &indices, &values).map(|parts| parts.finish(cols))
    }

    /// Rows that are canonical already, appended one by one by `fill(row, indices, values)`.
    pub(crate) fn from_canonical_rows(
        rows: usize,
        cols: usize,
        mut fill: impl FnMut(usize, &mut Vec<u32>, &mut Vec<f32>),
    ) -> Self {
        let mut out = Parts { offsets: vec![0], indices: Vec::new(), values: Vec::new() };
        for row in 0..rows {
            fill(row, &mut out.indices, &mut out.values);
            out.offsets.push(out.indices.len());
        }
        out.finish(cols)
    }

    /// Every row's values, to be changed but not to zero.
    pub(crate) fn rows_of_values_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.offsets.windows(2).scan(self.values.to_mut(), |rest, w| {
            let (row, after) = std::mem::take(rest).split_at_mut(w[1] - w[0]);
            *rest = after;
            Some(row)
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The number of stored entries.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// The columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Row offsets, `rows + 1` of them.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Bytes that are held in memory, and not mapped from files or lent.
    pub fn held_memory(&self) -> u64 {
        8 * self.offsets.len() as u64 + self.indices.held_memory() + self.values.held_memory()
    }

    /// Column indices, row by row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// How many entries of compressed rows have the column of another entry of their row, the first not counted: what
/// [`SparseMatrix::from_csr`] adds up.
///
/// ```
/// use gfgcn::matrix::repeated_entries;
/// assert_eq!(repeated_entries(&[0, 3, 5], &[2, 0, 2, 0, 1]), 1);
/// ```
///
/// # Panics
/// If the offsets are not those of the entries.
pub fn repeated_entries(offsets: &[usize], indices: &[u32]) -> usize {
    let mut sorted = Vec::new();
    let mut in_row = |window: &[usize]| {
        let row = &indices[window[0]..window[1]];
        if row.windows(2).all(|pair| pair[0] < pair[1]) {
            return 0;
        }
        sorted.clear();
        sorted.extend_from_slice(row);
        sorted.sort_unstable();
        sorted.windows(2).filter(|pair| pair[0] == pair[1]).count()
    };
    offsets.windows(2).map(&mut in_row).sum()
}

/// Whether rows with valid offsets have sorted, unique columns within the matrix and no zeros.
fn is_canonical(cols: usize, offsets: &[usize], indices: &[u32], values: &[f32]) -> bool {
    offsets.par_windows(2).with_min_len(1 << 12).all(|w| {
        let row = &indices[w[0]..w[1]];
        row.windows(2).all(|pair| pair[0] < pair[1])
            && row.last().is_none_or(|&last| (last as usize) < cols)
            && values[w[0]..w[1]].iter().all(|&value| value != 0.0)
    })
}

/// The arrays of a matrix that is being made.
struct Parts {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl Parts {
    fn canonical(cols: usize, offsets: &[usize], indices: &[u32], values: &[f32]) -> Result<Self> {
        let mut out = Parts {
            offsets: Vec::with_capacity(offsets.len()),
            indices: Vec::with_capacity(indices.len()),
            values: Vec::with_capacity(indices.len()),
        };
        out.offsets.push(0);
        let mut row = Vec::new();
        for (i, window) in offsets.windows(2).enumerate() {
            let range = window[0]..window[1];
            row.clear();
            row.extend(indices[range.clone()].iter().copied().zip(values[range].iter().copied()));
            row.sort_by_key(|&(column, _)| column);
            for &(column, value) in &row {
                if column as usize >= cols {
                    return Err(Error::Data(format!(
                        "row {i} has column index {column}, but there are {cols} columns"
                    )));
                }
                let start = out.offsets[i];
                match out.indices[start..].last() {
                    Some(&last) if last == column => *out.values.last_mut().unwrap() += value,
                    _ => {
                        out.indices.push(column);
                        out.values.push(value);
                    }
                }
            }
            out.drop_zeros_since(out.offsets[i]);
            out.offsets.push(out.indices.len());
        }
        Ok(out)
    }

    fn drop_zeros_since(&mut self, start: usize) {
        let mut kept = start;
        for k in start..self.indices.len() {
            if self.values[k] != 0.0 {
                self.indices[kept] = self.indices[k];
                self.values[kept] = self.values[k];
                kept += 1;
            }
        }
        self.indices.truncate(kept);
        self.values.truncate(kept);
    }

    fn finish(self, cols: usize) -> SparseMatrix {
        let Parts { offsets, indices, values } = self;
        SparseMatrix { cols, offsets, indices: indices.into(), values: values.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn canonical_rows_are_taken_as_they_are() {
        let (indices, values) = (Arc::new(vec![0, 2, 1]), Arc::new(vec![1.0, -2.0, 0.5]));
        let lent = SparseMatrix::from_buffers(
            3,
            vec![0, 2, 2, 3],
            Buffer::shared(indices.clone()),
            Buffer::shared(values.clone()),
        );
        let lent = lent.unwrap();
        assert_eq!(lent.indices().as_ptr(), indices.as_ptr());
        assert_eq!(lent.values().as_ptr(), values.as_ptr());
        assert_eq!(lent, SparseMatrix::from_csr(3, &[0, 2, 2, 3], &indices, &values).unwrap());
    }

    /// Rows of every flaw against a dense matrix of sums.
    #[test]
    fn other_rows_are_brought_into_order() {
        let (offsets, indices) = (vec![0, 3, 6, 8, 9], vec![2, 0, 1, 1, 1, 0, 3, 3, 2]);
        let values = vec![1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 6.0, -6.0, 7.0];
        let mut dense = [[0.0f32; 4]; 4];
        for row in 0..4 {
            for k in offsets[row]..offsets[row + 1] {
                dense[row][indices[k] as usize] += values[k];
            }
        }
        let borrowed = SparseMatrix::from_csr(4, &offsets, &indices, &values).unwrap();
        let given =
            SparseMatrix::from_buffers(4, offsets, indices.clone().into(), values.into()).unwrap();
        for matrix in [borrowed, given] {
            for (row, dense) in dense.iter().enumerate() {
                let expected: Vec<(u32, f32)> =
                    (0..4).zip(dense.iter().copied()).filter(|&(_, v)| v != 0.0).collect();
                let (columns, values) = matrix.row(row);
                let found: Vec<(u32, f32)> =
                    columns.iter().copied().zip(values.iter().copied()).collect();
                assert_eq!(found, expected);
            }
        }
        assert!(
            SparseMatrix::from_buffers(3, vec![0, 1], vec![3].into(), vec![1.0].into()).is_err()
        );
    }
}
