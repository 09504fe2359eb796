//! What is left of a dataset when nodes or edges go.

use super::Dataset;
use crate::error::{Error, Result};
use crate::graph::EdgeSet;

impl Dataset {
    /// The dataset without some nodes, as if they had never been there: their edges, features and targets go with them. So do
    /// features that only they had, where the source [lists](Dataset::with_features_as_they_came) which node has which, and
    /// directions that even out.
    ///
    /// # Errors
    /// A node that is not there, or no node that stays.
    pub fn without_nodes(&self, nodes: &[usize]) -> Result<Dataset> {
        let mut stays = vec![true; self.nodes()];
        for &node in nodes {
            self.check_node(node)?;
            stays[node] = false;
        }
        let rest: Vec<usize> = (0..self.nodes()).filter(|&node| stays[node]).collect();
        if rest.is_empty() {
            return Err(Error::Data("no node would be left".into()));
        }
        let mut left = self.select(&rest).map_graph(|graph| graph.settled());
        if self.node_ids().is_none() {
            left = left.without_node_ids();
        }
        Ok(left.without_unused_features())
    }

    /// The dataset without some [edges](crate::graph::Graph::without_edges).
    ///
    /// # Errors
    /// An edge or a relation that is not there.
    pub fn without_edges(&self, edges: &EdgeSet, relation: Option<&str>) -> Result<Dataset> {
        let graph = self.graph().without_edges(edges, relation)?;
        Ok(self.clone().map_graph(|_| graph))
    }

    /// Where the source lists features, those that no node has are not in it.
    fn without_unused_features(self) -> Dataset {
        let Some(names) = self.feature_names().filter(|_| self.features_as_they_came) else {
            return self;
        };
        let mut used = vec![false; names.len()];
        for node in 0..self.nodes() {
            self.features().for_each_in_row(node, |column, _| used[column] = true);
        }
        if used.iter().all(|used| *used) {
            return self;
        }
        let kept: Vec<usize> = (0..names.len()).filter(|&column| used[column]).collect();
        let mut columns = vec![None; names.len()];
        kept.iter().zip(0..).for_each(|(&old, new)| columns[old] = Some(new));
        let names = kept.iter().map(|&column| names[column].clone()).collect();
        let features = self.features().map_columns(&columns, kept.len());
        self.with_features(features, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;
    use crate::features::Features;
    use crate::graph::Graph;
    use crate::matrix::{Matrix, SparseMatrix};

    fn dataset(listed: bool) -> Dataset {
        let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)], None).unwrap();
        let dense = Matrix::from_rows(3, 2, vec![1.0, 0.0, 0.0, 0.0, 0.0, 2.0]).unwrap();
        let features = match listed {
            true => {
                let fill = |i: usize, columns: &mut Vec<u32>, values: &mut Vec<f32>| {
                    for j in (0..2).filter(|&j| dense[(i, j)] != 0.0) {
                        columns.push(j as u32);
                        values.push(dense[(i, j)]);
                    }
                };
                Features::sparse(SparseMatrix::from_canonical_rows(3, 2, fill)).unwrap()
            }
            false => Features::dense(dense).unwrap(),
        };
        let labels = Labels::from_names(&[Some("a"), None, Some("b")]);
        let data = Dataset::new("path", graph, features, labels).unwrap();
        let data = data.with_feature_names(vec!["x".into(), "y".into()]).unwrap();
        if listed { data.with_features_as_they_came() } else { data }
    }

    #[test]
    fn everything_about_a_node_goes_with_it() {
        let rest = dataset(true).without_nodes(&[0]).unwrap();
        assert_eq!((rest.nodes(), rest.graph().edges()), (2, 1));
        assert_eq!(rest.labels().classes(), ["b"]);
        assert_eq!(rest.feature_names().unwrap(), ["y"], "only the node had x");
        assert!(rest.node_ids().is_none());
        let rest = dataset(false).without_nodes(&[0]).unwrap();
        assert_eq!(rest.feature_names().unwrap(), ["x", "y"], "a table has the column anyway");
        assert!(dataset(true).without_nodes(&[3]).is_err());
        assert!(dataset(true).without_nodes(&[2, 0, 1]).is_err());
    }

    #[test]
    fn a_dataset_without_an_edge_has_another_fingerprint() {
        let data = dataset(true);
        let rest = data.without_edges(&[(1, 2)].into(), None).unwrap();
        assert_eq!(rest.graph().edges(), 1);
        assert_ne!(rest.source_fingerprint(), data.source_fingerprint());
        assert_eq!(rest.labels(), data.labels());
    }
}
