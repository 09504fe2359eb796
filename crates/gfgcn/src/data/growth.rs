//! A dataset with more nodes and edges.

use super::Dataset;
use super::dataset::Listing;
use super::dataset::check_unique;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::NewEdge;
use crate::matrix::{Matrix, SparseMatrix};

/// A node that is new.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewNode {
    /// What it is called; only where the others have ids, too.
    pub id: Option<String>,
    /// Columns and values, each column once; others are 0.
    pub features: Vec<(usize, f32)>,
}

impl Dataset {
    /// With more nodes, behind those that are there, and with some edges. Nothing is known of what the new nodes are.
    ///
    /// # Errors
    /// An id that is there already, or is missing where the others have one; a feature that is not there, is named twice or is not finite;
    /// an edge that [cannot be](crate::graph::Graph::grown).
    pub fn grown(&self, nodes: &[NewNode], edges: &[NewEdge]) -> Result<Dataset> {
        let graph = self.graph().grown(nodes.len(), edges)?;
        if nodes.is_empty() {
            return Ok(self.clone().map_graph(|_| graph));
        }
        let features = self.features().with_rows(nodes)?;
        let before = (0..self.nodes()).map(Some);
        let targets = self.targets().arranged(before.chain(nodes.iter().map(|_| None)));
        let mut grown = Dataset::new(self.name(), graph, features, targets)?;
        // New nodes stand behind the others, whatever their names.
        grown.listing = Listing { by_names: false, ..self.listing };
        if let Some(encoding) = self.encoding() {
            grown = grown.with_encoding(encoding.clone());
        }
        if let Some(names) = self.feature_names() {
            grown.set_feature_names(names.to_vec())?;
        }
        if let Some(ids) = self.node_ids() {
            let new = nodes.iter().map(|node| {
                let missing =
                    || Error::Data("a new node has no id, and the others have one".into());
                node.id.clone().ok_or_else(missing)
            });
            let ids = ids.iter().cloned().map(Ok).chain(new).collect::<Result<Vec<String>>>()?;
            check_unique("node id", &ids)?;
            grown.set_node_ids(ids)?;
        } else if let Some(id) = nodes.iter().find_map(|node| node.id.as_ref()) {
            return Err(Error::Data(format!(
                "the new node {id:?} has an id, but nodes of {} are known by their numbers",
                self.name()
            )));
        }
        grown.with_splits(self.splits().to_vec())
    }
}

impl Features {
    /// With the rows of new nodes behind these.
    fn with_rows(&self, nodes: &[NewNode]) -> Result<Features> {
        let (rows, cols) = (self.rows(), self.cols());
        for node in nodes {
            let mut columns: Vec<usize> = node.features.iter().map(|(column, _)| *column).collect();
            columns.sort_unstable();
            if let Some(&column) = columns.last().filter(|&&column| column >= cols) {
                return Err(Error::parameter("feature", column, format!("below {cols}")));
            }
            if let Some(twice) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::Data(format!(
                    "feature {} of a new node is there twice",
                    twice[0]
                )));
            }
            if let Some((column, value)) = node.features.iter().find(|(_, v)| !v.is_finite()) {
                return Err(Error::Data(format!(
                    "feature {column} of a new node is {value}; features must be finite numbers below 3.4e38 in size"
                )));
            }
        }
        match self {
            Features::Dense(own) => {
                let mut values = Vec::with_capacity((rows + nodes.len()) * cols);
                values.extend_from_slice(own.as_slice());
                for node in nodes {
                    let first = values.len();
                    values.resize(first + cols, 0.0);
                    node.features.iter().for_each(|&(j, value)| values[first + j] = value);
                }
                Ok(Features::Dense(Matrix::from_rows(rows + nodes.len(), cols, values)?))
            }
            Features::Sparse(own) => {
                let fill = |i: usize, columns: &mut Vec<u32>, values: &mut Vec<f32>| {
                    if i < rows {
                        let (own_columns, own_values) = own.row(i);
                        columns.extend_from_slice(own_columns);
                        values.extend_from_slice(own_values);
                        return;
                    }
                    let mut entries = nodes[i - rows].features.clone();
                    entries.retain(|(_, value)| *value != 0.0);
                    entries.sort_unstable_by_key(|(column, _)| *column);
                    columns.extend(entries.iter().map(|(column, _)| *column as u32));
                    values.extend(entries.iter().map(|(_, value)| *value));
                };
                let all = SparseMatrix::from_canonical_rows(rows + nodes.len(), cols, fill);
                Ok(Features::Sparse(all))
            }
            Features::Blocks(_) => self.as_gathered().with_rows(nodes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;
    use crate::graph::Graph;

    fn path(nodes: usize, sparse: bool, ids: Option<&[&str]>) -> Dataset {
        let edges: Vec<(u32, u32)> = (1..nodes as u32).map(|node| (node - 1, node)).collect();
        let (graph, _) = Graph::from_edges(nodes, &edges, None).unwrap();
        let dense =
            Features::dense(Matrix::from_fn(nodes, 2, |i, j| (i * (j + 1)) as f32)).unwrap();
        let columns: Vec<Option<u32>> = (0..2).map(Some).collect();
        let features = if sparse { dense.map_columns(&columns, 2) } else { dense };
        let names: Vec<Option<&str>> = (0..nodes).map(|i| (i == 0).then_some("a")).collect();
        let data = Dataset::new("path", graph, features, Labels::from_names(&names)).unwrap();
        match ids {
            Some(ids) => data.with_node_ids(ids.iter().map(|&id| id.to_owned()).collect()).unwrap(),
            None => data,
        }
    }

    #[test]
    fn what_has_grown_is_what_would_have_been_read() {
        for sparse in [false, true] {
            let node = NewNode { id: None, features: vec![(1, 4.0), (0, 2.0)] };
            let edge = NewEdge { from: 2, to: 1, weight: 1.0, relation: None };
            let grown = path(2, sparse, None).grown(&[node], &[edge]).unwrap();
            let expected = path(3, sparse, None);
            assert_eq!(grown.fingerprint(), expected.fingerprint());
        }
    }

    #[test]
    fn what_cannot_be_a_node_is_refused() {
        let named = path(2, true, Some(&["x", "y"]));
        let new = |id: Option<&str>, features: &[(usize, f32)]| NewNode {
            id: id.map(str::to_owned),
            features: features.to_vec(),
        };
        assert_eq!(named.grown(&[new(Some("z"), &[])], &[]).unwrap().node_id(2), "z");
        for node in [
            new(None, &[]),
            new(Some("x"), &[]),
            new(Some("z"), &[(2, 1.0)]),
            new(Some("z"), &[(1, 1.0), (1, 2.0)]),
            new(Some("z"), &[(0, f32::NAN)]),
        ] {
            assert!(named.grown(std::slice::from_ref(&node), &[]).is_err(), "{node:?}");
        }
        assert!(path(2, false, None).grown(&[new(Some("z"), &[])], &[]).is_err());
    }
}
