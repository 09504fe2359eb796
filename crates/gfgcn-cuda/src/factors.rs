//! Cholesky factors of S + ξI for many penalties side by side.
//!
//! L is made column of tiles by column of tiles (`kernels/ridge.cu`): a product that brings the tiles up to date, then one kernel
//! that factors the tile on the diagonal and applies its inverse to those below. Right sides are further rows, which are forward
//! substituted on the way. Sizes are rounded up to whole tiles, with ones on the diagonal.

use crate::arguments::{address, arguments};
use crate::lanes::Held;
use crate::parts::TILE;
use crate::products::{Operand, Size};
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::context::Context;

/// Rows below the diagonal that a block of the kernel has, and its threads.
const PANEL_ROWS: usize = 64;
const PANEL_THREADS: u32 = 128;

/// S and right sides B on the GPU.
#[derive(Debug)]
pub(crate) struct Equations {
    pub(crate) s: CudaSlice<f64>,
    /// `size` × `targets`.
    pub(crate) right: CudaSlice<f64>,
    /// Rows of S without and with the ones that fill the last tile.
    pub(crate) count: usize,
    pub(crate) size: usize,
    pub(crate) targets: usize,
}

/// The Cholesky factors of S + ξI for some penalties.
#[derive(Debug)]
pub(crate) struct Factors {
    /// L below the diagonal; right sides behind it, as rows, which are forward substituted.
    pub(crate) lower: CudaSlice<f64>,
    pub(crate) height: usize,
    /// D⁻¹ on the diagonal, and all of L⁻¹ where it was asked for.
    pub(crate) inverse: CudaSlice<f64>,
    /// Pivots that were not positive.
    failed: CudaSlice<u32>,
    size: usize,
    pub(crate) batch: usize,
}

impl Equations {
    /// The factors of S + ξI for some penalties, with the right sides where they are asked for.
    pub(crate) fn factorise(
        &self,
        lane: &Held,
        penalties: &[f64],
        with_right: bool,
        context: &Context,
    ) -> Result<Factors> {
        let (size, batch) = (self.size, penalties.len());
        let columns = if with_right { self.targets } else { 0 };
        let height = size + columns;
        let shifts = lane.upload(penalties)?;
        let lower = lane.allocate::<f64>(batch * height * size)?;
        let inverse = lane.allocate::<f64>(batch * size * size)?;
        let failed = lane.zeros::<u32>(batch)?;
        lane.launch(
            "shift",
            ((height * size).div_ceil(256), batch),
            256,
            arguments![
                &self.s,
                &shifts,
                &self.right,
                &lower,
                &inverse,
                size as u32,
                self.count as u32,
                columns as u32
            ],
        )?;
        let a = Operand::new(address(&lower), size).batched(height * size);
        for first in (0..size).step_by(TILE) {
            context.check()?;
            if first > 0 {
                // The column of tiles, less what those to the left have taken.
                lane.multiply(
                    Size { rows: height - first, columns: TILE, terms: first, batch },
                    -1.0,
                    (a.at(first, 0), a.at(first, 0).transposed()),
                    1.0,
                    a.at(first, first),
                )?;
            }
            let below = height - first - TILE;
            lane.launch(
                "panel",
                (below.div_ceil(PANEL_ROWS).max(1), batch),
                PANEL_THREADS,
                arguments![&lower, &inverse, &failed, size as u32, height as u32, first as u32],
            )?;
        }
        Ok(Factors { lower, height, inverse, failed, size, batch })
    }
}

impl Factors {
    /// Completes L⁻¹, row of tiles by row of tiles: −D⁻¹ (L · what is above).
    pub(crate) fn invert(&self, lane: &Held) -> Result<()> {
        let Factors { lower, height, inverse, size, batch, .. } = self;
        let (size, batch) = (*size, *batch);
        let above = lane.allocate::<f64>(batch * TILE * size)?;
        let above = Operand::new(address(&above), size).batched(TILE * size);
        let a = Operand::new(address(lower), size).batched(height * size);
        let out = Operand::new(address(inverse), size).batched(size * size);
        for first in (TILE..size).step_by(TILE) {
            let product = Size { rows: TILE, columns: first, terms: first, batch };
            lane.multiply(product, 1.0, (a.at(first, 0), out), 0.0, above)?;
            let product = Size { rows: TILE, columns: first, terms: TILE, batch };
            lane.multiply(product, -1.0, (out.at(first, first), above), 0.0, out.at(first, 0))?;
        }
        Ok(())
    }

    /// (S + ξI)⁻¹ B for each penalty by L⁻¹, once it is complete; in rows of `targets`.
    pub(crate) fn solutions(&self, lane: &Held, equations: &Equations) -> Result<CudaSlice<f64>> {
        let (size, columns, batch) = (self.size, equations.targets, self.batch);
        let half = lane.allocate::<f64>(batch * size * columns)?;
        let out = lane.allocate::<f64>(batch * size * columns)?;
        let inverse = Operand::new(address(&self.inverse), size).batched(size * size);
        let at = |memory| Operand::new(address(memory), columns);
        let (half, solved) = (at(&half).batched(size * columns), at(&out).batched(size * columns));
        let product = Size { rows: size, columns, terms: size, batch };
        lane.multiply(product, 1.0, (inverse, at(&equations.right)), 0.0, half)?;
        lane.multiply(product, 1.0, (inverse.transposed(), half), 0.0, solved)?;
        Ok(out)
    }

    /// Which penalties were large enough.
    pub(crate) fn usable(&self, lane: &Held) -> Result<Vec<bool>> {
        let failed = lane.download(&self.failed, self.batch)?;
        Ok(failed.iter().map(|&pivot| pivot == 0).collect())
    }
}
