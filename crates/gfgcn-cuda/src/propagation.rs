//! One pass over the graph: the recurrence of a basis, added to the sums of all filters.

use crate::arguments::{address, arguments};
use crate::graph::{DeviceSums, Real, Step};
use crate::lanes::Held;
use cudarc::driver::CudaSlice;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::device::{Operation, Sums};
use gfgcn::filter::Basis;
use std::ops::Range;
use std::sync::Arc;

/// Products after which a cancelled work is noticed, at the latest.
const AT_ONCE: usize = 8;

/// What rows are multiplied by before and after the polynomials.
#[derive(Debug)]
pub(crate) struct Scales {
    pub(crate) before: CudaSlice<f64>,
    pub(crate) after: CudaSlice<f64>,
}

/// An operation whose arrays are on the GPU.
pub(crate) struct Sent<'a> {
    pub(crate) operation: &'a Operation<'a>,
    pub(crate) there: Option<(Arc<DeviceSums>, Sums<'a>)>,
    pub(crate) sums: Arc<DeviceSums>,
    pub(crate) scales: Arc<Scales>,
}

/// The nodes whose rows are kept, and the sums of all filters on them.
pub(crate) struct Kept<'a, T> {
    pub(crate) nodes: &'a CudaSlice<u32>,
    pub(crate) rows: usize,
    pub(crate) sums: &'a CudaSlice<T>,
    /// Columns of the sums, and the first of those that a slab has.
    pub(crate) columns: usize,
    pub(crate) first: usize,
}

impl Sent<'_> {
    /// Bytes that propagating one more column takes.
    pub(crate) fn bytes_per_column<T: Real>(&self) -> usize {
        size_of::<T>() * self.sums.nodes() * if self.there.is_some() { 3 } else { 2 }
    }

    /// Runs the recurrence from v_0 and adds every vector to the sums of the filters that have a term of it.
    pub(crate) fn propagate<T: Real>(
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
    pub(crate) fn scale<T: Real>(
        &self,
        lane: &Held,
        kept: &Kept<'_, T>,
        entries: usize,
    ) -> Result<()> {
        lane.launch_each(
            &format!("scale_{}", T::NAME),
            entries,
            arguments![kept.sums, &self.scales.after, kept.nodes, kept.rows, kept.columns, entries],
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
