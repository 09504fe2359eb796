//! How often neighbours are alike.

use super::Dataset;
use rayon::prelude::*;

/// Nodes that a thread looks at, at least.
const NODES: usize = 1 << 10;

impl Dataset {
    /// The share of edges between labelled nodes that join two of the same class; `None` without such edges.
    ///
    /// ```
    /// use gfgcn::data::{Dataset, Labels};
    /// use gfgcn::features::Features;
    /// use gfgcn::graph::Graph;
    /// // A path; nothing is known of its last node.
    /// let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], None)?.0;
    /// let labels = Labels::from_ids(&[0, 0, 1, -1], None)?;
    /// let path = Dataset::new("path", graph, Features::none(4), labels)?;
    /// assert_eq!(path.edge_homophily(), Some(0.5));
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    pub fn edge_homophily(&self) -> Option<f64> {
        let (graph, classes) = (self.graph(), self.labels().as_slice());
        let of_node = |node: usize| {
            let Some(own) = classes[node] else { return [0, 0] };
            let neighbours = graph.neighbours(node);
            // Each edge at its smaller end.
            let larger = neighbours.partition_point(|&neighbour| (neighbour as usize) < node);
            let others = neighbours[larger..].iter().map(|&neighbour| classes[neighbour as usize]);
            others.fold([0, 0], |[same, all], class| {
                [same + usize::from(class == Some(own)), all + usize::from(class.is_some())]
            })
        };
        let add = |a: [usize; 2], b: [usize; 2]| [a[0] + b[0], a[1] + b[1]];
        let nodes = (0..graph.nodes()).into_par_iter().with_min_len(NODES);
        let [same, all] = nodes.map(of_node).reduce(|| [0, 0], add);
        (all > 0).then(|| same as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;
    use crate::features::Features;
    use crate::graph::Graph;

    #[test]
    fn it_is_the_share_of_a_list_of_edges() {
        let nodes = 5000u32;
        let edges: Vec<(u32, u32)> = (0..4 * nodes).map(|k| (k % nodes, k * k % 4999)).collect();
        let graph = Graph::from_edges(nodes as usize, &edges, None).unwrap().0;
        let ids: Vec<i64> = (0..i64::from(nodes)).map(|node| node * node % 7 - 1).collect();
        let labels = Labels::from_ids(&ids, None).unwrap();
        let known: Vec<(i64, i64)> = graph
            .edge_list()
            .map(|(a, b, _)| (ids[a], ids[b]))
            .filter(|&(a, b)| a >= 0 && b >= 0)
            .collect();
        let same = known.iter().filter(|(a, b)| a == b).count();
        assert!(same > 0 && same < known.len() && known.len() < graph.edges());
        let features = Features::none(nodes as usize);
        let dataset = Dataset::new("random", graph, features, labels).unwrap();
        assert_eq!(dataset.edge_homophily(), Some(same as f64 / known.len() as f64));
        let unlabelled = dataset.with_targets(Labels::none(nodes as usize)).unwrap();
        assert_eq!(unlabelled.edge_homophily(), None);
    }
}
