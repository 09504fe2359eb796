//! Products with columns that are zero nearly everywhere, at the cost of what is not.

use super::degrees::{Sides, degree};
use super::rows::Rows;
use super::{Graph, Normalization, Operator};
use crate::error::Result;

/// The nodes that have been reached from some, each with a place of its own; columns have one entry per place.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    /// One more than the place of each node; 0 for those that have not been reached.
    place: Vec<u32>,
    nodes: Vec<u32>,
}

impl Reached {
    /// None, of so many nodes.
    pub(crate) fn none(nodes: usize) -> Self {
        Reached { place: vec![0; nodes], nodes: Vec::new() }
    }

    /// The nodes by place.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The place of a node, which is reached with that.
    pub(crate) fn place(&mut self, node: u32) -> usize {
        let place = &mut self.place[node as usize];
        if *place == 0 {
            self.nodes.push(node);
            *place = self.nodes.len() as u32;
        }
        *place as usize - 1
    }

    /// Starts again with none.
    pub(crate) fn clear(&mut self) {
        for node in self.nodes.drain(..) {
            self.place[node as usize] = 0;
        }
    }
}

/// An operator on a graph, with factors that are computed where they are needed: a [`Propagator`](super::Propagator) has those of
/// all nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearOperator<'g> {
    sides: Sides<'g>,
    normalization: Normalization,
    loops: f32,
    there_and_back: bool,
}

impl<'g> NearOperator<'g> {
    /// # Errors
    /// A relation that the graph does not have.
    pub(crate) fn new(graph: &'g Graph, operator: &Operator) -> Result<Self> {
        Ok(NearOperator {
            sides: Sides::new(graph, operator)?,
            normalization: operator.normalization,
            loops: operator.loops(),
            there_and_back: operator.direction.is_there_and_back(),
        })
    }

    /// As [`Propagator::has_bounded_real_spectrum`](super::Propagator::has_bounded_real_spectrum).
    pub(crate) fn has_bounded_real_spectrum(&self) -> bool {
        let Sides { rows, transposed, .. } = self.sides;
        let either_way = std::ptr::eq(rows.offsets, transposed.offsets);
        self.normalization != Normalization::Unit && (self.there_and_back || either_way)
    }

    /// As [`Propagator::nonzeros`](super::Propagator::nonzeros).
    pub(crate) fn nonzeros(&self) -> usize {
        self.steps() * (self.sides.rows.neighbours.len() + self.sides.rows.nodes())
    }

    /// Steps along edges that a product takes.
    pub(crate) fn steps(&self) -> usize {
        if self.there_and_back { 2 } else { 1 }
    }

    /// D of the rows of Ã.
    fn left(&self, node: usize) -> f64 {
        degree(self.sides.rows, node, self.loops, self.normalization)
    }

    /// D of the rows of Ãᵀ.
    fn right(&self, node: usize) -> f64 {
        let rows = if self.sides.differ { self.sides.transposed } else { self.sides.rows };
        degree(rows, node, self.loops, self.normalization)
    }

    /// The factor after a sum over neighbours.
    fn row_factor(&self, node: usize) -> f64 {
        let left = self.left(node);
        match self.normalization {
            Normalization::Symmetric if self.sides.differ && !self.there_and_back => {
                (left * self.right(node)).sqrt().recip()
            }
            _ => left.recip(),
        }
    }

    /// The factor before a polynomial in the W of Âᵀ is applied.
    pub(crate) fn scale_before(&self, node: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.left(node).sqrt().recip(),
            Normalization::Row | Normalization::Unit => self.left(node).recip(),
        }
    }

    /// The factor after it was applied.
    pub(crate) fn scale_after(&self, node: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.left(node).sqrt(),
            Normalization::Row | Normalization::Unit => self.left(node),
        }
    }

    /// `y ← W x` for the W of Âᵀ, on columns by place; `between` is scratch. Says how many edges it went along.
    pub(crate) fn spread(
        &self,
        reached: &mut Reached,
        x: &[f64],
        between: &mut Vec<f64>,
        y: &mut Vec<f64>,
    ) -> usize {
        let Sides { rows, transposed, .. } = self.sides;
        // The column of Aᵀ at a node is the row of A.
        if !self.there_and_back {
            let edges = self.push(rows, reached, x, y);
            multiply(y, reached, |node| self.row_factor(node));
            return edges;
        }
        let there = self.push(rows, reached, x, between);
        multiply(between, reached, |node| self.right(node).recip());
        let back = self.push(transposed, reached, between, y);
        multiply(y, reached, |node| self.row_factor(node));
        there + back
    }

    /// `y ← Σ_j x_j (row j of A + s·I)`.
    fn push(&self, rows: Rows<'_>, reached: &mut Reached, x: &[f64], y: &mut Vec<f64>) -> usize {
        let loops = f64::from(self.loops);
        y.clear();
        y.resize(reached.nodes.len(), 0.0);
        let mut add = |reached: &mut Reached, node: u32, value: f64| {
            let place = reached.place(node);
            if place == y.len() {
                y.push(0.0);
            }
            y[place] += value;
        };
        let mut edges = 0;
        for (place, &value) in x.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            let node = reached.nodes[place];
            let others = rows.neighbours_of(node as usize);
            edges += others.len() + 1;
            match rows.weights_of(node as usize) {
                None => others.iter().for_each(|&other| add(reached, other, value)),
                Some(weights) => {
                    for (&other, &weight) in others.iter().zip(weights) {
                        add(reached, other, f64::from(weight) * value);
                    }
                }
            }
            add(reached, node, loops * value);
        }
        edges
    }
}

/// Multiplies each entry by the factor of its node.
fn multiply(column: &mut [f64], reached: &Reached, factor: impl Fn(usize) -> f64) {
    let entries = column.iter_mut().zip(&reached.nodes).filter(|(value, _)| **value != 0.0);
    entries.for_each(|(value, &node)| *value *= factor(node as usize));
}
