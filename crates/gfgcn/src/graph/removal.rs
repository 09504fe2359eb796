//! A graph without some of its edges.

use super::csr::Csr;
use super::directed::Relation;
use super::{Graph, MAX_NODES};
use crate::data::order_of_names;
use crate::error::{Error, Result};
use std::collections::HashSet;

/// Edges to be removed, as `(from, to)`: of a directed graph arcs, of an undirected one either way.
pub type EdgeSet = HashSet<(u32, u32)>;

impl Graph {
    /// Without some edges; of all relations, or of the one that is named.
    ///
    /// ```
    /// use gfgcn::graph::Graph;
    /// let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)], None)?;
    /// let rest = graph.without_edges(&[(2, 1)].into(), None)?;
    /// assert_eq!((rest.edges(), rest.neighbours(1)), (1, &[0][..]));
    /// assert!(rest.without_edges(&[(2, 1)].into(), None).is_err());
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Errors
    /// An edge that is not there, or a relation that is not.
    pub fn without_edges(&self, edges: &EdgeSet, relation: Option<&str>) -> Result<Graph> {
        if let Some(name) = relation {
            self.relation(name)?;
        }
        let concerned = |other: &Relation| relation.is_none_or(|name| name == other.name.as_str());
        let mut there = EdgeSet::new();
        if self.relations.is_empty() {
            there.extend(self.listed(edges));
        } else {
            let concerned = self.relations.iter().filter(|r| concerned(r));
            there.extend(concerned.flat_map(|relation| relation.graph.listed(edges)));
        }
        // The smallest, so that the message is always the same.
        if let Some((from, to)) = edges.iter().filter(|edge| !there.contains(edge)).min() {
            return Err(Error::Data(format!("there is no edge from node {from} to node {to}")));
        }
        // A relation whose directions even out has arcs all the same.
        let directed = self.has_directions();
        if self.relations.is_empty() {
            return self.without(edges, directed);
        }
        let mut relations = Vec::with_capacity(self.relations.len());
        for other in &self.relations {
            let graph = match concerned(other) {
                true => other.graph.without(edges, directed)?,
                false => other.graph.clone(),
            };
            relations.push((other.name.clone(), graph));
        }
        let graphs: Vec<&Graph> = relations.iter().map(|(_, graph)| graph).collect();
        let whole = Graph::of_arcs(self.nodes(), directed, &graphs)?;
        whole.with_relations(relations)
    }

    /// Those of some edges that are in the graph.
    fn listed<'a>(&'a self, edges: &'a EdgeSet) -> impl Iterator<Item = (u32, u32)> + 'a {
        let rows = self.outgoing();
        let has = move |&&(from, to): &&(u32, u32)| {
            (from as usize) < rows.nodes()
                && rows.neighbours_of(from as usize).binary_search(&to).is_ok()
        };
        edges.iter().filter(has).copied()
    }

    /// Without those of some edges that are there, each in its direction or in both; relations aside.
    fn without(&self, edges: &EdgeSet, directed: bool) -> Result<Graph> {
        if directed {
            let kept =
                self.arc_list().filter(|&(from, to, _)| !edges.contains(&(from as u32, to as u32)));
            return Graph::from_weighted_arcs(self.nodes(), true, kept);
        }
        let kept =
            |from: u32, to: u32| !edges.contains(&(from, to)) && !edges.contains(&(to, from));
        Ok(Graph::from(self.both.retaining(kept)))
    }

    /// The union of some graphs: of two weights the larger.
    fn of_arcs(nodes: usize, directed: bool, graphs: &[&Graph]) -> Result<Graph> {
        let arcs = graphs.iter().flat_map(|graph| graph.arc_list());
        Graph::from_weighted_arcs(nodes, directed, arcs)
    }

    pub(super) fn from_weighted_arcs(
        nodes: usize,
        directed: bool,
        arcs: impl Iterator<Item = (usize, usize, f32)>,
    ) -> Result<Graph> {
        debug_assert!(nodes <= MAX_NODES, "nodes have numbers of 32 bits");
        let (ends, weights): (Vec<(u32, u32)>, Vec<f32>) =
            arcs.map(|(from, to, weight)| ((from as u32, to as u32), weight)).unzip();
        let built = match directed {
            true => Graph::from_arcs(nodes, &ends, Some(&weights))?,
            false => Graph::from_edges(nodes, &ends, Some(&weights))?,
        };
        Ok(built.0)
    }

    /// Without relations that have no edge, and with the others in the order of their names, where they stood in it.
    #[must_use]
    pub(crate) fn without_empty_relations(mut self) -> Graph {
        let names = |graph: &Graph| -> Vec<String> {
            graph.relations.iter().map(|relation| relation.name.clone()).collect()
        };
        let by_names = order_of_names(&names(&self)).is_sorted();
        self.relations.retain(|relation| relation.graph.edges() > 0);
        if by_names {
            let order = order_of_names(&names(&self));
            self.relations = order.into_iter().map(|k| self.relations[k].clone()).collect();
        }
        self
    }

    /// Whether the direction of an edge says something, here and in each relation: what is computed in which way.
    pub(crate) fn directions(&self) -> Vec<bool> {
        let relations = self.relations.iter().map(|relation| relation.graph.is_directed());
        std::iter::once(self.is_directed()).chain(relations).collect()
    }

    /// With directions only where they still say something: those of a part of a directed graph may even out.
    #[must_use]
    pub(crate) fn settled(mut self) -> Graph {
        let even = |graph: &Graph| graph.arcs.as_ref().is_some_and(|arcs| arcs.out == arcs.into);
        if even(&self) {
            self.arcs = None;
        }
        let settled = |Relation { name, graph }| Relation { name, graph: graph.settled() };
        self.relations = self.relations.into_iter().map(settled).collect();
        self
    }
}

impl Csr {
    /// The entries that are wanted.
    fn retaining(&self, wanted: impl Fn(u32, u32) -> bool) -> Csr {
        let rows = self.rows();
        let (mut offsets, mut neighbours) = (vec![0], Vec::new());
        let mut weights = rows.weights.map(|_| Vec::new());
        for node in 0..rows.nodes() {
            let own = rows.weights_of(node);
            for (k, &neighbour) in rows.neighbours_of(node).iter().enumerate() {
                if wanted(node as u32, neighbour) {
                    neighbours.push(neighbour);
                    weights.iter_mut().for_each(|all| all.push(own.map_or(1.0, |own| own[k])));
                }
            }
            offsets.push(neighbours.len() as u64);
        }
        Csr {
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
    fn an_arc_goes_and_its_reverse_stays() {
        let (graph, _) =
            Graph::from_arcs(3, &[(0, 1), (1, 0), (1, 2)], Some(&[2.0, 5.0, 1.0])).unwrap();
        let rest = graph.without_edges(&[(1, 0)].into(), None).unwrap();
        assert_eq!(rest.arc_list().collect::<Vec<_>>(), [(0, 1, 2.0), (1, 2, 1.0)]);
        assert_eq!(rest.weights(0), Some(&[2.0][..]), "the weight of the direction that is left");
        let even = graph.without_edges(&[(1, 2)].into(), None).unwrap();
        assert!(even.is_directed(), "the weights differ");
        assert!(graph.without_edges(&[(2, 1)].into(), None).is_err());
    }

    #[test]
    fn an_edge_of_one_kind_may_stay_as_another() {
        let graph = |edges: &[(u32, u32)]| Graph::from_edges(3, edges, None).unwrap().0;
        let parts = vec![
            ("cites".to_owned(), graph(&[(0, 1)])),
            ("likes".to_owned(), graph(&[(0, 1), (1, 2)])),
        ];
        let whole = graph(&[(0, 1), (1, 2)]).with_relations(parts).unwrap();
        let rest = whole.without_edges(&[(1, 0)].into(), Some("cites")).unwrap();
        assert_eq!((rest.edges(), rest.relation("cites").unwrap().edges()), (2, 0));
        let rest = whole.without_edges(&[(1, 0)].into(), None).unwrap();
        assert_eq!((rest.edges(), rest.relation("likes").unwrap().edges()), (1, 1));
        assert!(whole.without_edges(&[(1, 2)].into(), Some("cites")).is_err());
        assert!(whole.without_edges(&[(1, 2)].into(), Some("hates")).is_err());
    }

    #[test]
    fn an_arc_of_a_relation_that_evens_out_goes_by_itself() {
        let graph = |arcs: &[(u32, u32)]| Graph::from_arcs(3, arcs, None).unwrap().0;
        let (even, uneven) = (graph(&[(0, 1), (1, 0)]), graph(&[(1, 2)]));
        assert!(!even.is_directed() && uneven.is_directed());
        let parts = vec![("cites".to_owned(), even), ("likes".to_owned(), uneven)];
        let whole = graph(&[(0, 1), (1, 0), (1, 2)]).with_relations(parts).unwrap();
        let rest = whole.without_edges(&[(0, 1)].into(), Some("cites")).unwrap();
        assert_eq!(rest.relation("cites").unwrap().arc_list().collect::<Vec<_>>(), [(1, 0, 1.0)]);
        assert_eq!(rest.directions(), [true, true, true]);
        let rest = rest.without_edges(&[(1, 2)].into(), None).unwrap().without_empty_relations();
        assert_eq!((rest.relations().len(), rest.directions()), (1, vec![true, true]));
    }

    #[test]
    fn directions_that_even_out_are_none() {
        let (graph, _) = Graph::from_arcs(3, &[(0, 1), (1, 0), (1, 2)], None).unwrap();
        let part = graph.subgraph(&[0, 1]);
        assert!(part.is_directed() && !part.settled().is_directed());
    }
}
