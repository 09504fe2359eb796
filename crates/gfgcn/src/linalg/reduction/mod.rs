//! The reduction of a symmetric matrix to tridiagonal form.
//!
//! Reflections are gathered in panels, as LAPACK's `dsytrd` does: within a panel the columns to the right are only
//! read, once per reflection, and at its end all its reflections are applied to them at once, by a matrix product.
//! So half of the arithmetic runs at the speed of matrix products; the other half is limited by memory, which is
//! read and hardly written. Applying each reflection as it comes would write as much as it reads, and takes up to
//! twice as long.
//!
//! The steps are those of one column: [`reduce`] asks between them whether the work is still wanted.

mod crew;
mod kernels;
mod parts;
mod reflections;

pub(super) use reflections::{Direction, Reflections};

use crate::error::Result;
use crate::matrix::Matrix;
use crate::pages::Lines;
use crew::Crew;
use faer::ColMut;
use faer::linalg::householder::make_householder_in_place;
use kernels::{AddCombination, Complete, LINE};
use parts::{Divided, Round, line_of};

/// Below this size everything is one part: a problem of few milliseconds, and there are many of them.
const ONE_PART: usize = 600;

/// Reflections of a panel where there is one part.
const NARROW: usize = 16;

/// Reflections of the widest panel.
const WIDEST: usize = 32;

/// Multiplications of a part in one round of an update: some 20 milliseconds.
const ROUND: usize = 1 << 29;

/// Whether the work is still wanted.
type Check<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// What is done with reflections as they are found, the first ones first.
type Found<'a> = &'a mut (dyn FnMut(Reflections) + Send);

/// T: its diagonal, and what is beside it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduced {
    pub(super) diagonal: Vec<f64>,
    pub(super) off_diagonal: Vec<f64>,
}

/// Reduces a symmetric matrix.
pub(super) fn reduce(matrix: Matrix<f64>, found: Found<'_>, check: Check<'_>) -> Result<Reduced> {
    // Wider panels make faster products and slower columns. More parts would cost more than they bring: every
    // column waits for all of them.
    let (width, parts) = if matrix.rows() < ONE_PART { (NARROW, 1) } else { (WIDEST, 2) };
    // Symmetric: its rows are its columns.
    let divided = Divided::new(matrix.rows(), matrix.as_slice(), width, parts);
    drop(matrix);
    let work = |part: usize| divided.work(part);
    if parts == 1 {
        reduce_divided(&divided, &|| {}, &|| work(0), found, check)
    } else {
        Crew::new(parts, &work).led_by(|lead| {
            reduce_divided(&divided, &|| lead.recruit(), &|| lead.round(), found, check)
        })
    }
}

/// The loop over panels and columns; `recruit` is called when there is work for a while, and `round` has all parts do
/// what the panel says.
fn reduce_divided(
    matrix: &Divided,
    recruit: &dyn Fn(),
    round: &dyn Fn(),
    found: Found<'_>,
    check: Check<'_>,
) -> Result<Reduced> {
    let (n, width) = (matrix.size, matrix.width);
    let mut reduced = Reduced::default();
    // τ of the reflections that nobody was told of.
    let mut scales = vec![];
    let mut products = Lines::zeros(matrix.rows);
    for first in (0..n).step_by(width) {
        recruit();
        let end = n.min(first + width);
        for k in first..end {
            check()?;
            reflect(matrix, first, k, &mut reduced, &mut scales);
            if k + 1 < n {
                matrix.panel_mut().round = Round::Multiply { column: k, reflection: k - first };
                round();
                complete(matrix, first, k, scales[scales.len() - 1].recip(), &mut products);
            }
        }
        if scales.len() >= block_width(n) || (end == n && !scales.is_empty()) {
            found(matrix.reflections(end, &scales));
            scales.clear();
        }
        let columns = (ROUND / (2 * width * n)).next_multiple_of(width) * matrix.parts.len();
        for first in (end..n).step_by(columns) {
            check()?;
            matrix.panel_mut().round = Round::Update { first, end: n.min(first + columns) };
            round();
        }
    }
    Ok(reduced)
}

/// Applies the panel's reflections to column k and finds the one that clears it below the off-diagonal.
fn reflect(matrix: &Divided, first: usize, k: usize, reduced: &mut Reduced, scales: &mut Vec<f64>) {
    let (n, rows, width, reflection) = (matrix.size, matrix.rows, matrix.width, k - first);
    let mut panel = matrix.panel_mut();
    let mut part = matrix.part(matrix.owner(first));
    let column = &mut part.block_mut(first)[reflection * (rows - first)..][..rows - first];
    let [v, w] = [0, width].map(|start| panel.minus_row(rows, start, k, reflection));
    let count = reflection.next_multiple_of(LINE);
    // What is above the diagonal in its line changes, too, and is not read again.
    let line = line_of(k);
    let lines = &mut column[line - first..];
    for (start, factors) in [(0, &w[..count]), (width, &v[..count])] {
        let columns = &panel.columns[start * rows + line..];
        kernels::run(AddCombination { columns, stride: rows, factors, sum: lines });
    }
    let column = &mut column[reflection..n - first];
    reduced.diagonal.push(column[0]);
    if let [_, head, tail @ ..] = column {
        let reflector = make_householder_in_place(head, ColMut::from_slice_mut(tail));
        reduced.off_diagonal.push(*head);
        scales.push(reflector.tau);
        for start in [0, 2 * width] {
            let v = &mut panel.columns[(start + reflection) * rows..][..n];
            v[line_of(k + 1)..=k].fill(0.0);
            v[k + 1] = 1.0;
            v[k + 2..].copy_from_slice(tail);
        }
    }
}

/// From the products of all parts to the column of W that belongs to the reflection of column k:
/// w = p − (pᵀ v / 2τ) v with p = (A − V Wᵀ − W Vᵀ) v / τ. In the line of its first row it has something else above.
fn complete(matrix: &Divided, first: usize, k: usize, inverse: f64, products: &mut [f64]) {
    let (rows, width, reflection) = (matrix.rows, matrix.width, k - first);
    let mut panel = matrix.panel_mut();
    let line = line_of(k + 1);
    let p = &mut products[line..];
    p.fill(0.0);
    let mut of_panel = [[0.0; WIDEST]; 2];
    for part in 0..matrix.parts.len() {
        let part = matrix.part(part);
        p.iter_mut().zip(&part.sums[line..]).for_each(|(p, sum)| *p += sum);
        for (sums, dots) in of_panel.iter_mut().zip(&part.dots) {
            // The columns beyond are those of earlier panels.
            sums[..reflection].iter_mut().zip(dots).for_each(|(sum, dot)| *sum -= dot);
        }
    }
    let count = reflection.next_multiple_of(LINE);
    let [of_v, of_w] = &of_panel;
    for (start, factors) in [(0, &of_w[..count]), (width, &of_v[..count])] {
        let columns = &panel.columns[start * rows + line..];
        kernels::run(AddCombination { columns, stride: rows, factors, sum: p });
    }
    let (v, w) = panel.columns.split_at_mut(width * rows);
    let [v, w] = [v, w].map(|columns| &mut columns[reflection * rows..][line..rows]);
    kernels::run(Complete { p, v, inverse, w });
}

/// How many reflections of a matrix of so many rows are applied at once: those of some panels.
pub(super) fn block_width(n: usize) -> usize {
    match n {
        0..ONE_PART => 2 * NARROW,
        ONE_PART..2048 => 2 * WIDEST,
        2048..8192 => 4 * WIDEST,
        _ => 8 * WIDEST,
    }
}

/// Numbers that are held for a matrix of so many rows: what comes of it, and what a reduction takes beside the matrix.
pub(super) fn memory(n: usize) -> (usize, usize) {
    let (panel, block) = (if n < ONE_PART { NARROW } else { WIDEST }, block_width(n));
    let rows = n.next_multiple_of(LINE);
    // Two factors of each block from its first row on, and T.
    let reduced = rows + block + 2 * LINE + 2;
    // The lower triangle, and a panel.
    (reduced * n, ((rows + panel) / 2 + LINE + 3 * panel + 2) * n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Cancel, Context};
    use crate::error::Error;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    fn symmetric(n: usize) -> Matrix<f64> {
        Matrix::from_fn(n, n, |i, j| ((i + j) as f64 * 0.7).sin() + f64::from(i == j))
    }

    #[test]
    fn a_reduction_is_abandoned_where_the_check_fails() {
        for (n, limit) in [(50, 1), (50, 20), (700, 1), (700, 40), (700, 650)] {
            let asked = AtomicUsize::new(0);
            let check = || match asked.fetch_add(1, Ordering::Relaxed) {
                k if k < limit => Ok(()),
                _ => Err(Error::Cancelled),
            };
            let result = reduce(symmetric(n), &mut drop, &check);
            assert!(matches!(result, Err(Error::Cancelled)));
            assert_eq!(asked.into_inner(), limit + 1, "nothing is done after the check failed");
        }
    }

    /// The two threads meet when the reduction is in its tenth column, and again when it is cancelled.
    #[test]
    fn a_reduction_that_has_begun_is_cancelled_from_another_thread() {
        let cancel = Cancel::default();
        let context = Context::default().with_cancel(cancel.clone());
        let (asked, meet) = (AtomicUsize::new(0), Barrier::new(2));
        let check = || {
            if asked.fetch_add(1, Ordering::Relaxed) == 10 {
                meet.wait();
                meet.wait();
            }
            context.check()
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                meet.wait();
                cancel.cancel();
                meet.wait();
            });
            let result = reduce(symmetric(700), &mut drop, &check);
            assert!(matches!(result, Err(Error::Cancelled)));
        });
    }

    #[test]
    fn every_column_asks() {
        let asked = AtomicUsize::new(0);
        let check = || {
            asked.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        reduce(symmetric(100), &mut drop, &check).unwrap();
        assert!(asked.into_inner() >= 100);
    }
}
