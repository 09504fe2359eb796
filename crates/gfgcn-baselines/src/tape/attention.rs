//! Attention over the edges of a graph, with its softmax, in one go.
//!
//! ```text
//! s_j = ⟨a_source, h_j⟩      t_i = ⟨a_target, h_i⟩            for every head
//! α_ij = softmax_j leaky(s_j + t_i)                            over the neighbours j of i, and i itself
//! out_i = Σ_j dropout(α_ij) h_j
//! ```
//!
//! Columns of h come in groups of one per head: a vector of as many numbers as there are heads is what
//! processors multiply in one instruction, and no sum ever runs across it.
//!
//! Nothing of the size edges × columns ever exists; what is kept for the backward pass is one
//! number per edge and head.

use super::buffers::Buffers;
use super::edges::Edges;
use super::elementwise::exp;
use super::parallel::{Part, over_nodes, sum_over_rows};
use crate::random::Dropout;
use gfgcn::matrix::Matrix;

/// The slope of the leaky rectifier below zero.
const SLOPE: f32 = 0.2;

/// The shape of an attention layer: the columns of h are `width` groups of one per head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) heads: usize,
    pub(crate) width: usize,
}

impl Shape {
    pub(crate) fn columns(self) -> usize {
        self.heads * self.width
    }

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

/// What the backward pass needs to know.
#[derive(Debug)]
pub(crate) struct Saved {
    /// s and t, nodes × heads.
    source: Matrix<f32>,
    target: Matrix<f32>,
    /// α, entries × heads.
    alpha: Matrix<f32>,
    dropout: Option<Dropout>,
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

/// A layer: h is nodes × columns, the vectors are 1 × columns.
#[derive(Clone, Copy)]
pub(crate) struct Attention<'a> {
    pub(crate) edges: &'a Edges,
    pub(crate) shape: Shape,
    pub(crate) h: &'a Matrix<f32>,
    pub(crate) a_source: &'a Matrix<f32>,
    pub(crate) a_target: &'a Matrix<f32>,
}

impl Attention<'_> {
    /// The first `rows` of the result; h has those of their neighbours, too.
    pub(crate) fn forward(
        &self,
        rows: usize,
        dropout: Option<Dropout>,
        buffers: &mut Buffers,
    ) -> (Matrix<f32>, Saved) {
        let Attention { edges, shape, h, .. } = *self;
        let Shape { heads, .. } = shape;
        let (source, target) = self.projections(buffers);
        let mut alpha = buffers.take(edges.entries_of(rows), heads);
        let mut out = buffers.take(rows, shape.columns());
        let (h, s, t) = (h.as_slice(), source.as_slice(), target.as_slice());
        over_nodes(
            rows,
            alpha.as_slice().len() * shape.width,
            (alpha.as_mut_slice(), |node| edges.entries_of(node) * heads),
            (out.as_mut_slice(), |node| node * shape.columns()),
            #[inline(always)]
            |Part { nodes, first: mut alphas, second: outs }| {
                shape.specialised(
                    #[inline(always)]
                    |shape| {
                        let Shape { heads, .. } = shape;
                        let mut scratch = vec![0.0; heads];
                        for (node, out) in nodes.zip(outs.chunks_exact_mut(shape.columns())) {
                            let entries = edges.of_row(node);
                            let (alpha, rest) = alphas.split_at_mut(entries.len() * heads);
                            let columns = &edges.columns[entries.clone()];
                            softmax(heads, columns, s, row(t, heads, node), alpha, &mut scratch);
                            out.fill(0.0);
                            let alpha = alpha.chunks_exact(heads).zip(entries).zip(columns);
                            for ((alpha, entry), &neighbour) in alpha {
                                drop(dropout, entry * heads, alpha, &mut scratch);
                                let neighbour = row(h, shape.columns(), neighbour as usize);
                                add_weighted(shape, &scratch, neighbour, out);
                            }
                            alphas = rest;
                        }
                    },
                );
            },
        );
        (out, Saved { source, target, alpha, dropout })
    }

    /// The backward pass, from the gradient with respect to the result.
    pub(crate) fn backward(
        &self,
        saved: &Saved,
        gradient: &Matrix<f32>,
        buffers: &mut Buffers,
    ) -> Gradients {
        let Attention { edges, shape, h, .. } = *self;
        let (rows, all, heads) = (gradient.rows(), h.rows(), shape.heads);
        let mut of_entries = buffers.take(edges.entries_of(rows), 2 * heads);
        let mut of_target = buffers.take(rows, heads);
        self.entry_gradients(saved, gradient, &mut of_entries, &mut of_target);
        // t_i meets the entries of row i, s_j those of column j.
        let mut of_source = buffers.take(all, heads);
        let mut of_h = buffers.take(all, shape.columns());
        let (a_source, a_target) = (self.a_source.as_slice(), self.a_target.as_slice());
        let (gradient, pairs) = (gradient.as_slice(), of_entries.as_slice());
        let of_targets = of_target.as_slice();
        over_nodes(
            all,
            pairs.len() * shape.width,
            (of_source.as_mut_slice(), |node| node * heads),
            (of_h.as_mut_slice(), |node| node * shape.columns()),
            #[inline(always)]
            |Part { nodes, first, second }| {
                shape.specialised(
                    #[inline(always)]
                    |shape| {
                        let Shape { heads, .. } = shape;
                        let outs = first
                            .chunks_exact_mut(heads)
                            .zip(second.chunks_exact_mut(shape.columns()));
                        for (node, (of_source, out)) in nodes.zip(outs) {
                            out.fill(0.0);
                            of_source.fill(0.0);
                            for entry in edges.of_row(node) {
                                let from = edges.columns[entry] as usize;
                                if from >= rows {
                                    continue;
                                }
                                let pair = row(pairs, 2 * heads, edges.reverse[entry] as usize);
                                let (weights, of_sum) = pair.split_at(heads);
                                add_weighted(
                                    shape,
                                    weights,
                                    row(gradient, shape.columns(), from),
                                    out,
                                );
                                over_heads(heads, of_source, of_sum, of_sum, |sum, x, _| sum + x);
                            }
                            add_weighted(shape, of_source, a_source, out);
                            if node < rows {
                                add_weighted(shape, row(of_targets, heads, node), a_target, out);
                            }
                        }
                    },
                );
            },
        );
        let [a_source, a_target] = self.weighted_rows(&of_source, &of_target, buffers);
        [of_entries, of_target, of_source].into_iter().for_each(|m| buffers.give(m));
        Gradients { h: of_h, a_source, a_target }
    }

    /// s and t: ⟨a, h_i⟩ for every node and head.
    fn projections(&self, buffers: &mut Buffers) -> (Matrix<f32>, Matrix<f32>) {
        let Attention { shape, h, .. } = *self;
        let [mut source, mut target] = [(); 2].map(|()| buffers.take(h.rows(), shape.heads));
        let (a_source, a_target) = (self.a_source.as_slice(), self.a_target.as_slice());
        let (rows, h) = (h.rows(), h.as_slice());
        over_nodes(
            rows,
            2 * h.len(),
            (source.as_mut_slice(), |node| node * shape.heads),
            (target.as_mut_slice(), |node| node * shape.heads),
            #[inline(always)]
            |Part { nodes, first, second }| {
                shape.specialised(
                    #[inline(always)]
                    |shape| {
                        let outs = first
                            .chunks_exact_mut(shape.heads)
                            .zip(second.chunks_exact_mut(shape.heads));
                        for (node, (source, target)) in nodes.zip(outs) {
                            let h = row(h, shape.columns(), node);
                            dots(shape, h, a_source, source);
                            dots(shape, h, a_target, target);
                        }
                    },
                );
            },
        );
        (source, target)
    }

    /// Σ_j s'_j h_j and Σ_i t'_i h_i, head by head: the gradients of [`Attention::projections`].
    fn weighted_rows(
        &self,
        of_source: &Matrix<f32>,
        of_target: &Matrix<f32>,
        buffers: &mut Buffers,
    ) -> [Matrix<f32>; 2] {
        let Attention { shape, h, .. } = *self;
        let mut sums = buffers.take(2, shape.columns());
        let (rows, h) = (h.rows(), h.as_slice());
        let (of_source, of_target) = (of_source.as_slice(), of_target.as_slice());
        sum_over_rows(
            &mut sums,
            rows,
            2 * h.len(),
            buffers,
            #[inline(always)]
            |nodes, sums| {
                shape.specialised(
                    #[inline(always)]
                    |shape| {
                        let (by_source, by_target) = sums.split_at_mut(shape.columns());
                        for node in nodes {
                            let h = row(h, shape.columns(), node);
                            add_weighted(shape, row(of_source, shape.heads, node), h, by_source);
                            // Rows that no result was asked of have none.
                            if (node + 1) * shape.heads <= of_target.len() {
                                add_weighted(
                                    shape,
                                    row(of_target, shape.heads, node),
                                    h,
                                    by_target,
                                );
                            }
                        }
                    },
                );
            },
        );
        let vectors = [0, 1].map(|k| {
            let mut vector = buffers.take(1, shape.columns());
            vector.as_mut_slice().copy_from_slice(sums.row(k));
            vector
        });
        buffers.give(sums);
        vectors
    }

    /// For every entry, dropout(α_ij) and the gradient with respect to s_j + t_i, which are read together;
    /// and the sums of the latter over each row.
    ///
    /// With g_ij = ⟨gradient_i, h_j⟩ and w = dropout(α) the gradients are (w_ij g_ij − α_ij Σ_k w_ik g_ik) times
    /// the slope of the rectifier.
    fn entry_gradients(
        &self,
        saved: &Saved,
        gradient: &Matrix<f32>,
        of_entries: &mut Matrix<f32>,
        of_target: &mut Matrix<f32>,
    ) {
        let Attention { edges, shape, h, .. } = *self;
        let (rows, heads) = (gradient.rows(), shape.heads);
        let (gradient, h, alpha) = (gradient.as_slice(), h.as_slice(), saved.alpha.as_slice());
        let (s, t) = (saved.source.as_slice(), saved.target.as_slice());
        over_nodes(
            rows,
            alpha.len() * shape.width,
            (of_entries.as_mut_slice(), |node| edges.entries_of(node) * 2 * heads),
            (of_target.as_mut_slice(), |node| node * heads),
            #[inline(always)]
            |Part { nodes, first: mut pairs, second }| {
                shape.specialised(
                    #[inline(always)]
                    |shape| {
                        let Shape { heads, .. } = shape;
                        let mut means = vec![0.0; heads];
                        for (node, of_target) in nodes.zip(second.chunks_exact_mut(heads)) {
                            let entries = edges.of_row(node);
                            let (now, rest) = pairs.split_at_mut(entries.len() * 2 * heads);
                            pairs = rest;
                            means.fill(0.0);
                            let gradient = row(gradient, shape.columns(), node);
                            for (pair, entry) in
                                now.chunks_exact_mut(2 * heads).zip(entries.clone())
                            {
                                let (weights, of_sum) = pair.split_at_mut(heads);
                                drop(
                                    saved.dropout,
                                    entry * heads,
                                    row(alpha, heads, entry),
                                    weights,
                                );
                                let neighbour = edges.columns[entry] as usize;
                                dots(shape, row(h, shape.columns(), neighbour), gradient, of_sum);
                                over_heads(heads, of_sum, weights, weights, |x, w, _| x * w);
                                over_heads(heads, &mut means, of_sum, of_sum, |sum, x, _| sum + x);
                            }
                            of_target.fill(0.0);
                            let t = row(t, heads, node);
                            for (pair, entry) in now.chunks_exact_mut(2 * heads).zip(entries) {
                                let (alpha, of_sum) =
                                    (row(alpha, heads, entry), &mut pair[heads..]);
                                let s = row(s, heads, edges.columns[entry] as usize);
                                over_heads(heads, of_sum, alpha, &means, |x, alpha, mean| {
                                    x - alpha * mean
                                });
                                over_heads(heads, of_sum, s, t, |x, s, t| {
                                    if s + t > 0.0 { x } else { x * SLOPE }
                                });
                                over_heads(heads, of_target, of_sum, of_sum, |sum, x, _| sum + x);
                            }
                        }
                    },
                );
            },
        );
    }
}

/// A row of a matrix with some columns.
#[inline(always)]
fn row(matrix: &[f32], columns: usize, row: usize) -> &[f32] {
    &matrix[row * columns..(row + 1) * columns]
}

/// `out ← f(out, a, b)` for the numbers of all heads. Eight of them are read before any is written, so that the
/// compiler need not wonder whether they overlap, and uses vectors.
#[inline(always)]
fn over_heads(
    heads: usize,
    out: &mut [f32],
    a: &[f32],
    b: &[f32],
    f: impl Fn(f32, f32, f32) -> f32,
) {
    const USUAL: usize = 8;
    let (out, a, b) = (&mut out[..heads], &a[..heads], &b[..heads]);
    if heads == USUAL {
        let read = |from: &[f32]| -> [f32; USUAL] { from.try_into().expect("as many") };
        let (mut new, a, b) = (read(out), read(a), read(b));
        for head in 0..USUAL {
            new[head] = f(new[head], a[head], b[head]);
        }
        out.copy_from_slice(&new);
    } else {
        out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = f(*out, *a, *b));
    }
}

/// `out ← dropout(α)` for the entry whose numbers begin at a place.
#[inline(always)]
fn drop(dropout: Option<Dropout>, place: usize, alpha: &[f32], out: &mut [f32]) {
    out.copy_from_slice(alpha);
    if let Some(dropout) = dropout {
        for (head, out) in out.iter_mut().enumerate() {
            *out *= dropout.factor(place + head);
        }
    }
}

/// `out += weight · row`, head by head.
#[inline(always)]
fn add_weighted(Shape { heads, .. }: Shape, weights: &[f32], row: &[f32], out: &mut [f32]) {
    if heads == 1 {
        let weight = weights[0];
        return out.iter_mut().zip(row).for_each(|(out, x)| *out += weight * x);
    }
    for (out, row) in out.chunks_exact_mut(heads).zip(row.chunks_exact(heads)) {
        over_heads(heads, out, weights, row, |out, weight, x| out + weight * x);
    }
}

/// Inner products, head by head.
#[inline(always)]
fn dots(Shape { heads, .. }: Shape, a: &[f32], b: &[f32], out: &mut [f32]) {
    out.fill(0.0);
    for (a, b) in a.chunks_exact(heads).zip(b.chunks_exact(heads)) {
        over_heads(heads, out, a, b, |out, a, b| out + a * b);
    }
}

/// α of one node: the softmax of leaky(s_j + t) over its neighbours.
#[inline(always)]
fn softmax(
    heads: usize,
    neighbours: &[u32],
    s: &[f32],
    t: &[f32],
    alpha: &mut [f32],
    scratch: &mut [f32],
) {
    scratch.fill(f32::MIN);
    for (alpha, &neighbour) in alpha.chunks_exact_mut(heads).zip(neighbours) {
        let s = row(s, heads, neighbour as usize);
        over_heads(heads, alpha, s, t, |_, s, t| leaky(s + t));
        over_heads(heads, scratch, alpha, alpha, |largest, x, _| x.max(largest));
    }
    for alpha in alpha.chunks_exact_mut(heads) {
        over_heads(heads, alpha, scratch, scratch, |x, largest, _| x - largest);
    }
    alpha.iter_mut().for_each(|x| *x = exp(*x));
    scratch.fill(0.0);
    for alpha in alpha.chunks_exact(heads) {
        over_heads(heads, scratch, alpha, alpha, |total, x, _| total + x);
    }
    scratch.iter_mut().for_each(|total| *total = total.recip());
    for alpha in alpha.chunks_exact_mut(heads) {
        over_heads(heads, alpha, scratch, scratch, |x, factor, _| x * factor);
    }
}

#[inline(always)]
fn leaky(x: f32) -> f32 {
    if x <= 0.0 { SLOPE * x } else { x }
}
