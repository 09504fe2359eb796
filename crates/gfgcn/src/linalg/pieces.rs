//! Matrix products in pieces, so that they can be abandoned.
//!
//! A product of large matrices takes seconds and cannot be stopped inside. It is cut into tiles of the result, and
//! along the sums where these are long; before each piece the context is asked whether the work is still wanted.
//! Tiles are as square as they can be: every piece reads its two factors anew, and a square has the least of them.
//! Where there are enough of them, each is computed on one thread, so that threads meet once and not in every piece.
//! The cuts are fixed by the sizes alone. A product of one piece is a single call; that of a matrix with itself is cut
//! into narrow block columns, which is faster.

use super::{Number, workspace};
use crate::context::Context;
use crate::error::Result;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

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
        let (rows, cols, depth) = (c.nrows(), c.ncols(), a.ncols());
        if cost(rows, cols, depth) <= self.limit {
            self.context.check()?;
            workspace::note(rows, cols, depth);
            matmul(c, accum, a, b, alpha, self.par);
            return Ok(());
        }
        let shape = self.shape(rows, cols, depth);
        c.par_col_chunks_mut(shape.cols).enumerate().try_for_each(|(j, c)| {
            let b = b.subcols(j * shape.cols, c.ncols());
            c.par_row_chunks_mut(shape.rows).enumerate().try_for_each(|(i, c)| {
                let a = a.subrows(i * shape.rows, c.nrows());
                self.tile(accum, c, a, b, alpha, &shape)
            })
        })
    }

    /// A tile of a product, one piece of the sums after the other.
    fn tile<T: Number>(
        &self,
        mut accum: Accum,
        mut c: MatMut<'_, T>,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        alpha: T,
        shape: &Shape,
    ) -> Result<()> {
        for terms in cut(a.ncols(), shape.depth) {
            self.context.check()?;
            let (a, b) = (a.get(.., terms.clone()), b.get(terms, ..));
            workspace::note(a.nrows(), b.ncols(), a.ncols());
            matmul(c.as_mut(), accum, a, b, alpha, shape.par);
            accum = Accum::Add;
        }
        Ok(())
    }

    /// The lower triangle of C ← C + α A Aᵀ, or of C ← α A Aᵀ. What is above it may change within the tiles on the
    /// diagonal.
    pub(super) fn multiply_by_itself<T: Number>(
        &self,
        accum: Accum,
        mut c: MatMut<'_, T>,
        a: MatRef<'_, T>,
        alpha: T,
    ) -> Result<()> {
        let (n, depth) = (a.nrows(), a.ncols());
        let whole = cost(n, n, depth) / 2 <= self.limit;
        let shape = if whole { Shape::of_columns(n, depth) } else { self.shape(n, n, depth) };
        let block_column = |(j, c): (usize, MatMut<'_, T>)| {
            let (first, count) = (j * shape.cols, c.ncols());
            // A product of its own costs more than what is above the diagonal of a narrow corner.
            let apart = if shape.cols > NARROW { count } else { 0 };
            let (mut corner, below) = c.subrows_mut(first, n - first).split_at_row_mut(apart);
            let right = a.subrows(first, count);
            let mut accum_here = accum;
            for terms in cut(depth, shape.depth).filter(|_| apart > 0) {
                self.context.check()?;
                let right = right.get(.., terms);
                multiply_by_itself_at_once(accum_here, corner.as_mut(), right, alpha, shape.par);
                accum_here = Accum::Add;
            }
            let tile = |(i, c): (usize, MatMut<'_, T>)| {
                let left = a.subrows(first + apart + i * shape.rows, c.nrows());
                self.tile(accum, c, left, right.transpose(), alpha, &shape)
            };
            match whole {
                true => tile((0, below)),
                false => below.par_row_chunks_mut(shape.rows).enumerate().try_for_each(tile),
            }
        };
        match self.par {
            Par::Seq if whole => (0..n.div_ceil(shape.cols)).try_for_each(|j| {
                let first = j * shape.cols;
                block_column((j, c.as_mut().subcols_mut(first, shape.cols.min(n - first))))
            }),
            _ => c.par_col_chunks_mut(shape.cols).enumerate().try_for_each(block_column),
        }
    }

    /// The tiles of a product that is more than a piece.
    fn shape(&self, rows: usize, cols: usize, depth: usize) -> Shape {
        /// Tiles that are wanted, for as many threads to share.
        const TILES: usize = 8;
        let area = rows.max(THIN) * cols.max(THIN);
        // A small result of long sums is only cut along these, one piece after the other.
        if area <= self.side() * self.side() {
            let depth = even(depth, self.limit / area);
            return Shape { rows: rows.max(1), cols: cols.max(1), depth, par: self.par };
        }
        let limit = (cost(rows, cols, depth) / TILES).min(self.limit / 2);
        // Four times as deep as wide: the factors are packed either way, and the result is touched less often.
        let depth = even(depth, 4 * side(limit));
        let area = (limit / depth).max(1);
        let side = area.isqrt();
        let (most_rows, most_cols) = if cols <= side {
            (area / cols.max(THIN), cols)
        } else if rows <= side {
            (rows, area / rows.max(THIN))
        } else {
            (side, side)
        };
        Shape { rows: even(rows, most_rows), cols: even(cols, most_cols), depth, par: Par::Seq }
    }

    /// The side of a cube of one piece.
    pub(super) fn side(&self) -> usize {
        side(self.limit)
    }
}

fn side(multiplications: usize) -> usize {
    (multiplications as f64).cbrt() as usize
}

fn multiply_by_itself_at_once<T: Number>(
    accum: Accum,
    c: MatMut<'_, T>,
    a: MatRef<'_, T>,
    alpha: T,
    par: Par,
) {
    let (whole, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    // The largest product in it.
    workspace::note(a.nrows() / 2, a.nrows() / 2, a.ncols());
    triangular::matmul(c, lower, accum, a, whole, a.transpose(), whole, alpha, par);
}

struct Shape {
    rows: usize,
    cols: usize,
    depth: usize,
    /// The parts that each tile is divided into.
    par: Par,
}

impl Shape {
    /// Narrow block columns of a product with itself, for threads to share, and some terms at a time: faster than one call even
    /// on one thread.
    fn of_columns(n: usize, depth: usize) -> Self {
        /// Some terms of so many rows stay in a core's cache, and may be read once for each of many block columns.
        const CACHED: usize = 256;
        let cols = if n <= CACHED { NARROW } else { even(n, 32) };
        Shape { rows: n.max(1), cols, depth: even(depth, 512), par: Par::Seq }
    }
}

/// Columns of the narrowest blocks: as many as are multiplied at once.
const NARROW: usize = 8;

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

    /// Few multiplications to the piece, so that small products are cut in every direction.
    fn tiny(context: &Context) -> Pieces<'_> {
        Pieces { limit: 1 << 12, par: Par::Seq, context }
    }

    #[test]
    fn a_product_in_pieces_is_the_product() {
        for (rows, cols, depth) in
            [(70, 50, 90), (200, 3, 40), (3, 200, 40), (5, 5, 3000), (40, 40, 0), (0, 4, 5)]
        {
            let a = Mat::from_fn(rows, depth, value);
            let b = Mat::from_fn(depth, cols, |i, j| value(j, i + 3));
            for accum in [Accum::Replace, Accum::Add] {
                let mut c = Mat::from_fn(rows, cols, |_, _| 2.0);
                let context = Context::default();
                let (a, b) = (a.as_ref(), b.as_ref());
                tiny(&context).multiply(accum, c.as_mut(), a, b, -0.5).unwrap();
                for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                    let product: f64 = (0..depth).map(|k| a[(i, k)] * b[(k, j)]).sum();
                    let start = if accum == Accum::Add { 2.0 } else { 0.0 };
                    assert!((c[(i, j)] - (start - 0.5 * product)).abs() < 1e-10);
                }
            }
        }
    }

    #[test]
    fn a_product_with_itself_in_pieces_fills_the_lower_triangle() {
        for (n, depth) in [(1, 1), (90, 20), (50, 1000), (16, 0)] {
            let a = Mat::from_fn(n, depth, value);
            let mut c = Mat::from_fn(n, n, |_, _| 1.0);
            let context = Context::default();
            tiny(&context).multiply_by_itself(Accum::Add, c.as_mut(), a.as_ref(), 2.0).unwrap();
            for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                let product: f64 = (0..depth).map(|k| a[(i, k)] * a[(j, k)]).sum();
                assert!((c[(i, j)] - (1.0 + 2.0 * product)).abs() < 1e-10, "n = {n}");
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
