//! A matrix divided among the threads that reduce it.
//!
//! Only the lower triangle counts. It is divided into block columns as wide as a panel, and a part keeps its columns
//! from beginning to end, in the cache of one core if all goes well. Each part adds up the product of its own columns;
//! the sums are added in the order of the parts. So it does not matter which thread does a part.

use super::WIDEST;
use super::kernels::{STEP, add_symmetric_product, dots};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use std::array;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};

/// The locks are never waited for: the parts are at work, or whoever leads them is.
const UNPOISONED: &str = "no part has panicked";

/// The matrix in its parts, and the current panel.
pub(super) struct Divided<'a> {
    pub(super) size: usize,
    /// Columns of a block, and reflections of a panel.
    pub(super) width: usize,
    pub(super) parts: Vec<Mutex<Part<'a>>>,
    panel: RwLock<Panel>,
}

/// The reflections that the columns to the right have not seen yet: the matrix is A − V Wᵀ − W Vᵀ.
pub(super) struct Panel {
    /// V, W and V again, by columns: side by side the first two and the last two are the factors of the update.
    pub(super) columns: Vec<f64>,
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
pub(super) struct Part<'a> {
    blocks: Vec<Block<'a>>,
    pub(super) sums: Vec<f64>,
    /// Products of the columns of V and of W with the vector.
    pub(super) dots: [[f64; WIDEST]; 2],
}

/// Neighbouring columns, all rows of them.
struct Block<'a> {
    first: usize,
    entries: &'a mut [f64],
}

impl<'a> Divided<'a> {
    pub(super) fn new(size: usize, matrix: &'a mut [f64], width: usize, parts: usize) -> Self {
        let part = || Part { blocks: vec![], sums: vec![0.0; size], dots: [[0.0; WIDEST]; 2] };
        let mut divided: Vec<Part<'a>> = (0..parts).map(|_| part()).collect();
        for (block, entries) in matrix.chunks_mut((width * size).max(1)).enumerate() {
            divided[owner(block, parts)].blocks.push(Block { first: block * width, entries });
        }
        let columns = vec![0.0; 3 * width * size];
        let panel = RwLock::new(Panel { columns, round: Round::Update { first: 0, end: 0 } });
        Divided { size, width, parts: divided.into_iter().map(Mutex::new).collect(), panel }
    }

    pub(super) fn panel_mut(&self) -> RwLockWriteGuard<'_, Panel> {
        self.panel.write().expect(UNPOISONED)
    }

    pub(super) fn part(&self, part: usize) -> MutexGuard<'_, Part<'a>> {
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
                let v = &panel.columns[reflection * self.size..][..self.size];
                mine.multiply(column + 1, v);
                let rows = share(column + 1..self.size, part, self.parts.len());
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
        size: usize,
        start: usize,
        k: usize,
        reflections: usize,
    ) -> [f64; WIDEST] {
        array::from_fn(
            |r| {
                if r < reflections { -self.columns[(start + r) * size + k] } else { 0.0 }
            },
        )
    }
}

impl Part<'_> {
    /// The entries of the block that begins with this column.
    pub(super) fn block_mut(&mut self, first: usize) -> &mut [f64] {
        let block = self.blocks.iter_mut().find(|block| block.first == first);
        block.expect("the part owns the block").entries
    }

    /// What the part's columns from `first` on contribute to the product of the matrix with v.
    fn multiply(&mut self, first: usize, v: &[f64]) {
        let n = v.len();
        self.sums[first..].fill(0.0);
        for block in &self.blocks {
            let end = block.first + block.entries.len() / n;
            let j = block.first.max(first);
            if j < end {
                let columns = &block.entries[(j - block.first) * n + j..];
                add_symmetric_product(columns, n, end - j, &v[j..], &mut self.sums[j..]);
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
        let n = self.sums.len();
        let count = reflections.next_multiple_of(STEP);
        for (start, out) in [0, width].into_iter().zip(&mut self.dots) {
            dots(&panel.columns[start * n + first_row..], n, v, &mut out[..count]);
        }
    }

    /// Subtracts V Wᵀ + W Vᵀ from the part's blocks among some columns; above the diagonal, where nothing counts,
    /// within the squares that it runs through.
    fn update(&mut self, panel: &Panel, width: usize, columns: Range<usize>) {
        let n = self.sums.len();
        let factor = |start: usize, rows: Range<usize>| {
            let side_by_side = &panel.columns[start * n..][..2 * width * n];
            MatRef::from_column_major_slice(side_by_side, n, 2 * width).get(rows, ..)
        };
        for block in self.blocks.iter_mut().filter(|block| columns.contains(&block.first)) {
            let (first, count) = (block.first, block.entries.len() / n);
            let block = MatMut::from_column_major_slice_mut(block.entries, n, count);
            matmul(
                block.get_mut(first.., ..),
                Accum::Add,
                factor(0, first..n),
                factor(width, first..first + count).transpose(),
                -1.0,
                Par::Seq,
            );
        }
    }
}

/// The part that a block belongs to: dealt out to and fro, so that the long columns at the left are shared equally.
fn owner(block: usize, parts: usize) -> usize {
    let turn = block % (2 * parts);
    if turn < parts { turn } else { 2 * parts - 1 - turn }
}

/// The share of some rows that falls to a part.
fn share(rows: Range<usize>, part: usize, parts: usize) -> Range<usize> {
    let at = |part: usize| rows.start + rows.len() * part / parts;
    at(part)..at(part + 1)
}
