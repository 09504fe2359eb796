//! Filters and scores: columns in slabs that fit, all filters in one pass.

use crate::arguments::{address, arguments};
use crate::device::Gpu;
use crate::features::DeviceFeatures;
use crate::graph::{DeviceSums, Real};
use crate::lanes::Held;
use crate::propagation::{Kept, Scales, Sent};
use crate::rows::{CudaRows, Place};
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::device::{DeviceInput, Operation, ResidentRows, Session, Sums};
use gfgcn::driver::Side;
use gfgcn::matrix::Matrix;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What was sent for one piece of work.
#[derive(Debug)]
pub(crate) struct CudaSession {
    device: Arc<Gpu>,
    /// By the key of the operation, and whether they are those of the way there.
    graphs: Mutex<HashMap<(usize, bool), Arc<DeviceSums>>>,
    /// By the key of the operation.
    scales: Mutex<HashMap<usize, Arc<Scales>>>,
    inputs: Mutex<HashMap<usize, Arc<DeviceFeatures>>>,
    /// The numbers of so many nodes, from 0 on.
    numbers: Mutex<HashMap<usize, Arc<CudaSlice<u32>>>>,
}

impl CudaSession {
    pub(crate) fn new(device: Arc<Gpu>) -> Self {
        CudaSession {
            device,
            graphs: Mutex::default(),
            scales: Mutex::default(),
            inputs: Mutex::default(),
            numbers: Mutex::default(),
        }
    }

    fn send<'a>(&self, lane: &Held, operation: &'a Operation<'a>) -> Result<Sent<'a>> {
        let there = operation.there.map(|sums| {
            let sent = self.graph(lane, (operation.key, true), &sums)?;
            Ok::<_, gfgcn::Error>((sent, sums))
        });
        Ok(Sent {
            operation,
            there: there.transpose()?,
            sums: self.graph(lane, (operation.key, false), &operation.sums)?,
            scales: once(&self.scales, operation.key, || {
                let before: Vec<f64> = operation.outer.iter().map(|scale| scale.recip()).collect();
                let (before, after) = (lane.upload(&before)?, lane.upload(operation.outer)?);
                lane.finish()?;
                Ok(Scales { before, after })
            })?,
        })
    }

    /// The numbers of the nodes whose rows are asked for, all of them if none are named.
    fn nodes(
        &self,
        lane: &Held,
        total: usize,
        named: Option<&[usize]>,
    ) -> Result<Arc<CudaSlice<u32>>> {
        match named {
            Some(nodes) => {
                let nodes: Vec<u32> = nodes.iter().map(|&node| node as u32).collect();
                Ok(Arc::new(lane.upload(&nodes)?))
            }
            None => once(&self.numbers, total, || {
                let numbers = lane.upload(&(0..total as u32).collect::<Vec<u32>>())?;
                lane.finish()?;
                Ok(numbers)
            }),
        }
    }

    fn graph(&self, lane: &Held, key: (usize, bool), sums: &Sums<'_>) -> Result<Arc<DeviceSums>> {
        let budget = self.device.free()? / 2;
        once(&self.graphs, key, || {
            let sent = DeviceSums::new(lane, sums, budget)?;
            lane.finish()?;
            Ok(sent)
        })
    }

    fn input(&self, lane: &Held, input: DeviceInput<'_>) -> Result<Arc<DeviceFeatures>> {
        let budget = self.device.free()? / 3;
        once(&self.inputs, input.key, || {
            let sent = DeviceFeatures::new(lane, input.features, budget)?;
            lane.finish()?;
            Ok(sent)
        })
    }

    fn rows(&self, place: Place, rows: usize, cols: usize) -> Arc<dyn ResidentRows> {
        Arc::new(CudaRows { device: self.device.clone(), rows, cols, place })
    }

    /// From the side of the features: one column per feature, in single precision.
    fn filter_features(
        &self,
        lane: &Held,
        sent: &Sent<'_>,
        input: DeviceInput<'_>,
        nodes: Option<&[usize]>,
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>> {
        let total = sent.sums.nodes();
        let (columns, rows) = (input.features.cols(), nodes.map_or(total, <[usize]>::len));
        let filters = sent.operation.polynomials.len();
        let features = self.input(lane, input)?;
        let on_gpu = self.nodes(lane, total, nodes)?;
        let free = self.device.free()?;
        let kept_bytes = 4 * (filters * rows * columns) as u64;
        let stays = kept_bytes <= free / 2;
        let per_column =
            sent.bytes_per_column::<f32>() + if stays { 0 } else { 4 * filters * rows };
        let left = if stays { free - kept_bytes } else { free };
        let width = slab_width::<f32>(columns, left, per_column);
        let all = stays.then(|| lane.zeros::<f32>(filters * rows * columns)).transpose()?;
        let mut here = match stays {
            true => Vec::new(),
            false => vec![Matrix::<f32>::zeros(rows, columns); filters],
        };
        for slab in slabs(columns, width) {
            let stride = slab.len().next_multiple_of(f32::LANES);
            let mut v = lane.allocate::<f32>(sent.sums.nodes() * stride)?;
            features.fill(
                lane,
                input.features,
                slab.clone(),
                &sent.scales.before,
                &mut v,
                stride,
            )?;
            let own = match &all {
                Some(_) => None,
                None => Some(lane.zeros::<f32>(filters * rows * slab.len())?),
            };
            let kept = match (&all, &own) {
                (Some(all), _) => {
                    Kept { nodes: &on_gpu, rows, sums: all, columns, first: slab.start }
                }
                (None, Some(own)) => {
                    Kept { nodes: &on_gpu, rows, sums: own, columns: slab.len(), first: 0 }
                }
                (None, None) => unreachable!("one of them is there"),
            };
            sent.propagate(lane, v, slab.len(), stride, &kept, context)?;
            if let Some(own) = &own {
                let width = slab.len();
                sent.scale(lane, &kept, filters * rows * width)?;
                let values = lane.download(own, filters * rows * width)?;
                for (filter, out) in here.iter_mut().enumerate() {
                    for row in 0..rows {
                        let from = (filter * rows + row) * width;
                        out.row_mut(row)[slab.clone()].copy_from_slice(&values[from..from + width]);
                    }
                }
            }
        }
        if let Some(all) = all {
            let kept = Kept { nodes: &on_gpu, rows, sums: &all, columns, first: 0 };
            sent.scale(lane, &kept, filters * rows * columns)?;
            lane.finish()?;
            let all = Arc::new(all);
            let place = |filter| Place::OnGpu(all.clone(), filter * rows * columns);
            return Ok((0..filters)
                .map(|filter| self.rows(place(filter), rows, columns))
                .collect());
        }
        Ok(here.into_iter().map(|matrix| self.rows(Place::Here(matrix), rows, columns)).collect())
    }

    /// From the side of the nodes: one selector per node, in double precision, times the features in the end.
    fn filter_selectors(
        &self,
        lane: &Held,
        sent: &Sent<'_>,
        input: DeviceInput<'_>,
        nodes: Option<&[usize]>,
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>> {
        let (columns, total) = (input.features.cols(), sent.sums.nodes());
        let rows = nodes.map_or(total, <[usize]>::len);
        let filters = sent.operation.polynomials.len();
        let features = self.input(lane, input)?;
        let on_gpu = self.nodes(lane, total, nodes)?;
        let everywhere = self.nodes(lane, total, None)?;
        let out = lane.zeros::<f32>(filters * rows * columns)?;
        let per_column = sent.bytes_per_column::<f64>() + 8 * (filters * total + columns);
        let width = slab_width::<f64>(rows, self.device.free()?, per_column);
        for slab in slabs(rows, width) {
            let width = slab.len();
            let stride = width.next_multiple_of(f64::LANES);
            let v = lane.zeros::<f64>(total * stride)?;
            lane.launch_each(
                "fill_selectors",
                width,
                arguments![
                    &*on_gpu,
                    slab.start as u32,
                    width as u32,
                    &sent.scales.before,
                    &v,
                    stride as u32
                ],
            )?;
            let sums = lane.zeros::<f64>(filters * total * width)?;
            let kept =
                Kept { nodes: &everywhere, rows: total, sums: &sums, columns: width, first: 0 };
            sent.propagate(lane, v, width, stride, &kept, context)?;
            sent.scale(lane, &kept, filters * total * width)?;
            for filter in 0..filters {
                let p = address(&sums) + 8 * (filter * total * width) as u64;
                let first = filter * rows + slab.start;
                features.transposed_times(lane, input.features, p, width, &out, first)?;
            }
            lane.finish()?;
        }
        lane.finish()?;
        let out = Arc::new(out);
        let place = |filter| Place::OnGpu(out.clone(), filter * rows * columns);
        Ok((0..filters).map(|filter| self.rows(place(filter), rows, columns)).collect())
    }
}

impl Session for CudaSession {
    fn filter(
        &self,
        operation: &Operation<'_>,
        input: DeviceInput<'_>,
        side: Side,
        nodes: Option<&[usize]>,
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>> {
        let lane = self.device.lane()?;
        let sent = self.send(&lane, operation)?;
        match side {
            Side::Features => self.filter_features(&lane, &sent, input, nodes, context),
            Side::Selectors => self.filter_selectors(&lane, &sent, input, nodes, context),
        }
    }

    fn scores(
        &self,
        operation: &Operation<'_>,
        input: DeviceInput<'_>,
        weights: &Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let lane = self.device.lane()?;
        let sent = self.send(&lane, operation)?;
        let features = self.input(&lane, input)?;
        let total = sent.sums.nodes();
        let mut out = Matrix::zeros(total, weights.cols());
        let everywhere = self.nodes(&lane, total, None)?;
        let per_column = sent.bytes_per_column::<f64>() + 8 * total;
        // Half of it: systems may be solved meanwhile.
        let width = slab_width::<f64>(weights.cols(), self.device.free()? / 2, per_column);
        for slab in slabs(weights.cols(), width) {
            let own = weights.select_columns(slab.clone());
            let (width, stride) = (own.cols(), own.cols().next_multiple_of(f64::LANES));
            let mut v = lane.allocate::<f64>(total * stride)?;
            features.times(&lane, input.features, &own, &sent.scales.before, &mut v, stride)?;
            let sums = lane.zeros::<f64>(total * width)?;
            let kept =
                Kept { nodes: &everywhere, rows: total, sums: &sums, columns: width, first: 0 };
            sent.propagate(&lane, v, width, stride, &kept, context)?;
            sent.scale(&lane, &kept, total * width)?;
            let values = lane.download(&sums, total * width)?;
            if width == out.cols() {
                return Matrix::from_rows(total, width, values);
            }
            for (row, values) in values.chunks(width).enumerate() {
                out.row_mut(row)[slab.clone()].copy_from_slice(values);
            }
        }
        Ok(out)
    }
}

/// What is known under a key, or made now. Not made under the lock of another key's maker for long: senders of the same work
/// come one after the other.
fn once<K: std::hash::Hash + Eq, V>(
    known: &Mutex<HashMap<K, Arc<V>>>,
    key: K,
    make: impl FnOnce() -> Result<V>,
) -> Result<Arc<V>> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(&key) {
        return Ok(found.clone());
    }
    let made = Arc::new(make()?);
    known.insert(key, made.clone());
    Ok(made)
}

/// Columns of a slab: as many as fit into most of the memory that is left.
fn slab_width<T: Real>(columns: usize, free: u64, bytes_per_column: usize) -> usize {
    let fit = (free / 10 * 9 / bytes_per_column.max(1) as u64) as usize;
    let whole = fit / T::LANES * T::LANES;
    whole.max(T::LANES).min(columns.max(1))
}

fn slabs(columns: usize, width: usize) -> impl Iterator<Item = Range<usize>> {
    (0..columns).step_by(width).map(move |start| start..columns.min(start + width))
}
