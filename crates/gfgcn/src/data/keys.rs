//! A number per node that says what the node is, wherever it stands.

use super::{Dataset, Targets};
use rayon::prelude::*;

/// Steps around a node that its key knows of.
const ROUNDS: usize = 2;

impl Dataset {
    /// A key for each node, made from its features, what is up to two steps around it, and the targets of the nodes that are
    /// known: those that a model is trained on.
    ///
    /// Keys do not depend on the order of nodes, edges, classes or (where they have names) features, so that whatever
    /// is drawn by them is drawn alike from the same data in another order. Two nodes share a key if they cannot be
    /// told apart by the above.
    ///
    /// ```
    /// # use gfgcn::{data::{Dataset, Labels}, features::Features, graph::Graph, matrix::Matrix};
    /// let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)], None)?;
    /// let features = Features::dense(Matrix::from_fn(3, 1, |i, _| if i == 1 { 2.0 } else { 1.0 }))?;
    /// let keys = Dataset::new("path", graph, features, Labels::none(3))?.node_keys(&[]);
    /// assert!(keys[0] == keys[2] && keys[0] != keys[1]);
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    pub fn node_keys(&self, known: &[usize]) -> Vec<u64> {
        let mut is_known = vec![false; self.nodes()];
        known.iter().for_each(|&node| is_known[node] = true);
        let columns: Vec<u64> = match self.feature_names() {
            Some(names) => names.iter().map(|name| of_text(name)).collect(),
            None => (0..self.features().cols()).map(|column| mix(column as u64)).collect(),
        };
        let own = |node: usize| {
            let mut sum = if is_known[node] { of_target(self.targets(), node) } else { 0 };
            self.features().for_each_in_row(node, |column, value| {
                if value != 0.0 {
                    let entry = columns[column] ^ mix(u64::from(value.to_bits()));
                    sum = sum.wrapping_add(mix(entry));
                }
            });
            mix(sum)
        };
        let mut keys: Vec<u64> = (0..self.nodes()).into_par_iter().map(own).collect();
        for _ in 0..ROUNDS {
            let around = |node: usize| {
                let weights = self.graph().weights(node);
                let neighbours = self.graph().neighbours(node).iter().enumerate();
                // Neighbours add up, so that their order does not matter.
                let sum = neighbours.map(|(k, &neighbour)| {
                    let weight = weights.map_or(1.0, |weights| weights[k]);
                    mix(keys[neighbour as usize] ^ mix(u64::from(weight.to_bits())))
                });
                mix(keys[node].wrapping_add(sum.fold(0, u64::wrapping_add)))
            };
            keys = (0..self.nodes()).into_par_iter().map(around).collect();
        }
        keys
    }
}

/// Spreads a number over 64 bits (the finaliser of SplitMix64).
pub(crate) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn of_target(targets: &Targets, node: usize) -> u64 {
    match targets {
        Targets::Classes(labels) => labels.name(node).map_or(0, of_text),
        // Labels add up, so that their order does not matter; a set of none is not an unknown one.
        Targets::Sets(sets) => sets
            .of_node(node)
            .map_or(0, |names| names.map(|name| mix(of_text(name))).fold(1, u64::wrapping_add)),
        Targets::Values(values) => values.get(node).map_or(0, |values| {
            values.iter().fold(1, |key, value| mix(key ^ (value + 0.0).to_bits()))
        }),
    }
}

fn of_text(text: &str) -> u64 {
    text.bytes().fold(mix(text.len() as u64), |key, byte| mix(key ^ u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{LabelSets, Labels, Values};
    use crate::features::Features;
    use crate::graph::Graph;
    use crate::matrix::Matrix;
    use crate::matrix::SparseMatrix;
    use std::collections::HashSet;

    /// A ring of distinct nodes, the first of which is node `first` of the dataset.
    fn ring(nodes: usize, first: usize) -> Dataset {
        let place = |k: usize| (k + first) % nodes;
        let edges: Vec<(u32, u32)> =
            (0..nodes).map(|k| (place(k) as u32, place((k + 1) % nodes) as u32)).collect();
        let (graph, _) = Graph::from_edges(nodes, &edges, None).unwrap();
        let mut values = vec![0.0; nodes];
        (0..nodes).for_each(|k| values[place(k)] = k as f32);
        let features = Features::dense(Matrix::from_fn(nodes, 1, |i, _| values[i])).unwrap();
        Dataset::new("ring", graph, features, Labels::none(nodes)).unwrap()
    }

    #[test]
    fn a_node_keeps_its_key_wherever_it_stands() {
        let (here, there) = (ring(50, 0).node_keys(&[]), ring(50, 17).node_keys(&[]));
        assert!((0..50).all(|k| here[k] == there[(k + 17) % 50]));
        assert_eq!(here.iter().collect::<HashSet<_>>().len(), 50);
    }

    #[test]
    fn neither_storage_nor_the_order_of_named_features_changes_a_key() {
        let (graph, _) = Graph::from_edges(2, &[(0, 1)], None).unwrap();
        let labels = Labels::from_names(&[Some("a"), None]);
        let keys = |features: Features, names: [&str; 2]| {
            let dataset = Dataset::new("two", graph.clone(), features, labels.clone()).unwrap();
            dataset.with_feature_names(names.map(String::from).to_vec()).unwrap().node_keys(&[0, 1])
        };
        let dense = |rows: [[f32; 2]; 2]| Features::dense(Matrix::from_fn(2, 2, |i, j| rows[i][j]));
        let sparse = SparseMatrix::from_csr(2, &[0, 1, 2], &[0, 1], &[3.0, 5.0]).unwrap();
        let expected = keys(dense([[3.0, 0.0], [0.0, 5.0]]).unwrap(), ["x", "y"]);
        assert_eq!(keys(Features::sparse(sparse).unwrap(), ["x", "y"]), expected);
        assert_eq!(keys(dense([[0.0, 3.0], [5.0, 0.0]]).unwrap(), ["y", "x"]), expected);
        assert_ne!(keys(dense([[3.0, 0.0], [0.0, 5.0]]).unwrap(), ["y", "x"]), expected);
    }

    const ALL: [usize; 6] = [0, 1, 2, 3, 4, 5];

    /// What is not known of a node while a model is trained must not choose its sample.
    #[test]
    fn targets_of_other_nodes_change_no_key() {
        let ring = ring(6, 0);
        let keys = |last: &str| {
            let labels =
                Labels::from_names(&[Some("a"), Some("b"), Some("a"), None, None, Some(last)]);
            ring.clone().with_targets(labels).unwrap().node_keys(&[0, 1, 2])
        };
        assert_eq!(keys("a"), keys("b"));
    }

    #[test]
    fn sets_and_values_tell_nodes_apart_whatever_their_labels_are_numbered() {
        let ring = ring(6, 0).map_features(|features| features.map_columns(&[None], 1));
        assert_eq!(ring.node_keys(&ALL).iter().collect::<HashSet<_>>().len(), 1);
        let of_sets = |rare: Option<Vec<&'static str>>, other: &'static str| {
            let mut sets = vec![Some(vec!["m", other]); 6];
            sets[0] = rare;
            ring.clone().with_targets(LabelSets::from_names(&sets)).unwrap().node_keys(&ALL)
        };
        let empty = of_sets(Some(vec![]), "z");
        assert!(empty[1] == empty[5] && empty[0] != empty[1] && empty[3] != empty[1]);
        assert_ne!(empty[0], of_sets(None, "z")[0], "no label is not an unknown one");
        assert_ne!(empty[3], of_sets(Some(vec![]), "a")[3]);
        let column = Matrix::from_fn(6, 1, |i, _| if i == 2 { f64::NAN } else { 0.5 });
        let values = Values::new(vec!["x".into()], column).unwrap();
        let keys = ring.with_targets(values).unwrap().node_keys(&ALL);
        assert!(keys[1] == keys[3] && keys[2] != keys[5]);
    }
}
