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

use super::divide::balanced;
use super::order::is_scattered;
use super::product::{Pattern, Product, Step, Weighted};
use super::renumbered::Renumbered;
use super::rows::Rows;
use super::{Graph, NodeOrder, Operator};
use crate::scalar::Scalar;
use crate::simd::Simd;
use std::ops::Range;

/// How Ã = A + I is normalised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalization {
    /// D̃^-½ Ã D̃^-½, the paper's choice.
    #[default]
    Symmetric,
    /// D̃⁻¹ Ã.
    Row,
}

/// The operator Â of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Propagator<'g> {
    operator: Operator,
    graph: &'g Graph,
    degrees: Degrees,
    /// The same graph with its nodes renumbered, for long propagations, and its degrees by place.
    renumbered: Option<(Renumbered, Degrees)>,
    simd: Simd,
}

/// D̃ and its inverse.
#[derive(Clone, Debug)]
struct Degrees {
    /// D̃: each node's summed edge weights, plus 1 for its self-loop.
    degrees: Vec<f64>,
    /// D̃⁻¹.
    reciprocals: Vec<f64>,
}

impl Degrees {
    fn new(degrees: Vec<f64>) -> Self {
        let reciprocals = degrees.iter().map(|degree| degree.recip()).collect();
        Degrees { degrees, reciprocals }
    }

    fn reordered(&self, order: &NodeOrder) -> Self {
        Degrees::new(order.nodes().iter().map(|&node| self.degrees[node as usize]).collect())
    }
}

impl<'g> Propagator<'g> {
    /// The operator of a graph; O(nodes + edges).
    pub(crate) fn new(graph: &'g Graph, operator: Operator) -> Self {
        let degrees = Degrees::new(graph.degrees());
        Propagator { operator, graph, degrees, renumbered: None, simd: Simd::detect() }
    }

    /// Renumbers the nodes inside, so that neighbours lie closer together, if that pays over so many
    /// products with a single column: on graphs that no cache holds and whose nodes come in no
    /// particular order.
    ///
    /// What goes in and comes out keeps the order of the graph, and no bit of a result changes.
    #[must_use]
    pub(crate) fn prepared_for(self, columns: usize) -> Self {
        if self.renumbered.is_none() && worth_renumbering(self.graph, columns) {
            self.renumbered()
        } else {
            self
        }
    }

    /// With its nodes renumbered inside.
    pub(crate) fn renumbered(mut self) -> Self {
        let order = NodeOrder::reverse_cuthill_mckee(self.graph);
        let degrees = self.degrees.reordered(&order);
        self.renumbered = Some((Renumbered::new(self.graph, order), degrees));
        self
    }

    /// The number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// Entries of Ã: every edge in both directions and the self-loops.
    pub(crate) fn nonzeros(&self) -> usize {
        self.graph.nonzeros()
    }

    /// The rows that are multiplied by: nodes in the order of [`Propagator::node`].
    fn rows(&self) -> Rows<'_> {
        self.renumbered.as_ref().map_or_else(|| self.graph.rows(), |(rows, _)| rows.rows())
    }

    /// The degrees of these rows.
    fn row_degrees(&self) -> &Degrees {
        self.renumbered.as_ref().map_or(&self.degrees, |(_, degrees)| degrees)
    }

    /// The node whose row is at a place.
    pub(crate) fn node(&self, place: usize) -> usize {
        self.renumbered.as_ref().map_or(place, |(rows, _)| rows.order().nodes()[place] as usize)
    }

    /// The place of a node's row.
    pub(crate) fn place(&self, node: usize) -> usize {
        self.renumbered.as_ref().map_or(node, |(rows, _)| rows.order().places()[node] as usize)
    }

    /// The factor for the row at a place before the polynomial in W is applied, for Â or its transpose.
    pub(crate) fn scale_before(&self, place: usize, transposed: bool) -> f64 {
        let degrees = self.row_degrees();
        match (self.operator.normalization, transposed) {
            (Normalization::Symmetric, _) => degrees.degrees[place].sqrt().recip(),
            (Normalization::Row, false) => 1.0,
            (Normalization::Row, true) => degrees.reciprocals[place],
        }
    }

    /// The factor for the row at a place after the polynomial in W was applied, for Â or its transpose.
    pub(crate) fn scale_after(&self, place: usize, transposed: bool) -> f64 {
        let degrees = self.row_degrees();
        match (self.operator.normalization, transposed) {
            (Normalization::Symmetric, _) => degrees.degrees[place].sqrt(),
            (Normalization::Row, false) => 1.0,
            (Normalization::Row, true) => degrees.degrees[place],
        }
    }

    /// All rows in ranges of about the same work.
    pub(crate) fn balanced_rows(&self, parts: usize) -> Vec<Range<usize>> {
        balanced(self.rows().offsets, parts)
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
        let (graph, row_scale) = (self.rows(), &*self.row_degrees().reciprocals);
        match graph.weights {
            None => Product { graph, factor: Pattern, row_scale, step, stride, x, z }
                .rows(self.simd, rows, y),
            Some(weights) => {
                let factor = Weighted(weights);
                Product { graph, factor, row_scale, step, stride, x, z }.rows(self.simd, rows, y);
            }
        }
    }

    /// Bytes that it takes beyond the graph.
    pub(crate) fn memory(&self) -> u64 {
        let scales = 16 * self.nodes() as u64;
        scales + self.renumbered.as_ref().map_or(0, |(rows, _)| rows.memory() + scales)
    }
}

/// Whether renumbering may pay: it takes about as long as multiplying 150 columns, and saves a sixth
/// of each product where rows have to be fetched from far away.
fn worth_renumbering(graph: &Graph, columns: usize) -> bool {
    const NODES: usize = 500_000;
    const COLUMNS: usize = 2000;
    graph.nodes() >= NODES && columns >= COLUMNS && is_scattered(graph)
}
