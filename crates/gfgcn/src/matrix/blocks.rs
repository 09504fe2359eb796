//! A dense matrix in blocks of columns, each of them an array by itself.
//!
//! Whoever takes a few columns at a time, as filters do, then touches the pages of these columns only: in one array the rows
//! of all columns would lie on every page.

use super::Matrix;
use crate::error::{Error, Result};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Says whether the contents of a block are those that were written; called once for each block, before it is first relied
/// on.
pub type CheckBlock = Box<dyn Fn(usize) -> Result<()> + Send + Sync>;

/// A dense matrix of `f32` as blocks of columns, side by side. Clones share the blocks.
///
/// ```
/// use gfgcn::matrix::{ColumnBlocks, Matrix};
/// let left = Matrix::from_rows(2, 1, vec![1.0, 2.0])?;
/// let right = Matrix::from_rows(2, 2, vec![3.0, 4.0, 5.0, 6.0])?;
/// let blocks = ColumnBlocks::new(vec![left, right], None)?;
/// assert_eq!(blocks.values(1, 0..3).collect::<Vec<_>>(), [2.0, 5.0, 6.0]);
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone)]
pub struct ColumnBlocks(Arc<Blocks>);

struct Blocks {
    rows: usize,
    /// Where each block begins, and where the last one ends.
    starts: Vec<usize>,
    blocks: Vec<Arc<Matrix<f32>>>,
    /// What the values of each row are divided by, where they are.
    divisors: Option<Vec<f64>>,
    checks: Arc<Checks>,
}

struct Checks {
    check: Option<CheckBlock>,
    done: Vec<OnceLock<()>>,
}

impl ColumnBlocks {
    /// Blocks of the same number of rows, from left to right.
    ///
    /// # Errors
    /// No block, or other rows than those of the first.
    pub fn new(blocks: Vec<Matrix<f32>>, check: Option<CheckBlock>) -> Result<Self> {
        let Some(first) = blocks.first() else {
            return Err(Error::Data("there are no blocks of columns".into()));
        };
        let (rows, mut starts) = (first.rows(), vec![0]);
        for (k, block) in blocks.iter().enumerate() {
            Error::check_size(format!("rows of block {k}"), rows, block.rows())?;
            starts.push(starts[k] + block.cols());
        }
        let done = blocks.iter().map(|_| OnceLock::new()).collect();
        let blocks = blocks.into_iter().map(Arc::new).collect();
        let checks = Arc::new(Checks { check, done });
        Ok(ColumnBlocks(Arc::new(Blocks { rows, starts, blocks, divisors: None, checks })))
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.0.rows
    }

    /// The number of columns of all blocks.
    pub fn cols(&self) -> usize {
        self.0.starts[self.0.blocks.len()]
    }

    /// Checks the blocks that have some columns, unless that was done before: that their contents are those that were
    /// written, and that all values are finite.
    ///
    /// # Errors
    /// If they are not.
    pub fn ready(&self, columns: Range<usize>) -> Result<()> {
        for k in self.blocks_of(&columns) {
            let (checks, block) = (&self.0.checks, &self.0.blocks[k]);
            if checks.done[k].get().is_none() {
                if let Some(check) = &checks.check {
                    check(k)?;
                }
                crate::features::check_finite(block, self.0.starts[k])?;
                let _ = checks.done[k].set(());
            }
        }
        Ok(())
    }

    /// A range of columns of a row.
    pub fn values(&self, row: usize, columns: Range<usize>) -> impl Iterator<Item = f32> {
        let divisor = self.0.divisors.as_ref().map(|divisors| divisors[row]);
        let divided = move |&value: &f32| match divisor {
            Some(divisor) => (f64::from(value) / divisor) as f32,
            None => value,
        };
        self.blocks_of(&columns).flat_map(move |k| {
            let (start, end) = (self.0.starts[k], self.0.starts[k + 1]);
            let own = columns.start.max(start) - start..columns.end.min(end) - start;
            self.0.blocks[k].row(row)[own].iter().map(divided)
        })
    }

    /// Blocks that have some of the columns.
    fn blocks_of(&self, columns: &Range<usize>) -> Range<usize> {
        let starts = &self.0.starts;
        if columns.is_empty() {
            return 0..0;
        }
        let first = starts.partition_point(|&start| start <= columns.start) - 1;
        let last = starts.partition_point(|&start| start < columns.end) - 1;
        first..last + 1
    }

    /// Bytes that are held in memory, and not mapped from files or lent.
    pub fn held_memory(&self) -> u64 {
        let divisors = self.0.divisors.as_ref().map_or(0, |divisors| 8 * divisors.len() as u64);
        divisors + self.0.blocks.iter().map(|block| block.held_memory()).sum::<u64>()
    }

    /// The same with each row divided by a number of its own, unless that is zero. Nothing is copied.
    pub(crate) fn divided_by(&self, size: impl Fn(&mut dyn Iterator<Item = f64>) -> f64) -> Self {
        let columns = 0..self.cols();
        let divisor = |row: usize| match size(&mut self.values(row, columns.clone()).map(f64::from))
        {
            size if size > 0.0 => size,
            _ => 1.0,
        };
        ColumnBlocks(Arc::new(Blocks {
            rows: self.0.rows,
            starts: self.0.starts.clone(),
            blocks: self.0.blocks.clone(),
            divisors: Some((0..self.rows()).map(divisor).collect()),
            checks: self.0.checks.clone(),
        }))
    }

    /// The rows at the given positions as one array.
    pub fn select_rows(&self, rows: &[usize]) -> Matrix<f32> {
        let mut data = Vec::with_capacity(rows.len() * self.cols());
        rows.iter().for_each(|&row| data.extend(self.values(row, 0..self.cols())));
        Matrix::from_rows(rows.len(), self.cols(), data).expect("whole rows")
    }

    /// All of it as one array.
    pub fn to_matrix(&self) -> Matrix<f32> {
        self.select_rows(&(0..self.rows()).collect::<Vec<_>>())
    }
}

impl PartialEq for ColumnBlocks {
    /// By what they hold, however that is cut into blocks.
    fn eq(&self, other: &Self) -> bool {
        let (columns, same) = (0..self.cols(), self.cols() == other.cols());
        let row = |i| self.values(i, columns.clone()).eq(other.values(i, columns.clone()));
        same && self.rows() == other.rows() && (0..self.rows()).all(row)
    }
}

impl fmt::Debug for ColumnBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, cols, blocks) = (self.rows(), self.cols(), self.0.blocks.len());
        write!(f, "ColumnBlocks({rows} × {cols} in {blocks})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn whole() -> Matrix<f32> {
        Matrix::from_fn(5, 7, |i, j| ((3 * i + 5 * j) % 11) as f32 - 4.0)
    }

    fn blocks(widths: &[usize], check: Option<CheckBlock>) -> ColumnBlocks {
        let mut first = 0;
        let of_block = |&width: &usize| {
            first += width;
            whole().select_columns(first - width..first)
        };
        ColumnBlocks::new(widths.iter().map(of_block).collect(), check).unwrap()
    }

    #[test]
    fn blocks_are_the_matrix_that_they_were_cut_from() {
        let whole = whole();
        for widths in [&[7][..], &[3, 4], &[1, 1, 5], &[2, 2, 2, 1]] {
            let blocks = blocks(widths, None);
            assert_eq!(blocks.to_matrix(), whole);
            for (start, end) in (0..8).flat_map(|start| (start..8).map(move |end| (start, end))) {
                let values: Vec<f32> = blocks.values(3, start..end).collect();
                assert_eq!(values, &whole.row(3)[start..end], "{widths:?} {start}..{end}");
            }
            let dense = Features::dense(whole.clone()).unwrap();
            let cut = Features::Blocks(blocks);
            assert_eq!(cut.clone().row_normalized().gathered(), dense.clone().row_normalized());
            assert_eq!(cut.clone().with_unit_rows().gathered(), dense.clone().with_unit_rows());
            assert_eq!(cut.select_rows(&[4, 0]), dense.select_rows(&[4, 0]));
            assert_eq!(cut.nonzeros(), dense.nonzeros());
        }
        assert!(ColumnBlocks::new(Vec::new(), None).is_err());
        assert!(ColumnBlocks::new(vec![Matrix::zeros(2, 1), Matrix::zeros(3, 1)], None).is_err());
    }

    #[test]
    fn blocks_are_checked_once_and_only_those_that_are_used() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let check = move |k: usize| {
            counted.fetch_add(1, Ordering::Relaxed);
            if k == 2 { Err(Error::Data("block 2 has changed".into())) } else { Ok(()) }
        };
        let blocks = blocks(&[3, 2, 2], Some(Box::new(check)));
        blocks.ready(0..4).unwrap();
        blocks.ready(1..5).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        assert!(blocks.ready(0..7).is_err() && blocks.ready(6..7).is_err());
        blocks.ready(0..0).unwrap();
        let mut bad = whole();
        bad.row_mut(2)[1] = f32::NAN;
        let parts = vec![whole(), bad];
        let message = ColumnBlocks::new(parts, None).unwrap().ready(0..14).unwrap_err().to_string();
        assert!(message.contains("row 2, column 8"), "{message}");
    }
}
