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
use super::{Graph, NodeOrder};
use crate::scalar::Scalar;
use crate::simd::Simd;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
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
    normalization: Normalization,
    walk: Walk<'g>,
    /// The same walk with its nodes renumbered, for long propagations.
    renumbered: Option<(Walk<'g>, NodeOrder)>,
    simd: Simd,
}

/// The random walk W = D̃⁻¹Ã.
#[derive(Clone, Debug)]
struct Walk<'g> {
    graph: Cow<'g, Graph>,
    /// D̃: each node's summed edge weights, plus 1 for its self-loop.
    degrees: Vec<f64>,
    /// D̃⁻¹.
    reciprocals: Vec<f64>,
}

impl<'g> Walk<'g> {
    fn new(graph: Cow<'g, Graph>) -> Self {
        let rows = graph.rows();
        let degrees: Vec<f64> = (0..rows.nodes())
            .map(|node| match rows.weights_of(node) {
                Some(weights) => 1.0 + weights.iter().map(|&w| f64::from(w)).sum::<f64>(),
                None => 1.0 + rows.degree(node) as f64,
            })
            .collect();
        let reciprocals = degrees.iter().map(|degree| degree.recip()).collect();
        Walk { graph, degrees, reciprocals }
    }
}

impl<'g> Propagator<'g> {
    /// Columns that the product kernel takes through the neighbours of a node at a time.
    pub const COLUMNS_PER_PASS: usize = 64;

    /// The operator of a graph; O(nodes + edges).
    pub fn new(graph: &'g Graph, normalization: Normalization) -> Self {
        let walk = Walk::new(Cow::Borrowed(graph));
        Propagator { normalization, walk, renumbered: None, simd: Simd::detect() }
    }

    /// Renumbers the nodes inside, so that neighbours lie closer together, if that pays over so many
    /// products with a single column: on graphs that no cache holds and whose nodes come in no
    /// particular order.
    ///
    /// What goes in and comes out keeps the order of the graph; only the last bits of results may
    /// differ, because neighbours are added up in another order.
    #[must_use]
    pub fn prepared_for(self, columns: usize) -> Self {
        if self.renumbered.is_none() && worth_renumbering(&self.walk.graph, columns) {
            self.renumbered()
        } else {
            self
        }
    }

    /// With its nodes renumbered inside.
    pub(crate) fn renumbered(mut self) -> Self {
        let order = NodeOrder::reverse_cuthill_mckee(&self.walk.graph);
        let graph = self.walk.graph.reordered(&order);
        self.renumbered = Some((Walk::new(Cow::Owned(graph)), order));
        self
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.walk.graph.nodes()
    }

    /// D̃: each node's summed edge weights, plus 1 for its self-loop.
    pub fn degrees(&self) -> &[f64] {
        &self.walk.degrees
    }

    /// Entries of Ã: every edge in both directions and the self-loops.
    pub fn nonzeros(&self) -> usize {
        self.walk.graph.nonzeros()
    }

    /// The walk that is multiplied by. Its rows are nodes in the order of [`Propagator::node`].
    fn active(&self) -> &Walk<'g> {
        self.renumbered.as_ref().map_or(&self.walk, |(walk, _)| walk)
    }

    /// The node whose row is at a place.
    pub(crate) fn node(&self, place: usize) -> usize {
        self.renumbered.as_ref().map_or(place, |(_, order)| order.nodes()[place] as usize)
    }

    /// The place of a node's row.
    pub(crate) fn place(&self, node: usize) -> usize {
        self.renumbered.as_ref().map_or(node, |(_, order)| order.places()[node] as usize)
    }

    /// The factor for the row at a place before the polynomial in W is applied.
    pub(crate) fn scale_before(&self, place: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.active().degrees[place].sqrt().recip(),
            Normalization::Row => 1.0,
        }
    }

    /// The factor for the row at a place after the polynomial in W was applied.
    pub(crate) fn scale_after(&self, place: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.active().degrees[place].sqrt(),
            Normalization::Row => 1.0,
        }
    }

    /// As [`Propagator::scale_before`], for the transposed operator.
    pub(crate) fn transposed_before(&self, place: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.scale_before(place),
            Normalization::Row => self.active().reciprocals[place],
        }
    }

    /// As [`Propagator::scale_after`], for the transposed operator.
    pub(crate) fn transposed_after(&self, place: usize) -> f64 {
        match self.normalization {
            Normalization::Symmetric => self.scale_after(place),
            Normalization::Row => self.active().degrees[place],
        }
    }

    /// All rows in ranges of about the same work.
    pub(crate) fn balanced_rows(&self, parts: usize) -> Vec<Range<usize>> {
        balanced(self.active().graph.offsets(), parts)
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
        let Walk { graph, reciprocals: row_scale, .. } = self.active();
        let graph = graph.rows();
        match graph.weights {
            None => Product { graph, factor: Pattern, row_scale, step, stride, x, z }
                .rows(self.simd, rows, y),
            Some(weights) => {
                let factor = Weighted(weights);
                Product { graph, factor, row_scale, step, stride, x, z }.rows(self.simd, rows, y);
            }
        }
    }

    /// How Ã is normalised.
    pub(super) fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// The graph in its own order, D̃⁻¹ and the vector instructions to use.
    pub(super) fn parts(&self) -> (&Graph, &[f64], Simd) {
        (&self.walk.graph, &self.walk.reciprocals, self.simd)
    }
}

/// Whether renumbering may pay: it takes about as long as multiplying 150 columns, and saves a sixth
/// of each product where rows have to be fetched from far away.
fn worth_renumbering(graph: &Graph, columns: usize) -> bool {
    const NODES: usize = 500_000;
    const COLUMNS: usize = 2000;
    graph.nodes() >= NODES && columns >= COLUMNS && is_scattered(graph)
}
