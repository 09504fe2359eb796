//! Dense linear algebra in double precision: the only folder that touches `faer`.
//!
//! Concrete functions on row-major [`Matrix`]es keep the generic code of the linear-algebra crate
//! out of the rest of the build. The degree of parallelism is fixed by the size of the problem,
//! never by the number of threads, so that results are the same bits on every machine of a kind.

mod cholesky;
mod tridiagonal;

pub use cholesky::Cholesky;
pub use tridiagonal::{ShiftedFactor, Tridiagonal};

use crate::matrix::Matrix;
use crate::context::Context;
use crate::error::Result;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The parts that products of so many multiplications are divided into: small ones run on one
/// thread, and parallelism goes over splits instead.
fn parts_of_products(multiplications: usize) -> Par {
    if multiplications < 1 << 27 { Par::Seq } else { Par::rayon(8) }
}

/// Runs work that hands out many small tasks while another thread looks for them without pause: waking
/// one up for every column of a reduction takes as long as the column itself.
fn with_a_thread_awake(par: Par, work: impl FnOnce() + Send) {
    /// Longer than any pause between two tasks of the work. Giving up after it, whatever the reason
    /// that nothing is left to do, also means that no two threads wait for each other here.
    const PATIENCE: Duration = Duration::from_millis(1);
    if par == Par::Seq {
        return work();
    }
    let done = AtomicBool::new(false);
    rayon::scope(|scope| {
        scope.spawn(|_| {
            let mut last = Instant::now();
            while !done.load(Ordering::Acquire) && last.elapsed() < PATIENCE {
                if rayon::yield_now() == Some(rayon::Yield::Executed) {
                    last = Instant::now();
                }
            }
        });
        work();
        done.store(true, Ordering::Release);
    });
}

fn view(m: &Matrix<f64>) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(m.as_slice(), m.rows(), m.cols())
}

fn view_mut(m: &mut Matrix<f64>) -> MatMut<'_, f64> {
    let (rows, cols) = (m.rows(), m.cols());
    MatMut::from_row_major_slice_mut(m.as_mut_slice(), rows, cols)
}

/// A · B.
pub fn multiply(a: &Matrix<f64>, b: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
    product(view(a), view(b), context)
}

/// Aᵀ · B.
pub fn multiply_transposed(a: &Matrix<f64>, b: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
    product(view(a).transpose(), view(b), context)
}

/// A · Bᵀ.
pub fn multiply_by_transposed(a: &Matrix<f64>, b: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
    product(view(a), view(b).transpose(), context)
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>, context: &Context) -> Result<Matrix<f64>> {
    context.check()?;
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    let par = parts_of_products(a.nrows() * a.ncols() * b.ncols());
    matmul(view_mut(&mut out), Accum::Replace, a, b, 1.0, par);
    Ok(out)
}

/// The symmetric A · Aᵀ (inner products of the rows).
pub fn gram_of_rows(a: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
    gram(view(a), context)
}

/// The symmetric Aᵀ · A (inner products of the columns).
pub fn gram_of_columns(a: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
    gram(view(a).transpose(), context)
}

fn gram(a: MatRef<'_, f64>, context: &Context) -> Result<Matrix<f64>> {
    context.check()?;
    let n = a.nrows();
    let mut out = Matrix::zeros(n, n);
    triangular::matmul(
        view_mut(&mut out),
        BlockStructure::TriangularLower,
        Accum::Replace,
        a,
        BlockStructure::Rectangular,
        a.transpose(),
        BlockStructure::Rectangular,
        1.0,
        parts_of_products(n * n * a.ncols()),
    );
    mirror(&mut out);
    Ok(out)
}

/// Copies the lower triangle to the upper one, in tiles that stay in the cache.
fn mirror(m: &mut Matrix<f64>) {
    const TILE: usize = 32;
    let n = m.rows();
    let entries = m.as_mut_slice();
    for rows in (0..n).step_by(TILE) {
        for columns in (rows..n).step_by(TILE) {
            for i in rows..n.min(rows + TILE) {
                for j in columns.max(i + 1)..n.min(columns + TILE) {
                    entries[i * n + j] = entries[j * n + i];
                }
            }
        }
    }
}
