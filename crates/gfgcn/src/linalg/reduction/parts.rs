//! A matrix divided among the threads that reduce it.
//!
//! Only the lower triangle counts, and the whole squares that the diagonal runs through. These are copied into block
//! columns as wide as a panel, whose rows begin at cache lines. A part keeps its columns from beginning to end, in the
//! cache of one core if all goes well. Each part adds up the product of its own columns; the sums are added in the
//! order of the parts. So it does not matter which thread does a part.

use super::kernels::{self, AddSymmetricProduct, LINE, Products};
use super::{Reflections, WIDEST};
use crate::pages::Lines;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};

/// The locks are never waited for: the parts are at work, or whoever leads them is.
const UNPOISONED: &str = "no part has panicked";

/// The matrix in its parts, and the current panel.
pub(super) struct Divided {
    pub(super) size: usize,
    /// Rows of whole lines: those beyond the size are zero.
    pub(super) rows: usize,
    /// Columns of a block, and reflections of a panel.
    pub(super) width: usize,
    pub(super) parts: Vec<Mutex<Part>>,
    panel: RwLock<Panel>,
}

/// The reflections that the columns to the right have not seen yet: the matrix is A − V Wᵀ − W Vᵀ.
pub(super) struct Panel {
    /// V, W and V again, by columns: side by side the first two and the last two are the factors of the update.
    pub(super) columns: Lines<f64>,
    pub(super) round: Round,
}

/// What all parts do next.
#[derive(Clone, Copy)]
pub(super) enum Round {
    /// Multiply A, V and W by the vector of the reflection of this column, which is so many in the panel.
    Multiply { column: usize, reflection: usize },
    /// Subtract V Wᵀ + W Vᵀ from these columns.
    Update { first: usize, end: usize },
}

/// Some of the block columns, and room for what they contribute to a product.
pub(super) struct Part {
    blocks: VecDeque<Block>,
    pub(super) sums: Lines<f64>,
    /// Products of the columns of V and of W with the vector.
    pub(super) dots: [[f64; WIDEST]; 2],
}

/// Neighbouring columns from the first one's diagonal down, whole lines of them: those beyond the matrix are zero.
struct Block {
    first: usize,
    entries: Lines<f64>,
}

impl Divided {
    /// Copies a symmetric matrix, by columns.
    pub(super) fn new(size: usize, matrix: &[f64], width: usize, parts: usize) -> Self {
        let rows = size.next_multiple_of(LINE);
        let part =
            || Part { blocks: VecDeque::new(), sums: Lines::zeros(rows), dots: [[0.0; WIDEST]; 2] };
        let mut divided: Vec<Part> = (0..parts).map(|_| part()).collect();
        for (block, columns) in matrix.chunks((width * size).max(1)).enumerate() {
            let first = block * width;
            let mut entries = Lines::zeros(width.min(rows - first) * (rows - first));
            for (copy, column) in entries.chunks_mut(rows - first).zip(columns.chunks(size)) {
                copy[..size - first].copy_from_slice(&column[first..]);
            }
            divided[owner(block, parts)].blocks.push_back(Block { first, entries });
        }
        let columns = Lines::zeros(3 * width * rows);
        let panel = RwLock::new(Panel { columns, round: Round::Update { first: 0, end: 0 } });
        Divided { size, rows, width, parts: divided.into_iter().map(Mutex::new).collect(), panel }
    }

    /// The reflections with these τ, the last ones before column `end`. Their blocks are given up.
    pub(super) fn reflections(&self, end: usize, scales: &[f64]) -> Reflections {
        // There is none for the last column.
        let first = end.min(self.size - 1) - scales.len();
        let below = self.size - 1 - first;
        let mut vectors = Mat::zeros(below, scales.len());
        for start in (first..end).step_by(self.width) {
            let Block { first: column, entries } = self.part(self.owner(start)).take_first();
            debug_assert_eq!(column, start, "blocks are given up in their order");
            let found = entries.chunks(self.rows - start).take(scales.len() + first - start);
            for (k, column) in found.enumerate() {
                let vector = &column[k + 2..self.size - start];
                let place = vectors.col_as_slice_mut(start - first + k);
                place[start - first + k] = 1.0;
                place[below - vector.len()..].copy_from_slice(vector);
            }
        }
        Reflections::new(first + 1, vectors, scales)
    }

    pub(super) fn panel_mut(&self) -> RwLockWriteGuard<'_, Panel> {
        self.panel.write().expect(UNPOISONED)
    }

    pub(super) fn part(&self, part: usize) -> MutexGuard<'_, Part> {
        self.parts[part].lock().expect(UNPOISONED)
    }

    /// The part whose block begins with this column.
    pub(super) fn owner(&self, first: usize) -> usize {
        owner(first / self.width, self.parts.len())
    }

    /// What one part does in a round.
    pub(super) fn work(&self, part: usize) {
        let panel = self.panel.read().expect(UNPOISONED);
        let mut mine = self.part(part);
        match panel.round {
            Round::Multiply { column, reflection } => {
                let v = &panel.columns[reflection * self.rows..][..self.rows];
                mine.multiply(column + 1, self.width, v);
                let rows = share(line_of(column + 1)..self.rows, part, self.parts.len());
                mine.multiply_panel(&panel, self.width, reflection, &v[rows.clone()], rows.start);
            }
            Round::Update { first, end } => mine.update(&panel, self.width, first..end),
        }
    }
}

impl Panel {
    /// Minus row k of the columns from `start` on, as far as there are reflections; zeros beyond.
    pub(super) fn minus_row(
        &self,
        rows: usize,
        start: usize,
        k: usize,
        reflections: usize,
    ) -> [f64; WIDEST] {
        let mut row = [0.0; WIDEST];
        for (r, entry) in row[..reflections].iter_mut().enumerate() {
            *entry = -self.columns[(start + r) * rows + k];
        }
        row
    }
}

impl Part {
    /// The first of its blocks, which it no longer has then.
    fn take_first(&mut self) -> Block {
        self.blocks.pop_front().expect("the part owns the block")
    }

    /// The entries of the block that begins with this column.
    pub(super) fn block_mut(&mut self, first: usize) -> &mut [f64] {
        let block = self.blocks.iter_mut().find(|block| block.first == first);
        &mut block.expect("the part owns the block").entries
    }

    /// What the part's columns from `first` on contribute to the product of the matrix with v, which is zero before.
    fn multiply(&mut self, first: usize, width: usize, v: &[f64]) {
        self.sums[line_of(first)..].fill(0.0);
        for Block { first: start, entries } in &self.blocks {
            let (start, rows) = (*start, v.len() - start);
            if first < start + width {
                kernels::run(AddSymmetricProduct {
                    columns: entries,
                    stride: rows,
                    first: first.saturating_sub(start),
                    x: &v[start..],
                    sums: &mut self.sums[start..],
                });
            }
        }
    }

    /// Vᵀ v and Wᵀ v over some rows. Whole steps of columns: what is beyond the panel is not used.
    fn multiply_panel(
        &mut self,
        panel: &Panel,
        width: usize,
        reflections: usize,
        v: &[f64],
        first_row: usize,
    ) {
        let rows = self.sums.len();
        let count = reflections.next_multiple_of(LINE);
        for (start, out) in [0, width].into_iter().zip(&mut self.dots) {
            let columns = &panel.columns[start * rows + first_row..];
            kernels::run(Products { columns, stride: rows, x: v, out: &mut out[..count] });
        }
    }

    /// Subtracts V Wᵀ + W Vᵀ from the part's blocks among some columns; above the diagonal within the squares that it
    /// runs through.
    fn update(&mut self, panel: &Panel, width: usize, columns: Range<usize>) {
        let rows = self.sums.len();
        let factor = |start: usize, some: Range<usize>| {
            let side_by_side = &panel.columns[start * rows..][..2 * width * rows];
            MatRef::from_column_major_slice(side_by_side, rows, 2 * width).get(some, ..)
        };
        for block in self.blocks.iter_mut().filter(|block| columns.contains(&block.first)) {
            let (first, below) = (block.first, rows - block.first);
            let count = block.entries.len() / below;
            matmul(
                MatMut::from_column_major_slice_mut(&mut block.entries, below, count),
                Accum::Add,
                factor(0, first..rows),
                factor(width, first..first + count).transpose(),
                -1.0,
                Par::Seq,
            );
        }
    }
}

/// The first row of the line that a row is in.
pub(super) fn line_of(row: usize) -> usize {
    row / LINE * LINE
}

/// The part that a block belongs to: dealt out to and fro, so that the long columns at the left are shared equally.
fn owner(block: usize, parts: usize) -> usize {
    let turn = block % (2 * parts);
    if turn < parts { turn } else { 2 * parts - 1 - turn }
}

/// The share of some rows, in whole lines, that falls to a part.
fn share(rows: Range<usize>, part: usize, parts: usize) -> Range<usize> {
    let at = |part: usize| rows.start + line_of(rows.len() * part / parts);
    at(part)..at(part + 1)
}
