//! Products with columns that are zero nearly everywhere, at the cost of what is not.

use super::propagator::Propagator;
use super::rows::Rows;

/// A column with one entry per node, most of which are zero.
#[derive(Clone, Debug)]
pub(crate) struct SparseColumn {
    values: Vec<f64>,
    is_listed: Vec<bool>,
    listed: Vec<u32>,
}

impl SparseColumn {
    /// Zeros.
    pub(crate) fn zeros(nodes: usize) -> Self {
        SparseColumn { values: vec![0.0; nodes], is_listed: vec![false; nodes], listed: Vec::new() }
    }

    /// The nodes whose entries may be other than zero, in no particular order.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.listed
    }

    pub(crate) fn get(&self, node: u32) -> f64 {
        self.values[node as usize]
    }

    pub(crate) fn add(&mut self, node: u32, value: f64) {
        let k = node as usize;
        if !self.is_listed[k] {
            self.is_listed[k] = true;
            self.listed.push(node);
        }
        self.values[k] += value;
    }

    /// Adds a multiple of another column.
    pub(crate) fn add_scaled(&mut self, factor: f64, other: &SparseColumn) {
        other.listed.iter().for_each(|&node| self.add(node, factor * other.get(node)));
    }

    /// Multiplies each entry by that of its node.
    pub(crate) fn multiply(&mut self, factor: impl Fn(usize) -> f64) {
        for &node in &self.listed {
            self.values[node as usize] *= factor(node as usize);
        }
    }

    /// Makes it zeros again.
    pub(crate) fn clear(&mut self) {
        for node in self.listed.drain(..) {
            (self.values[node as usize], self.is_listed[node as usize]) = (0.0, false);
        }
    }
}

impl Propagator<'_> {
    /// `y ← W x` for the W of Âᵀ, as [`Propagator::step_rows`] has it; `between` is scratch. Says how many edges it went along.
    ///
    /// # Panics
    /// If the nodes are renumbered inside: there is no order to follow where little is touched.
    pub(crate) fn spread(
        &self,
        x: &SparseColumn,
        between: &mut SparseColumn,
        y: &mut SparseColumn,
    ) -> usize {
        assert!(self.is_in_order(), "the nodes are as the graph has them");
        y.clear();
        let (rows, transposed) = self.matrix_rows();
        let (row, there) = self.factors_of_rows();
        match there {
            None => {
                // The column of Aᵀ at a node is the row of A.
                let edges = self.push(rows, x, y);
                y.multiply(|node| row[node]);
                edges
            }
            Some(there) => {
                between.clear();
                let mut edges = self.push(rows, x, between);
                between.multiply(|node| there[node]);
                edges += self.push(transposed, between, y);
                y.multiply(|node| row[node]);
                edges
            }
        }
    }

    /// `y += Σ_j x_j (row j of A + s·I)`.
    fn push(&self, rows: Rows<'_>, x: &SparseColumn, y: &mut SparseColumn) -> usize {
        let loops = self.loop_weight();
        let mut edges = 0;
        for &node in x.nodes() {
            let value = x.get(node);
            let (others, weights) =
                (rows.neighbours_of(node as usize), rows.weights_of(node as usize));
            edges += others.len() + 1;
            match weights {
                None => others.iter().for_each(|&other| y.add(other, value)),
                Some(weights) => {
                    let pairs = others.iter().zip(weights);
                    pairs.for_each(|(&other, &weight)| y.add(other, f64::from(weight) * value));
                }
            }
            if loops != 0.0 {
                y.add(node, f64::from(loops) * value);
            }
        }
        edges
    }
}
