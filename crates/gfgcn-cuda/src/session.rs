//! Filters and scores: columns in slabs that fit, all filters in one pass.

use crate::device::{Gpu, Held, address, arguments};
use crate::features::DeviceFeatures;
use crate::graph::{DeviceSums, Real, Step};
use crate::rows::{CudaRows, Place};
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::device::{DeviceInput, Operation, ResidentRows, Session, Sums};
use gfgcn::driver::Side;
use gfgcn::filter::Basis;
use gfgcn::matrix::Matrix;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Products after which a cancelled work is noticed, at the latest.
const AT_ONCE: usize = 8;

/// What was sent for one piece of work.
#[derive(Debug)]
pub(crate) struct CudaSession {
    device: Arc<Gpu>,
    /// By the key of the operation, and whether they are those of the way there.
    graphs: Mutex<HashMap<(usize, bool), Arc<DeviceSums>>>,
    inputs: Mutex<HashMap<usize, Arc<DeviceFeatures>>>,
}

/// An operation whose arrays are on the GPU.
struct Sent<'a> {
    operation: &'a Operation<'a>,
    there: Option<(Arc<DeviceSums>, Sums<'a>)>,
    sums: Arc<DeviceSums>,
    before: CudaSlice<f64>,
    after: CudaSlice<f64>,
}

/// The nodes whose rows are kept, and the sums of all filters on them.
struct Kept<'a, T> {
    nodes: &'a CudaSlice<u32>,
    rows: usize,
    sums: &'a CudaSlice<T>,
    /// Columns of the sums, and the first of those that a slab has.
    columns: usize,
    first: usize,
}

impl CudaSession {
    pub(crate) fn new(device: Arc<Gpu>) -> Self {
        CudaSession { device, graphs: Mutex::default(), inputs: Mutex::default() }
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
            before: lane.upload(&operation.before)?,
            after: lane.upload(&operation.after)?,
        })
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
        nodes: &[u32],
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>> {
        let (columns, rows) = (input.features.cols(), nodes.len());
        let filters = sent.operation.polynomials.len();
        let features = self.input(lane, input)?;
        let on_gpu = lane.upload(nodes)?;
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
            features.fill(lane, input.features, slab.clone(), &sent.before, &mut v, stride)?;
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
        nodes: &[u32],
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>> {
        let (columns, rows, total) = (input.features.cols(), nodes.len(), sent.sums.nodes());
        let filters = sent.operation.polynomials.len();
        let features = self.input(lane, input)?;
        let on_gpu = lane.upload(nodes)?;
        let everywhere: Vec<u32> = (0..total as u32).collect();
        let everywhere = lane.upload(&everywhere)?;
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
                    &on_gpu,
                    slab.start as u32,
                    width as u32,
                    &sent.before,
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
        nodes: &[usize],
        context: &Context,
    ) -> Result<Vec<Arc<dyn ResidentRows>>> {
        let lane = self.device.lane()?;
        let sent = self.send(&lane, operation)?;
        let nodes: Vec<u32> = nodes.iter().map(|&node| node as u32).collect();
        match side {
            Side::Features => self.filter_features(&lane, &sent, input, &nodes, context),
            Side::Selectors => self.filter_selectors(&lane, &sent, input, &nodes, context),
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
        let everywhere: Vec<u32> = (0..total as u32).collect();
        let everywhere = lane.upload(&everywhere)?;
        let per_column = sent.bytes_per_column::<f64>() + 8 * total;
        let width = slab_width::<f64>(weights.cols(), self.device.free()?, per_column);
        for slab in slabs(weights.cols(), width) {
            let own = weights.select_columns(slab.clone());
            let (width, stride) = (own.cols(), own.cols().next_multiple_of(f64::LANES));
            let mut v = lane.allocate::<f64>(total * stride)?;
            features.times(&lane, input.features, &own, &sent.before, &mut v, stride)?;
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

impl Sent<'_> {
    /// Bytes that propagating one more column takes.
    fn bytes_per_column<T: Real>(&self) -> usize {
        size_of::<T>() * self.sums.nodes() * if self.there.is_some() { 3 } else { 2 }
    }

    /// Runs the recurrence from v_0 and adds every vector to the sums of the filters that have a term of it.
    fn propagate<T: Real>(
        &self,
        lane: &Held,
        first: CudaSlice<T>,
        width: usize,
        stride: usize,
        kept: &Kept<'_, T>,
        context: &Context,
    ) -> Result<()> {
        let polynomials = &self.operation.polynomials;
        let products = polynomials.iter().map(|p| p.len()).max().unwrap_or(1) - 1;
        let size = self.sums.nodes() * stride;
        let half = self.there.is_some().then(|| lane.allocate::<T>(size)).transpose()?;
        let second = if products > 0 { Some(lane.allocate::<T>(size)?) } else { None };
        let vectors = [Some(first), second];
        let vector = |k: usize| vectors[k % 2].as_ref().expect("there is a product");
        let terms = Terms::<T>::new(lane, polynomials, products)?;
        for k in 0..=products {
            if k > 0 {
                context.check()?;
                if k % AT_ONCE == 0 {
                    lane.finish()?;
                }
                let chebyshev = self.operation.basis == Basis::Chebyshev && k > 1;
                let (a, c) = if chebyshev { (2.0, -1.0) } else { (1.0, 0.0) };
                let mut x = vector(k - 1);
                if let (Some((there, sums)), Some(half)) = (&self.there, &half) {
                    let (a, c) = (T::from_f64(1.0), T::from_f64(0.0));
                    let step = Step { a, c, x, in_place: false, y: half, stride };
                    there.step(lane, sums, &step)?;
                    x = half;
                }
                let (a, c) = (T::from_f64(a), T::from_f64(c));
                let step = Step { a, c, x, in_place: chebyshev, y: vector(k), stride };
                self.sums.step(lane, &self.operation.sums, &step)?;
            }
            let Range { start, end } = terms.of(k);
            if start == end {
                continue;
            }
            lane.launch_each(
                &format!("accumulate_{}", T::NAME),
                kept.rows * width,
                arguments![
                    vector(k),
                    stride as u32,
                    width as u32,
                    kept.nodes,
                    kept.rows,
                    address(&terms.filters) + 4 * start as u64,
                    address(&terms.coefficients) + (size_of::<T>() * start) as u64,
                    (end - start) as u32,
                    kept.sums,
                    kept.columns,
                    kept.first,
                ],
            )?;
        }
        Ok(())
    }

    /// Multiplies the rows of so many entries of the sums by what comes after the polynomials.
    fn scale<T: Real>(&self, lane: &Held, kept: &Kept<'_, T>, entries: usize) -> Result<()> {
        lane.launch_each(
            &format!("scale_{}", T::NAME),
            entries,
            arguments![kept.sums, &self.after, kept.nodes, kept.rows, kept.columns, entries],
        )
    }
}

/// The coefficients of all filters by the vector they belong to, those that are not zero.
struct Terms<T> {
    /// Where those of each vector begin, and where the last one's end.
    first: Vec<usize>,
    filters: CudaSlice<u32>,
    coefficients: CudaSlice<T>,
}

impl<T: Real> Terms<T> {
    fn new(lane: &Held, polynomials: &[&[f64]], products: usize) -> Result<Self> {
        let (mut first, mut filters, mut coefficients) = (vec![0], Vec::new(), Vec::new());
        for k in 0..=products {
            for (polynomial, filter) in polynomials.iter().zip(0u32..) {
                if let Some(&c) = polynomial.get(k).filter(|c| **c != 0.0) {
                    filters.push(filter);
                    coefficients.push(T::from_f64(c));
                }
            }
            first.push(filters.len());
        }
        let (filters, coefficients) = (lane.upload(&filters)?, lane.upload(&coefficients)?);
        Ok(Terms { first, filters, coefficients })
    }

    fn of(&self, vector: usize) -> Range<usize> {
        self.first[vector]..self.first[vector + 1]
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
