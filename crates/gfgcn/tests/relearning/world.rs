//! Data as lists, and what can be learnt from them.

use crate::synthetic::Random;
use gfgcn::data::{Dataset, LabelSets, Labels, Targets, Values};
use gfgcn::features::Features;
use gfgcn::graph::Graph;
use gfgcn::kernel::Kernel;
use gfgcn::matrix::Matrix;
use gfgcn::split::Split;

/// Data as lists, from which every dataset is built anew: what is left after a change is computed here and not by the library.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) kind: Kind,
    pub(crate) directed: bool,
    /// Numbers that nodes keep, whatever happens to others.
    pub(crate) nodes: Vec<usize>,
    pub(crate) edges: Vec<(usize, usize, f32)>,
    pub(crate) features: Vec<Vec<f32>>,
    /// A class, a bit per label, or a value: of every node that ever was.
    pub(crate) truth: Vec<usize>,
    /// Nodes of which it is known.
    pub(crate) known: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Classes,
    Sets,
    Values,
}

pub(crate) const FEATURES: usize = 7;

impl World {
    /// A ring whose nodes know two others on either side, or a random graph; a third of the nodes have labels.
    pub(crate) fn new(seed: u64, count: usize, ring: bool) -> Self {
        let mut random = Random::new(seed);
        let kind = [Kind::Classes, Kind::Sets, Kind::Values][seed as usize % 3];
        let weighted = random.below(2) == 0;
        let mut edges = Vec::new();
        for node in 0..count {
            for step in 1..3 {
                let other = if ring { (node + step) % count } else { random.below(count) };
                let weight = if weighted { 0.5 + random.unit() as f32 } else { 1.0 };
                if other != node {
                    edges.push((node, other, weight));
                }
            }
        }
        let classes = 3;
        let truth: Vec<usize> = (0..count).map(|_| random.below(classes)).collect();
        let features = truth.iter().map(|&class| {
            let value = |j: usize| (random.unit() + f64::from(u8::from(j % 3 == class))) as f32;
            (0..FEATURES).map(value).collect()
        });
        let features = features.collect();
        let known = (0..count).filter(|_| random.below(3) == 0).collect();
        let directed = seed % 4 == 3;
        World { kind, directed, nodes: (0..count).collect(), edges, features, truth, known }
    }

    pub(crate) fn place(&self, node: usize) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    pub(crate) fn targets(&self, of: &[usize]) -> Targets {
        let truth = |node: &usize| of.contains(node).then_some(self.truth[*node]);
        match self.kind {
            Kind::Classes => {
                let names =
                    self.nodes.iter().map(|node| truth(node).map(|class| format!("c{class}")));
                Labels::from_names(&names.collect::<Vec<_>>()).into()
            }
            Kind::Sets => {
                let set = |bits: usize| {
                    (0..2)
                        .filter(|bit| (bits + 1) >> bit & 1 == 1)
                        .map(|b| format!("l{b}"))
                        .collect()
                };
                let sets: Vec<Option<Vec<String>>> =
                    self.nodes.iter().map(|node| truth(node).map(set)).collect();
                LabelSets::from_names(&sets).into()
            }
            Kind::Values => {
                let values = self
                    .nodes
                    .iter()
                    .map(|node| truth(node).map_or(f64::NAN, |v| v as f64 + 0.125));
                let matrix = Matrix::from_rows(self.nodes.len(), 1, values.collect()).unwrap();
                Values::new(vec!["height".into()], matrix).unwrap().into()
            }
        }
    }

    pub(crate) fn build(&self) -> Dataset {
        let place = |node: usize| self.place(node).unwrap() as u32;
        let ends: Vec<(u32, u32)> =
            self.edges.iter().map(|&(a, b, _)| (place(a), place(b))).collect();
        let weights: Vec<f32> = self.edges.iter().map(|&(_, _, weight)| weight).collect();
        let build = if self.directed { Graph::from_arcs } else { Graph::from_edges };
        let (graph, _) = build(self.nodes.len(), &ends, Some(&weights)).unwrap();
        let rows = self.nodes.iter().flat_map(|&node| self.features[node].clone()).collect();
        let features =
            Features::dense(Matrix::from_rows(self.nodes.len(), FEATURES, rows).unwrap()).unwrap();
        let data = Dataset::new("world", graph, features, self.targets(&self.known)).unwrap();
        data.with_node_ids(self.nodes.iter().map(|&node| id(node)).collect()).unwrap()
    }

    pub(crate) fn split(&self, validates: bool) -> Split {
        let places: Vec<usize> = self.known.iter().map(|&node| self.place(node).unwrap()).collect();
        let is_validation = |k: &usize| validates && self.nodes[*k].is_multiple_of(4);
        let (validation, train) = places.into_iter().partition(is_validation);
        Split::new(self.nodes.len(), train, validation, Vec::new()).unwrap()
    }

    pub(crate) fn without_labels(&self, gone: &[usize]) -> Self {
        let known = self.known.iter().copied().filter(|node| !gone.contains(node)).collect();
        World { known, ..self.clone() }
    }

    pub(crate) fn without_nodes(&self, gone: &[usize]) -> Self {
        let stays = |node: &usize| !gone.contains(node);
        World {
            nodes: self.nodes.iter().copied().filter(stays).collect(),
            known: self.known.iter().copied().filter(stays).collect(),
            edges: self.edges.iter().copied().filter(|(a, b, _)| stays(a) && stays(b)).collect(),
            ..self.clone()
        }
    }
}

pub(crate) fn id(node: usize) -> String {
    format!("person-{:05}", 7919 * node % 100_000)
}

/// Designs of every kind: operators, directions, sums, the structure of the graph, a kernel.
pub(crate) fn designs() -> Vec<(&'static str, Kernel)> {
    let rbf = "rbf".parse::<Kernel>().unwrap();
    vec![
        ("sgc:depth=2", Kernel::Linear),
        ("ssgc:depth=3", Kernel::Linear),
        ("ppr:alpha=0.5", Kernel::Linear),
        ("sgc:depth=1@row/unit + 0.5*identity", Kernel::Linear),
        ("identity + sgc:depth=1@row:out,loops=0", Kernel::Linear),
        ("sgc:depth=1@row:in-out", Kernel::Linear),
        ("sgc:depth=1 of structure", Kernel::Linear),
        ("sgc:depth=2 + identity of degrees", Kernel::Linear),
        ("sgc:depth=1", rbf),
    ]
}

/// Whether some bytes are in others.
pub(crate) fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
