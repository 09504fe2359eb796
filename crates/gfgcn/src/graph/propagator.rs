//! The normalised adjacency as an operator on blocks of columns.
//!
//! All operators are one in disguise. With W = R C Ã for diagonal R and C,
//!
//! ```text
//! p(R Ã C)    = C⁻¹ · p(W) · C               row, unit: C = I;  symmetric: R and C are roots of degrees
//! p(R Ã C)ᵀ   = R⁻¹ · p(R C Ãᵀ) · R
//! ```
//!
//! so the kernel only ever multiplies by W — a sum over neighbours and one scaling per row, no
//! stored value per edge — and the normalisation is a scaling of rows before and after. A step there and back has two
//! such sums, of Ãᵀ and then of Ã.

use super::degrees::Scaled;
use super::divide::balanced;
use super::order::is_scattered;
use super::product::{EdgeFactor, Looped, Pattern, Product, Step, Weighted};
use super::renumbered::Renumbered;
use super::rows::Rows;
use super::{Graph, NodeOrder, Normalization, Operator};
use crate::device::Sums;
use crate::error::Result;
use crate::scalar::Scalar;
use crate::simd::Simd;
use std::ops::Range;
use std::sync::OnceLock;

/// The operator Â of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Propagator<'g> {
    normalization: Normalization,
    loops: f32,
    graph: &'g Graph,
    /// The rows of A, and of Aᵀ.
    forward: Rows<'g>,
    transposed: Rows<'g>,
    /// What sums over neighbours are multiplied by.
    factors: Factors,
    /// Whether the processor renumbers the nodes.
    renumbers: bool,
    /// The same graph with its nodes renumbered, for long propagations, and its factors by place; once it is made.
    renumbered: OnceLock<(Renumbered, Factors)>,
    /// Whether a step there is followed by one back.
    there_and_back: bool,
    simd: Simd,
}

/// The factors of the rows.
#[derive(Clone, Debug)]
struct Factors {
    /// After each sum over neighbours.
    row: Vec<f64>,
    /// After the sums of the way there, where the step has a way back.
    there: Option<Vec<f64>>,
    /// D of the rows of Ã, and of those of Ãᵀ if they are others.
    left: Vec<f64>,
    right: Option<Vec<f64>>,
}

impl Factors {
    fn new(matrix: Scaled<'_>, normalization: Normalization, there_and_back: bool) -> Self {
        let reciprocals = |of: &[f64]| of.iter().map(|degree| degree.recip()).collect();
        if there_and_back {
            // D_left⁻¹ Ã D_right⁻¹ Ãᵀ, which D_left makes symmetric: its own transpose but for factors before and after.
            let there = Some(reciprocals(matrix.right()));
            return Factors {
                row: reciprocals(&matrix.left),
                there,
                left: matrix.left,
                right: None,
            };
        }
        let row = match (&matrix.right, normalization) {
            (Some(right), Normalization::Symmetric) => {
                let pairs = matrix.left.iter().zip(right);
                pairs.map(|(left, right)| (left * right).sqrt().recip()).collect()
            }
            _ => reciprocals(&matrix.left),
        };
        Factors { row, there: None, left: matrix.left, right: matrix.right }
    }

    fn reordered(&self, order: &NodeOrder) -> Self {
        let by_place = |of: &Vec<f64>| -> Vec<f64> {
            order.nodes().iter().map(|&node| of[node as usize]).collect()
        };
        Factors {
            row: by_place(&self.row),
            there: self.there.as_ref().map(by_place),
            left: by_place(&self.left),
            right: self.right.as_ref().map(by_place),
        }
    }

    /// D of the side that a polynomial is scaled by before and after.
    fn outer(&self, transposed: bool) -> &[f64] {
        match &self.right {
            Some(right) if !transposed => right,
            _ => &self.left,
        }
    }

    fn memory(&self) -> u64 {
        let optional = [&self.there, &self.right].into_iter().flatten().count();
        (8 * self.row.len() * (2 + optional)) as u64
    }
}

impl<'g> Propagator<'g> {
    /// The operator of a graph; O(nodes + edges).
    ///
    /// # Errors
    /// A relation that the graph does not have.
    pub(crate) fn new(graph: &'g Graph, operator: &Operator) -> Result<Self> {
        let matrix = Scaled::new(graph, operator)?;
        let graph = operator.relation().map_or(Ok(graph), |name| graph.relation(name))?;
        let (normalization, there_and_back) =
            (operator.normalization, operator.direction.is_there_and_back());
        Ok(Propagator {
            normalization,
            loops: operator.loops(),
            graph,
            forward: matrix.rows,
            transposed: matrix.transposed,
            factors: Factors::new(matrix, normalization, there_and_back),
            renumbers: false,
            renumbered: OnceLock::new(),
            there_and_back,
            simd: Simd::detect(),
        })
    }

    /// Will have its nodes renumbered inside, so that neighbours lie closer together, if that pays over so many
    /// products with a single column: on graphs that no cache holds and whose nodes come in no
    /// particular order.
    ///
    /// What goes in and comes out keeps the order of the graph, and no bit of a result changes. Only done in the room that there
    /// is for a copy of the graph.
    #[must_use]
    pub(crate) fn prepared_for(mut self, columns: usize, room: u64) -> Self {
        let either_way = !self.there_and_back && self.is_either_way();
        let fits = self.renumbered_memory() <= room;
        self.renumbers = either_way && fits && worth_renumbering(self.graph, columns);
        self
    }

    /// Renumbers the nodes, if they are to be, before the processor multiplies. A device has no use for it.
    ///
    /// Not under a lock: a thread that waits for others of its own may be given work meanwhile that comes here, too. Made twice
    /// at worst, it is the same.
    pub(crate) fn prepare(&self) {
        if self.renumbers && self.renumbered.get().is_none() {
            let order = NodeOrder::reverse_cuthill_mckee(self.graph);
            let factors = self.factors.reordered(&order);
            let _ = self.renumbered.set((Renumbered::new(self.graph, order), factors));
        }
    }

    /// With its nodes renumbered inside; edges must be followed either way.
    #[cfg(test)]
    pub(crate) fn renumbered(mut self) -> Self {
        self.renumbers = true;
        self.prepare();
        self
    }

    /// Whether edges are followed either way.
    fn is_either_way(&self) -> bool {
        std::ptr::eq(self.forward.offsets, self.transposed.offsets)
    }

    /// Whether all eigenvalues are real and from −1 to 1: Â is similar to a symmetric matrix whose rows are divided by
    /// their sums.
    pub(crate) fn has_bounded_real_spectrum(&self) -> bool {
        self.normalization != Normalization::Unit && (self.there_and_back || self.is_either_way())
    }

    /// Whether a product takes a second one before it, of [`Propagator::step_there`].
    pub(crate) fn is_there_and_back(&self) -> bool {
        self.there_and_back
    }

    /// The number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// Entries of Ã, self-loops among them, that a product goes through.
    pub(crate) fn nonzeros(&self) -> usize {
        let one_way = self.forward.neighbours.len() + self.nodes();
        if self.there_and_back { 2 * one_way } else { one_way }
    }

    /// The rows that are multiplied by: nodes in the order of [`Propagator::node`].
    fn rows(&self, transposed: bool) -> Rows<'_> {
        match self.renumbered.get() {
            Some((rows, _)) => rows.rows(),
            // There and back is its own transpose.
            None if transposed && !self.there_and_back => self.transposed,
            None => self.forward,
        }
    }

    /// The factors of these rows.
    fn row_factors(&self) -> &Factors {
        self.renumbered.get().map_or(&self.factors, |(_, factors)| factors)
    }

    /// The node whose row is at a place.
    pub(crate) fn node(&self, place: usize) -> usize {
        self.renumbered.get().map_or(place, |(rows, _)| rows.order().nodes()[place] as usize)
    }

    /// The place of a node's row.
    pub(crate) fn place(&self, node: usize) -> usize {
        self.renumbered.get().map_or(node, |(rows, _)| rows.order().places()[node] as usize)
    }

    /// The factor for the row at a place before the polynomial in W is applied, for Â or its transpose.
    pub(crate) fn scale_before(&self, place: usize, transposed: bool) -> f64 {
        self.scale_after(place, transposed).recip()
    }

    /// The factor for the row at a place after the polynomial in W was applied, for Â or its transpose.
    pub(crate) fn scale_after(&self, place: usize, transposed: bool) -> f64 {
        self.outer_scale(self.row_factors(), place, transposed)
    }

    fn outer_scale(&self, factors: &Factors, place: usize, transposed: bool) -> f64 {
        let degree = || factors.outer(transposed)[place];
        match (self.normalization, transposed) {
            (Normalization::Symmetric, _) => degree().sqrt(),
            (Normalization::Row | Normalization::Unit, false) => 1.0,
            (Normalization::Row | Normalization::Unit, true) => degree(),
        }
    }

    /// The factors of all nodes after the polynomial in W was applied; before it, they are divided by.
    pub(crate) fn outer_scales(&self, transposed: bool) -> Vec<f64> {
        (0..self.nodes()).map(|node| self.outer_scale(&self.factors, node, transposed)).collect()
    }

    /// The sums of one product with W, nodes in the order of the graph: those of the way there, where a step is there and
    /// back, and those that follow.
    pub(crate) fn sums(&self, transposed: bool) -> (Option<Sums<'_>>, Sums<'_>) {
        let sums = |rows: Rows<'g>, scale| Sums {
            offsets: rows.offsets,
            neighbours: rows.neighbours,
            weights: rows.weights,
            loops: self.loops,
            scale,
        };
        let there = self.factors.there.as_deref();
        let there = there.map(|scale| sums(self.transposed, scale));
        let rows = match transposed && there.is_none() {
            true => self.transposed,
            false => self.forward,
        };
        (there, sums(rows, &self.factors.row))
    }

    /// All rows in ranges of about the same work.
    pub(crate) fn balanced_rows(&self, parts: usize) -> Vec<Range<usize>> {
        balanced(self.rows(false).offsets, parts)
    }

    /// `y ← a·W·x + b·x + c·z` on a block of `stride` columns (row-major), for some rows: `y` holds
    /// just those, x and z all of them. Without `z` the old y is meant.
    #[allow(clippy::too_many_arguments)] // the parts of one step
    pub(crate) fn step_rows<T: Scalar>(
        &self,
        step: Step<T>,
        transposed: bool,
        rows: Range<usize>,
        stride: usize,
        x: &[T],
        z: Option<&[T]>,
        y: &mut [T],
    ) {
        let (graph, row_scale) = (self.rows(transposed), &*self.row_factors().row);
        self.multiply(Block { graph, row_scale, step, stride, x, z }, rows, y);
    }

    /// The way there of a step that is there and back: `y ← D_right⁻¹ Ãᵀ x`.
    ///
    /// # Panics
    /// If the step goes one way only.
    pub(crate) fn step_there<T: Scalar>(
        &self,
        rows: Range<usize>,
        stride: usize,
        x: &[T],
        y: &mut [T],
    ) {
        let step = Step { a: T::from_f64(1.0), b: T::default(), c: T::default() };
        let row_scale = self.factors.there.as_deref().expect("a step there and back");
        let block = Block { graph: self.transposed, row_scale, step, stride, x, z: None };
        self.multiply(block, rows, y);
    }

    fn multiply<T: Scalar>(&self, block: Block<'_, T>, rows: Range<usize>, y: &mut [T]) {
        match (block.graph.weights, self.loops == 1.0) {
            (None, true) => block.by(Pattern).rows(self.simd, rows, y),
            (Some(weights), true) => block.by(Weighted(weights)).rows(self.simd, rows, y),
            (None, false) => block.by(Looped(Pattern, self.loops)).rows(self.simd, rows, y),
            (Some(weights), false) => {
                block.by(Looped(Weighted(weights), self.loops)).rows(self.simd, rows, y);
            }
        }
    }

    /// Bytes that the nodes renumbered inside would take, and finding their order.
    fn renumbered_memory(&self) -> u64 {
        Renumbered::memory(self.graph) + self.factors.memory() + 8 * self.nodes() as u64
    }

    /// Bytes that it takes beyond the graph, the renumbered one among them where the processor will need it.
    pub(crate) fn memory(&self) -> u64 {
        let renumbered = match self.renumbers {
            true => Renumbered::memory(self.graph) + self.factors.memory(),
            false => 0,
        };
        self.factors.memory() + renumbered
    }
}

/// A product but for what edges are multiplied by.
struct Block<'a, T> {
    graph: Rows<'a>,
    row_scale: &'a [f64],
    step: Step<T>,
    stride: usize,
    x: &'a [T],
    z: Option<&'a [T]>,
}

impl<'a, T: Scalar> Block<'a, T> {
    fn by<F: EdgeFactor<T>>(self, factor: F) -> Product<'a, T, F> {
        let Block { graph, row_scale, step, stride, x, z } = self;
        let known = graph.nodes();
        Product { graph, factor, row_scale, step, stride, x, known, z }
    }
}

/// Whether renumbering may pay: it takes about as long as multiplying 150 columns, and saves a sixth
/// of each product where rows have to be fetched from far away.
fn worth_renumbering(graph: &Graph, columns: usize) -> bool {
    const NODES: usize = 500_000;
    const COLUMNS: usize = 2000;
    graph.nodes() >= NODES && columns >= COLUMNS && is_scattered(graph)
}
