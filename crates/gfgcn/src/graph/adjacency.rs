//! Â as a matrix that is multiplied by, one product at a time.
//!
//! Filters go through the [driver](crate::driver), which takes many products at once. Networks that
//! do something else between two products multiply by an [`Adjacency`], and by its transpose in the
//! backward pass.

use super::degrees::Scaled;
use super::divide::{balanced, split_rows};
use super::product::{
    EdgeFactor, Looped, PASS_BYTES, Pattern, Product, Scaled as Scaling, Step, Weighted,
};
use super::rows::Rows;
use super::{Graph, Normalization, Operator};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::simd::Simd;
use rayon::prelude::*;

/// More tasks than threads, so that a thread that is late can be helped.
const TASKS_PER_THREAD: usize = 8;
/// Below this many additions a product is not worth handing out to other threads.
const PARALLEL_FROM: usize = 1 << 18;

/// Â or Âᵀ of a graph, with a factor per row and one per column at hand.
#[derive(Clone, Debug)]
pub struct Adjacency<'p> {
    rows: Rows<'p>,
    /// The weight of self-loops.
    loops: f32,
    row_scale: Vec<f64>,
    /// One per node; absent where all are 1.
    column_scale: Option<Vec<f32>>,
    simd: Simd,
}

impl Graph {
    /// Â as a matrix to multiply by; O(nodes + edges).
    ///
    /// ```
    /// use gfgcn::graph::Graph;
    /// use gfgcn::matrix::Matrix;
    /// let (graph, _) = Graph::from_edges(2, &[(0, 1)], None)?;
    /// let x = Matrix::from_fn(2, 3, |i, j| (3 * i + j) as f32);
    /// let mut out = Matrix::zeros(2, 3);
    /// graph.adjacency(&"row".parse()?)?.multiply(&x, &mut out);
    /// assert_eq!(out.row(0), [1.5, 2.5, 3.5]);
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Errors
    /// A relation that the graph does not have, or a direction that takes two products (`out-in`, `in-out`).
    pub fn adjacency(&self, operator: &Operator) -> Result<Adjacency<'_>> {
        self.adjacency_as(operator, false)
    }

    /// Âᵀ, which is Â where it is normalised symmetrically and edges are followed either way.
    ///
    /// # Errors
    /// As [`Graph::adjacency`].
    pub fn transposed_adjacency(&self, operator: &Operator) -> Result<Adjacency<'_>> {
        self.adjacency_as(operator, true)
    }

    fn adjacency_as(&self, operator: &Operator, transposed: bool) -> Result<Adjacency<'_>> {
        if operator.direction.is_there_and_back() {
            return Err(Error::parameter("operator", operator, "one with a single step"));
        }
        let matrix = Scaled::new(self, operator)?;
        let reciprocals = |of: &[f64]| of.iter().map(|degree| degree.recip()).collect();
        let roots = |of: &[f64]| of.iter().map(|degree| degree.recip().sqrt()).collect();
        let to_single = |scale: Vec<f64>| scale.iter().map(|&r| r as f32).collect();
        let rows = if transposed { matrix.transposed } else { matrix.rows };
        let (row_scale, column_scale) = match (operator.normalization, transposed) {
            (Normalization::Symmetric, false) => {
                (roots(&matrix.left), Some(to_single(roots(matrix.right()))))
            }
            (Normalization::Symmetric, true) => {
                (roots(matrix.right()), Some(to_single(roots(&matrix.left))))
            }
            (_, false) => (reciprocals(&matrix.left), None),
            (_, true) => (vec![1.0; matrix.left.len()], Some(to_single(reciprocals(&matrix.left)))),
        };
        let loops = operator.loops();
        Ok(Adjacency { rows, loops, row_scale, column_scale, simd: Simd::detect() })
    }
}

impl Adjacency<'_> {
    /// Columns that the product kernel takes through the neighbours of a node at a time.
    pub const COLUMNS_PER_PASS: usize = PASS_BYTES / size_of::<f32>();

    /// `out ← Â·x`, nodes × columns each.
    ///
    /// Reads every row of x once per edge and writes every row of `out` once; no other memory of
    /// that size is touched.
    ///
    /// # Panics
    /// If x and `out` do not have one row per node and the same columns.
    pub fn multiply(&self, x: &Matrix<f32>, out: &mut Matrix<f32>) {
        assert_eq!(x.rows(), self.rows.nodes(), "x needs one row per node");
        assert_eq!(out.rows(), self.rows.nodes(), "its product needs one row per node");
        self.multiply_first(x, out);
    }

    /// The first rows of `Â·x`, as many as `out` has. Rows that x lacks at its end count as zero.
    ///
    /// # Panics
    /// If x or `out` has more rows than there are nodes, or they have different columns.
    pub fn multiply_first(&self, x: &Matrix<f32>, out: &mut Matrix<f32>) {
        self.step(Step { a: 1.0, b: 0.0, c: 0.0 }, x, None, out);
    }

    /// The first rows of `a·Â·x + c·z`, where x and `out` are as for [`Adjacency::multiply_first`] and z has at least the
    /// rows of `out`.
    ///
    /// # Panics
    /// As [`Adjacency::multiply_first`], or if z has fewer rows or other columns than `out`.
    pub fn multiply_add_first(
        &self,
        a: f32,
        x: &Matrix<f32>,
        c: f32,
        z: &Matrix<f32>,
        out: &mut Matrix<f32>,
    ) {
        assert_eq!(z.cols(), out.cols(), "z and the sum differ in their columns");
        assert!(z.rows() >= out.rows(), "z has fewer rows than the sum");
        self.step(Step { a, b: 0.0, c }, x, Some(z), out);
    }

    fn step(
        &self,
        step: Step<f32>,
        x: &Matrix<f32>,
        z: Option<&Matrix<f32>>,
        out: &mut Matrix<f32>,
    ) {
        assert_eq!(x.cols(), out.cols(), "x and its product differ in their columns");
        assert!(x.rows().max(out.rows()) <= self.rows.nodes(), "more rows than nodes");
        match (self.rows.weights, self.loops == 1.0) {
            (None, true) => self.step_of(Pattern, step, x, z, out),
            (Some(w), true) => self.step_of(Weighted(w), step, x, z, out),
            (None, false) => self.step_of(Looped(Pattern, self.loops), step, x, z, out),
            (Some(w), false) => self.step_of(Looped(Weighted(w), self.loops), step, x, z, out),
        }
    }

    fn step_of<F: EdgeFactor<f32> + Send>(
        &self,
        factor: F,
        step: Step<f32>,
        x: &Matrix<f32>,
        z: Option<&Matrix<f32>>,
        out: &mut Matrix<f32>,
    ) {
        match &self.column_scale {
            None => self.step_by(factor, step, x, z, out),
            Some(scale) => self.step_by(Scaling(factor, scale), step, x, z, out),
        }
    }

    fn step_by<F: EdgeFactor<f32> + Send>(
        &self,
        factor: F,
        step: Step<f32>,
        x: &Matrix<f32>,
        z: Option<&Matrix<f32>>,
        out: &mut Matrix<f32>,
    ) {
        let (graph, stride, known, rows) = (self.rows, x.cols(), x.rows(), out.rows());
        let (x, z, row_scale) = (x.as_slice(), z.map(Matrix::as_slice), &self.row_scale);
        let product = Product { graph, factor, row_scale, step, stride, x, known, z };
        let additions = (graph.offsets[rows] as usize + rows) * stride;
        if additions < PARALLEL_FROM || rayon::current_num_threads() == 1 {
            return product.rows(self.simd, 0..rows, out.as_mut_slice());
        }
        let tasks = TASKS_PER_THREAD * rayon::current_num_threads();
        let ranges = balanced(&graph.offsets[..=rows], tasks);
        let parts = split_rows(out.as_mut_slice(), stride, &ranges);
        ranges.into_par_iter().zip(parts).for_each(|(rows, y)| product.rows(self.simd, rows, y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ⟨Âx, y⟩ = ⟨x, Âᵀy⟩, and the sum with z, for every kind of operator, with weights and without.
    #[test]
    fn the_transpose_is_the_adjoint() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)];
        let weights = [1.0, 2.0, 0.5, 3.0, 1.5, 0.25];
        let x = Matrix::from_fn(5, 3, |i, j| ((7 * i + 3 * j) % 5) as f32 - 2.0);
        let y = Matrix::from_fn(5, 3, |i, j| ((2 * i + 5 * j) % 7) as f32 - 3.0);
        let dot = |a: &Matrix<f32>, b: &Matrix<f32>| -> f32 {
            a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a * b).sum()
        };
        let operators = ["sym", "row", "unit", "sym:out", "row:in,loops=0", "unit:out,loops=2"];
        for (weights, operator) in
            [None, Some(&weights[..])].into_iter().flat_map(|w| operators.map(|o| (w, o)))
        {
            let (graph, _) = Graph::from_arcs(5, &edges, weights).unwrap();
            let operator: Operator = operator.parse().unwrap();
            let adjacency = graph.adjacency(&operator).unwrap();
            let (mut forward, mut back) = (Matrix::zeros(5, 3), Matrix::zeros(5, 3));
            adjacency.multiply(&x, &mut forward);
            graph.transposed_adjacency(&operator).unwrap().multiply(&y, &mut back);
            let (left, right) = (dot(&forward, &y), dot(&x, &back));
            assert!((left - right).abs() < 1e-4, "{operator}: {left} {right}");
            let mut sum = Matrix::zeros(5, 3);
            adjacency.multiply_add_first(0.5, &x, 2.0, &y, &mut sum);
            for k in 0..15 {
                let expected = 0.5 * forward.as_slice()[k] + 2.0 * y.as_slice()[k];
                assert!((sum.as_slice()[k] - expected).abs() < 1e-5);
            }
        }
    }

    /// The first rows of a product, of the first rows of x, are those of the whole where the rest of x is zero.
    #[test]
    fn a_part_of_a_product_is_that_of_the_whole() {
        let nodes: u32 = 600;
        let mut edges: Vec<(u32, u32)> =
            (0..4 * nodes).map(|k| (k * 7 % nodes, k * k % nodes)).collect();
        edges.extend((1..nodes).map(|leaf| (0, leaf))); // a hub
        let weights: Vec<f32> = (0..edges.len()).map(|k| 1.0 + (k % 3) as f32).collect();
        let n = nodes as usize;
        for (weights, operator) in [(None, "sym"), (Some(&weights[..]), "row"), (None, "sym:out")] {
            let (graph, _) = Graph::from_arcs(n, &edges, weights).unwrap();
            let adjacency = graph.adjacency(&operator.parse().unwrap()).unwrap();
            for (known, rows) in [(n, 0), (n, 77), (250, 600), (250, 60), (1, 599), (0, 600)] {
                let x = Matrix::from_fn(known, 5, |i, j| ((7 * i + 3 * j) % 5) as f32 - 1.5);
                let z = Matrix::from_fn(n, 5, |i, j| ((3 * i + j) % 4) as f32);
                let padded = Matrix::from_fn(n, 5, |i, j| if i < known { x[(i, j)] } else { 0.0 });
                let (mut whole, mut part) = (Matrix::zeros(n, 5), Matrix::zeros(rows, 5));
                adjacency.multiply_add_first(0.5, &padded, 2.0, &z, &mut whole);
                adjacency.multiply_add_first(0.5, &x, 2.0, &z, &mut part);
                for (part, whole) in part.as_slice().iter().zip(whole.as_slice()) {
                    assert!(
                        (part - whole).abs() <= 1e-5 * whole.abs(),
                        "{operator} {known} {rows}"
                    );
                }
            }
        }
    }
}
