//! The normalised adjacency as an operator on blocks of columns.
//!
//! Both normalisations are one operator in disguise. With W = D̃⁻¹Ã (row-stochastic),
//!
//! ```text
//! row:        p(W)
//! symmetric:  p(D̃^-½ Ã D̃^-½) = D̃^½ · p(W) · D̃^-½
//! ```
//!
//! so the kernel only ever multiplies by W — a sum over neighbours and one scaling per row, no
//! stored value per edge — and the normalisation is a scaling of rows before and after.

use super::Graph;
use super::product::{EdgeFactor, Pattern, Product, Scaled, Step, Weighted, balanced};
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use crate::simd::Simd;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// How Ã = A + I is normalised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalization {
    /// D̃^-½ Ã D̃^-½, the paper's choice.
    #[default]
    #[serde(rename = "sym")]
    Symmetric,
    /// D̃⁻¹ Ã.
    Row,
}

impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Normalization::Symmetric => "sym",
            Normalization::Row => "row",
        })
    }
}

impl FromStr for Normalization {
    type Err = crate::Error;
    fn from_str(text: &str) -> crate::Result<Self> {
        match text {
            "sym" => Ok(Normalization::Symmetric),
            "row" => Ok(Normalization::Row),
            _ => Err(crate::Error::parameter("normalization", text, "sym or row")),
        }
    }
}

/// The operator Â of a graph.
#[derive(Clone, Debug)]
pub struct Propagator<'g> {
    graph: &'g Graph,
    normalization: Normalization,
    /// D̃: each node's summed edge weights, plus 1 for its self-loop.
    degrees: Vec<f64>,
    /// D̃⁻¹.
    reciprocals: Vec<f64>,
    simd: Simd,
}

impl<'g> Propagator<'g> {
    /// The operator of a graph; O(nodes + edges).
    pub fn new(graph: &'g Graph, normalization: Normalization) -> Self {
        let degrees: Vec<f64> = (0..graph.nodes())
            .map(|node| match graph.weights(node) {
                Some(weights) => 1.0 + weights.iter().map(|&w| f64::from(w)).sum::<f64>(),
                None => 1.0 + graph.degree(node) as f64,
            })
            .collect();
        let reciprocals = degrees.iter().map(|degree| degree.recip()).collect();
        Propagator { graph, normalization, degrees, reciprocals, simd: Simd::detect() }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// Entries of Ã: every edge in both directions and the self-loops.
    pub fn nonzeros(&self) -> usize {
        2 * self.graph.edges() + self.graph.nodes()
    }

    /// The factor for a node's row before the polynomial in W is applied.
    pub(crate) fn scale_before(&self, node: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.degrees[node].sqrt().recip(),
            Normalization::Row => 1.0,
        }
    }

    /// The factor for a node's row after the polynomial in W was applied.
    pub(crate) fn scale_after(&self, node: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.degrees[node].sqrt(),
            Normalization::Row => 1.0,
        }
    }

    /// As [`Propagator::scale_before`], for the transposed operator.
    pub(crate) fn transposed_before(&self, node: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.scale_before(node),
            Normalization::Row => self.reciprocals[node],
        }
    }

    /// As [`Propagator::scale_after`], for the transposed operator.
    pub(crate) fn transposed_after(&self, node: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.scale_after(node),
            Normalization::Row => self.degrees[node],
        }
    }

    /// All rows in ranges of about the same work.
    pub(crate) fn balanced_rows(&self, parts: usize) -> Vec<Range<usize>> {
        balanced(self.graph, parts)
    }

    /// `y ← a·W·x + b·x + c·z` on a block of `stride` columns (row-major), for some rows: `y` holds
    /// just those, x and z all of them. Without `z` the old y is meant.
    pub(crate) fn step_rows<T: Scalar>(
        &self,
        step: Step<T>,
        rows: Range<usize>,
        stride: usize,
        x: &[T],
        z: Option<&[T]>,
        y: &mut [T],
    ) {
        let (graph, row_scale) = (self.graph, self.reciprocals.as_slice());
        match graph.all_weights() {
            None => Product { graph, factor: Pattern, row_scale, step, stride, x, z }.rows(
                self.simd,
                rows,
                0..stride,
                y,
            ),
            Some(weights) => {
                let factor = Weighted(weights);
                Product { graph, factor, row_scale, step, stride, x, z }.rows(
                    self.simd,
                    rows,
                    0..stride,
                    y,
                );
            }
        }
    }

    /// One product: `out ← Â·x`, nodes × columns each.
    ///
    /// Reads every row of x once per edge and writes every row of `out` once; no other memory of
    /// that size is touched.
    ///
    /// ```
    /// use gfgcn::graph::{Graph, Normalization, Propagator};
    /// use gfgcn::matrix::Matrix;
    /// let (graph, _) = Graph::from_edges(2, &[(0, 1)], None)?;
    /// let x = Matrix::from_fn(2, 3, |i, j| (3 * i + j) as f32);
    /// let mut out = Matrix::zeros(2, 3);
    /// Propagator::new(&graph, Normalization::Row).multiply(&x, &mut out);
    /// assert_eq!(out.row(0), [1.5, 2.5, 3.5]);
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Panics
    /// If x and `out` do not have one row per node and the same columns.
    pub fn multiply(&self, x: &Matrix<f32>, out: &mut Matrix<f32>) {
        assert_eq!((x.rows(), x.cols()), (out.rows(), out.cols()), "x and its product differ");
        assert_eq!(x.rows(), self.nodes(), "x needs one row per node");
        match (self.normalization, self.graph.all_weights()) {
            (Normalization::Row, None) => self.multiply_by(Pattern, &self.reciprocals, x, out),
            (Normalization::Row, Some(w)) => {
                self.multiply_by(Weighted(w), &self.reciprocals, x, out);
            }
            (Normalization::Symmetric, weights) => {
                let roots: Vec<f64> = self.reciprocals.iter().map(|r| r.sqrt()).collect();
                let of_neighbours: Vec<f32> = roots.iter().map(|&r| r as f32).collect();
                match weights {
                    None => self.multiply_by(Scaled(Pattern, &of_neighbours), &roots, x, out),
                    Some(w) => {
                        self.multiply_by(Scaled(Weighted(w), &of_neighbours), &roots, x, out)
                    }
                }
            }
        }
    }

    fn multiply_by<F: EdgeFactor<f32> + Send>(
        &self,
        factor: F,
        row_scale: &[f64],
        x: &Matrix<f32>,
        out: &mut Matrix<f32>,
    ) {
        let stride = x.cols();
        let step = Step { a: 1.0, b: 0.0, c: 0.0 };
        let product = Product {
            graph: self.graph,
            factor,
            row_scale,
            step,
            stride,
            x: x.as_slice(),
            z: None,
        };
        let panel = self.panel(stride);
        let ranges = self.balanced_rows(TASKS_PER_THREAD * rayon::current_num_threads());
        let parts = split_rows(out.as_mut_slice(), stride, &ranges);
        ranges.into_par_iter().zip(parts).for_each(|(rows, y)| {
            for first in (0..stride).step_by(panel) {
                product.rows(self.simd, rows.clone(), first..stride.min(first + panel), y);
            }
        });
    }

    /// Columns that are multiplied at a time: so many that their block stays in the cache.
    fn panel(&self, columns: usize) -> usize {
        std::env::var("PANEL").ok().and_then(|p| p.parse().ok()).unwrap_or(columns)
    }
}

/// More tasks than threads, so that a thread that is late can be helped.
const TASKS_PER_THREAD: usize = 8;

/// Cuts a row-major block into parts of consecutive rows.
pub(crate) fn split_rows<'a, T>(
    mut block: &'a mut [T],
    stride: usize,
    ranges: &[Range<usize>],
) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for rows in ranges {
        let (part, rest) = block.split_at_mut(rows.len() * stride);
        parts.push(part);
        block = rest;
    }
    parts
}
