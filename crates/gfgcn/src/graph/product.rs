//! The product kernel: sums over neighbours, many columns at a time.
//!
//! A block is a row-major array of some columns of every node. A row of the result is computed by
//! itself, in a fixed order — the node's own row, then its neighbours in the order of the graph —
//! whatever thread does it, however wide the block and whichever vector instructions run. So no way
//! of dividing the work changes a bit.
//!
//! One chain of additions is exact enough for the rows of most nodes, but a hub's sum of a million
//! neighbours in single precision drifts by parts per thousand. Long rows are summed up in blocks, and
//! the sums of the blocks in double precision.

use super::rows::Rows;
use crate::pages::LINE;
use crate::scalar::Scalar;
use crate::simd::{Simd, prefetch};
use std::ops::Range;

/// Where the columns that are summed up together take more bytes than this, they are beyond the cache of a core: rows are
/// prefetched. Below it the processor's own guesses are better.
const CACHED_BYTES: usize = 4 << 20;
/// Bytes of a row that are summed up together, at most: they stay in the registers.
pub(super) const PASS_BYTES: usize = 256;
/// How many neighbours ahead.
const AHEAD: usize = 32;
/// Rows of more neighbours than this are summed up in blocks.
const HUB: u64 = 256;
/// Neighbours in a block, and those that are added up before they are added to the block's sum.
const BLOCK: usize = 64;
const GROUP: usize = 8;

/// `y ← a·(row scale)·Ã·x + b·x + c·z`: one step of a three-term recurrence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<T> {
    pub(crate) a: T,
    pub(crate) b: T,
    pub(crate) c: T,
}

/// What an edge's row of x is multiplied by.
pub(super) trait EdgeFactor<T>: Copy + Sync {
    /// Whether the factor of every edge is 1.
    const ONE: bool;
    /// Whether the factor of every self-loop is 1.
    const OWN_ONE: bool;
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

/// As the inner factor, self-loops of another weight.
#[derive(Clone, Copy)]
pub(super) struct Looped<F>(pub(super) F, pub(super) f32);

/// As the inner factor, times a factor of the neighbour.
#[derive(Clone, Copy)]
pub(super) struct Scaled<'a, F>(pub(super) F, pub(super) &'a [f32]);

impl<T: Scalar> EdgeFactor<T> for Pattern {
    const ONE: bool = true;
    const OWN_ONE: bool = true;
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
    const OWN_ONE: bool = true;
    #[inline(always)]
    fn edge(self, position: usize, _: usize) -> T {
        T::from_f32(self.0[position])
    }
    #[inline(always)]
    fn own(self, _: usize) -> T {
        T::from_f32(1.0)
    }
}

impl<T: Scalar, F: EdgeFactor<T>> EdgeFactor<T> for Looped<F> {
    const ONE: bool = F::ONE;
    const OWN_ONE: bool = false;
    #[inline(always)]
    fn edge(self, position: usize, neighbour: usize) -> T {
        self.0.edge(position, neighbour)
    }
    #[inline(always)]
    fn own(self, node: usize) -> T {
        self.0.own(node) * T::from_f32(self.1)
    }
}

impl<T: Scalar, F: EdgeFactor<T>> EdgeFactor<T> for Scaled<'_, F> {
    const ONE: bool = false;
    const OWN_ONE: bool = false;
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
    /// Rows of x; what follows them counts as zero. Where some are missing, neighbours are in ascending order.
    pub(super) known: usize,
    /// z, where the old y is not meant.
    pub(super) z: Option<&'a [T]>,
}

impl<T: Scalar, F: EdgeFactor<T>> Product<'_, T, F> {
    /// Takes the step on some rows; `y` holds just those.
    pub(super) fn rows(&self, simd: Simd, rows: Range<usize>, y: &mut [T]) {
        let summed = PASS_BYTES.min(self.stride * size_of::<T>());
        self.rows_as(simd, self.known * summed > CACHED_BYTES, rows, y);
    }

    /// `far`: x is not at hand in a cache.
    fn rows_as(&self, simd: Simd, far: bool, rows: Range<usize>, mut y: &mut [T]) {
        // Hubs are found first, so that the loop over ordinary rows need not look for them.
        let mut start = rows.start;
        while start < rows.end {
            let mut lengths = self.graph.offsets[start..=rows.end].windows(2).map(|w| w[1] - w[0]);
            let hub = start + lengths.position(|l| l > HUB).unwrap_or(rows.end - start);
            let (ordinary, rest) = y.split_at_mut((hub - start) * self.stride);
            self.run::<false>(simd, far, start..hub, ordinary);
            let end = rows.end.min(hub + 1);
            let (long, rest) = rest.split_at_mut((end - hub) * self.stride);
            if hub < end {
                self.run::<true>(simd, far, hub..end, long);
            }
            (start, y) = (end, rest);
        }
    }

    /// Rows that are all `BLOCKED`, or none.
    fn run<const BLOCKED: bool>(&self, simd: Simd, far: bool, rows: Range<usize>, y: &mut [T]) {
        simd.run(
            #[inline(always)]
            || {
                if far {
                    self.rows_inlined::<true, BLOCKED>(rows, y);
                } else {
                    self.rows_inlined::<false, BLOCKED>(rows, y);
                }
            },
        );
    }

    #[inline(always)]
    fn rows_inlined<const FAR: bool, const BLOCKED: bool>(&self, rows: Range<usize>, y: &mut [T]) {
        for (node, y) in rows.zip(y.chunks_exact_mut(self.stride)) {
            self.row::<FAR, BLOCKED>(node, y);
        }
    }

    /// The positions of a node's neighbours that x has rows of.
    #[inline(always)]
    fn positions(&self, node: usize) -> Range<usize> {
        let all = self.graph.range(node);
        if self.known == self.graph.nodes() {
            return all;
        }
        let known = |&neighbour: &u32| (neighbour as usize) < self.known;
        all.start..all.start + self.graph.neighbours[all].partition_point(known)
    }

    #[inline(always)]
    fn row<const FAR: bool, const BLOCKED: bool>(&self, node: usize, y: &mut [T]) {
        let positions = &self.positions(node);
        let mut column = 0;
        // What is left over goes by halves.
        if size_of::<T>() == 4 {
            while column + 64 <= self.stride {
                self.lanes::<64, FAR, BLOCKED>(node, positions, column, y);
                column += 64;
            }
        }
        while column + 32 <= self.stride {
            self.lanes::<32, FAR, BLOCKED>(node, positions, column, y);
            column += 32;
        }
        if column + 16 <= self.stride {
            self.lanes::<16, FAR, BLOCKED>(node, positions, column, y);
            column += 16;
        }
        if column + 8 <= self.stride {
            self.lanes::<8, FAR, BLOCKED>(node, positions, column, y);
            column += 8;
        }
        if column + 4 <= self.stride {
            self.lanes::<4, FAR, BLOCKED>(node, positions, column, y);
            column += 4;
        }
        match self.stride - column {
            3 => self.lanes::<3, FAR, BLOCKED>(node, positions, column, y),
            2 => self.lanes::<2, FAR, BLOCKED>(node, positions, column, y),
            1 => self.lanes::<1, FAR, BLOCKED>(node, positions, column, y),
            _ => {}
        }
    }

    /// One node, `LANES` neighbouring columns.
    #[inline(always)]
    fn lanes<const LANES: usize, const FAR: bool, const BLOCKED: bool>(
        &self,
        node: usize,
        positions: &Range<usize>,
        column: usize,
        y: &mut [T],
    ) {
        let own: [T; LANES] =
            if node < self.known { self.load(self.x, node, column) } else { [T::default(); LANES] };
        let mut sum = own;
        if !F::OWN_ONE {
            let factor = self.factor.own(node);
            sum.iter_mut().for_each(|s| *s = factor * *s);
        }
        if BLOCKED {
            self.add_blocks::<LANES, FAR>(positions.clone(), column, &mut sum);
        } else {
            self.add::<LANES, FAR>(positions.clone(), column, &mut sum);
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
            let old: [T; LANES] = match self.z {
                Some(z) => self.load(z, node, column),
                None => (&*y).try_into().expect("a slice of LANES entries"),
            };
            for l in 0..LANES {
                sum[l] = sum[l] + c * old[l];
            }
        }
        y.copy_from_slice(&sum);
    }

    #[inline(always)]
    fn load<const LANES: usize>(&self, from: &[T], row: usize, column: usize) -> [T; LANES] {
        let start = row * self.stride + column;
        from[start..start + LANES].try_into().expect("a slice of LANES entries")
    }

    /// Adds the neighbours at some positions, one after the other.
    #[inline(always)]
    fn add<const LANES: usize, const FAR: bool>(
        &self,
        positions: Range<usize>,
        column: usize,
        sum: &mut [T; LANES],
    ) {
        let all = self.graph.neighbours;
        for position in positions {
            if FAR && let Some(&ahead) = all.get(position + AHEAD) {
                let start = ahead as usize * self.stride + column;
                for line in (0..LANES).step_by(LINE / size_of::<T>()) {
                    prefetch(self.x, start + line);
                }
            }
            let neighbour = all[position] as usize;
            let x: [T; LANES] = self.load(self.x, neighbour, column);
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
    }

    /// Adds the neighbours at many positions, block by block, each in groups; the sums of the blocks are
    /// added up in double precision, and the total is rounded once.
    #[inline(always)]
    fn add_blocks<const LANES: usize, const FAR: bool>(
        &self,
        positions: Range<usize>,
        column: usize,
        sum: &mut [T; LANES],
    ) {
        let mut total = [0.0; LANES];
        for l in 0..LANES {
            total[l] = sum[l].to_f64();
        }
        for start in positions.clone().step_by(BLOCK) {
            let mut block = [T::default(); LANES];
            let end = positions.end.min(start + BLOCK);
            for start in (start..end).step_by(GROUP) {
                let mut group = [T::default(); LANES];
                self.add::<LANES, FAR>(start..end.min(start + GROUP), column, &mut group);
                for l in 0..LANES {
                    block[l] = block[l] + group[l];
                }
            }
            accumulate(&mut total, &block);
        }
        for l in 0..LANES {
            sum[l] = T::from_f64(total[l]);
        }
    }
}

/// Adds to sums in double precision. A call once per block: written out in the loop, the two widths of
/// numbers make the compiler shuffle the sums of single precision for every neighbour.
#[inline(never)]
fn accumulate<T: Scalar>(total: &mut [f64], block: &[T]) {
    for (total, &sum) in total.iter_mut().zip(block) {
        *total += sum.to_f64();
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

    /// A graph with a hub: the first node's row ends within a block and within a group.
    fn graph(nodes: u32, weighted: bool) -> Graph {
        assert!(u64::from(nodes) > HUB + 1 && !(nodes as usize - 1).is_multiple_of(GROUP));
        let edges = (0..4 * nodes).map(|k| (k * 7 % nodes, k * k % nodes));
        let edges: Vec<(u32, u32)> = edges.chain((1..nodes).map(|leaf| (0, leaf))).collect();
        let weights: Vec<f32> = (0..edges.len()).map(|k| 1.0 + (k % 3) as f32).collect();
        Graph::from_edges(nodes as usize, &edges, weighted.then_some(&weights)).unwrap().0
    }

    /// Every level of vector instructions, the baseline among them, and every width of what is left
    /// over against sums written out.
    #[test]
    fn every_level_gives_the_sums_of_the_definition() {
        let nodes = 340;
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

    /// Where sums are rounded, the order of the additions is the one that is promised: a chain, or
    /// blocks for a hub, at every level and width.
    #[test]
    fn sums_are_rounded_as_promised_at_every_level() {
        let graph = graph(340, false);
        let (n, ones) = (graph.nodes(), vec![1.0; graph.nodes()]);
        let value = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 9973) as f32 / 9973.0 + 0.1;
        let chain = |values: &[f32]| values.iter().fold(0.0, |sum: f32, value| sum + value);
        let expected = |i: usize, j: usize| -> f32 {
            let neighbours = graph.neighbours(i).iter();
            let values: Vec<f32> = neighbours.map(|&v| value(v as usize, j)).collect();
            if values.len() <= 256 {
                return values.iter().fold(value(i, j), |sum, value| sum + value);
            }
            let blocks = values.chunks(64).map(|block| {
                let groups: Vec<f32> = block.chunks(8).map(chain).collect();
                f64::from(chain(&groups))
            });
            blocks.fold(f64::from(value(i, j)), |sum, block| sum + block) as f32
        };
        for stride in [1, 3, 16, 77, 128] {
            let x: Vec<f32> = (0..n * stride).map(|k| value(k / stride, k % stride)).collect();
            let expected: Vec<f32> =
                (0..n * stride).map(|k| expected(k / stride, k % stride)).collect();
            for &simd in Simd::available() {
                for far in [false, true] {
                    let step = Step { a: 1.0, b: 0.0, c: 0.0 };
                    let mut y = vec![0.0; n * stride];
                    run(simd, far, &graph, (None, &ones), step, stride, &x, None, &mut y);
                    assert!(y == expected, "{simd:?}, {stride} columns");
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
        let (rows, known, graph) = (0..graph.nodes(), graph.nodes(), graph.rows());
        match weights {
            Some(weights) => {
                let factor = Weighted(weights);
                Product { graph, factor, row_scale, step, stride, x, known, z }
                    .rows_as(simd, far, rows, y);
            }
            None => {
                let factor = Pattern;
                Product { graph, factor, row_scale, step, stride, x, known, z }
                    .rows_as(simd, far, rows, y);
            }
        }
    }
}
