//! Features on the GPU, as they are stored: dense, or compressed rows and columns. Those that are there already are used
//! where they are.

use crate::arguments::{address, arguments};
use crate::lanes::Held;
use crate::lent::Lent;
use crate::products::{Operand, Size};
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::device::ResidentArray;
use gfgcn::features::Features;
use gfgcn::matrix::{Matrix, SparseMatrix};
use std::ops::Range;
use std::sync::Arc;

/// Entries of dense features that are in double precision at a time.
const WIDENED: usize = 1 << 26;

/// Features that were sent, or stay where they are because they are too large.
#[derive(Debug)]
pub(crate) enum DeviceFeatures {
    Dense(Dense),
    Sparse(Box<Sparse>),
    Elsewhere,
}

/// Dense features, sent or already there.
#[derive(Debug)]
pub(crate) struct Dense {
    address: u64,
    _memory: Memory,
}

/// What stays for as long as the features are used.
#[derive(Debug)]
enum Memory {
    Own { _values: CudaSlice<f32> },
    Lent { _array: Arc<dyn ResidentArray<f32>> },
}

impl Dense {
    fn sent(values: CudaSlice<f32>) -> Self {
        Dense { address: address(&values), _memory: Memory::Own { _values: values } }
    }

    /// The features themselves, if they are on this GPU.
    fn lent(lane: &Held, features: &Matrix<f32>) -> Option<Self> {
        let array = features.resident()?;
        let address = array.as_any().downcast_ref::<Lent>()?.address_on(&lane.device)?;
        Some(Dense { address, _memory: Memory::Lent { _array: array.clone() } })
    }
}

#[derive(Debug)]
pub(crate) struct Sparse {
    offsets: CudaSlice<u64>,
    indices: CudaSlice<u32>,
    values: CudaSlice<f32>,
    /// The same by columns, for sums over nodes.
    column_offsets: CudaSlice<u64>,
    column_nodes: CudaSlice<u32>,
    column_values: CudaSlice<f32>,
}

impl DeviceFeatures {
    /// Sends features, if they take no more than so many bytes.
    pub(crate) fn new(lane: &Held, features: &Features, budget: u64) -> Result<Self> {
        if let Features::Dense(m) = features
            && let Some(there) = Dense::lent(lane, m)
        {
            return Ok(DeviceFeatures::Dense(there));
        }
        Ok(match features {
            // By columns as well.
            Features::Sparse(m) if 16 * features.nonzeros() as u64 <= budget => {
                DeviceFeatures::Sparse(Box::new(Sparse::new(lane, m)?))
            }
            Features::Dense(m) if features.memory() <= budget => {
                DeviceFeatures::Dense(Dense::sent(lane.upload(m.as_slice())?))
            }
            _ => DeviceFeatures::Elsewhere,
        })
    }

    /// v = before ∘ some columns of X, in rows of `stride`.
    pub(crate) fn fill(
        &self,
        lane: &Held,
        features: &Features,
        columns: Range<usize>,
        before: &CudaSlice<f64>,
        v: &mut CudaSlice<f32>,
        stride: usize,
    ) -> Result<()> {
        let (nodes, width) = (features.rows(), columns.len());
        let dense = |x: u64, of: usize, first: usize, v: &CudaSlice<f32>| {
            lane.launch_each(
                "fill_dense",
                nodes * stride,
                arguments![x, of, first, before, v, stride as u32, width as u32, nodes * stride],
            )
        };
        match self {
            DeviceFeatures::Dense(x) => dense(x.address, features.cols(), columns.start, v),
            DeviceFeatures::Sparse(x) => {
                lane.clear(v)?;
                lane.launch(
                    "fill_sparse",
                    (nodes.div_ceil(8), 1),
                    256,
                    arguments![
                        &x.offsets,
                        &x.indices,
                        &x.values,
                        columns.start as u32,
                        width as u32,
                        before,
                        &*v,
                        stride as u32,
                        nodes as u32,
                    ],
                )
            }
            DeviceFeatures::Elsewhere => {
                let mut slab = Matrix::<f32>::zeros(nodes, width);
                for node in 0..nodes {
                    let out = slab.row_mut(node);
                    features.for_each_in_row(node, |j, value| {
                        if columns.contains(&j) {
                            out[j - columns.start] = value;
                        }
                    });
                }
                let sent = lane.upload(slab.as_slice())?;
                dense(address(&sent), width, 0, v)
            }
        }
    }

    /// v = before ∘ (X W), in double precision.
    pub(crate) fn times(
        &self,
        lane: &Held,
        features: &Features,
        weights: &Matrix<f64>,
        before: &CudaSlice<f64>,
        v: &mut CudaSlice<f64>,
        stride: usize,
    ) -> Result<()> {
        let (nodes, width) = (features.rows(), weights.cols());
        lane.clear(v)?;
        let rows_of = |b: &CudaSlice<f64>, first: usize, rows: usize, v: &CudaSlice<f64>| {
            lane.launch_each(
                "fill_rows",
                rows * width,
                arguments![b, width as u32, before, v, stride as u32, first as u32, rows * width],
            )
        };
        match self {
            DeviceFeatures::Sparse(x) => {
                let w = lane.upload(weights.as_slice())?;
                lane.launch(
                    "times_sparse",
                    (nodes.div_ceil(8), width.div_ceil(32)),
                    256,
                    arguments![
                        &x.offsets,
                        &x.indices,
                        &x.values,
                        &w,
                        width as u32,
                        before,
                        &*v,
                        stride as u32,
                        nodes as u32,
                    ],
                )
            }
            DeviceFeatures::Dense(x) => {
                let w = lane.upload(weights.as_slice())?;
                self.in_pieces(lane, x, features, |wide, rows| {
                    let product = lane.allocate::<f64>(rows.len() * width)?;
                    lane.multiply(
                        Size { rows: rows.len(), columns: width, terms: features.cols(), batch: 1 },
                        1.0,
                        (wide, Operand::new(address(&w), width)),
                        0.0,
                        Operand::new(address(&product), width),
                    )?;
                    rows_of(&product, rows.start, rows.len(), v)
                })
            }
            DeviceFeatures::Elsewhere => {
                let product = lane.upload(features.times(weights).as_slice())?;
                rows_of(&product, 0, nodes, v)
            }
        }
    }

    /// PᵀX rounded to single precision, as rows first and on of `out`; P, at an address, has a column for each of them.
    pub(crate) fn transposed_times(
        &self,
        lane: &Held,
        features: &Features,
        p: u64,
        width: usize,
        out: &CudaSlice<f32>,
        first: usize,
    ) -> Result<()> {
        let columns = features.cols();
        let uploaded;
        let this = match self {
            DeviceFeatures::Elsewhere => {
                uploaded = DeviceFeatures::new(lane, features, u64::MAX)?;
                &uploaded
            }
            there => there,
        };
        match this {
            DeviceFeatures::Sparse(x) => lane.launch(
                "transposed_times_sparse",
                (columns.div_ceil(8), width.div_ceil(32)),
                256,
                arguments![
                    &x.column_offsets,
                    &x.column_nodes,
                    &x.column_values,
                    p,
                    width as u32,
                    out,
                    columns,
                    first,
                ],
            ),
            DeviceFeatures::Dense(x) => {
                let sums = lane.zeros::<f64>(width * columns)?;
                self.in_pieces(lane, x, features, |wide, rows| {
                    let p = Operand::new(p, width).at(rows.start, 0).transposed();
                    lane.multiply(
                        Size { rows: width, columns, terms: rows.len(), batch: 1 },
                        1.0,
                        (p, wide),
                        1.0,
                        Operand::new(address(&sums), columns),
                    )
                })?;
                let to = address(out) + 4 * (first * columns) as u64;
                lane.launch_each("narrow", width * columns, arguments![&sums, to, width * columns])
            }
            DeviceFeatures::Elsewhere => unreachable!("it was just sent"),
        }
    }

    /// Does something with the rows of dense features in double precision, some at a time.
    fn in_pieces(
        &self,
        lane: &Held,
        x: &Dense,
        features: &Features,
        mut work: impl FnMut(Operand, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let (nodes, columns) = (features.rows(), features.cols());
        let at_once = (WIDENED / columns.max(1)).clamp(1, nodes.max(1));
        let wide = lane.allocate::<f64>(at_once * columns)?;
        for start in (0..nodes).step_by(at_once) {
            let rows = start..nodes.min(start + at_once);
            let from = x.address + 4 * (start * columns) as u64;
            let entries = rows.len() * columns;
            lane.launch_each("widen", entries, arguments![from, &wide, entries])?;
            work(Operand::new(address(&wide), columns), rows)?;
        }
        Ok(())
    }
}

impl Sparse {
    fn new(lane: &Held, m: &SparseMatrix) -> Result<Self> {
        let (rows, columns) = (m.rows(), m.cols());
        let offsets: Vec<u64> = m.offsets().iter().map(|&offset| offset as u64).collect();
        let mut counts = vec![0u64; columns + 1];
        m.indices().iter().for_each(|&j| counts[j as usize + 1] += 1);
        (0..columns).for_each(|j| counts[j + 1] += counts[j]);
        let mut next = counts.clone();
        let mut column_nodes = vec![0u32; m.nnz()];
        let mut column_values = vec![0f32; m.nnz()];
        for row in 0..rows {
            let (own, of) = m.row(row);
            for (&j, &value) in own.iter().zip(of) {
                let at = next[j as usize] as usize;
                (column_nodes[at], column_values[at]) = (row as u32, value);
                next[j as usize] += 1;
            }
        }
        Ok(Sparse {
            offsets: lane.upload(&offsets)?,
            indices: lane.upload(m.indices())?,
            values: lane.upload(m.values())?,
            column_offsets: lane.upload(&counts)?,
            column_nodes: lane.upload(&column_nodes)?,
            column_values: lane.upload(&column_values)?,
        })
    }
}
