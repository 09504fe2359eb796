//! Connected components and the subgraph of a set of nodes.

use super::Graph;

impl Graph {
    /// The connected components, largest first (ties: the one with the smallest node first), each
    /// with its nodes in increasing order.
    pub fn components(&self) -> Vec<Vec<usize>> {
        let mut sets = self.connected();
        let mut components: Vec<Vec<usize>> = Vec::new();
        // The smallest node of a set is its root, so that it comes before the others.
        let mut places = vec![0u32; self.nodes()];
        for node in 0..self.nodes() {
            let root = sets.root(node as u32) as usize;
            if root == node {
                places[node] = components.len() as u32;
                components.push(Vec::new());
            }
            components[places[root] as usize].push(node);
        }
        components.sort_by_key(|members| std::cmp::Reverse(members.len()));
        components
    }

    /// The sets of nodes that are connected.
    ///
    /// A few neighbours of each node join nearly all of what is connected in most graphs, and what they have not joined to
    /// the largest set by then has few edges left: those of the largest set itself need no look, because edges have two ends
    /// (Sutton et al., *Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling*, 2018).
    fn connected(&self) -> DisjointSets {
        const FIRST: usize = 2;
        let rows = self.rows();
        let mut sets = DisjointSets::of_single(self.nodes());
        for node in 0..self.nodes() {
            for &neighbour in rows.neighbours_of(node).iter().take(FIRST) {
                sets.join(node as u32, neighbour);
            }
        }
        let largest = sets.largest();
        for node in 0..self.nodes() {
            if sets.root(node as u32) == sets.root(largest) {
                continue;
            }
            for &neighbour in rows.neighbours_of(node).iter().skip(FIRST) {
                sets.join(node as u32, neighbour);
            }
        }
        sets
    }

    /// The subgraph on the given nodes: node `k` of the result is `nodes[k]` here.
    ///
    /// # Panics
    /// If a node is out of range or named twice.
    #[must_use]
    pub fn subgraph(&self, nodes: &[usize]) -> Graph {
        self.map_rows(|rows| rows.select(nodes))
    }
}

/// Sets of nodes that are joined, each a tree whose root is its smallest node.
struct DisjointSets {
    /// The node above each; of a root, itself.
    parents: Vec<u32>,
}

impl DisjointSets {
    /// Every node by itself.
    fn of_single(nodes: usize) -> Self {
        DisjointSets { parents: (0..nodes as u32).collect() }
    }

    /// The root of the set that a node is in. Halves the way there for the next one who asks.
    fn root(&mut self, mut node: u32) -> u32 {
        loop {
            let parent = self.parents[node as usize];
            if parent == node {
                return node;
            }
            let above = self.parents[parent as usize];
            self.parents[node as usize] = above;
            node = above;
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// The root of the largest set.
    fn largest(&mut self) -> u32 {
        let mut sizes = vec![0u32; self.parents.len()];
        for node in 0..self.parents.len() {
            sizes[self.root(node as u32) as usize] += 1;
        }
        (0u32..).zip(sizes).max_by_key(|&(_, size)| size).map_or(0, |(root, _)| root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn components_come_largest_first_and_cut_out_cleanly() {
        let (graph, _) = Graph::from_edges(6, &[(0, 1), (2, 3), (3, 5)], None).unwrap();
        let components = graph.components();
        assert_eq!(components, vec![vec![2, 3, 5], vec![0, 1], vec![4]]);
        let sub = graph.subgraph(&[5, 3, 2]);
        assert_eq!(sub.neighbours(1), &[0, 2]);
        assert_eq!(sub.edges(), 2);
    }

    /// One search per component, from its smallest node.
    fn by_search(graph: &Graph) -> Vec<Vec<usize>> {
        let mut components = Vec::new();
        let mut seen = vec![false; graph.nodes()];
        for start in 0..graph.nodes() {
            let (mut members, mut stack) = (Vec::new(), vec![start]);
            while let Some(node) = stack.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    members.push(node);
                    stack.extend(graph.neighbours(node).iter().map(|&j| j as usize));
                }
            }
            members.sort_unstable();
            components.extend((!members.is_empty()).then_some(members));
        }
        components.sort_by_key(|members| std::cmp::Reverse(members.len()));
        components
    }

    proptest! {
        #[test]
        fn components_are_what_a_search_finds(
            nodes in 1..60usize,
            ends in prop::collection::vec((0..60u32, 0..60u32), 0..120),
        ) {
            let end = |k: u32| k % nodes as u32;
            let edges: Vec<(u32, u32)> = ends.into_iter().map(|(a, b)| (end(a), end(b))).collect();
            let (graph, _) = Graph::from_edges(nodes, &edges, None).unwrap();
            prop_assert_eq!(graph.components(), by_search(&graph));
        }
    }
}
