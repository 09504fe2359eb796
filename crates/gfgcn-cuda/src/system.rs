//! Ridge systems: S + ξI for many penalties side by side, by Cholesky factors.
//!
//! With S + ξI = L Lᵀ, everything follows from L⁻¹: solutions are L⁻ᵀ L⁻¹ B, the leverage of a node is ‖L⁻¹ F_iᵀ‖² on the
//! primal side and the squared length of a column of L⁻¹ on the dual one. That is more arithmetic than the processor's one
//! reduction for all penalties, but nearly all of it in products of large matrices, for all penalties at once.
//!
//! L is made column of tiles by column of tiles (`kernels/ridge.cu`): a product that brings the tiles up to date, then one kernel
//! that factors the tile on the diagonal and applies its inverse to those below. Right sides are further rows, which are forward
//! substituted on the way. Sizes are rounded up to whole tiles, with ones on the diagonal.

use crate::device::{Gpu, Held, address, arguments};
use crate::products::{Operand, Size};
use crate::rows::{CudaRows, Place};
use cudarc::driver::CudaSlice;
use gfgcn::context::Context;
use gfgcn::device::{Gathered, LeftOutParts, System, SystemInputs};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows and columns of a tile, as in the kernels.
const TILE: usize = 32;
/// Rows below the diagonal that a block of the kernel has, and its threads.
const PANEL_ROWS: usize = 64;
const PANEL_THREADS: u32 = 128;
/// Rows of F that are multiplied together at least, and parts at most.
const PART_ROWS: usize = 256;
const PARTS: usize = 16;
/// Right sides that are solved along with the factorisation; for more, an inverse is less work.
const FEW: usize = 16;
/// Columns of L⁻¹ that are multiplied by at a time: those beyond the diagonal are zeros.
const STRIP: usize = 128;
/// Bytes of F L⁻ᵀ that are there at a time, for all penalties.
const FITTED_BYTES: usize = 1 << 30;

/// A system on the GPU, with its targets.
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
    /// FᵀY on the primal side, Y itself on the dual one; `size` × `targets`.
    right: CudaSlice<f64>,
    targets: usize,
    diagonal: Vec<f64>,
    means: Option<Vec<f64>>,
    /// Solutions that were found on the way to something else, by the bits of their penalties.
    solved: Mutex<HashMap<u64, Matrix<f64>>>,
}

/// S and what it was made of, before there are targets.
struct Parts {
    s: CudaSlice<f64>,
    rows: Option<CudaSlice<f64>>,
    nodes: usize,
    columns: usize,
    primal: bool,
    means: Option<CudaSlice<f64>>,
}

impl Parts {
    /// Rows of S, and those with the ones that fill the last tile.
    fn sizes(nodes: usize, columns: usize, primal: bool) -> (usize, usize) {
        let count = if primal { columns } else { nodes };
        (count, count.next_multiple_of(TILE))
    }
}

/// The Cholesky factors of S + ξI for some penalties.
struct Factors {
    /// L below the diagonal; right sides behind it, as rows, which are forward substituted.
    lower: CudaSlice<f64>,
    height: usize,
    /// D⁻¹ on the diagonal, and all of L⁻¹ where it was asked for.
    inverse: CudaSlice<f64>,
    /// Pivots that were not positive.
    failed: CudaSlice<u32>,
    batch: usize,
}

impl CudaSystem {
    pub(crate) fn new(
        device: Arc<Gpu>,
        inputs: SystemInputs<'_>,
        targets: &Matrix<f64>,
        context: &Context,
    ) -> Result<Self> {
        context.check()?;
        let lane = device.lane()?;
        let parts = match inputs {
            SystemInputs::Resident(gathered) => gather(&lane, &gathered)?,
            SystemInputs::Primal(features) => {
                let (nodes, columns) = (features.rows(), features.cols());
                let rows = padded(&lane, features, columns.next_multiple_of(TILE))?;
                of_features(&lane, rows, nodes, columns, true)?
            }
            SystemInputs::Dual(gram) => {
                let s = padded(&lane, gram, gram.rows().next_multiple_of(TILE))?;
                let (rows, nodes, means) = (None, gram.rows(), None);
                Parts { s, rows, nodes, columns: 0, primal: false, means }
            }
        };
        let Parts { s, rows, nodes, columns, primal, means } = parts;
        let (count, size) = Parts::sizes(nodes, columns, primal);
        let y = lane.upload(targets.as_slice())?;
        let right = lane.zeros::<f64>(size * targets.cols())?;
        match rows.as_ref().filter(|_| primal) {
            None => copy_rows(&lane, &y, &right, count, targets.cols(), targets.cols())?,
            Some(rows) => lane.multiply(
                Size { rows: size, columns: targets.cols(), terms: nodes, batch: 1 },
                1.0,
                (
                    Operand::new(address(rows), size).transposed(),
                    Operand::new(address(&y), targets.cols()),
                ),
                0.0,
                Operand::new(address(&right), targets.cols()),
            )?,
        }
        let diagonal = lane.allocate::<f64>(count)?;
        lane.launch_each("diagonal", count, arguments![&s, &diagonal, size as u32, count as u32])?;
        let diagonal = lane.download(&diagonal, count)?;
        let means = means.map(|means| lane.download(&means, columns)).transpose()?;
        let (targets, solved) = (targets.cols(), Mutex::default());
        Ok(CudaSystem {
            device: device.clone(),
            nodes,
            count,
            size,
            s,
            rows,
            columns,
            primal,
            right,
            targets,
            diagonal,
            means,
            solved,
        })
    }

    /// The factors of S + ξI for some penalties, with the right sides where they are asked for.
    fn factorise(
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
        Ok(Factors { lower, height, inverse, failed, batch })
    }

    /// Completes L⁻¹, row of tiles by row of tiles: −D⁻¹ (L · what is above).
    fn invert(&self, lane: &Held, factors: &Factors) -> Result<()> {
        let Factors { lower, height, inverse, batch, .. } = factors;
        let (size, batch) = (self.size, *batch);
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

    /// (S + ξI)⁻¹ B for each penalty by L⁻¹, in rows of `targets`.
    fn solutions(&self, lane: &Held, factors: &Factors) -> Result<CudaSlice<f64>> {
        let (size, columns, batch) = (self.size, self.targets, factors.batch);
        let half = lane.allocate::<f64>(batch * size * columns)?;
        let out = lane.allocate::<f64>(batch * size * columns)?;
        let inverse = Operand::new(address(&factors.inverse), size).batched(size * size);
        let at = |memory| Operand::new(address(memory), columns);
        let (half, solved) = (at(&half).batched(size * columns), at(&out).batched(size * columns));
        let product = Size { rows: size, columns, terms: size, batch };
        lane.multiply(product, 1.0, (inverse, at(&self.right)), 0.0, half)?;
        lane.multiply(product, 1.0, (inverse.transposed(), half), 0.0, solved)?;
        Ok(out)
    }

    /// Which penalties were large enough.
    fn usable(lane: &Held, factors: &Factors) -> Result<Vec<bool>> {
        let failed = lane.download(&factors.failed, factors.batch)?;
        Ok(failed.iter().map(|&pivot| pivot == 0).collect())
    }

    /// Penalties that are solved at a time: as many as a part of the memory holds.
    fn at_once(&self, penalties: usize) -> Result<usize> {
        let bytes = 16 * (self.size * (self.size + self.targets)) as u64;
        let fit = self.device.free()? / 4 / bytes.max(1);
        Ok((fit as usize).clamp(1, penalties.max(1)))
    }

    /// The solutions of some penalties, as matrices in the order of the penalties.
    fn solve_some(
        &self,
        lane: &Held,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Vec<Option<Matrix<f64>>>> {
        let (size, columns, batch) = (self.size, self.targets, penalties.len());
        let factors = self.factorise(lane, penalties, columns <= FEW, context)?;
        let values = if columns <= FEW {
            let out = lane.allocate::<f64>(batch * size * columns)?;
            lane.launch(
                "back_substitute",
                (batch, 1),
                1024,
                arguments![
                    &factors.lower,
                    &factors.inverse,
                    &out,
                    size as u32,
                    columns as u32,
                    factors.height * size
                ],
            )?;
            lane.download(&out, batch * size * columns)?
        } else {
            self.invert(lane, &factors)?;
            let out = self.solutions(lane, &factors)?;
            lane.download(&out, batch * size * columns)?
        };
        let usable = Self::usable(lane, &factors)?;
        let solution = |(k, usable): (usize, bool)| {
            let own = &values[k * size * columns..(k + 1) * size * columns];
            usable.then(|| {
                Matrix::from_fn(self.count, columns, |i, c| match columns <= FEW {
                    true => own[c * size + i],
                    false => own[i * columns + c],
                })
            })
        };
        Ok(usable.into_iter().enumerate().map(solution).collect())
    }

    /// Keeps solutions of the primal side, which are small.
    fn keep(
        &self,
        lane: &Held,
        penalties: &[f64],
        usable: &[bool],
        solutions: &CudaSlice<f64>,
    ) -> Result<()> {
        let entries = self.size * self.targets;
        let values = lane.download(solutions, penalties.len() * entries)?;
        let mut solved = self.solved.lock().unwrap_or_else(PoisonError::into_inner);
        for ((xi, values), _) in
            penalties.iter().zip(values.chunks(entries)).zip(usable).filter(|(_, usable)| **usable)
        {
            let own = values[..self.count * self.targets].to_vec();
            solved.insert(xi.to_bits(), Matrix::from_rows(self.count, self.targets, own)?);
        }
        Ok(())
    }

    /// ‖L⁻¹ F_iᵀ‖² of every node for each penalty, some nodes and some columns of L⁻¹ at a time.
    fn leverages(
        &self,
        lane: &Held,
        factors: &Factors,
        rows: &CudaSlice<f64>,
    ) -> Result<CudaSlice<f64>> {
        let (size, batch, nodes) = (self.size, factors.batch, self.nodes);
        let q = lane.zeros::<f64>(batch * nodes)?;
        let at_once = (FITTED_BYTES / (8 * STRIP * batch)).clamp(1, nodes.max(1));
        let t = lane.allocate::<f64>(batch * at_once * STRIP.min(size))?;
        let inverse = Operand::new(address(&factors.inverse), size).batched(size * size);
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

    /// What left-out predictions of some penalties follow from, appended to the parts.
    fn left_out_some(
        &self,
        lane: &Held,
        penalties: &[f64],
        parts: &mut LeftOutParts,
        context: &Context,
    ) -> Result<()> {
        let (columns, nodes, batch) = (self.targets, self.nodes, penalties.len());
        let factors = self.factorise(lane, penalties, false, context)?;
        self.invert(lane, &factors)?;
        let solutions = self.solutions(lane, &factors)?;
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
                let leverages = self.leverages(lane, &factors, rows)?;
                let usable = Self::usable(lane, &factors)?;
                self.keep(lane, penalties, &usable, &solutions)?;
                (fitted, nodes * columns, leverages)
            }
            None => {
                let q = lane.allocate::<f64>(batch * nodes)?;
                lane.launch(
                    "column_squares",
                    (nodes.div_ceil(128), batch),
                    128,
                    arguments![&factors.inverse, &q, self.size as u32, nodes as u32],
                )?;
                (solutions, self.size * columns, q)
            }
        };
        let first = parts.fitted.len();
        let each = nodes * columns;
        parts.fitted.resize(first + batch * each, 0.0);
        // In one go, unless tiles were filled up.
        let at_once = if stride == each { batch * each } else { each };
        for (k, out) in parts.fitted[first..].chunks_mut(at_once.max(1)).enumerate() {
            lane.download_to(address(&fitted) + 8 * (k * stride) as u64, out)?;
        }
        let first = parts.forms.len();
        parts.forms.resize(first + batch * nodes, 0.0);
        lane.download_to(address(&forms), &mut parts.forms[first..])?;
        parts.usable.extend(Self::usable(lane, &factors)?);
        Ok(())
    }
}

impl System for CudaSystem {
    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn means(&self) -> Option<&[f64]> {
        self.means.as_deref()
    }

    fn solve(&self, penalties: &[f64], context: &Context) -> Result<Vec<Option<Matrix<f64>>>> {
        let known = |xi: &f64| {
            let solved = self.solved.lock().unwrap_or_else(PoisonError::into_inner);
            solved.get(&xi.to_bits()).cloned()
        };
        if let Some(known) = penalties.iter().map(known).collect::<Option<Vec<_>>>() {
            return Ok(known.into_iter().map(Some).collect());
        }
        let lane = self.device.lane()?;
        let mut solved = Vec::with_capacity(penalties.len());
        for penalties in penalties.chunks(self.at_once(penalties.len())?) {
            solved.extend(self.solve_some(&lane, penalties, context)?);
        }
        Ok(solved)
    }

    fn left_out(&self, penalties: &[f64], context: &Context) -> Result<LeftOutParts> {
        let lane = self.device.lane()?;
        let mut parts = LeftOutParts::default();
        for penalties in penalties.chunks(self.at_once(penalties.len())?) {
            self.left_out_some(&lane, penalties, &mut parts, context)?;
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

/// S of features in rows of whole tiles (primal) or as many as there are columns (dual).
fn of_features(
    lane: &Held,
    rows: CudaSlice<f64>,
    nodes: usize,
    columns: usize,
    primal: bool,
) -> Result<Parts> {
    let (_, size) = Parts::sizes(nodes, columns, primal);
    let s = lane.zeros::<f64>(size * size)?;
    let out = Operand::new(address(&s), size);
    if primal {
        // A small matrix of long sums leaves most of the GPU idle: the rows are divided, and the parts added up.
        let count = (nodes / PART_ROWS).clamp(1, PARTS);
        let each = nodes / count;
        let parts = lane.allocate::<f64>(count * size * size)?;
        let f = Operand::new(address(&rows), size).batched(each * size);
        let to = Operand::new(address(&parts), size).batched(size * size);
        let product = Size { rows: size, columns: size, terms: each, batch: count };
        lane.multiply(product, 1.0, (f.transposed(), f), 0.0, to)?;
        let rest = nodes - count * each;
        if rest > 0 {
            let f = Operand::new(address(&rows), size).at(count * each, 0);
            let product = Size { rows: size, columns: size, terms: rest, batch: 1 };
            lane.multiply(
                product,
                1.0,
                (f.transposed(), f),
                1.0,
                Operand::new(address(&parts), size),
            )?;
        }
        let entries = size * size;
        lane.launch_each("add_parts", entries, arguments![&parts, &s, count as u32, entries])?;
    } else {
        let f = Operand::new(address(&rows), columns);
        let product = Size { rows: nodes, columns: nodes, terms: columns, batch: 1 };
        lane.multiply(product, 1.0, (f, f.transposed()), 0.0, out)?;
    }
    Ok(Parts { s, rows: Some(rows), nodes, columns, primal, means: None })
}

/// The system of rows that are on the GPU.
fn gather(lane: &Held, gathered: &Gathered<'_>) -> Result<Parts> {
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
        let entries = nodes * columns;
        lane.launch_each(
            "centre",
            entries,
            arguments![&f, means.as_ref(), roots.as_ref(), columns as u32, stride as u32, entries],
        )?;
    }
    Ok(Parts { means, ..of_features(lane, f, nodes, columns, primal)? })
}

/// A matrix in rows of `stride`, zeros behind its own and in rows that fill the last tile.
fn padded(lane: &Held, matrix: &Matrix<f64>, stride: usize) -> Result<CudaSlice<f64>> {
    let sent = lane.upload(matrix.as_slice())?;
    let out = lane.zeros::<f64>(matrix.rows().next_multiple_of(TILE) * stride)?;
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
