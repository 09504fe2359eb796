//! Dense and sparse matrices, row-major, with validated contents.
//!
//! Linear algebra proper lives in [`crate::linalg`]; these types only hold data and keep its
//! invariants, so that the code that computes never has to check them again.

mod blocks;
mod sparse;

pub use crate::buffer::SharedEntries;
pub use blocks::{CheckBlock, ColumnBlocks};
pub use sparse::{SparseMatrix, repeated_entries};

use crate::buffer::Buffer;
use crate::device::ResidentArray;
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A dense row-major matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix<T> {
    rows: usize,
    cols: usize,
    data: Buffer<T>,
}

impl<T: Copy + Default> Matrix<T> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { rows, cols, data: Buffer::zeros(rows * cols) }
    }

    /// Takes row-major data; `data.len()` must be `rows * cols`.
    pub fn from_rows(rows: usize, cols: usize, data: Vec<T>) -> Result<Self> {
        Matrix::from_buffer(rows, cols, data.into())
    }

    /// Row-major data that are not copied but read where they are, until the matrix is written to.
    ///
    /// ```
    /// use gfgcn::matrix::Matrix;
    /// use std::sync::Arc;
    ///
    /// let lent: Arc<Vec<f32>> = Arc::new(vec![1.0, 2.0, 3.0, 4.0]);
    /// let matrix = Matrix::shared(2, 2, lent.clone())?;
    /// assert_eq!(matrix.as_slice().as_ptr(), lent.as_ptr());
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    pub fn shared(rows: usize, cols: usize, data: SharedEntries<T>) -> Result<Self> {
        Matrix::from_buffer(rows, cols, Buffer::shared(data))
    }

    /// The same matrix, whose clones share its entries until one of them is written to.
    #[must_use]
    pub fn into_shared(self) -> Self
    where
        T: Send + Sync + 'static,
    {
        Matrix { data: self.data.into_shared(), ..self }
    }

    /// Row-major data that stay on a device until somebody reads them, as [`Buffer::on_device`] says.
    pub fn on_device(rows: usize, cols: usize, data: Arc<dyn ResidentArray<T>>) -> Result<Self> {
        Matrix::from_buffer(rows, cols, Buffer::on_device(data))
    }

    /// The array on a device that this stands for, if it does.
    pub fn resident(&self) -> Option<&Arc<dyn ResidentArray<T>>> {
        self.data.resident()
    }

    /// As [`Matrix::from_rows`], of data that are owned, shared, mapped from a file or on a device.
    pub fn from_buffer(rows: usize, cols: usize, data: Buffer<T>) -> Result<Self> {
        let expected = rows
            .checked_mul(cols)
            .ok_or_else(|| Error::Data(format!("a {rows} × {cols} matrix is too large")))?;
        Error::check_size(format!("entries of a {rows} × {cols} matrix"), expected, data.len())?;
        Ok(Matrix { rows, cols, data })
    }

    /// Fills a matrix from a function of row and column.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| f(i, j)));
        }
        Matrix { rows, cols, data: data.into() }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, to be written.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data.to_mut()[i * self.cols..(i + 1) * self.cols]
    }

    /// All entries, row by row.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// Bytes that are held in memory, and not mapped from files or lent.
    pub fn held_memory(&self) -> u64 {
        self.data.held_memory()
    }

    /// All entries, row by row, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.data.to_mut()
    }

    /// All entries, row by row, without the matrix around them.
    pub fn into_vec(self) -> Vec<T> {
        self.data.into_vec()
    }

    /// The same, wherever they are.
    pub fn into_buffer(self) -> Buffer<T> {
        self.data
    }

    /// The rows at the given positions, in that order.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let mut data = Vec::with_capacity(rows.len() * self.cols);
        for &i in rows {
            data.extend_from_slice(self.row(i));
        }
        Matrix { rows: rows.len(), cols: self.cols, data: data.into() }
    }

    /// A range of columns.
    pub fn select_columns(&self, columns: Range<usize>) -> Self {
        let mut data = Vec::with_capacity(self.rows * columns.len());
        for i in 0..self.rows {
            data.extend_from_slice(&self.row(i)[columns.clone()]);
        }
        Matrix { rows: self.rows, cols: columns.len(), data: data.into() }
    }

    /// Matrices with the same number of rows, one beside the other.
    ///
    /// # Panics
    /// If there are none, or their rows differ.
    pub fn side_by_side(parts: &[&Self]) -> Self {
        let rows = parts[0].rows;
        assert!(parts.iter().all(|part| part.rows == rows), "all parts have {rows} rows");
        let cols: usize = parts.iter().map(|part| part.cols).sum();
        let mut data = Vec::with_capacity(rows * cols);
        (0..rows).for_each(|i| parts.iter().for_each(|part| data.extend_from_slice(part.row(i))));
        Matrix { rows, cols, data: data.into() }
    }

    /// Matrices with the same number of columns, one below the other.
    ///
    /// # Panics
    /// If there are none, or their columns differ.
    pub fn stacked(parts: &[Self]) -> Self {
        let cols = parts[0].cols;
        assert!(parts.iter().all(|part| part.cols == cols), "all parts have {cols} columns");
        let rows: usize = parts.iter().map(|part| part.rows).sum();
        let mut data = Vec::with_capacity(rows * cols);
        parts.iter().for_each(|part| data.extend_from_slice(part.as_slice()));
        Matrix { rows, cols, data: data.into() }
    }
}

impl Matrix<f64> {
    /// The mean of each column.
    pub fn column_means(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.cols];
        for i in 0..self.rows {
            means.iter_mut().zip(self.row(i)).for_each(|(mean, value)| *mean += value);
        }
        means.iter_mut().for_each(|mean| *mean /= self.rows.max(1) as f64);
        means
    }

    /// Divides each column by a scale and rounds to single precision, in which landmarks are stored: coefficients of landmarks that
    /// are nearly alike are large, and would not fit other rows.
    pub(crate) fn divide_columns_as_stored(&mut self, scale: Option<&[f64]>) {
        for i in 0..self.rows {
            for (j, value) in self.row_mut(i).iter_mut().enumerate() {
                *value = f64::from((*value / scale.map_or(1.0, |scale| scale[j])) as f32);
            }
        }
    }

    /// Adds `factor` times a vector to every row.
    pub fn add_to_rows(&mut self, factor: f64, vector: &[f64]) {
        for i in 0..self.rows {
            self.row_mut(i).iter_mut().zip(vector).for_each(|(value, v)| *value += factor * v);
        }
    }

    /// Adds `factor` times another matrix of the same shape.
    pub(crate) fn add_scaled(&mut self, factor: f64, other: &Matrix<f64>) {
        let pairs = self.as_mut_slice().iter_mut().zip(other.as_slice());
        pairs.for_each(|(value, other)| *value += factor * other);
    }

    /// Rounded to single precision.
    pub fn to_f32(&self) -> Matrix<f32> {
        Matrix {
            rows: self.rows,
            cols: self.cols,
            data: self.data.iter().map(|&value| value as f32).collect(),
        }
    }
}

impl Matrix<f32> {
    /// In double precision, exactly.
    pub fn to_f64(&self) -> Matrix<f64> {
        // Written once, not first filled with zeros: it is large and made for every solution.
        let data = self.data.par_iter().with_min_len(1 << 16).map(|&value| f64::from(value));
        let data: Vec<f64> = data.collect();
        Matrix { rows: self.rows, cols: self.cols, data: data.into() }
    }
}

impl<T> std::ops::Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        debug_assert!(j < self.cols);
        &self.data[i * self.cols + j]
    }
}

impl<T: Clone> std::ops::IndexMut<(usize, usize)> for Matrix<T> {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        debug_assert!(j < self.cols);
        &mut self.data.to_mut()[i * self.cols + j]
    }
}

/// Checks that row offsets start at 0, never decrease and end at the number of entries.
///
/// [`SparseMatrix::from_csr`] and [`Graph::from_csr`](crate::graph::Graph::from_csr) check this too; a reader that asks
/// first can name the array of the file in its message.
pub fn check_offsets<T>(offsets: &[T], entries: usize) -> Result<()>
where
    T: Copy + PartialOrd + fmt::Display + TryInto<usize>,
{
    let is = |offset: T, expected: usize| offset.try_into().is_ok_and(|o| o == expected);
    match offsets.first() {
        None => return Err(Error::Data("the row offsets are empty, but need rows + 1".into())),
        Some(&first) if !is(first, 0) => {
            return Err(Error::Data(format!(
                "the row offsets start at {first}, but must start at 0"
            )));
        }
        _ => {}
    }
    if let Some(i) = offsets.windows(2).position(|w| w[0] > w[1]) {
        let (before, after) = (offsets[i], offsets[i + 1]);
        return Err(Error::Data(format!(
            "the row offsets decrease from {before} to {after} at row {i}"
        )));
    }
    let last = offsets[offsets.len() - 1];
    if !is(last, entries) {
        return Err(Error::Data(format!(
            "the row offsets end at {last}, but there are {entries} entries"
        )));
    }
    Ok(())
}
