//! Ridge systems: S + ξI for many penalties side by side, by Cholesky factors.
//!
//! With S + ξI = L Lᵀ, everything follows from L⁻¹: solutions are L⁻ᵀ L⁻¹ B, the leverage of a node is ‖L⁻¹ F_iᵀ‖² on the
//! primal side and the squared length of a column of L⁻¹ on the dual one. That is more arithmetic than the processor's one
//! reduction for all penalties, but nearly all of it in products of large matrices, for all penalties at once.

use crate::arguments::{address, arguments};
use crate::device::Gpu;
use crate::factors::{Equations, Factors};
use crate::lanes::Held;
use crate::parts::{Parts, copy_rows};
use crate::products::{Operand, Size};
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::device::{LeftOutParts, System, SystemInputs};
use gfgcn::matrix::Matrix;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Of FᵀY on the primal side, of Y itself on the dual one.
    equations: Equations,
    /// F in rows of `size` (primal) or `columns` (dual), where it is known.
    rows: Option<CudaSlice<f64>>,
    columns: usize,
    primal: bool,
    diagonal: Vec<f64>,
    means: Option<Vec<f64>>,
    /// Solutions that were found on the way to something else, by the bits of their penalties.
    solved: Mutex<HashMap<u64, Matrix<f64>>>,
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
        let Parts { s, rows, nodes, columns, primal, means } = Parts::new(&lane, inputs)?;
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
        let equations = Equations { s, right, count, size, targets: targets.cols() };
        let (device, solved) = (device.clone(), Mutex::default());
        Ok(CudaSystem { device, nodes, equations, rows, columns, primal, diagonal, means, solved })
    }

    /// Penalties that are solved at a time: as many as a part of the memory holds.
    fn at_once(&self, penalties: usize) -> Result<usize> {
        let bytes =
            16 * (self.equations.size * (self.equations.size + self.equations.targets)) as u64;
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
        let (size, columns, batch) = (self.equations.size, self.equations.targets, penalties.len());
        let factors = self.equations.factorise(lane, penalties, columns <= FEW, context)?;
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
            factors.invert(lane)?;
            let out = factors.solutions(lane, &self.equations)?;
            lane.download(&out, batch * size * columns)?
        };
        let usable = factors.usable(lane)?;
        let solution = |(k, usable): (usize, bool)| {
            let own = &values[k * size * columns..(k + 1) * size * columns];
            usable.then(|| {
                Matrix::from_fn(self.equations.count, columns, |i, c| match columns <= FEW {
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
        let entries = self.equations.size * self.equations.targets;
        let values = lane.download(solutions, penalties.len() * entries)?;
        let mut solved = self.solved.lock().unwrap_or_else(PoisonError::into_inner);
        for ((xi, values), _) in
            penalties.iter().zip(values.chunks(entries)).zip(usable).filter(|(_, usable)| **usable)
        {
            let own = values[..self.equations.count * self.equations.targets].to_vec();
            solved.insert(
                xi.to_bits(),
                Matrix::from_rows(self.equations.count, self.equations.targets, own)?,
            );
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
        let (size, batch, nodes) = (self.equations.size, factors.batch, self.nodes);
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

    /// What left-out predictions of some penalties follow from, written to fits and forms; which are usable.
    fn left_out_some(
        &self,
        lane: &Held,
        penalties: &[f64],
        (fits, forms): (&mut [f64], &mut [f64]),
        context: &Context,
    ) -> Result<Vec<bool>> {
        let (columns, nodes, batch) = (self.equations.targets, self.nodes, penalties.len());
        let factors = self.equations.factorise(lane, penalties, false, context)?;
        factors.invert(lane)?;
        let solutions = factors.solutions(lane, &self.equations)?;
        let (fitted, stride, leverages) = match self.rows.as_ref().filter(|_| self.primal) {
            Some(rows) => {
                let fitted = lane.allocate::<f64>(batch * nodes * columns)?;
                lane.multiply(
                    Size { rows: nodes, columns, terms: self.equations.size, batch },
                    1.0,
                    (
                        Operand::new(address(rows), self.equations.size),
                        Operand::new(address(&solutions), columns)
                            .batched(self.equations.size * columns),
                    ),
                    0.0,
                    Operand::new(address(&fitted), columns).batched(nodes * columns),
                )?;
                let leverages = self.leverages(lane, &factors, rows)?;
                let usable = factors.usable(lane)?;
                self.keep(lane, penalties, &usable, &solutions)?;
                (fitted, nodes * columns, leverages)
            }
            None => {
                let q = lane.allocate::<f64>(batch * nodes)?;
                lane.launch(
                    "column_squares",
                    (nodes.div_ceil(128), batch),
                    128,
                    arguments![&factors.inverse, &q, self.equations.size as u32, nodes as u32],
                )?;
                (solutions, self.equations.size * columns, q)
            }
        };
        let each = nodes * columns;
        // In one go, unless tiles were filled up.
        let at_once = if stride == each { batch * each } else { each };
        for (k, out) in fits.chunks_mut(at_once.max(1)).enumerate() {
            lane.download_to(address(&fitted) + 8 * (k * stride) as u64, out)?;
        }
        lane.download_to(address(&leverages), forms)?;
        factors.usable(lane)
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
        let each = self.nodes * self.equations.targets;
        // Not written before they are fetched: so much fresh memory costs more than fetching.
        let mut parts = LeftOutParts {
            usable: Vec::with_capacity(penalties.len()),
            fitted: vec![0.0; penalties.len() * each],
            forms: vec![0.0; penalties.len() * self.nodes],
        };
        let at_once = self.at_once(penalties.len())?;
        let fits = parts.fitted.chunks_mut((at_once * each).max(1));
        let forms = parts.forms.chunks_mut((at_once * self.nodes).max(1));
        for ((penalties, fits), forms) in penalties.chunks(at_once).zip(fits).zip(forms) {
            let usable = self.left_out_some(&lane, penalties, (fits, forms), context)?;
            parts.usable.extend(usable);
        }
        Ok(parts)
    }

    fn transposed_times(&self, v: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        context.check()?;
        let lane = self.device.lane()?;
        let rows = self.rows.as_ref().expect("a system that was gathered has its rows");
        let stride = if self.primal { self.equations.size } else { self.columns };
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
