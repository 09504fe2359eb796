//! Filtered features of a few nodes, from the side of the nodes.
//!
//! F_R = E_Rᵀ p(Â) X for a set R of nodes. When there are fewer nodes than features it is cheaper to
//! propagate one selector column per node, p(Â)ᵀ E_R, and to multiply by X, which stays as sparse
//! as it is, in the end. Both normalisations are W = D̃⁻¹Ã in disguise, and p(W)ᵀ = D̃ p(W) D̃⁻¹, so the
//! same kernel serves with other scalings before and after.

use super::FilterBank;
use super::propagate::{Layout, Propagated, Signal, Sums, propagate_blocks};
use crate::features::Features;
use crate::graph::Propagator;
use crate::matrix::Matrix;
use crate::simd::Simd;
use std::ops::Range;

/// One column per node, 1 at that node.
struct Selectors<'a> {
    /// Per node, the columns that select it: a range of `columns`.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    nodes: &'a [usize],
}

impl<'a> Selectors<'a> {
    fn new(nodes: &'a [usize], total: usize) -> Self {
        let mut offsets = vec![0; total + 1];
        nodes.iter().for_each(|&node| offsets[node + 1] += 1);
        (0..total).for_each(|node| offsets[node + 1] += offsets[node]);
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_by_key(|&column| nodes[column as usize]);
        Selectors { offsets, columns: order, nodes }
    }
}

impl Signal<f64> for Selectors<'_> {
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

/// The rows of p(Â) X that belong to `nodes`, for every filter of a bank.
///
/// Equal to what [`propagate`](super::propagate) gives with those rows, up to rounding. The columns
/// are propagated in double precision: their entries spread over all nodes and become small.
pub(crate) fn propagate_selectors(
    propagator: &Propagator<'_>,
    bank: &FilterBank,
    features: &Features,
    nodes: &[usize],
) -> Vec<Propagated<f32>> {
    let selectors = Selectors::new(nodes, propagator.nodes());
    let all: Vec<usize> = (0..propagator.nodes()).collect();
    let multiply = |_: Range<usize>, sums: Sums<'_, f64>| {
        let rows = |filter| {
            transposed_times(
                &sums.scaled(filter, |place| propagator.transposed_after(place)),
                features,
            )
        };
        (0..bank.len()).map(rows).collect::<Vec<Matrix<f32>>>()
    };
    let before = |place: usize| propagator.transposed_before(place);
    let layout = Layout::new::<f64>(propagator.nodes(), nodes.len());
    let blocks = propagate_blocks(layout, propagator, bank, &selectors, before, &all, multiply);
    let mut of_filter: Vec<Vec<Matrix<f32>>> = vec![Vec::new(); bank.len()];
    for block in blocks {
        of_filter.iter_mut().zip(block).for_each(|(all, part)| all.push(part));
    }
    of_filter.iter().map(|parts| Propagated::whole(Matrix::stacked(parts))).collect()
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
