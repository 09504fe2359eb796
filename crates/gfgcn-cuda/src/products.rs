//! Products of row-major matrices in double precision, by cuBLAS.
//!
//! cuBLAS stores matrices by columns, and a row-major A is a column-major Aᵀ: C = A B is computed as Cᵀ = Bᵀ Aᵀ. Its products
//! give the same bits in every run on the same GPU.

use crate::lanes::Held;
use crate::library::{explained_cublas, failure};
use cudarc::cublas::{result, sys::cublasOperation_t as Operation};
use gfgcn::Result;

/// A row-major matrix, or as many as a batch has, on the GPU.
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    /// Where its first entry is.
    pub(crate) address: u64,
    /// Entries from one row to the next.
    pub(crate) stride: usize,
    /// Entries from one matrix of a batch to the next; 0 for one that they share.
    pub(crate) batch_stride: usize,
    /// Whether its transpose is meant.
    pub(crate) transposed: bool,
}

impl Operand {
    pub(crate) fn new(address: u64, stride: usize) -> Self {
        Operand { address, stride, batch_stride: 0, transposed: false }
    }

    /// The part that begins at a row and a column.
    pub(crate) fn at(self, row: usize, column: usize) -> Self {
        let address = self.address + 8 * (row * self.stride + column) as u64;
        Operand { address, ..self }
    }

    pub(crate) fn transposed(self) -> Self {
        Operand { transposed: !self.transposed, ..self }
    }

    pub(crate) fn batched(self, batch_stride: usize) -> Self {
        Operand { batch_stride, ..self }
    }

    fn operation(self) -> Operation {
        if self.transposed { Operation::CUBLAS_OP_T } else { Operation::CUBLAS_OP_N }
    }
}

/// How large a product is: C is rows × columns, and so many terms are added up.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) terms: usize,
    pub(crate) batch: usize,
}

impl Held {
    /// C ← α A B + β C, for every matrix of a batch.
    pub(crate) fn multiply(
        &self,
        size: Size,
        alpha: f64,
        (a, b): (Operand, Operand),
        beta: f64,
        c: Operand,
    ) -> Result<()> {
        let Size { rows, columns, terms, batch } = size;
        if rows == 0 || columns == 0 || batch == 0 {
            return Ok(());
        }
        let blas = self.blas()?;
        // SAFETY: whoever calls has matrices of these sizes; the handle's queue is this lane's.
        let outcome = unsafe {
            result::dgemm_strided_batched(
                *blas.handle(),
                b.operation(),
                a.operation(),
                columns as i32,
                rows as i32,
                terms as i32,
                &raw const alpha,
                b.address as *const f64,
                b.stride as i32,
                b.batch_stride as i64,
                a.address as *const f64,
                a.stride as i32,
                a.batch_stride as i64,
                &raw const beta,
                c.address as *mut f64,
                c.stride as i32,
                c.batch_stride as i64,
                batch as i32,
            )
        };
        outcome.map_err(|error| failure(&self.device.name, explained_cublas(&error, None)))
    }
}
