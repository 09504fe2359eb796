//! One solution of a small system at a time: all tiles of S + ξI side by side.
//!
//! A column of tiles after the other is taken away from all that is left (`eliminate` in `kernels/ridge.cu`), one launch for
//! each, instead of a product and a kernel (`factors.rs`). That takes three times the arithmetic, which does not matter while the GPU
//! has a place for every tile, and the chain of columns is what takes the time.

use crate::arguments::{address, arguments};
use crate::factors::Equations;
use crate::lanes::Held;
use crate::parts::TILE;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::matrix::Matrix;

/// Rows of a system, as in the kernels, and tiles of all penalties that the GPU works on at a time: as many as one such system
/// has, those of right sides among them.
const MOST: usize = 1024;
const TILES: usize = MOST / TILE * (MOST / TILE + 3) / 2;
/// Right sides, as in the kernels.
pub(crate) const FEW: usize = 16;
const THREADS: u32 = 256;

impl Equations {
    /// Whether systems of so many penalties are solved fastest by [`Equations::eliminate`].
    pub(crate) fn are_small(&self, penalties: usize) -> bool {
        let tiles = self.size / TILE;
        self.targets <= FEW && penalties * tiles * (tiles + 3) / 2 <= TILES
    }

    /// (S + ξI)⁻¹ B for each penalty; `None` where a pivot is not positive.
    pub(crate) fn eliminate(
        &self,
        lane: &Held,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Vec<Option<Matrix<f64>>>> {
        let (size, columns, batch) = (self.size, self.targets, penalties.len());
        let shifts = lane.upload(penalties)?;
        let all = lane.allocate::<f64>(batch * size * (size + columns))?;
        // Solutions with their columns as rows; behind them the pivots that failed, so that one copy has everything.
        let solved = batch * columns * size;
        let out = lane.allocate::<f64>(solved + batch)?;
        let failed = address(&out) + 8 * solved as u64;
        let tiles = size / TILE;
        for step in 0..tiles {
            context.check()?;
            let left = tiles - step;
            lane.launch(
                "eliminate",
                (left * (left + 3) / 2, batch),
                THREADS,
                arguments![
                    &self.s,
                    &self.right,
                    &shifts,
                    &all,
                    failed,
                    size as u32,
                    self.count as u32,
                    columns as u32,
                    step as u32
                ],
            )?;
        }
        let arguments = arguments![&all, &out, size as u32, columns as u32];
        lane.launch("substitute", (columns, batch), 1024, arguments)?;
        let values = lane.download(&out, solved + batch)?;
        let (values, failed) = values.split_at(solved);
        let solution = |(k, pivot): (usize, &f64)| {
            let own = &values[k * size * columns..];
            (*pivot == 0.0).then(|| Matrix::from_fn(self.count, columns, |i, c| own[c * size + i]))
        };
        Ok(failed.iter().enumerate().map(solution).collect())
    }
}
