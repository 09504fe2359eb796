//! What is near some nodes.

use super::Graph;

impl Graph {
    /// All nodes that are at most so many steps away from some, whichever way edges go; in increasing order.
    pub(crate) fn surroundings(&self, nodes: &[usize], steps: usize) -> Vec<usize> {
        let mut found = vec![false; self.nodes()];
        let mut all: Vec<usize> = Vec::new();
        for &node in nodes {
            if !std::mem::replace(&mut found[node], true) {
                all.push(node);
            }
        }
        let mut shell = 0..all.len();
        for _ in 0..steps {
            for k in shell.clone() {
                for &neighbour in self.neighbours(all[k]) {
                    if !std::mem::replace(&mut found[neighbour as usize], true) {
                        all.push(neighbour as usize);
                    }
                }
            }
            shell = shell.end..all.len();
            if shell.is_empty() || all.len() == self.nodes() {
                break;
            }
        }
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surroundings_grow_step_by_step() {
        let (path, _) = Graph::from_arcs(5, &[(0, 1), (2, 1), (2, 3), (3, 4)], None).unwrap();
        assert_eq!(path.surroundings(&[2, 2], 0), [2]);
        assert_eq!(path.surroundings(&[2], 1), [1, 2, 3]);
        assert_eq!(path.surroundings(&[2], 9), [0, 1, 2, 3, 4]);
    }
}
