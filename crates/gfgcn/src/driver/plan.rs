//! Plan, then run: which side is propagated, what is shared, and what it costs.
//!
//! Training needs the filtered features F_R of some nodes R (training and validation nodes of
//! all splits). There are two ways to them:
//!
//! ```text
//! features:   F_R = rows R of p(Â) X           d columns propagated, in single precision
//! selectors:  F_R = (p(Â)ᵀ E_R)ᵀ X             |R| columns propagated, in double precision; X stays sparse
//! ```
//!
//! and predicting with a linear kernel takes the third side, the scores: p(Â)(X W), one column per target.
//! The side of a channel follows from its own costs, never from what else is computed beside it or from
//! the memory that is free: company and memory only decide which channels share a pass.

use crate::filter::{Layout, Series, products, writing_memory};
use serde::Serialize;
use std::fmt;

/// What is propagated to get the filtered features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// One column per feature.
    Features,
    /// One column per node whose features are needed.
    Selectors,
}

impl Side {
    /// The one that is not taken.
    pub(super) fn other(self) -> Side {
        match self {
            Side::Features => Side::Selectors,
            Side::Selectors => Side::Features,
        }
    }
}

/// What a plan costs, counted rather than measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Products of Â with all columns.
    pub products: u64,
    /// Columns in each, at most.
    pub columns: u64,
    /// Multiplications and additions, in all.
    pub operations: u64,
    /// Bytes read and written, if nothing were found in a cache.
    pub bytes: u64,
    /// Bytes of memory beyond the data.
    pub memory: u64,
}

impl Cost {
    /// One after the other.
    pub(super) fn then(self, next: Cost) -> Cost {
        Cost {
            products: self.products + next.products,
            columns: self.columns.max(next.columns),
            operations: self.operations + next.operations,
            bytes: self.bytes + next.bytes,
            memory: self.memory.max(next.memory),
        }
    }
}

/// The numbers that costs depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) nodes: usize,
    /// Entries of Ã that a product goes through.
    pub(super) nonzeros: usize,
    /// Vectors beyond those of the recurrence: one where a step is there and back.
    pub(super) spare: usize,
    /// Columns that are filtered.
    pub(super) features: usize,
    /// Entries of X other than zero.
    pub(super) feature_nonzeros: usize,
    /// Nodes whose filtered features are needed.
    pub(super) rows: usize,
    /// Whether these are some of the nodes, so that they can be selected.
    pub(super) selectable: bool,
}

impl Shape {
    /// The cheaper side for a filter that is by itself.
    pub(super) fn side(&self, filter: &Series) -> Side {
        let cost = |side| self.cost(side, std::slice::from_ref(filter), self.layout(side));
        let bytes = |side| cost(side).bytes;
        if self.selectable && bytes(Side::Selectors) < bytes(Side::Features) {
            Side::Selectors
        } else {
            Side::Features
        }
    }

    /// How columns are cut where there is enough memory.
    pub(super) fn layout(&self, side: Side) -> Layout {
        match side {
            Side::Features => Layout::new::<f32>(self.nodes, self.features),
            Side::Selectors => Layout::new::<f64>(self.nodes, self.rows),
        }
    }

    /// What filtering from one side costs several filters together, with columns cut in a way. The memory is that of the
    /// work; the filtered rows come on top.
    pub(super) fn cost(&self, side: Side, filters: &[Series], layout: Layout) -> Cost {
        let Shape { nodes, nonzeros, features, feature_nonzeros, rows, .. } = *self;
        let (columns, summed_rows, size) = match side {
            Side::Features => (features, rows, 4),
            Side::Selectors => (rows, nodes, 8),
        };
        // In floating point: the counts of large graphs pass what whole numbers hold.
        let count = |factors: &[usize]| factors.iter().map(|&f| f as f64).product::<f64>();
        let (products, terms) = (products(filters), filters.iter().map(Series::terms).sum());
        let in_products = count(&[products, nonzeros, columns]);
        let in_sums = count(&[terms, summed_rows, columns]);
        let (in_features, multiplied) = match side {
            Side::Features => (0.0, 0.0),
            // Each filter's sums are gathered, multiplied by X and rounded, one filter after the other.
            Side::Selectors => (
                count(&[filters.len(), feature_nonzeros, columns]),
                count(&[8, nodes + features, layout.width]),
            ),
        };
        let indices = count(&[4, products, nonzeros, columns.div_ceil(layout.width)]);
        let vectors =
            (layout.window.min(products + 1) + self.spare) * nodes + filters.len() * summed_rows;
        let lists = match (side, self.selectable) {
            // The places of some nodes, with their positions; who asks has the list of them.
            (Side::Features, true) => count(&[16, rows]),
            (Side::Features, false) => count(&[EVERY_NODE, nodes]),
            // Which columns select each node, too.
            (Side::Selectors, _) => count(&[EVERY_NODE + 8, nodes]) + count(&[4, rows]),
        };
        let at_work = count(&[size, vectors, layout.at_work(columns)]);
        let multiplied = layout.at_once as f64 * multiplied;
        Cost {
            products: products as u64,
            columns: columns as u64,
            operations: (in_products + 2.0 * in_sums + 2.0 * in_features) as u64,
            bytes: (size as f64 * (in_products + in_sums + in_features) + indices) as u64,
            memory: (at_work + multiplied + lists) as u64,
        }
    }

    /// Bytes of the filtered rows of one channel.
    pub(super) fn result(&self) -> u64 {
        4 * self.rows as u64 * self.features as u64
    }

    /// Bytes that scoring every node in so many columns takes at its peak, with columns cut in a way, by the last of so many
    /// channels; on disk, all columns together take none.
    pub(super) fn scores(
        &self,
        filter: &Series,
        columns: usize,
        channels: usize,
        layout: Layout,
        on_disk: bool,
    ) -> u64 {
        // Those of the recurrence, and their sum.
        let vectors = layout.window.min(filter.products() + 1) + self.spare + 1;
        // The scores of each channel, and X W of the last one or then the sum of all.
        let held = if on_disk { 0 } else { (channels + 1) * columns };
        let at_work = 8 * (held + vectors * layout.at_work(columns)) + EVERY_NODE;
        let writing = if on_disk { layout.at_once as u64 * writing_memory(self.nodes) } else { 0 };
        self.nodes as u64 * at_work as u64 + writing
    }
}

/// Bytes per node of a list of all nodes, and of their places with their positions in the result.
const EVERY_NODE: usize = 8 + 16;

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Features => "features",
            Side::Selectors => "selectors",
        })
    }
}
