//! Plan, then run: which side is propagated, in which basis, and what is shared.
//!
//! Training needs the filtered features F_R of some nodes R (training and validation nodes of
//! all splits). There are two ways to them:
//!
//! ```text
//! features:   F_R = rows R of p(Â) X           d columns propagated, in single precision
//! selectors:  F_R = (p(Â)ᵀ E_R)ᵀ X             |R| columns propagated, in double precision; X stays sparse
//! ```
//!
//! and predicting with a linear kernel takes the third side, the labels: p(Â)(X W), one column per class.
//! One propagation serves every filter that fits into the memory at the same time.

mod explain;

pub use explain::{Explanation, Scoring, Systems};

use crate::features::Features;
use crate::filter::{
    Basis, Filter, FilterBank, Layout, Propagated, Tolerance, propagate, propagate_selectors,
};
use crate::graph::{Graph, Propagator};
use crate::matrix::Matrix;
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// What is propagated to get the filtered features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// One column per feature.
    Features,
    /// One column per node whose features are needed.
    Selectors,
}

/// How the filtered features of some nodes will be computed.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    passes: Vec<Pass>,
    rows: Rows,
    shape: Shape,
    tolerance: Tolerance,
}

/// Filters that one propagation serves.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    /// Positions among the filters asked for.
    pub(crate) filters: Range<usize>,
    pub(crate) bank: FilterBank,
    side: Side,
}

/// The nodes whose filtered features are needed.
#[derive(Clone, Debug)]
enum Rows {
    All,
    Some { nodes: Vec<usize>, position: Vec<u32> },
}

/// The numbers that a plan's cost depends on.
#[derive(Clone, Copy, Debug)]
struct Shape {
    nodes: usize,
    /// Entries of Ã.
    nonzeros: usize,
    features: usize,
    /// Entries of X other than zero.
    feature_nonzeros: usize,
    rows: usize,
}

/// What a plan costs, counted rather than measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Products of Â with a block of all columns.
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

impl Plan {
    /// Plans for filters and the nodes whose filtered features are needed (`None`: all of them).
    ///
    /// `memory` is the number of bytes that filtered features may take at a time.
    pub(crate) fn new(
        graph: &Graph,
        features: &Features,
        filters: &[Filter],
        tolerance: Tolerance,
        rows: Option<Vec<usize>>,
        memory: u64,
    ) -> Self {
        let rows = Rows::new(rows, graph.nodes());
        let shape = Shape {
            nodes: graph.nodes(),
            nonzeros: 2 * graph.edges() + graph.nodes(),
            features: features.cols(),
            feature_nonzeros: features.nonzeros(),
            rows: rows.len(graph.nodes()),
        };
        let result = 4 * shape.rows as u64 * shape.features as u64;
        let at_a_time = (memory / result.max(1)).clamp(1, filters.len().max(1) as u64) as usize;
        let pass = |first: usize| {
            let range = first..filters.len().min(first + at_a_time);
            let bank = FilterBank::new(&filters[range.clone()], tolerance);
            let bytes = |side: Side| shape.cost(side, &bank).bytes;
            let select = rows.are_some() && bytes(Side::Selectors) < bytes(Side::Features);
            let side = if select { Side::Selectors } else { Side::Features };
            Pass { filters: range, bank, side }
        };
        let passes = (0..filters.len()).step_by(at_a_time).map(pass).collect();
        Plan { passes, rows, shape, tolerance }
    }

    /// The recurrence of each pass over the graph.
    pub(crate) fn bases(&self) -> impl Iterator<Item = Basis> + '_ {
        self.passes.iter().map(|pass| pass.bank.basis())
    }

    /// What all passes cost together; the memory is that of the largest.
    pub(crate) fn cost(&self) -> Cost {
        self.passes.iter().map(|pass| self.shape.cost(pass.side, &pass.bank)).fold(
            Cost::default(),
            |all, one| Cost {
                products: all.products + one.products,
                columns: all.columns.max(one.columns),
                operations: all.operations + one.operations,
                bytes: all.bytes + one.bytes,
                memory: all.memory.max(one.memory),
            },
        )
    }

    /// Products times the columns of each: what renumbering the nodes has to pay for itself over.
    pub(crate) fn multiplied_columns(&self) -> usize {
        let cost = self.cost();
        (cost.products * cost.columns) as usize
    }

    pub(crate) fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// The filtered features of the planned rows, for each filter of a pass.
    pub(crate) fn run(
        &self,
        pass: &Pass,
        propagator: &Propagator<'_>,
        features: &Features,
    ) -> Vec<Propagated<f32>> {
        match (&self.rows, pass.side) {
            (Rows::All, _) => propagate(propagator, &pass.bank, features, None),
            (Rows::Some { nodes, .. }, Side::Features) => {
                propagate(propagator, &pass.bank, features, Some(nodes))
            }
            (Rows::Some { nodes, .. }, Side::Selectors) => {
                propagate_selectors(propagator, &pass.bank, features, nodes)
            }
        }
    }

    /// The filtered features of some of the planned nodes.
    pub(crate) fn select(&self, filtered: &Propagated<f32>, nodes: &[usize]) -> Matrix<f64> {
        match &self.rows {
            Rows::All => filtered.select(nodes.iter().copied()),
            Rows::Some { position, .. } => {
                filtered.select(nodes.iter().map(|&node| position[node] as usize))
            }
        }
    }
}

impl Rows {
    fn new(rows: Option<Vec<usize>>, total: usize) -> Self {
        let Some(mut nodes) = rows else { return Rows::All };
        nodes.sort_unstable();
        nodes.dedup();
        let mut position = vec![u32::MAX; total];
        nodes.iter().zip(0..).for_each(|(&node, k)| position[node] = k);
        Rows::Some { nodes, position }
    }

    /// Whether there is something to select.
    fn are_some(&self) -> bool {
        matches!(self, Rows::Some { .. })
    }

    fn len(&self, total: usize) -> usize {
        match self {
            Rows::All => total,
            Rows::Some { nodes, .. } => nodes.len(),
        }
    }
}

impl Shape {
    fn cost(&self, side: Side, bank: &FilterBank) -> Cost {
        let Shape { nodes, nonzeros, features, feature_nonzeros, rows } = *self;
        let (columns, summed_rows, size, layout) = match side {
            Side::Features => (features, rows, 4, Layout::new::<f32>(nodes, features)),
            Side::Selectors => (rows, nodes, 8, Layout::new::<f64>(nodes, rows)),
        };
        // In floating point: the counts of large graphs pass what whole numbers hold.
        let count = |factors: &[usize]| factors.iter().map(|&f| f as f64).product::<f64>();
        let (products, filters) = (bank.products(), bank.len());
        let in_products = count(&[products, nonzeros, columns]);
        let in_sums = count(&[bank.terms(), summed_rows, columns]);
        let in_features = match side {
            Side::Features => 0.0,
            Side::Selectors => count(&[filters, feature_nonzeros, columns]),
        };
        let indices = count(&[4, products, nonzeros, columns.div_ceil(layout.width)]);
        let vectors = layout.window.min(products + 1) * nodes + filters * summed_rows;
        let result = count(&[4, filters, rows, features]);
        Cost {
            products: products as u64,
            columns: columns as u64,
            operations: (in_products + 2.0 * in_sums + 2.0 * in_features) as u64,
            bytes: (size as f64 * (in_products + in_sums + in_features) + indices) as u64,
            memory: (result + count(&[layout.at_once, size, vectors, layout.width])) as u64,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Features => "features",
            Side::Selectors => "selectors",
        })
    }
}
