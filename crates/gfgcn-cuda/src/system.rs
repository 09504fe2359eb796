//! Ridge systems: S + ξI for many penalties side by side, by Cholesky factors.
//!
//! With S + ξI = L Lᵀ, everything follows from L⁻¹: solutions are L⁻ᵀ L⁻¹ B, the leverage of a node is ‖L⁻¹ F_iᵀ‖² on the
//! primal side and the squared length of a column of L⁻¹ on the dual one. That is more arithmetic than the processor's one
//! reduction for all penalties, but nearly all of it in products of large matrices, for all penalties at once.
//!
//! L is made column of tiles by column of tiles (`kernels/ridge.cu`): a product that brings the tiles up to date, then one kernel
//! that factors the tile on the diagonal and applies its inverse to those below. Sizes are rounded up to whole tiles, with ones
//! on the diagonal.

use crate::device::{Gpu, Held, address, arguments};
use crate::products::{Operand, Size};
use crate::rows::{CudaRows, Place};
use cudarc::driver::CudaSlice;
use gfgcn::context::Context;
use gfgcn::device::{Gathered, LeftOutParts, System, SystemInputs};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};
use std::sync::Arc;

/// Rows and columns of a tile, as in the kernels.
const TILE: usize = 32;
/// Rows below the diagonal that a block of the kernel has.
const PANEL_ROWS: usize = 64;
/// Columns of L⁻¹ that are multiplied by at a time: those beyond the diagonal are zeros.
const STRIP: usize = 128;
/// Bytes of F L⁻ᵀ that are there at a time, for all penalties.
const FITTED_BYTES: usize = 1 << 30;

/// A system on the GPU.
#[derive(Debug)]
pub(crate) struct CudaSystem {
    device: Arc<Gpu>,
    nodes: usize,
    /// Rows of S without and with the ones that fill the last tile.
    count: usize,
    size: usize,
    s: CudaSlice<f64>,
    /// F in rows of `size` (primal) or `columns` (dual), where it is known.
    rows: Option<CudaSlice<f64>>,
    columns: usize,
    primal: bool,
    diagonal: Vec<f64>,
    means: Option<Vec<f64>>,
}

/// L⁻¹ of some penalties, and which of them have one.
struct Inverses {
    inverse: CudaSlice<f64>,
    batch: usize,
    usable: Vec<bool>,
}

impl CudaSystem {
    pub(crate) fn new(
        device: Arc<Gpu>,
        inputs: SystemInputs<'_>,
        context: &Context,
    ) -> Result<Self> {
        context.check()?;
        let lane = device.lane()?;
        let mut system = match inputs {
            SystemInputs::Resident(gathered) => Self::gathered(&lane, &gathered)?,
            SystemInputs::Primal(features) => {
                let (nodes, columns) = (features.rows(), features.cols());
                let size = columns.next_multiple_of(TILE);
                let rows = padded(&lane, features, size)?;
                Self::of_features(&lane, rows, nodes, columns, true)?
            }
            SystemInputs::Dual(gram) => {
                let count = gram.rows();
                let size = count.next_multiple_of(TILE);
                let s = lane.zeros::<f64>(size * size)?;
                let sent = lane.upload(gram.as_slice())?;
                copy_rows(&lane, &sent, &s, count, count, size)?;
                Self::with(&lane, s, None, (count, count, size, 0), false)
            }
        };
        system.read_diagonal(&lane)?;
        Ok(system)
    }

    fn with(
        lane: &Held,
        s: CudaSlice<f64>,
        rows: Option<CudaSlice<f64>>,
        (nodes, count, size, columns): (usize, usize, usize, usize),
        primal: bool,
    ) -> Self {
        let device = lane.device.clone();
        let (diagonal, means) = (Vec::new(), None);
        CudaSystem { device, nodes, count, size, s, rows, columns, primal, diagonal, means }
    }

    fn read_diagonal(&mut self, lane: &Held) -> Result<()> {
        let diagonal = lane.allocate::<f64>(self.count)?;
        let (size, count) = (self.size as u32, self.count as u32);
        lane.launch_each("diagonal", self.count, arguments![&self.s, &diagonal, size, count])?;
        self.diagonal = lane.download(&diagonal, self.count)?;
        Ok(())
    }

    /// S of features in rows of whole tiles (primal) or as many as there are columns (dual).
    fn of_features(
        lane: &Held,
        rows: CudaSlice<f64>,
        nodes: usize,
        columns: usize,
        primal: bool,
    ) -> Result<Self> {
        let count = if primal { columns } else { nodes };
        let size = count.next_multiple_of(TILE);
        let s = lane.zeros::<f64>(size * size)?;
        let out = Operand::new(address(&s), size);
        if primal {
            let f = Operand::new(address(&rows), size);
            let product = Size { rows: size, columns: size, terms: nodes, batch: 1 };
            lane.multiply(product, 1.0, (f.transposed(), f), 0.0, out)?;
        } else {
            let f = Operand::new(address(&rows), columns);
            let product = Size { rows: nodes, columns: nodes, terms: columns, batch: 1 };
            lane.multiply(product, 1.0, (f, f.transposed()), 0.0, out)?;
        }
        Ok(Self::with(lane, s, Some(rows), (nodes, count, size, columns), primal))
    }

    fn gathered(lane: &Held, gathered: &Gathered<'_>) -> Result<Self> {
        let (nodes, columns) = (gathered.positions.len(), gathered.columns());
        let primal = gathered.is_primal();
        let stride = if primal { columns.next_multiple_of(TILE) } else { columns };
        let positions: Vec<u32> = gathered.positions.iter().map(|&row| row as u32).collect();
        let positions = lane.upload(&positions)?;
        let f = lane.zeros::<f64>(nodes * stride)?;
        let mut first = 0;
        for (channel, scale) in gathered.channels {
            let own = channel.cols();
            let channel = channel.as_any().downcast_ref::<CudaRows>();
            let channel = channel.ok_or_else(|| foreign(lane))?;
            let sent;
            let (from, positions) = match &channel.place {
                Place::OnGpu(memory, entry) => (address(memory) + 4 * *entry as u64, &positions),
                Place::Here(matrix) => {
                    let picked = matrix.select_rows(gathered.positions);
                    let numbers: Vec<u32> = (0..nodes as u32).collect();
                    sent = (lane.upload(picked.as_slice())?, lane.upload(&numbers)?);
                    (address(&sent.0), &sent.1)
                }
            };
            lane.launch_each(
                "gather",
                nodes * own,
                arguments![
                    from,
                    positions,
                    *scale,
                    &f,
                    own as u32,
                    first as u32,
                    stride as u32,
                    nodes * own
                ],
            )?;
            // What was sent for it is freed in the order of the queue.
            first += own;
        }
        let means = match gathered.shares.filter(|_| primal) {
            None => None,
            Some(shares) => {
                let (shares, means) = (lane.upload(shares)?, lane.zeros::<f64>(columns)?);
                lane.multiply(
                    Size { rows: 1, columns, terms: nodes, batch: 1 },
                    1.0,
                    (Operand::new(address(&shares), nodes), Operand::new(address(&f), stride)),
                    0.0,
                    Operand::new(address(&means), columns),
                )?;
                Some(means)
            }
        };
        let roots = gathered.roots.map(|roots| lane.upload(roots)).transpose()?;
        if means.is_some() || roots.is_some() {
            let (columns, stride) = (columns as u32, stride as u32);
            lane.launch_each(
                "centre",
                nodes * columns as usize,
                arguments![
                    &f,
                    means.as_ref(),
                    roots.as_ref(),
                    columns,
                    stride,
                    nodes * columns as usize
                ],
            )?;
        }
        let mut system = Self::of_features(lane, f, nodes, columns, primal)?;
        system.means = means.map(|means| lane.download(&means, columns)).transpose()?;
        Ok(system)
    }

    /// L⁻¹ of S + ξI for some penalties.
    fn inverses(&self, lane: &Held, penalties: &[f64], context: &Context) -> Result<Inverses> {
        let (size, batch) = (self.size, penalties.len());
        let entries = size * size;
        let shifts = lane.upload(penalties)?;
        let shifted = lane.allocate::<f64>(batch * entries)?;
        let inverse = lane.allocate::<f64>(batch * entries)?;
        let failed = lane.zeros::<u32>(batch)?;
        lane.launch(
            "shift",
            (entries.div_ceil(256), batch),
            256,
            arguments![&self.s, &shifts, &shifted, &inverse, size as u32, self.count as u32],
        )?;
        let a = Operand::new(address(&shifted), size).batched(entries);
        for first in (0..size).step_by(TILE) {
            context.check()?;
            if first > 0 {
                // The column of tiles, less what those to the left have taken.
                lane.multiply(
                    Size { rows: size - first, columns: TILE, terms: first, batch },
                    -1.0,
                    (a.at(first, 0), a.at(first, 0).transposed()),
                    1.0,
                    a.at(first, first),
                )?;
            }
            let below = size - first - TILE;
            lane.launch(
                "panel",
                (below.div_ceil(PANEL_ROWS).max(1), batch),
                256,
                arguments![&shifted, &inverse, &failed, size as u32, first as u32],
            )?;
        }
        // L⁻¹ row of tiles by row of tiles: −D (L · what is above).
        let above = lane.allocate::<f64>(batch * TILE * size)?;
        let above = Operand::new(address(&above), size).batched(TILE * size);
        let out = Operand::new(address(&inverse), size).batched(entries);
        for first in (TILE..size).step_by(TILE) {
            let product = Size { rows: TILE, columns: first, terms: first, batch };
            lane.multiply(product, 1.0, (a.at(first, 0), out), 0.0, above)?;
            let product = Size { rows: TILE, columns: first, terms: TILE, batch };
            lane.multiply(product, -1.0, (out.at(first, first), above), 0.0, out.at(first, 0))?;
        }
        let failed = lane.download(&failed, batch)?;
        Ok(Inverses { inverse, batch, usable: failed.iter().map(|&pivot| pivot == 0).collect() })
    }

    /// FᵀY on the primal side, Y itself on the dual one; rows of the system × columns.
    fn right_side(&self, lane: &Held, targets: &Matrix<f64>) -> Result<CudaSlice<f64>> {
        let columns = targets.cols();
        let y = lane.upload(targets.as_slice())?;
        let right = lane.zeros::<f64>(self.size * columns)?;
        match self.rows.as_ref().filter(|_| self.primal) {
            None => copy_rows(lane, &y, &right, self.count, columns, columns)?,
            Some(rows) => lane.multiply(
                Size { rows: self.size, columns, terms: self.nodes, batch: 1 },
                1.0,
                (
                    Operand::new(address(rows), self.size).transposed(),
                    Operand::new(address(&y), columns),
                ),
                0.0,
                Operand::new(address(&right), columns),
            )?,
        }
        Ok(right)
    }

    /// (S + ξI)⁻¹ B for each penalty, in rows of `columns`.
    fn solutions(
        &self,
        lane: &Held,
        inverses: &Inverses,
        right: &CudaSlice<f64>,
        columns: usize,
    ) -> Result<CudaSlice<f64>> {
        let (size, batch) = (self.size, inverses.batch);
        let half = lane.allocate::<f64>(batch * size * columns)?;
        let out = lane.allocate::<f64>(batch * size * columns)?;
        let inverse = Operand::new(address(&inverses.inverse), size).batched(size * size);
        let at = |memory| Operand::new(address(memory), columns);
        let (half, solved) = (at(&half).batched(size * columns), at(&out).batched(size * columns));
        let product = Size { rows: size, columns, terms: size, batch };
        lane.multiply(product, 1.0, (inverse, at(right)), 0.0, half)?;
        lane.multiply(product, 1.0, (inverse.transposed(), half), 0.0, solved)?;
        Ok(out)
    }

    /// Penalties that are solved at a time: as many as a part of the memory holds.
    fn at_once(&self, penalties: usize) -> Result<usize> {
        let bytes = 16 * (self.size * self.size) as u64;
        let fit = self.device.free()? / 4 / bytes.max(1);
        Ok((fit as usize).clamp(1, penalties.max(1)))
    }

    /// ‖L⁻¹ F_iᵀ‖² of every node for each penalty, some nodes and some columns of L⁻¹ at a time.
    fn leverages(&self, lane: &Held, inverses: &Inverses) -> Result<CudaSlice<f64>> {
        let (size, batch, nodes) = (self.size, inverses.batch, self.nodes);
        let rows = self.rows.as_ref().expect("the primal side has F");
        let q = lane.zeros::<f64>(batch * nodes)?;
        let at_once = (FITTED_BYTES / (8 * STRIP * batch)).clamp(1, nodes.max(1));
        let t = lane.allocate::<f64>(batch * at_once * STRIP.min(size))?;
        let inverse = Operand::new(address(&inverses.inverse), size).batched(size * size);
        for first_row in (0..nodes).step_by(at_once) {
            let count = at_once.min(nodes - first_row);
            for first in (0..size).step_by(STRIP) {
                let width = STRIP.min(size - first);
                lane.multiply(
                    Size { rows: count, columns: width, terms: first + width, batch },
                    1.0,
                    (
                        Operand::new(address(rows), size).at(first_row, 0),
                        inverse.at(first, 0).transposed(),
                    ),
                    0.0,
                    Operand::new(address(&t), width).batched(count * width),
                )?;
                lane.launch(
                    "row_squares",
                    (count.div_ceil(8), batch),
                    256,
                    arguments![&t, &q, width as u32, count as u32, nodes, first_row as u32],
                )?;
            }
        }
        Ok(q)
    }
}

impl System for CudaSystem {
    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn means(&self) -> Option<&[f64]> {
        self.means.as_deref()
    }

    fn solve(
        &self,
        penalties: &[f64],
        targets: &Matrix<f64>,
        context: &Context,
    ) -> Result<Vec<Option<Matrix<f64>>>> {
        let lane = self.device.lane()?;
        let columns = targets.cols();
        let right = self.right_side(&lane, targets)?;
        let mut solved = Vec::with_capacity(penalties.len());
        for penalties in penalties.chunks(self.at_once(penalties.len())?) {
            let inverses = self.inverses(&lane, penalties, context)?;
            let solutions = self.solutions(&lane, &inverses, &right, columns)?;
            let values = lane.download(&solutions, penalties.len() * self.size * columns)?;
            let of = |(values, &usable): (&[f64], &bool)| {
                let own = || values[..self.count * columns].to_vec();
                usable.then(|| Matrix::from_rows(self.count, columns, own())).transpose()
            };
            let each = values.chunks(self.size * columns).zip(&inverses.usable).map(of);
            solved.extend(each.collect::<Result<Vec<_>>>()?);
        }
        Ok(solved)
    }

    fn left_out(
        &self,
        penalties: &[f64],
        targets: &Matrix<f64>,
        context: &Context,
    ) -> Result<Vec<Option<LeftOutParts>>> {
        let lane = self.device.lane()?;
        let (columns, nodes) = (targets.cols(), self.nodes);
        let right = self.right_side(&lane, targets)?;
        let mut parts = Vec::with_capacity(penalties.len());
        for penalties in penalties.chunks(self.at_once(penalties.len())?) {
            let inverses = self.inverses(&lane, penalties, context)?;
            let batch = penalties.len();
            let solutions = self.solutions(&lane, &inverses, &right, columns)?;
            let (fitted, stride, forms) = match self.rows.as_ref().filter(|_| self.primal) {
                Some(rows) => {
                    let fitted = lane.allocate::<f64>(batch * nodes * columns)?;
                    lane.multiply(
                        Size { rows: nodes, columns, terms: self.size, batch },
                        1.0,
                        (
                            Operand::new(address(rows), self.size),
                            Operand::new(address(&solutions), columns).batched(self.size * columns),
                        ),
                        0.0,
                        Operand::new(address(&fitted), columns).batched(nodes * columns),
                    )?;
                    (fitted, nodes * columns, self.leverages(&lane, &inverses)?)
                }
                None => {
                    let q = lane.allocate::<f64>(batch * nodes)?;
                    lane.launch(
                        "column_squares",
                        (nodes.div_ceil(128), batch),
                        128,
                        arguments![&inverses.inverse, &q, self.size as u32, nodes as u32],
                    )?;
                    (solutions, self.size * columns, q)
                }
            };
            let fitted = lane.download(&fitted, batch * stride)?;
            let forms = lane.download(&forms, batch * nodes)?;
            for (k, &usable) in inverses.usable.iter().enumerate() {
                let own = &fitted[k * stride..k * stride + nodes * columns];
                let part = |own: &[f64]| {
                    Ok::<_, Error>(LeftOutParts {
                        fitted: Matrix::from_rows(nodes, columns, own.to_vec())?,
                        forms: forms[k * nodes..(k + 1) * nodes].to_vec(),
                    })
                };
                parts.push(usable.then(|| part(own)).transpose()?);
            }
        }
        Ok(parts)
    }

    fn transposed_times(&self, v: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        context.check()?;
        let lane = self.device.lane()?;
        let rows = self.rows.as_ref().expect("a system that was gathered has its rows");
        let stride = if self.primal { self.size } else { self.columns };
        let (sent, columns) = (lane.upload(v.as_slice())?, v.cols());
        let out = lane.allocate::<f64>(self.columns * columns)?;
        lane.multiply(
            Size { rows: self.columns, columns, terms: self.nodes, batch: 1 },
            1.0,
            (
                Operand::new(address(rows), stride).transposed(),
                Operand::new(address(&sent), columns),
            ),
            0.0,
            Operand::new(address(&out), columns),
        )?;
        let values = lane.download(&out, self.columns * columns)?;
        Matrix::from_rows(self.columns, columns, values)
    }
}

/// A matrix in rows of `stride`, zeros behind its own.
fn padded(lane: &Held, matrix: &Matrix<f64>, stride: usize) -> Result<CudaSlice<f64>> {
    let sent = lane.upload(matrix.as_slice())?;
    let out = lane.zeros::<f64>(matrix.rows() * stride)?;
    copy_rows(lane, &sent, &out, matrix.rows(), matrix.cols(), stride)?;
    Ok(out)
}

fn copy_rows(
    lane: &Held,
    from: &CudaSlice<f64>,
    to: &CudaSlice<f64>,
    rows: usize,
    columns: usize,
    stride: usize,
) -> Result<()> {
    let entries = rows * columns;
    lane.launch_each("pad", entries, arguments![from, to, columns as u32, stride as u32, entries])
}

fn foreign(lane: &Held) -> Error {
    let device = lane.device.name.clone();
    Error::Device { device, problem: "these rows are on another device".into() }
}
