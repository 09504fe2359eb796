//! What a ridge system is made of: training rows, gathered and brought into shape, and their Gram matrix.

use crate::arguments::{address, arguments};
use crate::lanes::Held;
use crate::products::{Operand, Size};
use crate::rows::{CudaRows, Place};
use cudarc::driver::CudaSlice;
use gfgcn::device::{Gathered, SystemInputs};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};

/// Rows and columns of a tile, as in the kernels.
pub(crate) const TILE: usize = 32;
/// Rows of F that are multiplied together at least; parts, and bytes of their products, at most.
const PART_ROWS: usize = 256;
const PARTS: usize = 128;
const PART_BYTES: usize = 256 << 20;

/// S and what it was made of, before there are targets.
pub(crate) struct Parts {
    pub(crate) s: CudaSlice<f64>,
    pub(crate) rows: Option<CudaSlice<f64>>,
    pub(crate) nodes: usize,
    pub(crate) columns: usize,
    pub(crate) primal: bool,
    pub(crate) means: Option<CudaSlice<f64>>,
}

impl Parts {
    pub(crate) fn new(lane: &Held, inputs: SystemInputs<'_>) -> Result<Self> {
        match inputs {
            SystemInputs::Resident(gathered) => gather(lane, &gathered),
            SystemInputs::Primal(features) => {
                let (nodes, columns) = (features.rows(), features.cols());
                let rows = padded(lane, features, columns.next_multiple_of(TILE))?;
                of_features(lane, rows, nodes, columns, true)
            }
            SystemInputs::Dual(gram) => {
                let s = padded(lane, gram, gram.rows().next_multiple_of(TILE))?;
                let (rows, nodes, means) = (None, gram.rows(), None);
                Ok(Parts { s, rows, nodes, columns: 0, primal: false, means })
            }
        }
    }

    /// Rows of S, and those with the ones that fill the last tile.
    pub(crate) fn sizes(nodes: usize, columns: usize, primal: bool) -> (usize, usize) {
        let count = if primal { columns } else { nodes };
        (count, count.next_multiple_of(TILE))
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
    if primal {
        let f = Operand::new(address(&rows), size);
        let s = transposed_product(lane, (f, size), (f, size), nodes)?;
        Ok(Parts { s, rows: Some(rows), nodes, columns, primal, means: None })
    } else {
        let s = lane.zeros::<f64>(size * size)?;
        let out = Operand::new(address(&s), size);
        let f = Operand::new(address(&rows), columns);
        let product = Size { rows: nodes, columns: nodes, terms: columns, batch: 1 };
        lane.multiply(product, 1.0, (f, f.transposed()), 0.0, out)?;
        Ok(Parts { s, rows: Some(rows), nodes, columns, primal, means: None })
    }
}

/// AᵀB of two matrices with many rows, each given with its columns.
///
/// A small matrix of long sums leaves most of the GPU idle: the rows are divided, and the products of the parts added up.
pub(crate) fn transposed_product(
    lane: &Held,
    (a, rows): (Operand, usize),
    (b, columns): (Operand, usize),
    terms: usize,
) -> Result<CudaSlice<f64>> {
    let entries = rows * columns;
    let most = (PART_BYTES / (8 * entries).max(1)).clamp(1, PARTS);
    let count = (terms / PART_ROWS).clamp(1, most);
    let each = terms / count;
    let parts = lane.allocate::<f64>(count * entries)?;
    let to = Operand::new(address(&parts), columns).batched(entries);
    let batched = |operand: Operand| operand.batched(each * operand.stride);
    let size = Size { rows, columns, terms: each, batch: count };
    lane.multiply(size, 1.0, (batched(a).transposed(), batched(b)), 0.0, to)?;
    let rest = terms - count * each;
    if rest > 0 {
        let (a, b) = (a.at(count * each, 0), b.at(count * each, 0));
        let size = Size { rows, columns, terms: rest, batch: 1 };
        let first = Operand::new(address(&parts), columns);
        lane.multiply(size, 1.0, (a.transposed(), b), 1.0, first)?;
    }
    let sum = lane.allocate::<f64>(entries)?;
    lane.launch_each("add_parts", entries, arguments![&parts, &sum, count as u32, entries])?;
    Ok(sum)
}

/// The system of rows that are on the GPU.
fn gather(lane: &Held, gathered: &Gathered<'_>) -> Result<Parts> {
    let (nodes, columns) = (gathered.positions.len(), gathered.columns());
    let primal = gathered.is_primal();
    let stride = if primal { columns.next_multiple_of(TILE) } else { columns };
    let positions: Vec<u32> = gathered.positions.iter().map(|&row| row as u32).collect();
    let positions = lane.upload(&positions)?;
    // Columns that fill the last tile are zeros.
    let f = match stride == columns {
        true => lane.allocate::<f64>(nodes * stride)?,
        false => lane.zeros::<f64>(nodes * stride)?,
    };
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

/// Copies rows into longer ones.
pub(crate) fn copy_rows(
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
