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
use crate::scalar::Scalar;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
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
}

impl<'g> Propagator<'g> {
    /// The operator of a graph; O(nodes + edges).
    pub fn new(graph: &'g Graph, normalization: Normalization) -> Self {
        let degrees = (0..graph.nodes())
            .map(|node| match graph.weights(node) {
                Some(weights) => 1.0 + weights.iter().map(|&w| f64::from(w)).sum::<f64>(),
                None => 1.0 + graph.degree(node) as f64,
            })
            .collect();
        Propagator { graph, normalization, degrees }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.graph.nodes()
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

    /// `y ← a·W·x + b·y` on a block of `width` columns (rows × width, row-major).
    ///
    /// Every row is computed on its own in a fixed order, so the result does not depend on how
    /// the rows are divided among threads.
    pub(crate) fn step<T: Scalar>(
        &self,
        width: usize,
        x: &[T],
        a: T,
        b: T,
        y: &mut [T],
        parallel: bool,
    ) {
        /// Rows per task: enough work to pay for handing it out.
        const ROWS: usize = 512;
        if parallel {
            y.par_chunks_mut(ROWS * width).enumerate().for_each(|(chunk, rows)| {
                self.step_rows(chunk * ROWS, width, x, a, b, rows);
            });
        } else {
            self.step_rows(0, width, x, a, b, y);
        }
    }

    /// A range of rows, compiled for the vector instructions that the processor has. No
    /// multiplication and addition is fused, so that the bits are the same with any of them.
    fn step_rows<T: Scalar>(&self, first: usize, width: usize, x: &[T], a: T, b: T, y: &mut [T]) {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || self.step_rows_inlined(first, width, x, a, b, y),
        );
    }

    #[inline(always)]
    fn step_rows_inlined<T: Scalar>(
        &self,
        first: usize,
        width: usize,
        x: &[T],
        a: T,
        b: T,
        y: &mut [T],
    ) {
        for (k, y) in y.chunks_exact_mut(width).enumerate() {
            let node = first + k;
            let scale = a * T::from_f64(self.degrees[node].recip());
            let mut column = 0;
            while column + 32 <= width {
                self.step_lanes::<T, 32>(node, width, column, x, scale, b, y);
                column += 32;
            }
            while column + 8 <= width {
                self.step_lanes::<T, 8>(node, width, column, x, scale, b, y);
                column += 8;
            }
            while column < width {
                self.step_lanes::<T, 1>(node, width, column, x, scale, b, y);
                column += 1;
            }
        }
    }

    /// One node, `LANES` neighbouring columns: the sums stay in registers.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // a kernel: every argument is a register
    fn step_lanes<T: Scalar, const LANES: usize>(
        &self,
        node: usize,
        width: usize,
        column: usize,
        x: &[T],
        scale: T,
        b: T,
        y: &mut [T],
    ) {
        let lanes = |row: usize| -> &[T; LANES] {
            let start = row * width + column;
            x[start..start + LANES].try_into().expect("a slice of LANES entries")
        };
        let mut sum = *lanes(node);
        match self.graph.weights(node) {
            None => {
                for &neighbour in self.graph.neighbours(node) {
                    let x = lanes(neighbour as usize);
                    for l in 0..LANES {
                        sum[l] = sum[l] + x[l];
                    }
                }
            }
            Some(weights) => {
                for (&neighbour, &weight) in self.graph.neighbours(node).iter().zip(weights) {
                    let (x, weight) = (lanes(neighbour as usize), T::from_f32(weight));
                    for l in 0..LANES {
                        sum[l] = sum[l] + weight * x[l];
                    }
                }
            }
        }
        let y = y[column..column + LANES].iter_mut().zip(sum);
        if b == T::default() {
            y.for_each(|(y, sum)| *y = scale * sum);
        } else {
            y.for_each(|(y, sum)| *y = scale * sum + b * *y);
        }
    }
}
