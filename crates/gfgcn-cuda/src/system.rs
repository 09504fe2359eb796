//! Ridge systems: S + ξI for many penalties side by side, by Cholesky factors.
//!
//! With S + ξI = L Lᵀ, everything follows from L⁻¹: solutions are L⁻ᵀ L⁻¹ B, the leverage of a node is ‖L⁻¹ F_iᵀ‖² on the
//! primal side and the squared length of a column of L⁻¹ on the dual one. That is more arithmetic than the processor's one
//! reduction for all penalties, but nearly all of it in products of large matrices, for all penalties at once.

use crate::arguments::{address, arguments};
use crate::device::Gpu;
use crate::elimination::FEW;
use crate::factors::Equations;
use crate::lanes::Held;
use crate::left_out::CudaFits;
use crate::parts::{Parts, copy_rows, transposed_product};
use crate::products::Operand;
use cudarc::driver::{CudaEvent, CudaSlice};
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::device::{LeftOutFits, System, SystemInputs};
use gfgcn::matrix::Matrix;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A system on the GPU, with its targets.
#[derive(Debug)]
pub(crate) struct CudaSystem {
    device: Arc<Gpu>,
    /// When all of this is there: the queue is filled on while it is computed.
    ready: CudaEvent,
    pub(crate) nodes: usize,
    /// Of FᵀY on the primal side, of Y itself on the dual one.
    pub(crate) equations: Equations,
    /// F in rows of `size` (primal) or `columns` (dual), where it is known.
    pub(crate) rows: Option<CudaSlice<f64>>,
    /// The targets as they were sent, on the primal side.
    pub(crate) targets: Option<CudaSlice<f64>>,
    columns: usize,
    pub(crate) primal: bool,
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
        let (right, y) = match rows.as_ref().filter(|_| primal) {
            None => {
                let right = lane.zeros::<f64>(size * targets.cols())?;
                copy_rows(&lane, &y, &right, count, targets.cols(), targets.cols())?;
                (right, None)
            }
            Some(rows) => {
                let f = (Operand::new(address(rows), size), size);
                let sent = (Operand::new(address(&y), targets.cols()), targets.cols());
                (transposed_product(&lane, f, sent, nodes)?, Some(y))
            }
        };
        let means = means.map(|means| lane.download(&means, columns)).transpose()?;
        let equations = Equations { s, right, count, size, targets: targets.cols() };
        let (device, targets, solved) = (device.clone(), y, Mutex::default());
        let ready = lane.leave()?;
        Ok(CudaSystem {
            device,
            ready,
            nodes,
            equations,
            rows,
            targets,
            columns,
            primal,
            means,
            solved,
        })
    }

    /// A lane in which the system is there.
    pub(crate) fn lane(&self) -> Result<Held> {
        let lane = self.device.lane()?;
        lane.wait_for(&self.ready)?;
        Ok(lane)
    }

    /// The solutions of some penalties, as matrices in the order of the penalties.
    fn solve_some(
        &self,
        lane: &Held,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Vec<Option<Matrix<f64>>>> {
        let (size, columns, batch) = (self.equations.size, self.equations.targets, penalties.len());
        if self.equations.are_small(batch) {
            return self.equations.eliminate(lane, penalties, context);
        }
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
    pub(crate) fn keep(
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
}

impl System for CudaSystem {
    fn diagonal(&self) -> Result<Vec<f64>> {
        let lane = self.lane()?;
        let Equations { s, count, size, .. } = &self.equations;
        let diagonal = lane.allocate::<f64>(*count)?;
        let arguments = arguments![s, &diagonal, *size as u32, *count as u32];
        lane.launch_each("diagonal", *count, arguments)?;
        lane.download(&diagonal, *count)
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
        let at_once = match penalties {
            [_] => 1, // asking how much memory there is takes as long as a small system
            _ => self.penalties_at_once()?,
        };
        let lane = self.lane()?;
        let mut solved = Vec::with_capacity(penalties.len());
        for penalties in penalties.chunks(at_once) {
            solved.extend(self.solve_some(&lane, penalties, context)?);
        }
        Ok(solved)
    }

    fn penalties_at_once(&self) -> Result<usize> {
        let Equations { size, targets, .. } = self.equations;
        let bytes = 16 * (size * (size + targets)) as u64;
        let fit = self.device.free()? / 4 / bytes.max(1);
        Ok((fit as usize).max(1))
    }

    fn left_out(&self, penalties: &[f64], context: &Context) -> Result<Box<dyn LeftOutFits + '_>> {
        Ok(Box::new(CudaFits::new(self, penalties, context)?))
    }

    fn transposed_times(&self, v: &Matrix<f64>, context: &Context) -> Result<Matrix<f64>> {
        context.check()?;
        let lane = self.lane()?;
        let rows = self.rows.as_ref().expect("a system that was gathered has its rows");
        let stride = if self.primal { self.equations.size } else { self.columns };
        let (sent, columns) = (lane.upload(v.as_slice())?, v.cols());
        let f = (Operand::new(address(rows), stride), self.columns);
        let v = (Operand::new(address(&sent), columns), columns);
        let out = transposed_product(&lane, f, v, self.nodes)?;
        let values = lane.download(&out, self.columns * columns)?;
        Matrix::from_rows(self.columns, columns, values)
    }
}
