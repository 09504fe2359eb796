//! The product kernel: sums over neighbours, many columns at a time.
//!
//! A block is a row-major array of some columns of every node. A row of the result is computed by
//! itself, in a fixed order — the node's own row, then its neighbours in the order of the graph —
//! whatever thread does it, however wide the block and whichever vector instructions run. So no way
//! of dividing the work changes a bit.

use super::rows::Rows;
use crate::scalar::Scalar;
use crate::simd::{Simd, prefetch};
use std::ops::Range;

/// Blocks that take more bytes than this are not at hand in any cache: rows are asked for early.
/// Below it the processor's own guesses are better.
const CACHED_BYTES: usize = 128 << 20;
/// How many neighbours ahead.
const AHEAD: usize = 16;

/// `y ← a·(row scale)·Ã·x + b·x + c·z`: one step of a three-term recurrence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<T> {
    pub(crate) a: T,
    pub(crate) b: T,
    pub(crate) c: T,
}

/// What an edge's row of x is multiplied by.
pub(super) trait EdgeFactor<T>: Copy + Sync {
    /// Whether every factor is 1.
    const ONE: bool;
    /// The factor of the edge stored at a position of the graph's arrays.
    fn edge(self, position: usize, neighbour: usize) -> T;
    /// The factor of a node's self-loop.
    fn own(self, node: usize) -> T;
}

/// Every edge counts 1.
#[derive(Clone, Copy)]
pub(super) struct Pattern;

/// Every edge has its weight, self-loops 1.
#[derive(Clone, Copy)]
pub(super) struct Weighted<'a>(pub(super) &'a [f32]);

/// As the inner factor, times a factor of the neighbour.
#[derive(Clone, Copy)]
pub(super) struct Scaled<'a, F>(pub(super) F, pub(super) &'a [f32]);

impl<T: Scalar> EdgeFactor<T> for Pattern {
    const ONE: bool = true;
    #[inline(always)]
    fn edge(self, _: usize, _: usize) -> T {
        T::from_f32(1.0)
    }
    #[inline(always)]
    fn own(self, _: usize) -> T {
        T::from_f32(1.0)
    }
}

impl<T: Scalar> EdgeFactor<T> for Weighted<'_> {
    const ONE: bool = false;
    #[inline(always)]
    fn edge(self, position: usize, _: usize) -> T {
        T::from_f32(self.0[position])
    }
    #[inline(always)]
    fn own(self, _: usize) -> T {
        T::from_f32(1.0)
    }
}

impl<T: Scalar, F: EdgeFactor<T>> EdgeFactor<T> for Scaled<'_, F> {
    const ONE: bool = false;
    #[inline(always)]
    fn edge(self, position: usize, neighbour: usize) -> T {
        self.0.edge(position, neighbour) * T::from_f32(self.1[neighbour])
    }
    #[inline(always)]
    fn own(self, node: usize) -> T {
        self.0.own(node) * T::from_f32(self.1[node])
    }
}

/// Everything about a step but the rows that it is taken on.
pub(super) struct Product<'a, T, F> {
    pub(super) graph: Rows<'a>,
    pub(super) factor: F,
    /// What the sum of each row is multiplied by.
    pub(super) row_scale: &'a [f64],
    pub(super) step: Step<T>,
    /// Entries from one row to the next, in x, y and z.
    pub(super) stride: usize,
    pub(super) x: &'a [T],
    /// z, where the old y is not meant.
    pub(super) z: Option<&'a [T]>,
}

impl<T: Scalar, F: EdgeFactor<T>> Product<'_, T, F> {
    /// Takes the step on some rows; `y` holds just those.
    pub(super) fn rows(&self, simd: Simd, rows: Range<usize>, y: &mut [T]) {
        self.rows_as(simd, size_of_val(self.x) > CACHED_BYTES, rows, y);
    }

    /// `far`: x is not at hand in a cache.
    fn rows_as(&self, simd: Simd, far: bool, rows: Range<usize>, y: &mut [T]) {
        simd.run(
            #[inline(always)]
            || {
                if far {
                    self.rows_inlined::<true>(rows, y);
                } else {
                    self.rows_inlined::<false>(rows, y);
                }
            },
        );
    }

    #[inline(always)]
    fn rows_inlined<const FAR: bool>(&self, rows: Range<usize>, y: &mut [T]) {
        for (node, y) in rows.zip(y.chunks_exact_mut(self.stride)) {
            let mut column = 0;
            // Sums of 256 bytes stay in the registers; what is left over goes by halves.
            if size_of::<T>() == 4 {
                while column + 64 <= self.stride {
                    self.lanes::<64, FAR>(node, column, y);
                    column += 64;
                }
            }
            while column + 32 <= self.stride {
                self.lanes::<32, FAR>(node, column, y);
                column += 32;
            }
            if column + 16 <= self.stride {
                self.lanes::<16, FAR>(node, column, y);
                column += 16;
            }
            if column + 8 <= self.stride {
                self.lanes::<8, FAR>(node, column, y);
                column += 8;
            }
            if column + 4 <= self.stride {
                self.lanes::<4, FAR>(node, column, y);
                column += 4;
            }
            match self.stride - column {
                3 => self.lanes::<3, FAR>(node, column, y),
                2 => self.lanes::<2, FAR>(node, column, y),
                1 => self.lanes::<1, FAR>(node, column, y),
                _ => {}
            }
        }
    }

    /// One node, `LANES` neighbouring columns.
    #[inline(always)]
    fn lanes<const LANES: usize, const FAR: bool>(&self, node: usize, column: usize, y: &mut [T]) {
        let lanes = |from: &[T], row: usize| -> [T; LANES] {
            let start = row * self.stride + column;
            from[start..start + LANES].try_into().expect("a slice of LANES entries")
        };
        let own = lanes(self.x, node);
        let mut sum = own;
        if !F::ONE {
            let factor = self.factor.own(node);
            sum.iter_mut().for_each(|s| *s = factor * *s);
        }
        let all = self.graph.neighbours;
        for position in self.graph.range(node) {
            if FAR && let Some(&ahead) = all.get(position + AHEAD) {
                let start = ahead as usize * self.stride + column;
                for line in (0..LANES).step_by(64 / size_of::<T>()) {
                    prefetch(self.x, start + line);
                }
            }
            let neighbour = all[position] as usize;
            let x = lanes(self.x, neighbour);
            if F::ONE {
                for l in 0..LANES {
                    sum[l] = sum[l] + x[l];
                }
            } else {
                let factor = self.factor.edge(position, neighbour);
                for l in 0..LANES {
                    sum[l] = sum[l] + factor * x[l];
                }
            }
        }
        let Step { a, b, c } = self.step;
        let scale = a * T::from_f64(self.row_scale[node]);
        sum.iter_mut().for_each(|s| *s = scale * *s);
        if b != T::default() {
            for l in 0..LANES {
                sum[l] = sum[l] + b * own[l];
            }
        }
        let y = &mut y[column..column + LANES];
        if c != T::default() {
            let old = match self.z {
                Some(z) => lanes(z, node),
                None => (&*y).try_into().expect("a slice of LANES entries"),
            };
            for l in 0..LANES {
                sum[l] = sum[l] + c * old[l];
            }
        }
        y.copy_from_slice(&sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    /// Whole numbers, so that sums are exact whatever their order.
    fn entry(i: usize, j: usize) -> f32 {
        ((i * 31 + j * 17) % 23) as f32 - 11.0
    }

    fn graph(nodes: u32, weighted: bool) -> Graph {
        let edges: Vec<(u32, u32)> =
            (0..4 * nodes).map(|k| (k * 7 % nodes, k * k % nodes)).collect();
        let weights: Vec<f32> = (0..edges.len()).map(|k| 1.0 + (k % 3) as f32).collect();
        Graph::from_edges(nodes as usize, &edges, weighted.then_some(&weights)).unwrap().0
    }

    /// Every level of vector instructions, the baseline among them, and every width of what is left
    /// over against sums written out.
    #[test]
    fn every_level_gives_the_sums_of_the_definition() {
        let nodes = 50;
        let step = Step { a: 0.5, b: -2.0, c: 3.0 };
        for (weighted, stride) in
            [false, true].into_iter().flat_map(|w| (1..=133).map(move |s| (w, s)))
        {
            let graph = graph(nodes, weighted);
            let n = graph.nodes();
            let x: Vec<f32> = (0..n * stride).map(|k| entry(k / stride, k % stride)).collect();
            let z: Vec<f32> = x.iter().rev().copied().collect();
            let row_scale: Vec<f64> = (0..n).map(|i| [1.0, 0.5, 2.0][i % 3]).collect();
            let expected: Vec<f32> = (0..n * stride)
                .map(|k| {
                    let (i, j) = (k / stride, k % stride);
                    let weights = graph.weights(i);
                    let neighbours = graph.neighbours(i).iter().enumerate();
                    let sum: f32 = neighbours
                        .map(|(e, &v)| weights.map_or(1.0, |w| w[e]) * x[v as usize * stride + j])
                        .sum();
                    0.5 * row_scale[i] as f32 * (x[k] + sum) - 2.0 * x[k] + 3.0 * z[k]
                })
                .collect();
            for &simd in Simd::available() {
                for (in_place, far) in [(false, false), (true, false), (false, true)] {
                    let z_given = (!in_place).then_some(z.as_slice());
                    let mut y = z.clone();
                    let parts = (graph.rows().weights, &row_scale);
                    run(simd, far, &graph, parts, step, stride, &x, z_given, &mut y);
                    assert_eq!(y, expected, "{simd:?}, {stride} columns, weighted {weighted}");
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // the fields of a product
    fn run(
        simd: Simd,
        far: bool,
        graph: &Graph,
        (weights, row_scale): (Option<&[f32]>, &Vec<f64>),
        step: Step<f32>,
        stride: usize,
        x: &[f32],
        z: Option<&[f32]>,
        y: &mut [f32],
    ) {
        let (rows, graph) = (0..graph.nodes(), graph.rows());
        match weights {
            Some(weights) => {
                let factor = Weighted(weights);
                Product { graph, factor, row_scale, step, stride, x, z }
                    .rows_as(simd, far, rows, y);
            }
            None => {
                let factor = Pattern;
                Product { graph, factor, row_scale, step, stride, x, z }
                    .rows_as(simd, far, rows, y);
            }
        }
    }
}
