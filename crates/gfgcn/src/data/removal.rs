//! What is left of a dataset when nodes or edges go: what a reading of the source without them would find.

use super::Dataset;
use crate::error::{Error, Result};
use crate::graph::EdgeSet;

/// A dataset without some of its nodes or edges.
#[derive(Clone, Debug)]
pub struct Rest {
    /// What is left.
    pub dataset: Dataset,
    /// The number that each of its nodes had.
    pub nodes: Vec<usize>,
}

impl Dataset {
    /// The dataset without some nodes, as if they had never been there: their edges, features and targets go with them. So does
    /// whatever is only known by them, where the source does not list it: features ([`Dataset::with_features_as_they_came`]),
    /// nodes that only had edges to them ([`Dataset::with_nodes_of_edges`]) and relations
    /// ([`Dataset::with_relations_of_edges`]); and directions that even out.
    ///
    /// # Errors
    /// A node that is not there, or no node that stays.
    pub fn without_nodes(&self, nodes: &[usize]) -> Result<Rest> {
        let mut stays = vec![true; self.nodes()];
        for &node in nodes {
            self.check_node(node)?;
            stays[node] = false;
        }
        let rest: Vec<usize> = (0..self.nodes()).filter(|&node| stays[node]).collect();
        if rest.is_empty() {
            return Err(Error::Data("no node would be left".into()));
        }
        self.rest(self.restricted(&rest), rest)
    }

    /// The dataset without some [edges](crate::graph::Graph::without_edges), by relation where only one is meant; in every other
    /// respect as [`Dataset::without_nodes`].
    ///
    /// # Errors
    /// An edge or a relation that is not there, or no node that stays.
    pub fn without_edges(&self, edges: &[(Option<String>, EdgeSet)]) -> Result<Rest> {
        let mut graph = self.graph().clone();
        for (relation, edges) in edges {
            graph = graph.without_edges(edges, relation.as_deref())?;
        }
        self.rest(self.clone().map_graph(|_| graph), (0..self.nodes()).collect())
    }

    /// Some nodes in this order, without names where there were none.
    fn restricted(&self, nodes: &[usize]) -> Dataset {
        let part = self.select(nodes).map_graph(|graph| graph.settled());
        if self.node_ids().is_some() { part } else { part.without_node_ids() }
    }

    /// What a reading finds of a part of this that has the nodes of these numbers.
    fn rest(&self, mut part: Dataset, mut nodes: Vec<usize>) -> Result<Rest> {
        if self.listing.relations_of_edges {
            part = part.map_graph(|graph| graph.without_empty_relations());
        }
        if self.listing.nodes_of_edges {
            let named =
                |&k: &usize| part.graph().degree(k) > 0 || self.graph().degree(nodes[k]) == 0;
            let kept: Vec<usize> = (0..nodes.len()).filter(named).collect();
            if kept.is_empty() {
                return Err(Error::Data("no node would be left".into()));
            }
            if kept.len() < nodes.len() {
                part = part.restricted(&kept);
                nodes = kept.into_iter().map(|k| nodes[k]).collect();
            }
        }
        part = part.without_unused_features();
        if self.listing.by_names {
            // Where the source had the nodes says nothing about where they are now.
            let in_source = part.places.take();
            part = part.ordered_by_names();
            match &part.places {
                Some(places) => nodes = places.iter().map(|&place| nodes[place]).collect(),
                None => part.places = in_source,
            }
        }
        Ok(Rest { dataset: part, nodes })
    }

    /// Where the source lists features, those that no node has are not in it.
    fn without_unused_features(self) -> Dataset {
        let Some(names) = self.feature_names().filter(|_| self.listing.features_as_they_came)
        else {
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
        let rest = dataset(true).without_nodes(&[0]).unwrap().dataset;
        assert_eq!((rest.nodes(), rest.graph().edges()), (2, 1));
        assert_eq!(rest.labels().classes(), ["b"]);
        assert_eq!(rest.feature_names().unwrap(), ["y"], "only the node had x");
        assert!(rest.node_ids().is_none());
        let rest = dataset(false).without_nodes(&[0]).unwrap().dataset;
        assert_eq!(rest.feature_names().unwrap(), ["x", "y"], "a table has the column anyway");
        assert!(dataset(true).without_nodes(&[3]).is_err());
        assert!(dataset(true).without_nodes(&[2, 0, 1]).is_err());
    }

    #[test]
    fn a_dataset_without_an_edge_has_another_fingerprint() {
        let data = dataset(true);
        let rest = data.without_edges(&[(None, [(1, 2)].into())]).unwrap().dataset;
        assert_eq!(rest.graph().edges(), 1);
        assert_ne!(rest.source_fingerprint(), data.source_fingerprint());
        assert_eq!(rest.labels(), data.labels());
    }

    /// Nodes that the source has in another order stay where they are when an edge goes.
    #[test]
    fn without_an_edge_every_node_keeps_its_number() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)], None).unwrap();
        let features = Features::dense(Matrix::from_fn(3, 1, |i, _| i as f32)).unwrap();
        let labels = Labels::from_names(&[Some("x"), Some("y"), Some("z")]);
        let ids = ["c", "a", "b"].map(str::to_owned).to_vec();
        let data = Dataset::new("path", graph, features, labels).unwrap();
        let data = data.with_node_ids(ids).unwrap().ordered_by_names();
        let ends = (data.node_ids().unwrap().iter().position(|id| id == "c").unwrap() as u32, 0);
        let rest = data.without_edges(&[(None, [ends].into())]).unwrap();
        assert_eq!(rest.nodes, [0, 1, 2]);
        for node in 0..3 {
            assert_eq!(rest.dataset.node_id(node), data.node_id(node));
            assert_eq!(rest.dataset.labels().name(node), data.labels().name(node));
        }
    }
}
