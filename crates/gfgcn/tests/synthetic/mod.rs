//! Small random datasets, the same for a seed.

#![allow(dead_code)] // each test binary uses its part

use gfgcn::data::{Dataset, Labels};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::matrix::{Matrix, SparseMatrix};

/// What to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) nodes: usize,
    pub(crate) features: usize,
    pub(crate) classes: usize,
    pub(crate) weighted: bool,
    pub(crate) sparse: bool,
    /// Directed, and edges of two kinds.
    pub(crate) directed: bool,
    pub(crate) seed: u64,
}

/// A linear congruential generator: enough for shapes that are not special.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.below(1 << 24) as f64 / f64::from(1 << 24)
    }
}

impl Recipe {
    /// Communities with features that lean towards their class; the last node is isolated.
    pub(crate) fn make(self) -> Dataset {
        let mut random = Random::new(self.seed);
        let class = |node: usize| node % self.classes;
        let mut edges = Vec::new();
        let mut weights = Vec::new();
        while edges.len() < 3 * self.nodes {
            let (a, b) = (random.below(self.nodes - 1), random.below(self.nodes - 1));
            if a != b && (class(a) == class(b) || random.below(4) == 0) {
                edges.push((a as u32, b as u32));
                weights.push(if self.weighted { 0.25 + random.unit() as f32 } else { 1.0 });
            }
        }
        let graph = if self.directed {
            let arcs = |first: usize, step: usize| {
                let edges: Vec<(u32, u32)> =
                    edges.iter().copied().skip(first).step_by(step).collect();
                let weights: Vec<f32> = weights.iter().copied().skip(first).step_by(step).collect();
                Graph::from_arcs(self.nodes, &edges, Some(&weights)).unwrap().0
            };
            let relations = vec![("even".into(), arcs(0, 2)), ("odd".into(), arcs(1, 2))];
            arcs(0, 1).with_relations(relations).unwrap()
        } else {
            Graph::from_edges(self.nodes, &edges, Some(&weights)).unwrap().0
        };
        let mut dense = Matrix::zeros(self.nodes, self.features);
        for i in 0..self.nodes {
            for j in 0..self.features {
                let own = j % self.classes == class(i);
                if random.below(if own { 2 } else { 4 }) == 0 {
                    dense[(i, j)] = (random.unit() + f64::from(u8::from(own))) as f32;
                }
            }
        }
        let features = if self.sparse { sparse(&dense) } else { Features::dense(dense).unwrap() };
        let ids: Vec<i64> = (0..self.nodes).map(|node| class(node) as i64).collect();
        let labels = Labels::from_ids(&ids, None).unwrap();
        Dataset::new("synthetic", graph, features, labels).unwrap()
    }
}

fn sparse(dense: &Matrix<f32>) -> Features {
    let (mut offsets, mut indices, mut values) = (vec![0], vec![], vec![]);
    for i in 0..dense.rows() {
        for (j, &value) in dense.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(j as u32);
            values.push(value);
        }
        offsets.push(indices.len());
    }
    Features::sparse(SparseMatrix::from_csr(dense.cols(), &offsets, &indices, &values).unwrap())
        .unwrap()
}
