//! What left-out predictions follow from, the fit and the leverage of training nodes, for many penalties side by side; and how well
//! they fit.
//!
//! On the primal side they are computed for the nodes that are asked for, so that neither here nor there as many numbers are
//! held as there are nodes times penalties. On the dual side there are no more nodes than the system has rows.

use crate::arguments::{address, arguments};
use crate::factors::Factors;
use crate::lanes::Held;
use crate::products::{Operand, Size};
use crate::system::CudaSystem;
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::device::{Judged, Judging, LeftOutFits, LeftOutParts};
use std::ops::Range;

/// Columns of L⁻¹ that are multiplied by at a time: those beyond the diagonal are zeros.
const STRIP: usize = 128;
/// Bytes of F L⁻ᵀ, and of fits that are judged, that are there at a time, for all penalties.
const FITTED_BYTES: usize = 1 << 29;
/// Nodes that a block of the kernel judges, and its threads.
const JUDGED: usize = 1024;
const JUDGING_THREADS: u32 = 128;

/// The factors of some penalties, with their solutions.
#[derive(Debug)]
pub(crate) struct CudaFits<'a> {
    system: &'a CudaSystem,
    factors: Factors,
    solutions: CudaSlice<f64>,
    side: Side<'a>,
    usable: Vec<bool>,
}

#[derive(Debug)]
enum Side<'a> {
    /// F, in rows as long as the system.
    Primal(&'a CudaSlice<f64>),
    /// The diagonals of the inverses, penalties × nodes.
    Dual(CudaSlice<f64>),
}

impl<'a> CudaFits<'a> {
    pub(crate) fn new(
        system: &'a CudaSystem,
        penalties: &[f64],
        context: &Context,
    ) -> Result<Self> {
        let lane = system.lane()?;
        let (equations, nodes) = (&system.equations, system.nodes);
        let factors = equations.factorise(&lane, penalties, false, context)?;
        factors.invert(&lane)?;
        let solutions = factors.solutions(&lane, equations)?;
        let side = match system.rows.as_ref().filter(|_| system.primal) {
            Some(rows) => Side::Primal(rows),
            None => {
                let squares = lane.allocate::<f64>(penalties.len() * nodes)?;
                lane.launch(
                    "column_squares",
                    (nodes.div_ceil(128), penalties.len()),
                    128,
                    arguments![&factors.inverse, &squares, equations.size as u32, nodes as u32],
                )?;
                Side::Dual(squares)
            }
        };
        let usable = factors.usable(&lane)?;
        if let Side::Primal(_) = side {
            system.keep(&lane, penalties, &usable, &solutions)?;
        }
        Ok(CudaFits { system, factors, solutions, side, usable })
    }

    /// F (S + ξI)⁻¹ FᵀY and the leverages of some rows of F, for each penalty.
    fn compute(
        &self,
        lane: &Held,
        rows: Operand,
        count: usize,
    ) -> Result<(CudaSlice<f64>, CudaSlice<f64>)> {
        let (size, columns) = (self.system.equations.size, self.system.equations.targets);
        let batch = self.factors.batch;
        let fitted = lane.allocate::<f64>(batch * count * columns)?;
        lane.multiply(
            Size { rows: count, columns, terms: size, batch },
            1.0,
            (rows, Operand::new(address(&self.solutions), columns).batched(size * columns)),
            0.0,
            Operand::new(address(&fitted), columns).batched(count * columns),
        )?;
        Ok((fitted, self.leverages(lane, rows, count)?))
    }

    /// Nodes of which so many numbers are there at a time, for each penalty.
    fn rows_at_once(&self, numbers: usize) -> usize {
        (FITTED_BYTES / (8 * numbers * self.factors.batch)).max(1)
    }

    /// ‖L⁻¹ F_iᵀ‖² of some rows for each penalty, some of them and some columns of L⁻¹ at a time.
    fn leverages(&self, lane: &Held, rows: Operand, count: usize) -> Result<CudaSlice<f64>> {
        let (size, batch) = (self.system.equations.size, self.factors.batch);
        let q = lane.zeros::<f64>(batch * count)?;
        let at_once = self.rows_at_once(STRIP).clamp(1, count.max(1));
        let t = lane.allocate::<f64>(batch * at_once * STRIP.min(size))?;
        let inverse = Operand::new(address(&self.factors.inverse), size).batched(size * size);
        for first_row in (0..count).step_by(at_once) {
            let some = at_once.min(count - first_row);
            for first in (0..size).step_by(STRIP) {
                let width = STRIP.min(size - first);
                lane.multiply(
                    Size { rows: some, columns: width, terms: first + width, batch },
                    1.0,
                    (rows.at(first_row, 0), inverse.at(first, 0).transposed()),
                    0.0,
                    Operand::new(address(&t), width).batched(some * width),
                )?;
                lane.launch(
                    "row_squares",
                    (some.div_ceil(8), batch),
                    256,
                    arguments![&t, &q, width as u32, some as u32, count, first_row as u32],
                )?;
            }
        }
        Ok(q)
    }
}

impl LeftOutFits for CudaFits<'_> {
    fn usable(&self) -> &[bool] {
        &self.usable
    }

    fn fetch(&self, nodes: Range<usize>, out: &mut LeftOutParts, context: &Context) -> Result<()> {
        context.check()?;
        let lane = self.system.lane()?;
        let (size, columns) = (self.system.equations.size, self.system.equations.targets);
        let count = nodes.len();
        make_room(&mut out.fitted, self.factors.batch * count * columns);
        make_room(&mut out.forms, self.factors.batch * count);
        match &self.side {
            Side::Primal(rows) => {
                let rows = Operand::new(address(rows), size).at(nodes.start, 0);
                let (fitted, leverages) = self.compute(&lane, rows, count)?;
                lane.download_to(address(&fitted), &mut out.fitted)?;
                lane.download_to(address(&leverages), &mut out.forms)
            }
            Side::Dual(squares) => {
                let all = self.system.nodes;
                for (k, out) in out.fitted.chunks_mut((count * columns).max(1)).enumerate() {
                    let from = (k * size + nodes.start) * columns;
                    lane.download_to(address(&self.solutions) + 8 * from as u64, out)?;
                }
                for (k, out) in out.forms.chunks_mut(count.max(1)).enumerate() {
                    let from = k * all + nodes.start;
                    lane.download_to(address(squares) + 8 * from as u64, out)?;
                }
                Ok(())
            }
        }
    }

    fn judge(&self, judging: &Judging<'_>, context: &Context) -> Result<Vec<Judged>> {
        let (Side::Primal(rows), Some(targets)) = (&self.side, &self.system.targets) else {
            unreachable!("only primal systems are judged on a device");
        };
        let lane = self.system.lane()?;
        let (size, columns) = (self.system.equations.size, self.system.equations.targets);
        let (nodes, batch, entries) = (self.system.nodes, self.factors.batch, 1 + 3 * columns);
        let sent = |values: &[f64]| lane.upload(values);
        let classes = judging.classes.map(|classes| lane.upload(classes)).transpose()?;
        let (means, roots) =
            (judging.means.map(sent).transpose()?, judging.roots.map(sent).transpose()?);
        let zeros = sent(judging.zeros)?;
        let totals = lane.zeros::<f64>(batch * entries)?;
        let at_once = (self.rows_at_once(STRIP + columns) / JUDGED).max(1) * JUDGED;
        for first in (0..nodes).step_by(at_once) {
            context.check()?;
            let count = at_once.min(nodes - first);
            let rows = Operand::new(address(rows), size).at(first, 0);
            let (fitted, leverages) = self.compute(&lane, rows, count)?;
            let blocks = count.div_ceil(JUDGED);
            let parts = lane.allocate::<f64>(batch * blocks * entries)?;
            lane.launch(
                "judge",
                (blocks, batch),
                JUDGING_THREADS,
                arguments![
                    &fitted,
                    &leverages,
                    targets,
                    classes.as_ref(),
                    means.as_ref(),
                    roots.as_ref(),
                    &zeros,
                    &parts,
                    judging.total,
                    judging.growth,
                    first,
                    columns as u32,
                    count as u32
                ],
            )?;
            let arguments = arguments![
                &parts,
                &totals,
                blocks as u32,
                entries as u32,
                (batch * entries) as u32
            ];
            lane.launch_each("add_judged", batch * entries, arguments)?;
        }
        let totals = lane.download(&totals, batch * entries)?;
        let judged = |sums: &[f64]| Judged {
            correct: sums[0] as usize,
            errors: sums[1..].chunks_exact(3).map(|sums| [sums[0], sums[1], sums[2]]).collect(),
        };
        Ok(totals.chunks(entries).map(judged).collect())
    }
}

/// Room for so many values. New memory comes as zeros from the system, which are written by nobody before the copy.
fn make_room(values: &mut Vec<f64>, count: usize) {
    match values.capacity() < count {
        true => *values = vec![0.0; count],
        false => values.resize(count, 0.0),
    }
}
