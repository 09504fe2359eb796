//! Memory that is used again: every epoch needs the same matrices as the last.

use gfgcn::buffer::Buffer;
use gfgcn::matrix::Matrix;
use std::collections::HashMap;

/// Matrices that nobody needs any more, by their number of entries.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    free: HashMap<usize, Vec<Buffer<f32>>>,
}

impl Buffers {
    /// A matrix with any contents, to be written over.
    pub(crate) fn take(&mut self, rows: usize, cols: usize) -> Matrix<f32> {
        match self.free.get_mut(&(rows * cols)).and_then(Vec::pop) {
            Some(data) => Matrix::from_buffer(rows, cols, data).expect("as many entries"),
            None => Matrix::zeros(rows, cols),
        }
    }

    /// A copy of a matrix.
    pub(crate) fn copy(&mut self, matrix: &Matrix<f32>) -> Matrix<f32> {
        self.copy_rows(matrix, matrix.rows())
    }

    /// A copy of the first rows of a matrix.
    pub(crate) fn copy_rows(&mut self, matrix: &Matrix<f32>, rows: usize) -> Matrix<f32> {
        let mut copy = self.take(rows, matrix.cols());
        copy.as_mut_slice().copy_from_slice(&matrix.as_slice()[..rows * matrix.cols()]);
        copy
    }

    /// Takes back a matrix that is not needed any more.
    pub(crate) fn give(&mut self, matrix: Matrix<f32>) {
        let data = matrix.into_buffer();
        if !data.is_empty() {
            self.free.entry(data.len()).or_default().push(data);
        }
    }
}
