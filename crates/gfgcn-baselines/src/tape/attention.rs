//! Attention over the edges of a graph, with its softmax, in one go.
//!
//! ```text
//! s_j = ⟨a_source, h_j⟩      t_i = ⟨a_target, h_i⟩            for every head
//! α_ij = softmax_j leaky(s_j + t_i)                            over the neighbours j of i, and i itself
//! out_i = Σ_j dropout(α_ij) h_j
//! ```
//!
//! Nothing of the size edges × head dimension ever exists; what is kept for the way back is one
//! number per edge and head.

use super::buffers::Buffers;
use super::parallel::{over_rows, sum_over_rows};
use crate::random::Dropout;
use gfgcn::graph::Graph;
use gfgcn::matrix::Matrix;

/// The slope of the leaky rectifier below zero.
const SLOPE: f32 = 0.2;

/// The entries of Ã, row by row: a node's own first, then its neighbours.
#[derive(Debug)]
pub(crate) struct Edges {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    /// Where the entry (j, i) of an entry (i, j) stands.
    reverse: Vec<u32>,
}

impl Edges {
    pub(crate) fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes();
        let offsets: Vec<usize> =
            (0..=nodes).map(|node| graph.offsets()[node] as usize + node).collect();
        let mut columns = Vec::with_capacity(offsets[nodes]);
        let mut reverse = Vec::with_capacity(offsets[nodes]);
        // Going through the nodes in order, the entries of a column come in order too.
        let mut next: Vec<u32> = offsets[..nodes].iter().map(|&start| start as u32 + 1).collect();
        for node in 0..nodes {
            columns.push(node as u32);
            reverse.push(offsets[node] as u32);
            for &neighbour in graph.neighbours(node) {
                columns.push(neighbour);
                let place = &mut next[neighbour as usize];
                reverse.push(*place);
                *place += 1;
            }
        }
        Edges { offsets, columns, reverse }
    }

    fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    fn entries(&self) -> usize {
        self.columns.len()
    }
}

/// The shape of an attention layer: the columns of h are `heads` groups of `width`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) heads: usize,
    pub(crate) width: usize,
}

impl Shape {
    /// Calls `f` with the shape, known to the compiler where it is the usual one.
    #[inline(always)]
    fn specialised<R>(self, f: impl FnOnce(Shape) -> R) -> R {
        match self {
            Shape { heads: 8, width: 8 } => f(Shape { heads: 8, width: 8 }),
            Shape { heads: 1, width } => f(Shape { heads: 1, width }),
            _ => f(self),
        }
    }
}

/// What the way back needs to know.
#[derive(Debug)]
pub(crate) struct Saved {
    /// s and t, nodes × heads.
    source: Matrix<f32>,
    target: Matrix<f32>,
    /// α before dropout, entries × heads.
    alpha: Matrix<f32>,
}

impl Saved {
    pub(crate) fn give_back(self, buffers: &mut Buffers) {
        [self.source, self.target, self.alpha].into_iter().for_each(|m| buffers.give(m));
    }
}

/// The gradients with respect to h, a_source and a_target.
pub(crate) struct Gradients {
    pub(crate) h: Matrix<f32>,
    pub(crate) a_source: Matrix<f32>,
    pub(crate) a_target: Matrix<f32>,
}

/// h is nodes × (heads · width), the vectors are 1 × (heads · width); so is the result as h.
pub(crate) fn forward(
    edges: &Edges,
    shape: Shape,
    h: &Matrix<f32>,
    (a_source, a_target): (&Matrix<f32>, &Matrix<f32>),
    dropout: Option<Dropout>,
    buffers: &mut Buffers,
) -> (Matrix<f32>, Saved) {
    let source = projections(shape, h, a_source, buffers);
    let target = projections(shape, h, a_target, buffers);
    let mut alpha = buffers.take(edges.entries(), shape.heads);
    let mut out = buffers.take(h.rows(), h.cols());
    let heads = shape.heads;
    softmax(edges, heads, &source, &target, &mut alpha);
    over_rows(
        out.as_mut_slice(),
        h.cols(),
        edges.entries() * h.cols(),
        #[inline(always)]
        |rows, out| {
            shape.specialised(
                #[inline(always)]
                |shape| {
                    for (node, out) in rows.zip(out.chunks_exact_mut(h.cols())) {
                        out.fill(0.0);
                        for entry in edges.offsets[node]..edges.offsets[node + 1] {
                            let neighbour = h.row(edges.columns[entry] as usize);
                            add_weighted(shape, &alpha, dropout, entry, neighbour, out);
                        }
                    }
                },
            );
        },
    );
    (out, Saved { source, target, alpha })
}

/// The way back from the gradient with respect to the result.
pub(crate) fn backward(
    edges: &Edges,
    shape: Shape,
    h: &Matrix<f32>,
    (a_source, a_target): (&Matrix<f32>, &Matrix<f32>),
    dropout: Option<Dropout>,
    saved: &Saved,
    gradient: &Matrix<f32>,
    buffers: &mut Buffers,
) -> Gradients {
    let (nodes, heads) = (edges.nodes(), shape.heads);
    let mut of_entries = buffers.take(edges.entries(), heads);
    entry_gradients(edges, shape, h, dropout, saved, gradient, &mut of_entries);
    // t_i meets the entries of row i, s_j those of column j.
    let mut of_target = buffers.take(nodes, heads);
    let mut of_source = buffers.take(nodes, heads);
    add_entries(edges, heads, &of_entries, false, &mut of_target);
    add_entries(edges, heads, &of_entries, true, &mut of_source);
    let mut of_h = buffers.take(h.rows(), h.cols());
    let (a_source, a_target) = (a_source.as_slice(), a_target.as_slice());
    over_rows(
        of_h.as_mut_slice(),
        h.cols(),
        edges.entries() * h.cols(),
        #[inline(always)]
        |rows, out| {
            shape.specialised(
                #[inline(always)]
                |shape| {
                    for (node, out) in rows.zip(out.chunks_exact_mut(h.cols())) {
                        let (ds, dt) = (of_source.row(node), of_target.row(node));
                        for head in 0..shape.heads {
                            for k in head * shape.width..(head + 1) * shape.width {
                                out[k] = ds[head] * a_source[k] + dt[head] * a_target[k];
                            }
                        }
                        for entry in edges.offsets[node]..edges.offsets[node + 1] {
                            let from = gradient.row(edges.columns[entry] as usize);
                            let entry = edges.reverse[entry] as usize;
                            add_weighted(shape, &saved.alpha, dropout, entry, from, out);
                        }
                    }
                },
            );
        },
    );
    let gradients = Gradients {
        h: of_h,
        a_source: weighted_rows(shape, h, &of_source, buffers),
        a_target: weighted_rows(shape, h, &of_target, buffers),
    };
    [of_entries, of_target, of_source].into_iter().for_each(|m| buffers.give(m));
    gradients
}

/// `out += dropout(α_entry) · row`, head by head.
#[inline(always)]
fn add_weighted(
    shape: Shape,
    alpha: &Matrix<f32>,
    dropout: Option<Dropout>,
    entry: usize,
    row: &[f32],
    out: &mut [f32],
) {
    let Shape { heads, width } = shape;
    let alpha = &alpha.row(entry)[..heads];
    for head in 0..heads {
        let kept = dropout.map_or(1.0, |dropout| dropout.factor(entry * heads + head));
        let weight = kept * alpha[head];
        let columns = head * width..(head + 1) * width;
        for (out, x) in out[columns.clone()].iter_mut().zip(&row[columns]) {
            *out += weight * x;
        }
    }
}

/// ⟨a, h_i⟩ for every node and head.
fn projections(
    shape: Shape,
    h: &Matrix<f32>,
    a: &Matrix<f32>,
    buffers: &mut Buffers,
) -> Matrix<f32> {
    let mut out = buffers.take(h.rows(), shape.heads);
    over_rows(
        out.as_mut_slice(),
        shape.heads,
        h.rows() * h.cols(),
        #[inline(always)]
        |rows, out| {
            for (node, out) in rows.zip(out.chunks_exact_mut(shape.heads)) {
                let parts = h.row(node).chunks_exact(shape.width);
                for ((out, h), a) in out.iter_mut().zip(parts).zip(a.row(0).chunks(shape.width)) {
                    *out = h.iter().zip(a).map(|(h, a)| h * a).sum();
                }
            }
        },
    );
    out
}

/// Σ_i weights_i h_i, head by head: the transpose of [`projections`] with respect to a.
fn weighted_rows(
    shape: Shape,
    h: &Matrix<f32>,
    weights: &Matrix<f32>,
    buffers: &mut Buffers,
) -> Matrix<f32> {
    let mut out = buffers.take(1, h.cols());
    sum_over_rows(
        out.as_mut_slice(),
        h.rows(),
        h.rows() * h.cols(),
        #[inline(always)]
        |rows, sum| {
            for node in rows {
                let parts = sum.chunks_exact_mut(shape.width);
                let h = h.row(node).chunks_exact(shape.width);
                for ((sum, h), weight) in parts.zip(h).zip(weights.row(node)) {
                    sum.iter_mut().zip(h).for_each(|(sum, h)| *sum += weight * h);
                }
            }
        },
    );
    out
}

/// α for every entry: the softmax of leaky(s_j + t_i) over each row.
fn softmax(
    edges: &Edges,
    heads: usize,
    source: &Matrix<f32>,
    target: &Matrix<f32>,
    alpha: &mut Matrix<f32>,
) {
    over_entries(edges, heads, alpha, |node, row| {
        let t = target.row(node);
        let columns = &edges.columns[edges.offsets[node]..edges.offsets[node + 1]];
        for (row, &column) in row.chunks_exact_mut(heads).zip(columns) {
            let s = source.row(column as usize);
            for head in 0..heads {
                row[head] = leaky(s[head] + t[head]);
            }
        }
        for head in 0..heads {
            let largest = row[head..].iter().step_by(heads).fold(f32::MIN, |m, &x| m.max(x));
            row[head..].iter_mut().step_by(heads).for_each(|x| *x -= largest);
        }
        row.iter_mut().for_each(|x| *x = exp(*x));
        for head in 0..heads {
            let total: f32 = row[head..].iter().step_by(heads).sum();
            let factor = total.recip();
            row[head..].iter_mut().step_by(heads).for_each(|x| *x *= factor);
        }
    });
}

/// The gradients with respect to s_j + t_i, for every entry.
fn entry_gradients(
    edges: &Edges,
    shape: Shape,
    h: &Matrix<f32>,
    dropout: Option<Dropout>,
    saved: &Saved,
    gradient: &Matrix<f32>,
    out: &mut Matrix<f32>,
) {
    let Shape { heads, .. } = shape;
    over_entries(edges, heads, out, |node, out| {
        shape.specialised(
            #[inline(always)]
            |Shape { heads, width }| {
                let start = edges.offsets[node];
                let gradient = gradient.row(node);
                for (k, out) in out.chunks_exact_mut(heads).enumerate() {
                    let entry = start + k;
                    let neighbour = h.row(edges.columns[entry] as usize);
                    for head in 0..heads {
                        let columns = head * width..(head + 1) * width;
                        let products = neighbour[columns.clone()].iter().zip(&gradient[columns]);
                        let kept =
                            dropout.map_or(1.0, |dropout| dropout.factor(entry * heads + head));
                        out[head] = kept * products.map(|(h, g)| h * g).sum::<f32>();
                    }
                }
                let alpha = &saved.alpha.as_slice()[start * heads..start * heads + out.len()];
                let t = saved.target.row(node);
                for head in 0..heads {
                    let of_head = alpha[head..].iter().step_by(heads);
                    let mean: f32 =
                        of_head.zip(out[head..].iter().step_by(heads)).map(|(a, g)| a * g).sum();
                    for k in 0..out.len() / heads {
                        let s = saved.source.row(edges.columns[start + k] as usize)[head];
                        let slope = if s + t[head] > 0.0 { 1.0 } else { SLOPE };
                        let place = k * heads + head;
                        out[place] = alpha[place] * (out[place] - mean) * slope;
                    }
                }
            },
        );
    });
}

/// Adds the entries of every row, or of every column, up.
fn add_entries(
    edges: &Edges,
    heads: usize,
    entries: &Matrix<f32>,
    of_columns: bool,
    out: &mut Matrix<f32>,
) {
    over_rows(
        out.as_mut_slice(),
        heads,
        edges.entries() * heads,
        #[inline(always)]
        |rows, out| {
            for (node, out) in rows.zip(out.chunks_exact_mut(heads)) {
                out.fill(0.0);
                for entry in edges.offsets[node]..edges.offsets[node + 1] {
                    let place = if of_columns { edges.reverse[entry] as usize } else { entry };
                    for (out, value) in out.iter_mut().zip(entries.row(place)) {
                        *out += value;
                    }
                }
            }
        },
    );
}

/// Calls `f(node, entries of its row)` for every node.
fn over_entries(
    edges: &Edges,
    heads: usize,
    entries: &mut Matrix<f32>,
    f: impl Fn(usize, &mut [f32]) + Sync,
) {
    use gfgcn::simd::Simd;
    use rayon::prelude::*;
    /// Nodes that a task takes.
    const NODES: usize = 512;
    let simd = Simd::detect();
    let mut parts = Vec::new();
    let mut rest = entries.as_mut_slice();
    for start in (0..edges.nodes()).step_by(NODES) {
        let end = edges.nodes().min(start + NODES);
        let (part, after) = rest.split_at_mut((edges.offsets[end] - edges.offsets[start]) * heads);
        parts.push((start..end, part));
        rest = after;
    }
    parts.into_par_iter().for_each(|(nodes, mut part)| {
        simd.run(
            #[inline(always)]
            || {
                for node in nodes {
                    let entries = edges.offsets[node + 1] - edges.offsets[node];
                    let (row, after) = std::mem::take(&mut part).split_at_mut(entries * heads);
                    f(node, row);
                    part = after;
                }
            },
        );
    });
}

#[inline(always)]
fn leaky(x: f32) -> f32 {
    if x > 0.0 { x } else { SLOPE * x }
}

/// eˣ for x from −87 to 0, below that 0; in a form that is computed for a whole vector at once.
///
/// x = n·ln 2 + r with |r| ≤ ½ ln 2; e^r by its series to r⁷, 2ⁿ by its bits.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// ln 2 in two parts, the first exact when multiplied by a small whole number.
    const LN2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    /// Adding it rounds to a whole number.
    const ROUND: f32 = 12_582_912.0;
    let inside = x.max(-87.0);
    let shifted = inside * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (inside - n * LN2.0) - n * LN2.1;
    let mut series = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = series * r + coefficient;
    }
    let power = f32::from_bits(((n as i32 + 127) << 23) as u32);
    if x < -87.0 { 0.0 } else { series * power }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_exact_to_the_last_bits() {
        for k in 0..=87_000 {
            let x = -(k as f32) / 1000.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 3e-7, "exp({x}): {error:e}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1000.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
    }

    #[test]
    fn every_entry_knows_its_reverse() {
        let (graph, _) =
            Graph::from_edges(5, &[(0, 1), (0, 2), (1, 2), (3, 0), (4, 3), (1, 4)], None).unwrap();
        let edges = Edges::new(&graph);
        assert_eq!(edges.entries(), 17);
        for node in 0..5 {
            assert_eq!(edges.columns[edges.offsets[node]] as usize, node);
            for entry in edges.offsets[node]..edges.offsets[node + 1] {
                let neighbour = edges.columns[entry] as usize;
                let reverse = edges.reverse[entry] as usize;
                let row = edges.offsets[neighbour]..edges.offsets[neighbour + 1];
                assert!(row.contains(&reverse));
                assert_eq!(edges.columns[reverse] as usize, node);
            }
        }
    }
}
