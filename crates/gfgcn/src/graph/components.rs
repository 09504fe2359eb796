//! Connected components and the subgraph of a set of nodes.

use super::Graph;

impl Graph {
    /// The connected components, largest first (ties: the one with the smallest node first), each
    /// with its nodes in increasing order.
    pub fn components(&self) -> Vec<Vec<usize>> {
        let rows = self.rows();
        let mut seen = vec![false; self.nodes()];
        let mut components = Vec::new();
        let mut stack = Vec::new();
        for start in 0..self.nodes() {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            stack.push(start);
            let mut members = Vec::new();
            while let Some(node) = stack.pop() {
                members.push(node);
                for &neighbour in rows.neighbours_of(node) {
                    if !std::mem::replace(&mut seen[neighbour as usize], true) {
                        stack.push(neighbour as usize);
                    }
                }
            }
            members.sort_unstable();
            components.push(members);
        }
        components.sort_by_key(|members| std::cmp::Reverse(members.len()));
        components
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_largest_first_and_cut_out_cleanly() {
        let (graph, _) = Graph::from_edges(6, &[(0, 1), (2, 3), (3, 5)], None).unwrap();
        let components = graph.components();
        assert_eq!(components, vec![vec![2, 3, 5], vec![0, 1], vec![4]]);
        let sub = graph.subgraph(&[5, 3, 2]);
        assert_eq!(sub.neighbours(1), &[0, 2]);
        assert_eq!(sub.edges(), 2);
    }
}
