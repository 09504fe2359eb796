//! Dense linear algebra to double precision: the only folder that touches `faer`, and `pulp`, its vectors.
//!
//! Concrete functions on row-major [`Matrix`]es keep the generic code of the linear-algebra crate
//! out of the rest of the build. Whatever can take long is done in pieces of some 50 milliseconds,
//! and asks its [`Context`](crate::context::Context) between them whether it is still wanted. Pieces
//! and the degree of parallelism are fixed by the size of the problem, never by the number of
//! threads, so that results are the same bits on every machine of a kind.

mod cached;
mod cholesky;
mod pieces;
mod products;
mod reduction;
mod refined;
mod rotation;
mod shifted;
#[cfg(test)]
mod tests;
mod tridiagonal;
mod workspace;

pub use cholesky::Cholesky;
pub(crate) use products::multiply_some_rows;
pub use products::{
    gram_of_columns, gram_of_rows, multiply, multiply_by_transposed, multiply_transposed,
};
pub(crate) use refined::solve_refined;
pub use shifted::{FORMS_AT_ONCE, ShiftedFactors};
pub use tridiagonal::Tridiagonal;
pub(crate) use workspace::threads as threads_with_workspace;

use crate::matrix::Matrix;
use faer::traits::RealField;
use faer::{MatMut, MatRef};

/// A number of either precision. What is in double precision is so throughout, but for factors that solutions are refined by.
trait Number: RealField + Copy + Default + From<f32> {}

impl Number for f32 {}
impl Number for f64 {}

fn view<T: Number>(m: &Matrix<T>) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(m.as_slice(), m.rows(), m.cols())
}

fn view_mut<T: Number>(m: &mut Matrix<T>) -> MatMut<'_, T> {
    let (rows, cols) = (m.rows(), m.cols());
    MatMut::from_row_major_slice_mut(m.as_mut_slice(), rows, cols)
}
