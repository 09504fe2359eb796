//! Matrix products in pieces, for threads to share.
//!
//! Where there is enough to multiply, the result is cut into tiles, and long sums into some of fewer terms. Each is computed on one
//! thread, in [blocks](super::cached) that stay in a core's caches, so threads meet once. The cuts are fixed by the sizes alone.

use super::Number;
use super::cached::{self, Part};
use crate::context::Context;
use crate::error::Result;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::{AddAssign, Range};

/// Multiplications of a piece: about 50 milliseconds on one core.
const PIECE: usize = 1 << 30;

/// How work is cut, and under which context it runs.
pub(super) struct Pieces<'c> {
    /// Multiplications that one call may take.
    pub(super) limit: usize,
    /// The parts that each call is divided into, where there is one; whether block columns are shared by threads.
    pub(super) par: Par,
    pub(super) context: &'c Context,
}

impl<'c> Pieces<'c> {
    /// Work of so many multiplications in all.
    ///
    /// Small work runs on one thread, and parallelism goes over splits instead.
    pub(super) fn of(multiplications: usize, context: &'c Context) -> Self {
        let par = if Self::is_small(multiplications) { Par::Seq } else { Par::rayon(8) };
        Pieces { limit: PIECE, par, context }
    }

    /// Whether work of so many multiplications runs on one thread.
    pub(super) fn is_small(multiplications: usize) -> bool {
        multiplications < 1 << 27
    }

    /// C ← C + α A B, or C ← α A B.
    pub(super) fn multiply<T: Number>(
        &self,
        accum: Accum,
        c: MatMut<'_, T>,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        alpha: T,
    ) -> Result<()> {
        self.multiply_part(Part::Whole, accum, c, a, b, alpha)
    }

    /// The lower triangle of C ← C + α A Aᵀ, or of C ← α A Aᵀ. What is above it may change near the diagonal.
    pub(super) fn multiply_by_itself<T: Number>(
        &self,
        accum: Accum,
        c: MatMut<'_, T>,
        a: MatRef<'_, T>,
        alpha: T,
    ) -> Result<()> {
        self.multiply_part(Part::Lower, accum, c, a, a.transpose(), alpha)
    }

    /// As far as a part of C is wanted. Where sums are long and few, threads share their terms.
    fn multiply_part<T: Number>(
        &self,
        part: Part,
        accum: Accum,
        mut c: MatMut<'_, T>,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        alpha: T,
    ) -> Result<()> {
        let (rows, columns, depth) = (c.nrows(), c.ncols(), a.ncols());
        if let Par::Seq = self.par {
            return cached::multiply(part, accum, c, a, b, alpha, self.context);
        }
        let sum_of = |accum, c: MatMut<'_, T>, terms: Range<usize>| {
            let (a, b) = (a.get(.., terms.clone()), b.get(terms, ..));
            self.multiply_tiles(part, accum, c, a, b, alpha)
        };
        let mut terms = cut(depth, depth.div_ceil(sums(rows, columns, depth)));
        let first = terms.next().expect("even no terms are one piece");
        let rest: Vec<Range<usize>> = terms.collect();
        // Laid out as C is: adding up is slow otherwise.
        let by_columns = cached::by_columns(c.as_ref());
        let other = |terms| {
            let (mut sum, entries);
            if by_columns {
                sum = Mat::zeros(rows, columns);
                entries = sum.as_mut();
            } else {
                sum = Mat::zeros(columns, rows);
                entries = sum.as_mut().transpose_mut();
            }
            sum_of(Accum::Replace, entries, terms).map(|()| sum)
        };
        let (own, others) = rayon::join(
            || sum_of(accum, c.as_mut(), first),
            || rest.into_par_iter().map(other).collect::<Result<Vec<_>>>(),
        );
        own?;
        let (mut c, part) =
            if by_columns { (c, part) } else { (c.transpose_mut(), part.transposed()) };
        for sum in &others? {
            let columns = c.as_mut().col_iter_mut().zip(sum.col_iter());
            for (j, (c, sum)) in columns.enumerate() {
                let wanted = part.of_column(j, c.nrows());
                c.get_mut(wanted.clone()).add_assign(sum.get(wanted));
            }
        }
        Ok(())
    }

    /// Tiles of a result, for threads to share.
    fn multiply_tiles<T: Number>(
        &self,
        part: Part,
        accum: Accum,
        c: MatMut<'_, T>,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        alpha: T,
    ) -> Result<()> {
        let [height, width] = tile([c.nrows(), c.ncols()]);
        c.par_col_chunks_mut(width).enumerate().try_for_each(|(j, c)| {
            let b = b.subcols(j * width, c.ncols());
            c.par_row_chunks_mut(height).enumerate().try_for_each(|(i, c)| {
                let part = match i.cmp(&j) {
                    _ if part == Part::Whole => Part::Whole,
                    Ordering::Less => return Ok(()),
                    Ordering::Equal => part,
                    Ordering::Greater => Part::Whole,
                };
                let a = a.subrows(i * height, c.nrows());
                cached::multiply(part, accum, c, a, b, alpha, self.context)
            })
        })
    }

    /// The side of a cube of one piece.
    pub(super) fn side(&self) -> usize {
        side(self.limit)
    }
}

fn side(multiplications: usize) -> usize {
    (multiplications as f64).cbrt() as usize
}

/// The sides of the tiles of a result: as square as they can be, as every tile reads its two factors anew. Those of a square
/// result are squares.
fn tile(sides: [usize; 2]) -> [usize; 2] {
    /// Tiles that are wanted at least, as far as they have this side.
    const WANTED: usize = 16;
    const LEAST: usize = 256;
    /// Tiles of the largest results have this side.
    const MOST: usize = 1024;
    let count = |side: usize| sides.map(|whole| whole.div_ceil(side)).iter().product::<usize>();
    let mut side = MOST;
    while side > LEAST && count(side) < WANTED {
        side /= 2;
    }
    // Of equal size, with blocks that have no remainder.
    sides.map(|whole| whole.div_ceil(whole.div_ceil(side).max(1)).max(1).next_multiple_of(48))
}

/// Into how many sums of some terms each a product is divided, so that threads share long sums of a small result.
fn sums(rows: usize, columns: usize, depth: usize) -> usize {
    /// Multiplications of a sum.
    const LONG: usize = 1 << 27;
    const MOST: usize = 16;
    /// Numbers that all sums but the first one may take: two megabytes in double precision, which no estimate has to count.
    const ROOM: usize = 1 << 18;
    cost(rows, columns, depth).div_ceil(LONG).min(MOST).min(1 + ROOM / (rows * columns).max(1))
}

/// A product with fewer rows or columns than this takes as long as one with so many: memory is the limit.
const THIN: usize = 8;

/// Multiplications of a product, or those that would take as long.
pub(super) fn cost(rows: usize, cols: usize, depth: usize) -> usize {
    let [rows, cols, depth] = [rows, cols, depth].map(|size| size.max(THIN));
    rows.saturating_mul(cols).saturating_mul(depth)
}

/// The size of equal pieces of about `most` that a length is divided into, at boundaries that vector instructions
/// like.
fn even(length: usize, most: usize) -> usize {
    const LINE: usize = 16;
    let pieces = length.div_ceil(most.max(1)).max(1);
    length.div_ceil(pieces).max(1).next_multiple_of(LINE)
}

/// Divides a length into equal pieces of about `most`. A sum of no terms is one piece, too: it is zero.
pub(super) fn cut(length: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let size = even(length, most);
    (0..length.max(1)).step_by(size).map(move |start| start..length.min(start + size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn value(i: usize, j: usize) -> f64 {
        ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4
    }

    /// On one thread, and for several.
    fn either(context: &Context) -> [Pieces<'_>; 2] {
        [Par::Seq, Par::rayon(8)].map(|par| Pieces { limit: PIECE, par, context })
    }

    #[test]
    fn a_product_in_pieces_is_the_product() {
        for (rows, cols, depth) in
            [(70, 50, 90), (900, 3, 40), (3, 900, 40), (300, 200, 5), (40, 40, 0), (0, 4, 5)]
        {
            let a = Mat::from_fn(rows, depth, value);
            let b = Mat::from_fn(depth, cols, |i, j| value(j, i + 3));
            for accum in [Accum::Replace, Accum::Add] {
                let context = Context::default();
                let (a, b) = (a.as_ref(), b.as_ref());
                for pieces in either(&context) {
                    let mut c = Mat::from_fn(rows, cols, |_, _| 2.0);
                    pieces.multiply(accum, c.as_mut(), a, b, -0.5).unwrap();
                    for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                        let product: f64 = (0..depth).map(|k| a[(i, k)] * b[(k, j)]).sum();
                        let start = if accum == Accum::Add { 2.0 } else { 0.0 };
                        assert!((c[(i, j)] - (start - 0.5 * product)).abs() < 1e-10);
                    }
                }
            }
        }
    }

    #[test]
    fn a_product_with_itself_in_pieces_fills_the_lower_triangle() {
        let context = Context::default();
        for (n, depth) in [(1, 1), (290, 20), (50, 1000), (16, 0), (0, 3)] {
            let a = Mat::from_fn(n, depth, value);
            for pieces in either(&context) {
                let mut c = Mat::from_fn(n, n, |_, _| 1.0);
                pieces.multiply_by_itself(Accum::Add, c.as_mut(), a.as_ref(), 2.0).unwrap();
                for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                    let product: f64 = (0..depth).map(|k| a[(i, k)] * a[(j, k)]).sum();
                    assert!((c[(i, j)] - (1.0 + 2.0 * product)).abs() < 1e-10, "n = {n}");
                }
            }
        }
    }

    #[test]
    fn pieces_cover_everything_once() {
        for (length, most) in [(0, 5), (1, 5), (100, 7), (100, 1000), (1000, 333), (64, 64)] {
            let pieces: Vec<_> = cut(length, most).collect();
            assert_eq!(pieces.first().unwrap().start, 0);
            assert_eq!(pieces.last().unwrap().end, length);
            assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }
}
