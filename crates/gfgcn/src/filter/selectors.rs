//! Filtered features of a few nodes, from the side of the nodes.
//!
//! F_R = E_Rᵀ p(Â) X for a set R of nodes. When there are fewer nodes than features it is cheaper to
//! propagate one selector column per node, p(Â)ᵀ E_R, and to multiply by X, which stays as sparse
//! as it is, in the end. Both normalisations are W = D̃⁻¹Ã in disguise, and p(W)ᵀ = D̃ p(W) D̃⁻¹, so the
//! same kernel serves with other scalings before and after.

use super::slabs::{InOrder, Propagated, Shelf, Sink, Source, Sums};
use crate::error::Result;
use crate::features::Features;
use crate::matrix::Matrix;
use crate::simd::Simd;
use std::ops::Range;

/// One column per node, 1 at that node.
pub(crate) struct Selectors<'a> {
    /// Per node, the columns that select it: a range of `columns`.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    nodes: &'a [usize],
}

impl<'a> Selectors<'a> {
    /// Selectors of some nodes out of `total`.
    pub(crate) fn new(nodes: &'a [usize], total: usize) -> Self {
        let mut offsets = vec![0; total + 1];
        nodes.iter().for_each(|&node| offsets[node + 1] += 1);
        (0..total).for_each(|node| offsets[node + 1] += offsets[node]);
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_by_key(|&column| nodes[column as usize]);
        Selectors { offsets, columns: order, nodes }
    }
}

impl Source<f64> for Selectors<'_> {
    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
    fn cols(&self) -> usize {
        self.nodes.len()
    }
    fn fill(&self, row: usize, columns: Range<usize>, scale: f64, out: &mut [f64]) {
        for &column in &self.columns[self.offsets[row]..self.offsets[row + 1]] {
            if columns.contains(&(column as usize)) {
                out[column as usize - columns.start] = scale;
            }
        }
    }
}

/// Multiplies filtered selectors by the features: (p(Â)ᵀ E_R)ᵀ X, the rows of p(Â) X that belong to R.
///
/// The selectors are propagated in double precision, because their entries spread over all nodes and become small;
/// the product is rounded once, as all filtered features are.
pub(crate) struct TimesFeatures<'a> {
    features: &'a Features,
    parts: InOrder<Vec<Matrix<f32>>>,
    shelf: Option<Shelf>,
}

impl<'a> TimesFeatures<'a> {
    /// Products go to a shelf if there is one.
    pub(crate) fn new(features: &'a Features, shelf: Option<Shelf>) -> Self {
        TimesFeatures { features, parts: InOrder::new(), shelf }
    }

    /// The filtered features of each filter.
    pub(crate) fn finish(self, filters: usize) -> Vec<Propagated<f32>> {
        let mut of_filter: Vec<Vec<Matrix<f32>>> = vec![Vec::new(); filters];
        for part in self.parts.finish() {
            of_filter.iter_mut().zip(part).for_each(|(all, part)| all.push(part));
        }
        // One filter after the other, whose parts are then gone.
        of_filter.into_iter().map(|parts| Propagated::whole(Matrix::stacked(&parts))).collect()
    }
}

impl Sink<f64> for TimesFeatures<'_> {
    fn slab(&self, columns: Range<usize>, sums: &Sums<'_, f64>) -> Result<()> {
        self.features.ready(0..self.features.cols())?;
        let rows = |filter| {
            let rows = transposed_times(&sums.of(filter), self.features);
            match &self.shelf {
                None => Ok(rows),
                Some(shelf) => {
                    let shape = (rows.rows(), rows.cols());
                    shelf.keep((filter, &columns), shape, |put| put(rows.as_slice()))
                }
            }
        };
        self.parts.put(&columns, (0..sums.filters()).map(rows).collect::<Result<_>>()?);
        Ok(())
    }

    fn recall(&self, columns: &Range<usize>) -> Result<bool> {
        let Some(shelf) = &self.shelf else { return Ok(false) };
        let all = shelf.recall(columns, (columns.len(), self.features.cols()))?;
        Ok(all.map(|all| self.parts.put(columns, all)).is_some())
    }
}

/// Pᵀ X, rounded to single precision as all filtered features are.
fn transposed_times(p: &Matrix<f64>, features: &Features) -> Matrix<f32> {
    let width = p.cols();
    // Transposed while it is summed up, so that the columns of P are the vector.
    let mut sums = Matrix::<f64>::zeros(features.cols(), width);
    let add = |sum: &mut [f64], p: &[f64], value: f64| {
        for (s, p) in sum.iter_mut().zip(p) {
            *s += value * p;
        }
    };
    Simd::detect().run(
        #[inline(always)]
        || {
            for node in 0..p.rows() {
                features.for_each_in_row(node, |j, value| {
                    add(sums.row_mut(j), p.row(node), f64::from(value));
                });
            }
        },
    );
    Matrix::from_fn(width, features.cols(), |i, j| sums[(j, i)] as f32)
}
