//! The nodes of a run in the order of their distance from its training nodes.
//!
//! The loss is about the training nodes. The last layer of a network is needed at these only, the layer before it at
//! their neighbours too, and so on. In this order what a layer needs is the first rows of a matrix, and
//! the rest is not computed.

use crate::tape::Edges;
use gfgcn::features::Features;
use gfgcn::graph::{Graph, NodeOrder};
use gfgcn::matrix::Matrix;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A graph and its features, arranged for a run.
#[derive(Debug)]
pub(crate) struct Reach<'a> {
    graph: Cow<'a, Graph>,
    features: Cow<'a, Features>,
    /// Where the nodes are not as they come.
    order: Option<NodeOrder>,
    /// How many nodes are at most so many steps away; the last number stays.
    within: Vec<usize>,
    /// Made when the first attention asks for them.
    edges: OnceLock<Edges>,
}

impl<'a> Reach<'a> {
    /// Everything as it comes: every node is needed.
    pub(crate) fn everything(graph: &'a Graph, features: &'a Features) -> Self {
        Reach {
            within: vec![graph.nodes()],
            graph: Cow::Borrowed(graph),
            features: features.as_gathered(),
            order: None,
            edges: OnceLock::new(),
        }
    }

    /// The nearest to some nodes first; those of one distance in a given order.
    pub(crate) fn from(
        nodes: &[usize],
        graph: &Graph,
        features: &Features,
        order: NodeOrder,
    ) -> Self {
        let (steps, within) = distances(graph, nodes);
        let order = order.then_by(&steps);
        let rows: Vec<usize> = order.nodes().iter().map(|&node| node as usize).collect();
        Reach {
            graph: Cow::Owned(graph.reordered(&order)),
            features: Cow::Owned(features.select_rows(&rows)),
            order: Some(order),
            within,
            edges: OnceLock::new(),
        }
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    pub(crate) fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| Edges::new(&self.graph))
    }

    /// How many of the first nodes the loss depends on, so many steps before it.
    pub(crate) fn rows(&self, steps: usize) -> usize {
        self.within[steps.min(self.within.len() - 1)]
    }

    /// Where a node is.
    pub(crate) fn place(&self, node: usize) -> usize {
        self.order.as_ref().map_or(node, |order| order.places()[node] as usize)
    }

    /// The rows of a matrix that has them in this order, as the nodes come.
    pub(crate) fn restored(&self, rows: Matrix<f64>) -> Matrix<f64> {
        match &self.order {
            None => rows,
            Some(_) => {
                let places: Vec<usize> = (0..rows.rows()).map(|node| self.place(node)).collect();
                rows.select_rows(&places)
            }
        }
    }
}

/// The number of steps to every node from some of them, and how many nodes are within 0, 1, 2, … steps.
fn distances(graph: &Graph, from: &[usize]) -> (Vec<u32>, Vec<usize>) {
    let mut steps = vec![u32::MAX; graph.nodes()];
    let mut reached = Vec::with_capacity(graph.nodes());
    for &node in from {
        if std::mem::replace(&mut steps[node], 0) != 0 {
            reached.push(node as u32);
        }
    }
    let mut within = vec![reached.len()];
    let mut start = 0;
    while start < reached.len() {
        let end = reached.len();
        for k in start..end {
            for &neighbour in graph.neighbours(reached[k] as usize) {
                let distance = &mut steps[neighbour as usize];
                if *distance == u32::MAX {
                    *distance = within.len() as u32;
                    reached.push(neighbour);
                }
            }
        }
        if reached.len() > end {
            within.push(reached.len());
        }
        start = end;
    }
    (steps, within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::tests::{features, graph};

    /// What no training node reaches comes last, and is never needed.
    #[test]
    fn isolated_nodes_are_out_of_reach() {
        let (graph, _) = Graph::from_edges(8, &[(0, 1), (1, 2), (4, 5)], None).unwrap();
        let features = Features::none(8);
        let reach = Reach::from(&[2, 4], &graph, &features, NodeOrder::by_degree(&graph));
        assert_eq!([0, 1, 2, 9].map(|steps| reach.rows(steps)), [2, 4, 5, 5]);
        let far: Vec<usize> = [3, 6, 7].map(|node| reach.place(node)).to_vec();
        assert!(far.iter().all(|&place| place >= 5), "{far:?}");
    }

    /// Against the definition: a node is within k steps if it, or a neighbour, is within k − 1.
    #[test]
    fn the_first_rows_are_the_nodes_within_reach() {
        let (graph, features) = (graph(true), features(true));
        for train in [vec![7], vec![13, 2], vec![4, 9, 0], (0..14).collect()] {
            let order = NodeOrder::by_degree(&graph);
            let reach = Reach::from(&train, &graph, &features, order);
            let mut within: Vec<bool> = (0..14).map(|node| train.contains(&node)).collect();
            for steps in 0..10 {
                let rows = reach.rows(steps);
                for (node, &is_within) in within.iter().enumerate() {
                    assert_eq!(reach.place(node) < rows, is_within, "{train:?}, {steps} steps");
                }
                let before = within.clone();
                for (node, is_within) in within.iter_mut().enumerate() {
                    *is_within |= graph.neighbours(node).iter().any(|&n| before[n as usize]);
                }
            }
            let numbers = Matrix::from_fn(14, 1, |node, _| node as f64);
            let places: Vec<usize> = (0..14).map(|node| reach.place(node)).collect();
            let mut arranged = numbers.clone();
            (0..14).for_each(|node| arranged[(places[node], 0)] = numbers[(node, 0)]);
            assert_eq!(reach.restored(arranged), numbers);
            for node in 0..14 {
                let mut neighbours: Vec<usize> =
                    graph.neighbours(node).iter().map(|&n| places[n as usize]).collect();
                neighbours.sort_unstable();
                let found = reach.graph().neighbours(places[node]).iter().map(|&n| n as usize);
                assert_eq!(found.collect::<Vec<_>>(), neighbours);
                let mut rows = [vec![], vec![]];
                features.for_each_in_row(node, |j, x| rows[0].push((j, x)));
                reach.features().for_each_in_row(places[node], |j, x| rows[1].push((j, x)));
                assert_eq!(rows[0], rows[1]);
            }
        }
    }
}
