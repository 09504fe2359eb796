//! Products of matrices in blocks that stay in a core's caches, on one thread.
//!
//! The library for products cuts them by the size of the last-level cache, of which a virtual machine has a share at best, and is
//! half as fast where sums are long. Blocks of a few hundred rows and terms stay in the second level instead, and before each the
//! context is asked whether the work is still wanted. The cuts are fixed by the sizes alone.

use super::pieces::cut;
use super::{Number, workspace};
use crate::context::Context;
use crate::error::Result;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::Range;

/// Rows of a block, and terms of its sums: half a megabyte in double precision.
const ROWS: usize = 256;

/// Bytes of a row of a block: whole tiles of any processor's registers, whose sides are three vectors or divide that.
const ROW_BYTES: usize = 384;

/// The part of a result that is wanted. What is beside a triangle may change near its diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// Entries (i, j) with i ≥ j.
    Lower,
    /// Entries (i, j) with i ≤ j.
    Upper,
}

impl Part {
    /// The entries of a column of so many rows that are wanted.
    pub(super) fn of_column(self, j: usize, rows: usize) -> Range<usize> {
        match self {
            Part::Whole => 0..rows,
            Part::Lower => j.min(rows)..rows,
            Part::Upper => 0..rows.min(j + 1),
        }
    }

    pub(super) fn transposed(self) -> Self {
        match self {
            Part::Whole => Part::Whole,
            Part::Lower => Part::Upper,
            Part::Upper => Part::Lower,
        }
    }
}

/// C ← C + α A B, or C ← α A B, as far as a part of C is wanted.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled); C is in between then.
pub(super) fn multiply<T: Number>(
    part: Part,
    accum: Accum,
    mut c: MatMut<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
    context: &Context,
) -> Result<()> {
    if by_columns(c.as_ref()) {
        let (c, a, b) = (c.transpose_mut(), b.transpose(), a.transpose());
        return multiply(part.transposed(), accum, c, a, b, alpha, context);
    }
    let (m, n) = (c.nrows(), c.ncols());
    let whole_row = ROW_BYTES / size_of::<T>();
    // Along a diagonal half of a block is computed in vain.
    let width = if part == Part::Whole { whole_row } else { whole_row / 2 };
    for rows in cut(m, ROWS) {
        let mut accum = accum;
        for terms in cut(a.ncols(), ROWS) {
            let wanted = match part {
                Part::Whole => 0..n,
                Part::Lower => 0..n.min(rows.end),
                Part::Upper => rows.start / width * width..n,
            };
            for first in wanted.clone().step_by(width) {
                context.check()?;
                let columns = first..wanted.end.min(first + width);
                let rows = match part {
                    Part::Whole => rows.clone(),
                    Part::Lower => rows.start.max(first)..rows.end,
                    Part::Upper => rows.start..rows.end.min(columns.end),
                };
                workspace::note(rows.len(), columns.len(), terms.len());
                let c = c.as_mut().get_mut(rows.clone(), columns.clone());
                let (a, b) = (a.get(rows, terms.clone()), b.get(terms.clone(), columns));
                matmul(c, accum, a, b, alpha, Par::Seq);
            }
            accum = Accum::Add;
        }
    }
    Ok(())
}

/// Whether the entries of a column are neighbours, and not those of a row.
pub(super) fn by_columns<T>(c: MatRef<'_, T>) -> bool {
    c.row_stride().unsigned_abs() < c.col_stride().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Cancel;
    use crate::error::Error;
    use faer::Mat;

    fn value(i: usize, j: usize) -> f64 {
        ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4
    }

    /// Results by rows and by columns, with more of either, and of no terms.
    #[test]
    fn every_part_of_a_product_is_the_sum_it_stands_for() {
        let context = Context::default();
        for (m, n, depth) in [(300, 70, 90), (70, 300, 40), (5, 3, 700), (600, 530, 3), (9, 4, 0)] {
            let (a, b) =
                (Mat::from_fn(m, depth, value), Mat::from_fn(depth, n, |i, j| value(j, i)));
            let wanted = |i: usize, j: usize| -> f64 {
                (0..depth).map(|k| a[(i, k)] * b[(k, j)]).sum::<f64>() * -0.5
            };
            for part in [Part::Whole, Part::Lower, Part::Upper] {
                for (accum, before) in [(Accum::Replace, 0.0), (Accum::Add, 2.0)] {
                    let mut by_columns = Mat::from_fn(m, n, |_, _| 2.0);
                    let mut by_rows = Mat::from_fn(n, m, |_, _| 2.0);
                    for c in [by_columns.as_mut(), by_rows.as_mut().transpose_mut()] {
                        multiply(part, accum, c, a.as_ref(), b.as_ref(), -0.5, &context).unwrap();
                    }
                    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                        let counts = match part {
                            Part::Whole => true,
                            Part::Lower => i >= j,
                            Part::Upper => i <= j,
                        };
                        for found in [by_columns[(i, j)], by_rows[(j, i)]] {
                            let far = (found - before - wanted(i, j)).abs() > 1e-10;
                            assert!(!(counts && far), "{part:?} of {m} × {n}: ({i}, {j})");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_product_that_is_not_wanted_ends() {
        let cancel = Cancel::default();
        cancel.cancel();
        let context = Context::default().with_cancel(cancel);
        let (a, mut c) = (Mat::from_fn(4, 4, value), Mat::zeros(4, 4));
        let (c, a) = (c.as_mut(), a.as_ref());
        let result = multiply(Part::Whole, Accum::Replace, c, a, a, 1.0, &context);
        assert!(matches!(result, Err(Error::Cancelled)));
    }
}
