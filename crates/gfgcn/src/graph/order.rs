//! Renumbering nodes so that what is used together lies together.

use super::Graph;
use super::divide::{balanced, split_rows};
use super::rows::Rows;
use rayon::prelude::*;
use std::ops::Range;

/// A renumbering of the nodes of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeOrder {
    /// The node at each new place.
    nodes: Vec<u32>,
    /// The new place of each node.
    places: Vec<u32>,
}

impl NodeOrder {
    /// Nodes with many neighbours first: the rows that are read most often share pages and cache.
    pub fn by_degree(graph: &Graph) -> Self {
        let mut nodes: Vec<u32> = (0..graph.nodes() as u32).collect();
        nodes.par_sort_by_key(|&node| std::cmp::Reverse(graph.degree(node as usize)));
        NodeOrder::new(nodes)
    }

    /// Reverse Cuthill–McKee: breadth first from a node of few neighbours, reversed, so that
    /// neighbours are near each other. For graphs that have such an order: meshes, roads, chains.
    pub fn reverse_cuthill_mckee(graph: &Graph) -> Self {
        let (nodes, rows) = (graph.nodes(), graph.rows());
        let mut starts: Vec<u32> = (0..nodes as u32).collect();
        starts.par_sort_by_key(|&node| rows.degree(node as usize));
        let mut seen = vec![false; nodes];
        let mut order: Vec<u32> = Vec::with_capacity(nodes);
        let mut next = Vec::new();
        for start in starts {
            if std::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            let mut first = order.len();
            order.push(start);
            while first < order.len() {
                let node = order[first] as usize;
                first += 1;
                next.clear();
                for &neighbour in rows.neighbours_of(node) {
                    if !std::mem::replace(&mut seen[neighbour as usize], true) {
                        next.push(neighbour);
                    }
                }
                next.sort_by_key(|&neighbour| rows.degree(neighbour as usize));
                order.extend_from_slice(&next);
            }
        }
        order.reverse();
        NodeOrder::new(order)
    }

    /// By a number of each node, the smaller first; those of the same one stay in the order that they have.
    ///
    /// # Panics
    /// If there are not as many numbers as nodes.
    #[must_use]
    pub fn then_by<K: Ord>(self, number: &[K]) -> Self {
        assert_eq!(number.len(), self.nodes.len(), "the numbers are of another graph");
        let mut nodes = self.nodes;
        nodes.sort_by(|&a, &b| number[a as usize].cmp(&number[b as usize]));
        NodeOrder::new(nodes)
    }

    fn new(nodes: Vec<u32>) -> Self {
        let mut places = vec![0; nodes.len()];
        nodes.iter().zip(0..).for_each(|(&node, place)| places[node as usize] = place);
        NodeOrder { nodes, places }
    }

    /// The node at each new place.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The new place of each node.
    pub fn places(&self) -> &[u32] {
        &self.places
    }
}

/// Whether neighbours are numbered about as far apart as in a random order.
pub(super) fn is_scattered(graph: &Graph) -> bool {
    /// Every so many nodes are looked at.
    const STRIDE: usize = 7;
    let rows = graph.rows();
    let (mut sum, mut count) = (0.0, 0);
    for node in (0..graph.nodes()).step_by(STRIDE) {
        for &neighbour in rows.neighbours_of(node) {
            sum += f64::from(neighbour.abs_diff(node as u32)).log2();
            count += 1;
        }
    }
    are_far(sum, count, graph.nodes())
}

/// Whether so many distances, whose logarithms add up to `sum`, are like random ones.
fn are_far(sum: f64, count: u64, nodes: usize) -> bool {
    // The logarithms of random distances are 1.4 less than that of the number of nodes, on average.
    count > 0 && sum / count as f64 > (nodes as f64).log2() - 3.0
}

impl Graph {
    /// The same graph with its nodes renumbered.
    ///
    /// # Panics
    /// If the order is of another number of nodes.
    #[must_use]
    pub fn reordered(&self, order: &NodeOrder) -> Graph {
        self.map_rows(|rows| rows.reordered(order))
    }
}

/// How the neighbours within a renumbered row are arranged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// By their new places.
    Places,
    /// As before, by their old numbers.
    Nodes,
}

/// The rows of a graph in another order, neighbours renumbered: offsets, neighbours and weights.
///
/// # Panics
/// If the order is of another number of nodes.
pub(super) fn renumber(
    rows: Rows<'_>,
    order: &NodeOrder,
    within: Within,
) -> (Vec<u64>, Vec<u32>, Option<Vec<f32>>) {
    assert_eq!(order.nodes.len(), rows.nodes(), "the order is of another graph");
    let mut offsets = Vec::with_capacity(rows.offsets.len());
    offsets.push(0);
    let mut total = 0;
    for &node in &order.nodes {
        total += rows.degree(node as usize) as u64;
        offsets.push(total);
    }
    let ranges = balanced(&offsets, 8 * rayon::current_num_threads());
    let entries: Vec<Range<usize>> = ranges
        .iter()
        .map(|rows| offsets[rows.start] as usize..offsets[rows.end] as usize)
        .collect();
    let mut neighbours = vec![0; rows.neighbours.len()];
    let mut weights = rows.weights.map(|w| vec![0.0; w.len()]);
    let of_weights: Vec<Option<&mut [f32]>> = match &mut weights {
        Some(weights) => split_rows(weights, 1, &entries).into_iter().map(Some).collect(),
        None => entries.iter().map(|_| None).collect(),
    };
    let parts = split_rows(&mut neighbours, 1, &entries).into_par_iter().zip(of_weights);
    parts.zip(ranges).for_each(|((neighbours, weights), places)| {
        let nodes = &order.nodes[places];
        renumber_part(rows, &order.places, within, nodes, neighbours, weights);
    });
    (offsets, neighbours, weights)
}

/// The rows of some nodes, one after the other, their neighbours renumbered.
fn renumber_part(
    rows: Rows<'_>,
    places: &[u32],
    within: Within,
    nodes: &[u32],
    mut neighbours: &mut [u32],
    mut weights: Option<&mut [f32]>,
) {
    let mut row: Vec<(u32, f32)> = Vec::new();
    for &node in nodes {
        let own = rows.weights_of(node as usize);
        row.clear();
        row.extend(
            rows.neighbours_of(node as usize)
                .iter()
                .enumerate()
                .map(|(k, &neighbour)| (places[neighbour as usize], own.map_or(1.0, |w| w[k]))),
        );
        if within == Within::Places {
            row.sort_unstable_by_key(|&(place, _)| place);
        }
        let (now, later) = neighbours.split_at_mut(row.len());
        now.iter_mut().zip(&row).for_each(|(out, &(place, _))| *out = place);
        neighbours = later;
        if let Some(rest) = weights {
            let (now, later) = rest.split_at_mut(row.len());
            now.iter_mut().zip(&row).for_each(|(out, &(_, weight))| *out = weight);
            weights = Some(later);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of nodes in a scrambled order.
    fn ring(nodes: u32) -> Graph {
        // Multiples of a number without a common divisor: neighbours are far apart.
        let place = |k: u32| k % nodes * 381 % nodes;
        let edges: Vec<(u32, u32)> = (0..nodes).map(|k| (place(k), place(k + 1))).collect();
        let weights: Vec<f32> = (0..nodes).map(|k| 1.0 + k as f32).collect();
        Graph::from_edges(nodes as usize, &edges, Some(&weights)).unwrap().0
    }

    #[test]
    fn a_renumbered_graph_has_the_same_edges() {
        let graph = ring(1000);
        for order in [NodeOrder::by_degree(&graph), NodeOrder::reverse_cuthill_mckee(&graph)] {
            let renumbered = graph.reordered(&order);
            let name = |place: usize| order.nodes()[place] as usize;
            let mut found: Vec<(usize, usize, f32)> = renumbered
                .edge_list()
                .map(|(i, j, w)| (name(i).min(name(j)), name(i).max(name(j)), w))
                .collect();
            found.sort_by_key(|&(i, j, _)| (i, j));
            assert_eq!(found, graph.edge_list().collect::<Vec<_>>());
            for row in 0..renumbered.nodes() {
                assert!(renumbered.neighbours(row).is_sorted());
            }
        }
    }

    #[test]
    fn a_ring_becomes_a_band() {
        let graph = ring(1000);
        let order = NodeOrder::reverse_cuthill_mckee(&graph);
        assert!(is_scattered(&graph));
        let band = graph.reordered(&order).edge_list().map(|(i, j, _)| j - i).max();
        assert_eq!(band, Some(2), "the two arms of the ring take turns");
        assert!(!is_scattered(&graph.reordered(&order)));
    }

    /// More distances than 32 bits can count.
    #[test]
    fn large_graphs_are_judged_as_small_ones() {
        let (nodes, count) = (1 << 30, 5_000_000_000);
        let sum = |logarithm: f64| logarithm * count as f64;
        assert!(are_far(sum(28.6), count, nodes));
        assert!(!are_far(sum(26.9), count, nodes));
        assert!(!are_far(0.0, 0, nodes));
    }

    #[test]
    fn by_degree_puts_hubs_first() {
        let star: Vec<(u32, u32)> = (0..9).map(|k| (k, 9)).collect();
        let (graph, _) = Graph::from_edges(10, &star, None).unwrap();
        assert_eq!(NodeOrder::by_degree(&graph).nodes()[0], 9);
    }
}
