//! Edges as files list them, and the graph that is made of them.

use crate::reading::Reading;
use gfgcn::Result;
use gfgcn::graph::{Graph, Repairs, build_memory};

/// Edges in the order of a file.
#[derive(Debug, Default)]
pub(crate) struct EdgeList {
    /// Where each starts and ends.
    pub(crate) ends: Vec<(u32, u32)>,
    /// As many as there are edges, or none where all are 1.
    pub(crate) weights: Option<Vec<f32>>,
    /// Whether these are entries of a matrix, in which an undirected edge stands twice.
    pub(crate) is_matrix: bool,
}

impl EdgeList {
    /// A graph of so many nodes. In an undirected one, edges that go one way only are counted in
    /// [`Repairs::symmetrized`], where [that is not the habit](EdgeList::forgive_habit).
    pub(crate) fn build(
        &self,
        nodes: usize,
        directed: bool,
        reading: &Reading,
    ) -> Result<(Graph, Repairs)> {
        let (graph, mut repairs) = self.build_counting(nodes, directed, reading)?;
        self.forgive_habit(&mut repairs, graph.edges());
        Ok((graph, repairs))
    }

    /// As [`EdgeList::build`], with all edges that go one way only.
    pub(crate) fn build_counting(
        &self,
        nodes: usize,
        directed: bool,
        reading: &Reading,
    ) -> Result<(Graph, Repairs)> {
        let (edges, weights) = (&self.ends, self.weights.as_deref());
        if directed {
            let memory = build_memory(2 * edges.len(), nodes);
            return reading.holding(memory, || Graph::from_arcs(nodes, edges, weights));
        }
        let memory = build_memory(edges.len(), nodes);
        let (graph, mut repairs) =
            reading.holding(memory, || Graph::from_edges(nodes, edges, weights))?;
        let dropped = repairs.self_loops + repairs.duplicates + repairs.zero_weights;
        let both_ways = edges.len() - dropped - graph.edges();
        repairs.symmetrized = graph.edges() - both_ways;
        Ok((graph, repairs))
    }

    /// A list that names none of its edges in both directions may well be of undirected ones: there is nothing to say.
    pub(crate) fn forgive_habit(&self, repairs: &mut Repairs, edges: usize) {
        if !self.is_matrix && repairs.symmetrized == edges {
            repairs.symmetrized = 0;
        }
    }

    /// Adds the edges of another list behind these.
    pub(crate) fn append(&mut self, other: &EdgeList) {
        if self.weights.is_some() || other.weights.is_some() {
            let own = self.weights.get_or_insert_with(|| vec![1.0; self.ends.len()]);
            match &other.weights {
                Some(weights) => own.extend_from_slice(weights),
                None => own.resize(own.len() + other.ends.len(), 1.0),
            }
        }
        self.ends.extend_from_slice(&other.ends);
        self.is_matrix |= other.is_matrix;
    }

    /// The edges for which `part` is true.
    pub(crate) fn select(&self, part: impl Fn(usize) -> bool) -> EdgeList {
        let edges: Vec<usize> = (0..self.ends.len()).filter(|&edge| part(edge)).collect();
        let weights = self.weights.as_ref();
        EdgeList {
            ends: edges.iter().map(|&edge| self.ends[edge]).collect(),
            weights: weights.map(|weights| edges.iter().map(|&edge| weights[edge]).collect()),
            is_matrix: self.is_matrix,
        }
    }

    /// Bytes that the list takes.
    pub(crate) fn memory(&self) -> u64 {
        let weight = if self.weights.is_some() { size_of::<f32>() } else { 0 };
        ((size_of::<(u32, u32)>() + weight) * self.ends.len()) as u64
    }
}

/// The graph of an adjacency in compressed rows; of a directed one, row i is for the edges that start at node i.
pub(crate) fn build_rows(
    offsets: &[usize],
    columns: &[u32],
    weights: Option<&[f32]>,
    directed: bool,
    reading: &Reading,
) -> Result<(Graph, Repairs)> {
    let nodes = offsets.len() - 1;
    if directed {
        let memory = build_memory(2 * columns.len(), nodes);
        return reading.holding(memory, || Graph::from_directed_csr(offsets, columns, weights));
    }
    reading.building(columns.len(), nodes, || Graph::from_csr(offsets, columns, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfgcn::context::Context;

    #[test]
    fn one_way_edges_are_counted_where_that_is_not_the_habit() {
        let reading = &Reading::under(&Context::default()).unwrap();
        let one_way = |ends: &[(u32, u32)], is_matrix| {
            let list = EdgeList { ends: ends.to_vec(), weights: None, is_matrix };
            list.build(4, false, reading).unwrap().1.symmetrized
        };
        let once = [(0, 1), (2, 1), (3, 3)];
        let both = [(0, 1), (1, 0), (1, 0), (2, 1), (1, 2)];
        let mixed = [(0, 1), (1, 0), (2, 1), (2, 1), (3, 0), (0, 0)];
        assert_eq!((one_way(&once, false), one_way(&once, true)), (0, 2));
        assert_eq!((one_way(&both, false), one_way(&both, true)), (0, 0));
        assert_eq!((one_way(&mixed, false), one_way(&mixed, true)), (2, 2));
        let list = EdgeList { ends: mixed.to_vec(), weights: None, is_matrix: false };
        let (graph, repairs) = list.build(4, true, reading).unwrap();
        assert_eq!((graph.arc_count(), repairs.symmetrized), (4, 0));
        assert_eq!((repairs.duplicates, repairs.self_loops), (1, 1));
    }

    #[test]
    fn lists_are_joined_and_divided_with_their_weights() {
        let list = |ends: &[(u32, u32)], weights: Option<&[f32]>| EdgeList {
            ends: ends.to_vec(),
            weights: weights.map(<[f32]>::to_vec),
            is_matrix: false,
        };
        let mut joined = list(&[(0, 1)], None);
        joined.append(&list(&[(1, 2)], None));
        assert_eq!(joined.weights, None);
        joined.append(&list(&[(2, 3)], Some(&[0.5])));
        joined.append(&list(&[(3, 0)], None));
        assert_eq!(joined.weights.as_deref(), Some(&[1.0, 1.0, 0.5, 1.0][..]));
        let part = joined.select(|edge| edge % 2 == 0);
        assert_eq!(part.ends, [(0, 1), (2, 3)]);
        assert_eq!(part.weights.as_deref(), Some(&[1.0, 0.5][..]));
    }
}
