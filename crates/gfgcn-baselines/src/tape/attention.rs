//! Attention over the edges of a graph, with its softmax, in one go.
//!
//! ```text
//! s_j = ⟨a_source, h_j⟩      t_i = ⟨a_target, h_i⟩            for every head
//! α_ij = softmax_j leaky(s_j + t_i)                            over the neighbours j of i, and i itself
//! out_i = Σ_j dropout(α_ij) h_j
//! ```
//!
//! Nothing of the size edges × head dimension ever exists; what is kept for the backward pass is one
//! number per edge and head.

use super::buffers::Buffers;
use super::edges::{Edges, over_entries};
use super::elementwise::{self, exp};
use super::parallel::{over_rows, sum_over_rows};
use crate::random::Dropout;
use gfgcn::matrix::Matrix;

/// The slope of the leaky rectifier below zero.
const SLOPE: f32 = 0.2;

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

/// What the backward pass needs to know.
#[derive(Debug)]
pub(crate) struct Saved {
    /// s and t, nodes × heads.
    source: Matrix<f32>,
    target: Matrix<f32>,
    /// α, entries × heads.
    alpha: Matrix<f32>,
    /// dropout(α), where there is any.
    dropped: Option<Matrix<f32>>,
}

impl Saved {
    /// What the rows of h are added up with.
    fn weights(&self) -> &Matrix<f32> {
        self.dropped.as_ref().unwrap_or(&self.alpha)
    }

    pub(crate) fn give_back(self, buffers: &mut Buffers) {
        let parts = [self.source, self.target, self.alpha].into_iter().chain(self.dropped);
        parts.for_each(|m| buffers.give(m));
    }
}

/// The gradients with respect to h, a_source and a_target.
pub(crate) struct Gradients {
    pub(crate) h: Matrix<f32>,
    pub(crate) a_source: Matrix<f32>,
    pub(crate) a_target: Matrix<f32>,
}

/// A layer: h is nodes × (heads · width), the vectors are 1 × (heads · width).
#[derive(Clone, Copy)]
pub(crate) struct Attention<'a> {
    pub(crate) edges: &'a Edges,
    pub(crate) shape: Shape,
    pub(crate) h: &'a Matrix<f32>,
    pub(crate) a_source: &'a Matrix<f32>,
    pub(crate) a_target: &'a Matrix<f32>,
}

impl Attention<'_> {
    /// The result, of the shape of h.
    pub(crate) fn forward(
        &self,
        dropout: Option<Dropout>,
        buffers: &mut Buffers,
    ) -> (Matrix<f32>, Saved) {
        let Attention { edges, shape, h, .. } = *self;
        let source = self.projections(self.a_source, buffers);
        let target = self.projections(self.a_target, buffers);
        let mut alpha = buffers.take(edges.entries(), shape.heads);
        softmax(edges, shape.heads, &source, &target, &mut alpha);
        let dropped = dropout.map(|dropout| {
            let mut dropped = buffers.copy(&alpha);
            elementwise::drop(&mut dropped, dropout);
            dropped
        });
        let saved = Saved { source, target, alpha, dropped };
        let mut out = buffers.take(h.rows(), h.cols());
        let weights = saved.weights();
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
                            for entry in edges.of_row(node) {
                                let neighbour = h.row(edges.columns[entry] as usize);
                                add_weighted(shape, weights.row(entry), neighbour, out);
                            }
                        }
                    },
                );
            },
        );
        (out, saved)
    }

    /// The backward pass, from the gradient with respect to the result.
    pub(crate) fn backward(
        &self,
        saved: &Saved,
        gradient: &Matrix<f32>,
        buffers: &mut Buffers,
    ) -> Gradients {
        let Attention { edges, shape, h, .. } = *self;
        let (nodes, heads) = (edges.nodes(), shape.heads);
        let mut of_entries = buffers.take(edges.entries(), heads);
        self.entry_gradients(saved, gradient, &mut of_entries);
        // t_i meets the entries of row i, s_j those of column j.
        let mut of_target = buffers.take(nodes, heads);
        let mut of_source = buffers.take(nodes, heads);
        add_entries(edges, heads, &of_entries, false, &mut of_target);
        add_entries(edges, heads, &of_entries, true, &mut of_source);
        let mut of_h = buffers.take(h.rows(), h.cols());
        let (a_source, a_target) = (self.a_source.as_slice(), self.a_target.as_slice());
        let weights = saved.weights();
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
                            out.fill(0.0);
                            add_weighted(shape, of_source.row(node), a_source, out);
                            add_weighted(shape, of_target.row(node), a_target, out);
                            for entry in edges.of_row(node) {
                                let from = gradient.row(edges.columns[entry] as usize);
                                let reverse = edges.reverse[entry] as usize;
                                add_weighted(shape, weights.row(reverse), from, out);
                            }
                        }
                    },
                );
            },
        );
        let gradients = Gradients {
            h: of_h,
            a_source: self.weighted_rows(&of_source, buffers),
            a_target: self.weighted_rows(&of_target, buffers),
        };
        [of_entries, of_target, of_source].into_iter().for_each(|m| buffers.give(m));
        gradients
    }

    /// ⟨a, h_i⟩ for every node and head.
    fn projections(&self, a: &Matrix<f32>, buffers: &mut Buffers) -> Matrix<f32> {
        let Attention { shape, h, .. } = *self;
        let mut out = buffers.take(h.rows(), shape.heads);
        over_rows(
            out.as_mut_slice(),
            shape.heads,
            h.rows() * h.cols(),
            #[inline(always)]
            |rows, out| {
                shape.specialised(
                    #[inline(always)]
                    |shape| {
                        for (node, out) in rows.zip(out.chunks_exact_mut(shape.heads)) {
                            dots(shape, h.row(node), a.row(0), out);
                        }
                    },
                );
            },
        );
        out
    }

    /// Σ_i weights_i h_i, head by head: the gradient of [`Attention::projections`].
    fn weighted_rows(&self, weights: &Matrix<f32>, buffers: &mut Buffers) -> Matrix<f32> {
        let Attention { shape, h, .. } = *self;
        let mut out = buffers.take(1, h.cols());
        sum_over_rows(
            &mut out,
            h.rows(),
            h.rows() * h.cols(),
            buffers,
            #[inline(always)]
            |rows, sum| {
                shape.specialised(
                    #[inline(always)]
                    |shape| {
                        for node in rows {
                            add_weighted(shape, weights.row(node), h.row(node), sum);
                        }
                    },
                );
            },
        );
        out
    }

    /// The gradients with respect to s_j + t_i, for every entry.
    ///
    /// With g_ij = ⟨gradient_i, h_j⟩ and w = dropout(α) they are (w_ij g_ij − α_ij Σ_k w_ik g_ik) times
    /// the slope of the rectifier.
    fn entry_gradients(&self, saved: &Saved, gradient: &Matrix<f32>, out: &mut Matrix<f32>) {
        let Attention { edges, shape, h, .. } = *self;
        let weights = saved.weights();
        over_entries(
            edges,
            shape.heads,
            out,
            #[inline(always)]
            |node, out, means| {
                shape.specialised(
                    #[inline(always)]
                    |shape| {
                        let heads = shape.heads;
                        means.fill(0.0);
                        for (out, entry) in out.chunks_exact_mut(heads).zip(edges.of_row(node)) {
                            let neighbour = h.row(edges.columns[entry] as usize);
                            dots(shape, neighbour, gradient.row(node), out);
                            let weights = &weights.row(entry)[..heads];
                            for head in 0..heads {
                                out[head] *= weights[head];
                                means[head] += out[head];
                            }
                        }
                        let t = &saved.target.row(node)[..heads];
                        for (out, entry) in out.chunks_exact_mut(heads).zip(edges.of_row(node)) {
                            let alpha = &saved.alpha.row(entry)[..heads];
                            let s = &saved.source.row(edges.columns[entry] as usize)[..heads];
                            for head in 0..heads {
                                let slope = if s[head] + t[head] > 0.0 { 1.0 } else { SLOPE };
                                out[head] = (out[head] - alpha[head] * means[head]) * slope;
                            }
                        }
                    },
                );
            },
        );
    }
}

/// `out += weight · row`, head by head.
#[inline(always)]
fn add_weighted(shape: Shape, weights: &[f32], row: &[f32], out: &mut [f32]) {
    let heads = out.chunks_exact_mut(shape.width).zip(row.chunks_exact(shape.width));
    for ((out, row), weight) in heads.zip(&weights[..shape.heads]) {
        for (out, x) in out.iter_mut().zip(row) {
            *out += weight * x;
        }
    }
}

/// Inner products, head by head.
#[inline(always)]
fn dots(shape: Shape, a: &[f32], b: &[f32], out: &mut [f32]) {
    let heads = a.chunks_exact(shape.width).zip(b.chunks_exact(shape.width));
    for (out, (a, b)) in out.iter_mut().zip(heads) {
        *out = dot(a, b);
    }
}

/// Added up in eight columns first, so that they run side by side.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    let (blocks, rest) = a.as_chunks::<8>();
    let (of_b, rest_of_b) = b.as_chunks::<8>();
    for (a, b) in blocks.iter().zip(of_b) {
        for l in 0..8 {
            sums[l] += a[l] * b[l];
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(rest).zip(rest_of_b) {
        *sum += a * b;
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// α for every entry: the softmax of leaky(s_j + t_i) over each row.
fn softmax(
    edges: &Edges,
    heads: usize,
    source: &Matrix<f32>,
    target: &Matrix<f32>,
    alpha: &mut Matrix<f32>,
) {
    over_entries(
        edges,
        heads,
        alpha,
        #[inline(always)]
        |node, row, scratch| {
            // Only the number of heads matters here.
            Shape { heads, width: 8 }.specialised(
                #[inline(always)]
                |Shape { heads, .. }| {
                    let t = &target.row(node)[..heads];
                    scratch.fill(f32::MIN);
                    for (row, entry) in row.chunks_exact_mut(heads).zip(edges.of_row(node)) {
                        let s = &source.row(edges.columns[entry] as usize)[..heads];
                        for head in 0..heads {
                            row[head] = leaky(s[head] + t[head]);
                            scratch[head] = row[head].max(scratch[head]);
                        }
                    }
                    for row in row.chunks_exact_mut(heads) {
                        row.iter_mut().zip(&*scratch).for_each(|(x, largest)| *x -= largest);
                    }
                    row.iter_mut().for_each(|x| *x = exp(*x));
                    scratch.fill(0.0);
                    for row in row.chunks_exact(heads) {
                        scratch.iter_mut().zip(row).for_each(|(total, x)| *total += x);
                    }
                    scratch.iter_mut().for_each(|total| *total = total.recip());
                    for row in row.chunks_exact_mut(heads) {
                        row.iter_mut().zip(&*scratch).for_each(|(x, factor)| *x *= factor);
                    }
                },
            );
        },
    );
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
                for entry in edges.of_row(node) {
                    let place = if of_columns { edges.reverse[entry] as usize } else { entry };
                    for (out, value) in out.iter_mut().zip(entries.row(place)) {
                        *out += value;
                    }
                }
            }
        },
    );
}

#[inline(always)]
fn leaky(x: f32) -> f32 {
    if x <= 0.0 { SLOPE * x } else { x }
}
