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
        const OUTSIDE: u32 = u32::MAX;
        let mut position = vec![OUTSIDE; self.nodes()];
        for (k, &node) in nodes.iter().enumerate() {
            assert_eq!(position[node], OUTSIDE, "node {node} is named twice");
            position[node] = k as u32;
        }
        let rows = self.rows();
        let (mut offsets, mut neighbours) = (vec![0], Vec::new());
        let mut weights = rows.weights.map(|_| Vec::new());
        let mut row = Vec::new();
        for &node in nodes {
            let own = rows.weights_of(node);
            row.clear();
            row.extend(
                rows.neighbours_of(node)
                    .iter()
                    .enumerate()
                    .map(|(k, &j)| (position[j as usize], own.map_or(1.0, |w| w[k])))
                    .filter(|&(j, _)| j != OUTSIDE),
            );
            row.sort_unstable_by_key(|&(j, _)| j);
            neighbours.extend(row.iter().map(|&(j, _)| j));
            if let Some(weights) = &mut weights {
                weights.extend(row.iter().map(|&(_, w)| w));
            }
            offsets.push(neighbours.len() as u64);
        }
        Graph {
            offsets: offsets.into(),
            neighbours: neighbours.into(),
            weights: weights.map(Into::into),
        }
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
