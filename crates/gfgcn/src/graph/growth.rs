//! A graph with more nodes and edges.

use super::{Graph, MAX_NODES};
use crate::error::{Error, Result};

/// An edge that is new, from one node to another; of an undirected graph either way.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEdge {
    /// Where it starts.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Positive and finite; 1 where edges have none.
    pub weight: f32,
    /// What kind it is of, where there are several.
    pub relation: Option<String>,
}

impl Graph {
    /// With so many nodes behind those that are there, and with some edges. One that is there already gets the larger of both weights.
    ///
    /// ```
    /// use gfgcn::graph::{Graph, NewEdge};
    /// let (graph, _) = Graph::from_edges(2, &[(0, 1)], None)?;
    /// let edge = NewEdge { from: 2, to: 0, weight: 1.0, relation: None };
    /// let grown = graph.grown(1, &[edge])?;
    /// assert_eq!((grown.nodes(), grown.neighbours(0)), (3, &[1, 2][..]));
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Errors
    /// An edge to a node that is not there, of a weight that is not positive and finite, without a kind where there are several, or of one
    /// that is not there; too many nodes.
    pub fn grown(&self, nodes: usize, edges: &[NewEdge]) -> Result<Graph> {
        let total = self.nodes().checked_add(nodes).filter(|&total| total <= MAX_NODES);
        let total =
            total.ok_or_else(|| Error::Data("more nodes than 32 bits can number".into()))?;
        for edge in edges {
            if let Some(node) = [edge.from, edge.to].into_iter().find(|&node| node >= total) {
                return Err(Error::parameter("node", node, format!("below {total}")));
            }
            if !(edge.weight > 0.0 && edge.weight.is_finite()) {
                let positive = "positive and finite";
                return Err(Error::parameter("weight of an edge", edge.weight, positive));
            }
            match (&edge.relation, self.relations().is_empty()) {
                (Some(name), _) => drop(self.relation(name)?),
                (None, true) => {}
                (None, false) => {
                    return Err(Error::Data(
                        "edges of this graph are of several types, so a new one must have a type"
                            .into(),
                    ));
                }
            }
        }
        if self.relations().is_empty() {
            return self.joined(total, edges.iter());
        }
        let mut relations = Vec::with_capacity(self.relations().len());
        for relation in self.relations() {
            let own = |edge: &&NewEdge| edge.relation.as_deref() == Some(relation.name());
            let graph = relation.graph().joined(total, edges.iter().filter(own))?;
            relations.push((relation.name().to_owned(), graph));
        }
        self.joined(total, edges.iter())?.with_relations(relations)
    }

    /// Without relations.
    fn joined<'e>(&self, total: usize, edges: impl Iterator<Item = &'e NewEdge>) -> Result<Graph> {
        let new = edges.map(|edge| (edge.from, edge.to, edge.weight));
        match self.is_directed() {
            true => Graph::from_weighted_arcs(total, true, self.arc_list().chain(new)),
            false => Graph::from_weighted_arcs(total, false, self.edge_list().chain(new)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: usize, to: usize, relation: Option<&str>) -> NewEdge {
        NewEdge { from, to, weight: 1.0, relation: relation.map(str::to_owned) }
    }

    #[test]
    fn a_grown_graph_is_that_of_all_edges() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)], Some(&[2.0, 1.0])).unwrap();
        let grown = graph.grown(2, &[edge(3, 1, None), edge(0, 1, None)]).unwrap();
        let all = [(0, 1), (1, 2), (1, 3)];
        let (expected, _) = Graph::from_edges(5, &all, Some(&[2.0, 1.0, 1.0])).unwrap();
        assert_eq!(grown, expected);

        let (graph, _) = Graph::from_arcs(2, &[(0, 1)], None).unwrap();
        let grown = graph.grown(1, &[edge(2, 0, None)]).unwrap();
        assert_eq!(grown, Graph::from_arcs(3, &[(0, 1), (2, 0)], None).unwrap().0);
    }

    #[test]
    fn kinds_of_edges_grow_by_themselves() {
        let graph = |nodes, edges: &[(u32, u32)]| Graph::from_edges(nodes, edges, None).unwrap().0;
        let typed = |nodes, one: &[(u32, u32)], two: &[(u32, u32)]| {
            let parts =
                vec![("a".to_owned(), graph(nodes, one)), ("b".to_owned(), graph(nodes, two))];
            graph(nodes, &[one, two].concat()).with_relations(parts).unwrap()
        };
        let grown = typed(3, &[(0, 1)], &[(1, 2)]).grown(1, &[edge(3, 0, Some("b"))]).unwrap();
        assert_eq!(grown, typed(4, &[(0, 1)], &[(1, 2), (3, 0)]));
        let small = typed(3, &[(0, 1)], &[(1, 2)]);
        assert!(small.grown(0, &[edge(0, 2, None)]).is_err());
        assert!(small.grown(0, &[edge(0, 2, Some("c"))]).is_err());
    }

    #[test]
    fn what_is_no_edge_is_refused() {
        let (graph, _) = Graph::from_edges(2, &[(0, 1)], None).unwrap();
        assert!(graph.grown(1, &[edge(0, 3, None)]).is_err());
        for weight in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let edge = NewEdge { weight, ..edge(0, 1, None) };
            assert!(graph.grown(0, &[edge]).is_err(), "{weight}");
        }
    }
}
