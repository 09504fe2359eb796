//! Reflections, some of which are applied at once.

use crate::context::Context;
use crate::error::Result;
use crate::linalg::cached::{self, Part};
use faer::linalg::householder::upgrade_householder_factor;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, Par};

/// To Qᵀ, the first reflection first, or to Q, the last one first.
#[derive(Clone, Copy, Debug)]
pub(in crate::linalg) enum Direction {
    Forward,
    Back,
}

/// Neighbouring reflections I − v vᵀ / τ, whose product is I − U Vᵀ.
///
/// Both factors are whole matrices, so that reflecting takes two plain products. With a triangular factor in between, U
/// would not have to be kept, but the products with triangles take longer than the rest suggests.
#[derive(Clone, Debug)]
pub(in crate::linalg) struct Reflections {
    /// The row of the first one's leading 1.
    pub(in crate::linalg) first: usize,
    /// V from that row on, by columns: ones on the diagonal, zeros above.
    vectors: Mat<f64>,
    /// U.
    others: Mat<f64>,
}

impl Reflections {
    /// Reflections with these vectors and τ.
    pub(super) fn new(first: usize, vectors: Mat<f64>, scales: &[f64]) -> Self {
        let size = scales.len();
        let mut factor = Mat::zeros(size, size);
        (0..size).for_each(|k| factor[(k, k)] = scales[k]);
        upgrade_householder_factor(factor.as_mut(), vectors.as_ref(), size, 1, Par::Seq);
        let mut others = vectors.clone();
        let (factor, transposed) = (factor.transpose(), others.as_mut().transpose_mut());
        solve_lower_triangular_in_place(factor, transposed, Par::Seq);
        Reflections { first, vectors, others }
    }

    /// How many there are.
    pub(in crate::linalg) fn len(&self) -> usize {
        self.vectors.ncols()
    }

    /// Reflects columns, whose rows are all those of the matrix.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled); the columns are in between then.
    pub(in crate::linalg) fn apply(
        &self,
        direction: Direction,
        columns: MatMut<'_, f64>,
        context: &Context,
    ) -> Result<()> {
        let (left, right) = match direction {
            Direction::Forward => (&self.vectors, &self.others),
            Direction::Back => (&self.others, &self.vectors),
        };
        let columns = columns.subrows_mut(self.first, self.vectors.nrows());
        let mut products = Mat::zeros(self.len(), columns.ncols());
        let (right, rows) = (right.transpose(), columns.as_ref());
        cached::multiply(
            Part::Whole,
            Accum::Replace,
            products.as_mut(),
            right,
            rows,
            1.0,
            context,
        )?;
        let (left, products) = (left.as_ref(), products.as_ref());
        cached::multiply(Part::Whole, Accum::Add, columns, left, products, -1.0, context)
    }
}
